"""`frozenbench replay`: an experiment of real cells again, from its record alone."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, WRONG, CellProject, app, proposing
from frozenbench import layout
from frozenbench.canonical import BadInput, Incomplete, Refused, read_json, write_json
from frozenbench.gateway.published_record import export_record
from frozenbench.gateway.record import Store
from frozenbench.grade_cell import grade_cell
from frozenbench.plan import Plan
from frozenbench.replay import Replayed, replay
from frozenbench.replay_compare import diverged
from frozenbench.run_cell import run_cell
from frozenbench.seal import sealed
from scripted_endpoint import MODEL, says, scripted

pytestmark = pytest.mark.slow

BLOCK = "```python app.py\n{}```\n"
CHAT = {
    "adapter": "chat",
    "policy": "resample",
    "temperature": 0.5,
    "seed": 7,
    "max_output_tokens": 50,
}


def chat(cells: CellProject, root: str, **fields: Any) -> None:
    endpoint = {"id": "scripted", "wire": "openai-chat", "model": MODEL, "base_url": root}
    cells.agent(
        None, "asking", **{**CHAT, **fields}, endpoint={**endpoint, "key_env": "REPLAY_KEY"}
    )


def all_cells(cells: CellProject) -> Plan:
    """Run and grade every cell of the experiment, as the workflow does."""
    plan = cells.plan()
    environment = Path(layout.environment(plan.environment_id))
    if not environment.exists():
        environment.parent.mkdir(parents=True, exist_ok=True)
        environment.symlink_to(cells.environment)
    for cell in plan.cells:
        inputs, out = cells.run_inputs(plan, cell)
        run_cell(inputs, out)
        grading, grade = cells.grade_inputs(plan, cell)
        grade_cell(grading, grade)
    return plan


def replayed(plan: Plan, record: Path | None = None, keep: Path | None = None) -> Replayed:
    return replay(plan, record, keep, 2, io.StringIO())


def told(found: Replayed) -> str:
    return "\n".join(found.lines())


def store(folder: Path) -> dict[str, bytes]:
    return {p.as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(autouse=True)
def _axis(cells: CellProject) -> None:
    cells.config["budget_axis"] = "max_tool_calls"


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAY_KEY", "sk-replay")


def test_an_experiment_replays_without_key_endpoint_and_store(
    cells: CellProject, keyed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.config["budgets"] = [
        {"name": f"calls-{n}", "max_tool_calls": n, "max_seconds": 30} for n in (1, 2)
    ]
    cells.config["grading"] = "every_step"
    cells.agent(proposing(app(WRONG), app(RIGHT, done=True)), "writes")
    answers = [says(BLOCK.format(WRONG)), says(BLOCK.format(RIGHT))]
    with scripted(*answers) as endpoint:
        chat(cells, endpoint.root)
        plan = all_cells(cells)
    assert len(endpoint.requests) == 2
    outcomes = {(c.agent, c.budget): read_json(Plan.leaves(c)[1])["outcome"] for c in plan.cells}
    assert outcomes["asking", "calls-1"] == "EXHAUSTED"
    assert outcomes["asking", "calls-2"] == outcomes["writes", "calls-2"] == "PASS"
    before = store(cells.root)
    monkeypatch.delenv("REPLAY_KEY")
    found = replayed(plan)
    assert told(found) == (
        "replay: 8 of 8 cells equal, 0 differ, 0 not replayed; 2 recorded responses, nothing asked"
    )
    assert found.status == 0
    assert store(cells.root) == before, "nothing is written into the store"


def test_a_published_record_is_enough_or_what_it_lacks_is_told(
    cells: CellProject, keyed: None
) -> None:
    cells.budget(max_tool_calls=2)
    cells.agent(proposing(app(RIGHT, done=True)), "writes")
    with scripted(says(BLOCK.format(WRONG)), says(BLOCK.format(RIGHT))) as endpoint:
        chat(cells, endpoint.root)
        plan = all_cells(cells)
    whole, part = cells.root / "whole.jsonl.gz", cells.root / "part.jsonl.gz"
    keys = Store(layout.RESPONSES).keys()
    export_record(Store(layout.RESPONSES), keys, plan.runs, whole)
    export_record(Store(layout.RESPONSES), keys[:1], plan.runs, part)
    assert replayed(plan, whole).status == 0
    lacking = replayed(plan, part)
    assert lacking.status == Incomplete.exit_status
    assert "the record lacks 1 of their responses" in told(lacking)
    assert "asking add b repeat 0" in told(lacking)
    assert "replay: 3 of 3 cells equal, 0 differ, 1 not replayed" in told(lacking)
    with pytest.raises(Incomplete, match="nowhere"):
        replayed(plan, cells.root / "nowhere.jsonl.gz")
    shutil.rmtree(layout.RESPONSES)
    assert replayed(plan).status == Incomplete.exit_status


CHANCE = """
import time
def propose(task, history):
    return {"files": {"app.py": f"def add(a, b):\\n    return a + b  # {time.time_ns()}\\n"}, "done": True}
