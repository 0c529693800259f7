"""The command adapter: any program, its arguments, its report, its clock, and its tree."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from cell_project import RIGHT, Cell, CellProject, processes_with

#: Seconds within which a run must end after its clock fell.
BOUND = 3.0


def program(cells: CellProject, source: str, *words: str, **fields: Any) -> None:
    """Add an agent whose command is a Python program."""
    cells.agent(source, adapter="command", argv=["python", "agents/agent.py", *words], **fields)


def shell(cells: CellProject, script: str, **fields: Any) -> None:
    """Add an agent whose command is a shell script, without any code of its own."""
    cells.agent(adapter="command", argv=["sh", "-c", script, "sh"], **fields)


def ran(cells: CellProject, source: str, *words: str) -> Cell:
    program(cells, source, *words)
    return cells.run()


@pytest.fixture(autouse=True)
def clock_alone(cells: CellProject) -> None:
    """The clock is the only meter that can be enforced on a command."""
    cells.budget(max_seconds=20)


TELL = """
import json, os, sys
told = {"argv": sys.argv[1:], "prompt": open(sys.argv[-1]).read(), "cwd": os.getcwd(),
        "environment": dict(os.environ), "tree": sorted(os.listdir(sys.argv[-2])),
        "file": __file__, "python": sys.executable}
