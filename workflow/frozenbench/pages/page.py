"""The results page: controls first, then what they answer, and what the numbers do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frozenbench.controls import is_imported
from frozenbench.pages.blocks import Block, Code, Item, Items, Page, Paragraph, Picture, Section
from frozenbench.pages.cells import told_cells
from frozenbench.pages.controls import controls_section
from frozenbench.pages.decisions import decisions
from frozenbench.pages.imported import import_notes, source_sections
from frozenbench.pages.inputs import PageInputs
from frozenbench.pages.notes import notes
from frozenbench.pages.scores import flips, outcomes, scores

#: Figure -> the section that it belongs to, and what it shows; any other stands with the scores.
_FIGURES = {
    "budget_curves": ("scores", "pass rate, exhaust rate and rank of each agent under each budget"),
    "pareto": ("scores", "pass rate against the tokens that were really spent"),
    "task_grid": ("flips", "the outcome of each task for each agent under each budget"),
    "outcomes": ("outcomes", "share of cells by outcome for each agent under each budget"),
}
_ELSE = ("scores", "a figure of this experiment")


def refused_page(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    refusals: Sequence[Mapping[str, str]],
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
        else (controls_section(controls, view, pack_check=pack_check),)
    )
    told = "What was computed stays on disk; no score is printed, because:"
    title = f"{controls['experiment']['name']}: no score"
    return Page(title, (Paragraph(told), Items(items)), above)


def results_page(inputs: PageInputs) -> Page:
    """Return the whole page."""
    controls, view = inputs.controls, inputs.view
    imported = is_imported(controls)
    title = view["title"] or f"{controls['experiment']['name']}: pass rate against the budget"
    above = (
        source_sections(controls, view)
        if imported
        else (controls_section(controls, view, inputs.responses, inputs.pack_check),)
    )
    told = import_notes(controls) if imported else notes(inputs)
    unsaid = Items(tuple(Item(note) for note in told))
    sections = (
        *above,
        Section("decisions", "Which budget, which metric", tuple(decisions(inputs))),
        _section("scores", "Scores", scores(inputs), view),
        _section("flips", "Ranking flips", flips(inputs), view),
        _section("outcomes", "Outcomes", outcomes(inputs), view),
        Section("cells", "Cells to read", tuple(told_cells(inputs))),
        Section("unsaid", "What these numbers do not say", (unsaid,)),
        *((_crossings(),) if imported else ()),
        _check(imported),
    )
    return Page(title, (Paragraph(finding(inputs.statistics)),), sections)


def _section(key: str, title: str, blocks: Iterator[Block], view: Mapping[str, Any]) -> Section:
    """Return a section with the figures that belong to it behind its first paragraph."""
    first, *rest = blocks
    pictures = [
        Picture(name, f"{name}: {_FIGURES.get(name, _ELSE)[1]}; the controls stand above the score")
        for name in view["figures"]
        if _FIGURES.get(name, _ELSE)[0] == key
    ]
    return Section(key, title, (first, *pictures, *rest))


def finding(statistics: Mapping[str, Any]) -> str:
    """Return the computed finding in one sentence."""
    told = (
        f"**{statistics['confirmed_pairs']} confirmed and {statistics['suggestive_pairs']} "
        f"suggestive ranking flips among {statistics['pairs']} pairs of agents.**"
    )
    if statistics["cannot_confirm"]:
        told += " With so few tasks this pack cannot confirm a flip."
    return told


def _crossings() -> Section:
    text = (
        "`tables/pass_counts.csv` holds the pass counts at every cap, from 0, and "
        "`tables/crossings.csv` every change of lead of two agents along them, the confirmed ones "
        "marked. Tests are made at the caps above alone; the rest is descriptive."
    )
    return Section("caps", "All caps", (Paragraph(text),))


def _check(imported: bool) -> Section:
    lines = ["frozenbench verify            # re-hash everything in results/"]
    text = (
        "The tables beside this page carry all controls in their metadata. To check that tables, "
        "statistics and this page follow from what is stored (add `--config FILE` where the config is "
        "not the default one):"
    )
    if imported:
        return Section("check", "Check it", (Paragraph(text), Code(tuple(lines))))
    lines += [
        "frozenbench show AGENT TASK BUDGET",
        "frozenbench explain AGENT TASK BUDGET",
    ]
    replay = (
        "To replay it: with the same config, `snakemake --cores 4` in a fresh copy runs every agent "
        "under every budget again, from the committed record where there is one, and comes to the "
        "same `cells.parquet`, byte for byte. One that differs is a broken experiment."
    )
    return Section("check", "Check it", (Paragraph(text), Code(tuple(lines)), Paragraph(replay)))
