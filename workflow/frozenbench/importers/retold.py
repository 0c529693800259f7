"""Rows that somebody tells of runs, beside the logs of these runs: verdicts, and no second agent.

`per_instance_details.json` of SWE-bench holds the calls, cost and verdict of each run of a
submission. Where the submission's trajectories lie in the same folder or below it, each of these
runs would count twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path, PurePosixPath

from frozenbench.importers.caps import plain
from frozenbench.importers.documents import place_of, stem
from frozenbench.importers.model import Part, Remark, Row, Verdict
from frozenbench.importers.verdicts import RunKey, names_of, run_key, spoken_of

#: Places after the point to which two costs are compared at least: some are rounded to cents.
_CENTS = 2
#: Costs are sums of binary fractions: what differs by less is one.
_NOISE = Decimal("1e-9")


@dataclass(frozen=True)
class _Logs:
    """The runs that wait for a verdict, by the folders that they lie in.

    Attributes:
        below: folder -> task -> run -> its rows.
    """

    below: Mapping[Path, Mapping[str, Mapping[RunKey, Sequence[Row]]]]

    @classmethod
    def of(cls, parts: Sequence[Part], places: Mapping[str, Path], folders: set[Path]) -> _Logs:
        """Return the logs below each of the folders; a log states the settings of its agent."""
        below: dict[Path, dict[str, dict[RunKey, list[Row]]]] = {
            folder: defaultdict(lambda: defaultdict(list)) for folder in folders
        }
        for part in parts:
            for row in part.rows:
                if row.solved is not None or row.agent not in part.facts:
                    continue
                path = places.get(row.file, Path())
                for folder in folders.intersection(place_of(path).parents):
                    below[folder][row.task][run_key(row)].append(row)
        return cls(below)


def as_verdicts(
    parts: Sequence[Part], places: Mapping[str, Path]
) -> tuple[list[Part], list[Remark]]:
    """Return the parts in which retold rows of runs that are there are verdicts on these runs.

    A row of a task without a log stays a row, of the agent whose logs lie there; one that could be
    of several runs is used for none. Rows beside no logs stay an agent of their own.

    Args:
        parts: what the files gave.
        places: file -> where it is.
    """
    if not any(part.retold for part in parts):
        return list(parts), []
    folders = {_folder(part, places) for part in parts if part.retold and part.rows}
    logs = _Logs.of(parts, places, folders)
    found, remarks = [], []
    for part in parts:
        if part.retold and part.rows:
            file = place_of(places[part.rows[0].file])
            part, more = _settled(
                part, {file.parent.name, stem(file.name)}, logs.below[_folder(part, places)]
            )
            remarks += more
        found.append(part)
    return found, remarks


def _folder(part: Part, places: Mapping[str, Path]) -> Path:
    """Return the folder that details speak of, on the machine: names may be cut short."""
    return Path(spoken_of(PurePosixPath(place_of(places[part.rows[0].file]).parent)))


def _settled(
    part: Part, place: set[str], below: Mapping[str, Mapping[RunKey, Sequence[Row]]]
) -> tuple[Part, list[Remark]]:
    by_agent: dict[str, list[Row]] = defaultdict(list)
    for row in part.rows:
        by_agent[row.agent].append(row)
    rows: list[Row] = []
    verdicts: list[Verdict] = []
    remarks: list[Remark] = []
    stated: dict[str, Mapping[str, str]] = {}
    for agent, held in by_agent.items():
        runs = _owners(agent, held, below, named=agent not in place)
        if runs:
            more, given, told = _shared(held, below, runs)
            rows += more
            verdicts += given
            remarks += told
        else:
            rows += held
            stated[agent] = part.stated.get(agent, {})
    return replace(part, rows=tuple(rows), verdicts=tuple(verdicts), stated=stated), remarks


def _owners(
    agent: str,
    held: Sequence[Row],
    below: Mapping[str, Mapping[RunKey, Sequence[Row]]],
    named: bool,
) -> set[RunKey]:
    """Return the runs that details can be of: those that they name, else all that lie there.

    `named`: they name an agent, and are not just called after their place.
    """
    runs = {run for row in held for run in below.get(row.task, ())}
    called = {run for run in runs if agent in names_of(run)}
    return called if called or named else runs


def _shared(
    held: Sequence[Row],
    below: Mapping[str, Mapping[RunKey, Sequence[Row]]],
    runs: set[RunKey],
) -> tuple[list[Row], list[Verdict], list[Remark]]:
    """Return the rows without a log, under the name of their run, and the verdicts on the others."""
    rows: list[Row] = []
    verdicts: list[Verdict] = []
    remarks: list[Remark] = []
    unclear: list[str] = []
    for row in held:
        logs = {run: logs for run, logs in below.get(row.task, {}).items() if run in runs}
        if len(logs) == 1:
            ((run, own),) = logs.items()
            verdicts.append(Verdict(row.task, row.solved, file=row.file, run=run))
            remarks += _differing(row, own)
        elif not logs and len({agent for agent, _ in runs}) == 1:
            agent, name = min(runs)
            rows.append(replace(row, agent=agent, run=name))
            remarks.append(Remark("details_alone", f"{agent} on {row.task}: {row.file}"))
        else:
            unclear.append(row.task)
    if unclear:
        several = ", ".join(f"{agent} in {run}" for agent, run in sorted(runs)[:3])
        more = f" and {len(runs) - 3} more" * (len(runs) > 3)
        told = f"{held[0].file}: {len(unclear)} of {len(held)} verdicts could be of {several}{more}"
        cure = "cure: put the details into the run's folder, or away from these logs"
        remarks.append(Remark("verdict_not_used", f"{told}; {cure}"))
    return rows, verdicts, remarks


def _differing(told: Row, own: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark where the details of a run tell another use than its one log."""
    if len(own) != 1:
        return
    (row,) = own
    calls = (row.use.calls, told.use.calls)
    costs = (row.use.cost, told.use.cost)
    words = []
    if None not in calls and calls[0] != calls[1]:
        words.append(f"calls {calls[0]} and {calls[1]}")
    if costs[0] is not None and costs[1] is not None and not _alike(costs[0], costs[1]):
        words.append(f"cost {plain(costs[0])} and {plain(costs[1])}")
    if words:
        of = f"{row.agent} on {row.task}: {', '.join(words)} in {told.file}"
        yield Remark("details_differ", of)


def _alike(one: Decimal, other: Decimal) -> bool:
    """Tell whether two costs are one: as written, or rounded to the fewer places of the two."""
    places = min(-int(cost.as_tuple().exponent) for cost in (one, other))
    return abs(one - other) <= Decimal(5).scaleb(-max(_CENTS, places) - 1) + _NOISE
