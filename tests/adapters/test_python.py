"""The python adapter: only what `propose` returns counts, whatever else its process does."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, Cell, CellProject, processes_with
from frozenbench.adapters.contract import AgentCrashed
from frozenbench.adapters.proposals import parse_proposal, told
from hypothesis import given
from hypothesis import strategies as st

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


def proposing(*proposals: Any, before: str = "") -> str:
    """Return the code of an agent that makes these proposals, one a call."""
    return (
        f"{before}\nPROPOSALS = {list(proposals)!r}\n\ndef propose(task, history):\n"
        "    return PROPOSALS[len(history)]\n"
    )


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


def test_files_are_deleted_by_null(cells: CellProject) -> None:
    cells.task("tree", fixture={"a/b.py": "b", "a/c.py": "c", "d": "d"})
    cells.agent(proposing({"files": {"a/b.py": None, "not there": None, "e": None}, "done": True}))
    cell = cells.run(task="tree")
    assert cell.run["ending"] == "finished"
    assert cell.deleted() == ["a/b.py"]
    assert cell.changed() == {}
    assert cell.run["meters"]["edit_rounds"] == 1


def test_a_file_may_give_way_to_a_folder_of_its_name(cells: CellProject) -> None:
    cell = ran(cells, proposing({"files": {"app.py": None, "app.py/x": "1"}, "done": True}))
    assert cell.run["ending"] == "finished"
    assert cell.deleted() == ["app.py"]
    assert cell.changed() == {"app.py/x": "1"}


def test_bytes_and_the_x_bit_pass_unchanged(cells: CellProject) -> None:
    fixture = {"run.sh": b"#!/bin/sh\r\necho \xff\r\n", "lf": b"a\nb\n", "blob": b"\x00\xff"}
    cells.task("tree", fixture=fixture)
    (cells.root / "packs/small/fixtures/tree/run.sh").chmod(0o755)
    code = """
import os
def propose(task, history):
    os.chdir(task["workdir"])
    found = {name: open(name, "rb").read().hex() for name in sorted(os.listdir("."))}
    modes = "".join("x" if os.access(n, os.X_OK) else "-" for n in sorted(os.listdir(".")))
    if history:
        return {"tool_name": f"{found} {modes}", "done": True}
    text = "#!/bin/sh\\r\\necho\\n"
    return {"tool_name": f"{found} {modes}", "files": {"run.sh": text, "new": "a\\r\\nb\\n"}}
"""
    cells.agent(code)
    cell = cells.run(task="tree")
    first, second = (event["tool_name"] for event in cell.trace[:2])
    seen = {name: fixture[name].hex() for name in sorted(fixture)}
    assert first == f"{seen} --x"
    now = {**fixture, "run.sh": b"#!/bin/sh\r\necho\n", "new": b"a\r\nb\n"}
    assert second == f"{ {name: now[name].hex() for name in sorted(now)} } ---x"
    assert cell.changed() == {"new": "a\r\nb\n", "run.sh": "#!/bin/sh\r\necho\n"}
    snapshot = json.loads((cell.folder / "snapshots" / "0001.json").read_bytes())
    assert snapshot["changed"]["run.sh"]["executable"] is True
    assert snapshot["changed"]["new"]["executable"] is False


@pytest.mark.parametrize("disclosed", [False, True])
def test_the_budget_is_told_only_where_it_is_disclosed(cells: CellProject, disclosed: bool) -> None:
    cells.config["budget_disclosed"] = disclosed
    cells.budget(max_tool_calls=3, max_tokens=99)
    code = """
import json
def propose(task, history):
    return {"tool_name": json.dumps(task, sort_keys=True), "tokens": 1, "done": True}
"""
    told = json.loads(ran(cells, code).trace[0]["tool_name"])
    budget = {"tool_calls": 3, "tokens": 99, "wall_clock": 20}
    expected = {"id": "add", "prompt": "Correct add.\n", "workdir": "/work"}
    assert told == (expected | {"budget": budget} if disclosed else expected)


def test_its_history_is_its_own_delivered_proposals(cells: CellProject) -> None:
    code = """
