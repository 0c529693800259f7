"""Which of two agents is better: what the tests of contrasts resolve, and what they leave open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from frozenbench.headline import first_step
from frozenbench.pages.blocks import code, count, plain
from frozenbench.pages.inputs import Row
from frozenbench.pages.ladder import Ladder

#: Agents, pairs or flips that one answer names; the rest is counted.
NAMED = 6

_Pair = tuple[str, str]


def named(parts: Sequence[str], where: str) -> Iterator[str]:
    """Yield the first parts, then how many more there are, and where they stand."""
    yield from parts[:NAMED]
    if len(parts) > NAMED:
        yield f"{len(parts) - NAMED} more: {where}."


def better(ladder: Ladder) -> Iterator[str]:
    """Yield what is resolved under the ladder's budgets, then what is under others."""
    rows = [row for row in ladder.inputs.contrasts if row["slice"] == ladder.slice]
    own = [row for row in rows if row["budget"] in ladder.budgets]
    pairs, resolved = _by_pair(own), _by_pair(row for row in own if row["rejected"])
    flips = [
        flip
        for flip in ladder.inputs.flips
        if (flip["slice"], flip["kind"]) == (ladder.slice, "confirmed")
    ]
    here = [flip for flip in flips if flip["ladder"] == ladder.name]
    if resolved:
        turned = len({_pair(flip) for flip in here})
        yield (
            f"Resolved under some budget{ladder.of_this}: {len(resolved)} of "
            f"{count(len(pairs), 'pair')}, {turned} by a confirmed flip; {ladder.n}."
        )
        yield from _orders(ladder, resolved, here)
        left = len(pairs) - len(resolved)
        if left:
            yield f"Cannot be answered for the other {'pair' if left == 1 else f'{left} pairs'}."
    else:
        yield from _unresolved(ladder, own, len(pairs))
    beyond = _by_pair(
        row for row in rows if row["rejected"] and row["budget"] not in ladder.budgets
    )
    if beyond:
        yield "Under budgets that are not of this ladder:"
        yield from _orders(
            ladder, beyond, [flip for flip in flips if flip["ladder"] != ladder.name]
        )


def _pair(row: Row) -> _Pair:
    return row["agent_a"], row["agent_b"]


def _by_pair(rows: Iterable[Row]) -> dict[_Pair, list[Row]]:
    pairs: dict[_Pair, list[Row]] = {}
    for row in rows:
        pairs.setdefault(_pair(row), []).append(row)
    return pairs


def _orders(
    ladder: Ladder, resolved: dict[_Pair, list[Row]], flips: Sequence[Row]
) -> Iterator[str]:
    """Yield the flips of the pairs, then the order of those that have none."""
    turned = {_pair(flip) for flip in flips}
    told = [_flip(flip) for flip in sorted(flips, key=lambda flip: not flip["lead"])]
    if len(told) == 1:
        yield f"**It depends on the budget**: {told[0]} (confirmed flip)."
    elif told:
        yield f"**It depends on the budget**, by {len(told)} confirmed flips:"
        yield from named([f"{words}." for words in told], "`tables/flips.csv`")
    ahead = [_ahead(ladder, *pair, rows) for pair, rows in resolved.items() if pair not in turned]
    yield from named(ahead, "`tables/contrasts.csv`")


def _flip(flip: Row) -> str:
    return (
        f"{plain(flip['old_leader'])} under {code(flip['confirmed_from'])}, "
        f"{plain(flip['new_leader'])} under {code(flip['confirmed_to'])}"
    )


def _ahead(ladder: Ladder, first: str, second: str, rows: Sequence[Row]) -> str:
    parts = []
    for agent, other, sign in ((first, second, 1), (second, first, -1)):
        won = [row["budget"] for row in rows if row["delta"] * sign > 0]
        if won:
            parts.append(f"{plain(agent)} before {plain(other)} under {ladder.under(won)}")
    return "; ".join(parts) + "."


def _unresolved(ladder: Ladder, rows: Sequence[Row], pairs: int) -> Iterator[str]:
    facts = ladder.inputs.facts(ladder.slice)
    told = "the pair is not" if pairs == 1 else f"none of {pairs} pairs is"
    where = f"under any budget{ladder.of_this}" if len(ladder.budgets) > 1 else "under this budget"
    yield f"Cannot be answered: {told} resolved {where}; {ladder.n}."
    needed = _tasks_needed(ladder, rows)
    if needed is not None:
        yield f"The clearest contrast{ladder.of_this} would need {needed:,} tasks for 80 % power."
    if facts["cannot_confirm"]:
        yield "This pack cannot confirm a flip."
    elif facts["few_tasks"]:
        yield f"{first_step(facts)}."


def _tasks_needed(ladder: Ladder, rows: Sequence[Row]) -> int | None:
    """Return the tasks for 80 % power of the clearest contrast under the ladder's budgets.

    The clearest of the slice where it is one of these; else the one that needs the fewest.
    """
    facts = ladder.inputs.facts(ladder.slice)
    where = facts["n_for_80_power_contrast"]
    if where is not None and where[2] in ladder.budgets:
        needed: int = facts["n_for_80_power"]
        return needed
    return min((n for row in rows if (n := row["n_for_80_power"]) is not None), default=None)
