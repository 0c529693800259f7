"""Values from a candidate: equal to a plain one only where the types are equal too."""

from __future__ import annotations

import json
import math
import operator
import sys
import unittest
from collections import OrderedDict, namedtuple
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any
from unittest.mock import ANY

import pytest
from frozenbench.inside.candidate_codec import Reader, Table, Unplain, Writer
from frozenbench.inside.trusted.frozenbench_candidate import NotPlain, plain, strict
from frozenbench.inside.trusted.frozenbench_candidate.codec import Answer, Arguments
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, math.inf]),
    st.sampled_from([0j, 1 + 0j, 2j]),
    st.sampled_from([Decimal(0), Decimal(1), Decimal("0.5"), Fraction(1), Fraction(1, 2)]),
    st.integers(),
    st.floats(allow_nan=False),
)
SCALARS = st.one_of(st.none(), NUMBERS, st.text(max_size=2), st.binary(max_size=2))
KEYS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2).map(tuple) | st.frozensets(inner, max_size=2),
    max_leaves=3,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=2),
        st.sets(KEYS, max_size=2),
        st.frozensets(KEYS, max_size=2),
        st.binary(max_size=2).map(bytearray),
    ),
    max_leaves=6,
)


def same(a: Any, b: Any) -> bool:
    """What is to hold, said another way: equal types and equal content, recursively."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            any(same(k, other) and same(v, b[other]) for other in b) for k, v in a.items()
        )
    return bool(a == b)


def loose_left(left: Any, right: Any) -> bool:
    """The two pairs whose left side Python never lets the right one refuse (see the docs)."""
    pairs = {(type(left), type(right))}
    return bool(pairs & {(frozenset, set), (set, frozenset), (bytearray, bytes)})


@given(VALUES, VALUES)
def test_strict_equality_is_equality_of_types_and_values(x: Any, y: Any) -> None:
    assert (strict(x) == y) is same(x, y)
    assert (strict(x) != y) is not same(x, y)
    assert (strict(x) == strict(y)) is same(x, y)
    if not loose_left(y, x):
        assert (y == strict(x)) is same(x, y)
        assert (y != strict(x)) is not same(x, y)


@given(VALUES)
def test_a_value_is_equal_to_itself_and_plain_gives_it_back(x: Any) -> None:
    assert strict(x) == x
    assert x == strict(x)
    assert same(plain(strict(x)), x)
    shown = repr(strict(x))
    assert same(eval(shown, vars(sys.modules[__name__]) | {"inf": math.inf}), x)


@given(KEYS, KEYS)
def test_it_is_found_in_sets_and_dicts_as_itself_alone(x: Any, y: Any) -> None:
    assert hash(strict(x)) == hash(x)
    assert (strict(x) in {y}) is same(x, y)
    assert ({y: 1}.get(strict(x)) == 1) is same(x, y)
    assert ({strict(x): 1}.get(y) == 1) is same(x, y)
    assert (strict(x) in [y]) is same(x, y)


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        *[(5, 5.0), (1, True), (True, 1), (5.0, 5), ((1,), [1]), ([1], (1,)), ([1], [1.0])],
        *[(1, 1 + 0j), ({True: 0}, {1: 0}), ({1: 0}, {1: False}), (b"a", "a")],
        *[(5, Decimal(5)), (5, Fraction(5)), (5.0, Fraction(5)), (Fraction(5), Decimal(5))],
        *[({1}, {1.0}), ([[1, (2,)]], [[1, (2.0,)]])],
    ],
)
def test_what_python_takes_for_equal_is_told_apart(value: Any, literal: Any) -> None:
    assert (strict(value) == literal) is False
    assert (literal == strict(value)) is False
    assert strict(value) != literal
    assert literal != strict(value)


class Colour(IntEnum):
    RED = 1


def test_types_of_the_tests_own_count_as_what_they_are_based_on() -> None:
    assert strict(1) == Colour.RED
    assert strict(1) == Colour.RED
    assert strict(1.0) != Colour.RED
    pair = namedtuple("pair", "x y")
    assert strict((1, 2)) == pair(1, 2)
    assert strict({1: 2}) == OrderedDict({1: 2})
    assert strict(5) == ANY


@pytest.mark.parametrize("kind", [float, Decimal, Fraction])
def test_almost_equal_of_unittest_compares_numbers(kind: type) -> None:
    case = unittest.TestCase()
    near_enough, apart = case.assertAlmostEqual, case.assertNotAlmostEqual
    third = kind(1) / 3
    value, near = strict(third), third + kind("0.000000001")
    for first, second in ((value, near), (near, value), (value, strict(near))):
        near_enough(first, second)
        with pytest.raises(AssertionError):
            apart(first, second)
    apart(value, third + 1)
    with pytest.raises(AssertionError):
        near_enough(value, third + 1)


def test_numbers_work_as_numbers() -> None:
    five, half, yes = strict(5), strict(0.5), strict(True)
    assert isinstance(five, int)
    assert isinstance(half, float)
    assert isinstance(yes, bool)
    assert five + 1 == 6
    assert 1 + five == 6
    assert (five + 1) != 6.0
    assert five / 2 == 2.5
    assert 7 // five == 1
    assert 2**five == 32
    assert pow(five, 2, 7) == 4
    assert -five == -5
    assert abs(strict(-2.5)) == 2.5
    assert divmod(five, 2) == (2, 1)
    assert five | 2 == 7
    assert round(strict(2.567), 2) == 2.57
    assert round(half) == 0
    assert round(half) != 0.0
    assert math.sqrt(strict(4)) == 2
    assert math.floor(strict(10**30)) == 10**30
    assert math.ceil(half) == 1
    assert math.gcd(strict(4), strict(6)) == 2
    assert sum([five, half]) == 5.5
    assert sorted([five, strict(1), half]) == [0.5, 1, 5]
    assert max(five, 3) == 5
    assert list(range(five)) == [0, 1, 2, 3, 4]
    assert "abcdefg"[five] == "f"
    assert "a" * five == "aaaaa"
    assert f"{five:03d} {half:.2f} {yes}" == "005 0.50 True"
    assert f"{five!r}" == "5"
    assert "%d %s" % (five, half) == "5 0.5"  # noqa: UP031
    assert Decimal(1) + five == Decimal(6)
    assert Decimal(3) < five
    assert Fraction(1, 2) + five == Fraction(11, 2)
    assert five.bit_length() == 3
    assert half.as_integer_ratio() == (1, 2)
    assert int(strict(2.9)) == 2
    assert complex(half) == 0.5 + 0j
    assert not strict(0)
    assert five == pytest.approx(5.0)
    assert half == pytest.approx(0.5 + 1e-9)
    assert strict([0.1 + 0.2]) == pytest.approx([0.3])
    assert strict({"a": 0.1 + 0.2}) == pytest.approx({"a": 0.3})
    assert half != pytest.approx(0.6)
    with pytest.raises(TypeError):
        operator.add(five, "a")
    with pytest.raises(TypeError):
        range(half)  # type: ignore[call-overload]


def test_containers_work_as_containers() -> None:
    items = strict([3, 1, [2]])
    assert items[:2] == [3, 1]
    assert items[0] == 3
    assert len(items) == 3
    assert items * 2 == [3, 1, [2], 3, 1, [2]]
    assert strict({"a": {"b": 1}})["a"]["b"] == 1
    assert {**strict({"a": 1})} == {"a": 1}
    assert strict({1, 2}) | {3} == {1, 2, 3}
    assert json.dumps(plain(strict({"a": [1, 2.5, None, True]}))) == '{"a": [1, 2.5, null, true]}'
    assert strict("text") == "text"
    assert strict(None) is None


# The way there and back


class NoPeer:
    """A child of which no object is held here."""

    def number_of(self, value: Any) -> None:
        return None


def across(value: Any) -> Any:
    """To the candidate's side as an argument, and back as an answer, through JSON text."""
    table = Table()
    node = json.loads(json.dumps(Arguments(NoPeer()).node(value)))  # type: ignore[arg-type]
    there = Reader(table).value(node)
    assert same(there, value)
    return Answer(NoPeer()).value(json.loads(Writer(table).text(there)))  # type: ignore[arg-type]


