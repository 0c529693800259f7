"""What is compared: agents, tasks, repeats, axis and caps of an import, and what refuses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from frozenbench.canonical import BadInput
from frozenbench.importers import budgets, notices
from frozenbench.importers.caps import ALL, POWERS, Cap, check_chosen, parse_caps, up_to
from frozenbench.importers.gather import Imported
from frozenbench.importers.missing import check_missing, missing_rows
from frozenbench.importers.model import AXES, Axis, Remark, Row
from frozenbench.schema import nearest

#: The one budget of logs that tell no use: each run as it was run.
AS_RUN = "as-run"
#: More cells than this are no table for anybody: the counts at all caps stand beside it.
MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class Choice:
    """What the config or the command chooses.

    Attributes:
        axis: a name of AXES; None: the first that every run tells.
        caps: caps as written, or `powers` (of two), or `all` break points.
        agents: the agents and their order; None: all, in the order of the logs.
        tasks: `same` (agents that ran different tasks are refused), `common`, or `all`.
        repeats: the first so many of each; None: all.
    """

    axis: str | None = None
    caps: tuple[str, ...] = (POWERS,)
    agents: tuple[str, ...] | None = None
    tasks: str = "same"
    repeats: int | None = None


@dataclass(frozen=True)
class Study:
    """The compared runs: every agent has every task and repeat, once.

    Attributes:
        rows: sorted by agent, task, repeat.
        axis: None where no axis is to be had: then `caps` is empty.
        limit: the smallest own limit on the axis, where one is known.
        refusals: (control, message, cure) of what refuses a score.
        notices: those of the import and those of the choice.
    """

    rows: tuple[Row, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    repeats: int
    axis: Axis | None
    caps: tuple[Cap, ...]
    limit: Decimal | None
    refusals: tuple[tuple[str, str, str], ...]
    notices: tuple[notices.Notice, ...]


def make_study(imported: Imported, choice: Choice, where: str) -> Study:
    """Choose what is compared; whatever is left out is named.

    Args:
        imported: everything that the logs gave.
        choice: what the config or the command chooses.
        where: what stands before a key in a message: `--`, or `FILE: source.`.

    Raises:
        BadInput: an agent, the axis or a cap is not to be had, or there is no run at all.
    """
    if not imported.rows:
        raise BadInput(f"{where}paths: hold no run: {why_none(imported)}; cure: other logs")
    agents, remarks = _agents(imported, choice, where)
    rows = [row for row in imported.rows if row.agent in agents]
    axis, left, more = _axis(rows, choice, where)
    agents = tuple(agent for agent in agents if agent not in left)
    rows = [row for row in rows if row.agent not in left]
    rows, refusals, told = _complete(rows, agents, choice, where)
    limit, caps, beyond = _caps(rows, axis, imported, choice, where)
    _check_size(len(rows), len(caps), where)
    marks = [*imported.notices, *notices.collect([*remarks, *more, *told, *beyond])]
    place = {agent: number for number, agent in enumerate(agents)}
    return Study(
        rows=tuple(sorted(rows, key=lambda row: (place[row.agent], row.task, row.repeat or 0))),
        agents=agents,
        tasks=tuple(sorted({row.task for row in rows})),
        repeats=1 + max((row.repeat or 0 for row in rows), default=0),
        axis=axis,
        caps=caps,
        limit=limit,
        refusals=tuple(refusals),
        notices=notices.merged(marks),
    )


def why_none(imported: Imported) -> str:
    """Return why no file gave a run: the first of each kind."""
    told = [f"{notice.count} {notices.KINDS[notice.kind]}" for notice in imported.notices]
    first = [notice.subjects[0] for notice in imported.notices if notice.subjects]
    return f"{'; '.join(told)} (such as {first[0]})" if told else "they are empty"


def _agents(imported: Imported, choice: Choice, where: str) -> tuple[tuple[str, ...], list[Remark]]:
    known = imported.agents
    if choice.agents is None:
        return known, []
    check_chosen(choice.agents, where)
    for name in choice.agents:
        if name not in known:
            near = nearest(name, known)
            raise BadInput(f"{where}agents: {name!r} is in no log{near}; cure: one of these")
    out = [name for name in known if name not in choice.agents]
    return choice.agents, [Remark("left_out", f"{name}: not chosen") for name in out]


def _axis(
    rows: Sequence[Row], choice: Choice, where: str
) -> tuple[Axis | None, set[str], list[Remark]]:
    """Return the axis, the agents whose runs do not tell their use on it, and what to say of axes."""
    if choice.axis is None:
        axis = budgets.first_axis(rows)
        return axis, set(), list(_axes_not_told(rows, axis, asked=False))
    axis = AXES[choice.axis]
    counts = budgets.told(rows, axis)
    lacking = {agent: pair for agent, pair in counts.items() if pair[0]}
    if len(lacking) == len(counts):
        others = [
            a.name for a in AXES.values() if not any(n for n, _ in budgets.told(rows, a).values())
        ]
        raise BadInput(
            f"{where}axis: {axis.name!r} is not to be had: no agent tells it for all its runs; cure: "
            + (
                f"one of {', '.join(others)}"
                if others
                else "leave it out: the runs as they were run"
            )
        )
    remarks = []
    for agent, (missing, whole) in lacking.items():
        told = f"{agent}: {axis.name} is not told in {missing} of {whole} runs"
        remarks += [Remark("left_out", told), Remark("use_not_told", told)]
    left = [row for row in rows if row.agent not in lacking]
    return axis, set(lacking), [*remarks, *_axes_not_told(left, axis, asked=True)]


def _axes_not_told(rows: Sequence[Row], chosen: Axis | None, asked: bool) -> Iterator[Remark]:
    """Yield the axes that some runs tell and others do not.

    Where nobody asked for the chosen one, those that come before it need a look.
    """
    before = not asked
    for axis in AXES.values():
        before = before and axis != chosen
        if axis == chosen or all(row.use.on(axis.name) is None for row in rows):
            continue
        counts = budgets.told(rows, axis)
        missing = sum(lacking for lacking, _ in counts.values())
        if missing:
            agents = [agent for agent, (lacking, _) in counts.items() if lacking]
            told = ", ".join(agents[:3]) + f" and {len(agents) - 3} more" * (len(agents) > 3)
            yield Remark(
                "axis_passed_over" if before else "axis_not_told",
                f"{axis.name}: not told in {missing} of {len(rows)} runs ({told})",
            )


def _check_size(runs: int, caps: int, where: str) -> None:
    count = runs * max(1, caps)
    if count > MOST_CELLS:
        raise BadInput(
            f"{where}caps: {caps} caps of {runs} runs are {count:,} cells, above {MOST_CELLS:,}; "
            "cure: the caps that matter; the pass counts at every cap are written all the same"
        )


def _complete(
    rows: list[Row], agents: Sequence[str], choice: Choice, where: str
) -> tuple[list[Row], list[tuple[str, str, str]], list[Remark]]:
    """Give every agent every task and repeat: what is missing is ERROR, or refuses the score."""
    refusals: list[tuple[str, str, str]] = []
    remarks: list[Remark] = []
    tasks: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        tasks[row.agent].add(row.task)
    if choice.repeats is not None:
        most = 1 + max((row.repeat or 0 for row in rows), default=choice.repeats)
        if most < choice.repeats:
            told = f"no agent has more than {most} of a task"
            raise BadInput(
                f"{where}repeats: {choice.repeats}: {told}; cure: {most}, or leave it out"
            )
        rows = [row for row in rows if (row.repeat or 0) < choice.repeats]
    repeats: dict[str, int] = defaultdict(int)
    for row in rows:
        repeats[row.agent] = max(repeats[row.agent], 1 + (row.repeat or 0))
    union = set().union(*tasks.values())
    common = set(union).intersection(*tasks.values()) if tasks else set()
    if union != common:
        remarks += _differing(union, tasks, agents)
        if choice.tasks == "same":
            refusals.append(
                (
                    "tasks",
                    f"the agents ran different tasks: {len(common)} of {len(union)} are common",
                    "tasks: common compares these, under another name; tasks: all counts a "
                    "missing one as ERROR",
                )
            )
        if choice.tasks == "common":
            rows = [row for row in rows if row.task in common]
            union = common
    if not union:
        return (
            [],
            [*refusals, ("tasks", "no task is common to all agents", "other agents")],
            remarks,
        )
    if len(set(repeats.values())) > 1:
        told = ", ".join(f"{agent} {count}" for agent, count in repeats.items())
        refusals.append(
            (
                "repeats",
                f"the agents ran different numbers of repeats: {told}",
                f"repeats: {min(repeats.values())} compares the first of each",
            )
        )
    # Where the score is refused, nobody's rows are filled up by what others ran.
    due = tasks if choice.tasks == "same" else dict.fromkeys(tasks, union)
    check_missing(rows, {agent: ran & union for agent, ran in tasks.items()}, due, repeats)
    missing = list(missing_rows(rows, due, repeats))
    remarks += notices.of_rows(missing)
    return [*rows, *missing], refusals, remarks


def _differing(
    union: set[str], tasks: Mapping[str, set[str]], agents: Sequence[str]
) -> Iterator[Remark]:
    for task in sorted(union):
        lacking = [agent for agent in agents if task not in tasks[agent]]
        if lacking:
            told = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" * (len(lacking) > 3))
            yield Remark("task_not_run_by_all", f"{task}: not by {told}")


def _caps(
    rows: Sequence[Row], axis: Axis | None, imported: Imported, choice: Choice, where: str
) -> tuple[Decimal | None, tuple[Cap, ...], list[Remark]]:
    """Return the own limit, the caps up to it, and the caps that lie beyond."""
    if axis is None:
        return None, (), []
    agents = {row.agent for row in rows}
    held = [imported.limits.get(agent, {}).get(axis.name) for agent in sorted(agents)]
    limit = min((value for value in held if value is not None), default=None)
    if choice.caps == (POWERS,):
        return limit, budgets.powers_of_two(rows, axis, limit), []
    caps = (
        budgets.break_points(rows, axis)
        if choice.caps == (ALL,)
        else parse_caps(choice.caps, axis, f"{where}caps")
    )
    kept = up_to(caps, limit, f"{where}caps")
    beyond = [
        Remark("cap_beyond_limit", f"{budgets.name_of(axis, cap)}: the own limit is {limit}")
        for cap in sorted(set(caps) - set(kept))
    ]
    return limit, kept, beyond
