"""What Snakemake brings besides running: its linter and its report."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest
from headless_chromium import browser, chromium
from project import Project


def test_lint_has_nothing_to_say(project: Project) -> None:
    ran = project.snakemake("--lint")
    assert ran.status == 0, ran.said
    assert "Lints for" not in ran.said


def test_a_report_begins_with_the_controls_and_holds_all_that_is_shown(project: Project) -> None:
    ran = project.snakemake("--report", "report.zip")
    assert ran.status == 0, ran.said
    with zipfile.ZipFile(project / "report.zip") as report:
        names = report.namelist()
        page = next(name for name in names if name.endswith("report.html"))
        told = report.read(page).decode()
    held = {Path(name).name for name in names}
    assert {"budget_curves.pdf", "controls.json", "index.html", "summary.csv"} <= held
    for category in ("1 Controls", "2 Scores", "3 Tables"):
        assert category in told
    for place in (str(project), sys.executable, str(Path.home())):
        assert place not in told, "a report is given away: it names no folder of this machine"
    controls = json.loads((project / "results/small/controls.json").read_bytes())
    first = told.index("Frozen controls")
    assert controls["pack"]["digest"] in told[first : first + 5000], "on the first page"
    assert project.due().rules == {}


@pytest.mark.slow
@pytest.mark.skipif(
    chromium() is None, reason="there is no Chromium here; cure: apt-get install chromium"
)
def test_a_report_opens_at_its_controls(project: Project, tmp_path: Path) -> None:
    """Its first page is higher than a window: its top must be there, and reachable."""
    ran = project.snakemake("--report", "report.zip")
    assert ran.status == 0, ran.said
    with zipfile.ZipFile(project / "report.zip") as report:
        report.extractall(tmp_path)
    (page,) = tmp_path.rglob("report.html")
    with browser(tmp_path / "profile") as shown:
        shown.look(1280, 720)
        shown.open(page)
        top = "[...document.querySelectorAll('h1')].find((e) => e.textContent.startsWith('small'))"
        assert shown.value(f"{top}.getBoundingClientRect().top") >= 0
        tables = shown.value("[...document.querySelectorAll('caption')].map((e) => e.textContent)")
        assert tables[0] == "What every agent shares"
        assert "Question, budget to freeze, metric to lead with, answer" in tables
        menu = shown.value("[...document.querySelectorAll('a')].map((e) => e.textContent.trim())")
        assert [text for text in menu if text[:1].isdigit()] == [
            *("1 Controls", "2 Scores", "3 Tables"),
        ]
        assert [url for url in shown.requests if url.startswith("http")] == []


def test_a_report_can_be_made_from_another_folder(project: Project) -> None:
    """The first page is found beside the results, wherever the Snakefile lies."""
    moved = project.folder.with_name("elsewhere")
    moved.mkdir()
    words = ("--snakefile", str(moved / "Snakefile"), "--report", "other.zip")
    for name in ("Snakefile", "workflow", "environment.yml", "profiles"):
        (project / name).rename(moved / name)
    ran = project.snakemake(*words)
    assert ran.status == 0, ran.said


def test_the_graph_behind_a_finished_experiment_is_whole(project: Project) -> None:
    """Also where nothing is due: the report draws it."""
    everything = project.due("--forceall")
    assert everything.rules["collect_cells"] == 1
