"""Who is one agent: told by what its logs state, by its name alone, or by its run.

A log of finished runs often names nothing but the model. Two harnesses, two versions or two
settings on one model are two agents all the same, and two folders of one setting are repeats.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from frozenbench.importers.model import Part, Remark, Row
from frozenbench.importers.verdicts import RunKey, run_key

#: What tells agents apart. `log`: what the logs state, and repeats where they state the same.
#: `name`: their names alone; all else is repeats. `run`: each folder or file of logs.
LOG, NAME, RUN = WAYS = ("log", "name", "run")

#: The fact that every log of a harness has; one without further facts states no settings.
HARNESS = "harness"
#: Settings by which agents are named, in this order, where they differ.
NAMED = (
    HARNESS,
    "temperature",
    "step_limit",
    "per_instance_call_limit",
    "cost_limit",
    "per_instance_cost_limit",
    "wall_time_limit_seconds",
)
#: From so many logs on, a setting with another value in each is of the task, and of no agent.
_MANY = 3


@dataclass
class _Run:
    """What the logs of one run state.

    Attributes:
        logs: how many state anything: a verdict without a log does not.
        tasks: task -> number of logs.
        facts: setting -> value -> number of logs.
    """

    key: RunKey
    logs: int = 0
    tasks: Counter[str] = field(default_factory=Counter)
    facts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def name(self) -> str:
        return self.key[1]

    def settings(self) -> dict[str, frozenset[str]]:
        """Return setting -> its values, less what is another in each log: that is of the task."""
        return {
            fact: frozenset(values)
            for fact, values in self.facts.items()
            if not (self.logs >= _MANY and len(values) == self.logs)
        }

    @property
    def states_settings(self) -> bool:
        return bool(set(self.facts) - {HARNESS})


def told_apart(parts: Sequence[Part], by: str) -> tuple[list[Part], list[Remark]]:
    """Return the parts with one name for each agent, and what was told apart or put together.

    Args:
        parts: what the files gave.
        by: one of WAYS.
    """
    by_agent: dict[str, list[_Run]] = defaultdict(list)
    for run in _runs(parts):
        by_agent[run.key[0]].append(run)
    names: dict[RunKey, str] = {}
    remarks: list[Remark] = []
    for agent, runs in by_agent.items():
        remarks += _differing(agent, [_merged(runs)] if by == NAME else runs)
        groups = _groups(runs, by if any(run.facts for run in runs) or by == RUN else NAME)
        if by == LOG:
            remarks += _repeated(agent, groups)
        if len(groups) > 1:
            labels = _labels(agent, groups, by)
            remarks.append(_apart(agent, groups, labels, by))
            for group, label in zip(groups, labels, strict=True):
                names |= {run.key: label for run in group}
    return [_renamed(part, names) for part in parts] if names else list(parts), remarks


def _runs(parts: Iterable[Part]) -> list[_Run]:
    """Return the runs of all agents; those of formats that state no facts are told by name alone."""
    runs: dict[RunKey, _Run] = {}
    for part in parts:
        for row in part.rows:
            run = runs.setdefault(run_key(row), _Run(run_key(row)))
            run.tasks[row.task] += 1
            facts = part.facts.get(row.agent, {})
            run.logs += bool(facts)
            for fact, value in facts.items():
                run.facts[fact][value] += 1
    return list(runs.values())


def _merged(runs: Sequence[_Run]) -> _Run:
    """Return runs as one."""
    whole = _Run(runs[0].key)
    for run in runs:
        whole.logs += run.logs
        whole.tasks += run.tasks
        for fact, counts in run.facts.items():
            whole.facts[fact] += counts
    return whole


def _groups(runs: Sequence[_Run], by: str) -> list[list[_Run]]:
    """Put together the runs that are one agent; by log, those that state the same settings.

    Runs that state none are one agent as long as no task stands in two of them.
    """
    if by != LOG:
        return [list(runs)] if by == NAME else [[run] for run in runs]
    silent = [run for run in runs if not run.states_settings]
    tasks = [task for run in silent for task in run.tasks]
    groups: dict[object, list[_Run]] = {}
    for run in runs:
        stated = frozenset(run.settings().items())
        alone = run in silent and len(set(tasks)) < len(tasks)
        groups.setdefault((stated, run.name if alone else None), []).append(run)
    return list(groups.values())


def _repeated(agent: str, groups: Iterable[Sequence[_Run]]) -> Iterator[Remark]:
    """Yield the agents of which a task stands in several runs: repeats, by all that tells them."""
    for group in groups:
        counts = Counter(task for run in group for task in run.tasks)
        twice = sum(count > 1 for count in counts.values())
        if twice:
            told = ", ".join(run.name for run in group[:4]) + ", …" * (len(group) > 4)
            alike = " state the same settings" if group[0].facts else ""
            yield Remark(
                "repeats_by_run",
                f"{agent}: {twice} of {len(counts)} tasks stand in several of {len(group)} runs that"
                f"{alike or ' have its name'} ({told}): agents-by run makes each an agent",
            )


def _labels(agent: str, groups: Sequence[Sequence[_Run]], by: str) -> list[str]:
    """Return a name for each group: by the first settings that tell them, else by their place."""
    told = [_settings(group) for group in groups]
    differing = [fact for fact in NAMED if len({held.get(fact) for held in told}) > 1]
    for most in range(1, len(differing) + 1 if by == LOG else 1):
        words = [", ".join(_words(fact, held) for fact in differing[:most]) for held in told]
        if len(set(words)) == len(words):
            return [f"{agent} ({text})" for text in words]
    places = tails([group[0].name for group in groups])
    return [agent if place == agent else f"{agent} ({place})" for place in places]


def _settings(group: Sequence[_Run]) -> dict[str, frozenset[str]]:
    """Return what a group states: its runs state the same."""
    return group[0].settings()


def _words(fact: str, held: Mapping[str, frozenset[str]]) -> str:
    values = "/".join(sorted(held.get(fact, ()))) or "not stated"
    return values if fact == HARNESS and fact in held else f"{fact} {values}"


def tails(places: Sequence[str]) -> list[str]:
    """Return the ends of paths, as short as they differ from one another."""
    parts = [PurePosixPath(place).parts for place in places]
    for length in range(1, max(map(len, parts)) + 1):
        found = ["/".join(part[-length:]) for part in parts]
        if len(set(found)) == len(found):
            return found
    return list(places)


def _apart(agent: str, groups: Sequence[Sequence[_Run]], labels: Sequence[str], by: str) -> Remark:
    told = [_settings(group) for group in groups]
    facts = sorted({fact for held in told for fact in held})
    differing = [fact for fact in facts if len({held.get(fact) for held in told}) > 1]
    why = "by run"
    if by == LOG:
        shown = ", ".join(differing[:4]) + f" and {len(differing) - 4} more" * (len(differing) > 4)
        why = f"they differ in {shown}" if differing else "they state no settings"
    named = "; ".join(
        f"{label}: {group[0].name}" for label, group in zip(labels, groups, strict=True)
    )
    cure = "; agents-by name makes them one" if by == LOG else ""
    return Remark("told_apart", f"{agent}: {len(groups)} agents, {why}: {named}{cure}")


def _differing(agent: str, runs: Iterable[_Run]) -> Iterator[Remark]:
    """Yield a remark where the logs of one run, or of one agent by name, are of several settings.

    Those of NAMED are controls, and told as these.
    """
    for run in runs:
        told = [
            f"{fact} ({len(counts)} values)" if len(counts) > 1 else f"{fact} (not in all logs)"
            for fact, counts in sorted(run.facts.items())
            if fact not in NAMED
            and fact in run.settings()
            and (len(counts) > 1 or counts.total() < run.logs)
        ]
        if told:
            more = f" and {len(told) - 4} more" * (len(told) > 4)
            yield Remark("settings_differ", f"{agent} in {run.name}: {', '.join(told[:4])}{more}")


def _renamed(part: Part, names: Mapping[RunKey, str]) -> Part:
    """Return a part under the final names of its agents."""

    def name(row: Row) -> str:
        return names.get(run_key(row), row.agent)

    new: dict[str, dict[str, None]] = defaultdict(dict)
    for row in part.rows:
        new[row.agent].setdefault(name(row))
    if all(list(held) == [agent] for agent, held in new.items()):
        return part
    return replace(
        part,
        rows=tuple(replace(row, agent=name(row)) for row in part.rows),
        stated={n: held for agent, held in part.stated.items() for n in new.get(agent, (agent,))},
        limits={n: held for agent, held in part.limits.items() for n in new.get(agent, (agent,))},
        expected=tuple(
            (n, task) for agent, task in part.expected for n in new.get(agent, (agent,))
        ),
    )
