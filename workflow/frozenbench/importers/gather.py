"""Read many log files on two cores and put them together: verdicts, copies, repeats, marks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from frozenbench.importers import agents, names, notices, retold, verdicts
from frozenbench.importers.copies import without_copies
from frozenbench.importers.documents import decimal
from frozenbench.importers.model import CAP_CONTROLS, CONTROLS, Part, Published, Remark, Row
from frozenbench.importers.reading import read_files
from frozenbench.importers.recognise import check_format
from frozenbench.importers.renames import Renames
from frozenbench.source_files import find_files, printable

Progress = Callable[[int, int], None]


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
    agents_by: str = agents.LOG,
    limits: Mapping[str, Decimal] | None = None,
    renames: Renames | None = None,
) -> Imported:
    """Read log files and put them together; a broken file is named and the rest goes on.

    Args:
        form: a format, or `auto`: each file is recognised by itself.
        paths: files and folders, relative to `root`.
        jobs: processes that read.
        progress: called with (files read, files).
        agents_by: what tells agents apart, one of `agents.WAYS`.
        limits: axis -> the harness's own limit, in place of what its logs state.
        renames: what agents are called, once they are told apart.

    Raises:
        BadInput: a path or the format does not exist, or an agent that is renamed.
    """
    check_format(form, "format")
    files = find_files(paths, root)
    parts: list[Part] = []
    read: list[LogFile] = []
    remarks: list[Remark] = []
    for place, found in enumerate(read_files(form, files, jobs), start=1):
        read.append(LogFile(found.name, found.sha256, found.size, found.format))
        remarks += found.remarks
        if found.part is not None:
            parts.append(_placed(names.shown(found.part), found.name))
        elif found.kind is not None:
            remarks.append(Remark(found.kind, printable(f"{found.name}: {found.message}")))
        if progress is not None:
            progress(place, len(files))
    places = {name: path for path, name in files}
    parts, more = retold.as_verdicts(parts, places)
    told = [*remarks, *more]
    return _together(read, parts, places, told, agents_by, limits or {}, renames or Renames())


def _together(
    files: list[LogFile],
    parts: Sequence[Part],
    places: Mapping[str, Path],
    remarks: Iterable[Remark],
    by: str,
    own: Mapping[str, Decimal],
    renames: Renames,
) -> Imported:
    told = [*remarks, *(remark for part in parts for remark in part.remarks)]
    published = tuple(figure for part in parts for figure in part.published)
    told += notices.contradictions(published, [row for part in parts for row in part.rows])
    parts, lone, more = verdicts.judged(parts, places)
    told += more
    digests = {file.name: file.sha256 for file in files}
    parts, more, counts = without_copies([*parts, *_lone(parts, lone)], digests)
    told += more
    parts, more = agents.told_apart(parts, by)
    told += more
    parts, more = renames.of(parts)
    told += more
    published = tuple(replace(one, agent=renames.name(one.agent)) for one in published)
    parts = [_limited(part, own) for part in parts] if own else parts
    rows = [row for part in parts for row in part.rows]
    rows += _expected(rows, parts)
    numbered = _numbered(rows)
    limits, differing = _limits(parts)
    stated, varying = _stated(parts)
    told += [*differing, *varying]
    told += notices.overshoot(parts)
    told += notices.of_rows(numbered)
    told += notices.counting_rules(numbered)
    told += notices.names_alike(numbered)
    return Imported(
        files=tuple(files),
        rows=tuple(numbered),
        published=published,
        stated=stated,
        limits=limits,
        notices=tuple(notices.collect(told, counts)),
    )


def _placed(part: Part, name: str) -> Part:
    """Tell the verdicts of a file where they stand."""
    return replace(part, verdicts=tuple(replace(v, file=name) for v in part.verdicts))


def _limited(part: Part, own: Mapping[str, Decimal]) -> Part:
    """Return a part under limits that the config states.

    An unsolved run that used as much as a limit, and whose own ending is not told, ran out of it;
    so did one that ended by a limit of which its log does not tell which.
    """

    def judged(row: Row) -> Row:
        unclear = row.ran_out == "unknown"
        if not unclear and (row.solved or row.ran_out is not None or row.ending is not None):
            return row
        for axis, limit in own.items():
            used = row.use.on(axis)
            if used is not None and used >= limit:
                return replace(row, ran_out=axis, inferred=True)
        return row

    rows = tuple(map(judged, part.rows))
    named = {*part.limits, *(row.agent for row in rows)}
    limits = {agent: {**part.limits.get(agent, {}), **own} for agent in named}
    return replace(part, rows=rows, limits=limits)


def _lone(parts: Sequence[Part], rows: Sequence[Row]) -> list[Part]:
    """Return verdicts without a log as a part: whose they are is told as that of the logs."""
    facts: dict[str, dict[str, str]] = {agent: {} for part in parts for agent in part.facts}
    return [Part(rows=tuple(rows), facts=facts)] if rows else []


def _expected(rows: Sequence[Row], parts: Sequence[Part]) -> list[Row]:
    """Return an ERROR row for every run of a task that a log says there was, and that has no row.

    Several logs of one agent may be of the same runs, resumed: as many are due as one log names.
    """
    there = Counter((row.agent, row.task) for row in rows)
    due: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for name, number in Counter(part.expected).items():
            due[name] = max(due[name], number)
    return [
        Row(*name, None, error="missing_row")
        for name, number in due.items()
        for _ in range(number - there[name])
    ]


def _numbered(rows: Sequence[Row]) -> list[Row]:
    """Number the repeats of each agent and task from 0, by the log's own numbers where it can be."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in _by_labels(rows):
        groups[row.agent, row.task].append(row)
    found = []
    for held in groups.values():
        own = [row.repeat for row in held]
        clear = None not in own and len(set(own)) == len(own)
        found += (
            held if clear else [replace(row, repeat=n, label=None) for n, row in enumerate(held)]
        )
    order = {agent: place for place, agent in enumerate(dict.fromkeys(row.agent for row in rows))}
    return sorted(found, key=lambda row: (order[row.agent], row.task, row.repeat or 0))


