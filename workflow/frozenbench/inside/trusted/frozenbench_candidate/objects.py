"""What stands in the tests for the candidate's objects: every question goes to its process."""

from __future__ import annotations

from .errors import NotPlain
from .values import plain

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

#: Names with two underscores that are asked for; others belong to Python and pytest, not to a test.
_ASKED = {"all", "annotations", "author", "code", "defaults", "dict", "doc", "name", "qualname"}
_ASKED |= {"version", "wrapped"}


def _is_asked(name: str) -> bool:
    if name.startswith("_pytest"):
        return False
    return not (name.startswith("__") and name.endswith("__")) or name[2:-2] in _ASKED


class Handle:
    """An object, function, class or module of the candidate."""

    __slots__ = ("__weakref__", "_frozenbench")
    _frozenbench: tuple[Any, int, str]

    def __init__(self, peer: Any, number: int, name: str) -> None:
        object.__setattr__(self, "_frozenbench", (peer, number, name))

    def __del__(self) -> None:
        peer, number, _ = self._frozenbench
        peer.drop(number)

    def __getattr__(self, name: str) -> Any:
        if not _is_asked(name):
            raise AttributeError(name)
        return _ask(self, "get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "set", self, name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "del", self, name)

    def __call__(self, *words: Any, **named: Any) -> Any:
        """Call it, with values that can cross."""
        return self._frozenbench[0].call("call", (self, *words), named)

    def __eq__(self, other: object) -> bool:
        raise _undecided(self, "==")

    def __ne__(self, other: object) -> bool:
        raise _undecided(self, "!=")

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise _undecided(self, "bool()")

    def __len__(self) -> int:
        return int(_ask(self, "len", self))

    def __iter__(self) -> Any:
        return _ask(self, "iter", self)

    def __next__(self) -> Any:
        found = _ask(self, "next", self)
        if not isinstance(found, tuple):
            raise NotPlain("the candidate's process gave no next value")
        if not len(found):
            raise StopIteration
        return found[0]

    def __contains__(self, item: Any) -> bool:
        raise _undecided(self, "`in`")

    def __str__(self) -> str:
        return _text(_ask(self, "str", self))

    def __repr__(self) -> str:
        return _text(_ask(self, "repr", self))

    def __format__(self, spec: str) -> str:
        return _text(_ask(self, "format", self, spec))

    def __int__(self) -> int:
        return int(_ask(self, "int", self))

    def __float__(self) -> float:
        return float(_ask(self, "float", self))

    def __round__(self, digits: Any = None) -> Any:
        return _ask(self, "round", self, digits)

    def __enter__(self) -> Any:
        return _ask(self, "enter", self)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Let the candidate leave its context. It never swallows an exception of the test.

        One that it swallowed would take the test's own assertion with it.
        """
        if error is None:
            _ask(self, "leave", self, None, None)
        elif self._frozenbench[0].number_of(error) is not None:
            _ask(self, "leave", self, None, error)
        else:
            name = kind.__name__ if kind.__module__ == "builtins" else "Exception"
            _ask(self, "leave", self, name, str(error))

    def __reduce__(self) -> Any:
        raise NotPlain(f"a {self._frozenbench[2]} of the candidate cannot be copied here")


def _ask(handle: Handle, what: str, *words: Any) -> Any:
    return handle._frozenbench[0].ask(what, *words)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise NotPlain("the candidate's process gave no text")
    return value


def _undecided(handle: Handle, question: str) -> NotPlain:
    return NotPlain(
        f"{question} of a {handle._frozenbench[2]} would be decided by the candidate's own code; "
        "compare its attributes, or its str(); decides() asks the candidate in so many words"
    )


def _question(what: str) -> Any:
    return lambda self, *words: _ask(self, what, self, *words)


def _refused(sign: str) -> Any:
    def refuse(self: Handle, other: object) -> Any:
        raise _undecided(self, sign)

    return refuse


def _turned(what: str) -> Any:
    return lambda self, other: _ask(self, what, other, self)


for _name in ("getitem", "setitem", "delitem", "neg", "pos", "abs", "invert"):
    setattr(Handle, f"__{_name}__", _question(_name))
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(Handle, f"__{_name}__", _refused(_sign))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod"):
    setattr(Handle, f"__{_name}__", _question(_name))
    setattr(Handle, f"__r{_name}__", _turned(_name))
for _name in ("and_", "or_", "xor", "lshift", "rshift"):
    setattr(Handle, f"__{_name.rstrip('_')}__", _question(_name))
    setattr(Handle, f"__r{_name.rstrip('_')}__", _turned(_name))


_DECIDED = {
    **{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "bool": "bool"},
    "in": "contains",
}


def decides(question: str, *words: Any) -> bool:
    """Let the candidate's own code answer, for a test of that very code.

    `decides("<", a, b)`, and so `==`, `!=`, `<=`, `>`, `>=`; `decides("in", item, container)`;
    `decides("bool", a)`. One of the words is an object of the candidate. The answer is its word:
    an object that says yes to everything says yes here, so let some answers be no.

    Raises:
        NotPlain: no word is an object of the candidate, or the answer is no truth value.
    """
    handle = next((word for word in words if isinstance(word, Handle)), None)
    if handle is None:
        raise NotPlain(f"decides({question!r}): no word is an object of the candidate")
    ordered = reversed(words) if question == "in" else words
    answer = plain(_ask(handle, _DECIDED[question], *ordered))
    if type(answer) is not bool:
        raise NotPlain(f"decides({question!r}): the answer is no truth value")
    return answer


class Class(Handle):
    """A class of the candidate that is no exception: it can be called, asked, and told by isinstance."""

    __slots__ = ()

    def __instancecheck__(self, value: Any) -> bool:
        if not hasattr(type(value), "_frozenbench"):
            return False
        return bool(_ask(self, "isinstance", value, self))

    def __subclasscheck__(self, kind: Any) -> bool:
        if not isinstance(kind, Class) and "_frozenbench" not in getattr(kind, "__dict__", {}):
            return False
        return bool(_ask(self, "issubclass", kind, self))

    def __mro_entries__(self, bases: Any) -> Any:
        raise NotPlain(
            f"a class of the test cannot be derived from the candidate's {self._frozenbench[2]}; "
            "such a task is declared in-process"
        )
