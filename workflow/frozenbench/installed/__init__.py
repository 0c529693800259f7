"""Programs that are the user's own: found on this machine, named by what they are, seen in a box.

    program = locate("codex", install="npm install -g @openai/codex")
    program.identity()                       # {"name", "version", "digest"}: controls
    Box(..., mounts=program.mounts), program.words(walled=True)

Nothing of them is copied into the project, and no path of this machine is part of an identity.
"""

from __future__ import annotations

from frozenbench.installed.locate import Program, locate

__all__ = ["Program", "locate"]
