"""Honest marks: everything that a reader of an imported log must be told, by name and count."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from frozenbench.importers.model import Part, Published, Remark, Row
from frozenbench.importers.names import short

#: Kind -> what it means, in the order of reports.
KINDS = {
    "contradiction": "published figures that their own rows contradict",
    "no_rows": "published entries without a row for each task: not imported",
    "duplicate": "rows that are an exact second copy: counted once",
    "retried": "runs in which harness or grader broke, and that were run again: the later counts",
    "contradicting_duplicate": "rows of one name with different content: the first is kept",
    "missing_row": "runs without a row: ERROR, never a smaller n",
    "task_not_run_by_all": "tasks that not all agents ran",
    "left_out": "agents that are left out of the comparison",
    "told_apart": "names of several agents: told apart",
    "renamed": "agents that have another name here than in their logs",
    "repeats_by_run": "agents of which several runs hold the same task: taken as repeats",
    "settings_differ": "agents whose logs are of several settings",
    "null_grade": "runs without a verdict: ERROR",
    "counting_rules": "null grades counted both ways",
    "harness_error": "runs in which harness or grader broke: ERROR",
    "unknown_ending": "runs whose ending is not known",
    "limit_not_told": "runs that a limit ended, and the log does not tell which: EXHAUSTED",
    "inferred_ending": "endings found by comparing use with the stated limits",
    "overshoot": "runs that used more than their own limit",
    "solved_at_limit": "runs that are solved although their own limit ended them: PASS at a cap",
    "cap_beyond_limit": "caps beyond the log's own limit: not drawn",
    "zero_cost": "runs with model calls and a cost of 0: counted as the log states it",
    "odd_value": "values that are no use of a run: counted as not told",
    "odd_verdict": "values in the place of a verdict that are none: no grade, ERROR",
    "verdicts_disagree": "verdicts of one log or report that contradict each other: no grade, ERROR",
    "use_not_told": "runs whose use on an axis is not told",
    "axis_passed_over": "axes that some runs do not tell: passed over",
    "axis_not_told": "axes that some runs do not tell: no counts along them",
    "doubled_key": "keys that stand twice in one object with other values: the last counts",
    "odd_name": "names with signs that cannot be shown: written as escapes",
    "names_alike": "names that differ in case or in the form of their letters alone",
    "limits_differ": "agents whose logs state different limits: the largest counts",
    "control_differs": "controls that differ between the logs of one agent",
    "partial_grade": "partial grades: not solved",
    "several_scorers": "runs with several scorers or metrics: one counts",
    "several_filters": "rows of further filters: not read",
    "own_judgement": "runs whose verdict is the agent's own judgement",
    "part_missing": "logs whose later part is missing",
    "unfinished_log": "logs that did not end well",
    "verdict_without_log": "verdicts without a run: ERROR",
    "verdict_not_used": "reports with verdicts that are of no run here, or of several: not used",
    "details_differ": "runs of which details tell another use than their log: the log counts",
    "details_alone": "runs that details tell of, and no log beside them: taken from the details",
    "others_not_solved": "reports that list what is solved alone: all others are not solved",
    "report_by_place": "reports that name another agent: taken by their place",
    "broken_file": "files that are broken: not read",
    "unknown_file": "files that no format knows: not read",
    "passed_over": "files that hold no outcome of their own",
}
#: Kinds that explain and need nobody's attention: they do not change the exit status.
INFORMATION = frozenset(
    {
        "axis_not_told",
        "counting_rules",
        "inferred_ending",
        "others_not_solved",
        "passed_over",
        "renamed",
        "repeats_by_run",
        "report_by_place",
        "told_apart",
    }
)
#: How long a line of text may be.
_LONG = 1000
#: How many names of one kind are kept: the count tells the rest.
MOST_NAMES = 200


@dataclass(frozen=True)
class Notice:
    """One kind of mark.

    Attributes:
        kind: a key of KINDS.
        count: how many there are.
        subjects: their names, at most MOST_NAMES of them.
    """

    kind: str
    count: int
    subjects: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON, with its meaning."""
        return {
            "kind": self.kind,
            "meaning": KINDS[self.kind],
            "count": self.count,
            "subjects": list(self.subjects),
        }


def collect(remarks: Iterable[Remark], counts: Mapping[str, int] | None = None) -> list[Notice]:
    """Return one notice a kind, in the order of KINDS; equal remarks count once.

    `counts` gives the number of a kind where a remark speaks of several at once.
    """
    subjects: dict[str, dict[str, None]] = defaultdict(dict)
    for remark in remarks:
        subjects[remark.kind].setdefault(remark.subject)
    return [
        Notice(kind, (counts or {}).get(kind, len(held)), tuple(held)[:MOST_NAMES])
        for kind in KINDS
        if (held := subjects.get(kind))
    ]


