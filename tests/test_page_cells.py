"""The cells that decided a flip, and their stories: which they are, and what is never told."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from frozenbench import layout
from frozenbench.canonical import digest, write_json
from frozenbench.pages.blocks import Stories, Table
from frozenbench.pages.cells import deciding, told_cells
from frozenbench.pages.inputs import PageInputs
from frozenbench.pages.story import CHANGED, SAID, STEPS, cell_story

PASSED = {
    # agent -> task -> PASS under calls-1, calls-4
    "old": {
        "both": "yy",
        "swap": "yn",
        "first": "yy",
        "later": "nn",
        "none": "nn",
        "for_old": "yy",
    },
    "new": {
        "both": "yy",
        "swap": "ny",
        "first": "ny",
        "later": "ny",
        "none": "nn",
        "for_old": "nn",
    },
}
BUDGETS = ("calls-1", "calls-4")
FLIP = {
    "slice": "public",
    "kind": "confirmed",
    "support": None,
    "lead": True,
    "old_leader": "old",
    "new_leader": "new",
    "budget_from": "calls-1",
    "budget_to": "calls-4",
    "confirmed_from": "calls-1",
    "confirmed_to": "calls-4",
}


def cell(agent: str, task: str, budget: str, passed: bool, **values: Any) -> dict[str, Any]:
    return {
        "agent": agent,
        "task": task,
        "budget": budget,
        "repeat": 0,
        "control": False,
        "network": "blocked",
        "split": "public",
        "weight": 3 if task == "swap" else 1,
        "outcome": "PASS" if passed else "EXHAUSTED",
        "reason": "finished" if passed else "tool_calls",
        "cap_hit": None if passed else "tool_calls",
        "tool_calls": 1,
        "edit_rounds": 1,
        "tokens": None,
        "tests_passed": 1,
        "tests_expected": 2,
        "run_key": "1" * 64,
        "grade_key": "2" * 64,
        "task_digest": "3" * 64,
        "grader_digest": "4" * 64,
        "artifact_sha256": "5" * 64,
        **values,
    }


def inputs_of(*flips: dict[str, Any], **values: Any) -> PageInputs:
    cells = [
        cell(agent, task, budget, pattern[place] == "y", **values)
        for agent, tasks in PASSED.items()
        for task, pattern in tasks.items()
        for place, budget in enumerate(BUDGETS)
    ]
    return PageInputs({}, {}, {}, cells, [], [], [], flips, {})


def test_tasks_that_turn_the_order_come_first_and_equal_ones_not_at_all() -> None:
    (found,) = deciding(inputs_of(FLIP))
    assert found.scores == {
        "both": (0, 0),
        "swap": (3, 3),
        "first": (1, 0),
        "later": (0, 1),
        "none": (0, 0),
        "for_old": (1, -1),
    }
    assert found.tasks == ("swap", "first", "later", "for_old")


def test_one_task_for_each_side_is_read_both_agents_under_both_budgets() -> None:
    unswapped = [row for row in inputs_of().cells if row["task"] != "swap"]
    inputs = PageInputs({}, {}, {}, unswapped, [], [], [], [FLIP], {})
    (found,) = deciding(inputs)
    read = [(row["task"], row["budget"], row["agent"]) for row in found.read()]
    assert read == [
        (task, budget, agent)
        for task in ("first", "later")
        for budget in BUDGETS
        for agent in ("old", "new")
    ]


def test_the_strongest_kind_alone_is_shown() -> None:
    weak = {**FLIP, "kind": "unresolved", "support": 0.5, "lead": False}
    weak |= {"confirmed_from": None, "confirmed_to": None}
    better = {**weak, "kind": "suggestive", "support": 0.96}
    assert [c.flip["kind"] for c in deciding(inputs_of(weak, FLIP, better))] == ["confirmed"]
    assert [c.flip["kind"] for c in deciding(inputs_of(weak, better))] == ["suggestive"]
    told = list(told_cells(inputs_of(weak, {**weak, "support": 0.9})))
    assert "no cell decided one" in told[0].text  # type: ignore[union-attr]
    assert sum(isinstance(block, Table) for block in told) == 1
    assert deciding(inputs_of()) == []


def test_held_out_tasks_are_named_by_their_digest_alone() -> None:
    inputs = inputs_of({**FLIP, "slice": "held_out"}, split="held_out")
    stories = tuple(cell_story(row) for found in deciding(inputs) for row in found.read())
    inputs = PageInputs({}, {}, {}, inputs.cells, [], [], [], inputs.flips, {}, stories=stories)
    blocks = list(told_cells(inputs))
    assert any(isinstance(block, Stories) for block in blocks)
    told = repr(blocks)
    assert "swap" not in told
    assert "for_old" not in told
    assert "333333333333" in told
    assert all(story.prompt is None and not story.steps for story in stories)
    assert all(story.command is None for story in stories)


# Stories


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A run of two steps in a store, and the row of its cell."""
    monkeypatch.chdir(tmp_path)
    task = {"prompt": "Mend </script> it.", "id": "mend"}
    from frozenbench.canonical import File, tree_digest

    tree = {"a.py": File(b"one\ntwo\n", False)}
    name = digest({**task, "fixture": tree_digest(tree)})
    folder = layout.frozen_task(name)
    write_json(folder / "task.json", task)
    (folder / "fixture").mkdir()
    (folder / "fixture" / "a.py").write_bytes(b"one\ntwo\n")
    run = layout.run("1" * 64)
    steps = [{"step": 1, "snapshot": "0001.json"}, {"step": 2, "snapshot": "0002.json"}]
    write_json(run / "run.json", {"ending": "cap:tool_calls", "steps": steps})
    first = {"a.py": {"text": "one\n2\n", "executable": False}}
    second = {**first, "b.py": {"text": "new\n", "executable": False}}
    write_json(run / "snapshots/0001.json", {"changed": first, "deleted": []})
    write_json(run / "snapshots/0002.json", {"changed": second, "deleted": ["a.py"][:0]})
    events = [
        {"event": "proposal", "step": 1, "text": "I mend it", "seconds": 1.25, "use": {"total": 9}},
        {"event": "proposal", "step": 2, "text": None, "tool_name": "write_file", "seconds": 2.5},
        {"event": "end", "ending": "cap:tool_calls", "hits": ["tool_calls"], "seconds": 3.75},
    ]
    (run / "trace.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return cell("old", "mend", "calls-1", False, task_digest=name)


def test_a_story_tells_each_step_and_what_it_changed(stored: dict[str, Any]) -> None:
    story = cell_story(stored)
    assert story.outcome == "EXHAUSTED (tool_calls), cap hit: tool_calls"
    assert story.prompt == "Mend </script> it."
    assert story.command == "frozenbench show old mend calls-1"
    assert ("ending", "cap:tool_calls") in story.facts
    assert ("run_key", "1" * 64) in story.facts
    first, second, end = story.steps
    assert first.title == "proposal 1 · use total 9"
    assert first.said == "I mend it"
    assert first.changed[2:] == ("@@ -1,2 +1,2 @@", " one", "-two", "+2")
    assert second.title == "proposal 2 · tool name write_file"
    assert second.changed == ("--- not there", "+++ b.py", "@@ -0,0 +1 @@", "+new")
    assert end.title == "end · ending cap:tool_calls · hits tool_calls"


def test_no_seconds_are_in_a_story(stored: dict[str, Any]) -> None:
    told = repr(cell_story(stored))
    assert not [number for number in ("1.25", "2.5", "3.75") if number in told]


def test_long_stories_are_cut_and_say_so(stored: dict[str, Any]) -> None:
    run = layout.run("1" * 64)
    long = {"event": "proposal", "step": 1, "text": "x" * (SAID + 7)}
    (run / "trace.jsonl").write_text((json.dumps(long) + "\n") * (STEPS + 3))
    text = "\n".join(map(str, range(CHANGED * 2)))
    item = {"a.py": {"text": text, "executable": False}}
    write_json(run / "snapshots/0001.json", {"changed": item, "deleted": []})
    story = cell_story(stored)
    assert len(story.steps) == STEPS
    assert story.not_shown == "3 more steps are not shown."
    assert story.steps[0].said is not None
    assert story.steps[0].said.endswith("… 7 more characters")
    assert story.steps[0].changed[-1].endswith("more lines")
    assert len(story.steps[0].changed) == CHANGED + 1


def test_a_run_that_the_store_has_not_is_said_to_be_absent(stored: dict[str, Any]) -> None:
    absent = copy.deepcopy(stored) | {"run_key": "9" * 64}
    story = cell_story(absent)
    assert story.not_shown == "Its run is not in this store."
    assert ("run_key", "9" * 64) in story.facts
    assert cell_story(stored | {"run_key": None, "task_digest": None}).not_shown is not None


def test_repeats_are_named(stored: dict[str, Any]) -> None:
    story = cell_story(stored | {"repeat": 2})
    assert story.title.endswith(" · repeat 2")
    assert story.command == "frozenbench show old mend calls-1 2"
