"""PROTOCOL 9: everything that refuses to print a score, each with its control and its cure."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from frozenbench.outcomes import AGENT_ERRORS, INFRASTRUCTURE
from frozenbench.refusals import (
    REQUIRED,
    TASK_REQUIRED,
    Refusal,
    missing_controls,
    refusals_of,
)
from small_study import CHAT, Study
from small_table import Rows


@pytest.fixture
def controls(tmp_path: Path) -> dict[str, Any]:
    study = Study(tmp_path)
    study.agents["one"] = {**CHAT}
    return json.loads(json.dumps(study.plan().controls))  # type: ignore[no-any-return]


@pytest.fixture
def rows(controls: dict[str, Any]) -> Rows:
    return Rows(controls)


def refused(rows: Rows) -> list[Refusal]:
    """Return what refuses the score; each refusal says what, why and how to mend it."""
    found = refusals_of(rows.controls, rows.cells, rows.measured)
    for refusal in found:
        assert all(refusal.as_dict().values()), refusal
        assert set(refusal.as_dict()) == {"control", "message", "cure"}
        assert json.loads(json.dumps(refusal.as_dict())) == refusal.as_dict()
    return found


def the_refusal(rows: Rows) -> Refusal:
    (found,) = refused(rows)
    return found


def test_an_undisturbed_experiment_prints_its_score(rows: Rows) -> None:
    assert refused(rows) == []


@pytest.mark.parametrize("path", REQUIRED, ids=".".join)
def test_a_missing_control(rows: Rows, path: tuple[str, ...]) -> None:
    *parents, last = path
    place: Any = rows.controls
    for part in parents:
        place = place[part]
    for value in (None, *([{}] if last in ("tasks", "agents", "budgets") else [])):
        place[last] = value
        found = the_refusal(rows)
        assert found.control == ".".join(path)
        assert found.message == f"missing control: {'.'.join(path)}"
        assert found.cure == "run the workflow from its config again"
    del place[last]
    assert the_refusal(rows).control == ".".join(path)


@pytest.mark.parametrize("field", TASK_REQUIRED)
def test_a_missing_control_of_a_task_weights_among_them(rows: Rows, field: str) -> None:
    del rows.controls["tasks"]["beta"][field]
    assert the_refusal(rows).message == f"missing control: tasks.beta.{field}"


@pytest.mark.parametrize(
    ("kind", "name", "field", "told"),
    [
        ("budgets", "calls-4", "max_seconds", "budgets.calls-4.max_seconds"),
        ("agents", "two", "sheet", "agents.two.sheet"),
        ("agents", "two", "sheet_digest", "agents.two.sheet"),
        ("agents", "noop", "control", "agents.noop.sheet"),
    ],
)
def test_a_missing_control_of_a_budget_or_an_agent(
    rows: Rows, kind: str, name: str, field: str, told: str
) -> None:
    del rows.controls[kind][name][field]
    assert the_refusal(rows).message == f"missing control: {told}"


def test_many_missing_controls_are_counted(rows: Rows) -> None:
    rows.controls["tasks"] = {f"t{n}": {} for n in range(3)}
    assert len(missing_controls(rows.controls)) == 3 * len(TASK_REQUIRED)
    told = the_refusal(rows).message
    assert told.count("tasks.") == 5
    assert told.endswith(f"and {3 * len(TASK_REQUIRED) - 5} more")


def test_absent_acceptances_accept_nothing(rows: Rows) -> None:
    del rows.controls["accepted"]
    assert refused(rows) == []


@pytest.mark.parametrize("agent", ["one", "noop", "reference"])
def test_a_missing_cell(rows: Rows, agent: str) -> None:
    """A.6: a smaller n is never printed."""
    rows.drop(lambda row: (row["agent"], row["task"], row["budget"]) == (agent, "beta", "calls-1"))
    found = the_refusal(rows)
    assert found.control == "cells"
    assert found.message == (
        f"1 of 16 cells are not there exactly once, the first {agent} beta calls-1 0"
    )
    assert found.cure == "run the workflow again"


@pytest.mark.parametrize("foreign", [False, True])
def test_a_cell_too_many(rows: Rows, foreign: bool) -> None:
    extra = {**rows.cells[5], **({"repeat": 9} if foreign else {})}
    rows.cells.append(extra)
    rows.measured.append(rows.measured[5])
    assert the_refusal(rows).control == "cells"


def test_noop_that_passes_anything(rows: Rows) -> None:
    where = {"agent": "noop", "task": "beta", "budget": "calls-4"}
    rows.change(where, outcome="PASS", reason="green_at_cap")
    found = the_refusal(rows)
    assert found.control == "control cells (noop)"
    assert "is PASS green_at_cap in 1 cells of 1 tasks (beta)" in found.message
    assert "starting tree is green" in found.message
    assert found.cure.startswith("mend the pack")


@pytest.mark.parametrize(
    ("outcome", "reason"), [("FAIL_TEST", "assertion"), ("ERROR", "killed"), ("PASS", "finished")]
)
def test_noop_is_exhausted_and_nothing_else(rows: Rows, outcome: str, reason: str) -> None:
    assert rows.change({"agent": "noop"}, outcome=outcome, reason=reason) == 4
    assert the_refusal(rows).control == "control cells (noop)"


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [("FAIL_TEST", "assertion"), ("EXHAUSTED", "tokens"), ("ERROR", "killed")],
)
def test_a_reference_that_misses_anything(rows: Rows, outcome: str, reason: str) -> None:
    rows.change({"agent": "reference", "task": "alpha"}, 1, outcome=outcome, reason=reason)
    found = the_refusal(rows)
    assert found.control == "control cells (reference)"
    assert f"is {outcome} {reason} in 1 cells" in found.message


def test_a_pin_that_the_endpoint_no_longer_honours(rows: Rows) -> None:
    rows.change({"agent": "one", "task": "beta"}, outcome="ERROR", reason="pin_drift")
    rows.change({"agent": "one", "task": "beta"}, model_observed="small-1-turbo")
    found = the_refusal(rows)
    assert found.control == "agents.one.endpoint.model"
    assert found.message == "stale: pinned is 'small-1', the endpoint answers as 'small-1-turbo'"
    assert found.cure == "pin the model that is there now: a new experiment"


@pytest.mark.parametrize("reason", sorted(set(INFRASTRUCTURE) - {"pin_drift"}))
def test_infrastructure_errors(rows: Rows, reason: str) -> None:
    where = {"agent": "one", "task": "beta", "budget": "calls-4"}
    rows.change(where, outcome="ERROR", reason=reason)
    (found,) = (item for item in refused(rows) if item.control == "accept_error_share")
    assert found.message == (
        f"1 of 8 cells ended in an infrastructure ERROR (1 {reason}); accepted are 0"
    )
    assert found.cure == "`frozenbench retry`, then run the workflow again"


@pytest.mark.parametrize(("share", "count"), [(0.25, 2), (0.124, 0), (0.125, 1), (1, 8)])
def test_infrastructure_errors_up_to_what_is_accepted(rows: Rows, share: float, count: int) -> None:
    rows.controls["accepted"]["accept_error_share"] = share
    rows.change({"control": False}, count, outcome="ERROR", reason="endpoint_down")
    assert refused(rows) == []
    if count < 8:
        rows.change({"control": False}, count + 1, outcome="ERROR", reason="endpoint_down")
        assert the_refusal(rows).control == "accept_error_share"


@pytest.mark.parametrize("reason", AGENT_ERRORS)
def test_errors_of_the_agent_s_own_refuse_nothing(rows: Rows, reason: str) -> None:
    rows.change({"control": False}, outcome="ERROR", reason=reason)
    assert refused(rows) == []


def test_unmetered_caps(rows: Rows) -> None:
    rows.change({"agent": "one", "task": "beta"}, tokens=None, unmetered=True)
    found = the_refusal(rows)
    assert found.control == "max_tokens"
    assert found.message == (
        "one: tokens are not reported in 2 cells, so their cap was not enforced"
    )
    assert "accept_unmetered: [one]" in found.cure
    rows.controls["accepted"]["accept_unmetered"] = ["two"]
    assert the_refusal(rows).control == "max_tokens"
    rows.controls["accepted"]["accept_unmetered"] = ["one", "two"]
    assert refused(rows) == []


def test_control_cells_are_exempt_from_meters_and_clock_guard(rows: Rows) -> None:
    rows.change({"control": True}, unmetered=True, tokens=None)
    rows.change({"agent": "noop"}, cap_hit="wall_clock", reason="wall_clock")
    assert refused(rows) == []


def many_tasks(controls: dict[str, Any], count: int) -> Rows:
    """Rows of an experiment with `count` tasks."""
    controls = copy.deepcopy(controls)
    controls["tasks"] = {f"t{number:03}": controls["tasks"]["alpha"] for number in range(count)}
    return Rows(controls)


@pytest.mark.parametrize(
    ("tasks", "hits", "refuses"), [(100, 1, False), (100, 2, True), (99, 1, True)]
)
def test_clock_hits_beyond_the_guard(
    controls: dict[str, Any], tasks: int, hits: int, refuses: bool
) -> None:
    rows = many_tasks(controls, tasks)
    where = {"agent": "two", "budget": "calls-4"}
    rows.change(where, hits, outcome="EXHAUSTED", reason="wall_clock", cap_hit="wall_clock")
    found = refused(rows)
    assert [item.control for item in found] == ["clock"] * refuses
    for item in found:
        assert f"two under calls-4: the wall clock decided {hits} of {tasks} cells" in item.message
        assert item.cure == "raise max_seconds, or use an axis in seconds with clock: strict"


def test_a_green_cell_at_the_clock_counts_as_a_hit_too(rows: Rows) -> None:
    rows.change({"agent": "one"}, 1, reason="green_at_cap", cap_hit="wall_clock")
    assert the_refusal(rows).control == "clock"


def test_a_strict_clock_may_decide(rows: Rows) -> None:
    rows.controls["clock"] = "strict"
    rows.change({"agent": "one"}, outcome="EXHAUSTED", reason="wall_clock", cap_hit="wall_clock")
    assert refused(rows) == []


@pytest.mark.parametrize("agent", ["one", "noop"])
def test_less_isolation_than_was_asked_for(rows: Rows, agent: str) -> None:
    rows.change({"agent": agent}, 1, isolation_measured="process")
    found = the_refusal(rows)
    assert (found.control, found.message) == (
        "isolation",
        "asked for is userns, measured was process",
    )
    assert "a new experiment" in found.cure


def test_more_isolation_than_was_asked_for_is_well(rows: Rows) -> None:
    rows.change({}, isolation_measured="userns+cgroup")
    assert refused(rows) == []


def test_different_machines_refuse_where_the_clock_decided(rows: Rows) -> None:
    rows.change({"agent": "one"}, 1, machine_class="x86-64 b")
    assert refused(rows) == [], "a slower machine decides nothing without the clock"
    rows.controls["clock"] = "strict"
    rows.change({"agent": "two"}, 1, outcome="EXHAUSTED", cap_hit="wall_clock")
    found = the_refusal(rows)
    assert found.control == "machine_class"
    assert found.message.endswith("different machine classes: x86-64 a, x86-64 b")


def test_all_that_refuses_is_told_in_the_order_of_the_protocol(rows: Rows) -> None:
    rows.change({"agent": "noop"}, outcome="PASS")
    rows.change({"agent": "reference"}, outcome="FAIL_TEST")
    rows.change({"agent": "one"}, 1, outcome="ERROR", reason="pin_drift")
    rows.change({"agent": "two"}, unmetered=True, cap_hit="wall_clock")
    rows.change({}, 1, isolation_measured="none", machine_class="x86-64 b")
    rows.drop(lambda row: (row["agent"], row["task"]) == ("reference", "beta"))
    assert [refusal.control for refusal in refused(rows)] == [
        "cells",
        "control cells (noop)",
        "control cells (reference)",
        "agents.one.endpoint.model",
        "max_tokens",
        "clock",
        "clock",
        "isolation",
        "machine_class",
    ]
