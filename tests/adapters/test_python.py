"""The python adapter: only what `propose` returns counts, whatever else its process does."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from cell_project import RIGHT, Cell, CellProject, processes_with, proposing

#: Seconds within which a run must end after its clock fell.
BOUND = 3.0

DONE = f"""
def propose(task, history):
    return {{"files": {{"app.py": {RIGHT!r}}}, "tool_name": "write", "tokens": 12, "done": True}}
"""

#: Defines `say`, which writes to the pipe on which the driver answers.
FORGE = """
import fcntl, os, stat
found = []
for number in range(3, 64):
    try:
        pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
        writes = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
    except OSError:
        continue
    if pipe and writes:
        found.append(number)
(ANSWERS,) = found
def say(line):
    while line:
        line = line[os.write(ANSWERS, line):]
"""


def ran(cells: CellProject, code: str, **more: Any) -> Cell:
    cells.agent(code)
    return cells.run(**more)


def test_a_proposal_becomes_a_snapshot(cells: CellProject) -> None:
    cell = ran(cells, DONE)
    assert cell.run["ending"] == "finished"
    assert cell.changed() == {"app.py": RIGHT}
    meters = cell.run["meters"]
    assert (meters["tool_calls"], meters["edit_rounds"], meters["tokens"]) == (1, 1, 12)
    assert meters["model_calls"] is None
    assert cell.events == ["proposal", "end"]
    assert cell.trace[0]["tool_name"] == "write"
    assert cell.trace[0]["files"] == ["app.py"]


def test_every_field_may_be_left_out_or_none(cells: CellProject) -> None:
    nothing = dict.fromkeys(("files", "tool_name", "tokens", "done", "gave_up"))
    cell = ran(cells, proposing({}, nothing, {"gave_up": True}))
    assert cell.run["ending"] == "gave_up"
    meters = cell.run["meters"]
    assert (meters["tool_calls"], meters["edit_rounds"], meters["tokens"]) == (3, 0, None)
    assert [step["snapshot"] for step in cell.run["steps"]] == [None, None, None]


def test_tokens_of_all_proposals_add_up(cells: CellProject) -> None:
    cell = ran(cells, proposing({"tokens": 3}, {"tokens": 4}, {"tokens": 0, "done": True}))
    assert cell.run["meters"]["tokens"] == 7
    assert [step["meters"]["tokens"] for step in cell.run["steps"]] == [3, 7, 7]


def test_what_it_writes_to_its_outputs_disturbs_nothing(cells: CellProject) -> None:
    code = """
import os, subprocess, sys
print("at import")
def propose(task, history):
    print('{"proposal": {"gave_up": true}}', flush=True)
    os.write(1, b'{"crashed": "x"}\\n\\xff\\xfe no text')
    subprocess.run(["echo", '{"ready": true}'], check=True)
    print("a note", file=sys.stderr)
    return {"done": True}
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "finished"
    for said in ("at import", '{"proposal": {"gave_up": true}}', "no text", "a note"):
        assert said in cell.log


def test_its_input_is_empty(cells: CellProject) -> None:
    code = """
import sys
LEFT = sys.stdin.read()
def propose(task, history):
    if history:
        return {"done": True, "tool_name": repr(LEFT + sys.stdin.read())}
    try:
        input()
    except EOFError:
        return {"tool_name": "end of input"}
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "finished"
    assert [event.get("tool_name") for event in cell.trace[:2]] == ["end of input", "''"]


@pytest.mark.slow
def test_a_flood_of_prints_is_cut_and_changes_nothing(cells: CellProject) -> None:
    code = """
import sys
def propose(task, history):
    for _ in range(200):
        sys.stdout.write("x" * 1_000_000)
    return {"done": True}
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "finished"
    assert cell.log.endswith("[truncated]\n")
    assert (cell.folder / "log").stat().st_size < 2_000_000
    assert cell.seconds < 15


