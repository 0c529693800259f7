"""What the numbers of a results page do not say: what a reader needs to distrust them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.controls import is_imported
from frozenbench.grader_attacks import grader_attacks
from frozenbench.outcomes import INFRASTRUCTURE
from frozenbench.pages.blocks import code, count, listed, plain
from frozenbench.pages.controls import loose_control
from frozenbench.pages.inputs import PageInputs, Row, task_name
from frozenbench.pages.weights import weight_notes, weights_of

#: What tells two runs of one cell apart beside their files and their clocks.
_ENDED = ("outcome", "reason", "cap_hit", "tool_calls", "edit_rounds", "tokens")
#: Agents or tasks that a note names one by one.
_NAMED = 12


def notes(inputs: PageInputs) -> Iterator[str]:
    """Yield what a reader needs to distrust the numbers, one note each."""
    yield from _pack_notes(inputs)
    yield from sample_notes(inputs)
    yield from _agent_notes(inputs)
    yield from _cell_notes(inputs)
    yield from _machine_notes(inputs)
    yield from _grading_notes(inputs)


def names(found: Sequence[str]) -> str:
    """Return names from outside as running text, the first of many."""
    if len(found) > _NAMED:
        return f"{', '.join(map(plain, found[:_NAMED]))} and {len(found) - _NAMED} more"
    return listed([plain(name) for name in found])


def _pack_notes(inputs: PageInputs) -> Iterator[str]:
    controls, view = inputs.controls, inputs.view
    if view["pack"]["status"] == "proposal":
        yield "The pack is a proposal: nobody outside has vouched for its tasks."
    if inputs.pack_check is None:
        yield "The pack's graders were not checked by `frozenbench pack check` in this environment."
    unqualified = [name for name, task in controls["tasks"].items() if not task["qualified"]]
    if unqualified:
        yield f"Unqualified tasks, without a reference solution: {_tasks(controls, unqualified)}."
    trust = Counter(task["grader_trust"] for task in controls["tasks"].values())
    if trust["in-process"]:
        yield (
            f"{count(trust['in-process'], 'task')} {_is(trust['in-process'])} graded `in-process`: the "
            "tests import the candidate. Of the attacks that this version tries, a grader calls PASS: "
            f"{grader_attacks()}."
        )
    if trust["exit-status"]:
        yield (
            f"{count(trust['exit-status'], 'task')} {_is(trust['exit-status'])} graded by an exit "
            "status alone: nobody counted which tests ran."
        )
    apart = [name for name, task in controls["tasks"].items() if task["network"] == "open"]
    if apart:
        yield f"Tasks with an open network, in no rate: {_tasks(controls, apart)}."
    if any(task["split"] == "held_out" for task in controls["tasks"].values()):
        yield "Held-out tasks are a slice of their own and are never pooled with the others."


def _tasks(controls: Mapping[str, Any], tasks: Sequence[str]) -> str:
    return names([task_name(controls, task) for task in tasks])


def sample_notes(inputs: PageInputs) -> Iterator[str]:
    """Yield what n is, what weights and repeats make of it, and how wide that leaves a rate."""
    repeats = inputs.controls["repeats"]
    for name in inputs.slices:
        weights = weights_of(inputs.controls, name)
        yield f"n is {count(weights.n, f'{name} task')}; the task is the unit of every test."
        yield from weight_notes(weights, inputs.facts(name).get("weight_notice"))
        yield from _width(inputs, name)
    if repeats > 1:
        yield (
            f"Each agent ran each task {repeats} times under each budget. Repeats are averaged within "
            "their task and do not multiply n: it stays the number of tasks."
        )


def _width(inputs: PageInputs, name: str) -> Iterator[str]:
    widest = max(
        (
            row["weighted_high"] - row["weighted_low"]
            for row in inputs.summary
            if row["slice"] == name and row["weighted_low"] is not None
        ),
        default=None,
    )
    if widest is not None:
        of = f" of the slice {name}" if inputs.several else ""
        yield f"The widest 95 % interval of a rate{of} spans {100 * widest:.0f} percentage points."


def _agent_notes(inputs: PageInputs) -> Iterator[str]:
    controls = inputs.controls
    agents = {name: controls["agents"][name] for name in inputs.view["agents"]}
    loose: dict[str, list[str]] = {}
    for name, agent in agents.items():
        for control in agent["unpinned"]:
            loose.setdefault(control, []).append(name)
    for control, held in loose.items():
        yield f"Not pinned: {loose_control(control)} of {names(held)}."
    drawn = [name for name, agent in agents.items() if agent["sheet"].get("temperature")]
    if drawn and controls["repeats"] == 1:
        yield (
            f"{names(drawn)} {_draw(len(drawn))} answers at random (temperature above 0) and each cell "
            "was run once: how much another run of the same cell would differ is not known."
        )
    if drawn and controls["responses_policy"] == "shared" and len(inputs.view["budgets"]) > 1:
        yield (
            f"Budgets share recorded answers (`shared`): the rates of {names(drawn)} along the budgets "
            "are one draw seen under several caps, not several draws."
        )
    told = [
        name
        for name, agent in agents.items()
        if "endpoint" not in agent["sheet"]
        and any(row["agent"] == name and row["tokens"] is not None for row in inputs.cells)
    ]
    if told:
        whom = "the agent says of itself" if len(told) == 1 else "the agents say of themselves"
        yield f"Tokens of {names(told)} are what {whom}."
    yield from _identical_repeats(inputs)


def _draw(agents: int) -> str:
    return "draws" if agents == 1 else "draw"


def _cell_notes(inputs: PageInputs) -> Iterator[str]:
    scored = inputs.rated
    unknown = sum(row["tokens"] is None for row in scored)
    if unknown:
        yield f"Tokens are not reported in {unknown:,} of {count(len(scored), 'cell')}."
    else:
        yield f"Tokens are reported in all {count(len(scored), 'cell')}."
    at_cap = sum(row["outcome"] == "PASS" and row["cap_hit"] is not None for row in scored)
    if at_cap:
        yield (
            f"{count(at_cap, 'PASS cell')} hit a cap; `without a hit cap` is the share of PASS without "
            "them."
        )
    else:
        yield "No PASS cell hit a cap."
    clock = sum(row["cap_hit"] == "wall_clock" for row in scored)
    yield f"The wall clock decided {count(clock, 'cell') if clock else 'no cell'}."
    yield from error_notes(inputs)


def error_notes(inputs: PageInputs) -> Iterator[str]:
    """Yield how many cells are ERROR, if any, and whose doing that is."""
    errors = [row for row in inputs.rated if row["outcome"] == "ERROR"]
    if not errors:
        return
    if is_imported(inputs.controls):
        reasons = Counter(row["reason"] for row in errors)
        whose = listed([f"{code(name)} {held:,}" for name, held in sorted(reasons.items())])
        whose = f": {whose}"
    else:
        ours = sum(row["reason"] in INFRASTRUCTURE for row in errors)
        whose = f", {ours} of them by infrastructure"
    yield (
        f"{count(len(errors), 'cell')} {_is(len(errors))} ERROR and "
        f"count{_s(len(errors))} as not passed{whose}."
    )


def _machine_notes(inputs: PageInputs) -> Iterator[str]:
    responses = inputs.responses
    if responses["distinct"]:
        first, last = responses["first_date"], responses["last_date"]
        dates = f"is of {first}" if first == last else f"are of {first} to {last}"
        if responses["distinct"] == 1:
            told = f"The one model response {dates}"
        else:
            told = (
                f"The {responses['distinct']:,} model responses {dates.replace('is of', 'are of')}"
            )
        yield f"{told}: the endpoint may answer otherwise today."
    machines = sorted({row["machine_class"] for row in inputs.measured})
    yield f"Machine class{'' if len(machines) == 1 else 'es'}: {', '.join(map(code, machines))}."
    known = [row for row in inputs.measured if row["warm"] is not None]
    cold = sum(not row["warm"] for row in known)
    if cold:
        yield (
            f"{cold:,} of {count(len(known), 'cell')}, control cells among them, {_was(cold)} the first "
            f"of {_its(cold)} environment, on a cold machine; seconds of the others are of a warm one."
        )
    again = sum(row["attempts"] > 1 for row in inputs.measured)
    if again:
        yield f"{count(again, 'cell')} {_is(again)} a later attempt, after an infrastructure ERROR."
    retries = sum(row["infra_retries"] or 0 for row in inputs.measured)
    if retries:
        yield f"{count(retries, 'retry', 'retries')} of infrastructure, off the agents' clocks."


def _grading_notes(inputs: PageInputs) -> Iterator[str]:
    if inputs.controls["grading"] == "every_step":
        yield (
            "`every_step` is an oracle stop, best of k: what a harness sees that stops at the first "
            "green test."
        )
    accepted = inputs.controls["accepted"]
    if accepted:
        told = [f"{plain(name)}: {plain(value)}" for name, value in accepted.items()]
        yield f"Accepted by name in the config: {listed(told)}."


def _identical_repeats(inputs: PageInputs) -> Iterator[str]:
    if inputs.controls["repeats"] < 2:
        return
    for agent in inputs.view["agents"]:
        rows = [row for row in inputs.rated if row["agent"] == agent]
        if not rows or not _alike(rows, ("artifact_sha256",)):
            continue
        if not _alike(rows, _ENDED):
            yield (
                f"All repeats of {plain(agent)} left the same files, with other outcomes, reasons or "
                "meters."
            )
        elif _samples(inputs.controls["agents"][agent]["sheet"]):
            yield f"All repeats of {plain(agent)} left the same files, although it may sample."
        else:
            yield (
                f"All repeats of {plain(agent)} are identical, in files, outcomes, reasons and "
                "meters: nothing random shows in them."
            )


def _alike(rows: Sequence[Row], columns: Sequence[str]) -> bool:
    """Tell whether the repeats of each cell have the same values there."""
    held: dict[tuple[str, str], set[tuple[Any, ...]]] = {}
    for row in rows:
        values = tuple(row[name] for name in columns)
        held.setdefault((row["task"], row["budget"]), set()).add(values)
    return all(len(found) == 1 for found in held.values())


def _samples(sheet: Mapping[str, Any]) -> bool:
    """Tell whether a model draws its answers, or does as its endpoint pleases."""
    temperature = sheet.get("temperature")
    return bool(temperature) or ("endpoint" in sheet and temperature is None)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _its(number: int) -> str:
    return "its" if number == 1 else "their"


def _s(number: int) -> str:
    return "s" if number == 1 else ""
