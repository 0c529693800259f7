"""The tables and figures of docs/statistics.md, made from the tables beside it.

.venv/bin/python tests/statistics/documented_figures.py    # print them, to paste into the page

A test holds the page to them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "statistics"
Row = dict[str, str]


def read(folder: Path, name: str) -> list[Row]:
    """Return the rows of one table as text."""
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def percent(share: float | str, digits: int = 1) -> str:
    """Return a share as the page writes it, halves rounded up; a coverage of 1 is 100 %."""
    exact = 100 * Decimal(str(share))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)} %"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    made = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in made)


def _bold(text: str, is_outside: bool) -> str:
    return f"**{text}**" if is_outside else text


def rates(folder: Path) -> str:
    """Mean and least coverage of Wilson's interval over the rates; bold where outside."""
    held = read(folder, "rates")

    def cell(tasks: str, pattern: str) -> str:
        [r] = [
            r
            for r in held
            if (r["interval"], r["tasks"], r["weights"], r["repeats"])
            == ("wilson", tasks, pattern, "1")
        ]
        least = float(r["min_exact"])
        return f"{percent(r['mean_exact'])}, " + _bold(
            percent(least), int(tasks) >= 24 and least < 0.9
        )

    patterns = ("equal", "starter", "spread", "one heavy")
    return _table(
        ("tasks", "equal: mean, least", *patterns[1:]),
        [[n, *(cell(n, pattern) for pattern in patterns)] for n in ("12", "24", "60", "500")],
    )


def weights(folder: Path) -> str:
    """Least coverage by what one task has of the weight; bold where the notice is given."""
    held = [r for r in read(folder, "weights") if r["heavy_tasks"] == "1"]
    shares = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)

    def cell(tasks: str, share: float) -> str:
        near = [
            r for r in held if r["tasks"] == tasks and abs(float(r["largest_share"]) - share) < 0.02
        ]
        if not near:
            return ""
        best = min(near, key=lambda r: abs(float(r["largest_share"]) - share))
        return _bold(percent(best["wilson_least"]), best["notice"] == "true")

    return _table(
        ("tasks", *(percent(share, 0) for share in shares)),
        [[n, *(cell(n, s) for s in shares)] for n in ("24", "60", "120", "250", "500")],
    )


def _one_way(folder: Path) -> dict[tuple[str, str, str, str], list[Row]]:
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for r in read(folder, "differences"):
        if r["world"] == "one way":
            key = (r["tasks"], r["weights"], r["repeats"], r["expected_discordant"])
            groups.setdefault(key, []).append(r)
    return groups


def differences(folder: Path) -> str:
    """Least coverage over the shares that go one way; the bootstrap's after the product's."""
    groups = _one_way(folder)
    lines = []
    for key in dict.fromkeys(key[:3] for key in groups):
        tasks, pattern, repeats = key
        line = [tasks, pattern, repeats]
        for discordant in ("10", "20", "30"):
            held = groups.get((*key, discordant))
            if not held:
                line.append("")
                continue
            least = min(float(r["coverage_exact"] or r["coverage"]) for r in held)
            text = _bold(percent(least), int(tasks) >= 60 and least < 0.92)
            if held[0]["coverage_bootstrap"]:
                text += f" ({percent(min(float(r['coverage_bootstrap']) for r in held))})"
            line.append(text)
        lines.append(line)
    return _table(("tasks", "weights", "repeats", "10 expected", "20", "30"), lines)


WORLDS = {
    "one way": "tasks alike",
    "rates": "two agents' rates, correlated",
    "uneven": "effect by weight",
}


def _promised(r: Row) -> bool:
    return float(r["expected_discordant"]) >= 10


def comparison(folder: Path) -> str:
    """Adjusted score against bootstrap over all worlds with weights or repeats."""
    lines = []
    for tasks in ("24", "60", "500"):
        for kind, words in WORLDS.items():
            held = [
                r
                for r in read(folder, "differences")
                if r["tasks"] == tasks
                and r["world"].startswith(kind)
                and r["coverage_bootstrap"]
                and _promised(r)
            ]
            line = [tasks, words, str(len(held))]
            for pick, column in (
                (min, "coverage"),
                (_mean, "coverage"),
                (_mean, "as_test"),
            ):
                line.append(
                    " / ".join(percent(_of(pick, held, column + end)) for end in ("", "_bootstrap"))
                )
            lines.append(line)
    head = ("tasks", "worlds", "kinds", "least coverage", "mean coverage", "as the exact test")
    return _table(head, lines)


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return math.fsum(held) / len(held)


