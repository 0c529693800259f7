"""A config with `source`: the same statistics, figures and page, and what they say of the logs."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.canonical import BadInput, read_json
from frozenbench.check_score import published_lines
from frozenbench.cli import main
from frozenbench.contrast import contrast
from frozenbench.draw_figure import build, draw_figure
from frozenbench.figures import figure_names
from frozenbench.figures.inputs import read_inputs
from frozenbench.figures.style import house_style, texts
from frozenbench.freeze_view import freeze_view
from frozenbench.import_lines import source_lines
from frozenbench.import_logs import import_logs
from frozenbench.import_plan import ImportPlan, is_import, load_import_plan
from frozenbench.importers import study
from frozenbench.list_crossings import list_crossings
from frozenbench.pages.blocks import Picture
from frozenbench.pages.inputs import PageInputs
from frozenbench.pages.page import results_page
from frozenbench.plan import load_plan
from frozenbench.publish import publish
from frozenbench.table import read_table
from frozenbench.verify import verify_store
from frozenbench.write_page import write_page
from log_files import plain_csv

ROOT = Path(__file__).parents[2]


def runs(agents: int = 2, tasks: int = 40) -> str:
    """`agent-0` is quick and soon done, `agent-1` slow and better: a flip that can be confirmed."""
    lines = ["agent,task,solved,calls,cost"]
    for agent in range(agents):
        for task in range(tasks):
            solved = task < (20 if agent == 0 else 40 - agent % 7)
            calls = 2 + agent if agent == 0 else 9 + agent % 5
            lines.append(f"agent-{agent},t{task:02d},{str(solved).lower()},{calls},0.{calls:02d}")
    return "\n".join(lines) + "\n"


def config(folder: Path, text: str, **source: Any) -> ImportPlan:
    """Write logs and a config that reads them, and plan it; the current folder is `folder`."""
    plain_csv(folder / "logs", text)
    held = {
        "experiment": {"name": "made_up"},
        "source": {"format": "auto", "paths": ["logs"], **source},
        "statistics": {"resamples": 200},
    }
    (folder / "import.yaml").write_text(yaml.safe_dump(held), "utf-8")
    return load_import_plan("import.yaml")


def make(plan: ImportPlan) -> Path:
    """Do what the rules do; return the published folder."""
    folder, view = plan.folder, plan.view_folder
    import_logs(plan, folder, jobs=1)
    freeze_view(plan, view / "view.json")
    files = {name: folder / f"{name}.parquet" for name in ("cells", "measured")}
    inputs = {**files, "controls": folder / "controls.json", "view": view / "view.json"}
    statistics = view / "statistics"
    contrast(**inputs, refusals=folder / "refusals.json", out=statistics)
    draw_figure(
        "budget_curves", statistics=statistics, **inputs, out=view / "figures" / "budget_curves"
    )
    write_page(statistics=statistics, **inputs, out=view / "page", figures=view / "figures")
    counts = folder / "counts.parquet"
    list_crossings(counts, statistics, inputs["controls"], view / "crossings")
    out = Path("results") / plan.name
    publish(folder, view, out, out / ".published")
    return out


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def figure_words(plan: ImportPlan) -> str:
    folder, view = plan.folder, plan.view_folder
    inputs = read_inputs(
        "budget_curves",
        view / "statistics",
        folder / "controls.json",
        view / "view.json",
        folder / "measured.parquet",
        folder / "cells.parquet",
    )
    with house_style():
        return " ".join(" ".join(text.get_text() for text in texts(build(inputs))).split())


def test_page_figure_and_closing_lines_say_that_runs_were_cut(tmp_path: Path) -> None:
    plan = config(tmp_path, runs())
    out = make(plan)
    page = (out / "README.md").read_text("utf-8")
    words = figure_words(plan)
    lines, status = published_lines(out, plan.digest)
    assert status == 0
    for told in (page, words, "\n".join(lines)):
        assert "truncated from finished runs" in told
        assert "16 of 16" in told
        assert "temperature" in told
    assert "TRUNCATED FROM FINISHED RUNS" in words
    assert "Cut at: model calls per run" in words
    assert "assume=null" in "\n".join(lines)
    assert not (out / "score_bundle.json").exists(), (
        "no log states what it is never written without"
    )
    assert list(verify_store()) == []


def test_a_page_of_an_import_counts_its_errors_with_their_reasons(tmp_path: Path) -> None:
    told = "ERROR and count as not passed"
    whole = (make(config(tmp_path, runs())) / "README.md").read_text("utf-8")
    assert told not in whole
    rows = runs().replace("agent-0,t03,true", "agent-0,t03,null")
    plan = config(tmp_path, rows)
    text = (make(plan) / "README.md").read_text("utf-8").split("## What these numbers do not")[1]
    budgets = len(read_json(plan.folder / "controls.json")["budgets"])
    assert f"- {budgets} cells are {told}: `no_grade` {budgets}." in text


def test_what_a_run_used_up_to_a_cut_is_in_no_caption(tmp_path: Path) -> None:
    out = make(config(tmp_path, runs()))
    view = {**read_json(out / "view.json"), "figures": ["budget_curves", "pareto"]}
    rows = {
        name: read_table(out / "tables" / f"{name}.parquet").to_pylist()
        for name in ("summary", "contrasts", "flips")
    }
    inputs = PageInputs(
        controls=read_json(out / "controls.json"),
        view=view,
        responses={},
        cells=read_table(out / "cells.parquet").to_pylist(),
        measured=[],
        statistics=read_json(out / "tables" / "statistics.json"),
        **rows,
    )
    page = results_page(inputs)
    [section] = [section for section in page.sections if section.key == "scores"]
    told = {block.figure: block.text for block in section.blocks if isinstance(block, Picture)}
    assert told.keys() == {"budget_curves", "pareto"}
    assert told["pareto"] == (
        "Pass rate against the tokens of runs, under budgets that cut none of them"
    )


def test_one_of_a_kind_is_told_as_one() -> None:
    source = {
        "formats": ["plain"],
        "material": {"files_sha256": "a" * 64},
        **{"axis": None, "controls_not_stated": [], "controls_known": [], "notices": []},
    }

    def told(number: int) -> str:
        names = [f"n{place}" for place in range(number)]
        controls = {"source": {**source, "file_count": number}, "repeats": number}
        return next(iter(source_lines({**controls, "agents": names, "tasks": names})))

    first = "imported from plain: "
    digest = "a" * 12
    assert told(1) == f"{first}1 file ({digest}), 1 agent, 1 task, 1 repeat"
    assert told(2) == f"{first}2 files ({digest}), 2 agents, 2 tasks, 2 repeats"


def test_a_confirmed_flip_is_marked_among_all_crossings(tmp_path: Path) -> None:
    out = make(config(tmp_path, runs()))
    crossings = list(csv.DictReader((out / "tables" / "crossings.csv").open(encoding="utf-8")))
    assert [
        (row["axis"], row["cap_before"], row["cap_after"], row["kind"]) for row in crossings
    ] == [
        ("calls", "9", "10", "confirmed"),
        ("cost", "0.09", "0.1", ""),
    ]
    counts = list(csv.DictReader((out / "tables" / "pass_counts.csv").open(encoding="utf-8")))
    at = {(row["axis"], row["cap"], row["agent"]): int(row["passed"]) for row in counts}
    assert (at["calls", "9", "agent-0"], at["calls", "9", "agent-1"]) == (20, 0)
    assert (at["calls", "10", "agent-1"], at["calls", "0", "agent-0"]) == (39, 0)


def test_a_crossing_beyond_the_own_limit_is_none(tmp_path: Path) -> None:
    out = make(config(tmp_path, runs(), limits={"calls": 9}))
    crossings = list(csv.DictReader((out / "tables" / "crossings.csv").open(encoding="utf-8")))
    assert [row["axis"] for row in crossings] == ["cost"], "the curve along calls ends at 9"
    counts = list(csv.DictReader((out / "tables" / "pass_counts.csv").open(encoding="utf-8")))
    beyond = {row["cap"] for row in counts if row["beyond_limit"] == "true"}
    assert beyond == {"10"}, "what overshoot there was is in the counts"


def test_curves_are_dashed(tmp_path: Path) -> None:
    plan = config(tmp_path, runs())
    make(plan)
    svg = plan.view_folder / "figures" / "budget_curves" / "budget_curves.svg"
    assert svg.read_text("utf-8").count("stroke-dasharray") >= 3 * 2, "each agent in each panel"


def test_25_agents_fit_into_one_figure(tmp_path: Path) -> None:
    plan = config(tmp_path, runs(agents=25))
    make(plan)
    words = figure_words(plan)
    assert all(f"agent-{number}" in words for number in range(25)), "every agent is named"
    assert "the other 21, named in c" in words


def test_agents_that_ran_different_tasks_show_a_refusal_and_no_score(tmp_path: Path) -> None:
    out = make(config(tmp_path, runs() + "agent-0,extra,true,1,0.01\n"))
    page = (out / "README.md").read_text("utf-8")
    assert "no score" in page
    assert "the agents ran different tasks" in page
    assert published_lines(out)[1] == 3
    assert not (out / "figures").exists()


def test_common_tasks_are_another_name(tmp_path: Path) -> None:
    plan = config(tmp_path, runs() + "agent-0,extra,true,1,0.01\n", tasks="common")
    out = make(plan)
    assert out.name == "made_up-common-tasks"
    assert "pass_under_budget_on_common_tasks@1" in (out / "README.md").read_text("utf-8")


def test_logs_without_use_are_compared_as_they_were_run(tmp_path: Path) -> None:
    text = "agent,task,solved\n" + "".join(f"a,t{n},true\nb,t{n},false\n" for n in range(12))
    out = make(config(tmp_path, text))
    assert read_json(out / "view.json")["budgets"] == ["as-run"]
    assert "as it was run" in (out / "README.md").read_text("utf-8")


#: What is wrong whatever the logs hold: `snakemake -n` says so.
BEFORE_THE_LOGS: list[tuple[dict[str, Any], str]] = [
    ({"limits": {"calls": 0}}, "import.yaml: source.limits: calls: '0' is no limit; cure: "),
    ({"limits": {"calls": 2.5}}, "source.limits: calls: '2.5' is no limit"),
    ({"limits": {"moon": 3}}, "source.limits: moon: '3' is no limit; cure: .* one of calls, steps"),
    ({"limits": {"cost": "1_0"}}, "source.limits: cost: '1_0' is no limit"),
    (
        {"caps": [1, 1.5]},
        "import.yaml: source.caps: '1.5' is no cap on calls; cure: a whole number",
    ),
    ({"caps": [1, 2, 1.0]}, "source.caps: 1 stands twice; cure: keep one"),
    ({"caps": ["moon"]}, "source.caps: 'moon' is no cap on calls"),
    ({"caps": ["all", 3]}, "source.caps: 'all' is no cap on calls; .*; powers and all stand alone"),
    ({"caps": [-1], "axis": None}, "source.caps: '-1' is no cap; cure: a number from 0"),
    ({"caps": [0.5, "0.50"], "axis": None}, "source.caps: 0.5 stands twice"),
    ({"caps": [0]}, "source.caps: hold 0 alone"),
    ({"caps": [8, 9], "limits": {"calls": 4}}, "source.caps: 8, 9: all lie beyond .* of 4"),
    ({"agents": []}, "source.agents: "),
    ({"agents": ["a", "a"]}, "source.agents: "),
]


def test_changed_logs_are_another_experiment(tmp_path: Path) -> None:
    first = config(tmp_path, runs()).digest
    assert config(tmp_path, runs()).digest == first
    assert config(tmp_path, runs(agents=3)).digest != first
    assert config(tmp_path, runs(), caps=[1, 2]).digest != first


def test_logs_that_change_while_the_workflow_runs_are_told(tmp_path: Path) -> None:
    plan = config(tmp_path, runs())
    plain_csv(tmp_path / "logs", runs(agents=3))
    with pytest.raises(BadInput, match="changed while the workflow ran"):
        import_logs(plan, plan.folder, jobs=1)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("pack", {"path": "x"}, "pack: stands beside source"),
        ("source", {"format": "moon", "paths": ["logs"]}, "'moon' is unknown"),
        ("source", {"format": "auto", "paths": ["gone"]}, "gone: is not there"),
        ("source", {"format": "auto"}, "paths"),
        ("source", {"format": "auto", "paths": ["logs"], "axis": "moon"}, "source.axis"),
        *(
            ("source", {"format": "auto", "paths": ["logs"], "axis": "calls", **wrong}, told)
            for wrong, told in BEFORE_THE_LOGS
        ),
        ("figures", ["moon"], "'moon' is unknown"),
        ("moon", 1, "moon: unknown key"),
    ],
)
def test_a_wrong_config_is_named(tmp_path: Path, key: str, value: Any, told: str) -> None:
    config(tmp_path, runs())
    held = yaml.safe_load((tmp_path / "import.yaml").read_text("utf-8")) | {key: value}
    (tmp_path / "import.yaml").write_text(yaml.safe_dump(held), "utf-8")
    assert is_import("import.yaml")
    with pytest.raises(BadInput, match=told):
        load_import_plan("import.yaml")


def test_commands_for_cells_say_that_none_runs_here(tmp_path: Path) -> None:
    config(tmp_path, runs())
    with pytest.raises(BadInput, match="no cell of it runs here"):
        load_plan("import.yaml")


def snakemake(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    argv: Sequence[str] = [
        "-m",
        "snakemake",
        "--cores",
        "2",
        "--configfile",
        "config/import_example.yaml",
    ]
    environment = {k: v for k, v in os.environ.items() if k != "SNAKEMAKE_PROFILE"}
    return subprocess.run(
        [sys.executable, *argv, *more], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.slow
def test_the_example_runs_from_logs_to_page_and_then_there_is_nothing_to_do(tmp_path: Path) -> None:
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("workflow", "profiles", "config"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = snakemake(tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "results" / "import_example" / "README.md").read_text("utf-8")
    assert "confirmed" in page
    assert (tmp_path / "results" / "import_example" / "figures" / "budget_curves.png").exists()
    assert (
        "Nothing to be done" in snakemake(tmp_path, "-n").stdout + snakemake(tmp_path, "-n").stderr
    )


@pytest.mark.parametrize("axis", ["calls", "cost", None])
@pytest.mark.parametrize("figure", figure_names())
def test_every_figure_can_be_drawn_of_logs(tmp_path: Path, axis: str | None, figure: str) -> None:
    text = runs() if axis else "agent,task,solved\na,t1,true\nb,t1,false\n"
    plan = config(tmp_path, text, axis=axis)
    make(plan)
    folder, view = plan.folder, plan.view_folder
    sheets = folder / "controls.json", view / "view.json"
    tables = folder / "measured.parquet", folder / "cells.parquet"
    draw_figure(figure, view / "statistics", *sheets, *tables, tmp_path / "drawn")
    assert {path.suffix for path in (tmp_path / "drawn").iterdir()} == {".pdf", ".png", ".svg"}


def test_the_counts_at_all_caps_name_what_they_are_of(tmp_path: Path) -> None:
    plan = config(tmp_path, runs())
    out = make(plan)
    pack = read_json(out / "controls.json")["pack"]["digest"]
    for name in ("pass_counts.csv", "crossings.csv"):
        rows = list(csv.DictReader((out / "tables" / name).open(encoding="utf-8")))
        assert rows
        assert {row["experiment_digest"] for row in rows} == {plan.digest}
        assert {row["pack_sha256"] for row in rows} == {pack}


@pytest.mark.parametrize("word", ["powers", "all"])
def test_the_words_of_the_command_are_those_of_a_config(tmp_path: Path, word: str) -> None:
    plan = config(tmp_path, runs(), caps=[word])
    import_logs(plan, plan.folder, jobs=1)
    budgets = set(read_table(plan.folder / "cells.parquet")["budget"].to_pylist())
    plain_csv(tmp_path / "logs", runs())
    words = ["import", "auto", "logs", "--caps", word, "--out", "x.parquet"]
    assert main(words) == 0
    assert budgets == set(read_table(Path("x.parquet"))["budget"].to_pylist()) - {"calls-0"}


def test_neither_makes_more_cells_than_a_table_can_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study, "MOST_CELLS", 100)
    plan = config(tmp_path, runs(), caps=["all"])
    told = "caps: 3 caps of 80 runs are 240 cells, above 100; cure: the caps that matter; "
    with pytest.raises(BadInput, match=f"import.yaml: source.{told}"):
        import_logs(plan, plan.folder, jobs=1)
    assert main(["import", "auto", "logs", "--caps", "all", "--out", "x.parquet"]) == 2
    assert f"--{told}" in capsys.readouterr().err
