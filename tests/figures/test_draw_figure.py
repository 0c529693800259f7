from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import BadInput
from frozenbench.figures import NOT_FIGURES, figure_names
from synthetic_view import Files, World

COUNTS = {"oneshot": [14, 14, 14, 14], "resample": [12, 18, 20, 24], "repair": [12, 17, 23, 26]}
WriteView = Callable[[World], Files]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_names_are_the_figures_alone() -> None:
    assert figure_names() == ("budget_curves", "outcomes", "pareto", "task_grid")
    for name in NOT_FIGURES:
        module = __import__(f"frozenbench.figures.{name}", fromlist=["x"])
        assert not hasattr(module, "build_figure")


@pytest.mark.parametrize("figure", figure_names())
def test_three_files_and_nothing_else(write_view: WriteView, tmp_path: Path, figure: str) -> None:
    files, out = write_view(World(COUNTS)), tmp_path / "views" / figure
    files.draw(figure, out)
    assert names_in(out) == [f"{figure}.pdf", f"{figure}.png", f"{figure}.svg"]
    assert names_in(out.parent) == [figure]
    assert (out / f"{figure}.pdf").read_bytes().startswith(b"%PDF-")
    assert b"</svg>" in (out / f"{figure}.svg").read_bytes()
    png = (out / f"{figure}.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == 2160  # 7.2 in at 300 dpi


SCRIPT = """
import sys
from pathlib import Path
from frozenbench.draw_figure import draw_figure
statistics, controls, view, measured, cells, out = map(Path, sys.argv[1:])
for figure in ("budget_curves", "outcomes", "pareto", "task_grid"):
    draw_figure(figure, statistics, controls, view, measured, cells, out / figure)
assert "matplotlib.pyplot" not in sys.modules
"""


def draw_elsewhere(files: Files, out: Path, environment: dict[str, str]) -> dict[str, str]:
    paths = (files.statistics, files.controls, files.view, files.measured, files.cells, out)
    subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, paths)], env=os.environ | environment, check=True
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_same_bytes_in_another_process_and_surroundings(
    write_view: WriteView, tmp_path: Path
) -> None:
    files = write_view(World(COUNTS, kind=lambda a, b, before: "suggestive"))
    first = draw_elsewhere(files, tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "UTC"})
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 20\nlines.linewidth: 5\nsvg.hashsalt: other\n")
    other = {
        "PYTHONHASHSEED": "2",
        "TZ": "Asia/Tokyo",
        "MATPLOTLIBRC": str(settings),
        "SOURCE_DATE_EPOCH": "86400",
    }
    second = draw_elsewhere(files, tmp_path / "deeper" / "two", other)
    assert len(first) == 12
    assert first == second


def test_no_clock_program_or_path_in_a_file(write_view: WriteView, tmp_path: Path) -> None:
    files, out = write_view(World(COUNTS)), tmp_path / "out"
    files.draw("budget_curves", out)
    for path in out.iterdir():
        data = path.read_bytes()
        for word in (b"/CreationDate", b"dc:date", b"Matplotlib", str(tmp_path).encode()):
            assert word not in data, (path.name, word)


MISSING = [
    ("controls", "pack", "digest"),
    ("controls", "tasks", "public-007", "weight"),
    ("controls", "tasks", "public-007", "grader_trust"),
    ("controls", "tasks", "public-007", "qualified"),
    ("controls", "agents", "repair", "sheet"),
    ("controls", "agents", "repair", "sheet", "adapter"),
    ("controls", "agents", "repair", "sheet", "endpoint", "id"),
    ("controls", "agents", "repair", "sheet", "endpoint", "model"),
    ("controls", "agents", "repair", "sheet", "endpoint", "wire"),
    ("controls", "agents", "repair", "sheet_digest"),
    ("controls", "budgets", "b-2"),
    ("controls", "budgets", "b-2", "max_seconds"),
    ("controls", "repeats"),
    ("controls", "grading"),
    ("controls", "clock"),
    ("controls", "budget_disclosed"),
    ("controls", "responses_policy"),
    ("controls", "task_subset"),
    ("controls", "accepted"),
    ("controls", "environment", "isolation"),
    ("controls", "environment", "network"),
    ("controls", "environment", "python"),
    ("controls", "environment", "lock_sha256"),
    ("view", "pack", "name"),
    ("view", "pack", "status"),
    ("view", "budget_axis"),
    ("view", "agents"),
    ("view", "budgets"),
]


