"""The values of a candidate's process to JSON and back: plain ones whole, others by number.

Read by candidate_child.py alone, and the standard library's lightest parts alone are imported: the
start is paid for each child.
"""

from __future__ import annotations

# The candidate may change builtins; the functions below keep those of the start.
__builtins__ = dict(vars(__import__("builtins")))  # type: ignore[assignment]

import binascii
import sys
from _json import encode_basestring_ascii as quoted

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_DEPTH = 200
MAX_TEXT = 1 << 20
_LARGE = 1 << 53
#: Slots of builtin exceptions that their arguments do not tell.
_SLOTS = ("name", "path", "filename", "filename2", "lineno", "offset", "text", "msg")


class Unplain(Exception):
    """A value that can cross in no way."""


class Grammar:
    """What the scanner of JSON asks for."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


class Table:
    """The objects that the other side holds, by number."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._last = 0

    def number(self, value: Any) -> int:
        """Return the number of an object, a new one where it has none."""
        number = self._numbers.get(id(value))
        if number is None:
            self._last = number = self._last + 1
            self._objects[number] = value
            self._numbers[id(value)] = number
        return number

    def __getitem__(self, number: int) -> Any:
        return self._objects[number]

    def free(self, number: int) -> None:
        """Forget an object."""
        value = self._objects.pop(number)
        del self._numbers[id(value)]


class Writer:
    """Values to JSON. Of `known` mutable objects (by id) only the number is written."""

    def __init__(self, table: Table, known: dict[int, int] | None = None) -> None:
        self._table = table
        self._known = known or {}

    def text(self, value: Any, depth: int = 0) -> str:
        """Return the JSON of a value: plain, or the number of an object."""
        kind = type(value)
        if value is None:
            return "null"
        if kind is str:
            return quoted(value)
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return str(value) if -_LARGE < value < _LARGE else f'{{"i":"{value:#x}"}}'
        if kind is float:
            return _float(value)
        if id(value) in self._known:
            return f'{{"r":{self._known[id(value)]}}}'
        if depth > MAX_DEPTH:
            raise Unplain(f"a {kind.__name__} nested more than {MAX_DEPTH} deep, or in itself")
        form = _FORMS.get(kind)
        if form is not None:
            return form(self, value, depth + 1)
        return self._other(value, kind, depth + 1)

    def items(self, values: Any, depth: int) -> str:
        """Return the JSON array of values."""
        return f"[{','.join([self.text(value, depth) for value in values])}]"

    def pairs(self, value: Any, depth: int) -> str:
        """Return the JSON array of a mapping's pairs."""
        found = [
            f"[{self.text(key, depth)},{self.text(item, depth)}]" for key, item in dict.items(value)
        ]
        return f"[{','.join(found)}]"

    def _other(self, value: Any, kind: type, depth: int) -> str:
        home = sys.modules.get(kind.__module__)
        name = kind.__name__
        if home is not None and vars(home).get(name) is kind:
            form = _LATE.get((kind.__module__.split(".")[0], name))
            found = None if form is None else form(self, value, depth)
            if found is not None:
                return found
        fields = getattr(kind, "_fields", None)
        if issubclass(kind, tuple) and kind.__bases__ == (tuple,) and type(fields) is tuple:
            inner = self.items(tuple.__iter__(value), depth)
            names = self.items(fields, depth)
            return f'{{"n":[{self._table.number(value)},{quoted(name)},{names},{inner}]}}'
        if isinstance(value, BaseException):
            return f'{{"x":{self.error(value)}}}'
        if isinstance(value, type):
            return self._class(value)
        what = "m" if kind is type(sys) else "h"
        return f'{{"{what}":[{self._table.number(value)},{quoted(name)}]}}'

    def _class(self, kind: type) -> str:
        if vars(sys.modules["builtins"]).get(kind.__name__) is kind:
            return f'{{"T":{quoted(kind.__name__)}}}'
        chain = self._chain(kind) if issubclass(kind, BaseException) else "null"
        return f'{{"k":[{self._table.number(kind)},{quoted(kind.__name__)},{chain}]}}'

    def _chain(self, kind: type) -> str:
        """Return an exception class as JSON: itself if builtin, else the classes that it is of.

        Each as number, name and bases (numbers, or names of builtins), bases before the derived.
        """
        if kind.__module__ == "builtins":
            return quoted(kind.__name__)
        found = []
        for item in reversed(kind.__mro__):
            if issubclass(item, BaseException) and item.__module__ != "builtins":
                bases = [
                    quoted(base.__name__)
                    if base.__module__ == "builtins"
                    else str(self._table.number(base))
                    for base in item.__bases__
                    if issubclass(base, BaseException)
                ]
                number = self._table.number(item)
                found.append(f"[{number},{quoted(item.__name__)},[{','.join(bases)}]]")
        return f"[{','.join(found)}]"

    def error(self, error: BaseException, depth: int = 0) -> str:
        """Return an exception as JSON: class, text, arguments, slots, number, cause."""
        kind = type(error)
        if kind.__module__.split(".")[0] in ("_pytest", "pytest", "unittest"):
            return f'{{"outcome":{quoted(kind.__name__)},"t":{quoted(text_of(error))}}}'
        own = kind.__module__ != "builtins" or bool(vars(error))
        parts = [f'"c":{self._chain(kind)}', f'"t":{quoted(text_of(error))}']
        parts.append(f'"h":{self._table.number(error) if own else "null"}')
        parts.append(f'"a":{self._or_null(error.args)}')
        slots = {
            name: getattr(error, name, None)
            for name in (*_SLOTS, "code")
            if kind.__module__ == "builtins" and hasattr(kind, name)
        }
        parts.append(f'"s":{self._or_null(slots)}')
        if error.__cause__ is not None and depth < 5:
            parts.append(f'"from":{self.error(error.__cause__, depth + 1)}')
        return f"{{{','.join(parts)}}}"

    def _or_null(self, value: Any) -> str:
        try:
            return self.text(value)
        except Unplain:
            return "null"


