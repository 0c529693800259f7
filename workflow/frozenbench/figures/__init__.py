"""Figures: one module each, whose name is the name in the config and which has `build_figure`.

The other modules here are what figures are drawn with. matplotlib is imported below this package
alone, and only when a figure is drawn.
"""

from __future__ import annotations

import pkgutil

#: Modules of this package that are no figure.
NOT_FIGURES = frozenset(
    {
        *(
            "apart",
            "curve_notes",
            "frame",
            "glossary",
            "header",
            "import_box",
            "inputs",
            "leads",
            "marks",
        ),
        *(
            "outcome_marks",
            "pareto_labels",
            "pareto_marks",
            "placing",
            "rank_places",
            "ranks",
            "rings",
            "scale",
            "style",
        ),
        *("task_cells", "task_totals"),
    }
)


def figure_names() -> tuple[str, ...]:
    """Return the names of all figures that can be drawn."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name for name in names if name not in NOT_FIGURES))
