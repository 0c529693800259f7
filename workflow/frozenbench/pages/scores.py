"""The results page's scores, ranking flips, contrasts and outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.pages.blocks import Block, Cell, Paragraph, Rate, Subheading, percent, table
from frozenbench.pages.inputs import PageInputs, Row, Rows

#: Contrasts on the page; the rest stand in the table.
_CONTRASTS = 24


def scores(inputs: PageInputs) -> Iterator[Block]:
    """Yield the rates of each slice with their intervals."""
    yield Paragraph(
        "Weighted pass rate under each budget with its 95 % interval (Wilson, at the effective number "
        "of tasks; repeats do not multiply it). Its denominator is all cells: one that a cap ended counts "
        "as not passed; `exhausted left out` is the rate without such cells. Ties share a rank. "
        "`n` = tasks × repeats."
    )
    header = ["budget", "agent", "n", "weighted pass", "exhausted left out", "pass"]
    header += [
        "without a hit cap",
        "assume",
        "exhaust",
        "error",
        "rank",
        "rank, unit weights",
        "mean tools",
    ]
    for name in inputs.slices:
        told = ""
        if inputs.slices != ["public"]:
            yield Subheading(f"Slice {name}")
            told = f" of the slice {name}"
        rows = [_score_row(row) for row in inputs.summary if row["slice"] == name]
        yield table(f"Scores{told}", header, rows, names=2)
    yield from _areas(inputs)


def _score_row(row: Row) -> list[Cell]:
    ranks = f"{row['rank']} ({row['rank_low']} to {row['rank_high']})"
    tools = row["mean_tool_calls"]
    return [
        row["budget"],
        row["agent"],
        row["n"],
        Rate(row["weighted_pass_rate"], row["weighted_low"], row["weighted_high"]),
        _left_out(row),
        percent(row["pass_rate"]),
        percent(row["pass_rate_strict"]),
        percent(row["assume_rate"]),
        percent(row["exhaust_rate"]),
        percent(row["error_rate"]),
        ranks,
        row["rank_unweighted"],
        "null" if tools is None else f"{tools:.2f} (n={row['mean_tool_calls_n']})",
    ]


def _left_out(row: Row) -> str:
    """Return the other bound: what the rate is if cells that a cap ended are not counted."""
    rate = row["weighted_pass_rate_without_exhausted"]
    return "null" if rate is None else f"{percent(rate)} (n={row['n_without_exhausted']})"


def _areas(inputs: PageInputs) -> Iterator[Block]:
    """Yield the summary over all budgets of a ladder, where there are two caps or more."""
    if not inputs.areas:
        return
    yield Paragraph(
        "Over all budgets of a ladder: the mean of the weighted pass rate over the logarithm of the "
        "cap. It belongs to no single budget; no rank and no test comes from it."
    )
    rows = [
        [
            row["agent"],
            row["slice"],
            f"`{row['budget_from']}` to `{row['budget_to']}`",
            Rate(row["area"], row["area_low"], row["area_high"]),
        ]
        for row in inputs.areas
    ]
    yield table("Mean pass rate over log budget", ["agent", "slice", "ladder", "mean"], rows)


def flips(inputs: PageInputs) -> Iterator[Block]:
    """Yield confirmed and suggestive flips, or that there is none, and what would show one."""
    facts = inputs.statistics
    yield Paragraph(
        f"A flip is confirmed where both contrasts are rejected with opposite signs (exact paired "
        f"test, Holm over {facts['contrasts']} contrasts, alpha {facts['alpha']:g}); suggestive where "
        f"95 % of {facts['resamples']} resamples of tasks keep both signs. Every other crossing is "
        "unresolved: identical agents cross too."
    )
    found = [flip for flip in inputs.flips if flip["kind"] != "unresolved"]
    if found:
        header = ["kind", "from", "to", "leader before", "leader after", "support", "lead flip"]
        several = inputs.slices != ["public"]
        rows = [[*([flip["slice"]] if several else []), *_flip_row(flip)] for flip in found]
        yield table("Ranking flips", [*(["slice"] if several else []), *header], rows)
    else:
        yield Paragraph("No flip is confirmed or suggestive.")
    unresolved = sum(flip["kind"] == "unresolved" for flip in inputs.flips)
    yield Paragraph(f"Unresolved crossings: {unresolved}.")
    yield Paragraph(" ".join(_power(facts)))
    if facts["rank_differs_unweighted"]:
        pairs = facts["rank_differs_unweighted"]
        told = "; ".join(f"{a} and {b} under {budget}" for a, b, budget in pairs)
        yield Paragraph(f"Under unit weights the order differs for {told}.")
    yield from _contrasts(inputs)


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


def _flip_row(flip: Row) -> list[Cell]:
    support = flip["support"]
    return [
        flip["kind"],
        flip["confirmed_from"] or flip["budget_from"],
        flip["confirmed_to"] or flip["budget_to"],
        flip["old_leader"],
        flip["new_leader"],
        "" if support is None else f"{support:.3f}",
        "yes" if flip["lead"] else "",
    ]


def _contrasts(inputs: PageInputs) -> Iterator[Block]:
    """Yield the clearest contrasts, smallest p first; equal ones stay in the table's order."""
    if not inputs.contrasts:
        return
    shown = sorted(inputs.contrasts, key=lambda row: row["p"])[:_CONTRASTS]
    several = inputs.slices != ["public"]
    header = ["budget", "first", "second", "difference", "95 % alone", "discordant", "p"]
    header += ["p, Holm", "resolved", "tasks for 80 % power"]
    rows = [[*([row["slice"]] if several else []), *_contrast_row(row)] for row in shown]
    yield table("Contrasts: first minus second", [*(["slice"] if several else []), *header], rows)
    left = len(inputs.contrasts) - len(shown)
    if left:
        yield Paragraph(
            f"These are the {len(shown)} clearest of {len(inputs.contrasts)} contrasts; all stand in "
            "`tables/contrasts.csv`."
        )


