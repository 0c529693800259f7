"""Read many log files on two cores and put them together: verdicts, copies, repeats, marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path, PurePosixPath

from frozenbench.importers import notices
from frozenbench.importers.model import CONTROLS, Part, Published, Remark, Row, Verdict
from frozenbench.importers.recognise import FileRead, check_format, read_file
from frozenbench.source_files import find_files

Progress = Callable[[int, int], None]
#: Below this many files, or bytes of them, starting processes costs more than it saves.
_FEW, _SMALL = 16, 32_000_000


@dataclass(frozen=True)
class LogFile:
    """A file that was read or refused: its name and what it held."""

    name: str
    sha256: str
    size: int
    format: str | None


@dataclass(frozen=True)
class Imported:
    """Everything that the files gave, put together.

    Attributes:
        rows: one a run, sorted by agent, task, repeat; copies are gone, repeats are numbered.
        published: figures that the logs publish of themselves.
        stated: agent -> control -> its value in words.
        limits: agent -> axis -> the log's own limit.
        notices: what a reader must be told, one a kind.
    """

    files: tuple[LogFile, ...]
    rows: tuple[Row, ...]
    published: tuple[Published, ...]
    stated: Mapping[str, Mapping[str, str]]
    limits: Mapping[str, Mapping[str, Decimal]]
    notices: tuple[notices.Notice, ...]

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that were found."""
        return tuple(sorted({file.format for file in self.files if file.format}))

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents in the order of the logs."""
        return tuple(dict.fromkeys(row.agent for row in self.rows))

    @property
    def not_stated(self) -> tuple[str, ...]:
        """The controls that not every agent's log states."""
        told = [self.stated.get(agent, {}) for agent in self.agents]
        return tuple(name for name in CONTROLS if not all(name in held for held in told))


def gather(
    form: str,
    paths: Sequence[str | Path],
    root: Path = Path(),
    jobs: int = 2,
    progress: Progress | None = None,
) -> Imported:
    """Read log files and put them together; a broken file is named and the rest goes on.

    Args:
        form: a format, or `auto`: each file is recognised by itself.
        paths: files and folders, relative to `root`.
        jobs: processes that read.
        progress: called with (files read, files).

    Raises:
        BadInput: a path or the format does not exist.
    """
    check_format(form, "format")
    files = find_files(paths, root)
    parts, read, remarks = [], [], []
    for place, found in enumerate(_read(form, files, jobs), start=1):
        read.append(LogFile(found.name, found.sha256, found.size, found.format))
        if found.part is not None:
            parts.append(_placed(found.part, found.name))
        elif found.kind is not None:
            remarks.append(Remark(found.kind, f"{found.name}: {found.message}"))
        if progress is not None:
            progress(place, len(files))
    return _together(read, parts, remarks)


