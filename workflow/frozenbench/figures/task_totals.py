"""The last row of `task_grid`: how many cells are PASS, of how many, for each agent and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from frozenbench.figures import style
from frozenbench.figures.task_cells import TaskCells

#: Inches: over the counts, their height, and what keeps two of them apart.
_ABOVE, _LINE, _APART = 0.04, 0.1, 0.035


@dataclass(frozen=True)
class Totals:
    """Counts over all tasks, by agent and budget.

    Attributes:
        passed, cells: number of PASS cells, and of all.
    """

    passed: tuple[tuple[int, ...], ...]
    cells: tuple[tuple[int, ...], ...]

    @property
    def label(self) -> str:
        """What the row is; with the number of cells where it is the same everywhere."""
        sizes = {size for row in self.cells for size in row}
        return f"PASS of {min(sizes)}" if len(sizes) == 1 else "PASS of cells"

    @property
    def label_width(self) -> float:
        """Width of the label, inches."""
        return style.width_of(self.label, style.NOTE, bold=True)

    def texts(self, cell: float) -> list[list[str]]:
        """Return the counts as n/N, or as n where that alone fits into `cell` inches."""
        whole = [
            [f"{count}/{size}" for count, size in zip(*rows, strict=True)]
            for rows in zip(self.passed, self.cells, strict=True)
        ]
        if _widest(whole) + _APART <= cell or self.label == "PASS of cells":
            return whole
        return [[str(count) for count in row] for row in self.passed]

    def is_upright(self, cell: float) -> bool:
        """Whether counts are written upwards, since `cell` inches are too narrow."""
        return _widest(self.texts(cell)) + _APART > cell

    def height(self, cell: float) -> float:
        """Return the height of the row, inches."""
        line = _widest(self.texts(cell)) + 0.02 if self.is_upright(cell) else _LINE
        return _ABOVE + line


@dataclass(frozen=True)
class Row:
    """Where an agent's counts stand: left and top edge and the width of a cell, inches."""

    left: float
    top: float
    cell: float


def count(cells: TaskCells) -> Totals:
    """Count over all tasks and repeats."""
    passed, size = cells.passed.sum(axis=2).tolist(), cells.counts.sum(axis=(2, 3)).tolist()
    return Totals(tuple(map(tuple, passed)), tuple(map(tuple, size)))


def draw_counts(
    figure: Figure, totals: Totals, agent: int, row: Row, labelled: Sequence[int]
) -> None:
    """Write an agent's counts under its columns; where they are narrow, at labelled ones alone."""
    texts = totals.texts(row.cell)[agent]
    upright = totals.is_upright(row.cell)
    for place in labelled if upright else range(len(texts)):
        style.put(
            figure,
            row.left + (place + 0.5) * row.cell,
            row.top + _ABOVE,
            texts[place],
            style.NOTE,
            ha="center",
            rotation=90 if upright else 0,
        )


def draw_label(figure: Figure, totals: Totals, corner: tuple[float, float]) -> None:
    """Name the row at its left; `corner` is the upper right one of the label, inches."""
    right, top = corner
    style.put(figure, right, top + _ABOVE, totals.label, style.NOTE, ha="right", weight="bold")


def _widest(texts: Sequence[Sequence[str]]) -> float:
    return max(style.width_of(text, style.NOTE) for row in texts for text in row)
