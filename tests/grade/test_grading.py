"""Real graders in real boxes: what proves green, what does not, and what nobody may break."""

from __future__ import annotations

import json
import socket
import time

import pytest
from cell_project import RIGHT, WRONG, CellProject, processes_with
from frozenbench.sandbox import TRUNCATED

#: Seconds within which a grade must end after its clock fell.
BOUND = 3.0

EXIT_ON = "import os\ndef add(a, b):\n    if a {when}:\n        {what}\n    return a + b\n"


def exits(when: str, what: str) -> str:
    """Return a right function that does `what` where its first argument is so."""
    return EXIT_ON.format(when=when, what=what)


#: Artifact (as what it changes) -> why it is not green; None: it is.
ARTIFACTS: dict[str, tuple[dict[str, str | None], str | None]] = {
    "right": ({"app.py": RIGHT}, None),
    "right with more files": ({"app.py": RIGHT, "notes/plan.md": "done", "x.py": "1 / 0"}, None),
    "wrong": ({}, "assertion"),
    "raises": ({"app.py": "def add(a, b):\n    raise KeyError(a)\n"}, "assertion"),
    "imports what is not there": ({"app.py": f"import numpy\n{RIGHT}"}, "import_error"),
    "does not parse": ({"app.py": "def add(:\n"}, "import_error"),
    "not UTF-8": ({"app.py": "# coding: none-such\n"}, "import_error"),
    "empty": ({"app.py": ""}, "import_error"),
    "deleted": ({"app.py": None}, "import_error"),
    "raises at import": ({"app.py": f"raise ValueError\n{RIGHT}"}, "import_error"),
    "os._exit at import": ({"app.py": f"import os\nos._exit(0)\n{RIGHT}"}, "no_tests_ran"),
    "sys.exit at import": ({"app.py": f"import sys\nsys.exit(0)\n{RIGHT}"}, "no_tests_ran"),
    "os._exit in the first test": ({"app.py": exits("== 1", "os._exit(0)")}, "no_tests_ran"),
    "os._exit in the last test": ({"app.py": exits("== -1", "os._exit(0)")}, "tampered"),
    "sys.exit in a test": ({"app.py": exits("== 0", "raise SystemExit(0)")}, "assertion"),
    "interrupt in the last test": (
        {"app.py": exits("== -1", "raise KeyboardInterrupt")},
        "tampered",
    ),
    "atexit, right": (
        {"app.py": f"import atexit, os\natexit.register(os._exit, 0)\n{RIGHT}"},
        None,
    ),
    "atexit, wrong": (
        {"app.py": f"import atexit, os\natexit.register(os._exit, 0)\n{WRONG}"},
        "assertion",
    ),
    "pytest.exit at import": (
        {"app.py": f"import pytest\npytest.exit('ok', returncode=0)\n{RIGHT}"},
        "import_error",
    ),
    "pytest.exit in the last test": (
        {"app.py": f"import pytest\n{exits('== -1', 'pytest.exit(str(a), returncode=0)')}"},
        "tampered",
    ),
    "skips its module": (
        {"app.py": "import pytest\npytest.skip('x', allow_module_level=True)\n"},
        "no_tests_ran",
    ),
    "skips each test": (
        {"app.py": "import pytest\ndef add(a, b):\n    pytest.skip('x')\n"},
        "no_tests_ran",
    ),
    "skips one test": (
        {"app.py": f"import pytest\n{exits('== -1', 'pytest.skip(str(a))')}"},
        "tampered",
    ),
    "xfails each test": (
        {"app.py": "import pytest\ndef add(a, b):\n    pytest.xfail('x')\n"},
        "no_tests_ran",
    ),
    "ends itself": ({"app.py": exits("== 0", "os.kill(os.getpid(), 9)")}, "assertion"),
    "segmentation fault": ({"app.py": exits("== 0", "os.kill(os.getpid(), 11)")}, "assertion"),
    "all of the memory": ({"app.py": exits("== 0", "'x' * 2**33")}, "assertion"),
    "threads without end": (
        {
            "app.py": "import threading, time\n"
            f"threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n{RIGHT}"
        },
        None,
    ),
    "prints what the harness would": (
        {
            "app.py": 'print(\'{"nonce": "", "test": "a", "outcome": "passed"}\\n3 passed\')\n'
            + WRONG
        },
        "assertion",
    ),
    "no text on its outputs": (
        {"app.py": f"import os\nos.write(1, b'\\xff\\xfe')\nos.write(2, b'\\x9b')\n{RIGHT}"},
        None,
    ),
    "wraps its output": (
        {"app.py": f"import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer)\n{RIGHT}"},
        None,
    ),
    "closes its output": ({"app.py": f"import sys\nsys.stdout.close()\n{RIGHT}"}, None),
    "closes its outputs": ({"app.py": f"import os\nos.close(1)\nos.close(2)\n{RIGHT}"}, None),
    "forks, both go on": ({"app.py": f"import os\nos.fork()\n{RIGHT}"}, "tampered"),
    "reads its input": ({"app.py": f"import sys\nassert sys.stdin.read() == ''\n{RIGHT}"}, None),
}


