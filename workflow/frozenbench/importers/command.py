"""What `frozenbench import` does: logs in, one table out, every mark printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from frozenbench.canonical import BadInput, Failed, digest
from frozenbench.controls import IMPORT_SEMANTICS
from frozenbench.importers import agents, budgets, cells, notices, out_table
from frozenbench.importers.caps import check_caps, own_limits, plain
from frozenbench.importers.controls_document import controls_document
from frozenbench.importers.gather import Imported, Progress, gather
from frozenbench.importers.model import AXES, CONTROLS, Published
from frozenbench.importers.names import short
from frozenbench.importers.out_table import check_out, counts_beside, measured_beside
from frozenbench.importers.recognise import check_format
from frozenbench.importers.renames import renames_of
from frozenbench.importers.study import Choice, Study, make_study, why_none
from frozenbench.schema import nearest
from frozenbench.source_files import files_sha256, find_files, printable
from frozenbench.table import (
    CELLS,
    CONTROLS_KEY,
    IMPORT_KEY,
    MEASURED,
    RESPONSES_KEY,
    TableWriter,
    sort_key,
    written_together,
)

#: No model was asked: what the tables say of responses.
NO_RESPONSES = {"distinct": 0, "first_date": None, "last_date": None, "recorded": False}
NAMED = 1
#: How wide a column of names may be.
_WIDE = 60


@dataclass(frozen=True)
class Request:
    """What a command line asks for; see `frozenbench import --help`."""

    form: str
    paths: tuple[str, ...]
    out: Path
    axis: str | None = None
    caps: tuple[str, ...] = ("powers",)
    limits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tasks: str = "same"
    agents_by: str = agents.LOG
    jobs: int = 2


def import_to_file(request: Request) -> int:
    """Write the table and print the marks; return 0, 1 (something is named) or 2 (nothing usable).

    Beside the cells, `<out>.measured.parquet` holds seconds and spend of the same rows, and
    `<out>.counts.parquet` the pass counts at all caps of every axis that is told.

    Raises:
        BadInput: a path, the format, the axis, a cap, a limit or `out` is wrong.
        Failed: the tables could not be written; what stood there before still does.
    """
    limits = _checked(request)
    renames = renames_of(request.names, "--name")
    imported = gather(
        request.form,
        request.paths,
        jobs=request.jobs,
        progress=show_progress(),
        agents_by=request.agents_by,
        limits=limits,
        renames=renames,
    )
    if not imported.rows:
        return _rates_alone(request, imported)
    choice = Choice(request.axis, request.caps, tasks=request.tasks)
    study = make_study(imported, choice, "--")
    _write(request, imported, study)
    _print(_summary(request, imported, study))
    _print(notices.lines(study.notices))
    for control, message, cure in study.refusals:
        _print([f"not comparable: {control}: {message}; cure: {cure}"])
    return NAMED if notices.needs_attention(study.notices) or study.refusals else 0


def _checked(request: Request) -> dict[str, Decimal]:
    """Return the limits, once everything that needs no log is right."""
    check_format(request.form, "format")
    if request.axis is not None and request.axis not in AXES:
        near = nearest(request.axis, AXES)
        raise BadInput(f"--axis: {request.axis!r} is no axis{near}; cure: one of these")
    if request.jobs < 1:
        raise BadInput(f"--jobs: {request.jobs}: is no number of processes; cure: 1 or more")
    check_out(request.out, [path for path, _ in find_files(request.paths)])
    pairs = [limit.partition("=") for limit in request.limits]
    limits = own_limits([(axis, value) for axis, _, value in pairs], "--limit")
    check_caps(request.caps, request.axis, limits, "--caps")
    return limits


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
            "agents_by": request.agents_by,
            **({"names": list(request.names)} if request.names else {}),
        },
    }
    named = {"name": request.out.stem, "digest": digest(material)}
    common = request.tasks == "common"
    controls = controls_document(imported, study, study.caps, named, material, common)
    counts = list(cells.count_rows(study, imported.limits))
    own, out = {CONTROLS_KEY: controls}, request.out
    table, measured, counted = tables = [
        TableWriter(path, schema, {**own, **more, IMPORT_KEY: role})
        for path, schema, role, more in (
            (out, CELLS, out_table.CELLS, {}),
            (measured_beside(out), MEASURED, out_table.MEASURED, {RESPONSES_KEY: NO_RESPONSES}),
            (counts_beside(out), cells.COUNTS, out_table.COUNTS, {}),
        )
    ]
    # None stands beside those of another import: all three are put in place when all are written.
    with _named(out, tables), written_together(tables):
        counted.add(counts)
        # One agent at a time: at all break points a table has millions of rows.
        for part in _by_agent(study):
            table.add(sorted(cells.cell_rows(part, study.caps), key=sort_key))
            measured.add(sorted(cells.measured_rows(part, study.caps), key=sort_key))


@contextmanager
def _named(out: Path, tables: Sequence[TableWriter]) -> Iterator[None]:
    """Say what became of the files where something cannot be written."""
    try:
        yield
    except OSError as error:
        told = os.strerror(error.errno) if error.errno else str(error)
        new = [str(table.path) for table in tables if table.placed]
        state = f"{', '.join(new)} is new, the rest as before" if new else "nothing was changed"
        raise Failed(
            f"--out: {out}: cannot be written ({told}); {state}; cure: a folder with room that you "
            "may write to"
        ) from None


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
    width = min(_WIDE, max(map(len, study.agents)))
    yield f"{'PASS at cap':<{width}}  " + " ".join(f"{plain(cap):>5}" for cap in shown)
    counts = budgets.pass_counts(study.rows, study.axis, shown)
    for agent in study.agents:
        told = f"{short(agent, width):<{width}}"
        yield f"{told}  " + " ".join(f"{count:>5}" for count in counts[agent])


def _rates_alone(request: Request, imported: Imported) -> int:
    """Write and print figures without a row for each task: no test can be made on them."""
    _print(notices.lines(imported.notices, most=notices.MOST_NAMES))
    if not imported.published:
        given = short(" ".join(map(printable, request.paths)), 200)
        raise BadInput(
            f"{given}: no run could be read: {why_none(imported)}; cure: logs of a format in "
            "docs/importers.md, or its name in place of auto"
        )
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
    metadata = {CONTROLS_KEY: told, IMPORT_KEY: out_table.RATES}
    table = TableWriter(request.out, cells.RATES, metadata)
    with _named(request.out, [table]):
        with written_together([table]):
            table.add(rows)
        out_table.remove_beside(request.out)
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
