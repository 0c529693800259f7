"""Run keys and grade keys from a controls document: their material, golden values, all cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from frozenbench import keys
from frozenbench.canonical import digest
from hypothesis import given
from hypothesis import strategies as st
from small_study import Study

CONTROLS: dict[str, Any] = {
    "tasks": {
        "alpha": {
            "task_digest": "a" * 64,
            "grader_digest": "b" * 64,
            "weight": 2,
            "split": "public",
            "qualified": True,
            "solution_sha256": "c" * 64,
            "budget_s": 30,
        },
        "beta": {
            "task_digest": "d" * 64,
            "grader_digest": "e" * 64,
            "weight": 1,
            "split": "held_out",
            "qualified": False,
        },
    },
    "agents": {
        "one": {"sheet": {"adapter": "python", "module": "m"}, "control": False},
        "two": {"sheet": {"adapter": "chat", "temperature": 0.8}, "control": False},
        "noop": {"sheet": {"adapter": "noop"}, "control": True},
        "reference": {"sheet": {"adapter": "reference"}, "control": True},
    },
    "budgets": {
        "calls-1": {"max_tool_calls": 1, "max_seconds": 60},
        "free": {"max_seconds": 20.5},
    },
    "repeats": 2,
    "grading": "final",
    "budget_disclosed": False,
    "responses_policy": "shared",
    "environment": {
        "isolation": "userns",
        "python": ">=3.11",
        "lock_sha256": "f" * 64,
        "run_semantics": 1,
        "grade_semantics": 1,
    },
}
GOLDEN = {
    ("one", "alpha", "calls-1", 0): (
        "d1fc6c582ff53301c148dbfc221cf70ef20a9e3a652a0de248d1ea2d046d299c",
        "d90909a6ec251400c0265cf23befff7108bb89323631c5be879f0727657e7f76",
    ),
    ("two", "beta", "free", 1): (
        "e32e82df29c93154c416260765cd24bbcb1965d310a45f683dcfc5112941c4a7",
        "dd7fba2f4cfed39d9506fbf3cd7ece409da5fcb551180fdbfd35cd81f928daf6",
    ),
    ("reference", "alpha", "calls-1", 0): (
        "4e5d0722dad1e855fa3ec68dffc786eccf8d7f5359f98ac4cc1edbe44883bc19",
        "bff784b412da51cd19b17f49da403fdd330b82f0d81886a75fd5212f634d813a",
    ),
}


@given(st.permutations(["alpha", "beta"]), st.permutations(["one", "two"]))
def test_keys_of_a_controls_document_know_no_order(tasks: list[str], agents: list[str]) -> None:
    turned = json.loads(json.dumps(CONTROLS))
    turned["tasks"] = {name: turned["tasks"][name] for name in tasks}
    turned["agents"] = {name: turned["agents"][name] for name in [*agents, "noop", "reference"]}
    cells = set(keys.expected_cells(CONTROLS))
    assert set(keys.expected_cells(turned)) == cells
    for cell in cells:
        assert keys.run_key(turned, *cell) == keys.run_key(CONTROLS, *cell)


@pytest.mark.parametrize("cell", GOLDEN, ids=str)
def test_golden_keys_stand(cell: tuple[str, str, str, int]) -> None:
    run_key = keys.run_key(CONTROLS, *cell)
    found = (run_key, keys.grade_key(CONTROLS, cell[1], run_key))
    assert found == GOLDEN[cell], (
        "the keys of stored results changed: every stored run or grade is void. If that is meant, "
        "raise RUN_SEMANTICS or GRADE_SEMANTICS in controls.py, then change these values."
    )


def test_a_run_key_is_made_of_what_the_protocol_lists_and_nothing_more() -> None:
    assert keys.run_material(CONTROLS, "two", "alpha", "calls-1", 1) == {
        "task_digest": "a" * 64,
        "agent_sheet": {"adapter": "chat", "temperature": 0.8},
        "caps": {"tool_calls": 1, "wall_clock": 30},
        "repeat": 1,
        "budget_disclosed": False,
        "responses_policy": "shared",
        "isolation": "userns",
        "python": ">=3.11",
        "lock_sha256": "f" * 64,
        "run_semantics": 1,
    }
    assert keys.grade_material(CONTROLS, "alpha", "k") == {
        "run_key": "k",
        "grader_digest": "b" * 64,
        "grading": "final",
    }


def test_the_reference_s_sheet_holds_the_solution_s_digest() -> None:
    sheet = keys.agent_sheet(CONTROLS, "reference", "alpha")
    assert sheet == {"adapter": "reference", "solution_sha256": "c" * 64}


def test_the_effective_clock_is_the_smaller_of_task_and_budget() -> None:
    caps = {
        (task, budget): keys.effective_caps(CONTROLS, task, budget)["wall_clock"]
        for task in ("alpha", "beta")
        for budget in ("calls-1", "free")
    }
    assert caps == {
        ("alpha", "calls-1"): 30,
        ("alpha", "free"): 20.5,
        ("beta", "calls-1"): 60,
        ("beta", "free"): 20.5,
    }


def test_expected_cells_are_all_and_only_those_that_must_be_there() -> None:
    cells = list(keys.expected_cells(CONTROLS))
    assert len(cells) == len(set(cells)) == 2 * 2 * 2 * 2 + 2 * 2 + 1 * 2
    assert {cell[3] for cell in cells if cell[0] in ("noop", "reference")} == {0}
    assert not [cell for cell in cells if cell[:2] == ("reference", "beta")], "not qualified"
    control = [cell[0] in ("noop", "reference") for cell in cells]
    assert control == sorted(control, reverse=True), "control cells come first"


def test_every_repeat_has_its_own_key() -> None:
    found = {keys.run_key(CONTROLS, "one", "alpha", "free", repeat) for repeat in range(50)}
    assert len(found) == 50


def test_an_environment_is_known_by_lock_python_and_platform() -> None:
    names = {keys.environment_id(lock) for lock in (None, "a" * 64, "b" * 64)}
    assert len(names) == 3
    assert all(re.fullmatch("[0-9a-f]{64}", name) for name in names)
    assert keys.environment_id(None) == keys.environment_id(None)


def test_the_plan_and_the_cells_compute_the_same_keys(tmp_path: Path) -> None:
    plan = Study(tmp_path).plan()
    controls = json.loads(json.dumps(plan.controls))  # as a cell reads it from disk
    for cell in plan.cells:
        names = (cell.agent, cell.task, cell.budget, cell.repeat)
        material = keys.run_material(controls, *names)
        assert digest(material) == keys.run_key(controls, *names) == cell.run_key
        assert keys.grade_key(controls, cell.task, cell.run_key) == cell.grade_key