"""


def test_what_rests_on_chance_is_a_broken_experiment(cells: CellProject) -> None:
    cells.agent(CHANCE, "chance")
    plan = all_cells(cells)
    found = replayed(plan)
    assert found.status == 1
    (difference,) = found.differences
    assert difference.cell == "chance add b repeat 0"
    assert [name for name, _, _ in difference.fields] == ["artifact_sha256"]
    assert difference.where == "first event that differs: step 1 wrote another app.py"
    assert told(found).splitlines()[-2:] == [
        "replay: 2 of 3 cells equal, 1 differ, 0 not replayed; 0 recorded responses, nothing asked",
        "a broken experiment: its record does not lead to its outcomes",
    ]


def test_another_answer_in_the_record_shows_where_it_parts(cells: CellProject, keyed: None) -> None:
    cells.budget(max_tool_calls=1)
    with scripted(always=says(BLOCK.format(RIGHT))) as endpoint:
        chat(cells, endpoint.root)
        plan = all_cells(cells)
    (key,) = Store(layout.RESPONSES).keys()
    path = Store(layout.RESPONSES).path(key)
    entry = read_json(path)
    entry["response"]["choices"][0]["message"]["content"] = BLOCK.format(WRONG)
    write_json(path, entry)
    found = replayed(plan)
    (difference,) = found.differences
    fields = {name: (was, now) for name, was, now in difference.fields}
    assert fields["outcome"] == ("PASS", "EXHAUSTED")
    assert difference.where.startswith("first event that differs: 1: proposal: text ")
    assert 'broken: asking add b repeat 0: outcome "PASS", replayed "EXHAUSTED"' in told(found)


def test_a_miss_is_told_and_never_fetched(cells: CellProject, keyed: None) -> None:
    """Under the recorded keys there is nothing: no answer, no request, and the log says so."""
    cells.budget(max_tool_calls=1)
    with scripted(always=says(BLOCK.format(RIGHT))) as endpoint:
        chat(cells, endpoint.root)
        plan = all_cells(cells)
        asked = len(endpoint.requests)
        cell = next(cell for cell in plan.cells if cell.agent == "asking")
        leaf = Plan.leaves(cell)[0]
        run = read_json(leaf)
        run["responses"]["keys"] = []  # as if it had asked nothing
        del run["seal"]
        write_json(leaf, sealed(run, leaf.parent, leaf.name))
        found = replayed(plan)
        assert len(endpoint.requests) == asked
    (difference,) = found.differences
    assert ("outcome", "PASS", "ERROR") in difference.fields
    assert "the replay says: replay: the record holds no answer to this request" in difference.where


HANGS = """
import time
def propose(task, history):
    if history:
        time.sleep(60)
    return {"files": {"app.py": "def add(a, b):\\n    return a + b\\n"}}