def _contrast_row(row: Row) -> list[Cell]:
    ends = row["low"], row["high"]
    alone = "null" if None in ends else f"[{100 * ends[0]:+.0f}, {100 * ends[1]:+.0f}]"
    needed = row["n_for_80_power"]
    return [
        row["budget"],
        row["agent_a"],
        row["agent_b"],
        f"{100 * row['delta']:+.1f} points",
        alone,
        row["discordant"],
        probability(row["p"]),
        probability(row["p_holm"]),
        "yes" if row["rejected"] else "no",
        "null" if needed is None else needed,
    ]


def probability(value: float) -> str:
    """Return a p value as text; a small one is never 0."""
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def outcomes(inputs: PageInputs) -> Iterator[Block]:
    """Yield how many cells ended how, and why, by slice."""
    yield Paragraph("Each cell has exactly one of five outcomes; the reasons, over all budgets:")
    header = ["agent", "outcome", "reason", "cells"]
    slices = sorted({row["split"] for row in inputs.rated})
    for name in slices:
        told = ""
        if slices != ["public"]:
            yield Subheading(f"Slice {name}")
            told = f" of the slice {name}"
        rows = _outcome_rows(inputs, [row for row in inputs.rated if row["split"] == name])
        yield table(f"Outcomes{told}", header, rows)
    apart = [row for row in inputs.cells if not row["control"] and row["network"] == "open"]
    if apart:
        yield Paragraph("With an open network, in no rate:")
        yield table("Outcomes with an open network", header, _outcome_rows(inputs, apart))


def _outcome_rows(inputs: PageInputs, cells: Rows) -> Sequence[list[Cell]]:
    counts = Counter((row["agent"], row["outcome"], row["reason"]) for row in cells)
    order = {name: place for place, name in enumerate(inputs.view["agents"])}
    keys = sorted(counts, key=lambda key: (order[key[0]], key[1], key[2]))
    return [[*key, counts[key]] for key in keys]
