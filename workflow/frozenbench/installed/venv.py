"""A script of a Python virtual environment, moved to a path inside that is always the same."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from frozenbench.canonical import BadInput, digest
from frozenbench.installed.layout import INTERPRETER, LONG, PROGRAM, Found, in_system
from frozenbench.sandbox.folders import kept_copy
from frozenbench.sandbox.runtime import base_runtime

#: Installers, which are no part of what is installed.
_INSTALLERS = re.compile(r"(pip|uv)(-.*\.dist-info)?")


#: What a script says of its interpreter: one line, or three where the path is long.
_HEAD = re.compile(rb"\A#![^\n]*\n(" + re.escape(LONG) + rb"[^\n]*\n' '''\n)?")


def found(name: str, script: Path) -> Found:
    """Describe a console script of a virtual environment.

    Raises:
        BadInput: it belongs to no virtual environment, or to no installed distribution.
    """
    root = script.parent.parent
    if not (root / "pyvenv.cfg").is_file():
        raise BadInput(
            f"program: {name}: is a Python script outside any virtual environment; cure: install "
            f"it into one of its own (python -m venv, pipx or uv tool)"
        )
    packages = next(iter(sorted(root.glob("lib/python3.*/site-packages"))), None)
    described = None if packages is None else _distribution(packages, script.name)
    if packages is None or described is None:
        raise BadInput(
            f"program: {name}: no distribution in its environment has this "
            "script; cure: install it into a virtual environment of its own"
        )
    python, mounts = _python(root)
    shell = _shell(root, script, python)
    parts = {
        item.name: item
        for item in packages.iterdir()
        if not _INSTALLERS.fullmatch(item.name) and item.name != "__pycache__"
    }
    inside = f"{PROGRAM}/bin"
    return Found(
        name=described[0],
        version=described[1],
        trees=parts,
        mounts=((shell, PROGRAM), (root / "lib", f"{PROGRAM}/lib"), *mounts),
        inside=(f"{inside}/python", f"{inside}/{script.name}"),
    )


def _distribution(packages: Path, script: str) -> tuple[str, str] | None:
    """Return name and version of the distribution that brings a console script."""
    for points in sorted(packages.glob("*.dist-info/entry_points.txt")):
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
        parser.optionxform = str  # type: ignore[assignment]
        try:
            parser.read_string(points.read_text("utf-8"))
        except (configparser.Error, UnicodeDecodeError):
            continue
        if not parser.has_option("console_scripts", script):
            continue
        text = (points.parent / "METADATA").read_text("utf-8", "replace")
        fields = dict(re.findall(r"^(Name|Version): *(\S+)", text, re.MULTILINE)[:2])
        return fields["Name"], fields["Version"]
    return None


def _python(root: Path) -> tuple[str, list[tuple[Path, str]]]:
    """Return the base Python's path inside, and what must be seen for it.

    Where it is the Python that runs us, the box shows it already.
    """
    real = (root / "bin" / "python").resolve()
    prefix = real.parent.parent
    base = base_runtime()
    if in_system(real):
        return str(real), []
    if prefix == base.folder:
        return f"{base.inside}/bin/{base.name}", []
    mounts = [(prefix, INTERPRETER)]
    if str(prefix / "lib").encode() in real.read_bytes():
        mounts.append((prefix, str(prefix)))  # it finds its own library by that path alone
    return f"{INTERPRETER}/bin/{real.name}", mounts


def _shell(root: Path, script: Path, python: str) -> Path:
    """Return a small folder that makes the environment work at its path inside.

    It holds what says where things are: pyvenv.cfg, the link to Python, the script.
    """
    text = script.read_bytes()
    body = _HEAD.sub(f"#!{PROGRAM}/bin/python\n".encode(), text)
    status = script.stat()
    key = ["venv", 1, str(root), python, script.name, digest(body.hex()), status.st_mtime_ns]

    def fill(to: Path) -> None:
        (to / "bin").mkdir(parents=True)
        (to / "lib").mkdir()
        (to / "lib64").symlink_to("lib")
        home = python.rpartition("/")[0]
        (to / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
        for alias in ("python", "python3"):
            (to / "bin" / alias).symlink_to(python)
        (to / "bin" / script.name).write_bytes(body)
        (to / "bin" / script.name).chmod(0o755)
        for folder in (to, to / "bin", to / "lib"):
            folder.chmod(0o755)

    return kept_copy(key, fill)
