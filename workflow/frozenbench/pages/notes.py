"""What the numbers of a results page do not say: what a reader needs to distrust them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from frozenbench.pages.inputs import PageInputs


def notes(inputs: PageInputs) -> Iterator[str]:
    """Yield what a reader needs to distrust the numbers, one sentence each."""
    controls, view = inputs.controls, inputs.view
    scored = [row for row in inputs.cells if not row["control"]]
    if view["pack"]["status"] == "proposal":
        yield "The pack is a proposal: nobody outside has vouched for its tasks."
    for name, count in _task_counts(controls).items():
        yield f"n is {count} {name} tasks; the task is the unit of every test."
    unqualified = [name for name, task in controls["tasks"].items() if not task["qualified"]]
    if unqualified:
        yield f"Unqualified tasks, without a reference solution: {', '.join(unqualified)}."
    unknown = sum(row["tokens"] is None for row in scored)
    yield f"Tokens are not reported in {unknown} of {len(scored)} cells."
    yield from _self_reported(inputs)
    at_cap = sum(row["outcome"] == "PASS" and row["cap_hit"] is not None for row in scored)
    yield f"{at_cap} PASS cells hit a cap; `without a hit cap` is the rate without them."
    clock = sum(row["cap_hit"] == "wall_clock" for row in scored)
    yield f"The wall clock decided {clock} cells."
    yield from _machine_notes(inputs)
    if controls["grading"] == "every_step":
        yield "every_step is an oracle stop: what a harness sees that stops at the first green test."
    apart = [name for name, task in controls["tasks"].items() if task["network"] == "open"]
    if apart:
        yield f"Tasks with an open network, in no rate: {', '.join(apart)}."
    if any(task["split"] == "held_out" for task in controls["tasks"].values()):
        yield "Held-out tasks are a slice of their own and are never pooled with the others."
    yield from _identical_repeats(inputs)


def _self_reported(inputs: PageInputs) -> Iterator[str]:
    """Name the agents whose tokens no endpoint vouches for."""
    agents = inputs.controls["agents"]
    found = [
        name
        for name in inputs.view["agents"]
        if "endpoint" not in agents[name]["sheet"]
        and any(row["agent"] == name and row["tokens"] is not None for row in inputs.cells)
    ]
    if found:
        yield f"Tokens of {', '.join(found)} are what the agent says of itself."


def _task_counts(controls: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of tasks of each slice that enter its rates."""
    rated = (task for task in controls["tasks"].values() if task["network"] != "open")
    return dict(sorted(Counter(task["split"] for task in rated).items()))


def _machine_notes(inputs: PageInputs) -> Iterator[str]:
    responses = inputs.responses
    if responses["distinct"]:
        yield (
            f"The {responses['distinct']} model responses date from {responses['first_date']} to "
            f"{responses['last_date']}: the endpoint may answer otherwise today."
        )
    machines = sorted({row["machine_class"] for row in inputs.measured})
    yield f"Machine classes: {', '.join(machines)}."
    cold = sum(not row["warm"] for row in inputs.measured if row["warm"] is not None)
    if cold:
        yield f"{cold} cells were the first of their environment on a cold machine."
    again = sum(row["attempts"] > 1 for row in inputs.measured)
    if again:
        yield f"{again} cells are a later attempt, after an infrastructure ERROR."
    retries = sum(row["infra_retries"] or 0 for row in inputs.measured)
    if retries:
        yield f"{retries} infrastructure retries, off the agents' clocks."


def _identical_repeats(inputs: PageInputs) -> Iterator[str]:
    if inputs.controls["repeats"] < 2:
        return
    for agent in inputs.view["agents"]:
        groups: dict[tuple[str, str], set[str]] = {}
        for row in inputs.cells:
            if row["agent"] == agent:
                key = (row["task"], row["budget"])
                groups.setdefault(key, set()).add(row["artifact_sha256"])
        if groups and all(len(found) == 1 for found in groups.values()):
            yield f"All repeats of {agent} are identical: nothing random took part in them."
