"""Values that are equal to a plain one only if the types are equal too, recursively.

Numbers are objects of their own and no subclasses of int or float: `5.0 == value` would else be
decided by float alone. Containers are subclasses, whose comparison Python asks first on either side.
Text needs nothing: a str is equal to a str alone.
"""

from __future__ import annotations

import math
import operator
import sys
from abc import ABCMeta

from .errors import NotPlain

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

#: Types that are plain by themselves; another type counts as the first of them that it is based on.
_SINGLE = (type(None), bool, int, float, complex, str, bytes, bytearray, range)
_PLAIN: tuple[Any, ...] = (*_SINGLE, list, tuple, dict, set, frozenset)
_LATE = {("decimal", "Decimal"), ("fractions", "Fraction")}  # known without importing them
_kinds: dict[type, Any] = {kind: kind for kind in _PLAIN}


def kind_of(value: Any) -> Any:
    """Return the plain type that a value counts as in a comparison, or None."""
    found = type(value)
    if issubclass(found, Number):
        return type(value._plain)
    if found not in _kinds:
        plain = (base for base in found.__mro__ if base in _PLAIN or is_exact(base))
        _kinds[found] = next(plain, None)
    return _kinds[found]


def is_exact(kind: type) -> bool:
    """Tell whether a type is Decimal or Fraction."""
    return (kind.__module__, kind.__name__) in _LATE


class Number:
    """A number or truth value from the candidate; arithmetic with it gives such values again."""

    __slots__ = ("_plain",)
    _plain: Any

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    @property
    def __class__(self) -> type:
        # isinstance holds as for the plain value; but Fraction and Decimal, when they stand on the
        # left of a comparison, are not to find one of their own kind and compare loosely.
        return type(self) if _compares(sys._getframe(1)) else type(self._plain)

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("the class of a value from the candidate cannot be set")

    def __eq__(self, other: object) -> Any:
        kind = kind_of(other)
        if kind is None:
            return NotImplemented
        return kind is type(self._plain) and bool(self._plain == bare(other))

    def __hash__(self) -> int:
        return hash(self._plain)

    def __bool__(self) -> bool:
        return bool(self._plain)

    def __repr__(self) -> str:
        return repr(self._plain)

    def __str__(self) -> str:
        return str(self._plain)

    def __format__(self, spec: str) -> str:
        return format(self._plain, spec)

    def __complex__(self) -> complex:
        return complex(self._plain)

    def __reduce__(self) -> Any:
        return strict, (self._plain,)

    def __dir__(self) -> list[str]:
        return dir(self._plain)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._plain, name)
        if not callable(found):
            return strict(found)
        return lambda *words, **named: strict(
            found(*map(bare, words), **{key: bare(word) for key, word in named.items()})
        )