@pytest.mark.parametrize("figure", figure_names())
@pytest.mark.parametrize("path", MISSING, ids=".".join)
def test_missing_control_is_named_and_leaves_no_figure(
    write_view: WriteView, tmp_path: Path, path: tuple[str, ...], figure: str
) -> None:
    files, out = write_view(World(COUNTS)), tmp_path / "out"
    out.mkdir()
    (out / f"{figure}.png").write_bytes(b"an older figure")
    where = getattr(files, path[0])
    data = json.loads(where.read_text())
    inner: Any = data
    for key in path[1:-1]:
        inner = inner[key]
    del inner[path[-1]]
    where.write_text(json.dumps(data))
    with pytest.raises(BadInput) as caught:
        files.draw(figure, out)
    assert f"{path[0]}.json: {'.'.join(path[1:])}: is missing" in str(caught.value)
    assert not out.exists()
    assert "out" not in " ".join(names_in(tmp_path))


def test_refusal_stands_in_the_figures_place(write_view: WriteView, tmp_path: Path) -> None:
    files, out = write_view(World(COUNTS)), tmp_path / "out"
    files.draw("budget_curves", out)
    refusal = b'{"refusals":[{"control":"pack","cure":"c","message":"m"}]}\n'
    (files.statistics / "refused.json").write_bytes(refusal)
    files.draw("budget_curves", out)
    assert names_in(out) == ["refused.json"]
    assert (out / "refused.json").read_bytes() == refusal
    (files.statistics / "refused.json").unlink()
    files.draw("budget_curves", out)
    assert names_in(out) == ["budget_curves.pdf", "budget_curves.png", "budget_curves.svg"]


@pytest.mark.parametrize("figure", ["pie", "style", "", "../outcomes"])
def test_unknown_figure_lists_those_that_exist(
    write_view: WriteView, tmp_path: Path, figure: str
) -> None:
    files = write_view(World(COUNTS))
    with pytest.raises(BadInput, match="budget_curves, outcomes, pareto, task_grid"):
        files.draw(figure, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("table", ["cells", "measured", "summary", "flips", "contrasts"])
def test_tables_of_other_controls_are_refused(
    write_view: WriteView, tmp_path: Path, table: str
) -> None:
    files = write_view(World(COUNTS))
    inside = files.statistics / f"{table}.parquet"
    where = inside if inside.exists() else getattr(files, table)
    held = pq.read_table(where)
    metadata = dict(held.schema.metadata)
    controls = json.loads(metadata[b"frozenbench.controls"])
    controls["experiment"]["digest"] = "0" * 64
    metadata[b"frozenbench.controls"] = json.dumps(controls).encode()
    pq.write_table(held.replace_schema_metadata(metadata), where)
    with pytest.raises(BadInput, match=rf"{table}.parquet: frozenbench.controls: names .* 0{{64}}"):
        files.draw("budget_curves", tmp_path / "out")


def test_damaged_tables_are_named(write_view: WriteView, tmp_path: Path) -> None:
    files = write_view(World(COUNTS))
    where = files.statistics / "flips.parquet"
    table = pq.read_table(where)
    pq.write_table(table.drop_columns(["kind"]), where)
    with pytest.raises(BadInput, match=r"flips.parquet: kind: the column is missing"):
        files.draw("budget_curves", tmp_path / "out")
    where.write_bytes(b"PAR1 no table")
    with pytest.raises(BadInput, match=r"flips.parquet: is no readable Parquet"):
        files.draw("budget_curves", tmp_path / "out")
    where.unlink()
    with pytest.raises(BadInput, match=r"flips.parquet: is not there"):
        files.draw("budget_curves", tmp_path / "out")


def test_more_cells_than_the_controls_make(write_view: WriteView, tmp_path: Path) -> None:
    files = write_view(World(COUNTS))
    data = json.loads(files.controls.read_text())
    data["task_subset"] = list(data["tasks"])[:40]
    files.controls.write_text(json.dumps(data))
    with pytest.raises(BadInput, match=r"holds 576 cells .* the controls make 480"):
        files.draw("outcomes", tmp_path / "out")


def test_letters_that_the_font_lacks_are_no_empty_boxes(
    write_view: WriteView, tmp_path: Path
) -> None:
    world = World(COUNTS, edit_view=lambda view: view.update(title="Rate 率"))
    with pytest.raises(BadInput, match="'Rate 率' holds '率'"):
        write_view(world).draw("budget_curves", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_matplotlib_settings_are_as_before(write_view: WriteView, tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    write_view(World(COUNTS)).draw("outcomes", tmp_path / "out")
    assert dict(matplotlib.rcParams) == before