def _by_labels(rows: Sequence[Row]) -> list[Row]:
    """Number the repeats that a log names: the first name of an agent is 0, whatever it counts from.

    Agent by agent: two that ran under different seeds have as many repeats, and one that lacks a
    repeat altogether has fewer.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.label is not None:
            names[row.agent].add(row.label)
    places = {
        agent: {name: place for place, name in enumerate(sorted(held, key=_counted))}
        for agent, held in names.items()
    }
    return [
        row
        if row.label is None
        else replace(
            row,
            repeat=places[row.agent][row.label],
            label=row.label if len(places[row.agent]) > 1 else None,
        )
        for row in rows
    ]


def _counted(name: str) -> tuple[bool, Decimal, str]:
    """Return the order of the names of repeats: numbers by their size, then texts."""
    value = decimal(name)
    return value is None, value or Decimal(), name


def _limits(
    parts: Sequence[Part],
) -> tuple[dict[str, dict[str, Decimal]], list[Remark]]:
    """Return agent -> axis -> its limit: the largest, where its logs state several."""
    values: dict[str, dict[str, Counter[Decimal]]] = defaultdict(lambda: defaultdict(Counter))
    logs: Counter[str] = Counter()
    for part in parts:
        for agent in {*part.stated, *part.limits}:
            logs[agent] += 1
            for axis, limit in part.limits.get(agent, {}).items():
                values[agent][axis][limit] += 1
    found = {agent: {axis: max(c) for axis, c in held.items()} for agent, held in values.items()}
    remarks = [
        Remark("limits_differ", f"{agent}: {axis}: {_told(counts, logs[agent])}")
        for agent, held in values.items()
        for axis, counts in held.items()
        if len(counts) > 1 or counts.total() < logs[agent]
    ]
    return found, remarks


def _stated(parts: Sequence[Part]) -> tuple[dict[str, dict[str, str]], list[Remark]]:
    """Return agent -> control -> its value in words, and the controls that its logs state variously.

    What caps there were is told by `_limits`.
    """
    values: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    logs: Counter[str] = Counter()
    for part in parts:
        for agent, stated in part.stated.items():
            logs[agent] += 1
            held = values[agent]
            for control, value in stated.items():
                held[control][value] += 1
    remarks = [
        Remark("control_differs", f"{agent}: {control}: {_told(counts, logs[agent])}")
        for agent, held in values.items()
        for control, counts in held.items()
        if control not in CAP_CONTROLS.values()
        and (len(counts) > 1 or counts.total() < logs[agent])
    ]
    joined = {
        agent: {control: ", ".join(list(counts)[:4]) for control, counts in held.items()}
        for agent, held in values.items()
    }
    return joined, remarks


def _told(counts: Mapping[Any, int], logs: int) -> str:
    """Return values with the number of logs that state each, the most common first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    told = [f"{value} in {number} logs" for value, number in ranked[:4]]
    if len(ranked) > 4:
        told.append(f"{len(ranked) - 4} other values")
    lacking = logs - sum(counts.values())
    return ", ".join([*told, *([f"not stated in {lacking}"] if lacking else [])])
