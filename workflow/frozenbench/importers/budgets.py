"""Caps laid on finished runs afterwards (PROTOCOL 10): counts and outcomes, in exact arithmetic.

The curve is a lower bound for what an agent would do under that cap, because a run that is cut
did not know of it. The denominator is all rows, always.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from frozenbench.importers.caps import Cap, plain
from frozenbench.importers.model import AXES, Axis, Row

_CENT = Decimal("0.01")
#: What ran out -> its word in `reason` and `cap_hit`.
METERS = {name: axis.meter for name, axis in AXES.items()}


@dataclass(frozen=True)
class Cut:
    """The outcome of one run under one cap: columns of the cells table."""

    outcome: str
    reason: str
    cap_hit: str | None


def cut(row: Row, axis: Axis, cap: Cap | None) -> Cut:
    """Return a run's outcome when it is cut at `cap`; None: as it was run, without a cap.

    ERROR comes first; then PASS if it was solved with use ≤ cap; EXHAUSTED if use > cap or the
    log's own ending says that a budget ran out; else FAIL_TEST.

    Raises:
        ValueError: the use is not told, so that this axis is not to be had for this run.
    """
    if row.error is not None or row.solved is None:
        return Cut("ERROR", row.error or "no_grade", None)
    own = METERS.get(row.ran_out, row.ran_out) if row.ran_out is not None else None
    if cap is not None:
        used = row.use.on(axis.name)
        if used is None:
            raise ValueError(f"{row.agent} on {row.task}: {axis.name} is not told")
        if used > cap:
            return Cut("EXHAUSTED", axis.meter, axis.meter)
    if row.solved:
        return Cut("PASS", "finished" if own is None else "green_at_cap", own)
    if own is not None:
        return Cut("EXHAUSTED", own, own)
    return Cut("FAIL_TEST", "not_told", None)


def told(rows: Iterable[Row], axis: Axis) -> dict[str, tuple[int, int]]:
    """Return agent -> (runs that need their use told and do not, all its runs).

    A run that is ERROR in any case needs none.
    """
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        missing, whole = found.get(row.agent, (0, 0))
        needed = row.error is None and row.solved is not None
        found[row.agent] = missing + (needed and row.use.on(axis.name) is None), whole + 1
    return found


def first_axis(rows: Sequence[Row]) -> Axis | None:
    """Return the first axis that every run tells, None where there is none."""
    for axis in AXES.values():
        if any(row.use.on(axis.name) is not None for row in rows):
            missing = sum(count for count, _ in told(rows, axis).values())
            if missing == 0:
                return axis
    return None


def powers_of_two(rows: Sequence[Row], axis: Axis, limit: Decimal | None) -> tuple[Cap, ...]:
    """Return 0, powers of two, and the log's own limit, or the power that no use exceeds.

    They count one call, one token, one second or one cent; a tenth of that, and so on, where all
    uses are smaller.
    """
    uses = [used for row in rows if (used := row.use.on(axis.name)) is not None]
    end = Decimal(limit) if limit is not None else Decimal(max(uses, default=1))
    cap = _CENT if axis.name == "cost" else Decimal(1)
    while not axis.whole and end > 0 and cap * 8 > end:
        cap /= 10
    caps = [Decimal(0)]
    while cap < end:
        caps.append(cap)
        cap *= 2
    caps.append(end if limit is not None else cap)
    return tuple(int(c) if axis.whole else c for c in caps)


def break_points(rows: Iterable[Row], axis: Axis) -> tuple[Cap, ...]:
    """Return every cap at which a pass count changes, and 0: uses of solved runs, rising."""
    uses = {
        used
        for row in rows
        if row.solved and row.error is None and (used := row.use.on(axis.name)) is not None
    }
    return tuple(sorted({0, *uses}))


def pass_counts(rows: Iterable[Row], axis: Axis, caps: Sequence[Cap]) -> dict[str, tuple[int, ...]]:
    """Return agent -> its number of PASS runs at each cap."""
    uses: dict[str, list[Cap]] = defaultdict(list)
    for row in rows:
        held = uses[row.agent]
        used = row.use.on(axis.name)
        if row.solved and row.error is None and used is not None:
            held.append(used)
    found = {}
    for agent, held in uses.items():
        held.sort()
        found[agent] = tuple(bisect_right(held, cap) for cap in caps)
    return found


@dataclass(frozen=True)
class Crossing:
    """A change of sign between the pass counts of two agents along all caps: descriptive.

    Attributes:
        before, after: the last cap with the old sign, and the first with the new one.
        ahead, behind: PASS runs of `agent_a` less those of `agent_b` at these two.
    """

    agent_a: str
    agent_b: str
    before: Cap
    after: Cap
    ahead: int
    behind: int


def crossings(counts: Mapping[str, Sequence[int]], caps: Sequence[Cap]) -> Iterator[Crossing]:
    """Yield every change of sign of every pair, with only ties in between."""
    for a, b in combinations(counts, 2):
        last: int | None = None
        for place, (one, other) in enumerate(zip(counts[a], counts[b], strict=True)):
            difference = one - other
            if difference == 0:
                continue
            if last is not None:
                before = counts[a][last] - counts[b][last]
                if before * difference < 0:
                    yield Crossing(a, b, caps[last], caps[place], before, difference)
            last = place


def name_of(axis: Axis, cap: Cap) -> str:
    """Return a budget's name: `calls-8`, `cost-0.25`."""
    return f"{axis.name}-{plain(cap)}"
