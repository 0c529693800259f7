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