@given(VALUES)
def test_every_plain_value_crosses_as_it_is(x: Any) -> None:
    assert across(x) == x


@pytest.mark.parametrize(
    "value",
    [10**5000, -(2**64), 2**53, "\ud800", "\0\n\u2028", -0.0, 1e308, range(0, 10, 3)],
    ids=list("abcdefgh"),
)
def test_odd_values_cross(value: Any) -> None:
    assert across(value) == value
    assert repr(across(-0.0)) == "-0.0"


def test_what_is_no_number_crosses() -> None:
    assert math.isnan(Answer(NoPeer()).value(json.loads(Writer(Table()).text(math.nan))))  # type: ignore[arg-type]


def test_shared_arguments_stay_shared() -> None:
    inner: list[Any] = [1]
    node = Arguments(NoPeer()).node([inner, inner])  # type: ignore[arg-type]
    there = Reader(Table()).value(node)
    assert there[0] is there[1]


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(Unplain, match="nested"):
        Writer(Table()).text(deep)
    with pytest.raises(NotPlain, match="nested"):
        Arguments(NoPeer()).node(deep)  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*"icbBtdsfRDFwpTrxknhm", "?"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(JSON)
def test_no_answer_is_more_than_an_error(node: Any) -> None:
    """Whatever a child sends becomes a value or an exception; nothing else happens."""
    with suppress(Exception):
        assert plain(Answer(NoPeer(), []).value(node)) is not NotPlain  # type: ignore[arg-type]
