"""The tables as Markdown and as LaTeX: the columns that a text prints, of what the CSV holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frozenbench.markdown_signs import markdown_plain
from frozenbench.number_text import p_value
from frozenbench.pages.weights import weights_of
from frozenbench.write_up.inputs import Inputs, Row
from frozenbench.write_up.tex import tex, with_signs
from frozenbench.write_up.wording import UNKNOWN, cap, number, percent, points, within

#: A column: its head, its alignment (l or r), its text from a row.
Column = tuple[str, str, Callable[[Row], str]]


@dataclass(frozen=True)
class TextTable:
    """One table.

    Attributes:
        name: of its files, as that of the CSV beside it.
        columns: from left to right.
        rows: of the table of that name.
        note: what the numbers are; it stands below the table.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str


def text_tables(inputs: Inputs) -> list[TextTable]:
    """Return all tables; agents stand below each other under each budget."""
    facts = inputs.statistics
    return [
        TextTable(
            "summary",
            [*_slice(inputs), *_summary(inputs)],
            _by_budget(inputs, inputs.summary),
            "Rates in %. Weighted pass rate with its 95 % Wilson interval at the effective number "
            "of tasks; EXHAUSTED counts as wrong, except where it is left out (in brackets: the "
            "cells that remain). n = tasks x repeats; ties share a rank; ranks with their 95 % "
            f"interval.{inputs.graded}",
        ),
        TextTable(
            "contrasts",
            [*_slice(inputs), *_CONTRASTS],
            _by_budget(inputs, inputs.contrasts),
            "Differences of weighted pass rates in percentage points with 95 % intervals (none "
            "below 10 discordant tasks). Exact two-sided sign-flip p; Holm over the "
            f"{facts['contrasts']} contrasts of a slice, alpha {facts['alpha']:g}; n for 80 % "
            f"power at the observed discordance.{inputs.graded}",
        ),
        TextTable(
            "flips",
            [*_slice(inputs), *_FLIPS],
            inputs.flips,
            "Confirmed: both contrasts rejected, opposite signs. Suggestive: both signs kept in "
            f"95 % of {facts['resamples']} resamples of tasks. Unresolved: any other crossing; "
            f"identical agents cross too.{inputs.graded}",
        ),
        TextTable(
            "areas",
            [*_slice(inputs), *_AREAS],
            inputs.areas,
            "Mean weighted pass rate over log budget in %, straight between the budgets that were "
            "run; the 95 % interval is wider than it need be. No rank and no test comes from it."
            f"{inputs.graded}",
        ),
    ]


def _by_budget(inputs: Inputs, rows: Sequence[Row]) -> list[Row]:
    """Return rows by slice and budget, else in their own order."""
    slices = {name: place for place, name in enumerate(inputs.slices)}
    budgets = {name: place for place, name in enumerate(inputs.view["budgets"])}
    return sorted(rows, key=lambda row: (slices[row["slice"]], budgets[row["budget"]]))


def _slice(inputs: Inputs) -> list[Column]:
    if inputs.slices == ("public",):
        return []
    return [("slice", "l", lambda row: str(row["slice"]))]


def _summary(inputs: Inputs) -> list[Column]:
    """Return the columns of the summary without those that say what another one says, or nothing."""
    rows = inputs.summary
    equal = all(weights_of(inputs.controls, name).equal for name in inputs.slices)
    same = ["pass", "rank, unit weights"] if equal else []
    if all(row["pass_rate"] == row["pass_rate_strict"] for row in rows):
        same.append("no cap hit")
    if all(row["assume_rate"] is None for row in rows):
        same.append("assume")
    return [column for column in _SUMMARY if column[0] not in same]


def _name(column: str) -> Callable[[Row], str]:
    return lambda row: str(row[column])


def _percent(column: str) -> Callable[[Row], str]:
    return lambda row: percent(row[column])


def _weighted(row: Row) -> str:
    ends = within(percent(row["weighted_low"]), percent(row["weighted_high"]))
    return f"{percent(row['weighted_pass_rate'])} {ends}"


def _left_out(row: Row) -> str:
    """Write the rate of the cells that are not EXHAUSTED, and how many remain where some do not."""
    told = percent(row["weighted_pass_rate_without_exhausted"])
    remain = row["n_without_exhausted"]
    return told if remain == row["n"] or told == UNKNOWN else f"{told} ({remain})"


def _rank(row: Row) -> str:
    return f"{row['rank']} [{row['rank_low']}, {row['rank_high']}]"


