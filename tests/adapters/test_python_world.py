"""What a python agent sees, what it can reach, and what of its work counts."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, Cell, CellProject, proposing

DONE = f"""
def propose(task, history):
    return {{"files": {{"app.py": {RIGHT!r}}}, "tool_name": "write", "tokens": 12, "done": True}}
"""


def ran(cells: CellProject, code: str, **more: Any) -> Cell:
    cells.agent(code)
    return cells.run(**more)


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


def test_all_of_its_code_is_there_and_importable(cells: CellProject) -> None:
    cells.write({"main.py": "from parts.one import VALUE\n" + DONE}, "agents/whole")
    cells.write({"parts/__init__.py": "", "parts/one.py": "VALUE = 1\n"}, "agents/whole")
    cells.write({"extra.py": "X = 1\n"}, "agents")
    cells.agent(module="main", code=["agents/whole", "agents/extra.py"])
    assert cells.run().run["ending"] == "finished"
