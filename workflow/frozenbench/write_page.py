"""write_page: README.md, index.html and score_bundle.json, or the page that says why there is no score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.canonical import BadInput, canonical_json, read_json
from frozenbench.controls import is_imported
from frozenbench.out_folder import Own, replace_folder
from frozenbench.pack_check.stored import COPY, of_experiment, of_page
from frozenbench.pages.blocks import Page, Story
from frozenbench.pages.cells import deciding
from frozenbench.pages.html import html
from frozenbench.pages.inputs import CELL_COLUMNS, MEASURED_COLUMNS, PageInputs
from frozenbench.pages.markdown import markdown
from frozenbench.pages.page import refused_page, results_page
from frozenbench.pages.rst import landing
from frozenbench.pages.story import cell_story
from frozenbench.score_bundle import score_bundle
from frozenbench.seal import sealed
from frozenbench.table import RESPONSES_KEY, metadata_of, read_table, table_rows

#: Sections of the first page of `snakemake --report`: what was frozen, and what the data answer.
_LANDING_KEYS = ("controls", "named", "decisions")

BUNDLE = "score_bundle.json"
#: What a page's folder is known by.
OWN = Own((layout.LANDING,), ("README.md", "index.html", BUNDLE, COPY))


def write_page(
    statistics: Path,
    controls: Path,
    view: Path,
    measured: Path,
    cells: Path,
    out: Path,
    figures: Path | None = None,
    earlier: Path | None = None,
) -> None:
    """Write the folder `out`: the page in three forms, score_bundle.json unless it is refused.

    README.md, index.html (one file that asks for nothing from anywhere) and report.rst come from
    the same blocks. `figures` holds a folder for each figure of the view; without it index.html
    shows none. Equal input gives equal bytes; the runs behind cells that are shown are input too.

    What the page says of the pack's check lies beside it (pack_check.json): it is what the store
    holds now, or what the page `earlier` says. A check is no input of the page's rule, so that
    checking a pack writes no page again.

    Raises:
        BadInput: `out` is a folder of another kind, or a file is missing.
    """
    facts = read_json(controls)
    check = of_experiment(facts) if earlier is None else of_page(earlier)
    beside = {} if check is None else {COPY: canonical_json(sealed(check)) + b"\n"}
    measured_table = read_table(measured)
    responses = metadata_of(measured_table, RESPONSES_KEY)
    if (statistics / "refused.json").exists():
        refusals = read_json(statistics / "refused.json")["refusals"]
        page = refused_page(facts, read_json(view), refusals, responses, check)
        replace_folder(out, {**_forms(page, {}), **beside}, OWN)
        return
    inputs = PageInputs(
        controls=facts,
        view=read_json(view),
        responses=responses,
        cells=table_rows(read_table(cells), CELL_COLUMNS),
        measured=table_rows(measured_table, MEASURED_COLUMNS),
        summary=_rows(statistics / "summary.parquet"),
        contrasts=_rows(statistics / "contrasts.parquet"),
        flips=_rows(statistics / "flips.parquet"),
        areas=_rows(statistics / "areas.parquet"),
        statistics=read_json(statistics / "statistics.json"),
        pack_check=check,
    )
    inputs = replace(inputs, stories=tuple(_stories(inputs)))
    if not is_imported(facts):  # no log states what a bundle's score is never written without
        bundle = score_bundle(
            inputs.controls, inputs.view, inputs.summary, inputs.cells, inputs.measured
        )
        beside[BUNDLE] = canonical_json(bundle) + b"\n"
    drawn = {} if figures is None else _pictures(figures, inputs.view["figures"])
    replace_folder(out, {**_forms(results_page(inputs), drawn), **beside}, OWN)


def _forms(page: Page, pictures: Mapping[str, bytes]) -> dict[str, bytes]:
    forms = {
        "README.md": markdown(page),
        "index.html": html(page, pictures),
        layout.LANDING: landing(page, _LANDING_KEYS),
    }
    # Half a surrogate pair in a model's answer is no text that a file can hold.
    return {name: text.encode("utf-8", "replace") for name, text in forms.items()}


def _stories(inputs: PageInputs) -> Iterator[Story]:
    """Yield each cell that is to be read, once; an imported one has no run of ours."""
    if is_imported(inputs.controls):
        return
    seen = set()
    for crossing in deciding(inputs):
        for cell in crossing.read():
            key = tuple(cell[name] for name in ("agent", "task", "budget", "repeat"))
            if key not in seen:
                seen.add(key)
                yield cell_story(cell)


def _pictures(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    found = {}
    for name in names:
        path = folder / name / f"{name}.svg"
        if not path.is_file():
            raise BadInput(f"{path}: is not there; cure: draw the figure again")
        found[name] = path.read_bytes()
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows
