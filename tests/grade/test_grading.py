"""Real graders in real boxes: what proves green, what does not, and what nobody may break."""

from __future__ import annotations

import json
import socket
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cell_project import HIDDEN, RIGHT, WRONG, CellProject, processes_with
from frozenbench import layout
from frozenbench.build_environment import build_environment
from frozenbench.canonical import BadInput
from frozenbench.freeze_expected import read_expected
from frozenbench.grade.evidence import Verdict
from frozenbench.grade.grading import Graded, read_grader, store, stored
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

PASS_ALL = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
def pytest_collection_modifyitems(items):
    items[:] = []
print("PLANTED")
"""
PLANTED = "print('PLANTED', flush=True)\nimport os\nos._exit(0)\n"
ALWAYS = "def test_small(): pass\ndef test_zero(): pass\ndef test_negative(): pass\n"

#: What an artifact may plant beside a wrong or a right solution: it changes nothing.
PLANTS: dict[str, dict[str, str]] = {
    "conftest.py": {"conftest.py": PASS_ALL, "tests/conftest.py": PASS_ALL},
    "settings": {
        "pytest.ini": "[pytest]\naddopts = --collect-only -p evil\n",
        "tox.ini": "[pytest]\npython_functions = nothing\n",
        "setup.cfg": "[tool:pytest]\npython_files = nothing\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k nothing'\n",
        ".pytest.ini": "[pytest]\naddopts = --version\n",
    },
    "sitecustomize": {"sitecustomize.py": PLANTED, "usercustomize.py": PLANTED},
    "pytest": {"pytest.py": PLANTED, "_pytest/__init__.py": PLANTED, "pluggy.py": PLANTED},
    "standard library": {
        f"{name}.py": PLANTED
        for name in ("random", "json", "os", "importlib", "unittest", "pathlib", "ast", "types")
    },
    "plug-in": {
        "evil.py": PLANTED,
        "evil-1.dist-info/METADATA": "Name: evil\nVersion: 1\n",
        "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    },
    "path file": {"evil.pth": "import evil\n", "evil.py": PLANTED},
    "programs": {"python": "#!/bin/sh\nexit 0\n", "pytest": "#!/bin/sh\nexit 0\n"},
    "hidden file": {"tests/test_app.py": ALWAYS},
    "package in the hidden folder": {"tests/__init__.py": "", "tests/app.py": ALWAYS},
    "more tests": {"tests/test_more.py": "def test_more():\n    assert False\n"},
    "a file": {"tests": "a file where the hidden folder goes"},
    "a folder": {"tests/test_app.py/x": "a folder where the hidden file goes"},
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


@pytest.mark.parametrize("case", PLANTS)
def test_what_is_planted_changes_nothing(cells: CellProject, case: str) -> None:
    planted: dict[str, str | None] = {**PLANTS[case]}
    graded = cells.verdict(planted)
    assert (graded.verdict.green, graded.verdict.failure) == (False, "assertion")
    assert (graded.verdict.expected, graded.verdict.passed) == (3, 1)
    assert "PLANTED" not in graded.log


def test_a_right_artifact_is_green_whatever_lies_beside_it(cells: CellProject) -> None:
    planted: dict[str, str | None] = {}
    for case, files in PLANTS.items():
        if case not in ("more tests", "a file", "a folder"):
            planted.update(files)
    # The artifact's own imports find the standard library too.
    right = f"import random, json\nassert json.dumps(random.random())\n{RIGHT}"
    for more in ({}, PLANTS["more tests"], PLANTS["a folder"]):
        if more is PLANTS["a folder"]:
            planted = {k: v for k, v in planted.items() if not k.startswith("tests/")}
        graded = cells.verdict({**planted, **more, "app.py": right})
        assert graded.verdict.green, graded.log
        assert "PLANTED" not in graded.log


def test_code_beside_the_hidden_tests_is_the_candidates(cells: CellProject) -> None:
    """A package's own file may run before its tests do: it can end them, and prove nothing."""
    for code in (PLANTED, PASS_ALL, "import pytest\npytest.exit('ok', returncode=0)\n"):
        assert not cells.verdict({"tests/__init__.py": code}).verdict.green


