"""Measure what the statistics promise and write the tables and the picture of docs/statistics.md.

make statistics        # 2,000 worlds of each kind: about half an hour on one core
.venv/bin/python tests/statistics/validate_statistics.py --worlds 200 --out /tmp/look
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import difference_coverage
import error_rates
import other_coverage
import rate_coverage
import weight_coverage
from draw_validation import draw_validation

ROOT = Path(__file__).parents[2]


def errors(worlds: int) -> list[Any]:
    """Return all rows of errors.csv."""
    kinds = error_rates.null_worlds()
    return [error_rates.row(world, worlds, number) for number, world in enumerate(kinds)]


def power(worlds: int) -> list[Any]:
    """Return all rows of power.csv."""
    kinds = error_rates.planted_worlds()
    return [error_rates.row(world, worlds, 100 + number) for number, world in enumerate(kinds)]


TABLES: dict[str, Callable[[int], list[Any]]] = {
    "rates": rate_coverage.rows,
    "weights": weight_coverage.rows,
    "differences": difference_coverage.rows,
    "errors": errors,
    "power": power,
    "others": other_coverage.rows,
}


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV; shares with five decimals, so that a machine's last bits do not show."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_field(value) for value in row.values()])
    return text.getvalue()


def _field(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.5g}" if isinstance(value, float) else value


def main(words: Sequence[str]) -> int:
    """Write the tables that are asked for, and the picture of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "statistics")
    asked = parser.parse_args(words)
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.tables:
        begin = time.perf_counter()
        rows = TABLES[name](asked.worlds)
        (asked.out / f"{name}.csv").write_text(csv_text(rows), "utf-8")
        print(f"{name}: {len(rows)} rows in {time.perf_counter() - begin:.0f} s", flush=True)
    draw_validation(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
