"""Serve a script until interrupted: `python -m frozenbench.scripted_endpoint SCRIPT [--port N]`.

What was served so far stands at /served.
"""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import suppress
from pathlib import Path

from frozenbench.canonical import FrozenbenchError
from frozenbench.scripted_endpoint import read_script, scripted_endpoint


def main() -> int:
    """Serve; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m frozenbench.scripted_endpoint")
    parser.add_argument("script", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--socket", type=Path, help="a Unix socket in place of a port")
    parser.add_argument("--work", default="/work", help="the agent's work folder")
    a = parser.parse_args()
    try:
        script = read_script(a.script)
        with scripted_endpoint(script, work=a.work, port=a.port, unix=a.socket) as endpoint:
            print(endpoint.root, flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
            print("\n".join(endpoint.lines()))
    except FrozenbenchError as error:
        print(f"scripted endpoint: {error}", file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
