"""Whole cells: what an attack's outcome is, and that bytes reach the grader as they were written."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from attack_table import ATTACKS, Attack
from attack_task import FIXTURE, IN_PROCESS, RIGHT, SPLIT, TEST, Tree, suite_of
from cell_project import Cell, CellProject
from frozenbench.canonical import tree_digest
from odd_solutions import BYTES_MATTER, ODD

BY_NAME = {attack.name: attack for attack in ATTACKS}

WRITER = """
import base64, json, os, pathlib, sys
work = pathlib.Path(sys.argv[2])
for path, data in json.loads(pathlib.Path(__file__).with_name("files.json").read_text()).items():
    (work / path).parent.mkdir(parents=True, exist_ok=True)
    (work / path).write_bytes(base64.b64decode(data))
os.chdir(work)
exec(pathlib.Path(__file__).with_name("script.py").read_text())
"""


def solve(cells: CellProject, trust: str, tree: Tree, script: str = "") -> Cell:
    """Run and grade a command agent that writes a tree."""
    numbers = "MANY = [10, 20, 30, 41]\nTHEIR_SUM = 101\n"
    cells.task(
        fixture={path: file.data for path, file in FIXTURE.items()},
        hidden={TEST: suite_of(trust, types=False), "tests/support/numbers.py": numbers},
        solution={"solution.py": RIGHT},
        grade=["pytest", "-q", TEST],
        grader_trust=trust,
    )
    written = {path: base64.b64encode(file.data).decode() for path, file in tree.items()}
    files: Mapping[str, str] = {"files.json": json.dumps(written), "script.py": script}
    cells.write(files, "agents")
    code = ["agents/agent.py", "agents/files.json", "agents/script.py"]
    cells.agent(WRITER, adapter="command", argv=["python", "agents/agent.py"], code=code)
    cells.budget()
    return cells.both()


def attacked(cells: CellProject, trust: str, attack: Attack) -> Cell:
    return solve(cells, trust, attack.files("mark"), attack.script("mark") or "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trust", "outcome"),
    [
        ("always_equal", SPLIT, ("FAIL_TEST", "assertion", None)),
        ("kills_its_process", SPLIT, ("FAIL_TEST", "assertion", None)),
        ("patched_callinfo", IN_PROCESS, ("FAIL_TEST", "tampered", None)),
        ("solution_is_no_file", IN_PROCESS, ("FAIL_TEST", "import_error", None)),
    ],
)
def test_an_attack_is_the_agents_failure(
    cells: CellProject, name: str, trust: str, outcome: tuple[str, str, None]
) -> None:
    assert attacked(cells, trust, BY_NAME[name]).outcome == outcome


@pytest.mark.attacks
@pytest.mark.parametrize("trust", [SPLIT, IN_PROCESS])
@pytest.mark.parametrize("attack", ATTACKS[::4], ids=lambda attack: attack.name)
def test_no_attack_makes_a_cell_an_error(cells: CellProject, attack: Attack, trust: str) -> None:
    """An ERROR would hide that the agent failed."""
    assert attacked(cells, trust, attack).outcome[0] in ("FAIL_TEST", "FAIL_ASSUME", "PASS")


@pytest.mark.slow
@pytest.mark.parametrize("name", BYTES_MATTER)
def test_odd_bytes_pass_unchanged(cells: CellProject, name: str) -> None:
    cell = solve(cells, SPLIT, ODD[name])
    assert cell.outcome == ("PASS", "finished", None)
    assert cell.grade["artifact_sha256"] == tree_digest(ODD[name])
    stored = cell.changed()["solution.py"]
    data = ODD[name]["solution.py"].data
    assert (stored if isinstance(stored, bytes) else stored.encode()) == data


def test_the_suite_lies_where_no_test_is_collected() -> None:
    """Artifacts named conftest.py or test_*.py would run in this very session."""
    here = Path(__file__).parent
    assert {path.suffix for path in (here / "artifacts").iterdir()} <= {".py", ""}
    assert "artifacts" in (here / "conftest.py").read_text()
