"""The pack environment: a virtual environment built once from a hash-pinned lock.

It works where a box mounts it (sandbox.ENVIRONMENT, over sandbox.RUNTIME) and holds no path, name
or time of the machine that built it. Console scripts, byte code and `pyvenv.cfg` say the inside
paths; byte code is never checked against its source, so a mount with other times costs nothing.
"""

from __future__ import annotations

import base64
import glob
import hashlib
import os
import platform
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata, util
from pathlib import Path

from frozenbench.canonical import BadInput, Failed, write_json
from frozenbench.sandbox import ENVIRONMENT, remove_tree
from frozenbench.sandbox.runtime import Runtime, base_runtime

#: Options that a lock may hold: where packages come from, never what they are.
_INDEX_OPTIONS = ("-i", "--index-url", "--extra-index-url")

#: A build takes minutes; what has lain for this long belongs to nobody, s.
_ABANDONED_SECONDS = 6 * 3600

_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==\s*[^\s;@]+(?:\s*;[^#]*)?"
    r"(?:\s+--hash=sha(?:256|384|512):[0-9a-f]{64,128})+"
)


def build_environment(lock: Path | None, out: Path) -> None:
    """Build the environment of `lock` (None: an empty one) in the folder `out`, or nothing at all.

    `out` is replaced where it exists. Beside the packages it holds `environment.json`: python,
    implementation, packages with their versions.

    Raises:
        BadInput: the lock is not there, or a line of it is not pinned by version and hash.
        Failed: the packages cannot be installed.
    """
    if lock is not None:
        check_lock(lock)
    out.parent.mkdir(parents=True, exist_ok=True)
    _sweep(out)
    building = out.parent.resolve() / f".{out.name}.{os.getpid()}-{secrets.token_hex(4)}"
    runtime = base_runtime()
    try:
        packages = _make_skeleton(building, runtime)
        if lock is not None:
            _install(lock, building)
        _point_inside(building, runtime)
        _rewrite_scripts(building, packages)
        _compile(building, packages)
        write_json(building / "environment.json", _description(packages))
        _check_no_trace(building)
        _make_read_only(building)
        _put_in_place(building, out)
    finally:
        remove_tree(building)


def _sweep(out: Path) -> None:
    """Remove what killed builds of the same environment left, once it is surely no longer used."""
    for left in out.parent.glob(f".{glob.escape(out.name)}.*"):
        with suppress(FileNotFoundError):
            if time.time() - left.lstat().st_mtime > _ABANDONED_SECONDS:
                remove_tree(left)


def check_lock(lock: Path) -> None:
    """Raise BadInput unless every requirement of `lock` has one version and a hash."""
    try:
        text = lock.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{lock}: cannot be read as a lock of packages ({error}); "
            "cure: `uv pip compile --generate-hashes requirements.in -o requirements.txt`"
        ) from error
    check_lock_text(text, str(lock))


def check_lock_text(text: str, lock: str) -> None:
    """Raise BadInput, naming `lock`, unless every requirement has one version and a hash."""
    for number, line in _requirements(text):
        option = line.split("=")[0].split()[0]
        if option in _INDEX_OPTIONS or _PINNED.fullmatch(line):
            continue
        shown = line.split(" --hash")[0]
        raise BadInput(
            f"{lock}: line {number}: `{shown}` is not pinned by `==` and a sha256 hash, so it can "
            "change under the same lock; cure: "
            "`uv pip compile --generate-hashes requirements.in -o requirements.txt`"
        )