def merged(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return one notice a kind, counts added up, in the order of KINDS."""
    held: dict[str, Notice] = {}
    for notice in notices:
        before = held.get(notice.kind)
        if before is not None:
            names = tuple(dict.fromkeys([*before.subjects, *notice.subjects]))[:MOST_NAMES]
            notice = Notice(notice.kind, before.count + notice.count, names)
        held[notice.kind] = notice
    return tuple(held[kind] for kind in KINDS if kind in held)


def needs_attention(notices: Iterable[Notice]) -> bool:
    """Tell whether anything is named that a reader must look at."""
    return any(notice.kind not in INFORMATION for notice in notices)


def lines(notices: Iterable[Notice], most: int = 5) -> Iterator[str]:
    """Yield each notice as text, with its first names."""
    for notice in notices:
        yield f"{notice.count} {KINDS[notice.kind]}"
        for subject in notice.subjects[:most]:
            yield f"  {short(subject, _LONG)}"
        if len(notice.subjects) > most:
            yield f"  … and {notice.count - most} more"


def contradictions(published: Sequence[Published], rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark for every published figure that differs from its own rows.

    Figures after a number of edit rounds (`cap`) state their own n and have no rows.
    """
    solved: Counter[tuple[str, str]] = Counter()
    whole: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for run in {"", row.run}:
            whole[row.agent, run] += 1
            solved[row.agent, run] += bool(row.solved)
    for figure in published:
        place = figure.agent, figure.run
        own = (figure.solved or 0, figure.n or 0)
        count, n = own if figure.cap is not None else (solved[place], whole[place])
        if not n or (figure.cap is not None and figure.solved is None):
            continue
        wrong = figure.rate is not None and not rounds_to(count, n, figure.rate, figure.digits)
        differs = figure.solved is not None and figure.solved != count
        if wrong or differs:
            yield Remark("contradiction", _contradiction(figure, count, n))


def rounds_to(count: int, n: int, rate: Decimal, digits: int) -> bool:
    """Tell whether count/n rounded to `digits` places is `rate`, either way at a half."""
    return abs(Fraction(count, n) - Fraction(rate)) <= Fraction(1, 2 * 10**digits)


def _contradiction(figure: Published, count: int, n: int) -> str:
    at = f" after {figure.cap} edit rounds" if figure.cap is not None else ""
    run = f" ({figure.run})" if figure.run else ""
    rate = figure.rate
    told = f"{percent(rate)} %" if rate is not None else f"{figure.solved} solved"
    whose = "rows" if figure.cap is None else "counts"
    text = f"{figure.agent}{run}: published {told}{at}, its {whose} give {count} of {n}"
    text += f" = {percent(Decimal(count) / Decimal(n))} %"
    if rate is not None:
        for fewer in range(1, 6):
            if n > fewer and rounds_to(count, n - fewer, rate, figure.digits):
                return f"{text} ({count} of {n - fewer} would be the published figure)"
    return text


def percent(rate: Decimal) -> str:
    """Write a share as per cent, at most two places and no needless zero."""
    return f"{100 * rate:.2f}".rstrip("0").rstrip(".")


def counting_rules(rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield both rates of every agent that has null grades."""
    by_agent: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_agent[row.agent].append(row)
    for agent, held in by_agent.items():
        graded = [row for row in held if row.solved is not None]
        if len(graded) < len(held):
            count = sum(bool(row.solved) for row in held)
            over = "none graded"
            if graded:
                share = percent(Decimal(count) / len(graded))
                over = f"{count} of {len(graded)} graded = {share} %"
            share = percent(Decimal(count) / len(held))
            yield Remark(
                "counting_rules",
                f"{agent}: {count} of {len(held)} = {share} % with null grades as not solved; {over}",
            )


def _name(row: Row) -> str:
    repeat = row.label or row.repeat
    return f"{row.agent} on {row.task}" + (f", repeat {repeat}" if repeat else "")


def of_rows(rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield what single rows need said."""
    for row in rows:
        name = _name(row)
        if row.error in ("missing_row", "missing_log"):
            kind = "missing_row" if row.error == "missing_row" else "verdict_without_log"
            yield Remark(kind, name)
        elif row.solved is None:
            yield Remark("null_grade", f"{name}: {row.error or 'no verdict beside the log'}")
        elif row.error is not None:
            solved = "solved" if row.solved else "not solved"
            yield Remark("harness_error", f"{name}: {row.error} ({solved} by its own verdict)")
        if (row.ending or "").startswith("unknown:"):
            yield Remark("unknown_ending", f"{name}: {row.ending}")
        yield from of_limits([row])
        yield from of_inferred([row])
        if row.use.cost == 0 and (row.use.calls or 0) > 0:
            yield Remark("zero_cost", f"{name}: {row.use.calls} calls")
        if row.solved and row.ran_out is not None and row.error is None:
            yield Remark("solved_at_limit", f"{name}: {row.ran_out}")


def of_limits(rows: Iterable[Row]) -> Iterator[Remark]:
    """Yield the runs that a limit ended of which the log does not tell which."""
    for row in rows:
        if row.ran_out == "unknown":
            yield Remark("limit_not_told", f"{_name(row)}: {row.ending or 'its ending says so'}")


def of_inferred(rows: Iterable[Row]) -> Iterator[Remark]:
    """Yield the runs whose ending was found by comparing use with limits."""
    for row in rows:
        if row.inferred:
            yield Remark("inferred_ending", f"{_name(row)}: {row.ran_out}")


def names_alike(rows: Iterable[Row]) -> Iterator[Remark]:
    """Yield the names of agents and tasks that a reader takes for one."""
    rows = list(rows)
    for kind in ("agent", "task"):
        forms: dict[str, list[str]] = defaultdict(list)
        for name in dict.fromkeys(getattr(row, kind) for row in rows):
            forms[unicodedata.normalize("NFC", name).casefold().strip()].append(name)
        for held in forms.values():
            if len(held) > 1:
                yield Remark("names_alike", f"{kind}s {', '.join(map(ascii, held))}")


def overshoot(parts: Sequence[Part]) -> Iterator[Remark]:
    """Yield every run that used more than the limit that its own log states."""
    words = {True: "solved", False: "not solved", None: "no grade"}
    for part in parts:
        for row in part.rows:
            for axis, limit in part.limits.get(row.agent, {}).items():
                value = row.use.on(axis)
                if value is not None and value > limit:
                    told = f"{row.agent} on {row.task}: {axis} {value} over {limit}"
                    yield Remark("overshoot", f"{told} ({words[row.solved]})")
