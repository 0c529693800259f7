"""Runs that are due and not there: counted as ERROR, and not invented without measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from frozenbench.canonical import BadInput
from frozenbench.importers.model import Row

#: More runs than this are missing nowhere: something else was taken for repeats.
MOST_MISSING = 1_000_000


def check_missing(
    rows: Sequence[Row],
    ran: Mapping[str, set[str]],
    due: Mapping[str, set[str]],
    repeats: Mapping[str, int],
) -> None:
    """Refuse repeats that are none, before their missing runs are made up one by one.

    Args:
        rows: the runs that are there.
        ran: agent -> the tasks that it ran, in any repeat.
        due: agent -> the tasks of which every repeat is due.
        repeats: agent -> its number of repeats.

    Raises:
        BadInput: half of what an agent should have run is missing by what a log calls its
            repeats, such as a seed of each run; or more is missing than can be.
    """
    held: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        held[row.agent].append(row)
    for agent, own in held.items():
        tasks = len(ran[agent])
        whole = tasks * repeats[agent]
        if 2 * len(own) <= whole and any(row.label is not None for row in own):
            raise BadInput(_no_repeat(agent, own, tasks, whole))
    lacking = sum(len(tasks) * repeats[agent] for agent, tasks in due.items()) - len(rows)
    if lacking > MOST_MISSING:
        last = max(rows, key=lambda row: row.repeat or 0)
        raise BadInput(
            f"{last.file}: repeat {last.repeat} of {last.agent} on {last.task}: with as many of "
            f"every task {lacking:,} runs would be missing, above {MOST_MISSING:,}; cure: logs "
            "with as many repeats of each task"
        )


def _no_repeat(agent: str, rows: Sequence[Row], tasks: int, whole: int) -> str:
    """Say so of the repeat that the fewest tasks have."""
    having: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.label is not None:
            having[row.label].add(row.task)
    rare = min(having, key=lambda label: len(having[label]))
    file = next(row.file for row in rows if row.label == rare)
    return (
        f"{file}: repeat: {rare!r} stands at {len(having[rare])} of {tasks} tasks of {agent}, and "
        f"{whole - len(rows):,} of {whole:,} runs would be missing; cure: a number or name that "
        "all tasks share (a seed of each run is none), or leave the column out"
    )


def missing_rows(
    rows: Sequence[Row], due: Mapping[str, set[str]], repeats: Mapping[str, int]
) -> Iterator[Row]:
    """Yield an ERROR run for each that is due and not there, called as its log would call it."""
    there = {(row.agent, row.task, row.repeat or 0) for row in rows}
    labels = {(row.agent, row.repeat): row.label for row in rows if row.label is not None}
    for agent, tasks in due.items():
        for task in sorted(tasks):
            for repeat in range(repeats[agent]):
                if (agent, task, repeat) not in there:
                    number = str(repeat) if repeats[agent] > 1 else None
                    label = labels.get((agent, repeat), number)
                    yield Row(agent, task, None, repeat=repeat, label=label, error="missing_row")
