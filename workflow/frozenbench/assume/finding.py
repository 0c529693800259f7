"""What was found in an agent's lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reason = Literal["banned_string", "banned_symbol", "ghost_import", "ghost_name"]


@dataclass(frozen=True)
class Finding:
    """One reason for FAIL_ASSUME, with the first place where it holds."""

    reason: Reason
    path: str  #: relative POSIX path of the file
    line: int  #: counted from 1; 0 where the path name itself is meant
    what: str  #: the banned string, banned name, module or name; always one line
