"""Config files: strict YAML, every error with file, key, value and cure, and nothing but a Config."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.canonical import BadInput
from frozenbench.config import parse_config, read_yaml
from frozenbench.controls import CAP_FIELDS, Config
from frozenbench.import_plan import load_import_plan
from hypothesis import given, settings
from hypothesis import strategies as st
from small_study import CONFIG, changed

WHERE = "config/mine.yaml"
CURE = re.compile(r"; cure: \S")


def refusal(data: Any) -> str:
    """Return how a config is refused, after the file's name."""
    with pytest.raises(BadInput) as caught:
        parse_config(data, WHERE)
    told = str(caught.value)
    assert told.startswith(f"{WHERE}: "), told
    assert CURE.search(told), told
    assert "\n" not in told
    return told.removeprefix(f"{WHERE}: ")


def unread(tmp_path: Path, text: str | bytes) -> str:
    """Return how a YAML file is refused."""
    path = tmp_path / "mine.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(BadInput) as caught:
        read_yaml(path, WHERE)
    told = str(caught.value)
    assert told.startswith(f"{WHERE}: "), told
    assert "cure: " in told
    assert str(tmp_path) not in told
    return told.removeprefix(f"{WHERE}: ")


def test_a_config_is_read_with_its_defaults() -> None:
    config = parse_config(CONFIG, WHERE)
    assert config.agents == ("one", "two")
    assert config.budgets[1].caps() == {"tool_calls": 4, "tokens": 500, "wall_clock": 60}
    assert (config.repeats, config.grading, config.clock) == (1, "final", "guard")
    assert (config.isolation, config.budget_disclosed) == ("userns", False)
    assert (config.responses.policy, config.responses.record) == ("shared", None)
    assert (config.statistics.resamples, config.statistics.alpha) == (10000, 0.05)
    assert config.startup_timeout_s == 300
    assert config.accepted() == {}


