"""What `frozenbench import` does: logs in, one table out, every mark printed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from frozenbench.canonical import BadInput, digest
from frozenbench.controls import IMPORT_SEMANTICS
from frozenbench.importers import budgets, cells, notices
from frozenbench.importers.controls_document import controls_document
from frozenbench.importers.documents import decimal
from frozenbench.importers.gather import Imported, Progress, gather
from frozenbench.importers.model import AXES, CONTROLS, Published
from frozenbench.importers.study import Choice, Study, make_study, with_limits
from frozenbench.source_files import files_sha256
from frozenbench.table import (
    CELLS,
    CONTROLS_KEY,
    MEASURED,
    RESPONSES_KEY,
    TableWriter,
    sort_key,
    write_table,
)

#: No model was asked: what the tables say of responses.
NO_RESPONSES = {"distinct": 0, "first_date": None, "last_date": None, "recorded": False}
NAMED, NOTHING = 1, 2
#: More cells than this are no table for anybody: the counts at all caps stand beside it.
MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class Request:
    """What a command line asks for; see `frozenbench import --help`."""

    form: str
    paths: tuple[str, ...]
    out: Path
    axis: str | None = None
    caps: tuple[str, ...] = ("powers",)
    limits: tuple[str, ...] = ()
    tasks: str = "same"
    jobs: int = 2


def import_to_file(request: Request) -> int:
    """Write the table and print the marks; return 0, 1 (something is named) or 2 (nothing usable).

    Beside the cells, `<out>.measured.parquet` holds seconds and spend of the same rows, and
    `<out>.counts.parquet` the pass counts at all caps of every axis that is told.

    Raises:
        BadInput: a path, the format, the axis, a cap or a limit is wrong.
    """
    if request.axis is not None and request.axis not in AXES:
        raise BadInput(f"--axis: {request.axis!r} is no axis; cure: one of {', '.join(AXES)}")
    limits = dict(map(_limit, request.limits))
    imported = gather(request.form, request.paths, jobs=request.jobs, progress=show_progress())
    if not imported.rows:
        return _rates_alone(request, imported)
    imported = with_limits(imported, limits)
    choice = Choice(request.axis, request.caps, tasks=request.tasks)
    study = make_study(imported, choice, "frozenbench import")
    _check_size(study)
    _write(request, imported, study)
    _print(_summary(request, imported, study))
    _print(notices.lines(study.notices))
    for control, message, cure in study.refusals:
        print(f"not comparable: {control}: {message}; cure: {cure}")
    return NAMED if notices.needs_attention(study.notices) or study.refusals else 0


def _check_size(study: Study) -> None:
    count = len(study.rows) * max(1, len(study.caps))
    if count > MOST_CELLS:
        raise BadInput(
            f"--caps: {len(study.caps)} caps of {len(study.rows)} runs are {count:,} cells, above "
            f"{MOST_CELLS:,}; cure: the caps that matter; OUT.counts.parquet holds all counts"
        )


def _limit(text: str) -> tuple[str, Decimal]:
    axis, _, written = text.partition("=")
    value = decimal(written)
    if axis not in AXES or value is None or value <= 0:
        raise BadInput(f"--limit: {text!r}; cure: AXIS=VALUE, such as calls=250 or cost=3.00")
    return axis, value


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _write(request: Request, imported: Imported, study: Study) -> None:
    material = {
        "import_semantics": IMPORT_SEMANTICS,
        "files_sha256": files_sha256((file.name, file.sha256) for file in imported.files),
        "source": {
            "format": request.form,
            "axis": request.axis,
            "caps": list(request.caps),
            "limits": list(request.limits),
            "tasks": request.tasks,
        },
    }
    named = {"name": request.out.stem, "digest": digest(material)}
    common = request.tasks == "common"
    controls = controls_document(imported, study, study.caps, named, material, common)
    beside = request.out.with_suffix(".measured.parquet")
    metadata = {CONTROLS_KEY: controls, RESPONSES_KEY: NO_RESPONSES}
    counts = list(cells.count_rows(study, imported.limits))
    told = {CONTROLS_KEY: controls}
    write_table(request.out.with_suffix(".counts.parquet"), counts, cells.COUNTS, told)
    with (
        TableWriter(request.out, CELLS, {CONTROLS_KEY: controls}) as table,
        TableWriter(beside, MEASURED, metadata) as measured,
    ):
        # One agent at a time: at all break points a table has millions of rows.
        for part in _by_agent(study):
            table.add(sorted(cells.cell_rows(part, study.caps), key=sort_key))
            measured.add(sorted(cells.measured_rows(part, study.caps), key=sort_key))


def _by_agent(study: Study) -> Iterator[Study]:
    rows = sorted(study.rows, key=attrgetter("agent"))
    for _, held in groupby(rows, key=attrgetter("agent")):
        yield replace(study, rows=tuple(held))


def _summary(request: Request, imported: Imported, study: Study) -> Iterator[str]:
    yield (
        f"{request.out}: {len(study.agents)} agents, {len(study.tasks)} tasks, {study.repeats} repeats, "
        f"{len(study.rows)} runs of {len(imported.files)} files ({', '.join(imported.formats)})"
    )
    lacking = imported.not_stated
    yield (
        f"controls not stated: {len(lacking)} of {len(CONTROLS)}: {', '.join(lacking)}"
        if lacking
        else "every control is stated"
    )
    if study.axis is None:
        yield "no axis is told for all runs: they stand as they were run, without a cap"
        return
    caps = f"{len(study.caps)} caps on {study.axis.unit}, truncated from finished runs"
    limit = "not known" if study.limit is None else str(study.limit)
    yield f"{caps}; the log's own limit: {limit}"
    yield from _rates(study)


def _rates(study: Study, most: int = 12) -> Iterator[str]:
    """Yield the pass counts of each agent at its caps, the first of many."""
    if study.axis is None:
        return
    shown = study.caps if len(study.caps) <= most else (*study.caps[: most - 1], study.caps[-1])
    width = max(map(len, study.agents))
    yield f"{'PASS at cap':<{width}}  " + " ".join(f"{budgets.plain(cap):>5}" for cap in shown)
    counts = budgets.pass_counts(study.rows, study.axis, shown)
    for agent in study.agents:
        yield f"{agent:<{width}}  " + " ".join(f"{count:>5}" for count in counts[agent])


def _rates_alone(request: Request, imported: Imported) -> int:
    """Write and print figures without a row for each task: no test can be made on them."""
    _print(notices.lines(imported.notices, most=notices.MOST_NAMES))
    if not imported.published:
        print("no run could be read", file=sys.stderr)
        return NOTHING
    rows = [
        {
            "agent": figure.agent,
            "axis": figure.axis,
            "cap": figure.cap,
            "passed": figure.solved,
            "n": figure.n,
            "published_rate": None if figure.rate is None else str(figure.rate),
        }
        for figure in imported.published
    ]
    material = {"files_sha256": files_sha256((f.name, f.sha256) for f in imported.files)}
    told = {"source": {"notices": [notice.as_dict() for notice in imported.notices], **material}}
    write_table(request.out, rows, cells.RATES, {CONTROLS_KEY: told})
    print(f"{request.out}: published rates without a row for each task; nothing is compared")
    _print(map(_figure, imported.published))
    return NAMED


def _figure(figure: Published) -> str:
    at = "" if figure.cap is None else f" within {figure.cap} edit round{'s' * (figure.cap > 1)}"
    rate = "" if figure.rate is None else f" {notices.percent(figure.rate)} %"
    count = "" if figure.solved is None else f" ({figure.solved} of {figure.n})"
    return f"{figure.agent}:{rate}{at}{count}"


def show_progress() -> Progress:
    """Return what tells how many files are read: on a terminal in place, else every 500."""

    def show(done: int, files: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == files else ""
            print(f"\r{done} of {files} files read", end=end, file=sys.stderr, flush=True)
        elif done % 500 == 0 or (done == files and files >= 500):
            print(f"{done} of {files} files read", file=sys.stderr, flush=True)

    return show
