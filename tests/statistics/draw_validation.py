"""Draw the picture of docs/statistics.md from its tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from rate_coverage import GRID, exact_coverage, percentile_ends, wilson_ends
from simulated_worlds import weights_of

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of backend

INK, MUTED, RULE = "#1A1A1A", "#5F6368", "#D9DCE0"
SERIES = (("#00568A", "o"), ("#D55E00", "s"), ("#2B2B2B", "^"), ("#4A9EDB", "D"))


def read(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of one table as text."""
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def draw_validation(folder: Path) -> None:
    """Write validation.png beside the tables."""
    style = {
        "font.family": "DejaVu Sans",
        "font.size": 7.5,
        "axes.titlesize": 8.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": MUTED,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.color": RULE,
        "grid.linewidth": 0.5,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "legend.frameon": False,
        "legend.fontsize": 6.5,
    }
    with mpl.rc_context(style):
        figure, axes = plt.subplots(2, 2, figsize=(7.2, 6.0), layout="constrained")
        _rates(axes[0, 0])
        _differences(axes[0, 1], read(folder, "differences"))
        _errors(axes[1, 0], read(folder, "errors"))
        _power(axes[1, 1], read(folder, "power"))
        figure.savefig(folder / "validation.png", dpi=200, metadata={"Software": None})
        plt.close(figure)


def _rates(axis: Any) -> None:
    """One rate: exact coverage over the grid, at equal weights and where one task is heavy."""
    for (colour, _), tasks in zip(SERIES, (24, 60, 500), strict=False):
        weights = weights_of("equal", tasks)
        ends = wilson_ends(weights)
        held = [100 * exact_coverage(ends, weights, float(rate)) for rate in GRID]
        axis.plot(GRID, held, color=colour, linewidth=1, label=f"Wilson, {tasks} tasks")
    weights = weights_of("one heavy", 500)
    ends = wilson_ends(weights)
    held = [100 * exact_coverage(ends, weights, float(rate)) for rate in GRID]
    label = "Wilson, 500 tasks, one has 20 % of the weight"
    axis.plot(GRID, held, color=SERIES[3][0], linewidth=1, linestyle="--", label=label)
    weights = weights_of("equal", 24)
    ends = percentile_ends(24)
    held = [100 * exact_coverage(ends, weights, float(rate)) for rate in GRID]
    axis.plot(GRID, held, color="#7A7A7A", linewidth=0.9, linestyle=":")
    axis.annotate(
        "percentile bootstrap, 24 tasks", (0.5, 88.6), ha="center", color=MUTED, fontsize=6.5
    )
    axis.axhline(95, color=INK, linewidth=0.6, linestyle="--")
    axis.set(ylim=(78, 100), xlabel="true rate", ylabel="coverage, %", title="a  One rate")
    axis.legend(loc="lower center")


def _differences(axis: Any, rows: list[dict[str, str]]) -> None:
    """Differences with 10 expected discordant tasks: coverage where an interval is shown."""
    wanted = (
        ("60", "equal", "1"),
        ("500", "equal", "1"),
        ("60", "starter", "1"),
        ("60", "equal", "3"),
    )
    for (colour, marker), (tasks, weights, repeats) in zip(SERIES, wanted, strict=True):
        held = [
            r
            for r in rows
            if (r["tasks"], r["weights"], r["repeats"]) == (tasks, weights, repeats)
            and (r["world"], r["expected_discordant"]) == ("one way", "10")
        ]
        exact = [float(r["coverage_exact"] or r["coverage"]) for r in held]
        label = f"{held[0]['interval']}, {tasks} tasks, " + (
            "3 repeats" if repeats == "3" else f"{weights} weights"
        )
        places = [float(r["ahead"]) for r in held]
        axis.plot(
            places,
            [100 * share for share in exact],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=0.9,
            label=label,
        )
        if (tasks, weights) == ("60", "starter"):
            beside = [100 * float(r["coverage_bootstrap"]) for r in held]
            label = "percentile bootstrap (not used), 60 tasks, starter"
            axis.plot(places, beside, color="#7A7A7A", linewidth=0.9, linestyle=":", label=label)
    axis.axhline(92, color=INK, linewidth=0.6, linestyle="--")
    axis.set(ylim=(82, 100), title="b  Differences, 10 discordant tasks expected")
    axis.set(xlabel="share of discordant tasks that A alone solves", ylabel="coverage, %")
    axis.legend(loc="lower right")


def _errors(axis: Any, rows: list[dict[str, str]]) -> None:
    """Share of worlds with a false rejection and with a false confirmed flip."""
    held = [r for r in rows if r["under_target"] == "true"]
    for number, (column, label) in enumerate(
        (("false_contrast", "any true null rejected"), ("false_confirmed", "a flip confirmed"))
    ):
        for place, tasks in enumerate(("12", "24", "60", "500")):
            found = [100 * float(r[column]) for r in held if r["tasks"] == tasks]
            spread = place + (number - 0.5) * 0.34 + np.linspace(-0.1, 0.1, len(found))
            colour, marker = SERIES[number]
            axis.plot(
                spread,
                found,
                linestyle="none",
                color=colour,
                marker=marker,
                markersize=3.5,
                markeredgecolor="white",
                markeredgewidth=0.4,
                label=label if place == 0 else None,
            )
    limit = 100 * float(held[0]["limit"])
    axis.axhline(limit, color=INK, linewidth=0.6, linestyle="--")
    axis.annotate("5 % + 2 standard errors", (3.45, limit + 0.1), ha="right", fontsize=6.5)
    axis.set(ylim=(-0.3, 8), title="c  Worlds without a true flip", ylabel="worlds, %")
    axis.set_xticks(range(4), ["12", "24", "60", "500"])
    axis.set_xlabel("tasks")
    axis.legend(loc="upper left")


def _power(axis: Any, rows: list[dict[str, str]]) -> None:
    """Share of worlds in which the planted flip is found."""
    plain = [
        r
        for r in rows
        if (r["dependence"], r["weights"], r["repeats"], r["agents"])
        == ("independent", "equal", "1", "2")
    ]
    tasks = [int(r["tasks"]) for r in plain]
    for (colour, marker), column, label in zip(
        SERIES, ("confirmed", "crossed"), ("confirmed", "any crossing seen"), strict=False
    ):
        held = [100 * float(r[column]) for r in plain]
        axis.plot(tasks, held, color=colour, marker=marker, markersize=4, linewidth=1, label=label)
    axis.axhline(80, color=INK, linewidth=0.6, linestyle="--")
    axis.set(ylim=(0, 104), xlabel="tasks", ylabel="worlds, %", title="d  A planted flip")
    axis.legend(loc="lower right")
