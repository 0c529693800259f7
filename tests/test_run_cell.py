"""run_cell: the files of a run, what is checked before it, what a killed attempt leaves."""

from __future__ import annotations

import getpass
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, WRONG, Cell, CellProject, files_with, processes_with
from frozenbench import layout
from frozenbench.canonical import BadInput, Refused, digest
from frozenbench.run_cell import run_cell

STEPS = f"""
FILES = [{{"a": "1"}}, {{"a": "1"}}, {{"b": "\\r\\n"}}, {{"app.py": {RIGHT!r}, "a": None}}]
def propose(task, history):
    n = len(history)
    print("call", n)
    return {{"files": FILES[n], "tokens": 5, "tool_name": "é", "done": n == 3}}
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_files_of_a_run(cells: CellProject) -> None:
    cells.agent(STEPS)
    cell = cells.run()
    assert sorted(contents(cell.folder)) == [
        "log",
        "run.json",
        "snapshots/0001.json",
        "snapshots/0003.json",
        "snapshots/0004.json",
        "trace.jsonl",
    ]
    assert cell.log == "".join(f"call {n}\n" for n in range(4))
    assert cell.folder.name == cell.run["run_key"] == digest(cell.run["material"])
    assert [step["snapshot"] for step in cell.run["steps"]] == [
        "0001.json",
        None,
        "0003.json",
        "0004.json",
    ]
    assert [step["meters"]["edit_rounds"] for step in cell.run["steps"]] == [1, 1, 2, 3]
    assert [step["meters"]["tokens"] for step in cell.run["steps"]] == [5, 10, 15, 20]
    assert cell.run["meters"] == cell.run["steps"][-1]["meters"]
    assert cell.changed(0) == {"a": "1"}
    assert cell.changed(1) == {"a": "1", "b": "\r\n"}
    assert cell.changed(2) == {"app.py": RIGHT, "b": "\r\n"}
    assert (cell.run["cap_hit"], cell.run["hits"], cell.run["message"]) == (None, [], "")
    measured = cell.run["measured"]
    assert measured["step_seconds"] == sorted(measured["step_seconds"])
    assert 0 < measured["step_seconds"][-1] <= measured["seconds"] < 20
    assert measured["attempts"] == 1
    assert measured["isolation_measured"] == "userns"
    assert cell.events == ["proposal"] * 4 + ["end"]
    assert "é" in (cell.folder / "trace.jsonl").read_text("utf-8")


def test_a_run_that_changes_nothing_has_no_snapshots(cells: CellProject) -> None:
    cells.agent("def propose(task, history):\n    return {'done': True}\n")
    assert sorted(contents(cells.run().folder)) == ["log", "run.json", "trace.jsonl"]


def test_the_same_run_twice_differs_in_what_is_measured_alone(cells: CellProject) -> None:
    cells.agent(STEPS)
    first = contents(cells.run().folder)
    second = contents(cells.run().folder)
    documents = [json.loads(found.pop("run.json")) for found in (first, second)]
    traces = [found.pop("trace.jsonl").decode().splitlines() for found in (first, second)]
    assert first == second
    measured = [document.pop("measured") for document in documents]
    seals = [document.pop("seal")["files"] for document in documents]
    assert [sorted(seal) for seal in seals] == 2 * [sorted([*first, "trace.jsonl"])]
    assert documents[0] == documents[1]
    assert measured[0].keys() == measured[1].keys()
    events = [[{**json.loads(line), "seconds": 0} for line in trace] for trace in traces]
    assert events[0] == events[1]


def test_the_key_holds_nothing_of_the_grader(cells: CellProject) -> None:
    cells.agent(STEPS)
    before = cells.cell(cells.plan(), "agent", "add").run_key
    cells.write({"tests/test_app.py": "def test_other():\n    pass\n"})
    cells.task(hidden={}, weight=7, must_not_contain=["x"], split="held_out", grade_timeout_s=5)
    cells.config["grading"] = "every_step"
    assert cells.cell(cells.plan(), "agent", "add").run_key == before
    cells.task(prompt="Another prompt.\n")
    assert cells.cell(cells.plan(), "agent", "add").run_key != before


def test_another_path_is_bad_input(cells: CellProject) -> None:
    cells.agent(STEPS)
    plan = cells.plan()
    inputs, out = cells.run_inputs(plan, cells.cell(plan, "agent", "add"))
    wrong = out.with_name("0" * 64)
    with pytest.raises(BadInput, match=rf"{wrong.name}: is not the path of .*{out.name}"):
        run_cell(inputs, wrong)
    with pytest.raises(BadInput, match="is not the path of"):
        run_cell(replace(inputs, repeat=1), out)
    assert not wrong.exists()


def tamper_prompt(cells: CellProject) -> None:
    (path,) = cells.root.glob("results/frozen/tasks/*/task.json")
    path.write_text(path.read_text().replace("Correct", "Do not correct"))


def tamper_fixture(cells: CellProject) -> None:
    (path,) = cells.root.glob("results/frozen/tasks/*/fixture/app.py")
    path.chmod(0o644)
    path.write_text(RIGHT)


def tamper_x_bit(cells: CellProject) -> None:
    (path,) = cells.root.glob("results/frozen/tasks/*/fixture/app.py")
    path.chmod(0o555)


def add_file(cells: CellProject) -> None:
    (folder,) = cells.root.glob("results/frozen/tasks/*/fixture")
    (folder / "hint.txt").write_text("a + b")


def remove_fixture(cells: CellProject) -> None:
    tamper_fixture(cells)
    (path,) = cells.root.glob("results/frozen/tasks/*/fixture/app.py")
    path.unlink()


def tamper_code(cells: CellProject) -> None:
    (path,) = cells.root.glob("results/frozen/agents/*/code/agents/agent.py")
    path.chmod(0o644)
    path.write_text(path.read_text() + "# changed\n")


def remove_code(cells: CellProject) -> None:
    (path,) = cells.root.glob("results/frozen/agents/*/code")
    path.rename(path.with_name("moved"))


def tamper_sheet(cells: CellProject) -> None:
    """What the sheet in the controls does not hold: where the code is found."""
    (path,) = cells.root.glob("results/frozen/agents/*/agent.json")
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"roots": []}))


TAMPERING = {
    "prompt": tamper_prompt,
    "fixture": tamper_fixture,
    "x-bit": tamper_x_bit,
    "more files": add_file,
    "no fixture": remove_fixture,
    "code": tamper_code,
    "no code": remove_code,
    "sheet": tamper_sheet,
}


@pytest.mark.parametrize("case", TAMPERING)
def test_what_was_frozen_cannot_be_changed(cells: CellProject, case: str) -> None:
    cells.agent(STEPS)
    plan = cells.plan()
    inputs, out = cells.run_inputs(plan, cells.cell(plan, "agent", "add"))
    TAMPERING[case](cells)
    with pytest.raises(BadInput, match="was changed after it was frozen"):
        run_cell(inputs, out)
    assert not (out / "run.json").exists()


def test_a_solution_that_was_changed_is_bad_input(cells: CellProject) -> None:
    plan = cells.plan()
    inputs, out = cells.run_inputs(plan, cells.cell(plan, "reference", "add"))
    assert inputs.solution is not None
    (inputs.solution / "app.py").chmod(0o644)
    (inputs.solution / "app.py").write_text(WRONG)
    with pytest.raises(BadInput, match="solution: was changed after it was frozen"):
        run_cell(inputs, out)


def test_more_isolation_than_there_is_is_refused(cells: CellProject) -> None:
    cells.agent(STEPS)
    plan = cells.plan()
    cell = cells.cell(plan, "agent", "add")
    inputs, _ = cells.run_inputs(plan, cell)
    controls = json.loads(inputs.controls.read_bytes())
    controls["environment"]["isolation"] = "container"
    name = controls.pop("experiment")["name"]
    controls["experiment"] = {"name": name, "digest": digest(controls)}
    inputs.controls.write_text(json.dumps(controls))
    from frozenbench.keys import run_key

    out = layout.run(run_key(controls, "agent", "add", "b", 0))
    with pytest.raises(Refused, match="isolation: container cannot be had"):
        run_cell(inputs, out)
    assert not out.exists()


def test_a_killed_attempt_leaves_nothing_old(cells: CellProject) -> None:
    cells.agent(STEPS)
    whole = cells.run()
    expected = contents(whole.folder)
    (whole.folder / "snapshots" / "0009.json").write_text("{}")
    (whole.folder / "snapshots" / "deep").mkdir()
    (whole.folder / ".run.json.abcd").write_text("half")
    (whole.folder / "link").symlink_to(cells.root)
    (whole.folder / "run.json").write_text("{")
    again = cells.run()
    assert contents(again.folder).keys() == expected.keys()
    assert again.run["measured"]["attempts"] == 1
    assert (cells.root / "config").is_dir()


def test_attempts_that_were_set_aside_stay_and_count(cells: CellProject) -> None:
    cells.agent(STEPS)
    folder = cells.run().folder
    for number in ("1", "2"):
        (folder / "attempts" / number).mkdir(parents=True)
        (folder / "attempts" / number / "run.json").write_text(number)
    cell = cells.run()
    assert cell.run["measured"]["attempts"] == 3
    assert (folder / "attempts" / "2" / "run.json").read_text() == "2"


def arguments(cells: CellProject, **agent: Any) -> tuple[list[str], Path]:
    """Return the command line of a cell and its folder."""
    cells.agent(**agent)
    plan = cells.plan()
    inputs, out = cells.run_inputs(plan, cells.cell(plan, "agent", "add"))
    words = [sys.executable, "-m", "frozenbench", "run_cell", "--out", str(out)]
    for name in ("controls", "task_files", "agent_files", "environment", "agent", "task"):
        words += [f"--{name}", str(getattr(inputs, name))]
    return [*words, "--budget", inputs.budget, "--repeat", str(inputs.repeat)], out


@pytest.mark.slow
def test_a_kill_leaves_no_run_and_no_process(cells: CellProject) -> None:
    mark = str(time.monotonic_ns())
    source = f"""
