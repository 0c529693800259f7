from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import BadInput
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.task_cells import TaskCells, bands, read_task_cells
from frozenbench.outcomes import OUTCOMES
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from read_figure import words
from synthetic_view import World, write

Draw = Callable[..., tuple[Figure, Inputs]]
COUNTS = {"oneshot": [14, 14, 14, 14], "resample": [12, 18, 20, 24], "repair": [12, 17, 23, 26]}
MANY = {f"agent-{i:02d}": [i * 7, 100 + i, 200 + i, 490 - i] for i in range(25)}


def cells_of(passed: list[list[list[int]]], repeats: int = 1) -> TaskCells:
    """Make cells of PASS counts by agent, budget and task; what is no PASS is FAIL_TEST."""
    green = np.array(passed)
    counts = np.zeros((*green.shape, len(OUTCOMES)), dtype=np.int64)
    counts[..., OUTCOMES.index("PASS")] = green
    counts[..., OUTCOMES.index("FAIL_TEST")] = repeats - green
    return TaskCells(tuple(f"t{i}" for i in range(green.shape[2])), counts)


def areas(figure: Figure, place: int) -> dict[str, float]:
    """Return the area that an agent's cells of each outcome cover, square inches."""
    found = {}
    for patch in figure.axes[place].patches:
        if isinstance(patch, PathPatch) and patch.get_label() in OUTCOMES:
            corners = patch.get_path().vertices.reshape(-1, 5, 2)
            sides = np.ptp(corners, axis=1)
            found[str(patch.get_label())] = float((sides[:, 0] * sides[:, 1]).sum())
    return found


def test_bands_are_what_a_task_does_to_a_comparison() -> None:
    #           change  swap  apart  alike   (budgets as rows)
    a = [[1, 1, 1, 0], [1, 0, 1, 1]]
    b = [[1, 0, 0, 0], [0, 1, 0, 1]]
    found = bands(cells_of([a, b]))
    assert [(band.title, band.tasks) for band in found] == [
        (
            "Difference between agents changes with the budget: only these tasks can flip a "
            "ranking",
            (1, 0),
        ),
        ("Agents differ, in the same way under every budget", (2,)),
        ("Same for all agents under each budget (PASS or not)", (3,)),
    ]


def test_one_agent_is_sorted_by_the_budget_alone() -> None:
    found = bands(cells_of([[[1, 0, 0], [1, 1, 0]]]))
    assert [(band.title, band.tasks) for band in found] == [
        ("Changes with the budget (PASS or not)", (1,)),
        ("Same under every budget (PASS or not)", (0, 2)),
    ]


@given(
    st.integers(1, 4).flatmap(
        lambda agents: st.integers(1, 4).flatmap(
            lambda budgets: st.lists(
                st.lists(
                    st.lists(st.integers(0, 3), min_size=5, max_size=5),
                    min_size=budgets,
                    max_size=budgets,
                ),
                min_size=agents,
                max_size=agents,
            )
        )
    )
)
def test_every_task_is_in_one_band_and_the_others_change_no_difference(
    passed: list[list[list[int]]],
) -> None:
    cells = cells_of(passed, repeats=3)
    found = bands(cells)
    tasks = [task for band in found for task in band.tasks]
    assert sorted(tasks) == list(range(5))
    still = [task for band in found if "flip" not in band.title for task in band.tasks]
    green = cells.passed[:, :, still]
    if len(green) > 1:
        gaps = green[:, None] - green[None, :]
        assert (gaps == gaps[:, :, :1]).all(), "an order is changed by the first band alone"


def test_every_cell_is_in_the_picture(draw: Draw) -> None:
    for world in (World(COUNTS), World(MANY, n=500)):
        figure, inputs = draw(world, "task_grid")
        agents = list(world.counts)[: len(figure.axes)]
        for place, agent in enumerate(agents):
            found = areas(figure, place)
            rates = [inputs.points[agent, rung.name]["pass_rate"] for rung in inputs.rungs]
            if len(inputs.tasks) <= 60:
                share = found["PASS"] / sum(found.values())
                assert share == pytest.approx(float(np.mean(rates)), abs=1e-9)


def test_what_is_left_out_is_said(draw: Draw) -> None:
    figure, _ = draw(World(MANY, n=500), "task_grid")
    assert len(figure.axes) == 4
    said = " ".join(words(figure).split())
    assert "Drawn one by one: the 60 tasks that change and tell the most; the other 440" in said
    assert (
        "Drawn: 4 agents (those that lead under some budget, then the first of the config)" in said
    )
    assert "The other 21 are in cells.parquet." in said
    assert "The other 440 tasks, summed: share of their cells" in said
    everything, _ = draw(World(COUNTS), "task_grid")
    for text in ("Drawn one by one", "Drawn:", "summed"):
        assert text not in words(everything)


