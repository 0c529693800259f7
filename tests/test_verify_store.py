"""`frozenbench verify`: whatever is edited, cut, lost, exchanged or put into the store is named."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cell_project import RIGHT, CellProject
from frozenbench import layout
from frozenbench.canonical import read_json
from frozenbench.collect_cells import collect_cells
from frozenbench.freeze_record import freeze_record
from frozenbench.grade.grading import read_grader
from frozenbench.grade_cell import grade_cell
from frozenbench.run_cell import run_cell
from frozenbench.verify import verify_store
from scripted_endpoint import MODEL, says, scripted

SLOW = "import time\n\ndef propose(task, history):\n    print(task['id'])\n    time.sleep(60)\n"


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, pack_environment: Path, pack_names: Path
) -> Path:
    """A project whose five cells were run, graded and gathered."""
    root, before = tmp_path_factory.mktemp("whole"), Path.cwd()
    os.chdir(root)
    try:
        build(CellProject(root, pack_environment, pack_names))
    finally:
        os.chdir(before)
    return root


def build(cells: CellProject) -> None:
    cells.task()
    other = "from app import add\n\n\ndef test_big():\n    assert add(100, 1) == 101\n"
    cells.task(
        "again",
        hidden={"tests/test_more.py": other},
        grade=["pytest", "-q", "tests/test_more.py"],
        fixture={"app.py": "def add(a, b):\n    return 0\n"},
        solution={"app.py": RIGHT},
    )
    cells.budget(max_tool_calls=4, max_seconds=1.5)
    cells.config["statistics"] = {"resamples": 1000}
    cells.agent(SLOW, "slow")
    answers = (RIGHT, f"{RIGHT}# more\n")
    with scripted(*[says(f"```python app.py\n{text}```\n") for text in answers]) as endpoint:
        where = {"id": "s", "wire": "openai-chat", "model": MODEL, "base_url": endpoint.root}
        sheet = {"adapter": "chat", "policy": "oneshot", "temperature": 0.5, "seed": 7}
        cells.agent(None, "asking", **sheet, max_output_tokens=50, endpoint=where)
        plan = cells.plan()
        names = layout.frozen_names(cells.environment.name)
        names.parent.mkdir(parents=True)
        shutil.copy(cells.names, names)
        record = layout.frozen_record("none")
        freeze_record(None, layout.RESPONSES, record)
        for cell in plan.cells:
            run_cell(*cells.run_inputs(plan, cell))
            grade_cell(*cells.grade_inputs(plan, cell))
        collect_cells(cells.controls(plan), record, plan.folder)


@pytest.fixture
def store(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is what it promises."""
    shutil.copytree(whole / "results", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    return Path("results")


def test_a_whole_store_is_what_it_promises(store: Path) -> None:
    assert list(verify_store()) == []


#: What there is: files of a kind, as a pattern; None in place of a way: it is no loss.
KINDS = {
    "a response": "responses/??/*.json",
    "a clock": "responses/clocks/*.json",
    "a run": "runs/*/run.json",
    "a trace": "runs/*/trace.jsonl",
    "a log": "runs/*/log",
    "a snapshot": "runs/*/snapshots/*.json",
    "a grade": "grades/*/grade.json",
    "a grader's log": "grades/*/log",
    "a verdict": "verdicts/??/*.json",
    "a task": "frozen/tasks/*/task.json",
    "a fixture": "frozen/tasks/*/fixture/app.py",
    "a grader": "frozen/graders/*/grader.json",
    "a hidden test": "frozen/graders/*/hidden/tests/*.py",
    "an agent": "frozen/agents/*/agent.json",
    "an agent's code": "frozen/agents/*/code/agents/*.py",
    "expected tests": "frozen/expected/*/*.json",
    "names": "frozen/names/*.json",
    "a record's summary": "frozen/records/*.json",
    "the controls": "experiments/*/controls.json",
    "the cells": "experiments/*/cells.parquet",
    "what was measured": "experiments/*/measured.parquet",
    "the refusals": "experiments/*/refusals.json",
}
#: What is made again without a loss, where nothing that stands on it is left to tell.
MADE_AGAIN = {"names"}


def edited(path: Path) -> None:
    data = path.read_bytes()
    if path.suffix == ".json":
        document = json.loads(data)
        name = sorted(document)[0]
        document[name] = "edited" if not isinstance(document[name], int) else document[name] + 1
        path.write_text(json.dumps(document))
    else:
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if data else b"x")


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if data else b"x")