def _delta(row: Row) -> str:
    if row["low"] is None:
        return points(row["delta"])
    return f"{points(row['delta'])} {within(points(row['low']), points(row['high']))}"


def _support(row: Row) -> str:
    return "tests" if row["support"] is None else number(row["support"], 3)


_SUMMARY: list[Column] = [
    ("budget", "l", _name("budget")),
    ("agent", "l", _name("agent")),
    ("n", "r", _name("n")),
    ("weighted pass", "r", _weighted),
    ("pass", "r", _percent("pass_rate")),
    ("no cap hit", "r", _percent("pass_rate_strict")),
    ("EXHAUSTED left out", "r", _left_out),
    ("fail test", "r", _percent("fail_test_rate")),
    ("assume", "r", _percent("assume_rate")),
    ("exhaust", "r", _percent("exhaust_rate")),
    ("error", "r", _percent("error_rate")),
    ("rank", "r", _rank),
    ("rank, unit weights", "r", _name("rank_unweighted")),
]
_CONTRASTS: list[Column] = [
    ("budget", "l", _name("budget")),
    ("A", "l", _name("agent_a")),
    ("B", "l", _name("agent_b")),
    ("A - B", "r", _delta),
    ("discordant", "r", lambda row: f"{row['discordant']} of {row['n_tasks']}"),
    ("p", "r", lambda row: p_value(row["p"])),
    ("p, Holm", "r", lambda row: p_value(row["p_holm"])),
    ("rejected", "l", lambda row: "yes" if row["rejected"] else "no"),
    ("n, 80 % power", "r", lambda row: number(row["n_for_80_power"])),
]
_FLIPS: list[Column] = [
    ("kind", "l", _name("kind")),
    ("from", "l", lambda row: str(row["confirmed_from"] or row["budget_from"])),
    ("to", "l", lambda row: str(row["confirmed_to"] or row["budget_to"])),
    ("ahead before", "l", _name("old_leader")),
    ("ahead after", "l", _name("new_leader")),
    ("support", "r", _support),
    ("lead flip", "l", lambda row: "yes" if row["lead"] else "no"),
]
_AREAS: list[Column] = [
    ("agent", "l", _name("agent")),
    ("from", "l", _name("budget_from")),
    ("to", "l", _name("budget_to")),
    ("caps", "r", lambda row: f"{cap(row['axis_from'])} to {cap(row['axis_to'])}"),
    (
        "area",
        "r",
        lambda row: (
            f"{percent(row['area'])} {within(percent(row['area_low']), percent(row['area_high']))}"
        ),
    ),
]


def markdown(inputs: Inputs, table: TextTable) -> str:
    """Return a table as Markdown, its note and its origin below it."""
    lines = [
        _line([head for head, _, _ in table.columns]),
        _line([":---" if side == "l" else "---:" for _, side, _ in table.columns]),
        *(_line([text(row) for _, _, text in table.columns]) for row in table.rows),
    ]
    if not table.rows:
        lines += ["", "None."]
    return "\n".join([*lines, "", f"{table.note} Of {inputs.origin}."]) + "\n"


def _line(values: Sequence[str]) -> str:
    told = (markdown_plain(value).replace("|", "\\|") for value in values)
    return "| " + " | ".join(told) + " |"


def latex(inputs: Inputs, table: TextTable) -> str:
    """Return a table as a LaTeX tabular, its note and its origin in its last rows.

    It needs no package; where booktabs is loaded before it, its rules are used.
    """
    width = len(table.columns)
    sides = "".join(side for _, side, _ in table.columns)
    body = [_row([text(row) for _, _, text in table.columns]) for row in table.rows]
    if not body:
        body = [f"\\multicolumn{{{width}}}{{l}}{{None.}} \\\\"]
    note = tex(f"{table.note} Of {inputs.origin}.")
    lines = [
        f"% {inputs.origin}",
        *(
            f"\\providecommand{{\\{rule}}}{{\\hline}}"
            for rule in ("toprule", "midrule", "bottomrule")
        ),
        f"\\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
        "\\toprule",
        _row([head for head, _, _ in table.columns]),
        "\\midrule",
        *body,
        "\\bottomrule",
        f"\\multicolumn{{{width}}}{{@{{}}p{{\\linewidth}}@{{}}}}{{\\footnotesize {note}}}",
        "\\end{tabular}",
    ]
    return with_signs("\n".join(lines) + "\n")


def _row(values: Sequence[str]) -> str:
    return " & ".join(tex(value) for value in values) + " \\\\"