import subprocess, time
def propose(task, history):
    if history:
        subprocess.run(["sleep", "600.{mark}"])
    return {{"files": {{"a": "1"}}}}
"""
    words, out = arguments(cells, source=source)
    job = subprocess.Popen(words)
    deadline = time.monotonic() + 20
    while not processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_with(mark)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert sorted(contents(out)) == ["log", "trace.jsonl"]
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_with(mark) == []
    cells.agent(STEPS)
    assert cells.run().run["ending"] == "finished"


@pytest.mark.slow
def test_the_command_ends_with_0_whatever_the_agent_does(cells: CellProject) -> None:
    words, out = arguments(cells, source="1 / 0\n")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((out / "run.json").read_bytes())["ending"] == "crashed"


@pytest.mark.slow
def test_the_command_ends_with_2_and_one_message_where_its_files_are_wrong(
    cells: CellProject,
) -> None:
    words, _ = arguments(cells, source=STEPS)
    tamper_prompt(cells)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "was changed after it was frozen" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_event_at_which_the_clock_fell_is_kept(cells: CellProject) -> None:
    cells.budget(max_seconds=1)
    cells.agent(
        "import time\ndef propose(task, history):\n"
        "    time.sleep(600 if history else 0)\n    return {'files': {'a': '1'}}\n"
    )
    cell = cells.run()
    path = layout.RESPONSES / "clocks" / f"{cell.run['run_key']}.json"
    assert json.loads(path.read_bytes()) == {"event": 4}  # second step, while it proposes
    cells.run("noop")
    assert [found.name for found in path.parent.iterdir()] == [path.name]


CAPS: list[tuple[dict[str, Any], str]] = [
    ({"max_tool_calls": 3}, "tool_calls"),
    ({"max_tool_calls": 1, "max_edit_rounds": 1, "max_tokens": 1}, "tool_calls"),
    ({"max_edit_rounds": 2}, "wall_clock"),
    ({"max_tokens": 50}, "wall_clock"),
    ({}, "wall_clock"),
]


@pytest.mark.parametrize("grading", ["final", "every_step"])
@pytest.mark.parametrize(("caps", "meter"), CAPS)
def test_control_cells(cells: CellProject, caps: dict[str, Any], meter: str, grading: str) -> None:
    cells.budget(max_seconds=0.001, **caps)
    cells.config["grading"] = grading
    noop = cells.both("noop")
    assert noop.outcome == ("EXHAUSTED", meter, meter)
    assert noop.run["hits"] == [meter]
    assert noop.run["meters"]["tool_calls"] == caps.get("max_tool_calls", 0)
    assert noop.run["meters"]["edit_rounds"] == 0
    reference = cells.both("reference")
    assert reference.outcome == ("PASS", "finished", None)
    assert reference.run["meters"]["tool_calls"] == 1
    assert reference.run["meters"]["edit_rounds"] == 1
    assert reference.grade["graded_step"] == 1
    for cell in (noop, reference):
        assert cell.run["measured"]["seconds"] == 0  # the virtual clock never ticks
        for name in ("tokens", "tokens_input", "tokens_output", "tokens_undelivered"):
            assert cell.run["meters"][name] is None
            assert cell.grade["meters"][name] is None
        assert cell.seconds < 5


def test_a_task_without_a_solution_has_no_reference_cell(cells: CellProject) -> None:
    cells.task("bare", fixture={"app.py": WRONG})
    pairs = {(cell.agent, cell.task) for cell in cells.plan().cells if cell.control}
    assert pairs == {("noop", "add"), ("noop", "bare"), ("reference", "add")}


def test_an_empty_fixture_is_an_empty_folder(cells: CellProject) -> None:
    source = """
