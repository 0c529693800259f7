"""How values are written, for eyes and for TeX."""

from __future__ import annotations

import re

import pytest
from frozenbench.write_up.tex import SIGN, breakable, narrow, tex, with_signs
from frozenbench.write_up.wording import cap, dates, number, percent, points, within
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(0.86049), "86.0"),
        (percent(None), "n/a"),
        (points(0.125), "+12.5"),
        (points(None), "n/a"),
        (number(None), "n/a"),
        (dates({"first_date": "2026-01-02", "last_date": "2026-01-02"}), "2026-01-02"),
        (
            dates({"first_date": "2026-01-02", "last_date": "2026-01-05"}),
            "2026-01-02 to 2026-01-05",
        ),
        (dates({"first_date": None, "last_date": None}), "n/a"),
        (number(3), "3"),
        (number(1.005, 1), "1.0"),
        (cap(None), "no cap"),
        (cap(20000.0), "20000"),
        (cap(0.5), "0.5"),
        (within("1.0", "2.0"), "[1.0, 2.0]"),
        (within("n/a", "2.0"), "n/a"),
    ],
)
def test_a_value_is_written_so(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("50 % of a_b & c#1 {x}", r"50 \% of a\_b \& c\#1 \textbraceleft{}x\textbraceright{}"),
        ("-12.5 [-20.0, -1.0]", r"\ensuremath{-}12.5 [\ensuremath{-}20.0, \ensuremath{-}1.0]"),
        ("calls-1 on 2026-01-02", "calls-1 on 2026-01-02"),
        ("2026-01-02", "2026-01-02"),
        ("model-x -3 1e-05", "model-x -3 1e-05"),
        ("1.9e-09", r"\ensuremath{1.9\times10^{-9}}"),
        (">=3.11", r"\ensuremath{>}=3.11"),
        ("two--three---", "two-{}-three-{}-{}-"),
        ("a``b''c", "a`{}`b'{}'c"),
        ("Ünï é ø ß", r"\"{U}n\"{i} \'{e} \o{} \ss{}"),
        ("e\u0301", r"\'{e}"),
        ("模 Ω", r"\fbsign{6A21}{模} \fbsign{03A9}{Ω}"),
        ("tab\tbell\a", "tab bell "),
        ("a\\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
    ],
)
def test_what_tex_reads(plain: str, expected: str) -> None:
    assert tex(plain) == expected


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs")), max_size=40))
def test_nothing_that_tex_reads_as_a_command_is_left(plain: str) -> None:
    found = re.sub(r"\\ensuremath\{[<>|]\}|\\[a-zA-Z]+|\\[&%$#_]", "", tex(plain))
    assert not set(found) & set("\\&%$#_~<>|")
    assert found.count("{") == found.count("}")


@given(st.text(max_size=40))
def test_every_text_is_signs_that_pdftex_reads(plain: str) -> None:
    """What is left beside ASCII stands in the second argument of a command that skips it."""
    found = re.sub(r"\\fbsign\{[0-9A-F]{4,6}\}\{.\}", "", tex(plain), flags=re.DOTALL)
    assert found.isascii()
    assert found.isprintable() or found == ""
    assert found.count("{") == found.count("}")


def test_what_a_sign_needs_stands_above_it_and_nowhere_else() -> None:
    assert with_signs(tex("模")).startswith(SIGN)
    assert with_signs(tex("é")) == r"\'{e}"


def test_a_long_name_may_be_broken_in_a_narrow_column() -> None:
    assert narrow("short-name") == "short-name"
    parts = narrow("A" * 40).split(r"\allowbreak{}")
    assert [len(part) for part in parts] == [16, 16, 8]


def test_a_digest_may_be_broken_anywhere_but_inside_eight_digits() -> None:
    digest = "0123456789abcdef" * 4
    found = breakable(digest)
    assert found.removeprefix(r"\texttt{").removesuffix("}").replace(r"\allowbreak ", "") == digest
    assert found.count(r"\allowbreak ") == 7