def _requirements(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, logical line) without comments and empty lines."""
    pending, first = "", 0
    for number, raw in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", raw).rstrip()
        if not pending:
            first = number
        pending += " " + line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        if pending.strip():
            yield first, " ".join(pending.split())
        pending = ""
    if pending.strip():
        yield first, " ".join(pending.split())


def _make_skeleton(building: Path, runtime: Runtime) -> Path:
    """Make an empty virtual environment that works here; return its folder of packages."""
    packages = building / "lib" / runtime.name / "site-packages"
    packages.mkdir(parents=True)
    (building / "bin").mkdir()
    # The machine of some distributions installs compiled packages below lib64.
    (building / "lib64").symlink_to("lib")
    for alias in ("python3", runtime.name):
        (building / "bin" / alias).symlink_to("python")
    _point_at(building, runtime.folder / "bin" / runtime.name)
    return packages


def _point_at(building: Path, python: Path) -> None:
    link = building / "bin" / "python"
    link.unlink(missing_ok=True)
    link.symlink_to(python)
    (building / "pyvenv.cfg").write_text(
        f"home = {python.parent}\n"
        "include-system-site-packages = false\n"
        f"version = {platform.python_version()}\n",
        "utf-8",
    )


def _point_inside(building: Path, runtime: Runtime) -> None:
    _point_at(building, Path(runtime.inside) / "bin" / runtime.name)


def _install(lock: Path, building: Path) -> None:
    argv = [*_pip(), "--python", str(building / "bin" / "python"), "--no-input", "install"]
    argv += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile"]
    argv += ["--disable-pip-version-check", "--no-warn-script-location", "--quiet"]
    argv += ["--requirement", str(lock)]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        argv,
        env={**clean, "PIP_NO_INPUT": "1", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_USER": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        said = done.stdout.decode("utf-8", "replace").replace(str(building), ENVIRONMENT)
        lines = [line for line in said.splitlines() if line.strip()]
        raise Failed(
            f"{lock}: its packages cannot be installed: {' | '.join(lines[-6:])}; cure: check that "
            "the package index can be reached, and make the lock again for Python "
            f"{platform.python_version()} on {platform.machine()}, with packages that have wheels"
        )


def _pip() -> list[str]:
    """Return the command of a pip: the running interpreter's, or the one its Python brings."""
    if util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensure = util.find_spec("ensurepip")
    if ensure is not None and ensure.origin is not None:
        for wheel in sorted((Path(ensure.origin).parent / "_bundled").glob("pip-*.whl")):
            return [sys.executable, str(wheel / "pip")]
    raise Failed(
        f"{sys.executable} has no pip; cure: install pip into it (`python -m ensurepip`, or "
        "`uv pip install pip`)"
    )


def _rewrite_scripts(building: Path, packages: Path) -> None:
    """Let console scripts start the environment's Python at its inside path."""
    here = os.fsencode(building)
    changed = []
    for script in sorted((building / "bin").iterdir()):
        if script.is_symlink() or not script.is_file():
            continue
        data = script.read_bytes()
        if not data.startswith(b"#!") or here not in data:
            continue
        # Long paths are wrapped: #!/bin/sh, then '''exec' /…/python "$0" "$@", then ' '''.
        wrapped = re.match(rb"#!/bin/sh\n'''exec' [^\n]*\n' '''\n|#![^\n]*\n", data)
        assert wrapped is not None
        new = f"#!{ENVIRONMENT}/bin/python\n".encode() + data[wrapped.end() :]
        script.write_bytes(new.replace(here, ENVIRONMENT.encode()))
        changed.append(script)
    for record in packages.glob("*.dist-info/RECORD"):
        _correct_record(record, packages, changed)


def _correct_record(record: Path, packages: Path, changed: list[Path]) -> None:
    """Give the changed scripts their new hash and size in a distribution's RECORD."""
    lines = record.read_text("utf-8").splitlines()
    names = {os.path.relpath(script, packages): script for script in changed}
    for place, line in enumerate(lines):
        name = line.split(",")[0]
        if name in names:
            data = names[name].read_bytes()
            sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines[place] = f"{name},sha256={sha},{len(data)}"
    record.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _compile(building: Path, packages: Path) -> None:
    import compileall
    import py_compile

    # A file that is no Python of this version (a template, a fixture) is left uncompiled.
    compileall.compile_dir(
        packages,
        quiet=2,
        force=True,
        stripdir=str(building),
        prependdir=ENVIRONMENT,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        workers=1,
    )


def _description(packages: Path) -> dict[str, object]:
    found = metadata.distributions(path=[str(packages)])
    names = {re.sub(r"[-_.]+", "-", item.metadata["Name"]).lower(): item.version for item in found}
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "packages": names,
    }


def _check_no_trace(building: Path) -> None:
    """Raise Failed where a file holds the path of the folder that it was built in."""
    here = os.fsencode(building)
    for path in building.rglob("*"):
        held = os.fsencode(path.readlink()) if path.is_symlink() else None
        if held is None and path.is_file():
            held = path.read_bytes()
        if held is not None and here in held:
            raise Failed(f"{path.relative_to(building)}: holds a path of this machine")


def _make_read_only(building: Path) -> None:
    """Files lose their write bits; folders keep theirs, so that the whole can be removed."""
    for path in [building, *building.rglob("*")]:
        if path.is_symlink():
            continue
        runs = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if path.is_dir() else 0o555 if runs else 0o444)


def _put_in_place(building: Path, out: Path) -> None:
    """Rename `building` to `out`; what stood there is gone first."""
    if out.is_symlink() or out.exists():
        old = building.with_name(building.name + ".old")
        out.rename(old)
        try:
            building.rename(out)
        finally:
            if old.is_dir() and not old.is_symlink():
                remove_tree(old)
            else:
                with suppress(FileNotFoundError):
                    old.unlink()
        return
    building.rename(out)