def _float(value: float) -> str:
    text = float.__repr__(value)
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def _base64(value: Any) -> str:
    return f'"{binascii.b2a_base64(value, newline=False).decode()}"'


def _zone(zone: Any) -> str | None:
    """Return a time zone as JSON; None where it is neither fixed nor of the zone database."""
    kind = type(zone)
    if zone is None:
        return "null"
    if kind.__name__ == "timezone":
        offset = zone.utcoffset(None)
        return f"[{offset.days},{offset.seconds},{offset.microseconds}]"
    return quoted(zone.key) if kind.__name__ == "ZoneInfo" and zone.key else None


def _moment(name: str, *fields: str) -> Callable[[Writer, Any, int], str | None]:
    def form(writer: Writer, value: Any, depth: int) -> str | None:
        zone = _zone(getattr(value, "tzinfo", None))
        if zone is None:
            return None
        numbers = ",".join(str(getattr(value, field)) for field in fields)
        return f'{{"w":["{name}",[{numbers}],{zone},{int(getattr(value, "fold", 0))}]}}'

    return form


def _as_dict(writer: Writer, value: Any, depth: int) -> str:
    return f'{{"d":{writer.pairs(value, depth)}}}'


def _path(writer: Writer, value: Any, depth: int) -> str:
    return f'{{"p":[{quoted(type(value).__name__)},{quoted(str(value))}]}}'


