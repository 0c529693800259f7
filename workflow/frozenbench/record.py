"""record: write the responses that an experiment used as a record to commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from frozenbench import layout
from frozenbench.canonical import BadInput, Incomplete
from frozenbench.gateway.published_record import export_record
from frozenbench.gateway.record import Store
from frozenbench.plan import Plan
from frozenbench.seal import AGAIN, read_sealed


def export(plan: Plan, out: Path | None) -> Iterator[str]:
    """Write the record and yield what it holds.

    Raises:
        Incomplete: a run of the experiment is not in the store.
        BadInput: neither the config nor the command names a file.
    """
    named = plan.config.responses.record
    target = out if out is not None else None if named is None else Path(named)
    if target is None:
        raise BadInput(f"{plan.where}: responses.record: names no file; cure: name one, or --out")
    keys: set[str] = set()
    for run_key, cell in plan.runs.items():
        path = layout.run(run_key) / "run.json"
        if not path.exists():
            raise Incomplete(f"{cell.label}: has not run; cure: snakemake --cores 4")
        keys.update(read_sealed(path, AGAIN)["responses"]["keys"])
    header = export_record(Store(layout.RESPONSES), keys, plan.runs, target).header()
    yield f"{target}: {header['responses']} responses of {header['first_date']} to {header['last_date']}"
    yield f"answered on {', '.join(header['machine_classes']) or 'no machine'}"
