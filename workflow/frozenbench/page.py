"""The results page: controls first, then scores, flips, outcomes, and what the numbers do not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frozenbench.page_controls import controls_section, table

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class PageInputs:
    """Everything that the page tells, read from the experiment's files."""

    controls: Mapping[str, Any]
    view: Mapping[str, Any]
    responses: Mapping[str, Any]
    cells: Rows
    measured: Rows
    summary: Rows
    contrasts: Rows
    flips: Rows
    statistics: Mapping[str, Any]


def refused_page(
    controls: Mapping[str, Any], view: Mapping[str, Any], refusals: Sequence[Mapping[str, str]]
) -> str:
    """Return the page of an experiment whose score is refused: the controls, and why."""
    lines = [
        f"# {controls['experiment']['name']}: no score",
        "",
        "What was computed stays on disk; no score is printed, because:",
        "",
    ]
    for refusal in refusals:
        lines.append(f"- **{refusal['control']}**: {refusal['message']}.")
        lines.append(f"  *Cure:* {refusal['cure']}.")
    return "\n".join([*lines, "", *controls_section(controls, view)]) + "\n"


def results_page(inputs: PageInputs) -> str:
    """Return the whole page as Markdown."""
    controls, view = inputs.controls, inputs.view
    title = view["title"] or f"{controls['experiment']['name']}: pass rate against the budget"
    parts: list[Iterator[str] | list[str]] = [
        [f"# {title}", "", finding(inputs.statistics), ""],
        controls_section(controls, view, inputs.responses),
        _scores(inputs),
        _figures(view),
        _flips(inputs),
        _outcomes(inputs),
        _unsaid(inputs),
        _check(controls),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def finding(statistics: Mapping[str, Any]) -> str:
    """Return the computed finding in one sentence."""
    told = (
        f"**{statistics['confirmed_pairs']} confirmed and {statistics['suggestive_pairs']} "
        f"suggestive ranking flips among {statistics['pairs']} pairs of agents.**"
    )
    if statistics["cannot_confirm"]:
        told += " With so few tasks this pack cannot confirm a flip."
    return told


def _scores(inputs: PageInputs) -> Iterator[str]:
    yield "## Scores"
    yield ""
    yield (
        "Weighted pass rate under each budget with its 95 % interval (Wilson, at the effective number "
        "of tasks; repeats do not multiply it). Ties share a rank. `n` = tasks × repeats."
    )
    yield ""
    for name in dict.fromkeys(row["slice"] for row in inputs.summary):
        rows = [row for row in inputs.summary if row["slice"] == name]
        if len({row["slice"] for row in inputs.summary}) > 1 or name != "public":
            yield f"### Slice {name}"
            yield ""
        header = ["budget", "agent", "n", "weighted pass", "pass", "without a hit cap"]
        header += ["assume", "exhaust", "error", "rank", "rank, unit weights", "mean tools"]
        yield from table(header, [_score_row(row) for row in rows])


def _score_row(row: Mapping[str, Any]) -> list[str]:
    interval = _interval(row["weighted_pass_rate"], row["weighted_low"], row["weighted_high"])
    ranks = f"{row['rank']} ({row['rank_low']} to {row['rank_high']})"
    tools = row["mean_tool_calls"]
    return [
        row["budget"],
        row["agent"],
        row["n"],
        interval,
        percent(row["pass_rate"]),
        percent(row["pass_rate_strict"]),
        percent(row["assume_rate"]),
        percent(row["exhaust_rate"]),
        percent(row["error_rate"]),
        ranks,
        row["rank_unweighted"],
        "null" if tools is None else f"{tools:.2f} (n={row['mean_tool_calls_n']})",
    ]


def percent(value: float | None) -> str:
    """Return a rate as text; null stays null."""
    return "null" if value is None else f"{100 * value:.1f} %"


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return "null"
    return f"**{100 * value:.1f} %** [{100 * low:.0f}, {100 * high:.0f}]"


def _figures(view: Mapping[str, Any]) -> Iterator[str]:
    for figure in view["figures"]:
        yield f"![{figure}: the controls stand above the score](figures/{figure}.png)"
        yield ""


def _flips(inputs: PageInputs) -> Iterator[str]:
    facts = inputs.statistics
    yield "## Ranking flips"
    yield ""
    yield (
        f"A flip is confirmed where both contrasts are rejected with opposite signs (exact paired "
        f"test, Holm over {facts['contrasts']} contrasts, alpha {facts['alpha']:g}); suggestive where "
        f"95 % of {facts['resamples']} resamples of tasks keep both signs. Every other crossing is "
        "unresolved: identical agents cross too."
    )
    yield ""
    flips = [flip for flip in inputs.flips if flip["kind"] != "unresolved"]
    if flips:
        header = ["kind", "from", "to", "leader before", "leader after", "support", "lead flip"]
        yield from table(header, [_flip_row(flip) for flip in flips])
    else:
        yield "No flip is confirmed or suggestive."
        yield ""
    unresolved = sum(flip["kind"] == "unresolved" for flip in inputs.flips)
    yield f"Unresolved crossings: {unresolved}."
    yield ""
    yield from _power(facts)
    if facts["rank_differs_unweighted"]:
        pairs = facts["rank_differs_unweighted"]
        told = "; ".join(f"{a} and {b} under {budget}" for a, b, budget in pairs)
        yield f"Under unit weights the order differs for {told}."
        yield ""


def _power(facts: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"The smallest number of discordant tasks, all one way, with which a contrast could be "
        f"rejected here is {facts['min_discordant']}."
    )
    if facts["cannot_confirm"]:
        yield "That is more than half of the tasks: **this pack cannot confirm a flip.**"
    if facts["n_for_80_power"] is not None:
        yield (
            f"At the discordance observed in the clearest contrast, {facts['n_for_80_power']} tasks "
            "would give 80 % power."
        )
    yield ""


def _flip_row(flip: Mapping[str, Any]) -> list[str]:
    support = flip["support"]
    start = flip["confirmed_from"] or flip["budget_from"]
    end = flip["confirmed_to"] or flip["budget_to"]
    return [
        flip["kind"],
        start,
        end,
        flip["old_leader"],
        flip["new_leader"],
        "" if support is None else f"{support:.3f}",
        "yes" if flip["lead"] else "",
    ]


def _outcomes(inputs: PageInputs) -> Iterator[str]:
    yield "## Outcomes"
    yield ""
    yield "Each cell has exactly one of five outcomes; the reasons, over all budgets:"
    yield ""
    rated = [row for row in inputs.cells if not row["control"] and row["network"] != "open"]
    slices = sorted({row["split"] for row in rated})
    for name in slices:
        if slices != ["public"]:
            yield f"### Slice {name}"
            yield ""
        rows = [row for row in rated if row["split"] == name]
        yield from table(["agent", "outcome", "reason", "cells"], _outcome_rows(inputs, rows))
    apart = [row for row in inputs.cells if not row["control"] and row["network"] == "open"]
    if apart:
        yield "With an open network, in no rate:"
        yield ""
        yield from table(["agent", "outcome", "reason", "cells"], _outcome_rows(inputs, apart))


def _outcome_rows(inputs: PageInputs, cells: Rows) -> list[list[Any]]:
    counts = Counter((row["agent"], row["outcome"], row["reason"]) for row in cells)
    order = {name: place for place, name in enumerate(inputs.view["agents"])}
    keys = sorted(counts, key=lambda key: (order[key[0]], key[1], key[2]))
    return [[*key, counts[key]] for key in keys]


def _unsaid(inputs: PageInputs) -> Iterator[str]:
    yield "## What these numbers do not say"
    yield ""
    for note in notes(inputs):
        yield f"- {note}"
    yield ""


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


def _check(controls: Mapping[str, Any]) -> Iterator[str]:
    yield "## Check it"
    yield ""
    yield "    frozenbench verify            # re-hash everything in results/"
    yield "    frozenbench show AGENT TASK BUDGET"
    yield "    frozenbench explain AGENT TASK BUDGET"
    yield ""