def test_a_hidden_folder_replaces_the_whole_folder(cells: CellProject) -> None:
    cells.task(
        hidden={"checks/test_app.py": HIDDEN, "checks/data/x.txt": "x"}, grade=["pytest", "checks"]
    )
    planted = {"checks/test_more.py": "def test_more():\n    assert False\n", "checks/data/y": ""}
    assert cells.verdict({**planted, "app.py": RIGHT}).verdict.green
    found = cells.verdict({**planted, "checks/test_app.py": ALWAYS}).verdict
    assert (found.failure, found.expected) == ("assertion", 3)


def test_a_fixture_conftest_stands_as_it_was(cells: CellProject) -> None:
    fixture = {
        "app.py": WRONG,
        "conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
    }
    hidden = {
        "tests/test_app.py": "from app import add\ndef test_it(two):\n    assert add(two, 2) == 4\n"
    }
    cells.task(fixture=fixture, hidden=hidden, solution={"app.py": RIGHT})
    assert cells.verdict({"app.py": RIGHT, "conftest.py": PASS_ALL}).verdict.green
    assert cells.verdict({"app.py": RIGHT, "conftest.py": None}).verdict.failure == "assertion"
    assert cells.verdict({"conftest.py": PASS_ALL}).verdict.failure == "assertion"


def test_a_hidden_conftest_is_used(cells: CellProject) -> None:
    hidden = {
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
        "tests/support/numbers.py": "THREE = 3\n",
        "tests/test_app.py": "from app import add\nfrom support.numbers import THREE\n"
        "def test_it(two):\n    assert add(two, THREE) == 5\n",
    }
    cells.task(hidden=hidden)
    assert cells.verdict({"app.py": RIGHT}).verdict.green
    assert cells.verdict({}).verdict.failure == "assertion"


SUITE = """
import sys
import unittest
import pytest
from app import add

@pytest.mark.parametrize("n", [0, 1, "é", None, 2.5])
def test_many(n):
    assert add(1, 2) == 3

@pytest.mark.skip(reason="not today")
def test_skipped():
    assert False

@pytest.mark.skipif(sys.platform == "none", reason="never")
def test_not_skipped():
    assert add(0, 0) == 0

@pytest.mark.xfail(reason="known")
def test_known_fault():
    assert add(1, 1) == 3

@pytest.mark.xfail(reason="known, and it passes")
def test_passes_all_the_same():
    assert add(1, 2) == 3

class TestClass:
    def test_method(self):
        assert add(2, 2) == 4

class Case(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(add(2, 2), 4)
    def test_sub(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(add(n, 1), n + 1)

def test_output(capsys, capfd):
    print("x")

def test_streams(capsys):
    print("x")
    assert capsys.readouterr().out == "x\\n"
"""


def test_a_suite_of_all_kinds_of_tests(cells: CellProject) -> None:
    suite = SUITE.replace("def test_output(capsys, capfd):", "def test_output(capfd):")
    cells.task(hidden={"tests/test_app.py": suite})
    graded = cells.verdict({"app.py": RIGHT})
    plan = cells.plan()
    ids = read_expected(plan.expected_path(plan.tasks["add"]))
    assert ids is not None
    assert len(ids) == 11
    assert "tests/test_app.py::test_many[2.5]" in ids
    assert not any("skipped" in name and "not" not in name for name in ids)
    assert not any("known" in name or "all_the_same" in name for name in ids)
    assert graded.verdict.green, graded.log
    assert (graded.verdict.expected, graded.verdict.passed) == (11, 11)
    wrong = cells.verdict({}).verdict
    assert (wrong.failure, wrong.expected, wrong.passed) == ("assertion", 11, 3)


def test_without_a_solution_the_ids_come_from_the_source(cells: CellProject) -> None:
    suite = SUITE[: SUITE.index("@pytest.mark.skip(")]
    cells.task(fixture={"app.py": WRONG}, hidden={"tests/test_app.py": suite})
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.expected) == (True, 1)  # test_many[*]
    plan = cells.plan()
    assert read_expected(plan.expected_path(plan.tasks["add"])) == (
        "tests/test_app.py::test_many[*]",
    )
    assert cells.verdict({}).verdict.failure == "assertion"