_FORMS: dict[type, Callable[[Writer, Any, int], str]] = {
    list: Writer.items,
    tuple: lambda writer, value, depth: f'{{"t":{writer.items(value, depth)}}}',
    dict: _as_dict,
    set: lambda writer, value, depth: f'{{"s":{writer.items(value, depth)}}}',
    frozenset: lambda writer, value, depth: f'{{"f":{writer.items(value, depth)}}}',
    bytes: lambda writer, value, depth: f'{{"b":{_base64(value)}}}',
    bytearray: lambda writer, value, depth: f'{{"B":{_base64(value)}}}',
    complex: lambda writer, value, depth: f'{{"c":[{_float(value.real)},{_float(value.imag)}]}}',
    range: lambda writer, value, depth: (
        f'{{"R":{writer.items((int(value.start), int(value.stop), int(value.step)), depth)}}}'
    ),
}
_CLOCK = ("hour", "minute", "second", "microsecond")
#: Forms of types by the first part of their module and their name.
_LATE: dict[tuple[str, str], Callable[[Writer, Any, int], str | None]] = {
    ("collections", "OrderedDict"): _as_dict,
    ("collections", "defaultdict"): _as_dict,
    ("collections", "Counter"): _as_dict,
    ("datetime", "date"): _moment("date", "year", "month", "day"),
    ("datetime", "datetime"): _moment("datetime", "year", "month", "day", *_CLOCK),
    ("datetime", "time"): _moment("time", *_CLOCK),
    ("datetime", "timedelta"): _moment("timedelta", "days", "seconds", "microseconds"),
    ("decimal", "Decimal"): lambda writer, value, depth: f'{{"D":{quoted(str(value))}}}',
    ("fractions", "Fraction"): lambda writer, value, depth: (
        f'{{"F":{writer.items((value.numerator, value.denominator), depth)}}}'
    ),
    **{
        ("pathlib", name): _path
        for name in ("PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath")
    },
}


def text_of(error: BaseException) -> str:
    """Return the text of an exception, whatever its own `__str__` does."""
    try:
        return str.__getitem__(str(error), slice(0, MAX_TEXT))
    except BaseException:
        return f"<{type(error).__name__}>"


class Reader:
    """JSON to values. Mutable containers are kept, in the order in which they stand."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.mutable: list[Any] = []

    def value(self, node: Any) -> Any:
        """Return the value of a node of a request."""
        if type(node) is list:
            found: list[Any] = []
            self.mutable.append(found)
            found.extend(map(self.value, node))
            return found
        if type(node) is not dict:
            return node
        ((tag, content),) = node.items()
        return getattr(self, f"_{tag}")(content)

    def _i(self, content: str) -> int:
        return int(content, 16)

    def _r(self, content: int) -> Any:
        return self.mutable[content]

    def _h(self, content: int) -> Any:
        return self._table[content]

    def _c(self, content: list[float]) -> complex:
        return complex(*content)

    def _b(self, content: str) -> bytes:
        return binascii.a2b_base64(content)

    def _B(self, content: str) -> bytearray:
        self.mutable.append(found := bytearray(binascii.a2b_base64(content)))
        return found

    def _t(self, content: list[Any]) -> tuple[Any, ...]:
        return tuple(map(self.value, content))

    def _d(self, content: list[Any]) -> dict[Any, Any]:
        self.mutable.append(found := {})
        for key, item in content:
            name = self.value(key)
            found[name] = self.value(item)
        return found

    def _s(self, content: list[Any]) -> set[Any]:
        found: set[Any] = set()
        self.mutable.append(found)
        found.update(map(self.value, content))
        return found

    def _f(self, content: list[Any]) -> frozenset[Any]:
        return frozenset(map(self.value, content))

    def _R(self, content: list[Any]) -> range:
        return range(*map(self.value, content))

    def _T(self, content: str) -> Any:
        return getattr(sys.modules["builtins"], content)

    def _D(self, content: str) -> Any:
        return __import__("decimal").Decimal(content)

    def _F(self, content: list[Any]) -> Any:
        return __import__("fractions").Fraction(*map(self.value, content))

    def _p(self, content: list[str]) -> Any:
        return getattr(__import__("pathlib"), content[0])(content[1])

    def _w(self, content: list[Any]) -> Any:
        name, fields, zone, fold = content
        made = getattr(__import__("datetime"), name)(*fields)
        if name in ("date", "timedelta"):
            return made
        return made.replace(tzinfo=self._zone(zone), fold=fold)

    def _zone(self, zone: Any) -> Any:
        if isinstance(zone, str):
            return __import__("zoneinfo").ZoneInfo(zone)
        clock = __import__("datetime")
        return zone and clock.timezone(clock.timedelta(*zone))
