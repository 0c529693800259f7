"""Every number has a key and a macro of its own, whatever agents and budgets are called."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import frozenbench.write_up.names as of_names
import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import Refused, read_json
from frozenbench.write_up.inputs import Inputs
from frozenbench.write_up.names import key, letters, macro_names, parts_of
from frozenbench.write_up.numbers import numbers, numbers_document, numbers_tex
from hypothesis import example, given
from hypothesis import strategies as st
from small_experiment_files import NO_RESPONSES, files_of

ORDINARY = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True)
#: Names that are made of what a key or a macro is made of, and any others.
HOSTILE = st.text(st.sampled_from("xyZ1/%2F57{}-. é模"), min_size=1, max_size=6) | st.text(
    st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6
)
#: Of so few names that many are parts of others.
CLOSE = st.text("x/", min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("pass_rate", "one", "calls-1"), "pass_rate/one/calls-1"),
        (("area", "4o.mini é模 #&"), "area/4o.mini é模 #&"),
        (("delta", "x", "y/z", "b"), "delta/x/y%2Fz/b"),
        (("delta", "x/y", "z", "b"), "delta/x%2Fy/z/b"),
        (("area", "50%"), "area/50%25"),
        (("area", "{a}"), "area/%7Ba%7D"),
    ],
)
def test_a_key_is_made_so(parts: tuple[str, ...], expected: str) -> None:
    assert key(*parts) == expected


@given(st.lists(HOSTILE, min_size=1, max_size=4))
@example(["%2F", "/", "%252F"])
def test_a_key_tells_its_parts_and_fits_into_a_mark_of_a_markdown_text(parts: list[str]) -> None:
    made = key(*parts)
    assert parts_of(made) == parts
    assert not set(made) & set("{}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("calls-16", "CallsOneSix"),
        ("pass_rate", "PassRate"),
        ("4o.mini", "FourOMini"),
        ("Ünï-é", "UniE"),
        ("openai/gpt-4", "OpenaiGptFour"),
    ],
)
def test_names_in_letters(name: str, expected: str) -> None:
    assert letters(name) == expected


@given(
    st.lists(
        st.tuples(ORDINARY | HOSTILE, ORDINARY | HOSTILE), min_size=1, max_size=12, unique=True
    )
)
@example([("x", "y/z"), ("x/y", "z")])
def test_macros_are_letters_and_never_alike(pairs: list[tuple[str, str]]) -> None:
    keys = [key("rate", *pair) for pair in pairs]
    names = macro_names(keys, "fbX")
    assert list(names) == keys
    assert len(set(names.values())) == len(keys)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names.values())


def test_only_names_that_come_out_alike_carry_letters_of_their_digest() -> None:
    names = macro_names(["rate/a-b", "rate/a.b", "rate/c"], "fbX")
    assert names["rate/c"] == "fbXRateC"
    assert names["rate/a-b"] != names["rate/a.b"]
    assert all(re.fullmatch("fbXRateAB[a-p]{8}", names[key]) for key in ("rate/a-b", "rate/a.b"))
    assert macro_names(["rate/a-b", "rate/c"], "fbX")["rate/a-b"] == "fbXRateAB"
    assert macro_names([key("rate", "a/b")], "fbX") == {"rate/a%2Fb": "fbXRateAB"}


def test_a_name_that_ends_as_with_a_digest_is_told_apart_from_it() -> None:
    alike = ["rate/a-b", "rate/a.b"]
    taken = macro_names(alike, "fbX")["rate/a-b"].removeprefix("fbXRateA")
    names = macro_names([*alike, f"rate/a-{taken}"], "fbX")
    assert len(set(names.values())) == 3
    assert re.fullmatch("fbXRateAB[a-p]{16}", names["rate/a-b"])


def test_two_numbers_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match=r"numbers\.json: rate/a: two numbers.*cure: "):
        macro_names(["rate/a", "rate/b", "rate/a"], "fbX")
    monkeypatch.setattr(of_names, "sha256_bytes", lambda data: "0" * 64)
    with pytest.raises(Refused, match=r"numbers\.json: rate/a-b: two numbers.*cure: "):
        macro_names(["rate/a-b", "rate/a.b"], "fbX")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """What the numbers of the small study are made from, with several ladders in it."""
    files = files_of(tmp_path_factory.mktemp("small"))
    tables = {
        name: pq.read_table(files.statistics / f"{name}.parquet").to_pylist()
        for name in ("summary", "contrasts", "flips", "areas")
    }
    areas = [{**row, "ladder": ladder} for row in tables["areas"] for ladder in ("l1", "l2")]
    for row in areas:
        row["budget_to"] = "free" if row["ladder"] == "l2" else row["budget_to"]
    facts = read_json(files.statistics / "statistics.json")
    documents = {"controls": files.rows.controls, "view": files.plan.view}
    tables["areas"] = areas
    others = {"responses": NO_RESPONSES, "statistics": facts, "measured": [], "cells_sha256": ""}
    return Inputs(**documents, **tables, **others)


def renamed(small: Inputs, agents: list[str], budgets: Mapping[str, str]) -> Inputs:
    """The study with these agents and budgets: their rows are those of its first ones."""

    def called(row: Mapping[str, Any], **names: str) -> dict[str, Any]:
        columns = [name for name in ("budget", "budget_from", "budget_to") if name in row]
        places = {name: budgets[row[name]] for name in columns}
        return {**row, **places, **names}

    first = small.summary[0]["agent"]
    caps = small.controls["budgets"]
    return replace(
        small,
        controls={**small.controls, "budgets": {budgets[name]: caps[name] for name in caps}},
        view={**small.view, "budgets": list(budgets.values())},
        summary=[
            called(row, agent=agent)
            for agent in agents
            for row in small.summary
            if row["agent"] == first
        ],
        areas=[
            called(row, agent=agent)
            for agent in agents
            for row in small.areas
            if row["agent"] == first
        ],
        contrasts=[
            called(row, agent_a=a, agent_b=b)
            for a, b in combinations(agents, 2)
            for row in small.contrasts
        ],
        flips=[],
    )


@given(st.data())
def test_no_number_is_lost_whatever_agents_and_budgets_are_called(
    small: Inputs, data: st.DataObject
) -> None:
    agents = data.draw(st.lists(CLOSE | HOSTILE, min_size=4, max_size=4, unique=True))
    called = data.draw(st.lists(CLOSE | HOSTILE, min_size=3, max_size=3, unique=True))
    inputs = renamed(small, agents, dict(zip(small.view["budgets"], called, strict=True)))
    _all_there(inputs, len(agents))


def test_the_pairs_of_names_with_a_slash_have_numbers_of_their_own(small: Inputs) -> None:
    same = {name: name for name in small.view["budgets"]}
    _all_there(renamed(small, ["x", "x/y", "y/z", "z"], same), 4)


def _all_there(inputs: Inputs, agents: int) -> None:
    found = numbers(inputs)
    plain = ["one", "two", "three", "four"][:agents]
    budgets = inputs.view["budgets"]
    fewest = len(plain) * len(budgets) * 30 + len(list(combinations(plain, 2))) * len(budgets) * 7
    assert len(found) > fewest
    document = json.loads(json.dumps(numbers_document(inputs, found)))["numbers"]
    assert len(document) == len(found)
    assert len({one["macro"] for one in document.values()}) == len(found)
    defined = re.findall(r"^\\newcommand\*\{\\(\w+)\}", numbers_tex(inputs, found), re.MULTILINE)
    assert len(set(defined)) == len(defined) == len(found)