@pytest.mark.parametrize("case", ARTIFACTS)
def test_artifacts(cells: CellProject, case: str) -> None:
    artifact, failure = ARTIFACTS[case]
    graded = cells.verdict(artifact)
    verdict = graded.verdict
    assert (verdict.green, verdict.broken, verdict.failure) == (failure is None, False, failure)
    assert verdict.expected == 3
    assert graded.seconds < 10
    if verdict.green:
        assert verdict.passed == 3


def test_a_verdict_tells_how_many_passed_and_why_not(cells: CellProject) -> None:
    graded = cells.verdict({})
    assert (graded.verdict.expected, graded.verdict.passed) == (3, 1)
    assert graded.verdict.note == "2 failed, the first tests/test_app.py::test_small"
    assert "assert -1 == 3" in graded.log
    assert graded.log.rstrip().endswith(graded.verdict.note)


ENDLESS = {
    "at import": f"while True: pass\n{RIGHT}",
    "in a test": exits("== -1", "while True: pass"),
    "in C": exits("== 0", "import itertools; sum(itertools.repeat(1))"),
    "deaf": "import signal\nfor n in (1, 2, 3, 13, 14, 15): signal.signal(n, signal.SIG_IGN)\n"
    + exits("== 0", "while True: pass"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_the_graders_clock_ends_it(cells: CellProject, case: str) -> None:
    mark = str(time.monotonic_ns())
    child = (
        f"import subprocess\nsubprocess.Popen(['sleep', '600.{mark}'], start_new_session=True)\n"
    )
    cells.task(grade_timeout_s=1)
    begun = time.monotonic()
    graded = cells.verdict({"app.py": child + ENDLESS[case]})
    assert time.monotonic() - begun < 1 + BOUND
    assert 1 <= graded.seconds < 1 + BOUND
    assert (graded.verdict.green, graded.verdict.broken) == (False, False)
    assert graded.verdict.failure == "grader_timeout"
    assert processes_with(mark) == []


FORKS = {
    "fork": "os.fork() or time.sleep(600)",
    "fork and setsid": "os.fork() or os.setsid() or time.sleep(600)",
    "many": "[os.fork() or time.sleep(600) for _ in range(20)]",
}


@pytest.mark.parametrize("case", FORKS)
def test_what_it_starts_does_not_hold_the_verdict(cells: CellProject, case: str) -> None:
    mark = str(time.monotonic_ns())
    child = (
        f"import os, subprocess, time\nsubprocess.Popen(['sleep', '600.{mark}'])\n{FORKS[case]}\n"
    )
    graded = cells.verdict({"app.py": child + RIGHT})
    assert graded.verdict.green
    assert graded.seconds < 5
    assert processes_with(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [50, 300])
def test_a_flood_of_prints_changes_no_verdict(cells: CellProject, megabytes: int) -> None:
    flood = f"import os\nfor _ in range({megabytes}):\n    print('x' * 1_000_000)\n"
    graded = cells.verdict({"app.py": flood + RIGHT})
    assert graded.verdict.green
    assert TRUNCATED.decode() in graded.log
    assert len(graded.log) < 100_000
    inside = exits("== 0", f"print('x' * {megabytes}_000_000)")
    assert cells.verdict({"app.py": inside}).verdict.green
    assert cells.verdict({"app.py": flood + WRONG}).verdict.failure == "assertion"


FORGE = """
import os
for number in range(3, 256):
    try:
        os.write(number, {line!r})
    except OSError:
        pass
"""


@pytest.mark.parametrize(
    "line",
    [
        b'{"nonce": "", "test": "tests/test_app.py::test_small", "outcome": "passed"}\n',
        b'{"test": "tests/test_app.py::test_small", "outcome": "passed"}\n{"end": 0}\n',
        b"\xff\xfe{\n[[[\n" + b"[" * 30_000,
        b"x" * 60_000,
    ],
)
def test_lines_without_the_nonce_prove_nothing(cells: CellProject, line: bytes) -> None:
    graded = cells.verdict({"app.py": FORGE.format(line=line) + WRONG})
    assert not graded.verdict.green
    assert not graded.verdict.broken


def test_more_than_the_report_holds_is_never_green(cells: CellProject) -> None:
    flood = FORGE.format(line=b"x" * 50_000 + b"\n").replace(
        "range(3, 256)", "[*range(3, 256)] * 60"
    )
    graded = cells.verdict({"app.py": flood + RIGHT})
    assert not graded.verdict.green
    assert not graded.verdict.broken


LOOK = """
import json, os, socket
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "REACHED"
def test_it():
    found = {
        "environment": sorted(os.environ),
        "network": attempt(lambda: socket.create_connection(("192.0.2.1", 80), 2)),
        "loopback": attempt(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
        "cwd": os.getcwd(),
        "writes": [p for p in ("/opt/env", "/opt/frozenbench", "/usr", "/")
                   if attempt(lambda: open(p + "/x", "w")) == "REACHED"],
        "root": sorted(os.listdir("/")),
    }
    print("FOUND", json.dumps(found))
"""


def test_the_box_of_a_grader(cells: CellProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    with socket.create_server(("127.0.0.1", 0)) as server:
        look = LOOK.replace("PORT", str(server.getsockname()[1]))
        cells.task(hidden={"tests/test_app.py": look})
        log = cells.verdict({"app.py": RIGHT}).log
    line = next(line for line in log.splitlines() if "FOUND " in line)
    found = json.loads(line.partition("FOUND ")[2])
    assert "REACHED" not in (found["network"], found["loopback"])
    assert found["cwd"] == "/work"
    assert found["writes"] == []
    allowed = {"HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PWD"}
    own = {"PYTEST_CURRENT_TEST", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_VERSION"}
    assert set(found["environment"]) <= allowed | own
    assert "agent" not in found["root"]


def test_bytes_and_x_bits_reach_the_tests_unchanged(cells: CellProject) -> None:
    suite = b"""
import os
import pathlib
def test_bytes():\r
    assert pathlib.Path("crlf.txt").read_bytes() == b"a\\r\\nb\\n"\r
    assert pathlib.Path("data/blob").read_bytes() == b"\\x00\\xff\\r"
    assert pathlib.Path("tests/hidden.txt").read_bytes() == b"\\xef\\xbb\\xbfx\\r\\n"
def test_bits():
    assert os.access("run.sh", os.X_OK) and not os.access("crlf.txt", os.X_OK)
def test_new():
    assert pathlib.Path("new.txt").read_bytes() == b"c\\r\\n"
"""
    fixture = {"crlf.txt": b"a\r\nb\n", "data/blob": b"\x00\xff\r", "run.sh": "#!/bin/sh\r\n"}
    cells.task(
        fixture=fixture,
        hidden={"tests/test_app.py": suite, "tests/hidden.txt": b"\xef\xbb\xbfx\r\n"},
        solution={"new.txt": b"c\r\n"},
    )
    cells.lines["add"]["hidden"] = ["tests/test_app.py", "tests/hidden.txt"]
    (cells.root / "packs/small/fixtures/add/run.sh").chmod(0o755)
    assert cells.verdict({"new.txt": b"c\r\n"}).verdict.green
    assert cells.verdict({"new.txt": b"c\n"}).verdict.failure == "assertion"
