"""The results page's scores: rates with intervals by agent and budget, ranks, and outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.controls import is_imported
from frozenbench.import_lines import TRUNCATED
from frozenbench.outcomes import OUTCOMES
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Paragraph,
    Rate,
    Subheading,
    Table,
    code,
    count,
    listed,
    percent,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs, Row, Rows
from frozenbench.pages.weights import effective, weights_of

#: Budgets that stand beside each other in one table; of more the figure gives the overview.
_COLUMNS = 16


def scores(inputs: PageInputs) -> Iterator[Block]:
    """Yield the rates of each slice with their intervals."""
    yield Paragraph(" ".join(_meaning(inputs)))
    for name in inputs.slices:
        rows = [row for row in inputs.summary if row["slice"] == name]
        told = ""
        if inputs.several:
            yield Subheading(f"Slice {name}")
            told = f", slice {name}"
        if 1 < len(inputs.view["budgets"]) <= _COLUMNS:
            yield _overview(inputs, rows, f"Weighted pass rate in %{told}: {_n(inputs, name)}")
        yield _whole(inputs, rows, f"All rates{told}: {_n(inputs, name)}")
        yield from _untold(rows)
    yield from _areas(inputs)


def _meaning(inputs: PageInputs) -> Iterator[str]:
    yield (
        "Weighted pass rate under each budget with its 95 % interval (Wilson, at the effective number "
        "of tasks; repeats do not multiply it). All cells are its denominator, and EXHAUSTED counts as "
        "not passed; `exhausted left out` is the rate of the cells that remain."
    )
    if is_imported(inputs.controls):
        yield f"No budget was enforced: the rates are {TRUNCATED}, lower bounds."
    if inputs.controls["grading"] == "every_step":
        yield (
            "Graded `every_step`: **an oracle stop, best of k**. A cell passes as soon as one of its "
            "steps is green, whether or not the agent would have left it at that."
        )
    if len(inputs.view["agents"]) > 1:
        yield (
            "Ties share a rank; the interval of a rank is of one agent alone and tests nothing: the "
            "tests stand under the next heading."
        )
    yield "A number in brackets says how many cells have a value, where not all do."


def _n(inputs: PageInputs, name: str) -> str:
    """Return n of a slice in words, the effective n where weights make it smaller."""
    weights, repeats = weights_of(inputs.controls, name), inputs.controls["repeats"]
    told = f"n = {count(weights.n, 'task')}"
    if repeats > 1:
        told += f" × {repeats} repeats"
    return told if weights.equal else f"{told}, effective n {effective(weights)}"


def _overview(inputs: PageInputs, rows: Rows, caption: str) -> Table:
    """Return the headline alone, agents by budgets: what the figure draws."""
    held = {(row["agent"], row["budget"]): row for row in rows}
    budgets = inputs.view["budgets"]
    told_apart = {row["budget"] for row in rows if row["rank"] > 1}

    def rate(agent: str, budget: str) -> Rate:
        row = held[agent, budget]
        ends = row["weighted_low"], row["weighted_high"]
        first = budget in told_apart and row["rank"] == 1
        return Rate(row["weighted_pass_rate"], *ends, strong=first, compact=True)

    body: list[list[Cell]] = [
        [plain(agent), *(rate(agent, budget) for budget in budgets)]
        for agent in inputs.view["agents"]
    ]
    told = f"{caption}; rank 1 is bold" if told_apart else caption
    return table(told, ["agent", *map(plain, budgets)], body)


def _whole(inputs: PageInputs, rows: Rows, caption: str) -> Table:
    """Return every rate; columns that would say the same as another one are left out."""
    columns = _columns(inputs, rows)
    places = {name: place for place, name in enumerate(inputs.view["budgets"])}
    body = [
        [cell(row) for _, cell in columns]
        for row in sorted(rows, key=lambda row: places[row["budget"]])  # agents keep their order
    ]
    return table(caption, [head for head, _ in columns], body, names=2)


def _columns(inputs: PageInputs, rows: Rows) -> list[tuple[str, Any]]:
    def share(name: str) -> Any:
        return lambda row: percent(row[name])

    equal = all(weights_of(inputs.controls, name).equal for name in inputs.slices)
    ranked = len(inputs.view["agents"]) > 1
    told = {
        "budget": lambda row: plain(row["budget"]),
        "agent": lambda row: plain(row["agent"]),
        "n": lambda row: row["n"],
        "weighted pass": lambda row: Rate(
            row["weighted_pass_rate"], row["weighted_low"], row["weighted_high"]
        ),
        "exhausted left out": _left_out,
        "pass": None if equal else share("pass_rate"),
        "without a hit cap": share("pass_rate_strict") if any(map(_at_cap, rows)) else None,
        "fail test": share("fail_test_rate"),
        "assume": share("assume_rate") if _known(rows, "assume_rate") else None,
        "exhaust": share("exhaust_rate"),
        "error": share("error_rate"),
        "rank": _rank if ranked else None,
        "rank, unit weights": (lambda row: row["rank_unweighted"])
        if ranked and not equal
        else None,
        "mean tools": _tools if _known(rows, "mean_tool_calls") else None,
    }
    return [(head, cell) for head, cell in told.items() if cell is not None]


def _at_cap(row: Row) -> bool:
    return bool(row["pass_rate"] != row["pass_rate_strict"])


def _known(rows: Rows, name: str) -> bool:
    return any(row[name] is not None for row in rows)


def _untold(rows: Rows) -> Iterator[Block]:
    names = {"assume": "assume_rate", "mean tools": "mean_tool_calls"}
    lacking = [told for told, name in names.items() if not _known(rows, name)]
    if lacking:
        yield Paragraph(f"Not known of any cell, and so in no column: {listed(lacking)}.")


def _rank(row: Row) -> str:
    return f"{row['rank']} ({row['rank_low']} to {row['rank_high']})"


def _left_out(row: Row) -> str:
    """Return the other bound: what the rate is if EXHAUSTED cells are not counted."""
    rate, n = row["weighted_pass_rate_without_exhausted"], row["n_without_exhausted"]
    if rate is None:
        return "null"
    return percent(rate) if n == row["n"] else f"{percent(rate)} ({n})"


def _tools(row: Row) -> str:
    mean, n = row["mean_tool_calls"], row["mean_tool_calls_n"]
    if mean is None:
        return "null"
    return f"{mean:.2f}" if n == row["n"] else f"{mean:.2f} ({n})"


def _areas(inputs: PageInputs) -> Iterator[Block]:
    """Yield the summary over all budgets of a ladder, where there are two caps or more."""
    if not inputs.areas:
        return
    yield Paragraph(
        "Over all budgets of a ladder: the mean of the weighted pass rate over the logarithm of the "
        "cap, straight between the budgets that were run. It belongs to no single budget; no rank and "
        "no test comes from it."
    )
    several = inputs.several
    rows = [
        [
            plain(row["agent"]),
            *([row["slice"]] if several else []),
            f"{code(row['budget_from'])} to {code(row['budget_to'])}",
            Rate(row["area"], row["area_low"], row["area_high"]),
        ]
        for row in inputs.areas
    ]
    head = ["agent", *(["slice"] if several else []), "ladder", "mean"]
    yield table("Mean weighted pass rate over log budget", head, rows)


def outcomes(inputs: PageInputs) -> Iterator[Block]:
    """Yield how many cells ended how, and why, by slice."""
    total = len(inputs.rated)
    yield Paragraph(
        f"Each of the {count(total, 'cell')} has exactly one of five outcomes: {', '.join(OUTCOMES)}. "
        "The table counts them over all budgets, with the reasons; the rates above are by budget."
    )
    slices = inputs.slices
    for name in slices:
        told = ""
        if inputs.several:
            yield Subheading(f"Slice {name}")
            told = f", slice {name}"
        cells = [row for row in inputs.rated if row["split"] == name]
        yield _outcome_table(inputs, cells, f"Outcomes over all budgets{told}")
    apart = [row for row in inputs.cells if not row["control"] and row["network"] == "open"]
    if apart:
        yield Paragraph(f"{count(len(apart), 'cell')} with an open network, in no rate:")
        yield _outcome_table(inputs, apart, "Outcomes with an open network")


def _outcome_table(inputs: PageInputs, cells: Rows, caption: str) -> Table:
    counts = Counter((row["agent"], row["outcome"], row["reason"]) for row in cells)
    of = Counter(row["agent"] for row in cells)
    order = {name: place for place, name in enumerate(inputs.view["agents"])}
    kinds = {name: place for place, name in enumerate(OUTCOMES)}
    keys = sorted(counts, key=lambda key: (order[key[0]], kinds[key[1]], key[2]))
    rows: Sequence[list[Cell]] = [
        [plain(agent), outcome, reason, counts[agent, outcome, reason], _share(counts, of, key)]
        for key in keys
        for agent, outcome, reason in (key,)
    ]
    return table(caption, ["agent", "outcome", "reason", "cells", "share"], rows)


def _share(counts: Mapping[Any, int], of: Mapping[str, int], key: tuple[str, str, str]) -> str:
    return percent(counts[key] / of[key[0]])
