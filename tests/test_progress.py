"""What a run says while it works."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
from frozenbench.gateway.ledger import Ledger, Spending
from frozenbench.progress import Count, ProgressHandler, show_progress, spoken
from hypothesis import given
from hypothesis import strategies as st


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def record(event: str | None, level: int = logging.INFO, msg: str = "", **told: object):
    made = logging.LogRecord("snakemake", level, __file__, 1, msg, None, None)
    made.__dict__.update(told, event=event)
    return made


def job(number: int, rule: str, message: str, *outputs: str) -> logging.LogRecord:
    return record(
        "job_info", jobid=number, rule_name=rule, rule_msg=message, output=list(outputs), log=[]
    )


def handler(stream: io.StringIO, now: list[float], cells: int = 4) -> ProgressHandler:
    return ProgressHandler(stream, Count(cells, 1, now[0]), clock=lambda: now[0])


def test_a_line_tells_cells_jobs_tokens_time_left_and_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = {"meters": {"tokens": 1500}, "material": {"agent_sheet": {"adapter": "chat"}}}
    Path("run.json").write_text(json.dumps(run))
    now, stream = [100.0], io.StringIO()
    shown = handler(stream, now)
    shown.emit(job(1, "run_cell", "run_cell: a t1 calls-2 repeat 0", "run.json"))
    shown.emit(job(2, "grade_cell", "grade_cell: a t0 calls-2 repeat 0"))
    now[0] = 120.0
    shown.emit(record("job_finished", job_id=1))
    shown.emit(record("job_finished", job_id=2))
    shown.emit(job(3, "run_cell", "run_cell: b t1 calls-2 repeat 0"))
    shown.emit(record("progress", done=10, total=20))
    assert stream.getvalue() == (
        "cells 2 of 4 | jobs 10 of 20 | 1,500 tokens | about 20 s left"
        " | now run_cell: b t1 calls-2 repeat 0 (0 s)\n"
    )


def test_up_to_three_jobs_that_run_are_named_the_longest_first() -> None:
    count = Count(9, 0, 0.0)
    for number, since in enumerate((8.0, 5.0, 9.0, 6.0, 7.0)):
        count.running[number] = ("run_cell", f"run_cell: cell {number}", since)
    assert count.line(10.0) == (
        "cells 0 of 9 | now run_cell: cell 1 (5 s), run_cell: cell 3 (4 s), run_cell: cell 4 (3 s) and "
        "2 more"
    )


def test_what_was_paid_so_far(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "spend.jsonl")
    stream, count = io.StringIO(), Count(4, 1, 0.0)
    shown = ProgressHandler(stream, count, lambda: 100.0, Spending(ledger, 2.5, "EUR"))
    shown.emit(record("run_info"))
    ledger.add({"key": "k", "spend": 0.75, "currency": "EUR", "estimated": False})
    shown.emit(record("run_info"))
    assert stream.getvalue() == "cells 1 of 4\ncells 1 of 4 | 0.75 EUR of 2.50 EUR paid\n"


def test_a_pipe_gets_a_line_now_and_then_and_a_terminal_one_line_that_is_rewritten() -> None:
    now = [0.0]
    pipe, terminal = io.StringIO(), Terminal()
    for stream in (pipe, terminal):
        shown = handler(stream, now)
        for done in range(1, 101):
            now[0] += 0.5
            shown.emit(record("progress", done=done, total=100))
        shown.close()
    assert len(pipe.getvalue().splitlines()) <= 4
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().count("\r") == 100


def test_a_failed_job_is_told_by_its_own_log_and_not_by_its_inputs(tmp_path: Path) -> None:
    log = tmp_path / "grade.log"
    log.write_text("pack: t1: hidden: is missing; cure: add it\n")
    stream = io.StringIO()
    shown = handler(stream, [0.0])
    shown.emit(job(1, "grade_cell", "grade_cell: a t1"))
    failure = record(
        "job_error",
        logging.ERROR,
        jobid=1,
        rule_name="grade_cell",
        rule_msg="grade_cell: a t1",
        input=["x"] * 1000,
        log=[str(log)],
        msg=None,
    )
    shown.emit(failure)
    shown.emit(record(None, logging.WARNING, "3 files are gone"))
    shown.emit(record(None, logging.INFO, "Select jobs to execute..."))
    shown.emit(record(None, logging.ERROR, "WorkflowError:\nAt least one job did not complete"))
    assert stream.getvalue().splitlines() == [
        "FAILED grade_cell: a t1",
        "pack: t1: hidden: is missing; cure: add it",
        "3 files are gone",
    ]


def test_only_the_default_log_gives_way() -> None:
    logger = logging.getLogger("test_only_the_default_log_gives_way")
    own, default = logging.NullHandler(), logging.StreamHandler(io.StringIO())
    default.name = "DefaultStreamHandler"
    logger.addHandler(own)
    show_progress(logger, 1, 0)
    assert logger.handlers == [own]
    logger.addHandler(default)
    show_progress(logger, 1, 0)
    assert logger.handlers[0] is own
    assert isinstance(logger.handlers[1], ProgressHandler)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 10**6))
def test_time_left_is_never_negative(done: int, jobs: int, passed: float) -> None:
    count = Count(1, 0, 0.0, jobs=jobs, done=done)
    left = count.seconds_left(passed)
    assert left is None or left >= 0
    assert count.line(passed)


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.4, "3 s"), (89, "89 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_spoken(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