def test_a_parameter_that_the_artifact_takes_away_is_missed(cells: CellProject) -> None:
    suite = """
import pytest
from app import CASES, add
@pytest.mark.parametrize("case", CASES)
def test_it(case):
    assert add(*case) == sum(case)
"""
    fixture = {"app.py": f"{WRONG}CASES = [(1, 2), (3, 4)]\n"}
    cells.task(
        fixture=fixture,
        hidden={"tests/test_app.py": suite},
        solution={"app.py": f"{RIGHT}CASES = [(1, 2), (3, 4)]\n"},
    )
    assert cells.verdict({"app.py": f"{RIGHT}CASES = [(1, 2), (3, 4)]\n"}).verdict.green
    assert cells.verdict({"app.py": f"{RIGHT}CASES = [(1, 2)]\n"}).verdict.failure == "tampered"
    assert cells.verdict({"app.py": f"{RIGHT}CASES = []\n"}).verdict.failure == "no_tests_ran"


BAD_SUITES = {
    "no test": ("X = 1\n", [], "no_tests_ran"),
    "empty": ("", [], "no_tests_ran"),
    "does not parse": ("def test_x(:\n", [], "import_error"),
    "imports what is not there": ("import none_such\ndef test_x(): pass\n", [], "import_error"),
    "all skipped": ("import pytest\npytestmark = pytest.mark.skip\n" + HIDDEN, [], "no_tests_ran"),
    "none selected": (HIDDEN, ["-k", "nothing"], "no_tests_ran"),
}


@pytest.mark.parametrize("case", BAD_SUITES)
def test_a_suite_that_tests_nothing_passes_nothing(cells: CellProject, case: str) -> None:
    suite, words, failure = BAD_SUITES[case]
    cells.task(hidden={"tests/test_app.py": suite}, grade=["pytest", *words, "tests/test_app.py"])
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.failure, found.expected) == (False, failure, 0)


def test_a_selection_is_the_whole_suite(cells: CellProject) -> None:
    for words in (["-k", "zero", "tests/test_app.py"], ["tests/test_app.py::test_zero"]):
        cells.task(grade=["python", "-m", "pytest", "-q", *words])
        found = cells.verdict({}).verdict  # right for zero alone
        assert (found.green, found.expected) == (True, 1)


def test_a_command_line_that_pytest_refuses_is_a_broken_grader(cells: CellProject) -> None:
    cells.task(grade=["pytest", "--no-such-option", "tests/test_app.py"])
    graded = cells.verdict({"app.py": RIGHT})
    assert (graded.verdict.green, graded.verdict.broken) == (False, True)
    assert "--no-such-option" in graded.log


def test_an_environment_without_pytest_is_a_broken_grader(
    cells: CellProject, tmp_path: Path
) -> None:
    cells.verdict({})  # the expected ids, while pytest is there
    cells.environment = tmp_path / "empty"
    build_environment(None, cells.environment)
    plan = cells.plan()
    known = tmp_path / "expected" / plan.expected_path(plan.tasks["add"]).name
    known.parent.mkdir()
    known.write_bytes(plan.expected_path(plan.tasks["add"]).read_bytes())
    graded = cells.verdict({"app.py": RIGHT})
    assert (graded.verdict.green, graded.verdict.broken) == (False, True)
    assert "No module named 'pytest'" in graded.log


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
for number in range(3, 20):
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
    flood = FORGE.format(line=b"x" * 50_000 + b"\n").replace("range(3, 20)", "[*range(3, 20)] * 60")
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


# Commands without test ids.


def by_status(cells: CellProject, grade: list[str], **line: Any) -> None:
    script = "from app import add\nimport sys\nsys.exit(0 if add(1, 2) == 3 else 3)\n"
    hidden = {"check.py": script, "check.sh": "#!/bin/sh\npython check.py && echo fine\n"}
    cells.task(hidden=hidden, grade=grade, grader_trust="exit-status", **line)
    cells.lines["add"]["hidden"] = [*hidden]
    (cells.root / "packs/small/check.sh").chmod(0o755)


