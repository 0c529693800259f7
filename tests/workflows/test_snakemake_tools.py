"""What Snakemake brings besides running: its linter and its report."""

from __future__ import annotations

import zipfile

from project import Project


def test_lint_has_nothing_to_say(project: Project) -> None:
    ran = project.snakemake("--lint")
    assert ran.status == 0, ran.said
    assert "Lints for" not in ran.said


def test_a_report_holds_the_figure(project: Project) -> None:
    ran = project.snakemake("--report", "report.zip")
    assert ran.status == 0, ran.said
    with zipfile.ZipFile(project / "report.zip") as report:
        names = report.namelist()
        page = next(name for name in names if name.endswith("report.html"))
        assert b"budget_curves" in report.read(page)
    assert any(name.endswith(".png") for name in names)
    assert project.due().rules == {}


def test_the_graph_behind_a_finished_experiment_is_whole(project: Project) -> None:
    """Also where nothing is due: the report draws it."""
    everything = project.due("--forceall")
    assert everything.rules["collect_cells"] == 1
