"""What hidden tests of a `split` task import: the candidate, in a process of its own.

    from frozenbench_candidate import load

    shop = load("shop.py")

    def test_total():
        assert shop.total([1, 2]) == 3

Each `load` starts a fresh process in a box that sees the artifact and nothing of the tests. Plain
values cross; they come back so that a comparison tells 5.0 from 5 and True from 1.
"""

from __future__ import annotations

import binascii

from .codec import base64
from .errors import CandidateDied, CandidateError, Malformed, NotPlain
from .objects import decides
from .peer import Peer
from .values import plain, strict

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "CandidateDied",
    "CandidateError",
    "Finished",
    "NotPlain",
    "decides",
    "load",
    "plain",
    "read_file",
    "run",
    "source",
    "strict",
    "write_file",
]


class Finished:
    """How a script ended.

    Attributes:
        exit_status: its status; negative: the signal that ended it.
        stdout, stderr: what it printed, as text, bytes that are no UTF-8 replaced.
        stdout_bytes, stderr_bytes: the same as it came, at most 2.5 MiB each.
        truncated: whether more was printed than is kept.
    """

    def __init__(self, exit_status: int, out: bytes, err: bytes, truncated: bool) -> None:
        self.exit_status = exit_status
        self.stdout_bytes = out
        self.stderr_bytes = err
        self.stdout = out.decode("utf-8", "replace")
        self.stderr = err.decode("utf-8", "replace")
        self.truncated = truncated

    def __repr__(self) -> str:
        return f"Finished(exit_status={self.exit_status}, stdout={self.stdout!r})"


def load(path: str, *, files: Mapping[str, str | bytes] | None = None) -> Any:
    """Import a file of the artifact in a fresh process and return what stands for the module.

    `path` is relative to the tree: "shop.py", "shop/__init__.py". `files` are laid into the tree
    before.

    Raises:
        ImportError: the file is not there, or importing it raised or exited.
        CandidateDied: the process ended meanwhile.
    """
    return Peer({"op": "load", "path": inside(path), "files": _encoded(files)}).module()


def run(
    path: str,
    *args: str,
    stdin: str | bytes = "",
    files: Mapping[str, str | bytes] | None = None,
    seconds: float | None = None,
) -> Finished:
    """Run `python path args…` of the artifact in a fresh process and return how it ended.

    Raises:
        CandidateDied: it did not end within `seconds`, or its process was ended otherwise.
        FileNotFoundError: the artifact has no such file.
    """
    data = stdin.encode("utf-8", "surrogatepass") if isinstance(stdin, str) else bytes(stdin)
    head = {
        "op": "run",
        "path": inside(path),
        "args": [str(word) for word in args],
        "stdin": {"b": base64(data)},
        "files": _encoded(files),
        "seconds": seconds,
    }
    link = Peer(head).link
    reply = link.first()
    link.close()
    if "absent" in reply:
        raise FileNotFoundError(reply["absent"])
    try:
        out, err = (binascii.a2b_base64(reply[name]["b"]) for name in ("out", "err"))
        status = reply["status"]
        if type(status) is not int:
            raise Malformed("no status")
    except Exception:
        raise CandidateDied("the candidate's process sent what is no ending") from None
    return Finished(status, out, err, reply.get("cut") is True)


def source(path: str) -> bytes:
    """Return the bytes of a file of the artifact; nothing of it runs.

    Raises:
        FileNotFoundError: the artifact has no such file.
    """
    link = Peer({"op": "source", "path": inside(path)}).link
    reply = link.first()
    link.close()
    if "absent" in reply:
        raise FileNotFoundError(reply["absent"])
    return binascii.a2b_base64(reply["data"])


def write_file(module: Any, path: str, data: str | bytes) -> None:
    """Write a file of the tree in which a loaded module lives."""
    module._frozenbench[0].ask("write", inside(path), _bytes(data))


def read_file(module: Any, path: str) -> bytes:
    """Read a file of the tree in which a loaded module lives.

    Raises:
        FileNotFoundError: it is not there.
        NotPlain: the candidate's process gave something else than bytes.
    """
    found = module._frozenbench[0].ask("read", inside(path))
    if not isinstance(found, bytes):
        raise NotPlain("the candidate's process gave no bytes")
    return found


def inside(path: str) -> str:
    """Return a path in the tree, as it is.

    Raises:
        ValueError: it leads out of the tree.
    """
    parts = str(path).split("/")
    if str(path).startswith("/") or ".." in parts or "\0" in str(path) or not parts[-1]:
        raise ValueError(f"{path!r} is no path of a file in the tree, such as 'shop/__init__.py'")
    return "/".join(part for part in parts if part not in ("", "."))


def _bytes(data: str | bytes) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else bytes(data)


def _encoded(files: Mapping[str, str | bytes] | None) -> dict[str, str]:
    return {inside(path): base64(_bytes(data)) for path, data in (files or {}).items()}