json.dump(told, open("told.json", "w"))
"""


def test_it_gets_task_folder_and_prompt_behind_its_words(cells: CellProject) -> None:
    cell = ran(cells, TELL, "--flag", "a b", "$HOME;")
    assert cell.run["ending"] == "finished"
    told = json.loads(cell.changed()["told.json"])
    assert told["argv"] == ["--flag", "a b", "$HOME;", "add", "/work", "/task/prompt.md"]
    assert told["prompt"] == "Correct add.\n"
    assert told["cwd"] == "/work"
    assert told["tree"] == ["app.py"]
    assert told["file"] == "/agent/agents/agent.py"
    assert told["python"] == "/opt/env/bin/python"
    assert told["environment"]["FROZENBENCH_REPORT"] == "/report/report.json"
    clean = {"HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED"}
    assert set(told["environment"]) - {"PWD"} == clean | {"FROZENBENCH_REPORT"}


def test_the_budget_is_told_only_where_it_is_disclosed(cells: CellProject) -> None:
    cells.config["budget_disclosed"] = True
    told = json.loads(ran(cells, TELL).changed()["told.json"])
    assert json.loads(told["environment"]["FROZENBENCH_BUDGET"]) == {"wall_clock": 20}


def test_only_words_that_name_code_are_replaced(cells: CellProject) -> None:
    cells.write({"tool/data/x.txt": "", "tool/run.sh": "#!/bin/sh\n"}, "agents")
    long = "x" * 300  # longer than a file's name can be
    words = ["agents/tool/data", "./agents/tool/data/x.txt", ".", "..", "/usr/bin/env", "agents/no"]
    words += ["agents/tool/../tool/run.sh", "é", long]
    program(cells, TELL, *words, code=["agents/agent.py", "agents/tool"])
    told = json.loads(cells.run().changed()["told.json"])
    assert told["argv"][: len(words)] == [
        "/agent/agents/tool/data",
        "/agent/agents/tool/data/x.txt",
        *words[2:],
    ]


def test_a_file_of_its_code_can_be_the_program(cells: CellProject) -> None:
    cells.write({"run.sh": '#!/bin/sh\necho "$# $1 $2 $3" > told\n'}, "agents")
    (cells.root / "agents" / "run.sh").chmod(0o755)
    cells.agent(adapter="command", argv=["agents/run.sh"], code=["agents/run.sh"])
    assert cells.run().changed() == {"told": "3 add /work /task/prompt.md\n"}


def test_a_program_by_its_absolute_path(cells: CellProject) -> None:
    argv = ["/bin/sh", "-c", "echo ran > told", "sh"]
    cells.agent("", adapter="command", argv=argv)
    assert cells.run().changed() == {"told": "ran\n"}


def test_its_report_is_metered(cells: CellProject) -> None:
    report = {
        "tokens_input": 100,
        "tokens_output": 23,
        "spend": 0.5,
        "currency": "EUR",
        "tool_calls": 7,
        "gave_up": False,
    }
    shell(cells, f"echo '{json.dumps(report)}' > $FROZENBENCH_REPORT")
    run = cells.run().run
    meters = run["meters"]
    assert run["ending"] == "finished"
    assert (meters["tokens"], meters["tokens_input"], meters["tokens_output"]) == (123, 100, 23)
    assert (meters["tool_calls"], meters["edit_rounds"]) == (7, 0)
    assert (meters["tokens_cached"], meters["model_calls"]) == (None, None)
    assert (run["measured"]["spend"], run["measured"]["currency"]) == (0.5, "EUR")


def test_it_may_give_up(cells: CellProject) -> None:
    shell(cells, "echo '{\"gave_up\": true}' > $FROZENBENCH_REPORT")
    assert cells.both().outcome == ("FAIL_TEST", "no_change", None)
    shell(cells, "touch tried; echo '{\"gave_up\": true}' > $FROZENBENCH_REPORT")
    cell = cells.both()
    assert cell.run["ending"] == "gave_up"
    assert cell.outcome == ("FAIL_TEST", "gave_up", None)


REPORTS = {
    "none": "true",
    "empty": ": > $R",
    "no JSON": "echo 'tokens 12' > $R",
    "no text": "printf '\\377\\376' > $R",
    "no object": "echo '[1, 2]' > $R",
    "cut": 'printf \'{"tool_calls": 3, "gave_up": tr\' > $R',
    "a tower of brackets": "head -c 60000 /dev/zero | tr '\\0' '[' > $R",
    "huge": "(printf '{\"tool_calls\": 3, \"x\": \"'; head -c 70000 /dev/zero | tr '\\0' 'x';"
    " printf '\"}') > $R",
    "a link": "echo '{\"tool_calls\": 3}' > /work/r.json; ln -s /work/r.json $R",
    "a link to a file of the host": "ln -s /etc/passwd $R",
    "a folder": "mkdir $R; echo '{\"tool_calls\": 3}' > $R/report.json",
    "a pipe": "mkfifo $R",
    "unreadable": 'echo \'{"tool_calls": "3"}\' > $R; chmod 000 $R',
}


@pytest.mark.parametrize("case", REPORTS)
def test_a_report_that_is_none_tells_nothing(cells: CellProject, case: str) -> None:
    shell(cells, f"R=$FROZENBENCH_REPORT; {REPORTS[case]}")
    run = cells.run().run
    assert run["ending"] == "finished"
    meters = run["meters"]
    assert [meters[name] for name in ("tokens", "tokens_input", "tool_calls")] == [None] * 3
    assert (run["measured"]["spend"], run["measured"]["currency"]) == (None, None)


FIELDS = [
    {"tool_calls": "3"},
    {"tool_calls": 3.0},
    {"tool_calls": -1},
    {"tool_calls": True},
    {"tool_calls": 10**30},
    {"tokens_input": None, "tokens_output": 4},
    {"tokens_input": [1], "tokens_output": {}},
    {"spend": "1", "currency": "EUR"},
    {"spend": True, "currency": "EUR"},
    {"spend": -1, "currency": "EUR"},
    {"spend": float("nan"), "currency": "EUR"},
    {"spend": float("inf"), "currency": "EUR"},
    {"spend": 10**400, "currency": "EUR"},
    {"spend": 1.5},
    {"spend": 1.5, "currency": "euros"},
    {"spend": 1.5, "currency": "\ud800"},
    {"currency": "EUR"},
    {"gave_up": 1},
    {"gave_up": "true"},
]


@pytest.mark.parametrize("report", FIELDS, ids=lambda report: json.dumps(report)[:40])
def test_a_field_of_another_form_tells_nothing(cells: CellProject, report: dict[str, Any]) -> None:
    program(
        cells,
        f"import os\nopen(os.environ['FROZENBENCH_REPORT'], 'w').write({json.dumps(report)!r})\n",
    )
    run = cells.run().run
    assert run["ending"] == "finished"
    assert (run["meters"]["tokens"], run["meters"]["tool_calls"]) == (None, None)
    assert (run["measured"]["spend"], run["measured"]["currency"]) == (None, None)


ENDS = ["exit 1", "exit 137", "kill -SEGV $$", "kill -TERM $$", "kill -KILL $$"]
ENDS += ["echo timeout; exit 124"]


@pytest.mark.parametrize("last", ENDS)
def test_its_exit_status_decides_nothing(cells: CellProject, last: str) -> None:
    shell(cells, f"echo 'def add(a, b): return a + b' > app.py; {last}")
    cell = cells.both()
    assert cell.run["ending"] == "finished"
    assert cell.outcome == ("PASS", "finished", None)


@pytest.mark.parametrize("last", ["exit 0", "echo timeout; exit 124"])
def test_neither_does_it_make_wrong_right(cells: CellProject, last: str) -> None:
    shell(cells, f"echo 'x = 1' >> app.py; {last}")
    assert cells.both().outcome == ("FAIL_TEST", "assertion", None)


def test_its_exit_status_is_recorded(cells: CellProject) -> None:
    shell(cells, "exit 3")
    assert cells.run().trace[0]["note"] == "status 3, signal None"


LOOPS = {
    "busy": "while :; do :; done",
    "asleep": "sleep 600",
    "deaf": "trap '' TERM INT HUP; while :; do sleep 1; done",
}


@pytest.mark.parametrize("case", LOOPS)
def test_green_when_the_clock_falls_is_green_at_cap(cells: CellProject, case: str) -> None:
    cells.budget(max_seconds=1)
    shell(cells, f"echo 'def add(a, b): return a + b' > app.py; {LOOPS[case]}")
    cell = cells.both()
    assert cell.run["ending"] == "cap:wall_clock"
    assert 1 <= cell.run["measured"]["seconds"] <= 1 + BOUND
    assert cell.outcome == ("PASS", "green_at_cap", "wall_clock")
    meters = cell.grade["meters"]
    assert meters["edit_rounds"] == 1
    assert (meters["tokens"], meters["tool_calls"]) == (None, None)  # unknown, never 0


def test_what_it_has_not_done_when_the_clock_falls_does_not_count(cells: CellProject) -> None:
    cells.budget(max_seconds=1.5)
    program(
        cells,
        f"import time\nopen('a', 'w').write('x')\ntime.sleep(30)\n"
        f"open('app.py', 'w').write({RIGHT!r})\n",
    )
    cell = cells.both()
    assert cell.changed() == {"a": "x"}
    assert cell.run["measured"]["seconds"] < 1.5 + BOUND
    assert cell.outcome == ("EXHAUSTED", "wall_clock", "wall_clock")


def test_every_step_sees_the_tree_at_the_cap_too(cells: CellProject) -> None:
    cells.budget(max_seconds=1)
    cells.config["grading"] = "every_step"
    shell(cells, "echo 'def add(a, b): return a + b' > app.py; sleep 600")
    cell = cells.both()
    assert cell.outcome == ("PASS", "finished", None)
    assert cell.grade["graded_step"] == 1
    assert cell.grade["meters"]["tokens"] is None


@pytest.mark.parametrize("seconds", [0.8, 20])
def test_nothing_outlives_it(cells: CellProject, seconds: float) -> None:
    mark = str(time.monotonic_ns())
    cells.budget(max_seconds=seconds)
    wait = "" if seconds == 20 else "sleep 600"
    shell(
        cells,
        f"(trap '' HUP TERM; sleep 600.{mark}) & setsid sleep 601.{mark} & "
        f"(setsid sh -c 'sleep 602.{mark}; touch /work/late' &); {wait}",
    )
    cell = cells.run()
    assert cell.run["ending"] == ("finished" if seconds == 20 else "cap:wall_clock")
    assert processes_with(mark) == []
    assert cell.seconds < 1 + BOUND
    assert cell.run["meters"]["edit_rounds"] == 0


def test_only_regular_files_are_taken_out(cells: CellProject) -> None:
    code = """