def _of(pick: Callable[[Iterable[float]], float], rows: Sequence[Row], column: str) -> float:
    return pick([float(r[column]) for r in rows])


def errors(folder: Path) -> str:
    """The largest share of worlds with each kind of error, in worlds under the target."""
    held = [r for r in read(folder, "errors") if r["under_target"] == "true"]
    columns = ("false_contrast", "false_confirmed", "suggestive", "crossed")
    lines = []
    for tasks in ("12", "24", "60", "500"):
        rows = [r for r in held if r["tasks"] == tasks]
        most = [percent(_of(max, rows, column)) for column in columns[:3]]
        lines.append([tasks, *most, percent(_of(max, rows, "crossed"), 0)])
    head = ("tasks", "a true null rejected", "a flip confirmed", "a flip suggested")
    return _table((*head, "a crossing seen"), lines)


def power(folder: Path) -> str:
    """How often the named flip is confirmed, by tasks."""
    held = _plain_power(folder)
    shares = [float(r["confirmed"]) for r in held]
    cells = [
        _bold(percent(share), r["tasks"] == "80") for share, r in zip(shares, held, strict=True)
    ]
    return _table(("tasks", *(r["tasks"] for r in held)), [["confirmed", *cells]])


def _plain_power(folder: Path) -> list[Row]:
    return [
        r
        for r in read(folder, "power")
        if (r["dependence"], r["weights"], r["repeats"], r["agents"])
        == ("independent", "equal", "1", "2")
    ]


def outside(folder: Path) -> list[tuple[str, str]]:
    """Return every cell outside a target as (what, figure), in the order of the page."""
    found = []
    for r in read(folder, "rates"):
        if r["interval"] != "wilson" or int(r["tasks"]) < 24:
            continue
        where = f"rate, {r['tasks']} tasks, {r['weights']}"
        if r["repeats"] != "1":
            where = f"rate, {r['tasks']} tasks, {r['repeats']} repeats"
        mean = float(r["mean_exact"] or r["mean_simulated"])
        least = float(r["min_exact"] or r["min_simulated"])
        if not 0.93 <= mean <= 0.97:
            found.append((where, f"mean {percent(mean)}"))
        if least < 0.9:
            found.append((where, f"least {percent(least)}"))
    for r in read(folder, "differences"):
        coverage = float(r["coverage_exact"] or r["coverage"])
        if int(r["tasks"]) >= 60 and _promised(r) and coverage < 0.92:
            where = f"difference, {r['tasks']} tasks, {r['weights']}, {r['repeats']} repeats"
            found.append((f"{where}, {r['world']} {r['ahead']}", percent(coverage)))
    for r in read(folder, "errors"):
        if max(float(r["false_contrast"]), float(r["false_confirmed"])) > float(r["limit"]):
            where = f"{r['world']}, {r['rates']}, {r['tasks']} tasks"
            found.append((where, percent(r["false_contrast"])))
    return found


def _one(rows: Iterable[Row], **wanted: str) -> Row:
    [found] = [r for r in rows if all(r[key] == value for key, value in wanted.items())]
    return found


def phrases(folder: Path) -> list[str]:
    """Return what the page's sentences say of the tables, white space as one blank."""
    return [
        *_rate_phrases(folder),
        *_difference_phrases(folder),
        *_error_phrases(folder),
        *_other_phrases(folder),
    ]


def _rate_phrases(folder: Path) -> list[str]:
    held = read(folder, "rates")
    repeated = [r for r in held if r["repeats"] == "3"]
    bootstrap = _one(held, interval="percentile bootstrap", tasks="24")
    near = [
        r
        for r in read(folder, "weights")
        if r["heavy_tasks"] == "1" and abs(float(r["largest_share"]) - 0.2) < 0.005
    ]
    few, many = _one(near, tasks="60"), _one(near, tasks="500")
    widths = [float(r["mid_p_width"]) / float(r["wilson_width"]) for r in (few, many)]
    [mean] = {percent(r["mean_simulated"], 0) for r in repeated}
    return [
        f"With three repeats coverage is {mean}",
        f"has {percent(bootstrap['mean_exact'])} on the mean over the grid at 24 tasks, "
        f"{percent(bootstrap['min_exact'], 0)} at a true rate of .01",
        f"would hold {percent(few['mid_p_least'])} at the worst rate of 60 tasks and "
        f"{percent(many['mid_p_least'])} of 500, where one has 20 % of the weight, at "
        f"{widths[0]:.2f} and {widths[1]:.2f} times Wilson's mean width".replace("0.", "."),
    ]