CRASHES = {
    "raises": ("raise KeyError('x' * 9)", "KeyError: 'xxxxxxxxx'"),
    "sys.exit": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "os._exit": ("import os; os._exit(0)", "ended (status 0, signal None)"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "segmentation fault": ("import os; os.kill(os.getpid(), 11)", "signal 11"),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", "signal 9"),
    "no memory": ("return 'x' * 2**32", "MemoryError"),
    "no end of recursion": ("return propose(task, history)", "RecursionError"),
    "surrogates in its error": ("raise ValueError('\\ud800')", "ValueError"),
    "None": ("return None", "is NoneType; a mapping was due"),
    "text": ("return 'done'", "is str; a mapping was due"),
    "list": ("return [{}]", "is list; a mapping was due"),
    "set": ("return {1, 2}", "not JSON serializable"),
    "bytes": ("return {'files': {'a.py': b'x'}}", "not JSON serializable"),
    "circle": ("d = {}; d['files'] = d; return d", "Circular reference"),
    "generator": ("yield {'done': True}", "not JSON serializable"),
    "unknown field": ("return {'file': {}}", "'file' is unknown; known: files, tool_name"),
    "field that is no text": ("return {None: 1}", "None is NoneType; text was due"),
    "files a list": ("return {'files': []}", "files is list"),
    "files a text": ("return {'files': ''}", "files is str"),
    "files zero": ("return {'files': 0}", "files is int"),
    "a path that is None": ("return {'files': {None: ''}}", "None is NoneType; text was due"),
    "a path that is a number": ("return {'files': {1: ''}}", "1 is int; text was due"),
    "a number in a file": ("return {'files': {'a': 1}}", "files['a'] is int; text or null"),
    "a list in a file": ("return {'files': {'a': ['x']}}", "files['a'] is list"),
    "half a surrogate in a file": ("return {'files': {'a': '\\ud800'}}", "half a surrogate pair"),
    "half a surrogate in a path": ("return {'files': {'\\udcff': ''}}", "half a surrogate pair"),
    "half a surrogate in a name": ("return {'tool_name': '\\ud800'}", "tool_name holds half"),
    "tool_name a number": ("return {'tool_name': 1}", "tool_name is int; str was due"),
    "tokens text": ("return {'tokens': '12'}", "tokens is '12'"),
    "tokens true": ("return {'tokens': True}", "tokens is True"),
    "tokens a fraction": ("return {'tokens': 1.0}", "tokens is 1.0"),
    "tokens below 0": ("return {'tokens': -1}", "tokens is -1"),
    "tokens not a number": ("return {'tokens': float('nan')}", "tokens is nan"),
    "tokens beyond all counts": ("return {'tokens': 10**300}", "tokens is 1000"),
    "done a number": ("return {'done': 1}", "done is int; bool was due"),
    "gave_up text": ("return {'gave_up': 'no'}", "gave_up is str; bool was due"),
    "path above": ("return {'files': {'../x': ''}}", "'../x' reaches outside the work folder"),
    "path above in the middle": ("return {'files': {'a/../../x': ''}}", "reaches outside"),
    "absolute path": ("return {'files': {'/work/x': ''}}", "'/work/x' reaches outside"),
    "path with NUL": ("return {'files': {'a\\0b': ''}}", "reaches outside"),
    "no path": ("return {'files': {'': ''}}", "'' reaches outside"),
    "the folder itself": ("return {'files': {'.': ''}}", "reaches outside"),
    "path without end": ("return {'files': {'a' * 300: ''}}", "reaches outside"),
    "file that becomes a folder": ("return {'files': {'app.py/x': ''}}", "a file and a folder"),
}


@pytest.mark.parametrize("case", CRASHES)
def test_what_is_no_proposal_is_a_crash(cells: CellProject, case: str) -> None:
    body, said = CRASHES[case]
    cell = ran(cells, f"def propose(task, history):\n    {body}\n")
    assert cell.run["ending"] == "crashed"
    assert said in cell.run["message"]
    assert cell.run["steps"] == []
    assert cell.events[-1] == "end"
    assert said.splitlines()[0] in cell.log


STARTS = {
    "raises": ("1 / 0", {}, "ZeroDivisionError"),
    "does not parse": ("def propose(:", {}, "SyntaxError"),
    "exits": ("import sys; sys.exit(3)", {}, "SystemExit: 3"),
    "is gone": ("import os; os._exit(0)", {}, "ended (status 0, signal None)"),
    "imports what is not there": ("import numpy", {}, "No module named 'numpy'"),
    "is another module": (DONE, {"module": "other"}, "No module named 'other'"),
    "lacks the attribute": (DONE, {"attribute": "solve"}, "no attribute 'solve'"),
    "has no function": ("propose = 5", {}, "'int' object is not callable"),
}


@pytest.mark.parametrize("case", STARTS)
def test_a_module_that_cannot_be_used_is_a_crash(cells: CellProject, case: str) -> None:
    code, fields, said = STARTS[case]
    cells.agent(code, **fields)
    cell = cells.run()
    assert cell.run["ending"] == "crashed"
    assert said in cell.run["message"]
    assert cell.run["meters"]["tool_calls"] == 0


FORGERIES = {
    "no JSON": ("b'nonsense\\n'", "is not JSON"),
    "no text": ("b'\\xff\\xfe\\n'", "is not JSON"),
    "no object": ("b'[1]\\n'", "no JSON object"),
    "a number of 5,000 digits": ("b'{\"proposal\": ' + b'1' * 5000 + b'}\\n'", "is not JSON"),
    "a tower of brackets": ("b'[' * 200_000 + b'\\n'", "is not JSON"),
    "an object without a proposal": ("b'{}\\n'", "raised"),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_lines_that_no_driver_wrote_are_a_crash(cells: CellProject, case: str) -> None:
    line, said = FORGERIES[case]
    code = f"{FORGE}\ndef propose(task, history):\n    say({line})\n    return {{'done': True}}\n"
    cell = ran(cells, code)
    assert cell.run["ending"] == "crashed"
    assert said in cell.run["message"]
    assert "Traceback" not in cell.run["message"]


def test_an_answer_beyond_the_limit_is_a_resource_limit(cells: CellProject) -> None:
    code = "def propose(task, history):\n    return {'files': {'a': 'x' * 2_000_000}}\n"
    cell = ran(cells, code)
    assert cell.run["ending"] == "resource_limit"
    assert "output_bytes" in cell.run["message"]


def test_a_tree_beyond_the_limits_is_not_part_of_the_artifact(cells: CellProject) -> None:
    many = {f"f{n}": "" for n in range(2001)}
    cell = ran(cells, proposing({"files": {"a": "1"}}, {"files": many, "done": True}))
    assert cell.run["ending"] == "finished"
    assert cell.run["artifact_limit"] is True
    assert cell.changed() == {"a": "1"}
    assert cell.events == ["proposal", "proposal", "artifact_limit", "end"]


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "import time; time.sleep(600)", "import signal; signal.pause()"],
    ids=["busy", "asleep", "waiting"],
)
def test_the_clock_ends_a_call_without_end(cells: CellProject, body: str) -> None:
    cells.budget(max_seconds=0.5)
    mark = f"endless_{os.getpid()}_{time.monotonic_ns()}"
    cells.agent(f"def propose(task, history):\n    {body}\n", mark)
    cell = cells.run(mark)
    assert cell.run["ending"] == "cap:wall_clock"
    assert cell.run["cap_hit"] == "wall_clock"
    assert cell.run["hits"] == ["wall_clock"]
    assert 0.5 <= cell.run["measured"]["seconds"] <= 0.5 + BOUND
    assert cell.seconds < 0.5 + BOUND
    assert cell.run["meters"]["tool_calls"] == 0
    assert processes_with(mark) == []


