"""Importers: logs of other harnesses on the budget axis, one module a format (PROTOCOL 10).

A format is a module of this package with `recognises` and `read`; its name is the name in the
config and on the command line. The other modules here put together what formats read.
"""

from __future__ import annotations

#: In the order in which `auto` asks them: a format that is told by more comes before a looser one.
FORMATS = (
    "inspect",
    "harbor",
    "terminal_bench",  # its runs list resolved ids too, as a SWE-bench report does
    "swebench",
    "mini_swe_agent",
    "swe_agent",
    "openhands",
    "hal",
    "aider",
    "lm_eval",
    "plain",
)