def _difference_phrases(folder: Path) -> list[str]:
    held = [r for r in read(folder, "differences") if r["coverage_bootstrap"] and _promised(r)]

    def wider(rows: Sequence[Row]) -> float:
        return 100 * (_mean(float(r["width"]) / float(r["width_bootstrap"]) for r in rows) - 1)

    groups = {(r["weights"], r["tasks"]) for r in held}
    grown = {key: wider([r for r in held if (r["weights"], r["tasks"]) == key]) for key in groups}
    usual = [value for (pattern, _), value in grown.items() if pattern != "one heavy"]
    heavy = [r for r in held if (r["weights"], r["tasks"]) == ("one heavy", "60")]
    drawn = [
        percent(
            _one(held, world="uneven opposed", weights="starter", repeats="1", tasks=n)["rejected"]
        )
        for n in ("24", "60", "500")
    ]
    return [
        f"{min(usual):.0f} to {max(usual):.0f} % wider than the bootstrap, and "
        f"{grown['one heavy', '60']:.0f} to {grown['one heavy', '500']:.0f} % where one task is heavy",
        f"({percent(_of(_mean, heavy, 'as_test'))} against "
        f"{percent(_of(_mean, heavy, 'as_test_bootstrap'))} at 60 tasks)",
        f"rejected in {drawn[0]} at 24 tasks, {drawn[1]} at 60 and {drawn[2]} at 500",
    ]


def _error_phrases(folder: Path) -> list[str]:
    held = read(folder, "errors")
    apart = {r["tasks"]: r["false_contrast"] for r in held if r["under_target"] == "false"}
    even = [r for r in held if r["rates"] == "A even tasks, B odd"]
    return [
        f"rejected in {percent(apart['12'])} of worlds at 12 tasks, **{percent(apart['24'])}** at "
        f"24, {percent(apart['60'])} at 60 and {percent(apart['500'])} at 500",
        f"in at most {percent(_of(max, even, 'false_contrast'), 2)} of worlds",
    ]


def _other_phrases(folder: Path) -> list[str]:
    held = read(folder, "power")
    at_80 = [r for r in held if r["tasks"] == "80"]
    correlated = next(r for r in at_80 if r["dependence"] == "correlated")
    repeated, third, starter = (
        _one(at_80, dependence="independent", **wanted)
        for wanted in ({"repeats": "3"}, {"agents": "3"}, {"weights": "starter"})
    )
    beside = read(folder, "others")

    def span(what: str) -> str:
        found = [float(r["coverage"]) for r in beside if r["what"] == what]
        ends = dict.fromkeys((percent(min(found), 0), percent(max(found), 0)))
        return " to ".join(ends).replace(" % to", " to")

    band = {
        (r["tasks"], r["weights"]): percent(r["coverage"], 0) for r in beside if r["what"] == "band"
    }
    return [
        f"At 80 tasks: {percent(correlated['confirmed'], 0)} where cells are correlated, "
        f"{percent(repeated['confirmed'], 0)} with three repeats, "
        f"{percent(third['confirmed'], 0)} with a third agent, and "
        f"{percent(starter['confirmed'], 0)} at starter weights",
        f"rank intervals hold the true rank in {span('rank')}, areas in {span('area')}.",
        f"in {band['24', 'equal']} at 24 tasks, {band['60', 'equal']} at 60 "
        f"({band['60', 'starter']} at starter weights) and {band['500', 'equal']} at 500",
    ]


TABLES = (rates, weights, differences, comparison, errors, power)


if __name__ == "__main__":
    for make in TABLES:
        print(f"{make(FOLDER)}\n")
    for phrase in phrases(FOLDER):
        print(phrase)
    for cell in outside(FOLDER):
        print(*cell, sep=" | ")
