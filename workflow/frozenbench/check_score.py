"""check_score: print the closing lines of what is published, or fail with what refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from frozenbench.canonical import Incomplete, Refused, read_json, write_atomic
from frozenbench.closing import closing_lines, refusal_lines


def check_score(published: Path, out: Path) -> int:
    """Print the closing lines and write `out`; return 0.

    Raises:
        Refused: the score is refused; then nothing is written.
        Incomplete: nothing is published.
    """
    lines, status = published_lines(published)
    if status != 0:
        raise Refused("\n".join(lines))
    print("\n".join(lines))
    write_atomic(out, ("\n".join(lines) + "\n").encode())
    return status


def published_lines(published: Path) -> tuple[Sequence[str], int]:
    """Return the closing lines of results/<name>/ and the exit status that goes with them.

    Raises:
        Incomplete: nothing is published there.
    """
    if not (published / "controls.json").exists():
        raise Incomplete(
            f"{published}: nothing is published there; cure: snakemake --cores 4 (or `make`)"
        )
    refusals = read_json(published / "refusals.json")["refusals"]
    if refusals:
        return refusal_lines(refusals), Refused.exit_status
    from frozenbench.table import read_table

    tables = published / "tables"
    summary = read_table(tables / "summary.parquet").to_pylist()
    controls, view = read_json(published / "controls.json"), read_json(published / "view.json")
    return closing_lines(controls, view, summary, read_json(tables / "statistics.json")), 0
