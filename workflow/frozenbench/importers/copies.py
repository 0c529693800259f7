"""Find what stands twice: rows of one name, and whole runs whose files are copies of another's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

from frozenbench.importers.caps import plain
from frozenbench.importers.model import Part, Remark, Row
from frozenbench.importers.uses import written
from frozenbench.importers.verdicts import RunKey, run_key

#: Kinds of copies.
SAME, OTHER, RETRIED = "duplicate", "contradicting_duplicate", "retried"
#: What is not told of two rows that differ: it is the same, or where they stand.
_PLACE = {"agent", "task", "use", "run", "trial", "file", "inferred"}


def without_copies(
    parts: Sequence[Part], sha256: Mapping[str, str]
) -> tuple[list[Part], list[Remark], dict[str, int]]:
    """Keep the first of everything, but of what broke the later try; say which run the others are of.

    Args:
        parts: what the files gave.
        sha256: file -> the digest of its bytes.

    Returns:
        The parts with the rows that stay, a remark for each run that holds copies, and how many
        rows of each kind are gone.
    """
    rows = [row for part in parts for row in part.rows]
    copies = _of_trials(rows)
    copies |= _of_runs(rows, sha256, copies)
    found: Counter[tuple[str, str, str]] = Counter()
    remarks: list[Remark] = []
    for place, first in copies.items():
        row = rows[place]
        kind = _kind(row, rows[first])
        found[kind, row.agent, row.run or row.file] += 1
        if kind == OTHER:
            remarks.append(Remark(OTHER, _differing(rows[first], row)))
        if kind == RETRIED:
            # Whole: the broken try's use is not what the verdict was reached with.
            rows[first] = replace(row, repeat=rows[first].repeat, label=rows[first].label)
        elif row.solved is not None and rows[first].solved is None:
            # A report may stand beside the copy alone.
            rows[first] = replace(rows[first], solved=row.solved, error=row.error)
    remarks += [
        Remark(kind, f"{agent}: {run} ({number} rows)")
        for (kind, agent, run), number in found.items()
        if kind != OTHER
    ]
    counts: Counter[str] = Counter()
    for (kind, _, _), number in found.items():
        counts[kind] += number
    return _kept(parts, rows, copies), remarks, dict(counts)


def _differing(first: Row, row: Row) -> str:
    """Return on which task two rows of one name differ, in what, and where they stand.

    Which of them comes first hangs on the order of the paths, so a reader must see both.
    """
    held = [{**asdict(one), **asdict(one.use)} for one in (first, row)]
    told = [
        f"{name} {_told(value)} and {_told(held[1][name])}"
        for name, value in held[0].items()
        if name not in _PLACE and value != held[1][name]
    ]
    files = first.file if first.file == row.file else f"{first.file} and {row.file}"
    return f"{first.agent} on {first.task}: {', '.join(told)} in {files}"


def _told(value: Any) -> str:
    return plain(value) if isinstance(value, Decimal) else written(value)


def _kept(parts: Sequence[Part], rows: Sequence[Row], copies: Mapping[int, int]) -> list[Part]:
    """Return the parts with the rows that are no copies; a file of copies states nothing more."""
    kept, start = [], 0
    for part in parts:
        end = start + len(part.rows)
        held = tuple(rows[place] for place in range(start, end) if place not in copies)
        start = end
        if part.rows and not held:
            part = replace(part, stated={}, limits={}, expected=(), facts={})
        kept.append(replace(part, rows=held))
    return kept


def _kind(row: Row, first: Row) -> str:
    alike = [replace(one, run="", file="", trial=None) for one in (row, first)]
    if row.solved is None or first.solved is None:
        alike = [replace(one, solved=None, error=None) for one in alike]
    if alike[0] == alike[1]:
        return SAME
    broke = first.error is not None and row.error is None and row.solved is not None
    return RETRIED if broke and row.trial else OTHER


def _of_trials(rows: Sequence[Row]) -> dict[int, int]:
    """Return the places of all but the first row of each trial's name -> that of the first."""
    first: dict[tuple[str, str, str], int] = {}
    copies = {}
    for place, row in enumerate(rows):
        if row.trial:
            before = first.setdefault((row.agent, row.task, row.trial), place)
            if before != place:
                copies[place] = before
    return copies


def _of_runs(
    rows: Sequence[Row], sha256: Mapping[str, str], known: Mapping[int, int]
) -> dict[int, int]:
    """Return the places of runs whose files, all of them, have the bytes of an earlier run's.

    Single equal logs in runs that differ stay: a model without chance answers a task twice alike.
    """
    runs: dict[RunKey, list[tuple[tuple[str, str], int]]] = defaultdict(list)
    for place, row in enumerate(rows):
        if place not in known:
            runs[run_key(row)].append(((row.task, sha256.get(row.file, "")), place))
    first: dict[object, list[int]] = {}
    copies: dict[int, int] = {}
    for (agent, _), held in runs.items():
        held.sort()
        places = [place for _, place in held]
        if not all(digest for (_, digest), _ in held):
            continue
        before = first.setdefault((agent, tuple(content for content, _ in held)), places)
        if not {rows[place].file for place in before} & {rows[place].file for place in places}:
            copies |= dict(zip(places, before, strict=True))
    return copies
