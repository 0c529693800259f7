"""The page: controls above the score, flips, and what the numbers do not say; score_bundle.json."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path

import pytest
from frozenbench.canonical import Refused
from frozenbench.cli.people import COMMANDS
from frozenbench.controls import METRIC
from frozenbench.explain import find_cell
from frozenbench.pages.blocks import Page, Section, table
from frozenbench.pages.markdown import markdown
from frozenbench.score_bundle import FIRST_FIVE, score_bundle
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
        "Check it and replay it",
    ]


def test_every_control_is_told(files: Files) -> None:
    plan, text = files.plan, files.text.split("## Scores")[0]
    told = [
        plan.digest,
        plan.pack.digest,
        plan.pack.file_sha256,
        "| weights | 1: 1 task; 2: 1 task |",
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
        "`max_output_tokens` 200",
        "`endpoint.wire` openai-chat",
        "| free | no cap | no cap | no cap | 60.5 |",
        *(f"`{agent.sheet_digest[:12]}`" for agent in plan.agents.values()),
        "| model weights |",
        "noop (control)",
        "reference (control)",
    ]
    assert [item for item in told if item not in text] == []


def test_every_agent_has_a_row_for_every_budget_with_its_n(files: Files) -> None:
    section = files.text.split("*All rates")[1].split("Over all budgets")[0]
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
    cell = r"^\| (one|two) \| (\w+) \| (\w+) \| (\d+) \| ([\d.]+) % \|$"
    rows = re.findall(cell, section, re.MULTILINE)
    assert "Each of the 12 cells has exactly one of five outcomes" in section
    assert sum(int(row[3]) for row in rows) == 2 * 2 * 3
    assert ("one", "EXHAUSTED", "tool_calls", "2", "33.3") in rows


def test_no_path_or_address_is_on_the_page(files: Files) -> None:
    assert "127.0.0.1" not in files.text
    assert str(files.experiment) not in files.text


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


def test_flips_and_the_finding_are_told_slice_by_slice(tmp_path: Path) -> None:
    text = files_of(tmp_path, lambda study, _: study.lines[1].update(split="held_out")).text
    lead = text.split("## ")[0]
    assert "**Slice public: " in lead
    assert "**Slice held\\_out: " in lead or "**Slice held_out: " in lead
    assert "1 public task, 1 held_out task and 3 budgets." in lead
    section = text.split("## Ranking flips")[1].split("\n## ")[0]
    public, held = section.split("### Slice held_out")
    assert "### Slice public" in public
    for part, name in ((public, "public"), (held, "held_out")):
        assert part.count(f"*Contrasts: first minus second, in points, slice {name}*") == 1
    assert "Holm over 3 contrasts in each slice" in public


def test_the_lead_says_what_of(files: Files) -> None:
    lead = files.text.split("## ")[0]
    assert (
        "**The two agents have no confirmed and no suggestive ranking flip. 2 tasks are too few "
        in (lead)
    )
    assert "\n2 agents, 2 tasks and 3 budgets.\n" in lead


def test_an_oracle_stop_is_named_wherever_a_score_stands(tmp_path: Path) -> None:
    parts = files_of(tmp_path, grading="every_step").text.split("\n## ")
    by_title = {part.split("\n")[0]: part for part in parts}
    for title in (
        parts[0].split("\n")[0],
        "Frozen controls",
        "Which budget, which metric",
        "Scores",
    ):
        assert "oracle stop, best of k" in by_title[title], title


def test_one_agent_or_one_budget_is_said_to_have_no_flip(tmp_path: Path) -> None:
    def alone(study: Study, rows: Rows) -> None:
        study.config["agents"] = ["two"]

    text = files_of(tmp_path / "agent", alone).text
    assert "**There is one agent: no ranking, and no flip of one.**" in text
    assert "Holm" not in text.split("## Ranking flips")[1]
    assert "There is one agent: no cell decided between two." in text
    budgets = [{"name": "calls-4", "max_tool_calls": 4, "max_seconds": 60}]
    text = files_of(tmp_path / "budget", lambda study, _: study.config.update(budgets=budgets)).text
    assert "**There is one budget: no ranking can flip.**" in text
    assert "`calls-4`, the only one" in text


def test_names_of_many_agents_do_not_run_into_one_line(tmp_path: Path) -> None:
    """Every agent of the decision table stands on a line of its own."""
    text = files_of(tmp_path).text.split("## Which budget")[1].split("## ")[0]
    assert re.search(r"<br>one 100\.0 % \[\d+, 100\]<br>two 66\.7 % ", text)


# Commands


def test_every_command_on_the_page_is_one_and_names_a_cell(files: Files) -> None:
    typed = re.findall(r"^ {4}frozenbench (.*)$", files.text, re.MULTILINE)
    typed += re.findall(r"`frozenbench ([^`]*)`", files.text)
    assert {words.split()[0] for words in typed} == {
        *("verify", "show", "explain", "replay", "pack"),
    }
    for words in map(shlex.split, typed):
        assert words[0] in COMMANDS
        if words[0] in ("show", "explain") and len(words) > 1:
            assert find_cell(files.plan, words[1:]).label
    assert "add `--config FILE` to them" in files.text


def test_a_subset_and_what_is_accepted_are_marked(tmp_path: Path) -> None:
    text = files_of(tmp_path, tasks=["alpha"], accept_error_share=0.5).text
    assert "a SUBSET of the pack's tasks" in text
    assert "| task subset | alpha |" in text
    assert "| accepted | accept_error_share: 0.5 |" in text


def test_a_cell_of_a_table_cannot_break_it() -> None:
    block = table("t", ["a|b"], [["c|d\n| e"]])
    text = markdown(Page("p", (), (Section("s", "s", (block,)),)))
    assert text.splitlines()[6::2] == ["| a\\|b |", "| c\\|d \\| e |"]


# A refused score


def test_a_refused_page_tells_the_responses_as_they_are(tmp_path: Path) -> None:
    def lying(study: Study, rows: Rows) -> None:
        rows.change({"agent": "noop", "task": "beta"}, outcome="PASS", reason="green_at_cap")

    day = "2024-01-02"
    responses = {"distinct": 1, "first_date": day, "last_date": day, "recorded": True}
    text = files_of(tmp_path, lying, responses=responses).text
    assert "| responses | shared; 1 response of 2024-01-02, all from the committed record |" in text
    assert "no model was asked" not in text


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
