"""The results page: controls first, then what they answer, and what the numbers do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.controls import is_imported
from frozenbench.headline import headline
from frozenbench.import_lines import TRUNCATED
from frozenbench.pages.blocks import (
    Block,
    Item,
    Items,
    Page,
    Paragraph,
    Picture,
    Section,
    count,
    listed,
    plain,
)
from frozenbench.pages.cells import told_cells
from frozenbench.pages.check import check_section
from frozenbench.pages.controls import controls_section
from frozenbench.pages.decisions import decisions
from frozenbench.pages.flips import flips
from frozenbench.pages.imported import import_notes, source_sections
from frozenbench.pages.inputs import PageInputs
from frozenbench.pages.notes import notes
from frozenbench.pages.scores import outcomes, scores

#: Figure -> the section that it belongs to, and what it shows; any other stands with the scores.
_FIGURES = {
    "budget_curves": ("scores", "Pass rate, exhaust rate and rank of each agent under each budget"),
    "pareto": ("scores", "Pass rate against the tokens that were really spent"),
    "task_grid": ("flips", "The outcome of each task for each agent under each budget"),
    "outcomes": ("outcomes", "Share of cells by outcome for each agent under each budget"),
}
#: The same for an import: what a run used up to a cut is told by no log.
_IMPORTED = {
    **_FIGURES,
    "pareto": (
        "scores",
        "Pass rate against the tokens of runs, under budgets that cut none of them",
    ),
}
_ELSE = ("scores", "A figure of this experiment")


def refused_page(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    refusals: Sequence[Mapping[str, str]],
    responses: Mapping[str, Any],
    pack_check: Mapping[str, Any] | None = None,
) -> Page:
    """Return the page of an experiment whose score is refused: the controls, and why."""
    items = tuple(
        Item(
            f"**{refusal['control']}**: {refusal['message']}.",
            (f"*Cure:* {refusal['cure']}.",),
            run_on=True,
        )
        for refusal in refusals
    )
    above = (
        source_sections(controls, view)
        if is_imported(controls)
        else (controls_section(controls, view, responses, pack_check),)
    )
    told = "What was computed stays on disk; no score is printed, because:"
    title = f"{plain(controls['experiment']['name'])}: no score"
    return Page(title, (Paragraph(told), Items(items)), above)


def results_page(inputs: PageInputs) -> Page:
    """Return the whole page."""
    controls, view = inputs.controls, inputs.view
    imported = is_imported(controls)
    title = view["title"] or _title(controls)
    above = (
        source_sections(controls, view)
        if imported
        else (controls_section(controls, view, inputs.responses, inputs.pack_check),)
    )
    told = import_notes(inputs) if imported else notes(inputs)
    unsaid = Items(tuple(Item(note) for note in told))
    sections = (
        *above,
        Section("decisions", "Which budget, which metric", tuple(decisions(inputs))),
        _section("scores", "Scores", scores(inputs), inputs),
        _section("flips", "Ranking flips", flips(inputs), inputs),
        _section("outcomes", "Outcomes", outcomes(inputs), inputs),
        Section("cells", "Cells to read", tuple(told_cells(inputs))),
        Section("unsaid", "What these numbers do not say", (unsaid,)),
        *((_crossings(),) if imported else ()),
        check_section(inputs),
    )
    return Page(plain(title), tuple(_lead(inputs)), sections)


def _title(controls: Mapping[str, Any]) -> str:
    name = controls["experiment"]["name"]
    if is_imported(controls) and controls["source"]["axis"] is None:
        return f"{name}: pass rate of finished runs"
    cut = f", {TRUNCATED}" if is_imported(controls) else ""
    return f"{name}: pass rate against the budget{cut}"


def _section(key: str, title: str, blocks: Iterator[Block], inputs: PageInputs) -> Section:
    """Return a section with the figures that belong to it behind its first paragraph."""
    first, *rest = blocks
    known = _IMPORTED if is_imported(inputs.controls) else _FIGURES
    told = {name: known.get(name, _ELSE) for name in inputs.view["figures"]}
    pictures = [Picture(name, shows) for name, (where, shows) in told.items() if where == key]
    return Section(key, title, (first, *pictures, *rest))


def _lead(inputs: PageInputs) -> Iterator[Block]:
    """Yield what was found of flips, slice by slice, and what of."""
    controls, view = inputs.controls, inputs.view
    for name in inputs.slices:
        told = headline(inputs.facts(name), controls, view)
        yield Paragraph(f"**Slice {name}: {told}**" if inputs.several else f"**{told}**")
    repeats = controls["repeats"]
    parts = [
        count(len(view["agents"]), "agent"),
        *(_tasks(inputs, name) for name in inputs.slices),
        count(len(view["budgets"]), "budget"),
        *([count(repeats, "repeat")] if repeats > 1 else []),
    ]
    told = listed(parts)
    if is_imported(controls):
        cut = "as they were run" if controls["source"]["axis"] is None else TRUNCATED
        told += f", {cut}: nothing was run here"
    elif controls["grading"] == "every_step":
        told += ", graded at every step: an oracle stop, best of k"
    yield Paragraph(f"{told}.")


def _tasks(inputs: PageInputs, name: str) -> str:
    slice_of = f"{name} task" if inputs.several else "task"
    return count(inputs.facts(name)["n_tasks"], slice_of)


def _crossings() -> Section:
    text = (
        "`tables/pass_counts.csv` holds the pass counts at every cap, from 0, and "
        "`tables/crossings.csv` every change of lead of two agents along them, the confirmed ones "
        "marked. Tests are made at the caps above alone; the rest is descriptive."
    )
    return Section("caps", "All caps", (Paragraph(text),))