import json
def propose(task, history):
    if len(history) == 3:
        return {"tool_name": json.dumps(history), "done": True}
    return {"files": {f"f{len(history)}": "x\\r\\n", "app.py": None}, "tokens": len(history)}
"""
    cell = ran(cells, code)
    expected = [
        {
            "files": {f"f{n}": "x\r\n", "app.py": None},
            "tool_name": None,
            "tokens": n,
            "done": False,
            "gave_up": False,
        }
        for n in range(3)
    ]
    assert json.loads(cell.trace[3]["tool_name"]) == expected


def test_what_it_writes_itself_is_not_part_of_the_artifact(cells: CellProject) -> None:
    code = """
import os, shutil
def tree():
    return sorted(os.path.relpath(os.path.join(r, n), "/work")
                  for r, d, f in os.walk("/work") for n in d + f)
def propose(task, history):
    seen = f"{tree()} {open('/work/app.py').read()!r}"
    if len(history) == 2:
        return {"tool_name": seen, "done": True}
    os.unlink("/work/app.py")
    os.mkdir("/work/app.py")
    os.makedirs("/work/sub/closed")
    os.symlink("/etc", "/work/link")
    os.symlink("closed", "/work/sub/link")
    os.mkfifo("/work/pipe")
    open("/work/sub/closed/scratch", "w").close()
    os.chmod("/work/sub/closed", 0)
    os.chdir("/tmp")
    return {"tool_name": seen, "files": {f"pkg/f{len(history)}.py": "1"}}
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "finished", cell.run["message"]
    text = repr((cells.root / "packs/small/fixtures/add/app.py").read_text())
    trees = [
        ["app.py"],
        ["app.py", "pkg", "pkg/f0.py"],
        ["app.py", "pkg", "pkg/f0.py", "pkg/f1.py"],
    ]
    assert [event["tool_name"] for event in cell.trace[:3]] == [f"{t} {text}" for t in trees]
    assert cell.changed() == {"pkg/f0.py": "1", "pkg/f1.py": "1"}
    assert cell.deleted() == []


def test_state_between_calls_is_its_own(cells: CellProject) -> None:
    """One process for all calls: an agent may keep what it likes outside the work folder."""
    code = """
import pathlib
COUNT = [0]
def propose(task, history):
    COUNT[0] += 1
    note = pathlib.Path("/tmp/note")
    note.write_text((note.read_text() if note.exists() else "") + "x")
    return {"tool_name": f"{COUNT[0]} {note.read_text()}", "done": len(history) == 2}
"""
    names = [event["tool_name"] for event in ran(cells, code).trace[:3]]
    assert names == ["1 x", "2 xx", "3 xxx"]


EXPLORER = """
import json, os
PSEUDO = ("/proc", "/sys", "/dev")
def propose(task, history):
    names, texts = [], []
    for root, folders, files in os.walk("/"):
        folders[:] = [f for f in folders if os.path.join(root, f) not in PSEUDO]
        for name in files:
            path = os.path.join(root, name)
            system = path.startswith(("/usr/", "/opt/env/", "/opt/python/", "/etc/"))
            if not system or name in ("test_app.py", "pack.jsonl", "run_cell.py"):
                names.append(path)
                try:
                    texts.append(open(path, errors="replace").read(100_000))
                except OSError as error:
                    texts.append(str(error))
    with open("/proc/self/mountinfo") as mounts:
        inside = [line.split()[4] for line in mounts]
    processes = [open(f"/proc/{p}/cmdline").read() for p in os.listdir("/proc") if p.isdigit()]
    found = {
        "names": names,
        "texts": texts,
        "mounts": inside,
        "processes": processes,
        "environment": dict(os.environ),
        "links": [os.readlink(f"/proc/self/{n}") for n in ("cwd", "root", "exe")],
        "host": os.uname().nodename,
        "roots": os.listdir("/"),
    }
    return {"files": {"found": json.dumps(found)}, "done": True}
"""