COMMANDS = {
    "python": ["python", "check.py"],
    "python3": ["python3", "check.py"],
    "shell": ["sh", "-c", "python check.py && echo fine"],
    "hidden program": ["./check.sh"],
    "pytest": ["pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "app.py"],
}


@pytest.mark.parametrize("case", [name for name in COMMANDS if name != "pytest"])
def test_a_command_is_green_by_its_status(cells: CellProject, case: str) -> None:
    by_status(cells, COMMANDS[case])
    graded = cells.verdict({"app.py": RIGHT})
    assert graded.verdict == Verdict(green=True)
    found = cells.verdict({}).verdict
    assert (found.green, found.failure) == (False, "assertion")
    assert found.note.startswith("the command ended with ")
    assert (found.expected, found.passed) == (None, None)
    assert cells.verdict({"app.py": None}).verdict.failure == "assertion"


def test_pytest_by_its_status(cells: CellProject) -> None:
    by_status(cells, COMMANDS["pytest"])
    right = 'def add(a, b):\n    """\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n'
    assert cells.verdict({"app.py": right}).verdict.green
    assert cells.verdict({"app.py": right.replace("a + b", "a")}).verdict.failure == "assertion"
    assert cells.verdict({"app.py": RIGHT}).verdict.failure == "assertion"  # status 5: no test


@pytest.mark.parametrize("program", ["no-such-program", "/opt/no/such", "./no-such.sh"])
def test_a_program_that_is_not_there_is_a_broken_grader(cells: CellProject, program: str) -> None:
    by_status(cells, [program, "check.py"])
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.broken) == (False, True)
    assert found.note == "the command cannot start: No such file or directory"


@pytest.mark.parametrize("rest", ["sleep 600.{} & true", "setsid sleep 600.{} & true"])
def test_what_a_command_starts_does_not_hold_the_verdict(cells: CellProject, rest: str) -> None:
    mark = str(time.monotonic_ns())
    by_status(cells, ["sh", "-c", rest.format(mark)])
    graded = cells.verdict({})
    assert graded.verdict.green
    assert graded.seconds < 5
    assert processes_with(mark) == []


def test_the_graders_clock_ends_a_command(cells: CellProject) -> None:
    mark = str(time.monotonic_ns())
    by_status(cells, ["sh", "-c", f"trap '' TERM; sleep 600.{mark}"], grade_timeout_s=1)
    graded = cells.verdict({})
    assert graded.verdict.failure == "grader_timeout"
    assert 1 <= graded.seconds < 1 + BOUND
    assert processes_with(mark) == []


def test_a_command_cannot_end_its_harness_and_be_green(cells: CellProject) -> None:
    by_status(cells, ["sh", "-c", "kill -9 $PPID; sleep 1"])
    found = cells.verdict({}).verdict
    assert (found.green, found.broken, found.failure) == (False, False, "tampered")


def test_a_command_that_a_signal_ends_is_not_green(cells: CellProject) -> None:
    by_status(cells, ["sh", "-c", "kill -9 $$"])
    assert cells.verdict({}).verdict.failure == "assertion"


# Frozen graders and stored verdicts.


def test_a_frozen_grader_cannot_be_changed(cells: CellProject) -> None:
    cells.verdict({})
    (folder,) = Path("results/frozen/graders").iterdir()
    read_grader(folder)
    for name in ("hidden/tests/test_app.py", "solution/app.py"):
        path = folder / name
        before = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(before + b"\n")
        with pytest.raises(BadInput, match="was changed after it was frozen; cure"):
            read_grader(folder)
        path.write_bytes(before)
    (folder / "hidden" / "tests" / "more.py").write_text("")
    with pytest.raises(BadInput, match="was changed after it was frozen"):
        read_grader(folder)


def test_the_first_verdict_under_a_key_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = Graded(Verdict(True, expected=2, passed=2, ids=("a", "é")), 1.5, "log\r\n")
    second = Graded(Verdict(False, failure="assertion"), 0.5, "other")
    key = "ab" + "0" * 62
    assert stored(key) is None
    assert store(key, first) == first
    assert stored(key) == first
    assert store(key, second) == first
    assert stored(key) == first
    path = layout.verdict(key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_broken_grader_has_no_stored_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = Graded(Verdict(False, broken=True, note="did not start"), 0.1, "")
    key = "cd" + "0" * 62
    assert store(key, broken) == broken
    assert stored(key) is None
    assert not (tmp_path / "results").exists()
    mended = replace(broken, verdict=Verdict(True, expected=1, passed=1, ids=("a",)))
    assert store(key, mended) == mended == stored(key)