def test_the_shipped_configs_are_read() -> None:
    folder = Path(__file__).parents[1] / "config"
    paths = sorted(folder.glob("*.yaml"))
    assert "config.yaml" in [path.name for path in paths]
    for path in paths:
        if "source" in read_yaml(path, path.name):
            assert load_import_plan(f"config/{path.name}", folder.parent)
            continue
        assert isinstance(parse_config(read_yaml(path, path.name), path.name), Config)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("experiment", None, "experiment: is missing; cure: give name and question"),
        ("pack", None, "pack: is missing; cure: give the task pack"),
        ("agents", None, "agents: is missing"),
        ("budgets", None, "budgets: is missing"),
        ("budget_axis", None, "budget_axis: is missing"),
        ("experiment.name", None, "experiment: name: is missing; cure: give folder name"),
        ("budgets.0.max_seconds", ..., "budgets.0: max_seconds: is missing; cure: give wall clock"),
        # unknown keys, with the nearest one
        ("agent", ["one"], "agent: unknown key; did you mean 'agents'? known: accept_error_share,"),
        ("repeat", 2, "repeat: unknown key; did you mean 'repeats'?"),
        ("experiment.names", "x", "experiment: names: unknown key; did you mean 'name'?"),
        ("pack.sha256", "x", "pack: sha256: unknown key"),
        (
            "budgets.0.max_calls",
            1,
            "budgets.0: max_calls: unknown key; did you mean 'max_tool_calls",
        ),
        ("responses.recrod", "x", "responses: recrod: unknown key; did you mean 'record'?"),
        ("statistics.seed", 1, "statistics: seed: unknown key"),
        # wrong values
        ("experiment", "x", "experiment: is 'x'; cure: a value of type object"),
        ("experiment.name", "a/b", "experiment.name: is 'a/b'; cure: text that matches"),
        ("experiment.name", "../x", "experiment.name: is '../x'; cure: text that matches"),
        ("experiment.name", "x\n", r"experiment.name: is 'x\n'; cure: text that matches"),
        ("experiment.question", "why", "experiment.question: is 'why'; cure: one of solves_at_all"),
        ("pack.path", 7, "pack.path: is 7; cure: a value of type string"),
        ("pack.expected_sha256", "abc", "pack.expected_sha256: is 'abc'; cure: text that matches"),
        ("agents", "one", "agents: is 'one'; cure: a value of type array"),
        ("agents", [], "agents: is []; cure: at least 1 item(s)"),
        ("agents", ["../one"], "agents.0: is '../one'; cure: text that matches"),
        ("budgets", [], "budgets: is []; cure: at least 1 item(s)"),
        ("budgets", {}, "budgets: is {}; cure: a value of type array"),
        (
            "budgets.0.max_tool_calls",
            0,
            "budgets.0.max_tool_calls: is 0; cure: a value of at least 1",
        ),
        (
            "budgets.0.max_tool_calls",
            1.5,
            "budgets.0.max_tool_calls: is 1.5; cure: a value of type",
        ),
        (
            "budgets.0.max_tool_calls",
            True,
            "budgets.0.max_tool_calls: is True; cure: a value of type",
        ),
        (
            "budgets.0.max_tool_calls",
            "8",
            "budgets.0.max_tool_calls: is '8'; cure: a value of type",
        ),
        (
            "budgets.0.max_tokens",
            2**60,
            "budgets.0.max_tokens: is 1152921504606846976; cure: a value",
        ),
        ("budgets.0.max_seconds", 0, "budgets.0.max_seconds: is 0; cure: a value above 0"),
        ("budgets.0.max_seconds", float("inf"), "budgets.0.max_seconds: is inf; cure: a value of"),
        ("budgets.0.max_seconds", float("nan"), "budgets.0.max_seconds: is nan; cure: a value of"),
        (
            "budget_axis",
            "tool_calls",
            "budget_axis: is 'tool_calls'; cure: one of max_edit_rounds or",
        ),
        (
            "repeats",
            0,
            "repeats: is 0; cure: a value of at least 1 (independent runs of each cell)",
        ),
        ("repeats", 2**31, "repeats: is 2147483648; cure: a value of at most 2147483647"),
        ("grading", "best", "grading: is 'best'; cure: one of final or every_step"),
        ("budget_disclosed", "no", "budget_disclosed: is 'no'; cure: a value of type boolean"),
        ("budget_disclosed", 0, "budget_disclosed: is 0; cure: a value of type boolean"),
        ("clock", "loose", "clock: is 'loose'; cure: one of guard or strict"),
        ("isolation", "docker", "isolation: is 'docker'; cure: one of none or process or userns"),
        ("responses.policy", "mine", "responses.policy: is 'mine'; cure: one of shared or indepen"),
        ("statistics.resamples", 10, "statistics.resamples: is 10; cure: a value of at least 100"),
        ("statistics.alpha", 0.5, "statistics.alpha: is 0.5; cure: a value below 0.5"),
        ("tasks", [], "tasks: is []; cure: at least 1 item(s)"),
        ("accept_error_share", 2, "accept_error_share: is 2; cure: a value of at most 1"),
        ("startup_timeout_s", -1, "startup_timeout_s: is -1; cure: a value above 0"),
        ("title", "", "title: is ''; cure: a text that is not empty"),
        # what a schema cannot say
        ("agents", ["one", "ONE"], "agents: 'one' stands twice (capitals do not count); cure"),
        ("agents", ["noop"], "agents: 'noop' is reserved; cure: leave it out"),
        ("agents", ["Reference"], "agents: 'Reference' is reserved; cure: leave it out"),
        ("figures", ["outcomes", "outcomes"], "figures: 'outcomes' stands twice"),
        ("tasks", ["alpha", "Alpha"], "tasks: 'alpha' stands twice"),
        ("budgets.1.name", "CALLS-1", "budgets: 'calls-1' stands twice"),
        (
            "budgets.1.max_tool_calls",
            1,
            "budgets.1: 'calls-4' has the same caps as 'calls-1'; cure",
        ),
        (
            "budget_axis",
            "max_edit_rounds",
            "budget_axis: is 'max_edit_rounds', which no budget caps",
        ),
        ("focus", ["three"], "focus: 'three' is none of the agents; known: one, two; cure: name"),
        ("accept_unmetered", ["on"], "accept_unmetered: 'on' is none of the agents; did you mean"),
        ("accept_unsandboxed", ["x"], "accept_unsandboxed: 'x' is none of the agents"),
    ],
    ids=lambda value: ascii(value)[:32],
)
def test_a_wrong_config_is_told_by_key_value_and_cure(key: str, value: Any, told: str) -> None:
    data = changed(CONFIG, key, None if value is ... else value)
    assert refusal(data).startswith(told)


@pytest.mark.parametrize("data", [[], "text", None, 7])
def test_a_config_that_is_no_mapping_is_told(data: Any) -> None:
    assert refusal(data).startswith("holds ")


def test_an_unknown_key_is_told_before_anything_else() -> None:
    assert refusal({"agnets": 1}).startswith("agnets: unknown key; did you mean 'agents'?")