def _read(form: str, files: Sequence[tuple[Path, str]], jobs: int) -> Iterator[FileRead]:
    work = [(form, str(path), name) for path, name in files]
    size = sum(path.stat().st_size for path, _ in files)
    if jobs < 2 or len(work) < 2 or (len(work) < _FEW and size < _SMALL):
        yield from map(read_file, work)
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(read_file, work, chunksize=max(1, min(32, len(work) // (4 * jobs))))


def _together(files: list[LogFile], parts: Sequence[Part], remarks: Iterable[Remark]) -> Imported:
    told = [*remarks, *(remark for part in parts for remark in part.remarks)]
    published = tuple(figure for part in parts for figure in part.published)
    rows = [row for part in parts for row in part.rows]
    told += notices.contradictions(published, rows)
    rows = _judged(rows, [verdict for part in parts for verdict in part.verdicts])
    rows, copies, counts = _without_copies(rows)
    rows += _expected(rows, parts)
    numbered = _numbered(rows)
    limits, differing = _limits(parts)
    stated, varying = _stated(parts)
    told += [*copies, *differing, *varying]
    told += notices.overshoot(parts)
    told += notices.of_rows(numbered)
    told += notices.counting_rules(numbered)
    return Imported(
        files=tuple(files),
        rows=tuple(numbered),
        published=published,
        stated=stated,
        limits=limits,
        notices=tuple(notices.collect(told, counts)),
    )


def _placed(part: Part, name: str) -> Part:
    """Tell the verdicts of a file where it lies."""
    folder = PurePosixPath(name).parent.as_posix()
    return replace(part, verdicts=tuple(replace(v, folder=folder) for v in part.verdicts))


def _judged(rows: list[Row], verdicts: Sequence[Verdict]) -> list[Row]:
    """Give rows without a verdict the one that stands beside them."""
    by_task: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_task[verdict.task].append(verdict)
    agents = {row.agent for row in rows}
    seen: set[str] = set()
    judged = []
    for row in rows:
        found = _verdict_on(row, by_task[row.task], alone=len(agents) == 1)
        if row.solved is not None or found is None:
            judged.append(row)
            continue
        seen.add(row.task)
        broken = "grader_broken" if found.solved is None else row.error
        judged.append(replace(row, solved=found.solved, error=broken))
    lone = [v for v in verdicts if v.task not in {row.task for row in rows}]
    if len(agents) == 1 and seen:
        agent = next(iter(agents))
        judged += [Row(agent, v.task, v.solved, error="missing_log") for v in lone]
    return judged


def _verdict_on(row: Row, verdicts: Sequence[Verdict], alone: bool) -> Verdict | None:
    """Return the verdict on a row: of its agent by name, else of the nearest folder above it.

    Where there is one agent alone, a single verdict is its own, wherever it lies.
    """
    named = [verdict for verdict in verdicts if verdict.agent == row.agent]
    if named:
        return named[-1]
    above = [folder.as_posix() for folder in PurePosixPath(row.file).parents]
    for folder in above:
        here = [v for v in verdicts if v.agent is None and v.folder == folder]
        if here:
            # Several that disagree say nothing of this row.
            return here[0] if len({v.solved for v in here}) == 1 else None
    return verdicts[0] if alone and len(verdicts) == 1 else None


def _without_copies(rows: list[Row]) -> tuple[list[Row], list[Remark], dict[str, int]]:
    """Keep the first row of every name; say which run the others stand in."""
    first: dict[tuple[str, str, str], Row] = {}
    kept: list[Row] = []
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in rows:
        if not row.trial:
            kept.append(row)
            continue
        name = (row.agent, row.task, row.trial)
        if name not in first:
            first[name] = row
            kept.append(row)
            continue
        same = replace(row, run="", file="") == replace(first[name], run="", file="")
        kind = "duplicate" if same else "contradicting_duplicate"
        found[kind, row.agent, row.run or row.file] += 1
    remarks = [Remark(kind, f"{a}: {run} ({n} rows)") for (kind, a, run), n in found.items()]
    counts: dict[str, int] = defaultdict(int)
    for (kind, _, _), number in found.items():
        counts[kind] += number
    return kept, remarks, dict(counts)


def _expected(rows: Sequence[Row], parts: Sequence[Part]) -> list[Row]:
    """Return an ERROR row for every task that a log says was run, and that has no row."""
    there = {(row.agent, row.task) for row in rows}
    due = dict.fromkeys(name for part in parts for name in part.expected)
    return [Row(*name, None, error="missing_row") for name in due if name not in there]


def _numbered(rows: Sequence[Row]) -> list[Row]:
    """Number the repeats of each agent and task from 0, by the log's own numbers where it can be."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.agent, row.task].append(row)
    found = []
    for held in groups.values():
        own = [row.repeat for row in held]
        clear = None not in own and len(set(own)) == len(own)
        found += held if clear else [replace(row, repeat=n) for n, row in enumerate(held)]
    order = {agent: place for place, agent in enumerate(dict.fromkeys(row.agent for row in rows))}
    return sorted(found, key=lambda row: (order[row.agent], row.task, row.repeat or 0))


def _limits(
    parts: Sequence[Part],
) -> tuple[dict[str, dict[str, Decimal]], list[Remark]]:
    values: dict[tuple[str, str], set[Decimal]] = defaultdict(set)
    for part in parts:
        for agent, limits in part.limits.items():
            for axis, limit in limits.items():
                values[agent, axis].add(limit)
    found: dict[str, dict[str, Decimal]] = defaultdict(dict)
    remarks = []
    for (agent, axis), held in values.items():
        found[agent][axis] = max(held)
        if len(held) > 1:
            told = ", ".join(map(str, sorted(held)))
            remarks.append(Remark("limits_differ", f"{agent}: {axis}: {told}"))
    return dict(found), remarks


def _stated(parts: Sequence[Part]) -> tuple[dict[str, dict[str, str]], list[Remark]]:
    values: dict[str, dict[str, dict[str, None]]] = {}
    for part in parts:
        for agent, stated in part.stated.items():
            held = values.setdefault(agent, {})
            for control, value in stated.items():
                held.setdefault(control, {}).setdefault(value)
    remarks = [
        Remark("control_differs", f"{agent}: {control}: {', '.join(list(told)[:4])}")
        for agent, held in values.items()
        for control, told in held.items()
        if len(told) > 1
    ]
    joined = {
        agent: {control: ", ".join(list(told)[:4]) for control, told in held.items()}
        for agent, held in values.items()
    }
    return joined, remarks