WAYS: dict[str, Callable[[Path], object]] = {
    "edited": edited,
    "cut": cut,
    "emptied": lambda path: path.write_bytes(b"" if path.stat().st_size else b"x"),
    "lost": Path.unlink,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_that_is_not_as_it_was_is_named(store: Path, kind: str, way: str) -> None:
    path = sorted(store.glob(KINDS[kind]))[-1]
    WAYS[way](path)
    found = list(verify_store())
    if way == "lost" and kind in MADE_AGAIN:
        return
    if way == "lost" and kind == "a record's summary":
        assert found == [f"{store}/experiments/{path_of_experiment(store)}: {OF_RECORD}"]
        return
    assert named(found, path), found


OF_RECORD = "measured.parquet: is not what its runs, grades and record give"


def path_of_experiment(store: Path) -> str:
    (found,) = (store / "experiments").iterdir()
    return found.name


def named(found: list[str], path: Path) -> bool:
    """Tell whether a line names the file, or the key of the folder that it is in."""
    keys = [part for part in path.with_suffix("").parts if len(part) >= 16]
    return any(str(path) in line or any(key in line for key in keys) for line in found)


@pytest.mark.parametrize("kind", KINDS)
def test_two_that_were_exchanged_are_named(store: Path, kind: str) -> None:
    paths = sorted(store.glob(KINDS[kind]))
    by_content = {path.read_bytes(): path for path in paths}
    if len(by_content) < 2:
        return  # one alone, or all alike: there is nothing to exchange
    (one, first), (other, second) = list(by_content.items())[:2]
    first.write_bytes(other)
    second.write_bytes(one)
    found = list(verify_store())
    assert named(found, first) or named(found, second), found


def test_most_kinds_can_be_exchanged(store: Path) -> None:
    """Else the test above would hold nothing."""
    alike = [
        kind
        for kind, pattern in KINDS.items()
        if len({path.read_bytes() for path in store.glob(pattern)}) < 2
    ]
    assert set(alike) <= {
        "an agent's code",
        "names",
        "a record's summary",
        "the controls",
        "the cells",
        "what was measured",
        "the refusals",
        "a clock",
    }


def test_two_folders_that_were_exchanged_are_named(store: Path) -> None:
    for kind in ("runs", "grades", "frozen/tasks", "frozen/graders", "frozen/agents"):
        one, other = sorted((store / kind).iterdir())[:2]
        aside = one.with_name(".aside")
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
        found = list(verify_store())
        assert named(found, one), (kind, found)
        assert named(found, other), (kind, found)
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
    assert list(verify_store()) == []


FOLDERS = ["runs", "grades", "frozen/tasks", "frozen/graders", "frozen/expected"]


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_lost_folder_is_named_by_what_stands_on_it(store: Path, kind: str) -> None:
    folder = sorted((store / kind).iterdir())[0]
    shutil.rmtree(folder)
    found = list(verify_store())
    assert any(folder.name in line for line in found), found


ALIENS = [
    "responses/x.json",
    "responses/ab/x.json",
    f"responses/ab/{'c' * 64}.json",
    "responses/clocks/x.json",
    "runs/x",
    f"runs/{'a' * 64}",
    "grades/x",
    "verdicts/x.json",
    "verdicts/ab/x.json",
    f"verdicts/ab/{'c' * 64}.json",
    "frozen/x",
    "frozen/tasks/x",
    "frozen/graders/x",
    "frozen/agents/x",
    "frozen/expected/x",
    "frozen/names/x",
    "frozen/records/x",
    "pack_checks/x",
    "experiments/x",
]
BESIDE = ["runs/*", "grades/*", "frozen/tasks/*", "frozen/graders/*", "experiments/*"]


@pytest.mark.parametrize("alien", ALIENS)
def test_what_is_no_part_of_the_store_is_named(store: Path, alien: str) -> None:
    path = store / alien
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    found = list(verify_store())
    assert any(str(path) in line for line in found), found


@pytest.mark.parametrize("beside", BESIDE)
def test_what_lies_beside_files_of_the_store_is_named(store: Path, beside: str) -> None:
    folder = sorted(store.glob(beside))[0]
    (folder / "alien").write_text("x")
    found = list(verify_store())
    assert any(str(folder) in line for line in found), found


def test_a_lost_response_is_named_once_with_a_run_and_the_cure(store: Path) -> None:
    path = sorted(store.glob("responses/??/*.json"))[0]
    path.unlink()
    (run,) = (
        run.parent.name
        for run in store.glob("runs/*/run.json")
        if path.stem in read_json(run)["responses"]["keys"]
    )
    (line,) = verify_store()
    assert line.startswith(f"{path}: is gone, and run {run[:12]} was given it; cure: ")


def test_a_grade_is_named_with_its_verdict(store: Path) -> None:
    grade = next(
        path for path in sorted(store.glob("grades/*/grade.json")) if read_json(path)["verdicts"]
    )
    key = read_json(grade)["verdicts"][0]
    layout.verdict(key).unlink()
    found = list(verify_store())
    assert f"{grade.parent}: its verdict {layout.verdict(key)} is gone" in found


def test_nothing_beside_its_material_decides_how_a_grader_grades(store: Path) -> None:
    path = sorted(store.glob("frozen/graders/*/grader.json"))[0]
    before = read_grader(path.parent)
    assert [name for name in before.hidden if name.endswith(".py")] == list(before.tests)
    path.write_text(json.dumps({**read_json(path), "tests": ["conftest.py"]}))
    assert read_grader(path.parent) == before