"""
RUNS_ON = """
import sys, time
from pathlib import Path
(Path(sys.argv[2]) / "app.py").write_text("def add(a, b):\\n    return a + b\\n")
time.sleep(60)
"""


def test_a_fallen_clock_falls_again_at_the_same_event(cells: CellProject) -> None:
    cells.budget(max_seconds=2)
    cells.config |= {"clock": "strict", "budget_axis": "max_seconds"}
    cells.agent(HANGS, "hangs")
    cells.agent(RUNS_ON, "runs_on", adapter="command", argv=["python", "agents/runs_on.py"])
    plan = all_cells(cells)
    assert {read_json(Plan.leaves(c)[1])["cap_hit"] for c in plan.cells if not c.control} == {
        "wall_clock"
    }
    found = replayed(plan)
    assert (found.status, found.cells) == (0, 4), told(found)


def test_what_no_record_holds_is_named(cells: CellProject, keyed: None) -> None:
    cells.config["accept_unsandboxed"] = ["web"]
    cells.budget(max_tool_calls=1)
    cells.agent(None, "web", adapter="http", version="1", url="http://127.0.0.1:1/")
    with scripted() as endpoint:
        root = endpoint.root
    chat(cells, root)
    plan = cells.plan()
    with pytest.raises(Incomplete, match="no cell can be replayed"):
        replayed(plan)
    import frozenbench.gateway.upstream as upstream

    patience = upstream.Patience(tries=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upstream.insist, "__defaults__", (patience,))
        patch.setattr(upstream.ask_upstream, "__defaults__", (patience,))
        plan = all_cells(cells)
    found = replayed(plan)
    assert found.status == Incomplete.exit_status
    assert "1 cells, agent web: what an http agent answers is in no record" in told(found)
    assert "1 cells, ended as ERROR endpoint_down; cure: frozenbench retry" in told(found)
    assert "replay: 2 of 2 cells equal, 0 differ, 2 not replayed" in told(found)


def test_an_edited_grade_is_no_measure(cells: CellProject) -> None:
    cells.agent(proposing(app(RIGHT, done=True)), "writes")
    plan = all_cells(cells)
    leaf = Plan.leaves(plan.cells[-1])[1]
    grade = read_json(leaf)
    write_json(leaf, {**grade, "outcome": "FAIL_TEST"})
    with pytest.raises(Refused, match="was changed after it was written"):
        replayed(plan)


def test_the_replay_s_files_can_be_kept(cells: CellProject) -> None:
    cells.agent(proposing(app(RIGHT, done=True)), "writes")
    plan = all_cells(cells)
    keep = cells.root / "kept"
    replayed(plan, keep=keep)
    cell = plan.cells[-1]
    assert read_json(keep / Plan.leaves(cell)[1])["outcome"] == "PASS"
    with pytest.raises(BadInput, match="is there already"):
        replayed(plan, keep=keep)


ENTERS = """
import os, socket, sys
from pathlib import Path
from frozenbench.replay_cells import enter
enter(os.getppid(), Path(sys.argv[1]), ["REPLAY_KEY", "NO_SUCH_KEY"])
print(os.getcwd(), os.environ.get("REPLAY_KEY"))
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5)
except OSError as error:
    print(error)
"""


def test_a_worker_has_no_key_and_no_network(tmp_path: Path, keyed: None) -> None:
    with scripted() as endpoint:
        port = endpoint.root.rpartition(":")[2]
        argv = [sys.executable, "-c", ENTERS, str(tmp_path), port]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{tmp_path} None", "a replay asks nobody"]


def test_a_killed_replay_leaves_no_worker(cells: CellProject) -> None:
    cells.config |= {"clock": "strict", "budget_axis": "max_seconds"}
    cells.budget(max_seconds=1)
    cells.agent(RUNS_ON, "runs_on", adapter="command", argv=["python", "agents/runs_on.py"])
    all_cells(cells)
    argv = [sys.executable, "-m", "frozenbench", "replay", "--keep", "kept", "--jobs", "1"]
    started = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    while not list(Path("kept").glob("results/runs/*/trace.jsonl")):
        assert started.poll() is None
        assert time.monotonic() - begun < 60
        time.sleep(0.02)
    workers = children(started.pid)
    assert workers
    started.kill()
    started.wait()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}/cwd").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(pid) for pid in text.split()]


def test_where_two_traces_part(tmp_path: Path) -> None:
    def trace(name: str, *events: dict[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return path

    one = {"event": "proposal", "seconds": 1.0, "recorded": False, "use": {"total": 3}}
    end = {"event": "end", "ending": "finished"}
    recorded = trace("a", one, end)
    assert diverged(recorded, trace("b", {**one, "seconds": 2.0, "recorded": True}, end)) is None
    assert diverged(recorded, trace("b", one)) == (
        "first event that differs: 2: end is in the recorded trace alone"
    )
    assert diverged(recorded, trace("b", {**one, "use": {"total": 4}}, end)) == (
        'first event that differs: 1: proposal: use {"total": 3}, replayed {"total": 4}'
    )
    assert diverged(recorded, trace("b", end, end)) == (
        "first event that differs: 1: recorded proposal, replayed end"
    )
