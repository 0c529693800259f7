"""Agents of imported logs under other names: in a config and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.canonical import BadInput
from frozenbench.cli import main
from frozenbench.contrast import contrast
from frozenbench.draw_figure import draw_figure
from frozenbench.freeze_view import freeze_view
from frozenbench.import_logs import import_logs
from frozenbench.import_plan import ImportPlan, load_import_plan
from frozenbench.importers.gather import gather
from frozenbench.importers.renames import Renames
from frozenbench.table import CONTROLS_KEY, read_table
from log_files import aider_board, inspect_json, mini_trajectory, plain_csv, sample
from reading import named

QWEN = "通义千问"
ROWS = f"agent,task,solved,calls\n{QWEN},t1,true,1\nb=c,t1,false,2\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain_csv(Path("logs"), ROWS)


def _import(*words: str) -> int:
    return main(["import", "auto", "logs", "--out", "out.parquet", *words])


def _plan(**source: Any) -> ImportPlan:
    held = {
        "experiment": {"name": "made_up"},
        "source": {"format": "auto", "paths": ["logs"], **source},
        "figures": ["budget_curves"],
        "statistics": {"resamples": 200},
    }
    Path("import.yaml").write_text(yaml.safe_dump(held, allow_unicode=True), "utf-8")
    return load_import_plan("import.yaml")


def test_the_command_renames_and_says_so_in_the_table() -> None:
    assert _import("--name", f"{QWEN}=Qwen", "--name", "b=c=other") == 0
    table = read_table(Path("out.parquet"))
    assert set(table.column("agent").to_pylist()) == {"Qwen", "other"}
    controls = json.loads(table.schema.metadata[CONTROLS_KEY])
    assert set(controls["agents"]) == {"Qwen", "other"}
    told = {notice["kind"]: notice for notice in controls["source"]["notices"]}
    assert told["renamed"]["subjects"] == [f"{QWEN}: Qwen here", "b=c: other here"]
    assert controls["source"]["material"]["source"]["names"] == [f"{QWEN}=Qwen", "b=c=other"]


def test_an_import_without_names_is_the_one_that_it_was() -> None:
    assert _import() == 0
    metadata = read_table(Path("out.parquet")).schema.metadata
    assert "names" not in json.loads(metadata[CONTROLS_KEY])["source"]["material"]["source"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["Qwen=Q"], "--name: 'Qwen' is in no log; known: b=c, 通义千问; cure: one of these"),
        ([f"{QWEN}=b=c"], "is in no log"),
        (["b=c=通义千问"], "'b=c' to '通义千问': another agent has that name"),
        (["b=c=x", f"{QWEN}=x"], "'b=c' and '通义千问' would both be 'x'"),
        (["b=c=x", "b=c=y"], "'b=c' is given twice"),
        (["Qwen"], "'Qwen' is no new name; cure: OLD=NEW"),
        (["=x"], "'=x' is no new name; cure: OLD=NEW"),
        (["b=c="], "'b=c' to '': is no name that can be shown"),
        (["b=c= x"], "'b=c' to ' x': is no name that can be shown"),
        (["b=c=x\ny"], "is no name that can be shown"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert _import(*(part for word in words for part in ("--name", word))) == 2
    assert told in capsys.readouterr().err
    assert not Path("out.parquet").exists()


def test_names_can_be_exchanged() -> None:
    found = gather("auto", ["logs"], jobs=1, renames=Renames({QWEN: "b=c", "b=c": QWEN}))
    assert {row.agent: row.solved for row in found.rows} == {"b=c": True, QWEN: False}


def test_agents_are_renamed_after_they_are_told_apart(tmp_path: Path) -> None:
    for steps in (5, 9):
        mini_trajectory(tmp_path / "runs" / f"run-{steps}", "t1", limits={"step_limit": steps})
    names = {"model-m (step_limit 5)": "short", "model-m (step_limit 9)": "long"}
    found = gather("auto", ["runs"], jobs=1, renames=Renames(names))
    assert set(found.agents) == {"short", "long"} == set(found.limits) == set(found.stated)
    with pytest.raises(BadInput, match="'model-m' is in no log"):
        gather("auto", ["runs"], jobs=1, renames=Renames({"model-m": "x"}))


def test_runs_that_a_log_lacks_are_renamed_too(tmp_path: Path) -> None:
    inspect_json(tmp_path / "more", [sample(1), sample(2, value=None)])
    found = gather("auto", ["more"], jobs=1, renames=Renames({"m/one": "one"}))
    assert found.agents == ("one",)
    assert named(found, "null_grade") == ("one on made_up/2: no_grade",)


def test_rates_without_rows_are_renamed(tmp_path: Path) -> None:
    aider_board(tmp_path / "board", [{"model": "m", "edit_format": "diff", "pass_rate_1": 50.0}])
    found = gather("auto", ["board"], jobs=1, renames=Renames({"m diff": "em"}))
    assert [figure.agent for figure in found.published] == ["em"]


def test_a_config_renames_and_its_agents_go_by_the_new_names() -> None:
    plan = _plan(names={QWEN: "Qwen"}, agents=["b=c", "Qwen"])
    import_logs(plan, plan.folder)
    table = read_table(plan.folder / "cells.parquet")
    assert set(table.column("agent").to_pylist()) == {"b=c", "Qwen"}
    assert plan.digest != _plan(agents=["b=c", "Qwen"]).digest


def _draw(plan: ImportPlan) -> Path:
    """Do what the rules do up to the figure; return its folder."""
    folder, view = plan.folder, plan.view_folder
    import_logs(plan, folder, jobs=1)
    freeze_view(plan, view / "view.json")
    files = {name: folder / f"{name}.parquet" for name in ("cells", "measured")}
    inputs = {**files, "controls": folder / "controls.json", "view": view / "view.json"}
    contrast(**inputs, refusals=folder / "refusals.json", out=view / "statistics")
    out = view / "figures" / "budget_curves"
    draw_figure("budget_curves", statistics=view / "statistics", **inputs, out=out)
    return out


def test_an_agent_whose_name_is_a_number_is_renamed() -> None:
    plain_csv(Path("logs"), "agent,task,solved,calls\n5,t1,true,1\n")
    plan = _plan(names={5: "five"})
    import_logs(plan, plan.folder, jobs=1)
    assert set(read_table(plan.folder / "cells.parquet").column("agent").to_pylist()) == {"five"}


def test_an_agent_that_no_picture_can_show_has_one_under_another_name() -> None:
    with pytest.raises(BadInput, match="DejaVu Sans cannot show"):
        _draw(_plan())
    assert (_draw(_plan(names={QWEN: "Qwen"})) / "budget_curves.pdf").is_file()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"x": "y"}, "import.yaml: source.names: 'x' is in no log; known: b=c, 通义千问"),
        ({"b=c": QWEN}, "import.yaml: source.names: 'b=c' to '通义千问': another agent"),
    ],
)
def test_a_config_with_a_name_of_nobody_is_refused(names: dict[str, str], told: str) -> None:
    plan = _plan(names=names)
    with pytest.raises(BadInput) as refused:
        import_logs(plan, plan.folder, jobs=1)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"b=c": "x", QWEN: "x"}, "source.names: 'b=c' and '通义千问' would both be 'x'"),
        ({"b=c": 5}, "source.names"),
        ({"b=c": ""}, "source.names"),
        (["b=c"], "source.names"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_a_log_is_read(names: Any, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        _plan(names=names)
    assert told in str(refused.value)


def test_an_agent_whose_runs_are_all_missing_has_its_name(tmp_path: Path) -> None:
    """An eval that died before its first sample: its ERROR runs vanished into the other agent."""
    inspect_json(Path("evals"), [sample(1), sample(2)])
    log = json.loads(Path("evals/log.json").read_text())
    log["eval"]["model"] = "m/died"
    log |= {"samples": [], "status": "error"}
    Path("evals/died.json").write_text(json.dumps(log))
    before = gather("auto", [Path("evals")], jobs=1)
    died, lives = sorted({row.agent for row in before.rows}, key=lambda name: "died" not in name)
    assert [row.solved for row in before.rows if row.agent == died] == [None, None]
    with pytest.raises(BadInput, match=f"another agent has that name; .* there are .*{died}"):
        gather("auto", [Path("evals")], jobs=1, renames=Renames({lives: died}, "--name"))
    found = gather("auto", [Path("evals")], jobs=1, renames=Renames({died: "zeta"}, "--name"))
    assert sorted(row.agent for row in found.rows) == sorted([lives, lives, "zeta", "zeta"])
