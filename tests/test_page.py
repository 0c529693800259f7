"""The page: controls above the score, flips, and what the numbers do not say; score_bundle.json."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import Refused
from frozenbench.controls import METRIC
from frozenbench.pages.blocks import Page, Section, table
from frozenbench.pages.markdown import markdown
from frozenbench.score_bundle import FIRST_FIVE, score_bundle
from frozenbench.table import read_table
from small_experiment_files import Change, Files, files_of
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


# The page


def test_controls_stand_above_the_score_and_what_is_unsaid_below(files: Files) -> None:
    headings = re.findall(r"^## (.*)$", files.text, re.MULTILINE)
    assert headings == [
        "Frozen controls",
        "Which budget, which metric",
        "Scores",
        "Ranking flips",
        "Outcomes",
        "Cells to read",
        "What these numbers do not say",
        "Check it",
    ]


def test_every_control_is_told(files: Files) -> None:
    plan, text = files.plan, files.text.split("## Scores")[0]
    told = [
        plan.digest,
        plan.pack.digest,
        plan.pack.file_sha256,
        "1 (1 tasks), 2 (1 tasks)",  # weights
        str(plan.pack.lock_sha256),
        "userns, blocked",
        "final: the artifact alone",
        "in-process (2 tasks)",
        METRIC,
        "proposal, MIT",
        "run 1, grade 1",
        "| clock | guard |",
        "| repeats | 1 |",
        "| budget disclosed | no |",
        "| calls-1 | 1 | no cap | 500 | 60 |",
        "| free | no cap | no cap | no cap | 60.5 |",
        *(f"`{agent.sheet_digest[:12]}`" for agent in plan.agents.values()),
        "not pinned",
        "| weights |",
        "noop (control)",
        "reference (control)",
    ]
    assert [item for item in told if item not in text] == []


def test_every_agent_has_a_row_for_every_budget_with_its_n(files: Files) -> None:
    section = files.text.split("## Scores")[1].split("Over all budgets")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]
    names = [(row[0].removeprefix("| "), row[1]) for row in rows]
    assert sorted(names) == sorted((b, a) for b in files.plan.budgets for a in ("one", "two"))
    assert {row[2] for row in rows} == {"2"}
    shown = {(budget, agent): row for (budget, agent), row in zip(names, rows, strict=True)}
    assert shown["calls-1", "one"][3].startswith("**0.0 %** [0, ")
    assert shown["free", "one"][3].startswith("**100.0 %** [")
    assert shown["free", "two"][3].startswith("**66.7 %** ["), "alpha weighs 2 of 3"


def test_no_rate_lies_outside_0_to_100(files: Files) -> None:
    rates = [float(text) for text in re.findall(r"(-?[\d.]+) %", files.text)]
    assert rates
    assert all(0 <= rate <= 100 for rate in rates)


def test_each_cell_is_told_by_exactly_one_outcome(files: Files) -> None:
    section = files.text.split("## Outcomes")[1].split("## What")[0]
    rows = re.findall(r"^\| (one|two) \| (\w+) \| (\w+) \| (\d+) \|$", section, re.MULTILINE)
    assert sum(int(row[3]) for row in rows) == 2 * 2 * 3
    assert ("one", "EXHAUSTED", "tool_calls", "2") in rows


def test_no_path_or_address_is_on_the_page(files: Files) -> None:
    assert "127.0.0.1" not in files.text
    assert str(files.experiment) not in files.text


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
    note("0 PASS cells hit a cap;", study_only(lambda s: None)),
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
    note("every_step is an oracle stop", study_only(lambda s: None), grading="every_step"),
    note("Machine classes: x86-64 a.", study_only(lambda s: None)),
    note(
        "4 cells were the first of their environment on a cold machine.",
        rows_only(lambda r: r.change({}, 4, warm=False)),
    ),
    note("6 infrastructure retries", rows_only(lambda r: r.change({}, 3, infra_retries=2))),
    note(
        "All repeats of two are identical",
        rows_only(lambda r: r.change({"agent": "two"}, artifact_sha256="a" * 64)),
        repeats=2,
    ),
]


@pytest.mark.parametrize(("text", "change", "config"), NOTES)
def test_what_the_numbers_do_not_say_is_said(
    tmp_path: Path, text: str, change: Change, config: dict[str, Any]
) -> None:
    told = files_of(tmp_path, change, **config).text.split("## What these numbers do not say")[1]
    assert f"- {text}" in told


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
    assert "The 7 model responses date from 2024-01-02 to 2024-02-03" in text


def test_slices_are_never_pooled(tmp_path: Path) -> None:
    def split(study: Study, rows: Rows) -> None:
        study.lines[1]["split"] = "held_out"

    files = files_of(tmp_path, split)
    assert "### Slice public" in files.text
    assert "### Slice held_out" in files.text
    bundle = json.loads((files.page / "score_bundle.json").read_bytes())
    assert {(e["slice"], *(t["id"] for t in e["tasks"])) for e in bundle["scores"]} == {
        ("public", "alpha"),
        ("held_out", "beta"),
    }


def test_a_subset_and_what_is_accepted_are_marked(tmp_path: Path) -> None:
    text = files_of(tmp_path, tasks=["alpha"], accept_error_share=0.5).text
    assert "a SUBSET of the pack's tasks" in text
    assert "| task subset | alpha |" in text
    assert "| accepted | accept_error_share: 0.5 |" in text


def test_a_cell_of_a_table_cannot_break_it() -> None:
    block = table("t", ["a|b"], [["c|d\n| e"]])
    text = markdown(Page("p", (), (Section("s", "s", (block,)),)))
    assert text.splitlines()[4::2] == ["| a\\|b |", "| c\\|d \\| e |"]


# A refused score


def test_a_refused_score_shows_why_and_no_number(refused: Files) -> None:
    text = refused.text
    assert text.startswith("# study: no score\n")
    assert "- **control cells (noop)**: noop must be EXHAUSTED everywhere" in text
    assert "*Cure:* mend the pack" in text
    assert "## Frozen controls" in text
    assert "## Scores" not in text
    assert "%**" not in text
    shown = (refused.page / "index.html").read_text("utf-8")
    assert "noop must be EXHAUSTED everywhere" in shown
    assert 'id="controls"' in shown
    assert not [word for word in ('id="scores"', "<img", 'class="bar"') if word in shown]
    first = (refused.page / "report.rst").read_text("utf-8")
    assert first.startswith("study")
    assert "noop must be EXHAUSTED everywhere" in first
    assert {path.name for path in refused.page.iterdir()} == {
        "README.md",
        "index.html",
        "report.rst",
    }


# score_bundle.json


def test_the_score_bundle_holds_what_the_protocol_lists(files: Files) -> None:
    bundle = json.loads((files.page / "score_bundle.json").read_bytes())
    assert bundle["experiment"] == files.rows.controls["experiment"]
    assert len(bundle["scores"]) == 2 * 3
    for entry in bundle["scores"]:
        assert entry["pack_sha256"] == files.plan.pack.digest
        assert entry["pack_file_sha256"] == files.plan.pack.file_sha256
        assert entry["headline_metric"] == METRIC
        assert entry["budget"]["name"] in files.plan.budgets
        assert entry["budget"]["max_seconds"]
        assert entry["controls"]["agent_sheet"] == files.plan.agents[entry["agent"]].sheet
        assert {"weighted_pass", "median_seconds", "tasks"} <= entry.keys()
        assert len(entry["tasks"]) == entry["n"] == 2
        passed = sum(task["weight"] for task in entry["tasks"] if task["passed"])
        assert math.isclose(entry["weighted_pass"], passed / 3)
        for task in entry["tasks"]:
            assert {
                "id",
                "weight",
                "passed",
                "outcome",
                "reason",
                "seconds",
                "tokens",
                "spend",
            } <= set(task)
            assert task["passed"] == (task["outcome"] == "PASS")


@pytest.mark.parametrize("name", ["pack_sha256", "pack_file_sha256", "headline_metric"])
def test_the_score_bundle_is_never_written_without_its_first_five(files: Files, name: str) -> None:
    assert name in FIRST_FIVE
    controls, view = json.loads(json.dumps([files.rows.controls, files.plan.view]))
    summary = read_table(files.statistics / "summary.parquet").to_pylist()
    match name:
        case "pack_sha256":
            controls["pack"]["digest"] = None
        case "pack_file_sha256":
            view["pack"]["file_sha256"] = ""
        case _:
            controls["metric"] = None
    with pytest.raises(Refused, match=rf"^score_bundle\.json: {name} is missing; no score without"):
        score_bundle(controls, view, summary, files.rows.cells, files.rows.measured)
