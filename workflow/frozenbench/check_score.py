"""check_score: print the closing lines of what is published, or fail with what refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from frozenbench.canonical import BadInput, Incomplete, Refused, read_json, write_atomic
from frozenbench.closing import closing_lines, refusal_lines
from frozenbench.frozen import read_controls
from frozenbench.pack_check.stored import of_experiment


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


def published_lines(published: Path, planned: str | None = None) -> tuple[Sequence[str], int]:
    """Return the closing lines of results/<name>/ and the exit status that goes with them.

    Args:
        published: the folder.
        planned: the experiment digest of the config as it stands; None: whatever is published.

    Raises:
        Incomplete: nothing is published there, or another experiment than the planned one.
    """
    if not (published / "controls.json").exists():
        raise Incomplete(
            f"{published}: nothing is published there; cure: snakemake --cores 4 (or `make`)"
        )
    controls = read_controls(published / "controls.json")
    digest = controls["experiment"]["digest"]
    if planned not in (None, digest):
        raise Incomplete(
            f"{published}: shows experiment {digest[:12]}, and the config is {str(planned)[:12]} "
            "now, which has not run; cure: run the workflow"
        )
    refusals = read_json(published / "refusals.json")["refusals"]
    if not isinstance(refusals, list):
        raise BadInput(
            f"{published}/refusals.json: holds no list; cure: remove {published}, run again"
        )
    if refusals:
        return refusal_lines(refusals), Refused.exit_status
    from frozenbench.table import read_table

    tables = published / "tables"
    summary = read_table(tables / "summary.parquet").to_pylist()
    view = read_json(published / "view.json")
    statistics, check = read_json(tables / "statistics.json"), of_experiment(controls)
    return closing_lines(controls, view, summary, statistics, check), 0