def test_the_clock_ends_an_agent_that_no_longer_listens(cells: CellProject) -> None:
    """It answers by itself and reads nothing, so that the next request finds its pipe full."""
    cells.budget(max_seconds=1)
    code = f"""{FORGE}
import json, time
def propose(task, history):
    answer = {{"proposal": {{"files": {{"big": "y" * 300_000}}}}}}
    say(json.dumps(answer).encode() + b"\\n")
    time.sleep(600)
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "cap:wall_clock"
    assert cell.run["meters"]["tool_calls"] == 1
    assert cell.seconds < 1 + BOUND


OUTLIVING = """
import subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
subprocess.Popen(["sleep", "600.{mark}"], start_new_session=True)
code = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(600)"
subprocess.run([sys.executable, "-c", code, "{mark}"])
"""


@pytest.mark.parametrize("ending", ["done", "raise", "loop"])
def test_nothing_outlives_the_run(cells: CellProject, ending: str) -> None:
    mark = str(time.monotonic_ns())
    cells.budget(max_seconds=1)
    last = {"done": "return {'done': True}", "raise": "1 / 0", "loop": "time.sleep(600)"}[ending]
    code = OUTLIVING.format(mark=mark) + f"def propose(task, history):\n    {last}\n"
    cell = ran(cells, code)
    endings = {"done": "finished", "raise": "crashed", "loop": "cap:wall_clock"}
    assert cell.run["ending"] == endings[ending]
    assert processes_with(mark) == []
    assert cell.seconds < 1 + BOUND


def test_done_ends_before_the_next_call(cells: CellProject) -> None:
    cell = ran(cells, proposing({"files": {"a": "1"}, "done": True}))
    assert cell.run["ending"] == "finished"
    assert cell.run["meters"]["tool_calls"] == 1


def test_gave_up_wins_over_done(cells: CellProject) -> None:
    cell = ran(cells, proposing({"files": {"a": "1"}, "done": True, "gave_up": True}))
    assert cell.run["ending"] == "gave_up"
    assert cell.changed() == {"a": "1"}


def test_a_proposal_whose_tokens_do_not_fit_is_withheld_whole(cells: CellProject) -> None:
    cells.budget(max_tokens=100)
    code = """
