"""Find a program, and work out what a box must show so that it runs there.

Three kinds are known: a package of Node (a script or a binary below a folder with package.json),
a script of a Python virtual environment, and a single binary. Inside, whatever is outside /usr
stands below /opt/agent, so that no path of this machine gets into an agent's requests.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from frozenbench.canonical import BadInput
from frozenbench.installed import binary, node, venv
from frozenbench.installed.identity import tree_identity
from frozenbench.installed.layout import Found, shebang
from frozenbench.sandbox import HOME
from frozenbench.sandbox.folders import kept_copy

#: uid 1000 is the user inside a walled box.
ACCOUNTS = f"agent:x:1000:1000:agent:{HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"


@dataclass(frozen=True)
class Program:
    """An installed program.

    Attributes:
        executable: what was found, outside.
        found: its name, version, files, mounts and words.
    """

    executable: Path
    found: Found

    def identity(self) -> dict[str, str]:
        """Return name, version and digest: what enters an agent's sheet.

        The digest is that of all files of its packages, caches left out; it is computed once and
        kept until the name, size or time of one of them changes.
        """
        digest = tree_identity(self.found.trees)
        return {"name": self.found.name, "version": self.found.version, "digest": digest}

    def words(self, walled: bool) -> tuple[str, ...]:
        """Return the words that start it, inside a walled box or outside."""
        if walled:
            return self.found.inside
        return self.found.outside or (str(self.executable),)

    @property
    def mounts(self) -> tuple[tuple[Path, str], ...]:
        """What a walled box must show read-only: (path outside, path inside)."""
        return (*self.found.mounts, (_accounts(), "/etc/passwd"))

    @property
    def search(self) -> tuple[str, ...]:
        """Folders inside that belong on PATH, so that the program finds its own interpreter."""
        return self.found.search


def locate(name: str, install: str = "") -> Program:
    """Find an installed program.

    Args:
        name: the command, looked up on PATH.
        install: how to install it, for the error.

    Raises:
        BadInput: it is not there, or is of no known kind.
    """
    found = shutil.which(name)
    if found is None:
        cure = install or "install it"
        raise BadInput(
            f"program: {name}: is not on the PATH; cure: {cure}; where it is installed already, "
            "add its folder to PATH"
        )
    path = Path(found).absolute()
    return Program(path, _found(name, path.resolve()))


def _accounts() -> Path:
    """Return a list of users that knows the one of every walled box.

    Node's os.userInfo() raises where its own user has no name; Qwen Code calls it at its start.
    """

    def fill(to: Path) -> None:
        to.write_text(ACCOUNTS, encoding="ascii")
        to.chmod(0o644)

    return kept_copy(["accounts", ACCOUNTS], fill)


def _found(name: str, real: Path) -> Found:
    words = shebang(real)
    interpreter = Path(words[-1]).name if words else ""
    if interpreter.startswith("python"):
        return venv.found(name, real)
    package = node.package_of(real)
    if package is not None:
        return node.found(name, real, package, is_script=interpreter == "node")
    if words:
        raise BadInput(
            f"program: {name}: {real.name} is a script of {interpreter} and of no package; cure: a "
            "package of npm, a Python virtual environment, or one binary"
        )
    return binary.found(name, real)
