"""Grading under `split`: one trusted process that judges one artifact after another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cell_project import RIGHT, WRONG, processes_with
from frozenbench.canonical import File
from frozenbench.grade.grading import FrozenGrader, Graded, Grading

TEST = "tests/test_app.py"
HIDDEN = """
import os
from pathlib import Path

from frozenbench_candidate import load

app = load("app.py")


def test_small():
    assert app.add(1, 2) == 3


def test_negative():
    assert app.add(-1, -2) == -3


def test_nothing_is_left_of_an_earlier_grading(tmp_path):
    assert not Path("left").exists()
    assert not list(tmp_path.iterdir())
    Path("left").write_text("x")
    (tmp_path / "left").write_text("x")
    for folder in (os.environ["TMPDIR"], os.environ["HOME"], "/tmp", "/dev/shm"):
        Path(folder, "left").touch(exist_ok=False)
"""
IDS = tuple(
    f"{TEST}::test_{name}"
    for name in ("small", "negative", "nothing_is_left_of_an_earlier_grading")
)


def grader(hidden: str = HIDDEN, seconds: float = 20) -> FrozenGrader:
    material = {
        "argv": ["python", "-m", "pytest", "-q", TEST],
        "hidden_folders": [],
        "grade_timeout_s": seconds,
        "grader_trust": "split",
    }
    return FrozenGrader("0" * 64, material, {TEST: File(hidden.encode())}, None, (TEST,))


def artifact(text: str, **more: str) -> dict[str, File]:
    return {"app.py": File(text.encode()), **{k: File(v.encode()) for k, v in more.items()}}


@pytest.fixture
def grading(pack_environment: Path) -> Iterator[Grading]:
    with Grading(grader(), pack_environment, "userns") as grading:
        yield grading


def judged(grading: Grading, text: str, **more: str) -> Graded:
    return grading.grade(artifact(text, **more), {}, IDS)


def test_each_artifact_gets_its_own_verdict_from_the_same_process(grading: Grading) -> None:
    for text, failure in ((RIGHT, None), (WRONG, "assertion"), ("x = (", "import_error")) * 2:
        verdict = judged(grading, text).verdict
        assert (verdict.green, verdict.failure) == (failure is None, failure), verdict


def test_what_the_candidate_prints_stands_in_the_log_apart(grading: Grading) -> None:
    found = judged(grading, f"print('3 passed in 0.01s')\n{WRONG}")
    own, printed = found.log.split("[the candidate printed]")
    assert "3 passed" not in own
    assert "2 failed, 1 passed" in own
    assert "3 passed" in printed
    assert "3 passed" not in judged(grading, WRONG).log


def test_the_clock_ends_one_grading_and_the_next_has_a_process_again(
    pack_environment: Path,
) -> None:
    mark = "frozenbench-split-endless-loop"
    endless = f"def add(a, b, mark={mark!r}):\n    while True:\n        pass\n"
    with Grading(grader(seconds=1.5), pack_environment, "userns") as grading:
        began = time.monotonic()
        assert judged(grading, endless).verdict.failure == "grader_timeout"
        assert time.monotonic() - began < 8
        assert judged(grading, RIGHT).verdict.green
    assert not processes_with(mark)


def test_a_test_that_ends_its_own_process_is_no_green(pack_environment: Path) -> None:
    hidden = HIDDEN.replace("assert app.add(-1, -2) == -3", "os._exit(0)")
    with Grading(grader(hidden), pack_environment, "userns") as grading:
        verdict = judged(grading, RIGHT).verdict
    assert (verdict.green, verdict.failure) == (False, "tampered")


def test_the_candidate_sees_no_hidden_file_and_no_way_to_the_report(grading: Grading) -> None:
    spy = (
        "import os\n"
        "seen = [os.path.join(r, f) for top in ('/work', '/opt/frozenbench', '/run', '/tmp')\n"
        "        for r, _, fs in os.walk(top) for f in fs]\n"
        "print(sorted(seen), [k for k in os.environ if 'FROZENBENCH' in k])\n"
    )
    log = judged(grading, spy + RIGHT).log
    printed = log.split("[the candidate printed]")[1]
    assert "app.py" in printed
    assert "test_app" not in printed
    assert "FROZENBENCH" not in printed
    assert "grade_split" not in printed


LIVES_ON = """
import os
import signal
import socket
import sys
import time

from frozenbench_candidate import load

app = load("app.py")


def test_nothing_of_an_earlier_grading_lives():
    held = socket.socket(socket.AF_UNIX)
    held.bind("\\0held")  # whoever lives on holds the name
    assert app.add(1, 2) == 3
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setpgid(0, 0)
            DOES
        os._exit(0)
    time.sleep(1)  # long enough to leave more ended processes than a box may hold
"""
LIVING = {
    "sleeps": "time.sleep(600)",
    "holds the output": "print('x'); sys.stdout.flush(); time.sleep(600)",
    "forks on": "exec('while True:\\n try: os.fork() and os._exit(0)\\n except OSError: pass')",
}


@pytest.mark.parametrize("isolation", ["userns", "process"])
@pytest.mark.parametrize("does", LIVING)
def test_what_a_hidden_test_leaves_running_ends_with_its_artifact(
    pack_environment: Path, does: str, isolation: str
) -> None:
    test = grader(LIVES_ON.replace("DOES", LIVING[does]))
    ids = (f"{TEST}::test_nothing_of_an_earlier_grading_lives",)
    with Grading(test, pack_environment, isolation) as grading:
        for _ in range(3):
            verdict = grading.grade(artifact(RIGHT), {}, ids).verdict
            assert verdict.green, verdict


FORKS = """
import os, sys
if os.fork() == 0:
    os.setsid()
    os.fork() and os._exit(0)
    sleeps = "import time; print('x', flush=True); time.sleep(600)"
    os.execv(sys.executable, [sys.executable, "-c", sleeps, MARK])
"""


@pytest.mark.parametrize("isolation", ["userns", "process"])
def test_what_a_candidate_leaves_running_ends_with_its_artifact(
    pack_environment: Path, isolation: str
) -> None:
    mark = f"frozenbench-split-living-on-{isolation}"
    text = FORKS.replace("MARK", repr(mark)) + RIGHT + "import time; time.sleep(0.3)\n"
    alone = HIDDEN[: HIDDEN.index("def test_negative")]  # below walls /tmp is everybody's
    with Grading(grader(alone), pack_environment, isolation) as grading:
        found = grading.grade(artifact(text), {}, IDS[:1])
        assert found.verdict.green, found.verdict
        assert "\nx\n" in found.log, "it has lived"
        assert not processes_with(mark)