import json
def propose(task, history):
    n = len(history)
    return {"files": {f"f{n}": "x"}, "tokens": 60}
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "cap:tokens"
    meters = cell.run["meters"]
    assert (meters["tokens"], meters["tokens_undelivered"]) == (60, 60)
    assert (meters["tool_calls"], meters["edit_rounds"]) == (1, 1)
    assert cell.changed() == {"f0": "x"}
    assert cell.events == ["proposal", "withheld", "end"]


def test_all_tokens_used_is_finished_if_it_is_done(cells: CellProject) -> None:
    cells.budget(max_tokens=100)
    cell = ran(cells, proposing({"tokens": 60}, {"tokens": 40, "done": True}))
    assert cell.run["ending"] == "finished"
    assert cell.run["meters"]["tokens"] == 100
    cell = ran(cells, proposing({"tokens": 60}, {"tokens": 40}, {"tokens": 0}))
    assert cell.run["ending"] == "cap:tokens"
    assert cell.run["meters"]["tool_calls"] == 2


def test_the_proposal_after_the_last_one_hits_the_cap(cells: CellProject) -> None:
    cells.budget(max_tool_calls=2)
    cell = ran(cells, proposing({"files": {"a": "1"}}, {"files": {"a": "2"}}, {"done": True}))
    assert cell.run["ending"] == "cap:tool_calls"
    assert cell.run["meters"]["tool_calls"] == 2
    assert cell.changed() == {"a": "2"}
    cell = ran(cells, proposing({"files": {"a": "1"}}, {"done": True}))
    assert cell.run["ending"] == "finished"


def test_a_change_beyond_the_last_edit_round_is_left_out(cells: CellProject) -> None:
    cells.budget(max_edit_rounds=1)
    same, other = {"files": {"a": "1"}}, {"files": {"a": "2"}, "done": True}
    cell = ran(cells, proposing(same, same, {}, other))
    assert cell.run["ending"] == "cap:edit_rounds"
    assert cell.run["meters"]["edit_rounds"] == 1
    assert cell.changed() == {"a": "1"}
    assert cell.events[-2:] == ["change_left_out", "end"]
    cell = ran(cells, proposing(same, same, {"done": True}))
    assert cell.run["ending"] == "finished"


def test_caches_are_no_change(cells: CellProject) -> None:
    caches = {"__pycache__/app.pyc": "x", ".git/config": "x", "a/.pytest_cache/y": "x", "z.pyc": ""}
    cells.budget(max_edit_rounds=1)
    cell = ran(cells, proposing({"files": caches}, {"files": caches, "done": True}))
    assert cell.run["ending"] == "finished"
    assert cell.run["meters"]["edit_rounds"] == 0


def test_a_start_without_end_is_a_startup_timeout(cells: CellProject) -> None:
    mark = f"slow_{time.monotonic_ns()}"
    cells.agent("import time\ntime.sleep(600)\n", mark)
    cell = cells.run(mark, startup_timeout_s=0.5)
    assert cell.run["ending"] == "startup_timeout"
    assert cell.run["measured"]["seconds"] == 0
    assert 0.5 <= cell.run["measured"]["startup_seconds"] <= 0.5 + BOUND
    assert processes_with(mark) == []


def test_the_start_is_off_the_clock(cells: CellProject) -> None:
    cells.budget(max_seconds=1)
    cell = ran(cells, "import time\ntime.sleep(1.2)\n" + DONE)
    assert cell.run["ending"] == "finished"
    assert cell.run["measured"]["startup_seconds"] >= 1.2
    assert cell.run["measured"]["seconds"] < 1


def test_before_its_clock_runs_the_agent_sees_nothing_of_its_task(cells: CellProject) -> None:
    """Work at import would be off the clock: the fixture comes with the first call."""
    cell = ran(
        cells,
        """
import os
AT_IMPORT = sorted(os.listdir("."))
def propose(task, history):
    found = sorted(os.listdir("."))
    return {"files": {"seen.txt": f"{AT_IMPORT} {'app.py' in found}"}, "done": True}
""",
    )
    assert cell.changed() == {"seen.txt": "[] True"}
