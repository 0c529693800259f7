"""publish, check_score and the closing lines: what is shown is the current experiment, or why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput, Incomplete, Refused, read_json
from frozenbench.check_score import check_score, published_lines
from frozenbench.closing import closing_lines, flip_lines, refusal_lines, score_lines
from frozenbench.publish import publish
from frozenbench.table import read_table
from small_experiment_files import Files, files_of
from small_study import Study
from small_table import Rows


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Files:
    def lying(study: Study, rows: Rows) -> None:
        rows.change({"agent": "noop", "task": "beta"}, outcome="PASS", reason="green_at_cap")

    return files_of(tmp_path_factory.mktemp("refused"), lying)


# The closing lines

LINE = re.compile(
    r"^(calls-1|calls-4|free) +(one|two) +n=2 pass=[01]\.\d{3} weighted=[01]\.\d{3} "
    r"assume=[01]\.\d{3} exhaust=[01]\.\d{3} mean_tools=\d+\.\d\d$"
)


def lines_of(files: Files) -> list[str]:
    summary = read_table(files.statistics / "summary.parquet").to_pylist()
    statistics = json.loads((files.statistics / "statistics.json").read_bytes())
    return closing_lines(files.rows.controls, files.plan.view, summary, statistics)


def test_the_closing_lines_are_controls_then_scores_then_flips(files: Files) -> None:
    lines = lines_of(files)
    assert lines[0] == f"experiment study {files.plan.digest[:12]}"
    assert lines[1].startswith(f"pack small (proposal) {files.plan.pack.digest[:12]}, 2 tasks")
    assert lines[2] == "pack check: not run"
    assert lines[3] == "grader trust: in-process (2 tasks)"
    assert lines[4].startswith("grader attacks called PASS: split 0 of ")
    assert lines[5] == "budget calls-1: tool_calls 1, edit_rounds no cap, tokens 500, wall_clock 60"
    assert lines[7].startswith("budget free: tool_calls no cap")
    assert lines[8].startswith("environment python >=3.11, lock ")
    scores = lines[9:-1]
    assert len(scores) == 6
    assert all(LINE.match(line) for line in scores), scores
    assert lines[-1].startswith("flips: 0 confirmed, ")


def facts_of(**changed: object) -> dict[str, object]:
    counts = {"confirmed_pairs": 0, "suggestive_pairs": 0, "pairs": 3, "n_tasks": 20}
    return {**counts, "cannot_confirm": False, "few_tasks": False, **changed}


def test_each_slice_has_its_own_line_on_flips() -> None:
    public, held_out = facts_of(), facts_of(confirmed_pairs=1, pairs=1)
    slices = {"held_out": held_out, "public": public}  # as statistics.json sorts them
    assert flip_lines({**public, "slice": "public", "slices": slices}) == [
        "flips in public: 0 confirmed, 0 suggestive among 3 pairs",
        "flips in held_out: 1 confirmed, 0 suggestive among 1 pair",
    ]
    assert flip_lines({**held_out, "slices": {"held_out": held_out}}) == [
        "flips in held_out: 1 confirmed, 0 suggestive among 1 pair"
    ]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, ""),
        ({"cannot_confirm": True}, "; this pack cannot confirm a flip"),
        ({"few_tasks": True}, "; 20 tasks are few for so many contrasts"),
        ({"few_tasks": True, "n_tasks": 1}, "; 1 task is few for so many contrasts"),
    ],
)
def test_a_line_on_flips_says_what_so_few_tasks_can_tell(
    facts: dict[str, object], told: str
) -> None:
    [line] = flip_lines({"slices": {"public": facts_of(**facts)}})
    assert line == f"flips: 0 confirmed, 0 suggestive among 3 pairs{told}"


def test_closing_lines_hold_the_flips_of_all_slices(tmp_path: Path) -> None:
    files = files_of(tmp_path, lambda study, _: study.lines[1].update(split="held_out"))
    lines = [line.split(":")[0] for line in lines_of(files) if line.startswith("flips")]
    assert lines == ["flips in public", "flips in held_out"]


def test_a_rate_that_is_not_to_be_had_is_null() -> None:
    row = {
        "slice": "public",
        "budget": "b",
        "agent": "a",
        "n": 1,
        "pass_rate": 0.0,
        "weighted_pass_rate": 0.0,
        "assume_rate": None,
        "exhaust_rate": 1.0,
        "mean_tool_calls": None,
    }
    assert score_lines([row])[0].endswith("assume=null exhaust=1.000 mean_tools=null")
    assert score_lines([]) == []


def test_what_refuses_is_told_with_its_cure() -> None:
    refusals = [{"control": "clock", "message": "it fell", "cure": "raise it"}]
    assert refusal_lines(refusals) == [
        "no score is printed: 1 thing(s) refuse it",
        "  clock: it fell",
        "    cure: raise it",
    ]


# publish and check_score


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are published below the current folder."""
    monkeypatch.chdir(tmp_path)


