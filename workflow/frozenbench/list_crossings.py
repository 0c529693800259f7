"""list_crossings: every change of lead of two agents along all caps of an import; descriptive.

Tests are made at the configured caps alone. A crossing is marked as confirmed where it is the last
one between the two caps of a confirmed flip.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from frozenbench.canonical import read_json
from frozenbench.importers.budgets import Crossing, crossings
from frozenbench.importers.caps import plain
from frozenbench.out_folder import Own, replace_folder
from frozenbench.table import read_table

_HEAD = ("axis", "agent_a", "agent_b", "cap_before", "cap_after", "ahead", "behind", "kind")

#: What its folder is known by.
_OWN = Own(("crossings.csv",), ("pass_counts.csv",))


def list_crossings(counts: Path, statistics: Path, controls: Path, out: Path) -> None:
    """Write the folder `out`: pass_counts.csv and crossings.csv, or nothing where a score is refused.

    Raises:
        BadInput: a table is absent, or `out` is a folder of another kind.
    """
    files: dict[str, str] = {}
    if not (statistics / "refused.json").exists():
        rows = read_table(counts).to_pylist()
        flips = read_table(statistics / "flips.parquet").to_pylist()
        held = read_json(controls)
        head, counted = list(rows[0]) if rows else ["axis"], map(dict.values, rows)
        files["pass_counts.csv"] = _csv(head, counted, held)
        files["crossings.csv"] = _csv(_HEAD, _crossings(rows, flips, held), held)
    replace_folder(out, {name: text.encode() for name, text in files.items()}, _OWN)


def _csv(head: Sequence[str], rows: Iterable[Iterable[Any]], controls: Mapping[str, Any]) -> str:
    """Return a table as CSV, the digests that name its controls last, the same in every row."""
    naming = {
        "pack_sha256": controls["pack"]["digest"],
        "experiment_digest": controls["experiment"]["digest"],
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*head, *naming])
    for row in rows:
        told = ["true" if v is True else "false" if v is False else v for v in row]
        writer.writerow([*told, *naming.values()])
    return text.getvalue()


def _crossings(
    rows: Sequence[Mapping[str, Any]],
    flips: Sequence[Mapping[str, Any]],
    controls: Mapping[str, Any],
) -> Iterator[tuple[Any, ...]]:
    curves: dict[str, dict[str, dict[Decimal, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["beyond_limit"]:  # there the curve ends
            continue
        curves[row["axis"]][row["agent"]][Decimal(row["cap"])] = row["passed"]
    compared = controls["source"]["axis"]
    spans = _spans(flips, controls)
    for axis, held in curves.items():
        caps = tuple(next(iter(held.values())))
        counts = {agent: list(curve.values()) for agent, curve in held.items()}
        by_pair: dict[tuple[str, str], list[Crossing]] = defaultdict(list)
        for crossing in crossings(counts, caps):
            by_pair[crossing.agent_a, crossing.agent_b].append(crossing)
        for pair, found in by_pair.items():
            marked = marks(found, spans.get(pair, [])) if axis == compared else {}
            for number, c in enumerate(found):
                told = (plain(c.before), plain(c.after), c.ahead, c.behind)
                yield (axis, *pair, *told, marked.get(number, ""))


def _spans(
    flips: Sequence[Mapping[str, Any]], controls: Mapping[str, Any]
) -> dict[tuple[str, str], list[tuple[Decimal, Decimal]]]:
    """Return pair -> (cap, cap) of its confirmed flips."""

    def cap(budget: str) -> Decimal:
        return Decimal(str(next(iter(controls["budgets"][budget].values()))))

    found: dict[tuple[str, str], list[tuple[Decimal, Decimal]]] = defaultdict(list)
    for flip in flips:
        if flip["kind"] == "confirmed":
            span = (cap(flip["confirmed_from"]), cap(flip["confirmed_to"]))
            found[flip["agent_a"], flip["agent_b"]].append(span)
    return found


def marks(found: Sequence[Crossing], spans: Sequence[tuple[Decimal, Decimal]]) -> dict[int, str]:
    """Return the place of the last crossing inside each confirmed flip -> `confirmed`."""
    marked = {}
    for low, high in spans:
        inside = [n for n, c in enumerate(found) if low <= c.before and c.after <= high]
        if inside:
            marked[inside[-1]] = "confirmed"
    return marked