def test_focus_chooses_who_is_drawn(draw: Draw) -> None:
    chosen = ["agent-07", "agent-20"]
    world = World(MANY, n=500, edit_view=lambda view: view.update(focus=chosen))
    figure, _ = draw(world, "task_grid")
    assert len(figure.axes) == 2
    assert "2 agents (chosen by focus)" in words(figure)


def test_the_subtitle_counts_the_bands(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS), "task_grid")
    assert inputs.task_cells is not None
    found = bands(inputs.task_cells)
    told = words(figure).split("\n")[1]
    whole, parts = told.split(": ")
    assert whole == "48 tasks"
    assert [int(part.split()[0]) for part in parts.split(", ")] == [
        len(band.tasks) for band in found
    ]


def test_repeats_split_a_cell(draw: Draw, tmp_path: Path) -> None:
    files = write(World({"a": [0], "b": [3]}, caps=(1,), n=3), tmp_path / "world")
    rows = pq.read_table(files.cells)
    twice = pa.concat_tables([rows, rows]).replace_schema_metadata(rows.schema.metadata)
    other = np.array(twice["outcome"].to_pylist(), dtype=object)
    other[: len(rows)] = "ERROR"
    place = twice.column_names.index("outcome")
    pq.write_table(twice.set_column(place, "outcome", pa.array(list(other))), files.cells)
    found = read_task_cells(files.cells, [f"public-{i:03d}" for i in range(3)], ["b"], ["b-1"])
    assert found.counts[0, 0].tolist() == [[1, 0, 0, 0, 1]] * 3


def test_held_out_tasks_have_no_name_in_a_picture(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, slices=("held_out",)), "task_grid")
    assert "held_out-0" not in words(figure)
    (digest,) = {held["task_digest"] for held in draw(World(COUNTS))[1].tasks.values()}
    assert words(figure).count(digest[:12]) >= 48


def test_long_names_are_shortened_in_the_middle_and_it_is_said(draw: Draw) -> None:
    def rename(controls: dict[str, object]) -> None:
        tasks = controls["tasks"]
        assert isinstance(tasks, dict)
        controls["tasks"] = {f"{'long-' * 12}{name}": held for name, held in tasks.items()}

    figure, _ = draw(World(COUNTS, edit_controls=rename), "task_grid")
    assert "Long names of tasks are shortened." in " ".join(words(figure).split())
    labels = [text.get_text() for text in figure.texts if "…" in text.get_text()]
    assert len(labels) == len(set(labels)) == 48, "their ends tell them apart"


def test_names_that_differ_in_the_middle_stay_different(draw: Draw) -> None:
    def rename(controls: dict[str, object]) -> None:
        tasks = controls["tasks"]
        assert isinstance(tasks, dict)
        kinds = ("{:03d}", "x{:03d}", "{:03d}-and-its-second-part")
        controls["tasks"] = {
            f"{'long-' * 9}{kinds[place % 3].format(place)}{'-tail' * 9}": held
            for place, held in enumerate(tasks.values())
        }

    figure, _ = draw(World(COUNTS, edit_controls=rename), "task_grid")
    labels = [text.get_text() for text in figure.texts if "…" in text.get_text()]
    assert len(labels) == len(set(labels)) == 48


def test_the_last_row_counts_pass(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS), "task_grid")
    said = words(figure).split("\n")
    for counts in COUNTS.values():
        for count in counts:
            assert f"{count}/48" in said
    assert said.count("14/48") == 4
    assert "PASS of 48" in said


def test_the_last_row_counts_tasks_that_are_summed_too(draw: Draw) -> None:
    figure, _ = draw(World({"a": [300], "b": [77]}, caps=(1,), n=500), "task_grid")
    assert {"300/500", "77/500"} <= set(words(figure).split("\n"))
    narrow, _ = draw(
        World({f"a{i}": [5 + i] * 30 for i in range(4)}, caps=range(1, 31)), "task_grid"
    )
    rotated = [text for text in narrow.texts if text.get_rotation() == 90]
    assert [text.get_text() for text in rotated].count("8") > 5, "at the labelled budgets"


def test_what_groups_compare_is_said(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS), "task_grid")
    assert "Groups compare PASS with not PASS alone" in " ".join(words(figure).split())


def test_an_unknown_outcome_is_refused(tmp_path: Path) -> None:
    files = write(World(COUNTS), tmp_path / "world")
    rows = pq.read_table(files.cells)
    place = rows.column_names.index("outcome")
    pq.write_table(rows.set_column(place, "outcome", pa.array(["FAIL"] * len(rows))), files.cells)
    with pytest.raises(BadInput, match=r"cells.parquet: outcome: holds a value that is none of"):
        files.draw("task_grid", tmp_path / "out")


def test_a_table_without_tasks_is_refused(tmp_path: Path) -> None:
    files = write(World(COUNTS), tmp_path / "world")
    pq.write_table(pq.read_table(files.cells).drop_columns(["task"]), files.cells)
    with pytest.raises(BadInput, match=r"cells.parquet: task: the column is missing"):
        files.draw("task_grid", tmp_path / "out")