class Real(Number):
    """A float, Decimal or Fraction."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(self._plain)

    def __int__(self) -> int:
        return int(self._plain)

    def __trunc__(self) -> Any:
        return strict(math.trunc(self._plain))

    def __floor__(self) -> Any:
        return strict(math.floor(self._plain))

    def __ceil__(self) -> Any:
        return strict(math.ceil(self._plain))

    def __round__(self, digits: Any = None) -> Any:
        # To so many digits is the test's own sum, like a comparison with pytest.approx, and a plain
        # number: assertAlmostEqual asks whether a rounded difference is the integer 0.
        found = round(self._plain, bare(digits))
        return strict(found) if digits is None else found


class Integer(Real):
    """An int or a bool."""

    __slots__ = ()

    def __index__(self) -> int:
        return int(self._plain)


def _compares(frame: FrameType) -> bool:
    """Tell whether a comparison of Fraction or Decimal asks for a class, by who asks."""
    asker: FrameType | None = frame
    if frame.f_code is _INSTANCE_CHECK:
        asker = frame.f_back
        if asker is not None and asker.f_code.co_code[asker.f_lasti] in _comparing():
            return True
    if asker is None or asker.f_code.co_name != "__eq__":
        return False
    return asker.f_globals.get("__name__") == "fractions"


_INSTANCE_CHECK = getattr(ABCMeta.__instancecheck__, "__code__", None)
_opcodes: list[int] = []


def _comparing() -> list[int]:
    if not _opcodes:
        from opcode import opmap

        _opcodes.extend(opmap[name] for name in ("COMPARE_OP", "CONTAINS_OP"))
    return _opcodes


def _binary(operation: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    def forward(self: Number, other: Any) -> Any:
        return strict(operation(self._plain, bare(other)))

    def backward(self: Number, other: Any) -> Any:
        return strict(operation(bare(other), self._plain))

    return forward, backward


def _unary(operation: Callable[[Any], Any]) -> Any:
    return lambda self: strict(operation(self._plain))


def _ordering(operation: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: operation(self._plain, bare(other))


def _power(self: Number, other: Any, modulus: Any = None) -> Any:
    return strict(pow(self._plain, bare(other), bare(modulus)))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _pair = _binary(getattr(operator, _name))
    setattr(Number, f"__{_name}__", _power if _name == "pow" else _pair[0])
    setattr(Number, f"__r{_name}__", _pair[1])
for _name, _operation in (
    ("divmod", divmod),
    ("lshift", operator.lshift),
    ("rshift", operator.rshift),
    ("and", operator.and_),
    ("or", operator.or_),
    ("xor", operator.xor),
):
    _pair = _binary(_operation)
    setattr(Number, f"__{_name}__", _pair[0])
    setattr(Number, f"__r{_name}__", _pair[1])
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Number, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Number, f"__{_name}__", _ordering(getattr(operator, _name)))


def _equal(base: Any) -> tuple[Any, Any]:
    """Return `__eq__` and `__ne__` of a container: the elements compare themselves strictly."""

    def equal(self: Any, other: object) -> Any:
        kind = kind_of(other)
        if kind is None:
            return NotImplemented
        return kind is base and base.__eq__(self, other)

    def unequal(self: Any, other: object) -> Any:
        answer = equal(self, other)
        return answer if answer is NotImplemented else not answer

    return equal, unequal


class Bytes(bytes):
    """Equal to bytes alone."""

    __eq__, __ne__ = _equal(bytes)
    __hash__ = bytes.__hash__


class ByteArray(bytearray):
    """Equal to bytearrays alone."""

    __eq__, __ne__ = _equal(bytearray)
    __hash__ = None

    def __repr__(self) -> str:
        return repr(bytearray(self))


class List(list):  # type: ignore[type-arg]
    """Equal to lists alone."""

    __eq__, __ne__ = _equal(list)
    __hash__ = None


class Tuple(tuple):  # type: ignore[type-arg]
    """Equal to tuples alone."""

    __eq__, __ne__ = _equal(tuple)
    __hash__ = tuple.__hash__


class Dict(dict):  # type: ignore[type-arg]
    """Equal to dicts alone."""

    __eq__, __ne__ = _equal(dict)
    __hash__ = None


class Set(set):  # type: ignore[type-arg]
    """Equal to sets alone."""

    __eq__, __ne__ = _equal(set)
    __hash__ = None

    def __repr__(self) -> str:
        return repr(set(self))


class FrozenSet(frozenset):  # type: ignore[type-arg]
    """Equal to frozensets alone."""

    __eq__, __ne__ = _equal(frozenset)
    __hash__ = frozenset.__hash__

    def __repr__(self) -> str:
        return repr(frozenset(self))


_STRICT: dict[type, Callable[[Any], Any]] = {
    bool: Integer,
    int: Integer,
    float: Real,
    complex: Number,
    bytes: Bytes,
    bytearray: ByteArray,
    list: lambda value: List(map(strict, value)),
    tuple: lambda value: Tuple(map(strict, value)),
    dict: lambda value: Dict((strict(key), strict(item)) for key, item in value.items()),
    set: lambda value: Set(map(strict, value)),
    frozenset: lambda value: FrozenSet(map(strict, value)),
}


def strict(value: Any) -> Any:
    """Return a plain value so that it compares strictly; another value as it is."""
    kind = type(value)
    make = _STRICT.get(kind)
    if make is not None:
        return make(value)
    return Real(value) if is_exact(kind) else value


def strict_inside(value: Any) -> Any:
    """Return the same of an element, leaving mutable containers the objects that they are."""
    kind = type(value)
    if kind in (list, dict, set, bytearray):
        return value
    if kind is tuple or kind is frozenset:
        return (Tuple if kind is tuple else FrozenSet)(map(strict_inside, value))
    return strict(value)


def bare(value: Any) -> Any:
    """Return the plain number of a number, another value as it is."""
    return value._plain if issubclass(type(value), Number) else value


def plain(value: Any) -> Any:
    """Return the builtin value of a value from the candidate, recursively.

    Raises:
        NotPlain: an object of the candidate is in it.
    """
    kind = type(value)
    if issubclass(kind, Number):
        return value._plain
    if issubclass(kind, (list, tuple, set, frozenset)):
        base: Any = kind_of(value)
        return base(map(plain, value))
    if issubclass(kind, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if issubclass(kind, (bytes, bytearray)):
        return kind_of(value)(value)
    if hasattr(kind, "_frozenbench"):
        raise NotPlain(f"{value!r} is an object of the candidate and has no plain value")
    return value
