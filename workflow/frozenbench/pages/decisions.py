"""The decision table: which budget to freeze and which metric to lead with, by question.

Each answer is read from the tables, or says why it cannot be. Nothing here is a test of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from frozenbench.controls import is_imported
from frozenbench.pages.better import NAMED, better, named
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Lines,
    Paragraph,
    code,
    count,
    interval,
    listed,
    percent,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs, Row
from frozenbench.pages.ladder import Ladder

#: An agent of whose cells a cap ends this share or more is not asked whether it invents names.
_BLIND = 0.5
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
_HEAD = ("question", "budget to freeze", "metric to lead with", "what these data say")


def decisions(inputs: PageInputs) -> Iterator[Block]:
    """Yield the table, the question that the experiment asks on top."""
    ladder = Ladder(inputs)
    asked = inputs.view["question"]
    order = sorted(QUESTIONS, key=lambda name: name != asked)
    rows = [
        [f"**{QUESTIONS[name]}** (asked here)" if name == asked else QUESTIONS[name], *row]
        for name, row in ((name, _row(ladder, name)) for name in order)
    ]
    caption = "Question, budget to freeze, metric to lead with, answer"
    yield table(caption, _HEAD, rows, sortable=False, stacked=True)
    yield from _whereof(ladder)
    if inputs.slices != ["public"]:
        yield Paragraph(f"Answers are of the slice {ladder.slice}; slices are never pooled.")


def _whereof(ladder: Ladder) -> Iterator[Block]:
    """Say which budgets the answers are of, where that is not plain."""
    if ladder.name is None:
        if len(ladder.budgets) > 1:
            yield Paragraph(
                "No two of these budgets lie on one ladder: they differ in more than "
                f"{code(ladder.axis)}."
            )
    elif ladder.others:
        which = "the longest ladder"
        if ladder.equals > 1:
            which = f"the first of {ladder.equals} ladders of {len(ladder.budgets)} budgets"
        others = listed([code(name) for name in ladder.others])
        yield Paragraph(f"Answers are of {which}, {ladder.span}; not of {others}.")


def _row(ladder: Ladder, question: str) -> tuple[Cell, Cell, Cell]:
    budget, lines = {
        "a_vs_b": _a_vs_b,
        "solves_at_all": _solves_at_all,
        "invents_apis": _invents_apis,
        "overnight": _overnight,
    }[question](ladder)
    return budget, _METRICS[question], Lines(tuple(lines))


def _a_vs_b(ladder: Ladder) -> tuple[str, Iterator[str]]:
    if len(ladder.agents) < 2:
        return "none", iter(["Cannot be answered: there is one agent."])
    several = len(ladder.budgets) > 1
    budget = f"each of {ladder.span}: the order may change" if several else ladder.largest_told
    return budget, better(ladder)


def _solves_at_all(ladder: Ladder) -> tuple[str, Iterator[str]]:
    return ladder.largest_told, _solved(ladder)


def _solved(ladder: Ladder) -> Iterator[str]:
    rows = ladder.at(ladder.largest)
    known = [row for row in rows if row["weighted_pass_rate"] is not None]
    if not known:
        yield "Cannot be answered: no cell is rated under it."
        return
    if any(row["weighted_pass_rate"] for row in known):
        yield f"With 95 % intervals; {ladder.n}:"
        yield from named([_with_interval(row) for row in known], "see *Scores*")
    else:
        best = max(row["weighted_high"] or 0.0 for row in known)
        yield (
            f"No agent passes a task; {ladder.n}, and up to {100 * best:.0f} % fit these data (95 %)."
        )
    imported = is_imported(ladder.inputs.controls)
    most = max(row["exhaust_rate"] or 0.0 for row in known)
    if most:
        why = (
            "with more budget a rate can be higher"
            if not imported
            else "they used more, or ran out"
        )
        whom = _whom([row for row in known if row["exhaust_rate"] == most])
        yield f"EXHAUSTED: at most {percent(most)}, of {whom}; {why}."
    if ladder.inputs.controls["grading"] == "every_step":
        yield "Graded at every step: an oracle stop, best of k."
    if imported:
        yield "Lower bounds: no budget was enforced."


def _with_interval(row: Row) -> str:
    ends = row["weighted_low"], row["weighted_high"]
    told = "" if None in ends else f" {interval(*ends)}"
    return f"{plain(row['agent'])} {percent(row['weighted_pass_rate'])}{told}"


def _invents_apis(ladder: Ladder) -> tuple[str, Iterator[str]]:
    counts = {budget: ladder.exhausted(budget) for budget in ladder.budgets}
    fewest = [budget for budget, found in counts.items() if found == min(counts.values())]
    least = fewest[-1]  # of equals the one that asks most of an agent
    if len(ladder.budgets) == 1:
        return ladder.largest_told, _invented(ladder, least)
    where = "where the fewest cells are EXHAUSTED"
    if len(fewest) > 1:
        last = "last" if ladder.name is None else "largest"
        where = f"the {last} of {len(fewest)} budgets where equally few cells are EXHAUSTED"
    return f"{code(least)}, {where}", _invented(ladder, least)


def _invented(ladder: Ladder, budget: str) -> Iterator[str]:
    rows = [ladder.points[agent, budget] for agent in ladder.agents]
    known = [row for row in rows if row["assume_rate"] is not None]
    if not known:
        yield "Cannot be answered: a log does not tell which names an agent invented."
        return
    blind = [row for row in known if (row["exhaust_rate"] or 0.0) >= _BLIND]
    seen = sorted(
        (row for row in known if row not in blind), key=lambda row: -float(row["assume_rate"])
    )
    yield from named([_ghosts(ladder, row) for row in seen], "see *Scores*")
    if blind:
        yield (
            f"Cannot be answered for {_whom(blind)}: half of the cells or more are EXHAUSTED, and in "
            "those nobody looks for invented names."
        )


def _whom(rows: Sequence[Row]) -> str:
    whom = [plain(row["agent"]) for row in rows]
    if len(whom) > NAMED:
        whom = [*whom[:NAMED], f"{len(whom) - NAMED} more"]
    return listed(whom)


def _ghosts(ladder: Ladder, row: Row) -> str:
    cells = ladder.cells(row["agent"], row["budget"])
    assumed = sum(cell["outcome"] == "FAIL_ASSUME" for cell in cells)
    ghosts = sum(Counter(cell["reason"] for cell in cells)[name] for name in _GHOSTS)
    told = f"{plain(row['agent'])} {percent(row['assume_rate'])}: {assumed} of {len(cells)} cells"
    return f"{told}, {ghosts} with an invented name" if assumed else told


def _overnight(ladder: Ladder) -> tuple[str, Iterator[str]]:
    if is_imported(ladder.inputs.controls):
        return ladder.largest_told, iter(["Cannot be answered: no cap held these runs."])
    return ladder.largest_told, _nights(ladder)


def _nights(ladder: Ladder) -> Iterator[str]:
    yield f"`weighted_pass_rate`, and the tokens of all cells for each PASS; {ladder.n}:"
    yield from named([_night(ladder, row) for row in ladder.at(ladder.largest)], "see *Scores*")


def _night(ladder: Ladder, row: Row) -> str:
    cells = ladder.cells(row["agent"], ladder.largest)
    passed = sum(cell["outcome"] == "PASS" for cell in cells)
    told = f"{plain(row['agent'])} {percent(row['weighted_pass_rate'])}"
    if row["error_rate"]:
        told += f", {percent(row['error_rate'])} ERROR"
    told += f", {_tokens(row, passed)}"
    clock = sum(cell["cap_hit"] == "wall_clock" for cell in cells)
    return f"{told}, the clock fell in {count(clock, 'cell')}" if clock else told


def _tokens(row: Row, passed: int) -> str:
    if not passed:
        return "no PASS to share its tokens among"
    if row["tokens_missing"] or row["total_tokens"] is None:
        return "tokens not known"
    return f"{row['total_tokens'] / passed:,.0f} tokens"
