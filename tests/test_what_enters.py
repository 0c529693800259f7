"""What changes run keys, grade keys, experiment and view digests, and what changes none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frozenbench.controls import Config
from frozenbench.plan import Plan
from frozenbench.schema_files import key_rows
from small_study import CHAT, PACK, Study, changed

Change = Callable[[Study], None]
ORDER = ("run key", "grade key", "experiment digest", "view digest", "none")


def config(path: str, value: Any) -> Change:
    def change(study: Study) -> None:
        study.config = changed(study.config, path, value)

    return change


def line(name: str, value: Any) -> Change:
    return lambda study: study.lines[0].update({name: value})


def file(name: str, content: str) -> Change:
    return lambda study: study.files.update({name: content})


def agent(path: str, value: Any) -> Change:
    def change(study: Study) -> None:
        study.agents["one"] = changed(study.agents["one"], path, value)

    return change


def first_change(before: Plan, after: Plan) -> str:
    """Return the first identity, in ORDER, that differs; cells that are there anew do not count."""
    shared = {cell.label: cell for cell in before.cells}
    pairs = [(shared[cell.label], cell) for cell in after.cells if cell.label in shared]
    if any(old.run_key != new.run_key for old, new in pairs):
        return "run key"
    if any(old.grade_key != new.grade_key for old, new in pairs):
        return "grade key"
    if before.digest != after.digest:
        return "experiment digest"
    return "view digest" if before.view_digest != after.view_digest else "none"


def after(tmp_path: Path, *changes: Change, chat: bool = False) -> tuple[Plan, Plan]:
    """Return the plan of the study and its plan after the changes."""
    study = Study(tmp_path)
    if chat:
        study.agents["one"] = {**CHAT}
    before = study.plan()
    _ = before.cells, before.digest, before.view_digest
    for change in changes:
        change(study)
    return before, study.plan()


# Every key of a config, as config/README.md says it


#: A changed value of each key; what stands beside it is changed with it where a config demands it.
CHANGED: dict[str, tuple[Change, ...]] = {
    "experiment.name": (config("experiment.name", "other"),),
    "experiment.question": (config("experiment.question", "overnight"),),
    "pack.path": (lambda study: _move_pack(study, "packs/moved"),),
    "pack.expected_sha256": (config("pack.expected_sha256", "0" * 64),),
    "agents": (config("agents", ["one"]),),
    "budgets[].name": (config("budgets.0.name", "few"),),
    "budgets[].max_seconds": (config("budgets.0.max_seconds", 59),),
    "budgets[].max_tool_calls": (config("budgets.0.max_tool_calls", 2),),
    "budgets[].max_edit_rounds": (config("budgets.0.max_edit_rounds", 2),),
    "budgets[].max_tokens": (config("budgets.0.max_tokens", 501),),
    "budget_axis": (config("budget_axis", "max_tokens"),),
    "repeats": (config("repeats", 2),),
    "grading": (config("grading", "every_step"),),
    "budget_disclosed": (config("budget_disclosed", True),),
    "clock": (config("clock", "strict"),),
    "isolation": (config("isolation", "none"),),
    "responses.policy": (config("responses.policy", "independent"),),
    "responses.record": (config("responses.record", "records/x.jsonl.gz"),),
    "figures": (config("figures", ["outcomes"]),),
    "focus": (config("focus", ["one"]),),
    "statistics.resamples": (config("statistics.resamples", 200),),
    "statistics.alpha": (config("statistics.alpha", 0.01),),
    "title": (config("title", "A title"),),
    "tasks": (config("tasks", ["alpha"]),),
    "startup_timeout_s": (config("startup_timeout_s", 9),),
    "max_spend": (config("max_spend", {"amount": 5, "currency": "EUR"}),),
    "allow_open_network": (config("allow_open_network", ["alpha"]),),
    "accept_error_share": (config("accept_error_share", 0.5),),
    "accept_unmetered": (config("accept_unmetered", ["one"]),),
    "accept_unsandboxed": (config("accept_unsandboxed", ["one"]),),
}


def _move_pack(study: Study, place: str) -> None:
    (study.root / place).parent.mkdir(parents=True, exist_ok=True)
    (study.root / PACK).rename(study.root / place)
    study.config = changed(study.config, "pack.path", place)


@pytest.mark.parametrize("row", [*key_rows(Config)], ids=lambda row: row.key)
def test_a_key_of_the_config_enters_what_its_field_says(tmp_path: Path, row: Any) -> None:
    before, later = after(tmp_path, *CHANGED[row.key])
    assert row.enters in ORDER
    assert first_change(before, later) == row.enters


def test_every_key_of_the_config_is_looked_at() -> None:
    assert set(CHANGED) == {row.key for row in key_rows(Config)}


# What a pack and an agent's file bring in


@pytest.mark.parametrize(
    ("change", "right"),
    [
        (file("prompts/alpha.md", "Mend alpha!\n"), "run key"),
        (file("fixtures/alpha/more.py", ""), "run key"),
        (line("budget_s", 30), "run key"),
        (line("artifact", ["alpha.py"]), "run key"),
        (line("network", "open"), "run key"),
        (file("requirements.txt", "pytest==9.0.1 --hash=sha256:" + "1" * 64), "run key"),
        (lambda study: study.info.update(python=">=3.11,<4"), "run key"),
        (file("tests/alpha/test_alpha.py", "def test_a(): assert 0\n"), "grade key"),
        (line("grade_timeout_s", 5), "grade key"),
        (line("must_not_contain", ["eval("]), "grade key"),
        (line("must_not_use", ["os.system"]), "grade key"),
        (line("grader_trust", "exit-status"), "grade key"),
        (line("weight", 7), "experiment digest"),
        (line("split", "held_out"), "experiment digest"),
        (lambda study: study.lines.pop(), "experiment digest"),
        (lambda study: study.info.update(status="published"), "view digest"),
        (lambda study: study.info.update(name="other"), "view digest"),
        (lambda study: study.info.update(licence="CC0-1.0"), "view digest"),
        (lambda study: study.lines.reverse(), "view digest"),  # pack_file_sha256 is printed
        (file("README.md", "more"), "none"),
        (file("known_wrong/alpha/alpha.py", ""), "none"),
    ],
)
def test_a_change_of_the_pack(tmp_path: Path, change: Change, right: str) -> None:
    assert first_change(*after(tmp_path, change)) == right


def test_a_changed_solution_runs_the_reference_and_grades_all_of_its_task(tmp_path: Path) -> None:
    before, later = after(tmp_path, file("solutions/alpha/alpha.py", "def alpha(): return 1.0\n"))
    runs = {
        new.label
        for old, new in zip(before.cells, later.cells, strict=True)
        if old.run_key != new.run_key
    }
    grades = {
        n.label
        for o, n in zip(before.cells, later.cells, strict=True)
        if o.grade_key != n.grade_key
    }
    assert runs == {f"reference alpha {budget} repeat 0" for budget in ("calls-1", "calls-4")}
    assert grades == {cell.label for cell in later.cells if cell.task == "alpha"}


SHEET = [
    ("temperature", 0.7),
    ("seed", 2),
    ("salt", "x"),
    ("policy", "resample"),
    ("max_output_tokens", 201),
    ("system", "Be brief."),
    ("top_p", 0.9),
    ("output_limit_field", "max_completion_tokens"),
    ("history_rounds", 2),
    ("endpoint.id", "there"),
    ("endpoint.model", "small-2"),
    ("endpoint.weights_sha256", "a" * 64),
]
CONNECTION = [
    ("endpoint.base_url", "http://127.0.0.1:2/v1"),
    ("endpoint.key_env", "OTHER_KEY"),
    ("prices", {"currency": "EUR", "input_per_million": 1, "output_per_million": 2}),
]


@pytest.mark.parametrize(("path", "value"), SHEET, ids=lambda value: str(value)[:24])
def test_a_control_of_an_agent_changes_its_own_cells_alone(
    tmp_path: Path, path: str, value: Any
) -> None:
    before, later = after(tmp_path, agent(path, value), chat=True)
    differing = {
        new.agent
        for old, new in zip(before.cells, later.cells, strict=True)
        if old.run_key != new.run_key
    }
    assert differing == {"one"}


@pytest.mark.parametrize(("path", "value"), CONNECTION, ids=lambda value: str(value)[:24])
def test_how_an_endpoint_is_reached_and_paid_is_in_no_key(
    tmp_path: Path, path: str, value: Any
) -> None:
    assert first_change(*after(tmp_path, agent(path, value), chat=True)) == "none"


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [("temperature", 1, 1.0), ("top_p", 1, 1.0), ("tool_schema_sha256", None, ...)],
)
def test_one_control_has_one_spelling(tmp_path: Path, path: str, one: Any, other: Any) -> None:
    _, later = after(tmp_path, agent(path, one), chat=True)
    study = Study(tmp_path)
    study.agents["one"] = {**CHAT, path: None if other is ... else other}
    assert first_change(later, study.plan()) == "none"


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("# edited\ndef propose(task, history):\n    return {}\n", True),
        (None, False),
    ],
)
def test_an_agent_s_code_is_in_its_key_by_content(
    tmp_path: Path, text: str | None, differs: bool
) -> None:
    def change(study: Study) -> None:
        if text is not None:
            study.write("config/agents/code/agent.py", text)
        study.write("config/agents/code/__pycache__/agent.pyc", b"cache")

    before, later = after(tmp_path, change)
    assert first_change(before, later) == ("run key" if differs else "none")


# Names and order


def rename_agent(study: Study) -> None:
    study.agents["first"] = study.agents.pop("one")
    study.config["agents"] = ["first", "two"]


@pytest.mark.parametrize(
    "change",
    [
        rename_agent,
        config("budgets.0.name", "few"),
        config("experiment.name", "other"),
        config("title", "Other"),
    ],
    ids=["agent", "budget", "experiment", "title"],
)
def test_names_are_labels_and_in_no_key(tmp_path: Path, change: Change) -> None:
    before, later = after(tmp_path, change)
    assert {c.run_key for c in later.cells} == {c.run_key for c in before.cells}
    assert {c.grade_key for c in later.cells} == {c.grade_key for c in before.cells}


@pytest.mark.parametrize(
    "change",
    [
        lambda study: study.config["budgets"].reverse(),
        lambda study: study.config.update(dict(reversed(study.config.items()))),
        lambda study: study.config["budgets"][0].update(
            dict(reversed(study.config["budgets"][0].items()))
        ),
        lambda study: study.agents.update(one=dict(reversed(study.agents["one"].items()))),
        lambda study: study.files.update({"pack.json": json.dumps(study.info, indent=4)}),
    ],
    ids=["budgets", "config keys", "budget keys", "agent keys", "pack.json"],
)
def test_order_and_layout_change_nothing(tmp_path: Path, change: Change) -> None:
    assert first_change(*after(tmp_path, change)) == "none"


def test_the_order_of_agents_is_that_of_their_colours(tmp_path: Path) -> None:
    change = config("agents", ["two", "one"])
    assert first_change(*after(tmp_path, change)) == "view digest"
