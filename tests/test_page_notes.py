"""What the numbers of a page do not say: every limit that is so, with its figures, and none that is not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_experiment_files import Change, Files, files_of
from small_study import Study
from small_table import Rows


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("notes"))


def note(text: str, change: Change, **config: Any) -> Any:
    return pytest.param(text, change, config, id=text[:40])


def rows_only(change: Callable[[Rows], Any]) -> Change:
    return lambda study, rows: change(rows)


def study_only(change: Callable[[Study], Any]) -> Change:
    return lambda study, rows: change(study)


def without_solution(study: Study) -> None:
    study.files.pop("solutions/beta/beta.py", None)
    shutil.rmtree(study.pack_folder / "solutions/beta", ignore_errors=True)


NOTES = [
    note("The pack is a proposal: nobody outside has vouched", study_only(lambda s: None)),
    note("n is 2 public tasks; the task is the unit", study_only(lambda s: None)),
    note("Tokens are not reported in 1 of 12 cells.", study_only(lambda s: None)),
    note("No PASS cell hit a cap.", study_only(lambda s: None)),
    note("Tokens of two are what the agent says of itself.", study_only(lambda s: None)),
    note("Not pinned: model weights of one.", study_only(lambda s: None)),
    note("2 tasks are graded `in-process`", study_only(lambda s: None)),
    note("one draws answers at random (temperature above 0)", study_only(lambda s: None)),
    note("Budgets share recorded answers (`shared`)", study_only(lambda s: None)),
    note(
        "The widest 95 % interval of a rate spans 81 percentage points.", study_only(lambda s: None)
    ),
    note(
        "The pack's graders were not checked by `frozenbench pack check`",
        study_only(lambda s: None),
    ),
    note(
        "Weights run from 1 to 2: the 2 public tasks count like 1.8 of equal weight",
        study_only(lambda s: None),
    ),
    note(
        "Each agent ran each task 3 times under each budget. Repeats are averaged within their task and "
        "do not multiply n",
        study_only(lambda s: None),
        repeats=3,
    ),
    note(
        "1 cell is ERROR and counts as not passed, 0 of them by infrastructure.",
        rows_only(lambda r: r.change({"agent": "two"}, 1, outcome="ERROR", reason="adapter_crash")),
        accept_error_share=0.5,
    ),
    note(
        "Accepted by name in the config: accept_error_share: 0.5.",
        study_only(lambda s: None),
        accept_error_share=0.5,
    ),
    note(
        "2 PASS cells hit a cap;",
        rows_only(lambda r: r.change({"agent": "one", "budget": "free"}, cap_hit="tokens")),
    ),
    note(
        "The wall clock decided 3 cells.",
        rows_only(lambda r: r.change({"agent": "two", "task": "alpha"}, cap_hit="wall_clock")),
        clock="strict",
    ),
    note(
        "Unqualified tasks, without a reference solution: beta.",
        study_only(without_solution),
    ),
    note(
        "Held-out tasks are a slice of their own",
        study_only(lambda s: s.lines[1].update(split="held_out")),
    ),
    note(
        "Tasks with an open network, in no rate: beta.",
        study_only(lambda s: s.lines[1].update(network="open")),
        allow_open_network=["beta"],
    ),
    note("`every_step` is an oracle stop", study_only(lambda s: None), grading="every_step"),
    note("Machine class: `x86-64 a`.", study_only(lambda s: None)),
    note(
        "4 of 24 cells, control cells among them, were the first of their environment, on a cold ",
        rows_only(lambda r: r.change({}, 4, warm=False)),
    ),
    note("6 retries of infrastructure", rows_only(lambda r: r.change({}, 3, infra_retries=2))),
    note(
        "All repeats of two are identical, in files, outcomes, reasons and meters: nothing random ",
        rows_only(lambda r: r.change({"agent": "two"}, artifact_sha256="a" * 64)),
        repeats=2,
    ),
    note(
        "All repeats of one left the same files, although it may sample.",
        rows_only(lambda r: r.change({"agent": "one"}, artifact_sha256="a" * 64, tokens=7)),
        repeats=2,
    ),
    *(
        note(
            "All repeats of two left the same files, with other outcomes, reasons or meters.",
            rows_only(
                lambda r, other=other: (
                    r.change({"agent": "two"}, artifact_sha256="a" * 64),
                    r.change({"agent": "two", "task": "alpha", "repeat": 1}, **other),
                )
            ),
            repeats=2,
        )
        for other in (
            {"outcome": "EXHAUSTED", "reason": "tokens", "cap_hit": "tokens"},
            {"reason": "green_at_cap", "cap_hit": "tool_calls"},
            {"tool_calls": 2},
            {"edit_rounds": 0},
            {"tokens": 99},
        )
    ),
]


@pytest.mark.parametrize(("text", "change", "config"), NOTES)
def test_what_the_numbers_do_not_say_is_said(
    tmp_path: Path, text: str, change: Change, config: dict[str, Any]
) -> None:
    told = files_of(tmp_path, change, **config).text.split("## What these numbers do not say")[1]
    assert f"- {text}" in told


def test_cells_with_an_open_network_are_in_no_count(tmp_path: Path) -> None:
    """What stands in no rate is told apart: caps, clocks, tokens and ERRORs are of the rated cells."""

    def change(study: Study, rows: Rows) -> None:
        study.lines[1].update(network="open")
        beta = {"agent": "one", "task": "beta"}
        rows.change(beta, tokens=None, cap_hit="wall_clock", outcome="PASS", reason="green_at_cap")
        failed = {"outcome": "ERROR", "reason": "adapter_crash", "cap_hit": None}
        rows.change({**beta, "agent": "two"}, **failed)

    text = files_of(
        tmp_path, change, allow_open_network=["beta"], accept_error_share=0.5, clock="strict"
    ).text
    told = text.split("## What these numbers do not say")[1]
    for line in (
        "Tokens are reported in all 6 cells.",
        "No PASS cell hit a cap.",
        "The wall clock decided no cell.",
    ):
        assert f"- {line}" in told
    assert "ERROR" not in told


def test_what_is_not_so_is_not_said(files: Files) -> None:
    told = files.text.split("## What these numbers do not say")[1]
    for text in (
        "Held-out",
        "Unqualified",
        "open network",
        "oracle",
        "cold",
        "retries",
        "identical",
    ):
        assert text not in told


@pytest.mark.parametrize("recorded", [True, False])
def test_the_age_of_the_responses_is_told(tmp_path: Path, recorded: bool) -> None:
    responses = {"distinct": 7, "first_date": "2024-01-02", "last_date": "2024-02-03"}
    text = files_of(tmp_path, responses={**responses, "recorded": recorded}).text
    origin = "all from the committed record" if recorded else "asked for this run"
    assert f"| responses | shared; 7 responses of 2024-01-02 to 2024-02-03, {origin} |" in text
    assert "The 7 model responses are of 2024-01-02 to 2024-02-03" in text


def heavy(study: Study, rows: Rows) -> None:
    """Twenty tasks, one of which outweighs all others."""
    study.lines = [
        {**study.lines[0], "id": f"t{place:02d}", "weight": 100 if place == 3 else 1}
        for place in range(20)
    ]


def test_weights_that_rest_on_few_tasks_are_warned_of_with_their_figures(tmp_path: Path) -> None:
    text = files_of(tmp_path, heavy).text
    told = text.split("## What these numbers do not say")[1]
    assert "the 20 public tasks count like 1.4 of equal weight" in told
    assert "- **Few tasks carry the weight**: one alone has 84.0 % of it" in told
    assert "- **Half of the weight or more lies on t03 (84.0 %)**." in told
    assert "n = 20 tasks, effective n 1.4" in text.split("## Scores")[1]


def test_usual_weights_are_told_and_not_warned_of(tmp_path: Path) -> None:
    def usual(study: Study, rows: Rows) -> None:
        heavy(study, rows)
        for place, line in enumerate(study.lines):
            line["weight"] = 1 + place % 3

    told = files_of(tmp_path, usual).text.split("## What these numbers do not say")[1]
    assert "Weights run from 1 to 3: the 20 public tasks count like " in told
    assert "Half of the weight" not in told
    assert "Few tasks carry" not in told


def test_no_held_out_task_is_named(tmp_path: Path) -> None:
    def hidden(study: Study, rows: Rows) -> None:
        heavy(study, rows)
        for line in study.lines[:10]:
            line["split"] = "held_out"

    files = files_of(tmp_path, hidden)
    text = files.text
    digest = files.rows.controls["tasks"]["t03"]["task_digest"][:12]
    assert f"lies on {digest} (" in text
    for name in ("README.md", "index.html", "report.rst"):
        told = (files.page / name).read_text("utf-8")
        assert not re.search(r"\bt0\d\b", told), name
    assert "frozenbench show one t10 free" in text, "a public task"
