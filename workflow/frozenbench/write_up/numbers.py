"""One macro for each number that a text would cite, and the same numbers as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frozenbench import __version__
from frozenbench.controls import CAP_FIELDS, is_imported
from frozenbench.headline import headline
from frozenbench.number_text import p_value
from frozenbench.write_up.inputs import ORACLE, Inputs, Row
from frozenbench.write_up.names import key, letters, macro_names
from frozenbench.write_up.tex import tex, with_signs
from frozenbench.write_up.wording import UNKNOWN, cap, dates, number, percent, points


@dataclass(frozen=True)
class Number:
    """One number.

    Attributes:
        key: its stable name, such as `weighted_pass_rate/oneshot/calls-1`.
        value: as the tables hold it, null where it is not known or would be of survivors alone.
        text: as a text would print it.
        says: what it is, with its unit.
    """

    key: str
    value: Any
    text: str
    says: str


#: Columns of `summary` -> how it is written and what it is.
_RATES = {
    "weighted_pass_rate": "weighted pass rate, %",
    "weighted_low": "lower end of its 95 % interval, %",
    "weighted_high": "upper end of its 95 % interval, %",
    "pass_rate": "share of PASS, EXHAUSTED counted as wrong, %",
    "pass_low": "lower end of its 95 % interval, %",
    "pass_high": "upper end of its 95 % interval, %",
    "pass_rate_strict": "share of PASS without a hit cap, %",
    "weighted_pass_rate_without_exhausted": "weighted pass rate, EXHAUSTED left out, %",
    "fail_test_rate": "share of FAIL_TEST, %",
    "assume_rate": "share of FAIL_ASSUME, %",
    "exhaust_rate": "share of EXHAUSTED, %",
    "exhaust_low": "lower end of its 95 % interval, %",
    "exhaust_high": "upper end of its 95 % interval, %",
    **{
        f"exhaust_rate_{meter}": f"share of EXHAUSTED by {meter.replace('_', ' ')}, %"
        for meter in CAP_FIELDS
    },
    "error_rate": "share of ERROR, %",
}
_COUNTS = {
    "n": (0, "cells"),
    "effective_n": (1, "effective number of tasks, by their weights"),
    "n_without_exhausted": (0, "cells that are not EXHAUSTED"),
    "pass_at_cap": (0, "PASS cells that hit a cap"),
    "rank": (0, "rank, ties shared"),
    "rank_low": (0, "best rank of its 95 % interval"),
    "rank_high": (0, "worst rank of its 95 % interval"),
    "rank_unweighted": (0, "rank under unit weights"),
}
_USE = {
    "mean_tool_calls": (2, "mean tool calls"),
    "mean_tool_calls_n": (0, "cells behind it"),
    "mean_edit_rounds": (2, "mean edit rounds"),
    "mean_edit_rounds_n": (0, "cells behind it"),
    "median_seconds": (1, "median seconds, s"),
    "median_tokens": (0, "median tokens"),
    "total_tokens": (0, "tokens in all cells that report them"),
    "tokens_missing": (0, "cells without reported tokens"),
    "spend": (4, "spend, {currency}, over the cells that report one"),
}
#: What was used -> the column that counts the cells which tell it; seconds have none.
_TOLD_BY = {
    "mean_tool_calls": "mean_tool_calls_n",
    "mean_edit_rounds": "mean_edit_rounds_n",
    "median_tokens": "tokens_n",
    "total_tokens": "tokens_n",
    "spend": "spend_n",
}


def numbers(inputs: Inputs) -> list[Number]:
    """Return all numbers, in the order of the file."""
    return [
        *_experiment(inputs),
        *_budgets(inputs),
        *(found for name in inputs.slices for found in _slice(inputs, name)),
    ]


def _experiment(inputs: Inputs) -> Iterator[Number]:
    controls, view, facts = inputs.controls, inputs.view, inputs.statistics
    environment, responses = controls["environment"], inputs.responses
    plain = {
        "experiment_digest": (controls["experiment"]["digest"][:12], "first 12 hex digits"),
        "pack_digest": (controls["pack"]["digest"][:12], "first 12 hex digits"),
        "pack_file_digest": (_short(view["pack"]["file_sha256"]), "of pack.jsonl, 12 hex digits"),
        "cells_digest": (inputs.cells_sha256[:12], "of cells.parquet, first 12 hex digits"),
        "pack_name": (view["pack"]["name"], "the pack"),
        "pack_status": (view["pack"]["status"], "proposal or published"),
        "agents": (len(view["agents"]), "agents, without control agents"),
        "budgets": (len(view["budgets"]), "budgets"),
        "repeats": (controls["repeats"], "repeats"),
        "metric": (controls["metric"], "the headline metric"),
        "clock": (controls["clock"], "clock policy"),
        "isolation": (environment["isolation"], "isolation asked for"),
        "python": (environment["python"], "the pack's Python"),
        "alpha": (facts["alpha"], "family-wise error of the contrasts"),
        "resamples": (facts["resamples"], "resamples of tasks"),
        "responses": (responses["distinct"], "distinct model responses"),
        "responses_from": (responses["first_date"], "date of the first response"),
        "responses_to": (responses["last_date"], "date of the last response"),
        "version": (__version__, "of frozenbench"),
    }
    for name, (value, says) in plain.items():
        yield Number(name, value, number(None) if value is None else str(value), says)
    policy = str(controls["grading"])
    told = f"{policy} ({ORACLE})" if policy == "every_step" else policy
    yield Number("grading", policy, told, "grading policy")
    told = dates(responses)
    yield Number("responses_dates", told, told, "days of the first and of the last response")


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest[:12]


def _budgets(inputs: Inputs) -> Iterator[Number]:
    budgets = inputs.controls["budgets"]
    fields = dict(CAP_FIELDS)
    if any("max_cost" in budgets[name] for name in inputs.view["budgets"]):  # of an import
        fields["cost"] = "max_cost"
    for name in inputs.view["budgets"]:
        for meter, field in fields.items():
            value = budgets[name].get(field)
            yield Number(key(f"cap_{meter}", name), value, cap(value), f"cap of {name}")


def _slice(inputs: Inputs, name: str) -> Iterator[Number]:
    """Yield the numbers of one slice; the word `public` stands in no key."""
    first = "" if name == "public" else f"{name}/"
    told = "" if name == "public" else f" (slice {name})"
    for found in _in_slice(inputs, name):
        yield Number(first + found.key, found.value, found.text, found.says + told)


def _in_slice(inputs: Inputs, name: str) -> Iterator[Number]:
    facts = inputs.statistics["slices"][name]
    yield from _facts(facts)
    rejected = sum(bool(row["rejected"]) for row in _of(inputs.contrasts, name))
    yield Number("rejected", rejected, number(rejected), "contrasts that Holm's method rejects")
    told = headline(facts, inputs.controls, inputs.view)
    yield Number("finding", None, told, "what was found of flips, as a sentence")
    for row in _of(inputs.summary, name):
        yield from _scores(row)
        yield from _use(inputs, row)
    for row in _of(inputs.areas, name):
        yield from _areas(row, _of(inputs.areas, name))
    for row in _of(inputs.contrasts, name):
        yield from _contrast(row)
    yield from _flips(_of(inputs.flips, name), _pairs(_of(inputs.contrasts, name)))


def _of(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row["slice"] == name]


def _pairs(contrasts: Sequence[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["agent_a"], row["agent_b"]) for row in contrasts))


def _facts(facts: Mapping[str, Any]) -> Iterator[Number]:
    counts = {
        "tasks": ("n_tasks", "tasks"),
        "pairs": ("pairs", "pairs of agents"),
        "contrasts": ("contrasts", "contrasts that Holm corrects over"),
        "confirmed_pairs": ("confirmed_pairs", "pairs with a confirmed flip"),
        "suggestive_pairs": ("suggestive_pairs", "pairs with a suggestive flip, none confirmed"),
        "unresolved_pairs": ("unresolved_pairs", "pairs with unresolved crossings alone"),
        "min_discordant": (
            "min_discordant",
            "fewest discordant tasks, all one way, that Holm's first step rejects",
        ),
        "n_for_power": ("n_for_80_power", "tasks for 80 % power at the clearest contrast"),
    }
    for name, (field, says) in counts.items():
        yield Number(name, facts[field], number(facts[field]), says)


def _count(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _scores(row: Row) -> Iterator[Number]:
    where, of = (row["agent"], row["budget"]), f"{row['agent']} under {row['budget']}: "
    for name, says in _RATES.items():
        yield Number(key(name, *where), row[name], percent(row[name]), of + says)
    for name, (decimals, says) in _COUNTS.items():
        yield Number(key(name, *where), row[name], number(row[name], decimals), of + says)


def _use(inputs: Inputs, row: Row) -> Iterator[Number]:
    """Yield what was used; a number that is not of all cells names how many it is of.

    A log does not tell what a run had used where it is cut: over the others, which ended before it,
    a mean or a sum would be that of survivors. Such a number of an import is not known.
    """
    where, of = (row["agent"], row["budget"]), f"{row['agent']} under {row['budget']}: "
    imported = is_imported(inputs.controls)
    for name, (decimals, words) in _USE.items():
        value = row[name]
        text = number(value, decimals)
        says = words.format(currency=row["currency"] or "in no currency")
        if value is not None and (told := _told(inputs, row, name)) < row["n"]:
            if imported:
                value, text = None, UNKNOWN
                says += f"; {told} of {row['n']} cells tell it, and not by chance"
            else:
                text += f" ({told} of {row['n']} cells)"
        yield Number(key(name, *where), value, text, of + says)


def _told(inputs: Inputs, row: Row, name: str) -> int:
    """Return how many cells tell what a number is made of; a count is of all."""
    if name == "median_seconds":
        return inputs.seconds_n[row["slice"], row["agent"], row["budget"]]
    return int(row[_TOLD_BY[name]] if name in _TOLD_BY else row["n"])


def _areas(row: Row, rows: Sequence[Row]) -> Iterator[Number]:
    """Yield the area of an agent; the ladder is named where there are several."""
    several = len({other["ladder"] for other in rows}) > 1
    ladder = (row["budget_from"], row["budget_to"]) if several else ()
    of = f"{row['agent']} over log budget, {row['budget_from']} to {row['budget_to']}: "
    says = {
        "area": "mean weighted pass rate, %",
        "area_low": "lower end of its 95 % interval, %",
        "area_high": "upper end of its 95 % interval, %",
    }
    for name, told in says.items():
        yield Number(key(name, row["agent"], *ladder), row[name], percent(row[name]), of + told)


def _contrast(row: Row) -> Iterator[Number]:
    where = row["agent_a"], row["agent_b"], row["budget"]
    of = f"{row['agent_a']} minus {row['agent_b']} under {row['budget']}: "
    for name, says in (
        ("delta", "difference, percentage points"),
        ("low", "lower end of its 95 % interval, percentage points"),
        ("high", "upper end of its 95 % interval, percentage points"),
    ):
        first = name if name == "delta" else f"delta_{name}"
        yield Number(key(first, *where), row[name], points(row[name]), of + says)
    for name, says in (("p", "exact p"), ("p_holm", "p after Holm")):
        yield Number(key(name, *where), row[name], p_value(row[name]), of + says)
    for name, says in (
        ("discordant", "discordant tasks"),
        ("n_for_80_power", "tasks for 80 % power"),
    ):
        first = "n_for_power" if name == "n_for_80_power" else name
        yield Number(key(first, *where), row[name], number(row[name]), of + says)


def _flips(flips: Sequence[Row], pairs: Sequence[tuple[str, str]]) -> Iterator[Number]:
    for a, b in pairs:
        held = [row for row in flips if (row["agent_a"], row["agent_b"]) == (a, b)]
        told = [flip_words(row) for row in held if row["kind"] != "unresolved"]
        unresolved = _count(len(held), "unresolved crossing") if held else "no crossing"
        text = "; ".join(told) or unresolved
        yield Number(key("flip", a, b), len(told), text, f"flips of {a} and {b}, in words")


def flip_words(row: Row) -> str:
    """Return one flip in words."""
    start = row["confirmed_from"] or row["budget_from"]
    end = row["confirmed_to"] or row["budget_to"]
    return f"{row['kind']}: {row['old_leader']} at {start}, {row['new_leader']} at {end}"


def prefix(inputs: Inputs) -> str:
    """Return what the names of all macros of an experiment begin with."""
    return "fb" + letters(inputs.name)


def numbers_tex(inputs: Inputs, found: Sequence[Number]) -> str:
    """Return numbers.tex: a macro for each number, what it is behind it.

    Raises:
        Refused: two numbers have one key (`numbers_document` too).
    """
    names = macro_names([one.key for one in found], prefix(inputs))
    lines = [
        f"% {inputs.origin}: a number is nothing without the controls of controls.tex.",
        "% A macro for each number; null is n/a. Names: fb, experiment, number, agent, budget.",
    ]
    for one in found:
        says = " ".join(one.says.split())
        lines.append(f"\\newcommand*{{\\{names[one.key]}}}{{{tex(one.text)}}}% {says}")
    return with_signs("\n".join(lines) + "\n")


def numbers_document(inputs: Inputs, found: Sequence[Number]) -> dict[str, Any]:
    """Return numbers.json: key -> value, text, macro and meaning, under the digests."""
    names = macro_names([one.key for one in found], prefix(inputs))
    return {
        "experiment": dict(inputs.controls["experiment"]),
        "pack_sha256": inputs.controls["pack"]["digest"],
        "pack_file_sha256": inputs.view["pack"]["file_sha256"],
        "numbers": {
            one.key: {
                "value": one.value,
                "text": one.text,
                "macro": f"\\{names[one.key]}",
                "says": one.says,
            }
            for one in found
        },
    }
