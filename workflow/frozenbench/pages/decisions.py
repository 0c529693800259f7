"""The decision table: which budget to freeze and which metric to lead with, by question.

Each answer is read from the tables, or says why it cannot be. Nothing here is a test of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from frozenbench.controls import is_imported
from frozenbench.pages.blocks import Block, Cell, Paragraph, percent, table
from frozenbench.pages.inputs import PageInputs, Row
from frozenbench.stats.flips import ladders

#: Names that one answer holds; the rest is counted.
_NAMED = 6
_GHOSTS = ("ghost_import", "ghost_name")

QUESTIONS = {
    "a_vs_b": "Which of two agents is better?",
    "solves_at_all": "Can it solve such tasks at all?",
    "invents_apis": "Does it invent modules or names?",
    "overnight": "What is there after a night alone?",
}
_METRICS = {
    "a_vs_b": "difference of `weighted_pass_rate`, exact paired test, Holm over all pairs and budgets",
    "solves_at_all": "`weighted_pass_rate` with its interval, `exhaust_rate` beside it",
    "invents_apis": "`assume_rate` with its reasons",
    "overnight": "`weighted_pass_rate` and `error_rate`, tokens for each PASS beside them",
}


class Ladder:
    """The longest ladder of a view, and the first slice's numbers on it."""

    def __init__(self, inputs: PageInputs) -> None:
        budgets = {name: inputs.controls["budgets"][name] for name in inputs.view["budgets"]}
        found = ladders(budgets, inputs.view["budget_axis"])
        self.budgets = max(found, key=lambda ladder: len(ladder.budgets)).budgets
        self.name = max(found, key=lambda ladder: len(ladder.budgets)).name
        self.slice = inputs.slices[0]
        self.agents = tuple(inputs.view["agents"])
        self.points = {
            (row["agent"], row["budget"]): row
            for row in inputs.summary
            if row["slice"] == self.slice
        }
        self.inputs = inputs

    @property
    def largest(self) -> str:
        """The budget with the largest cap."""
        return self.budgets[-1]

    def at(self, budget: str) -> list[Row]:
        """Return the agents' rows under a budget, best first, ties in the config's order."""
        rows = [self.points[agent, budget] for agent in self.agents]
        return sorted(rows, key=lambda row: -(row["weighted_pass_rate"] or 0.0))

    def cells(self, agent: str, budget: str) -> list[Row]:
        """Return the agent's cells under a budget that are in its rates."""
        return self.inputs.cells_of(self.slice, agent, budget)


def decisions(inputs: PageInputs) -> Iterator[Block]:
    """Yield the table, the question that the experiment asks on top."""
    ladder = Ladder(inputs)
    asked = inputs.view["question"]
    order = sorted(QUESTIONS, key=lambda name: name != asked)
    rows = [
        [f"**{QUESTIONS[name]}** (asked here)" if name == asked else QUESTIONS[name], *row]
        for name, row in ((name, _row(ladder, name)) for name in order)
    ]
    yield table(
        "Question, budget to freeze, metric to lead with, answer",
        ["question", "budget to freeze", "metric to lead with", "what these data say"],
        rows,
        sortable=False,
    )
    if inputs.slices != ["public"]:
        yield Paragraph(f"Answers are of the slice {ladder.slice}; slices are never pooled.")


def _row(ladder: Ladder, question: str) -> tuple[Cell, Cell, Cell]:
    budget, answer = {
        "a_vs_b": _a_vs_b,
        "solves_at_all": _solves_at_all,
        "invents_apis": _invents_apis,
        "overnight": _overnight,
    }[question](ladder)
    return budget, _METRICS[question], answer


def _listed(parts: Sequence[str]) -> str:
    more = [f"{len(parts) - _NAMED} more"] if len(parts) > _NAMED else []
    return "; ".join([*parts[:_NAMED], *more])


def _a_vs_b(ladder: Ladder) -> tuple[str, str]:
    facts = ladder.inputs.statistics
    first, last = ladder.budgets[0], ladder.largest
    budget = f"`{first}`" if first == last else f"each of `{first}` to `{last}`: order may change"
    rows = [
        row
        for row in ladder.inputs.contrasts
        if row["slice"] == ladder.slice and row["budget"] in ladder.budgets
    ]
    if not rows:
        return budget, "Cannot be answered: there is one agent."
    pairs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        pairs.setdefault((row["agent_a"], row["agent_b"]), []).append(row)
    flipped = {
        (flip["agent_a"], flip["agent_b"]): flip
        for flip in ladder.inputs.flips
        if (flip["slice"], flip["ladder"], flip["kind"]) == (ladder.slice, ladder.name, "confirmed")
    }
    told = []
    for pair, held in pairs.items():
        resolved = [row for row in held if row["rejected"]]
        if pair in flipped:
            told.append(_flip(flipped[pair]))
        elif resolved:
            told.append(_resolved(pair, resolved))
    clear = sum(any(row["rejected"] for row in held) for held in pairs.values())
    if not told:
        needed = facts["n_for_80_power"]
        cure = "" if needed is None else f" The clearest would need {needed} tasks for 80 % power."
        why = " This pack cannot confirm a flip." if facts["cannot_confirm"] else ""
        many = "the pair is" if len(pairs) == 1 else f"none of {len(pairs)} pairs is"
        one = " not" if len(pairs) == 1 else ""
        return budget, f"Cannot be answered: {many}{one} resolved under any budget.{cure}{why}"
    order = sorted(told, key=lambda text: "depends" not in text)
    return budget, f"{clear} of {len(pairs)} pairs resolved: {_listed(order)}."


