"""A model endpoint that plays a script: to try an agent, and for tests.

One server speaks OpenAI chat, OpenAI responses and Anthropic messages, streamed and not:

    with scripted_endpoint(read_script(path)) as endpoint:
        ...  # point the agent at endpoint.root
        print("\\n".join(endpoint.lines()))

A script says what is wanted ("write this file", "run this command"), not which tool does it: each
request offers tools of its own, and the intent is put into the one that fits.
"""

from __future__ import annotations

from frozenbench.scripted_endpoint.script import (
    Call,
    Script,
    Step,
    Tokens,
    Tool,
    Write,
    parse_script,
    read_script,
)
from frozenbench.scripted_endpoint.server import Endpoint, Served, scripted_endpoint

__all__ = [
    "Call",
    "Endpoint",
    "Script",
    "Served",
    "Step",
    "Tokens",
    "Tool",
    "Write",
    "parse_script",
    "read_script",
    "scripted_endpoint",
]