def test_it_sees_its_task_and_nothing_else(
    cells: CellProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-host")
    secret = "the hidden tests of this very task"
    hidden = {"tests/test_app.py": f"# {secret}\ndef test_one():\n    pass\n"}
    cells.task(hidden=hidden, solution={"app.py": f"# {secret}\n"})
    cells.task("other", hidden=hidden, must_not_contain=[secret])
    cells.agent(DONE, "neighbour")
    for control in ("reference", "neighbour"):
        cells.both(control)  # so that frozen graders, grades and other runs lie on the disk
    cells.agent(EXPLORER)
    found = json.loads(cells.run().changed()["found"])
    assert sorted(found["names"]) == [
        "/agent/agents/agent.py",
        "/opt/frozenbench/agent_loop.py",
        "/work/app.py",
    ]
    assert not any(secret in text for text in found["texts"])
    clean = {"HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED"}
    assert set(found["environment"]) - {"PWD"} == clean
    told = json.dumps([found["texts"], found["environment"], found["processes"], found["links"]])
    for trace in (str(cells.root), "sk-secret-of-the-host", "results/", str(Path.home()) + "/"):
        assert trace not in told
    assert found["host"] == "cell" != socket.gethostname()
    assert found["links"][:2] == ["/work", "/"]
    assert all(
        "agent_loop.py" in words or "bwrap" in words or not words for words in found["processes"]
    )
    assert {"work", "agent", "report"} & set(found["roots"]) == {"work", "agent"}


def test_it_can_change_nothing_but_its_own_folders(cells: CellProject) -> None:
    code = """
import os
def propose(task, history):
    found = []
    for path in ("/agent/agents/agent.py", "/opt/frozenbench/agent_loop.py", "/usr/x", "/etc/x",
                 "/x", "/opt/env/x", "/agent/x", "/work/x", "/tmp/x", "/home/agent/x"):
        try:
            open(path, "a").close()
            found.append(path)
        except OSError:
            pass
    return {"tool_name": " ".join(found), "done": True}
"""
    assert ran(cells, code).trace[0]["tool_name"] == "/work/x /tmp/x /home/agent/x"


def test_it_has_no_network(cells: CellProject) -> None:
    code = """
import json, socket
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "REACHED"
def propose(task, history):
    port = int(task["prompt"])
    found = {
        "host": attempt(lambda: socket.create_connection(("127.0.0.1", port), 2)),
        "six": attempt(lambda: socket.create_connection(("::1", port), 2)),
        "public": attempt(lambda: socket.create_connection(("192.0.2.1", 80), 2)),
        "name": attempt(lambda: socket.getaddrinfo("example.org", 80)),
    }
    return {"tool_name": json.dumps(found), "done": True}
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        cells.task(prompt=str(server.getsockname()[1]))
        found = json.loads(ran(cells, code).trace[0]["tool_name"])
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "REACHED" not in found.values(), found


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


def test_all_of_its_code_is_there_and_importable(cells: CellProject) -> None:
    cells.write({"main.py": "from parts.one import VALUE\n" + DONE}, "agents/whole")
    cells.write({"parts/__init__.py": "", "parts/one.py": "VALUE = 1\n"}, "agents/whole")
    cells.write({"extra.py": "X = 1\n"}, "agents")
    cells.agent(module="main", code=["agents/whole", "agents/extra.py"])
    assert cells.run().run["ending"] == "finished"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
#: Text as JSON can say it: halves of surrogate pairs too.
TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "files": st.dictionaries(TEXT, st.none() | TEXT | JSON, max_size=3) | JSON,
        "tool_name": TEXT | JSON,
        "tokens": st.integers(-1, 2 * 10**12) | JSON,
        "done": st.booleans() | JSON,
        "gave_up": st.booleans() | JSON,
    },
)


@given(NEARLY | JSON)
def test_any_json_is_a_proposal_or_a_crash(value: Any) -> None:
    """What gets through can be told to the agent again, and written in UTF-8."""
    try:
        proposal = parse_proposal(value)
    except AgentCrashed as error:
        str(error).encode("utf-8")
        return
    told_again = told(proposal)
    assert parse_proposal(told_again) == proposal
    assert {name: told_again[name] for name in value if value[name] is not None} == {
        name: item for name, item in value.items() if item is not None
    }
    assert proposal.use.total is None or 0 <= proposal.use.total <= 10**12
    json.dumps([sorted(proposal.files), proposal.tool_name], ensure_ascii=False).encode("utf-8")