import os
def propose(task, history):
    return {"tool_name": str(os.listdir(task["workdir"])), "done": True}
"""
    cells.lines["add"].pop("fixture_dir")
    cells.agent(source)
    assert cells.run().trace[0]["tool_name"] == "[]"


@pytest.mark.parametrize("clock", [0.4, 5])
def test_the_smaller_clock_holds(cells: CellProject, clock: float) -> None:
    cells.task(budget_s=clock)
    cells.budget(max_seconds=0.8)
    cells.agent("import time\ndef propose(task, history):\n    time.sleep(600)\n")
    cell = cells.run()
    assert cell.run["material"]["caps"]["wall_clock"] == min(clock, 0.8)
    assert cell.run["ending"] == "cap:wall_clock"
    assert min(clock, 0.8) <= cell.run["measured"]["seconds"] < min(clock, 0.8) + 2


def runs_of_all_kinds(cells: CellProject) -> Iterator[Cell]:
    """Run and grade agents that print, fail and ask for all that they can see."""
    noisy = """
import getpass, os, pathlib, platform, sys, traceback
def propose(task, history):
    print(os.getcwd(), sys.path, os.environ, platform.node(), os.getuid(), __file__)
    raise OSError(str(pathlib.Path.cwd()), os.listdir("/"))
"""
    cells.agent(noisy)
    cells.agent("import none_such\n", "broken")
    cells.agent(STEPS, "steps")
    argv = ["sh", "-c", "id; uname -a; pwd; env; mount; cat /no/such; touch a; exit 3", "sh"]
    cells.agent(None, "shell", adapter="command", argv=argv)
    for agent in ("agent", "broken", "steps", "shell", "noop", "reference"):
        yield cells.both(agent)


def test_nothing_of_this_machine_is_written(cells: CellProject) -> None:
    outcomes = [cell.outcome[0] for cell in runs_of_all_kinds(cells)]
    assert outcomes == ["ERROR", "ERROR", "PASS", "FAIL_TEST", "EXHAUSTED", "PASS"]
    results = cells.root / "results"
    paths = [cells.root, cells.environment, Path(__file__).parents[1], Path(sys.prefix)]
    folders = [f"{Path.home()}/", f"frozenbench-{os.geteuid()}"]
    assert files_with(results, *map(str, paths), *folders) == []
    words = {socket.gethostname(), getpass.getuser()} - {"root", "localhost"}
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words))
    named = [name for name, data in contents(results).items() if pattern.search(data.decode())]
    assert named == []
