"""Values to the nodes of a request and back, with every answer taken for hostile."""

from __future__ import annotations

import binascii
import builtins

from .errors import Malformed, NotPlain
from .values import (
    ByteArray,
    Bytes,
    Dict,
    FrozenSet,
    Integer,
    List,
    Number,
    Real,
    Set,
    Tuple,
    is_exact,
    strict_inside,
)

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .peer import Peer

MAX_DEPTH = 200
_LARGE = 1 << 53
_MOMENTS = {"date": 3, "datetime": 7, "time": 4, "timedelta": 3}
_PATHS = ("PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath")


class Arguments:
    """Values on their way to a candidate. Mutable ones are kept, in the order in which they stand.

    The candidate's side numbers them alike, so that it can say which of them it has changed.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.mutable: list[Any] = []
        self._numbers: dict[int, int] = {}

    def node(self, value: Any, depth: int = 0) -> Any:
        """Return the node of a value.

        Raises:
            NotPlain: it can neither cross as a plain value nor is it the candidate's.
        """
        kind = type(value)
        if issubclass(kind, Number):
            value = value._plain
            kind = type(value)
        if value is None or kind in (bool, str, float):
            return value
        if kind is int:
            return value if -_LARGE < value < _LARGE else {"i": hex(value)}
        if depth > MAX_DEPTH:
            raise NotPlain(f"a {kind.__name__} nested more than {MAX_DEPTH} deep cannot cross")
        if id(value) in self._numbers:
            return {"r": self._numbers[id(value)]}
        number = self._peer.number_of(value)
        if number is not None:
            return {"h": number}
        form = _FORMS.get(kind)
        if form is not None:
            return form(self, value, depth + 1)
        return _late_node(self, value, kind, depth)

    def keep(self, value: Any) -> None:
        """Number a mutable container."""
        self._numbers[id(value)] = len(self.mutable)
        self.mutable.append(value)

    def _list(self, value: Any, depth: int) -> Any:
        self.keep(value)
        return [self.node(item, depth) for item in value]

    def _dict(self, value: Any, depth: int) -> Any:
        self.keep(value)
        return {"d": [[self.node(k, depth), self.node(v, depth)] for k, v in dict.items(value)]}

    def _set(self, value: Any, depth: int) -> Any:
        self.keep(value)
        return {"s": [self.node(item, depth) for item in value]}

    def _bytearray(self, value: Any, depth: int) -> Any:
        self.keep(value)
        return {"B": base64(value)}

    def _range(self, value: Any, depth: int) -> Any:
        return {"R": [self.node(item) for item in (value.start, value.stop, value.step)]}

    def _tuple(self, value: Any, depth: int) -> Any:
        return {"t": [self.node(item, depth) for item in value]}

    def _frozenset(self, value: Any, depth: int) -> Any:
        return {"f": [self.node(item, depth) for item in value]}


_FORMS: dict[type, Callable[[Arguments, Any, int], Any]] = {
    list: Arguments._list,
    List: Arguments._list,
    dict: Arguments._dict,
    Dict: Arguments._dict,
    set: Arguments._set,
    Set: Arguments._set,
    bytearray: Arguments._bytearray,
    ByteArray: Arguments._bytearray,
    tuple: Arguments._tuple,
    Tuple: Arguments._tuple,
    frozenset: Arguments._frozenset,
    FrozenSet: Arguments._frozenset,
    bytes: lambda _, value, depth: {"b": base64(value)},
    Bytes: lambda _, value, depth: {"b": base64(value)},
    complex: lambda _, value, depth: {"c": [value.real, value.imag]},
    range: Arguments._range,
}


def _late_node(arguments: Arguments, value: Any, kind: type, depth: int) -> Any:
    home = kind.__module__.split(".")[0]
    if is_exact(kind):
        if kind.__name__ == "Decimal":
            return {"D": str(value)}
        return {"F": [arguments.node(value.numerator), arguments.node(value.denominator)]}
    if home == "datetime" and kind.__name__ in _MOMENTS:
        return {"w": _moment(value, kind.__name__)}
    if home == "pathlib" and kind.__name__ in _PATHS:
        return {"p": [kind.__name__, str(value)]}
    if kind is type and isinstance(value, type) and _builtin(value.__name__) is value:
        return {"T": value.__name__}
    if callable(value):
        raise NotPlain(
            f"{value!r} is the test's own and cannot be called from the candidate's process; "
            "a task whose candidate calls back is declared in-process"
        )
    raise NotPlain(
        f"a {kind.__module__}.{kind.__qualname__} cannot cross to the candidate's process; "
        "give it a plain value or an object of its own, or declare the task in-process"
    )


def _moment(value: Any, name: str) -> list[Any]:
    clock = ("hour", "minute", "second", "microsecond")
    fields = {
        "date": ("year", "month", "day"),
        "datetime": ("year", "month", "day", *clock),
        "time": clock,
        "timedelta": ("days", "seconds", "microseconds"),
    }[name]
    zone = getattr(value, "tzinfo", None)
    if zone is None:
        told: Any = None
    elif type(zone).__name__ == "timezone":
        offset = zone.utcoffset(None)
        told = [offset.days, offset.seconds, offset.microseconds]
    elif type(zone).__name__ == "ZoneInfo" and zone.key:
        told = zone.key
    else:
        raise NotPlain(f"a time zone of type {type(zone).__name__} cannot cross")
    return [name, [getattr(value, field) for field in fields], told, getattr(value, "fold", 0)]


def base64(value: bytes | bytearray) -> str:
    """Return bytes as text of one line."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


