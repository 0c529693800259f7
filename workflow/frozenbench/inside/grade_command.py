"""Runs a grading command inside the sandbox and reports its exit status over a pipe of its own.

Started as `python -I grade_command.py SPEC` with SPEC = JSON {"argv": […]}, a nonce on standard
input and the number of the report's descriptor in FROZENBENCH_REPORT_FD, which the command does not
inherit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys


def main() -> int:
    """Report `begin`, then `end` with the command's status, or `broken` where it cannot start."""
    descriptor = int(os.environ.pop("FROZENBENCH_REPORT_FD"))
    os.set_inheritable(descriptor, False)
    nonce = sys.stdin.readline().strip()
    argv = json.loads(sys.argv[1])["argv"]
    with os.fdopen(descriptor, "w", encoding="utf-8") as pipe:

        def say(**fact: object) -> None:
            pipe.write(json.dumps({"nonce": nonce, **fact}) + "\n")
            pipe.flush()

        say(begin=True)
        try:
            status = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False).returncode
        except OSError as error:
            say(broken=str(error.strerror))
            return 1
        say(end=status)
    return 0


if __name__ == "__main__":
    sys.exit(main())
