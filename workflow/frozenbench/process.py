"""What every cell command does first: lead its own process group and die with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def lead_and_follow() -> None:
    """Make this process a group leader that the kernel ends when its parent ends.

    A killed Snakemake then leaves no cell behind that writes later. Where the platform has no such
    signal, the process only leads its group.
    """
    parent = os.getppid()
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    follow(parent)


def follow(parent: int) -> None:
    """Let the kernel end this process when its parent ends, where the platform can."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended between the two calls
        os.kill(os.getpid(), signal.SIGKILL)
