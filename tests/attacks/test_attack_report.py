"""The page and the line on results pages say what the suite holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attack_table import ATTACKS, FOOLED_IN_PROCESS
from exhaustion import EXHAUSTIONS
from frozenbench.check_score import published_lines
from frozenbench.grader_attacks import RESULTS, grader_attacks
from frozenbench.publish import content
from odd_solutions import ODD
from small_experiment_files import files_of

PAGE = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text("utf-8")
CURE = "; cure: python tests/attacks/report.py"


def test_the_page_has_a_row_for_each_attack_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)`(?: \(types\))? \|", PAGE, re.MULTILINE)
    named = [attack.name for attack in ATTACKS] + [item.name for item in EXHAUSTIONS]
    assert sorted(rows) == sorted([*named, *FOOLED_IN_PROCESS]), CURE
    assert all(name in PAGE for name in ODD), CURE


def test_the_page_and_the_summary_agree() -> None:
    found = json.loads(RESULTS.read_text("utf-8"))
    names = {attack.name for attack in ATTACKS}
    for place, trust in enumerate(("split", "in-process", "exit-status")):
        passed = set()
        for row in re.findall(r"^\| `\w+`.*\|$", PAGE, re.MULTILINE):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
            if len(cells) == 5 and cells[0].split("`")[1] in names:
                passed |= {cells[0].split("`")[1]} if cells[2 + place] == "**PASS**" else set()
        assert found[trust] == {"passed": len(passed), "of": len(ATTACKS)}, CURE
        if trust != "exit-status":
            assert passed == (set() if trust == "split" else set(FOOLED_IN_PROCESS)), CURE


def test_the_line_says_what_the_summary_holds() -> None:
    found = json.loads(RESULTS.read_text("utf-8"))
    assert found["date"] in PAGE
    said = f"split 0 of {len(ATTACKS)}, in-process {len(FOOLED_IN_PROCESS)} of {len(ATTACKS)}"
    assert grader_attacks() == f"{said} ({found['date']})"


def test_it_stands_above_every_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = files_of(tmp_path)
    above = files.text.split("## Scores")[0]
    assert f"| grader attacks called PASS | {grader_attacks()} |" in above
    levels = {task["grader_trust"] for task in files.rows.controls["tasks"].values()}
    assert levels
    assert all(
        f"{level} (" in above.split("| grader trust |")[1].split("\n")[0] for level in levels
    )
    (files.view / "figures").mkdir(exist_ok=True)
    for source, name in content(files.experiment, files.view):
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_bytes(source.read_bytes())
    closing = published_lines(tmp_path / "out")[0]
    assert f"grader attacks called PASS: {grader_attacks()}" in closing
