"""The frame of every figure: title, computed finding, frozen controls, notes and provenance.

Heights follow the content, so the canvas grows where a header or a note needs more lines; panels
keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from frozenbench import __version__
from frozenbench.figures import glossary, header, import_box, style
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.placing import wrap_words

# Inches from the top, with one line of title and subtitle: title, subtitle, box; box to panels.
_TITLE, _SUBTITLE, _BOX, _BELOW_BOX = 0.12, 0.34, 0.56, 0.30
_TITLE_PITCH, _SUBTITLE_PITCH, _NOTE_PITCH, _FOOTER_PITCH = 0.18, 0.135, 0.122, 0.105
_BEFORE_FOOTER, _LAST = 0.09, 0.10
_TEXT_WIDTH = style.RIGHT - style.LEFT


@dataclass(frozen=True)
class Frame:
    """A frame whose heights are known; inches.

    Attributes:
        top: where the first panel may begin.
        bottom: what notes and provenance take below the panels.
    """

    title: tuple[str, ...]
    subtitle: tuple[str, ...]
    box: header.Box
    notes: tuple[str, ...]
    footer: tuple[str, ...]

    @property
    def box_top(self) -> float:
        """Where the box of controls begins."""
        more_title = (len(self.title) - 1) * _TITLE_PITCH
        return _BOX + more_title + (len(self.subtitle) - 1) * _SUBTITLE_PITCH

    @property
    def top(self) -> float:
        """Where the first panel may begin."""
        return self.box_top + self.box.height + _BELOW_BOX

    @property
    def bottom(self) -> float:
        """What notes and provenance take below the panels."""
        notes = len(self.notes) * _NOTE_PITCH
        return notes + _BEFORE_FOOTER + len(self.footer) * _FOOTER_PITCH + _LAST

    def open(self, panels_end: float) -> Figure:
        """Return a figure with everything but the panels, which end at `panels_end` inches."""
        figure = style.new_figure(panels_end + self.bottom)
        top = _TITLE
        for line in self.title:
            style.put(figure, style.LEFT, top, line, style.TITLE, weight="bold")
            top += _TITLE_PITCH
        top += _SUBTITLE - _TITLE - _TITLE_PITCH
        for line in self.subtitle:
            style.put(figure, style.LEFT, top, line, style.SUBTITLE, color=style.MUTED)
            top += _SUBTITLE_PITCH
        header.draw_box(figure, self.box, self.box_top)
        top = panels_end
        for line in self.notes:
            style.put(figure, style.LEFT, top, line, style.NOTE, color=style.MUTED)
            top += _NOTE_PITCH
        top += _BEFORE_FOOTER
        for line in self.footer:
            style.put(figure, style.LEFT, top, line, style.FOOTER, mono=True, color=style.MUTED)
            top += _FOOTER_PITCH
        return figure


def make_frame(inputs: Inputs, title: str, subtitle: str, notes: Sequence[str]) -> Frame:
    """Lay out a frame; each of `notes` is one sentence or more, and they are set as one text.

    A line break in `subtitle` is kept.

    Raises:
        BadInput: a control is missing or the controls do not fit.
    """
    box = header.lay_out(header.read_controls(inputs), _TEXT_WIDTH)
    return Frame(
        title=_set(" ".join(title.split()), style.TITLE, bold=True),
        subtitle=tuple(
            line for text in subtitle.split("\n") for line in _set(text, style.SUBTITLE)
        ),
        box=box,
        notes=_set(
            " ".join([*notes, *_slice_notes(inputs), *glossary.explained(inputs)]), style.NOTE
        ),
        footer=_set(_footer(inputs), style.FOOTER, mono=True),
    )


def tasks(inputs: Inputs) -> str:
    """Return over how many tasks a weighted rate and its bar are: with unequal weights over fewer."""
    count = f"{len(inputs.tasks)} tasks"
    if inputs.equal_weights:
        return count
    row = next(iter(inputs.points.values()))
    return f"{count} (effective n {float(row['effective_n']):.1f})"


def _set(text: str, size: float, bold: bool = False, mono: bool = False) -> tuple[str, ...]:
    return tuple(wrap_words(text, _TEXT_WIDTH, lambda line: style.width_of(line, size, bold, mono)))


def _slice_notes(inputs: Inputs) -> list[str]:
    notes = []
    if inputs.imported:
        notes.append(import_box.remark(inputs))
    if inputs.other_slices:
        names = ", ".join(inputs.other_slices)
        notes.append(f"Drawn: the {inputs.slice} tasks; {names}: see the tables, never pooled.")
    open_tasks = sum(task["network"] == "open" for task in inputs.controls.need("tasks").values())
    if open_tasks:
        notes.append(f"Left out: {open_tasks} tasks with open network.")
    if inputs.left_out:
        notes.append(
            f"Left out, because another cap differs: {', '.join(inputs.left_out)} (see the tables)."
        )
    return notes


def _footer(inputs: Inputs) -> str:
    parts = [
        f"cells.parquet sha256 {inputs.cells_sha256[:12]}",
        f"figure {inputs.figure}",
        f"workflow {__version__}",
    ]
    if glossary.replayed(inputs):
        parts.append("REPLAYED")
    status = header.pack_fact(inputs, "status")
    if inputs.imported:
        parts.append("TRUNCATED FROM FINISHED RUNS")
    elif status != "published":
        parts.append(f"PACK STATUS: {status.upper()}")
    if inputs.controls.get("task_subset") is not None:
        parts.append("SUBSET OF THE TASKS")
    return " · ".join(parts)