OUT = Path("results/study")


def shown(files: Files, marker: str) -> Path:
    out = OUT
    figure = files.view / "figures" / "budget_curves"
    figure.mkdir(parents=True, exist_ok=True)
    (figure / "budget_curves.png").write_bytes(b"png")
    publish(files.experiment, files.view, out, out / marker)
    return out


def contents(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_is_published_stands_at_plain_paths(files: Files, tmp_path: Path) -> None:
    out = shown(files, ".published-a")
    assert contents(out) >= {
        "README.md",
        "score_bundle.json",
        "controls.json",
        "view.json",
        "refusals.json",
        "cells.parquet",
        "measured.parquet",
        "tables/summary.parquet",
        "tables/statistics.json",
        "figures/budget_curves.png",
        ".published-a",
    }


def test_a_refused_score_replaces_an_older_one_and_back(
    files: Files, refused: Files, tmp_path: Path
) -> None:
    first = contents(shown(files, ".published-a"))
    (OUT / ".checked-a").write_bytes(b"")
    second = contents(shown(refused, ".published-b"))
    assert "score_bundle.json" not in second
    assert "tables/summary.parquet" not in second
    assert not {".published-a", ".checked-a"} & second, "one marker alone"
    assert contents(shown(files, ".published-a")) == first
    assert [path.name for path in OUT.parent.iterdir()] == ["study"]


@pytest.mark.parametrize("out", [".", "study", "results", "results/runs", "results/a/b", "/tmp/x"])
def test_nothing_but_a_published_folder_is_replaced(files: Files, out: str) -> None:
    Path("kept").write_text("mine")
    with pytest.raises(BadInput, match=r"its content would be replaced; cure: results/<name>"):
        publish(files.experiment, files.view, Path(out), Path(out) / ".published-a")
    assert Path("kept").read_text() == "mine"
    assert not Path("results").exists()


def test_the_score_is_printed_and_marked(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shown(files, ".published-a")
    assert check_score(out, out / ".checked-a") == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == lines_of(files) == list(published_lines(out)[0])
    assert (out / ".checked-a").read_text().splitlines() == printed


def test_a_refused_score_is_no_success_and_leaves_no_mark(refused: Files, tmp_path: Path) -> None:
    out = shown(refused, ".published-b")
    with pytest.raises(Refused, match=r"(?s)no score is printed: 1 thing.*cure: mend the pack"):
        check_score(out, out / ".checked-b")
    assert not (out / ".checked-b").exists()
    assert published_lines(out)[1] == Refused.exit_status


def test_nothing_published_is_incomplete(tmp_path: Path) -> None:
    with pytest.raises(Incomplete, match=r"nothing is published there; cure: snakemake"):
        check_score(tmp_path / "study", tmp_path / "checked")


def test_another_experiment_than_the_config_s_is_not_shown_as_its_score(
    files: Files, tmp_path: Path
) -> None:
    folder = shown(files, ".published-a")
    planned = read_json(folder / "controls.json")["experiment"]["digest"]
    assert published_lines(folder, planned)[1] == 0
    with pytest.raises(Incomplete, match=r"which has not run; cure: run the workflow"):
        published_lines(folder, "f" * 64)
