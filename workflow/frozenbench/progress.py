"""What a run says while it works: cells done of all, what runs now, tokens, time left, and faults.

Snakemake's own log has four lines a job and, for a job that fails, all its inputs, which are
thousands for a table. `FROZENBENCH_LOG=snakemake` brings it back; dry runs always have it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from frozenbench.canonical import read_json
from frozenbench.gateway.ledger import Spending

#: The variable that brings Snakemake's own log back.
VARIABLE = "FROZENBENCH_LOG"

#: In a pipe: one line after this time, s.
PIPE_SECONDS = 15.0

#: How many of the jobs that run are named.
SHOWN = 3

#: Rules that every cell has one job of.
RUN, GRADE = "run_cell", "grade_cell"

#: Errors in Snakemake's words that say nothing which a job's own log does not.
_EMPTY_WORDS = (
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not",
    "RuleException:\nCalledProcessError",
)


@dataclass
class Count:
    """How far a run is. Times are monotonic, s."""

    cells: int  # of the experiment
    graded: int  # before this run began
    began: float
    jobs: int = 0  # of this run
    done: int = 0
    failed: int = 0
    tokens: int = 0
    unreported: int = 0  # runs that do not say how many tokens they took
    paid: str = ""  # what was paid so far, where prices are known
    running: dict[int, tuple[str, str, float]] = field(default_factory=dict)  # rule, label, since

    def line(self, now: float) -> str:
        """Return the one line that says it all."""
        parts = [f"cells {self.graded} of {self.cells}"]
        if self.jobs:
            parts.append(f"jobs {self.done} of {self.jobs}")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.tokens:
            missing = f" ({self.unreported} runs unknown)" if self.unreported else ""
            parts.append(f"{self.tokens:,} tokens{missing}")
        if self.paid:
            parts.append(self.paid)
        if (left := self.seconds_left(now)) is not None:
            parts.append(f"about {spoken(left)} left")
        if self.running:
            parts.append(f"now {self._running_now(now)}")
        return " | ".join(parts)

    def _running_now(self, now: float) -> str:
        """Return what runs by name, the longest first, up to SHOWN of it."""
        jobs = sorted(self.running.values(), key=lambda job: job[2])
        told = []
        for rule, label, since in jobs[:SHOWN]:
            what = label if label.startswith(rule) else f"{rule}: {label}"
            told.append(f"{what} ({spoken(now - since)})")
        more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
        return ", ".join(told) + more

    def seconds_left(self, now: float) -> float | None:
        """Return what the rest takes if it takes as long a job as what is done, or None."""
        if self.done < 5 or not self.jobs:
            return None
        return (now - self.began) / self.done * max(0, self.jobs - self.done)


def spoken(seconds: float) -> str:
    """Return a time in its largest fitting unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class ProgressHandler(logging.Handler):
    """Turns Snakemake's records into one line of progress, live on a terminal, now and then in a pipe.

    Warnings, errors and failed jobs are printed whole: a failed job with its own log, which holds
    one readable message.
    """

    def __init__(
        self,
        stream: TextIO,
        count: Count,
        clock: Callable[[], float] = time.monotonic,
        spending: Spending | None = None,
    ):
        super().__init__(logging.INFO)
        self._spending = spending
        self._stream = stream
        self._live = bool(getattr(stream, "isatty", lambda: False)())
        self._count = count
        self._clock = clock
        self._printed = clock()
        self._outputs: dict[int, list[str]] = {}
        self._changed = False

    def start(self) -> None:
        """Keep the line fresh while no job ends."""
        threading.Thread(target=self._tick, name="progress", daemon=True).start()

    def _tick(self) -> None:
        while True:
            time.sleep(1.0 if self._live else PIPE_SECONDS)
            with self.lock or threading.RLock():
                self._refresh()

    def emit(self, record: logging.LogRecord) -> None:
        """Count the record, or print what it says."""
        with suppress(OSError, ValueError):  # a closed terminal ends no run
            self._take(str(getattr(record, "event", None) or ""), record.__dict__, record)

    def _take(self, event: str, told: Mapping[str, Any], record: logging.LogRecord) -> None:
        count = self._count
        if event == "job_info":
            label = " ".join(str(told.get("rule_msg") or told["rule_name"]).split())
            count.running[told["jobid"]] = (str(told["rule_name"]), label, self._clock())
            self._outputs[told["jobid"]] = list(told.get("output") or [])
            self._changed = True
        elif event == "job_finished":
            self._finished(told["job_id"])
        elif event == "progress":
            count.done, count.jobs = int(told["done"]), int(told["total"])
            self._refresh()
        elif event == "job_error":
            count.running.pop(told["jobid"], None)
            count.failed += 1
            self.say(_failure(told))
        elif event in ("error", "") and record.levelno >= logging.WARNING:
            text = record.getMessage().strip()
            if text and not text.startswith(_EMPTY_WORDS):
                self.say(text)
        elif event == "run_info":
            self._refresh(True)

    def _finished(self, job: int) -> None:
        rule, _, _ = self._count.running.pop(job, ("", "", 0.0))
        outputs = self._outputs.pop(job, [])
        self._changed = True
        if rule == GRADE:
            self._count.graded += 1
        if rule == RUN and outputs:
            with suppress(Exception):  # a count is no reason to end a run
                run = read_json(Path(outputs[0]))
                tokens = run["meters"]["tokens"]
                control = run["material"]["agent_sheet"]["adapter"] in ("noop", "reference")
                self._count.tokens += tokens or 0
                self._count.unreported += tokens is None and not control

    def _refresh(self, always: bool = False) -> None:
        now = self._clock()
        if self._live:
            width = max(20, _columns() - 1)
            self._stream.write("\r\x1b[K" + self._line(now)[:width])
            self._stream.flush()
        elif always or (
            now - self._printed >= PIPE_SECONDS and (self._changed or self._count.running)
        ):
            self._printed, self._changed = now, False
            self._stream.write(self._line(now) + "\n")
            self._stream.flush()

    def _line(self, now: float) -> str:
        if self._spending is not None:
            with suppress(OSError):  # a sum is no reason to end a run
                self._count.paid = self._spending.told()
        return self._count.line(now)

    def say(self, text: str) -> None:
        """Print a text above the line."""
        self._stream.write(("\r\x1b[K" if self._live else "") + text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the last line where it stands."""
        with suppress(OSError, ValueError):
            if self._live:
                self._stream.write("\n")
                self._stream.flush()
        super().close()


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns or 100  # 0: a terminal without a size
    except OSError:
        return 100


def _failure(told: Mapping[str, Any]) -> str:
    """Return what a failed job's log says; the log is named where it says nothing."""
    label = " ".join(str(told.get("rule_msg") or told.get("rule_name")).split())
    for name in told.get("log") or []:
        with suppress(OSError):
            text = Path(name).read_text("utf-8", "replace").strip()
            return f"FAILED {label}\n{text or f'its log {name} is empty'}"
    return f"FAILED {label}: {told.get('msg') or 'without a log'}"


def wants_own_log(workflow: Any) -> bool:
    """Tell whether Snakemake's own log is asked for, or is the right one.

    Dry runs list every job; jobs that Snakemake starts on other machines speak to their parent; who
    asks for more (`--verbose`, `--printshellcmds`) or for nothing (`--quiet all`) gets that.
    """
    if os.environ.get(VARIABLE) == "snakemake" or workflow.executor_plugin is None:
        return True
    output = workflow.output_settings
    asked = output.verbose or output.printshellcmds or "all" in map(str, output.quiet or ())
    return bool(workflow.dryrun or workflow.touch or not workflow.is_main_process or asked)


def show_progress(
    logger: logging.Logger, cells: int, graded: int, spending: Spending | None = None
) -> None:
    """Put the progress line in the place of Snakemake's own log on the terminal.

    Only its default handler is replaced: who chose another logger plugin keeps it.
    """
    for handler in logger.handlers:
        if getattr(handler, "name", None) == "DefaultStreamHandler":
            stream = getattr(handler, "stream", sys.stderr)
            count = Count(cells, graded, time.monotonic())
            ours = ProgressHandler(stream, count, spending=spending)
            logger.removeHandler(handler)
            logger.addHandler(ours)
            ours.start()
            return