def _flip(flip: Row) -> str:
    return (
        f"**it depends on the budget**: {flip['old_leader']} under `{flip['confirmed_from']}`, "
        f"{flip['new_leader']} under `{flip['confirmed_to']}` (confirmed flip)"
    )


def _resolved(pair: tuple[str, str], rows: Sequence[Row]) -> str:
    parts = []
    for agent, other, sign in ((*pair, 1), (*pair[::-1], -1)):
        won = [f"`{row['budget']}`" for row in rows if row["delta"] * sign > 0]
        if won:
            parts.append(f"{agent} before {other} under {', '.join(won)}")
    return ", ".join(parts)


def _solves_at_all(ladder: Ladder) -> tuple[str, str]:
    budget = f"`{ladder.largest}`, the largest"
    rows = ladder.at(ladder.largest)
    known = [row for row in rows if row["weighted_pass_rate"] is not None]
    if not known:
        return budget, "Cannot be answered: no cell is rated under it."
    if not any(row["weighted_pass_rate"] for row in known):
        best = max(row["weighted_high"] or 0.0 for row in known)
        text = f"No agent passes a task; up to {100 * best:.0f} % fit these data."
    else:
        text = _listed([_with_interval(row) for row in known]) + "."
    capped = [row for row in known if row["exhaust_rate"]]
    if capped:
        most = max(capped, key=lambda row: row["exhaust_rate"])
        text += (
            f" A cap still ends cells (at most {percent(most['exhaust_rate'])}, {most['agent']}): "
            "with more budget a rate can be higher."
        )
    if is_imported(ladder.inputs.controls):
        text += " Lower bounds: no budget was enforced."
    return budget, text


def _with_interval(row: Row) -> str:
    ends = row["weighted_low"], row["weighted_high"]
    told = "" if None in ends else f" [{100 * ends[0]:.0f}, {100 * ends[1]:.0f}]"
    return f"{row['agent']} {percent(row['weighted_pass_rate'])}{told}"


def _invents_apis(ladder: Ladder) -> tuple[str, str]:
    def exhausted(budget: str) -> float:
        return sum(row["exhaust_rate"] or 0.0 for row in ladder.at(budget))

    least = min(ladder.budgets, key=exhausted)
    budget = f"`{least}`, where the fewest cells end at a cap"
    rows = [ladder.points[agent, least] for agent in ladder.agents]
    if all(row["assume_rate"] is None for row in rows):
        return budget, "Cannot be answered: a log does not tell which names an agent invented."
    told = []
    for row in rows:
        if row["assume_rate"] is None:
            told.append(f"{row['agent']} not known")
            continue
        reasons = Counter(cell["reason"] for cell in ladder.cells(row["agent"], least))
        ghosts = sum(reasons[name] for name in _GHOSTS)
        told.append(
            f"{row['agent']} {percent(row['assume_rate'])} of {row['n']} cells, {ghosts} of them "
            "with an invented name"
        )
    text = _listed(told) + "."
    blind = [row["agent"] for row in rows if (row["exhaust_rate"] or 0.0) >= 0.5]
    if blind:
        text += (
            f" Of {_listed(blind)} a cap ends half of the cells or more, and those are not looked "
            "into: for them it cannot be answered."
        )
    return budget, text


def _overnight(ladder: Ladder) -> tuple[str, str]:
    budget = f"`{ladder.largest}`, the largest"
    if is_imported(ladder.inputs.controls):
        return budget, "Cannot be answered: no cap held these runs."
    told = [_night(ladder, row) for row in ladder.at(ladder.largest)]
    return budget, _listed(told) + "."


def _night(ladder: Ladder, row: Row) -> str:
    cells = ladder.cells(row["agent"], ladder.largest)
    passed = sum(cell["outcome"] == "PASS" for cell in cells)
    told = f"{row['agent']} {percent(row['weighted_pass_rate'])}"
    if row["error_rate"]:
        told += f", {percent(row['error_rate'])} ERROR"
    if not passed:
        return f"{told}, no PASS to share its tokens among"
    clock = sum(cell["cap_hit"] == "wall_clock" for cell in cells)
    fallen = f", the clock fell in {clock} cells" if clock else ""
    return f"{told}, {_tokens(row, passed)} a PASS{fallen}"


def _tokens(row: Row, passed: int) -> str:
    if row["tokens_missing"] or row["total_tokens"] is None:
        return "tokens not known"
    return f"{row['total_tokens'] / passed:,.0f} tokens"