class Answer:
    """Nodes of an answer to strict values. With `mutable` it may name the arguments among them."""

    def __init__(self, peer: Peer, mutable: list[Any] | None = None) -> None:
        self._peer = peer
        self._mutable = mutable

    def value(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a node.

        Raises:
            Malformed: the node is none; so may any other exception of what it is made into.
        """
        kind = type(node)
        if node is None or kind is str:
            return node
        if kind is bool or kind is int:
            return Integer(node)
        if kind is float:
            return Real(node)
        if depth > MAX_DEPTH + 5:
            raise Malformed("nested too deep")
        if kind is list:
            return List([self.value(item, depth + 1) for item in node])
        if kind is not dict or len(node) != 1:
            raise Malformed("no node")
        ((tag, content),) = node.items()
        form = _ANSWERS.get(tag)
        if form is None:
            raise Malformed(f"no form {tag}")
        return form(self, content, depth + 1)

    def items(self, nodes: Any, depth: int) -> list[Any]:
        """Return the values of an array of nodes."""
        if type(nodes) is not list:
            raise Malformed("no array")
        return [self.value(node, depth) for node in nodes]

    def pairs(self, nodes: Any, depth: int) -> dict[Any, Any]:
        """Return the mapping of an array of pairs."""
        if type(nodes) is not list:
            raise Malformed("no array")
        return {self.value(key, depth): self.value(item, depth) for key, item in nodes}

    def _int(self, content: Any, depth: int) -> Any:
        return Integer(int(_text(content), 16))

    def _complex(self, content: Any, depth: int) -> Any:
        real, imaginary = content
        if type(real) is not float or type(imaginary) is not float:
            raise Malformed("no complex number")
        return Number(complex(real, imaginary))

    def _argument(self, content: Any, depth: int) -> Any:
        if self._mutable is None or not 0 <= _whole(content) < len(self._mutable):
            raise Malformed("no such argument")
        return self._mutable[content]

    def _range(self, content: Any, depth: int) -> Any:
        start, stop, step = (_whole(item._plain) for item in self.items(content, depth))
        return range(start, stop, step)

    def _decimal(self, content: Any, depth: int) -> Any:
        from decimal import Decimal

        return Real(Decimal(_text(content)))

    def _fraction(self, content: Any, depth: int) -> Any:
        from fractions import Fraction

        above, below = (_whole(item._plain) for item in self.items(content, depth))
        return Real(Fraction(above, below))

    def _moment(self, content: Any, depth: int) -> Any:
        import datetime

        name, fields, zone, fold = content
        if len(fields) != _MOMENTS[_text(name)]:
            raise Malformed("no moment")
        made = getattr(datetime, name)(*map(_whole, fields))
        if name in ("date", "timedelta"):
            return made
        if type(zone) is str:
            from zoneinfo import ZoneInfo

            try:
                zone = ZoneInfo(zone)
            except Exception:
                raise NotPlain(f"the time zone {zone!r} is not known here") from None
        elif zone is not None:
            days, seconds, parts = map(_whole, zone)
            zone = datetime.timezone(datetime.timedelta(days, seconds, parts))
        return made.replace(tzinfo=zone, fold=_whole(fold))

    def _path(self, content: Any, depth: int) -> Any:
        import pathlib

        name, path = content
        if name not in _PATHS:
            raise Malformed("no path")
        return getattr(pathlib, name)(_text(path))

    def _type(self, content: Any, depth: int) -> Any:
        found = _builtin(_text(content))
        if not isinstance(found, type):
            raise Malformed("no type")
        return found


_ANSWERS: dict[str, Callable[[Answer, Any, int], Any]] = {
    "i": Answer._int,
    "c": Answer._complex,
    "r": Answer._argument,
    "b": lambda _, content, depth: Bytes(binascii.a2b_base64(_text(content))),
    "B": lambda _, content, depth: ByteArray(binascii.a2b_base64(_text(content))),
    "t": lambda answer, content, depth: Tuple(answer.items(content, depth)),
    "d": lambda answer, content, depth: Dict(answer.pairs(content, depth)),
    "s": lambda answer, content, depth: Set(answer.items(content, depth)),
    "f": lambda answer, content, depth: FrozenSet(answer.items(content, depth)),
    "R": Answer._range,
    "D": Answer._decimal,
    "F": Answer._fraction,
    "w": Answer._moment,
    "p": Answer._path,
    "T": Answer._type,
    "h": lambda answer, content, depth: answer._peer.object_of(content),
    "m": lambda answer, content, depth: answer._peer.object_of(content),
    "k": lambda answer, content, depth: answer._peer.class_of(content),
    "n": lambda answer, content, depth: answer._peer.record_of(
        content, answer.items(content[3], depth)
    ),
    "x": lambda answer, content, depth: answer._peer.error_of(content),
}


def _builtin(name: str) -> Any:
    return vars(builtins).get(name)


def _text(content: Any) -> str:
    if type(content) is not str:
        raise Malformed("no text")
    return content


def _whole(content: Any) -> int:
    if type(content) is not int:
        raise Malformed("no whole number")
    return content


def bring_up_to_date(peer: Peer, mutable: list[Any], changes: Any) -> None:
    """Give mutable arguments the content that they have after the call.

    What has not changed becomes strict too: it is now what the candidate left there.

    Raises:
        Malformed: the changes are none. Nothing has been changed then.
    """
    answer = Answer(peer, mutable)
    contents: dict[int, Any] = {}
    for number, content in changes:
        kind = type(mutable[_whole(number)])
        if issubclass(kind, dict):
            contents[number] = answer.pairs(content, 1)
        elif issubclass(kind, bytearray):
            contents[number] = binascii.a2b_base64(_text(content["b"]))
        else:
            contents[number] = answer.items(content, 1)
    for number, value in enumerate(mutable):
        if isinstance(value, bytearray):
            if number in contents:
                value[:] = contents[number]
        elif isinstance(value, dict):
            told = contents.get(number)
            items = value.items() if told is None else told.items()
            content = [(strict_inside(key), strict_inside(item)) for key, item in items]
            value.clear()
            value.update(content)
        else:
            content = [strict_inside(item) for item in contents.get(number, value)]
            value.clear()
            value.extend(content) if isinstance(value, list) else value.update(content)