def test_a_whole_number_has_one_spelling() -> None:
    """300 and 300.0 are one cap: with two spellings they would be two run keys."""
    spelled = changed(CONFIG, "budgets.0.max_seconds", 60.0)
    assert parse_config(spelled, WHERE) == parse_config(CONFIG, WHERE)
    assert repr(parse_config(spelled, WHERE)) == repr(parse_config(CONFIG, WHERE))


def test_what_a_config_accepts_is_known_by_name() -> None:
    data = {**CONFIG, "accept_unmetered": ["two", "one"], "accept_error_share": 0.1}
    accepted = parse_config(data, WHERE).accepted()
    assert accepted == {"accept_unmetered": ["one", "two"], "accept_error_share": 0.1}
    assert parse_config({**CONFIG, "accept_error_share": 0}, WHERE).accepted() == {}


# YAML


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: a: the key stands twice; cure: keep one of them"),
        ("a:\n  b: 1\n  b: 1\n", "line 3: b: the key stands twice"),
        ("- {x: 1, x: 2}\n", "line 1: x: the key stands twice"),
        ("1: a\n0x1: b\n", "line 2: 1: the key stands twice"),
        ("? [a]\n: 1\n", "line 1: a key is no plain text"),
        ("{? {a: 1} : 2}", "line 1: a key is no plain text"),
        ("- a\n", "holds no mapping; cure: `key: value` lines"),
        ("", "holds no mapping"),
        ("a: [\n", "is not readable YAML: while parsing"),
        ("a: \t- b", "is not readable YAML: "),
        ("a: !!python/object/apply:os.system [id]\n", "is not readable YAML: could not determine"),
        ("base: &b {x: 1}\nmore: {<<: *b}\n", "is not readable YAML: could not determine"),
        ("a: &a [*a]\n", "is not readable YAML: found unconstructable recursive node"),
        ("day: 2024-13-45\n", "is not readable YAML: month must be in 1..12"),
        ("a: !!int x\n", "is not readable YAML: "),
        ("a: !!bool x\n", "is not readable YAML: "),
        ("a: !!timestamp x\n", "is not readable YAML: "),
        (b"a: \xff\n", "is not readable YAML: 'utf-8' codec"),
        (b"a: \x07\n", "is not readable YAML: unacceptable character"),
        ("a: " + "[" * 3000 + "\n", "is not readable YAML: "),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_yaml_that_cannot_be_meant_is_told(tmp_path: Path, text: str | bytes, told: str) -> None:
    assert unread(tmp_path, text).startswith(told)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"^{WHERE}: is not there; cure: create it"):
        read_yaml(tmp_path / "nope.yaml", WHERE)
    with pytest.raises(BadInput, match=f"^{WHERE}: is not readable"):
        read_yaml(tmp_path, WHERE)


# Anything at all

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 2**65)
    | st.floats()
    | st.dates()
    | st.text(max_size=5)
    | st.sampled_from(["one", "noop", "guard", "final", "max_seconds", *CAP_FIELDS.values()])
)
KEYS = st.sampled_from(sorted(Config.__dataclass_fields__)) | st.text(max_size=4) | st.integers()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "path", "policy", "max_seconds"]) | KEYS, inner)
    ),
    max_leaves=6,
)
MAPPINGS = st.dictionaries(KEYS, VALUES, max_size=6)


def config_or_refusal(data: Any) -> None:
    told = ""
    try:
        assert isinstance(parse_config(data, WHERE), Config)
    except BadInput as error:
        told = str(error)
    assert not told or re.fullmatch(f"{WHERE}: .*", told)


@given(MAPPINGS)
def test_any_mapping_gives_a_config_or_a_readable_refusal(data: dict[Any, Any]) -> None:
    config_or_refusal(data)


@settings(max_examples=200)
@given(MAPPINGS)
def test_any_change_of_a_good_config_gives_one_or_the_other(change: dict[Any, Any]) -> None:
    config_or_refusal({**CONFIG, **change})


@given(st.binary(max_size=60) | st.text(":-[]{}&*!<>?|\n ab1.", max_size=40).map(str.encode))
def test_any_bytes_give_a_mapping_or_a_readable_refusal(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(raw)
    told = ""
    try:
        assert isinstance(read_yaml(path, WHERE), dict)
    except BadInput as error:
        told = str(error)
    assert not told or re.fullmatch(f"{WHERE}: .*", told)


@given(MAPPINGS)
def test_what_yaml_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: dict[Any, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "back.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    again = read_yaml(path, WHERE)
    assert yaml.safe_dump(again) == yaml.safe_dump(data)