import os, socket
os.symlink("/etc/passwd", "to_file")
os.symlink("/", "to_root")
os.symlink("app.py", "to_own")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("empty")
open(b"not-\\xff-text", "w").close()
os.makedirs("a/b/c")
open("a/b/c/file", "w").write("kept")
os.link("a/b/c/file", "twin")
open("run", "w").write("x")
os.chmod("run", 0o755)
open("closed", "w").write("read all the same")
os.chmod("closed", 0)
"""
    cell = ran(cells, code)
    assert cell.run["ending"] == "finished"
    found = cell.changed()
    assert found == {
        "a/b/c/file": "kept",
        "twin": "kept",
        "run": "x",
        "closed": "read all the same",
    }
    assert cell.deleted() == []
    for said in ("to_file: is a link", "pipe: is no regular file", "its name is not UTF-8"):
        assert said in cell.log


def test_links_in_place_of_files_delete_them(cells: CellProject) -> None:
    shell(cells, "rm app.py; ln -s /etc/passwd app.py")
    cell = cells.run()
    assert (cell.changed(), cell.deleted()) == ({}, ["app.py"])


TOO_MUCH = {
    "too many": "for n in range(2100): open(f'f{n}', 'w').close()",
    "too large": "open('big', 'w').truncate(9 * 1024 * 1024)",
    "too large in all": "for n in range(5): open(f'f{n}', 'wb').write(bytes(8 * 1024 * 1024 - 1))",
    "too deep": "import os\nfor n in range(600):\n    os.mkdir('d')\n    os.chdir('d')",
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_a_tree_beyond_the_limits_is_no_artifact(cells: CellProject, case: str) -> None:
    # Right as it is: what passes the limits does not count, so the starting tree is graded.
    program(cells, f"open('app.py', 'w').write({RIGHT!r})\n{TOO_MUCH[case]}\n")
    cell = cells.both()
    assert cell.run["ending"] == "finished"
    assert cell.run["artifact_limit"] is True
    assert cell.run["steps"][0]["snapshot"] is None
    assert cell.outcome == ("FAIL_TEST", "artifact_limit", None)


def test_a_tree_beyond_the_limits_at_the_cap_is_none_either(cells: CellProject) -> None:
    cells.budget(max_seconds=2)
    source = f"open('app.py', 'w').write({RIGHT!r})\n{TOO_MUCH['too many']}\n"
    program(cells, f"{source}import time\ntime.sleep(600)\n")
    cell = cells.both()
    assert cell.run["artifact_sha256"] == cell.grade["artifact_sha256"]
    assert cell.run["steps"] == []
    assert "more than 2000 files" in cell.log
    assert cell.outcome == ("EXHAUSTED", "wall_clock", "wall_clock")


def test_caches_are_no_change(cells: CellProject) -> None:
    shell(cells, "mkdir -p .git a/__pycache__; touch .git/HEAD a/__pycache__/x.pyc y.pyc")
    cell = cells.both()
    assert cell.run["meters"]["edit_rounds"] == 0
    assert cell.outcome == ("FAIL_TEST", "no_change", None)


def test_bytes_pass_unchanged(cells: CellProject) -> None:
    cells.task("crlf", fixture={"a.txt": b"a\r\nb\n", "b.txt": b"\xff\r"})
    cells.agent(adapter="command", argv=["sh", "-c", "cat a.txt b.txt > c; cmp a.txt a.txt", "sh"])
    cell = cells.run(task="crlf")
    assert cell.changed() == {"c": b"a\r\nb\n\xff\r"}
    assert cell.deleted() == []


def test_a_file_beyond_the_sandbox_limit_is_a_resource_limit(cells: CellProject) -> None:
    shell(cells, "exec head -c 70000000 /dev/zero > big")
    cell = cells.both()
    assert cell.run["ending"] == "resource_limit"
    assert cell.outcome == ("ERROR", "resource_limit", None)
    assert cell.run["meters"]["tokens"] is None


def test_a_flood_of_output_is_cut(cells: CellProject) -> None:
    shell(cells, "head -c 100000000 /dev/zero | tr '\\0' 'x'; printf '\\377'; touch ended")
    cell = cells.run()
    assert cell.changed() == {"ended": ""}
    assert (cell.folder / "log").stat().st_size < 2_000_000
    assert "[truncated]" in cell.log


def test_it_sees_no_hidden_file_and_no_host(cells: CellProject) -> None:
    cells.both("reference")
    names = ["test_app.py", "pack.jsonl", "run.json", "grade.json", "grader.json"]
    wanted = " -o ".join(f"-name {name}" for name in names)
    shell(
        cells,
        f"find / {wanted} 2> errors > found; find /work /task /report /agent -type f > own 2>&1;"
        " tr '\\0' '\\n' < /proc/self/environ > told",
    )
    changed = cells.run().changed()
    assert changed["found"] == ""
    # Nothing here has code, so that there is no /agent.
    assert sorted(str(changed["own"]).split("\n")) == sorted(
        [
            "",
            *("/task/prompt.md", "/work/app.py", "/work/errors", "/work/found", "/work/own"),
            "find: \u2018/agent\u2019: No such file or directory",
        ]
    )
    assert "/report/report.json" in str(changed["told"])
    assert str(cells.root) not in str(changed["told"])


def test_the_start_of_the_box_is_off_its_clock(cells: CellProject) -> None:
    cells.budget(max_seconds=1.2)
    shell(cells, "sleep 0.6; touch ended")
    cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert cell.changed() == {"ended": ""}
    assert 0.6 <= cell.run["measured"]["seconds"] <= 1.2
