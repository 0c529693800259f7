"""A single binary, and the libraries that one needs outside /usr."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from frozenbench.installed.identity import kept
from frozenbench.installed.layout import PROGRAM, Found, in_system

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
#: Folders that a box shows by itself as they belong to the system.
_SYSTEM = ("/usr/", "/lib/", "/lib32/", "/lib64/")


def found(name: str, real: Path) -> Found:
    """Describe a binary; its version is what it answers to --version."""
    inside = str(real) if in_system(real) else f"{PROGRAM}/bin/{real.name}"
    mounts = () if in_system(real) else ((real, inside),)
    return Found(
        name=name,
        version=kept(["version"], {name: real}, lambda: _version(real)),
        trees={real.name: real},
        mounts=(*mounts, *libraries(real)),
        inside=(inside,),
    )


def _version(binary: Path) -> str:
    """Return the first thing that looks like a version, or `unknown`."""
    text = _output([str(binary), "--version"])
    match = _VERSION.search(text)
    return match[0] if match else "unknown"


def libraries(binary: Path) -> tuple[tuple[Path, str], ...]:
    """Return the folders of shared libraries outside the system, each to be seen at its own path.

    The loader finds them by paths that stand in the binary, so they cannot be moved.
    """
    text = _output(["ldd", str(binary)])
    found = re.findall(r"=> (/\S+)", text)
    beside = f"{binary.parent}/"
    folders = {
        os.path.dirname(path)  # noqa: PTH120
        for path in found
        if not path.startswith(_SYSTEM) and not path.startswith(beside)
    }
    return tuple((Path(folder), folder) for folder in sorted(folders))


def _output(argv: list[str]) -> str:
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent"}
    try:
        done = subprocess.run(
            argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")
