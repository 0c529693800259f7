"""The results page's ranking flips and the contrasts behind them, slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.headline import first_step, headline
from frozenbench.number_text import p_value
from frozenbench.number_text import points as points_text
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Paragraph,
    Subheading,
    count,
    listed,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs, Row, Rows

#: Contrasts on the page, and pairs that are named in running text; the rest stand in the tables.
_CONTRASTS, _PAIRS = 24, 6
_STRENGTH = {"confirmed": 0, "suggestive": 1}


def flips(inputs: PageInputs) -> Iterator[Block]:
    """Yield confirmed and suggestive flips, or that there is none, and what would show one."""
    yield Paragraph(" ".join(_meaning(inputs)))
    for name in inputs.slices:
        if inputs.several:
            yield Subheading(f"Slice {name}")
        yield from _slice(inputs, name)


def _meaning(inputs: PageInputs) -> Iterator[str]:
    facts = inputs.statistics
    if not facts["pairs"]:
        yield "There is one agent: nothing is compared."
        return
    yield (
        "A flip is **confirmed** where two budgets of a ladder have contrasts that are both rejected, "
        f"with opposite signs (exact paired test, Holm over {_per_slice(inputs)}, alpha "
        f"{facts['alpha']:g}); **suggestive** where 95 % of {facts['resamples']:,} resamples of tasks "
        "keep both signs. Every other crossing is unresolved: identical agents cross too."
    )


def _per_slice(inputs: PageInputs) -> str:
    told = count(inputs.statistics["contrasts"], "contrast")
    return f"{told} in each slice" if inputs.several else told


def _slice(inputs: PageInputs, name: str) -> Iterator[Block]:
    facts = inputs.facts(name)
    yield Paragraph(f"**{headline(facts, inputs.controls, inputs.view)}**")
    if not facts["pairs"]:
        return
    crossings = [flip for flip in inputs.flips if flip["slice"] == name]
    found = [flip for flip in crossings if flip["kind"] in _STRENGTH]
    told = f", slice {name}" if inputs.several else ""
    if found:
        found.sort(key=lambda flip: (_STRENGTH[flip["kind"]], not flip["lead"]))
        yield table(f"Ranking flips{told}", _HEAD, [_flip_row(flip) for flip in found])
        yield Paragraph(
            "`lead flip`: the two agents are first of all under these budgets. `support`: share of the "
            "resamples; a confirmed flip stands on its two tests instead."
        )
    yield from _unresolved(len(crossings) - len(found), " besides" if found else "")
    yield Paragraph(" ".join(_power(facts)))
    yield from _unit_weights(facts)
    yield from _contrasts(inputs, name, told)


def _unresolved(crossings: int, besides: str) -> Iterator[Block]:
    if crossings:
        are, each = ("is", "it") if crossings == 1 else ("are", "each")
        yield Paragraph(
            f"{count(crossings, 'crossing')}{besides} {are} unresolved: the data do not tell who is "
            f"ahead on one side of {each}, or on both."
        )


_HEAD = ["kind", "from", "to", "ahead before", "ahead after", "support", "lead flip"]


def _flip_row(flip: Row) -> list[Cell]:
    support = flip["support"]
    return [
        flip["kind"],
        plain(flip["confirmed_from"] or flip["budget_from"]),
        plain(flip["confirmed_to"] or flip["budget_to"]),
        plain(flip["old_leader"]),
        plain(flip["new_leader"]),
        "tests" if support is None else f"{support:.3f}",
        "yes" if flip["lead"] else "no",
    ]


def _power(facts: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{first_step(facts)}{'; later steps take fewer' if facts['contrasts'] > 1 else ''}. There "
        f"{'is' if facts['n_tasks'] == 1 else 'are'} {count(facts['n_tasks'], 'task')}."
    )
    if facts["cannot_confirm"]:
        yield "So nothing can be rejected here: **this pack cannot confirm a flip.**"
    elif facts["few_tasks"]:
        yield "That is more than half of the tasks: **hardly a flip can be confirmed with so few.**"
    needed, where = facts["n_for_80_power"], facts["n_for_80_power_contrast"]
    if needed is not None:
        first, second, budget = map(plain, where)
        yield (
            f"The clearest contrast is that of {first} and {second} under {budget}: at its observed "
            f"discordance {count(needed, 'task')} would give 80 % power; there are "
            f"{facts['n_tasks']:,}."
        )


def _unit_weights(facts: Mapping[str, Any]) -> Iterator[Block]:
    """Name the pairs whose order hangs on the weights."""
    pairs = facts["rank_differs_unweighted"]
    if not pairs:
        return
    named = [f"{plain(a)} and {plain(b)} under {plain(budget)}" for a, b, budget in pairs]
    if len(named) > _PAIRS:
        named = [*named[:_PAIRS], f"{len(named) - _PAIRS} more (ranks in `tables/summary.csv`)"]
    yield Paragraph(f"Under unit weights the order differs for {listed(named)}.")


def _contrasts(inputs: PageInputs, name: str, told: str) -> Iterator[Block]:
    """Yield the contrasts of smallest p; equal ones stay in the table's order."""
    held = [row for row in inputs.contrasts if row["slice"] == name]
    shown = sorted(held, key=lambda row: row["p"])[:_CONTRASTS]
    if not shown:
        return
    head = ["budget", "first", "second", "difference", "95 % alone", "discordant", "p"]
    head += ["p, Holm", "resolved", "tasks for 80 % power"]
    rows = [_contrast_row(row) for row in shown]
    yield table(f"Contrasts: first minus second, in points{told}", head, rows)
    yield Paragraph(" ".join(_contrast_words(held, shown)))


def _contrast_words(held: Rows, shown: Rows) -> Iterator[str]:
    if len(held) > len(shown):
        yield (
            f"These are the {len(shown)} of {len(held):,} contrasts with the smallest p; all stand in "
            "`tables/contrasts.csv`."
        )
    yield (
        "`95 % alone` is the interval of one difference, not corrected for the others, and null below "
        "10 discordant tasks. `resolved`: rejected by Holm's method."
    )


def _contrast_row(row: Row) -> Sequence[Cell]:
    ends = row["low"], row["high"]
    needed = row["n_for_80_power"]
    return [
        plain(row["budget"]),
        plain(row["agent_a"]),
        plain(row["agent_b"]),
        points(row["delta"], 1),
        "null" if None in ends else f"[{points(ends[0])}, {points(ends[1])}]",
        row["discordant"],
        p_value(row["p"]),
        p_value(row["p_holm"]),
        "yes" if row["rejected"] else "no",
        "null" if needed is None else needed,
    ]


def points(value: float, decimals: int = 0) -> str:
    """Return a difference of rates in percentage points with its sign; 0 has none."""
    return points_text(value, decimals).replace("-", "−")
