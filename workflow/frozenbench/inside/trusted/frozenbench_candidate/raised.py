"""The candidate's exceptions as exceptions of the tests' own, which never skip or end a session."""

from __future__ import annotations

import builtins
import os
import sys

from .errors import CandidateError, Malformed
from .values import Tuple

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from .objects import Handle
    from .peer import Peer

MAX_CLASSES = 64
MAX_SHOWN = 16 << 20  # characters
_SLOTS = ("name", "path", "filename", "filename2", "lineno", "offset", "text", "msg")
#: What would end a loop of the test's own without a word.
_ENDS_LOOPS = ("StopIteration", "StopAsyncIteration")


class ErrorClass(type):
    """The class of what stands for the candidate's exception classes."""

    def __call__(cls, *words: Any, **named: Any) -> Any:
        """Make one in the candidate's process."""
        return cls.__dict__["_frozenbench"](*words, **named)

    def __getattr__(cls, name: str) -> Any:
        handle = cls.__dict__.get("_frozenbench")
        if handle is None:
            raise AttributeError(name)
        return getattr(handle, name)


def _told(self: Any) -> str:
    return str(self.__dict__["_told"])


def _attribute(self: Any, name: str) -> Any:
    handle = self.__dict__.get("_frozenbench")
    if handle is None:
        raise AttributeError(name)
    return getattr(handle, name)


def made(peer: Peer, node: Any, depth: int = 0) -> BaseException:
    """Return the exception that a node describes.

    Raises:
        Malformed: the node is none.
    """
    text = node["t"]
    if type(text) is not str or depth > 8:
        raise Malformed("no exception")
    if "outcome" in node:
        return CandidateError(f"the candidate raised {node['outcome']}: {text}")
    error = _of_class(peer, node, text)
    if isinstance(error, SyntaxError) and not _can_be_shown(error):
        # pytest shows a failure by the same function, and ends the session where that fails.
        error = CandidateError(f"the candidate raised {type(error).__name__}: {text}")
    if node.get("from") is not None:
        error.__cause__ = made(peer, node["from"], depth + 1)
    return error


def _of_class(peer: Peer, node: Any, text: str) -> BaseException:
    from .codec import Answer

    answer = Answer(peer)
    handle = None if node["h"] is None else peer.object_of([node["h"], "exception"])
    words = None if node["a"] is None else answer.items(node["a"]["t"], 1)
    slots = {} if node["s"] is None else answer.pairs(node["s"]["d"], 1)
    if type(node["c"]) is str:
        kind, name = getattr(builtins, node["c"], None), node["c"]
    else:
        kind, name = class_of(peer, node["c"]), str(node["c"][-1][1])
    if kind is SystemExit and _is_safe_to_exit():
        return SystemExit(slots.get("code"))
    if not _is_raised_as_itself(kind):
        return CandidateError(f"the candidate raised {name}: {text}")
    assert isinstance(kind, type)
    if type(node["c"]) is str and handle is None and words is not None:
        exact: BaseException | None = _exact(kind, words, slots, text)
        if exact is not None:
            return exact
    if not isinstance(kind, ErrorClass):
        kind = _derived(kind.__name__, (kind,), None)
    return _standing_for(kind, words or [], text, handle)


def _is_safe_to_exit() -> bool:
    """Tell whether a SystemExit ends a test and not the session, as it would in collection."""
    return "_pytest" not in sys.modules or "PYTEST_CURRENT_TEST" in os.environ


def _is_raised_as_itself(kind: Any) -> bool:
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return False
    # One that is a ValueError and a KeyboardInterrupt too would end the session.
    return not any(
        base.__name__ in _ENDS_LOOPS or base in (SystemExit, KeyboardInterrupt, GeneratorExit)
        for base in kind.__mro__
    )


def _can_be_shown(error: BaseException) -> bool:
    """Tell whether line, offset and text of a SyntaxError are such that a traceback shows them."""
    from traceback import format_exception_only

    try:
        return sum(map(len, format_exception_only(error))) <= MAX_SHOWN
    except Exception:
        return False


def _points_outside(error: BaseException) -> bool:
    """Tell whether the text of a UnicodeError would be read from before its bytes.

    Python 3.11 does not look whether start is there, and the process ends by SIGSEGV.
    """
    start = getattr(error, "start", 0)
    return isinstance(error, UnicodeError) and type(start) is int and start < 0


def _exact(kind: type, words: list[Any], slots: dict[str, Any], text: str) -> Any:
    """Return an exception of a builtin class itself, or None where it would say something else."""
    try:
        error = kind(*words)
        for name in _SLOTS:
            if slots.get(name) is not None:
                setattr(error, name, slots[name])
        if _points_outside(error):
            return None
        return error if type(error) is kind and str(error) == text else None
    except Exception:
        return None


def _standing_for(kind: type, words: list[Any], text: str, handle: Handle | None) -> BaseException:
    for given in (words, []):
        try:
            error: Any = kind.__new__(kind, *given)
            base: Any = next(item for item in kind.__mro__ if item.__module__ == "builtins")
            base.__init__(error, *given)
            break
        except Exception:
            continue
    else:
        return CandidateError(f"the candidate raised {kind.__name__}: {text}")
    error.args = Tuple(words)
    error.__dict__["_told"] = text
    error.__dict__["_frozenbench"] = handle
    return error  # type: ignore[no-any-return]


def class_of(peer: Peer, chain: Any) -> Any:
    """Return the class that stands for one of the candidate's exception classes.

    `chain` tells number, name and bases of it and of those that it is derived from, these first.
    A builtin by its name stands for itself.
    """
    if type(chain) is str:
        return getattr(builtins, chain, None)
    if type(chain) is not list or not 0 < len(chain) <= MAX_CLASSES:
        raise Malformed("no exception class")
    found: Any = None
    for number, name, bases in chain:
        if type(number) is not int or type(name) is not str:
            raise Malformed("no exception class")
        found = peer.error_classes.get(number)
        if found is None:
            found = _new_class(peer, number, name, bases)
            peer.error_classes[number] = found
    return found


def _new_class(peer: Peer, number: int, name: str, bases: Any) -> type:
    found = []
    for base in bases:
        kind: Any = getattr(builtins, base, None) if type(base) is str else None
        if type(base) is int:
            kind = peer.error_classes[base]
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise Malformed("no base of an exception class")
        found.append(kind)
    handle = peer.object_of([number, name])
    for choice in (tuple(found), tuple(found[:1])):
        try:
            return _derived(name, choice, handle)
        except TypeError:
            continue
    raise Malformed("no bases of an exception class")


def _derived(name: str, bases: tuple[type, ...], handle: Handle | None) -> type:
    content = {
        "_frozenbench": handle,
        "__module__": "candidate",
        "__str__": _told,
        "__getattr__": _attribute,
    }
    return ErrorClass(name, bases, content)
