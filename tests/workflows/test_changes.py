"""What one change makes due, as `snakemake -n` lists it: exactly that, and nothing else."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
import yaml
from project import EXPERIMENT, VIEW, Project, Ran, cells_of, files
from small_experiment import AGENTS, TASKS, write, write_lines

NOTHING: dict[str, int] = {}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def is_due(due: Ran, runs: list[str], grades: list[str], others: dict[str, int]) -> None:
    assert due.runs == runs
    assert due.grades == grades
    assert due.others == others


def test_a_weight(project: Project) -> None:
    write_lines(project.folder, *TASKS, greet={"weight": 2})
    is_due(project.due(), [], [], EXPERIMENT)


def test_a_split(project: Project) -> None:
    write_lines(project.folder, *TASKS, greet={"split": "held_out"})
    is_due(project.due(), [], [], EXPERIMENT)


def test_a_hidden_test(project: Project) -> None:
    replace(project / "packs/small/graders/greet/test_greet.py", "Ada", "Grace")
    frozen = {"freeze_grader": 1, "freeze_expected": 1}
    is_due(project.due(), [], cells_of(tasks=["greet"]), EXPERIMENT | frozen)


def test_a_ban(project: Project) -> None:
    write_lines(project.folder, *TASKS, double={"must_not_contain": ["eval"]})
    frozen = {"freeze_grader": 1, "freeze_expected": 1}
    is_due(project.due(), [], cells_of(tasks=["double"]), EXPERIMENT | frozen)


def test_a_reference_solution(project: Project) -> None:
    replace(project / "packs/small/solutions/double/number.py", "2 * n", "n * 2")
    frozen = {"freeze_grader": 1, "freeze_expected": 1}
    runs = cells_of(["reference"], ["double"])
    is_due(project.due(), runs, cells_of(tasks=["double"]), EXPERIMENT | frozen)


def test_a_prompt(project: Project) -> None:
    write(project / "packs/small/prompts/double.md", "Mend it.\n")
    cells = cells_of(tasks=["double"])
    is_due(project.due(), cells, cells, EXPERIMENT | {"freeze_task": 1})


def test_a_fixture(project: Project) -> None:
    write(project / "packs/small/fixtures/double/notes.txt", "new\n")
    cells = cells_of(tasks=["double"])
    frozen = {"freeze_task": 1, "freeze_expected": 1}
    is_due(project.due(), cells, cells, EXPERIMENT | frozen)


@pytest.mark.parametrize("field", [{"salt": "x"}, {"seed": 7}, {"temperature": 0.5}], ids=str)
def test_a_field_of_one_agents_sheet(project: Project, field: dict[str, object]) -> None:
    path = project / "config/agents/steady.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | field))
    cells = cells_of(["steady"])
    is_due(project.due(), cells, cells, EXPERIMENT | {"freeze_agent": 1})


def test_the_code_of_one_agent(project: Project) -> None:
    replace(project / "config/agents/code/stubborn.py", "calls >= 2", "calls >= 1")
    cells = cells_of(["stubborn"])
    is_due(project.due(), cells, cells, EXPERIMENT | {"freeze_agent": 1})


def test_one_more_budget(project: Project) -> None:
    more = {"name": "calls-2", "max_tool_calls": 2, "max_tokens": 1000, "max_seconds": 60}
    project.change_config(lambda config: config["budgets"].append(more))
    cells = cells_of(budgets=["calls-2"])
    is_due(project.due(), cells, cells, EXPERIMENT)


def test_a_cap_that_a_tasks_own_clock_is_under(project: Project) -> None:
    """The effective cap counts: `greet` has 50 s of its own under a budget of 60 or of 55."""

    def change(config: dict[str, list[dict[str, object]]]) -> None:
        config["budgets"][0]["max_seconds"] = 55

    project.change_config(change)
    cells = cells_of(tasks=["double"], budgets=["calls-1"])
    is_due(project.due(), cells, cells, EXPERIMENT)


def test_more_repeats(project: Project) -> None:
    project.change_config(lambda config: config.update(repeats=2))
    cells = cells_of(AGENTS, repeats=[1])
    is_due(project.due(), cells, cells, EXPERIMENT)


def test_the_grading_policy(project: Project) -> None:
    project.change_config(lambda config: config.update(grading="every_step"))
    is_due(project.due(), [], cells_of(), EXPERIMENT)


def test_a_title(project: Project) -> None:
    project.change_config(lambda config: config.update(title="Another title"))
    is_due(project.due(), [], [], VIEW)


def test_the_statistics(project: Project) -> None:
    project.change_config(lambda config: config["statistics"].update(resamples=300))
    is_due(project.due(), [], [], VIEW)


def test_an_agents_name(project: Project) -> None:
    agents = project / "config/agents"
    (agents / "steady.yaml").rename(agents / "calm.yaml")
    project.change_config(lambda config: config.update(agents=["calm", "stubborn"]))
    is_due(project.due(), [], [], EXPERIMENT)


def test_a_budgets_name(project: Project) -> None:
    project.change_config(lambda config: config["budgets"][0].update(name="one"))
    is_due(project.due(), [], [], EXPERIMENT)


def test_the_experiments_name(project: Project) -> None:
    project.change_config(lambda config: config["experiment"].update(name="other"))
    is_due(project.due(), [], [], EXPERIMENT)


def test_the_order_of_the_agents_is_that_of_their_colours(project: Project) -> None:
    project.change_config(lambda config: config["agents"].reverse())
    is_due(project.due(), [], [], VIEW)


def test_the_order_of_the_budgets(project: Project) -> None:
    project.change_config(lambda config: config["budgets"].reverse())
    assert project.due().rules == NOTHING


def test_the_order_of_the_lines_is_that_of_the_packs_file(project: Project) -> None:
    """pack.jsonl's own SHA-256 is printed, so the page changes, and no number."""
    write_lines(project.folder, *reversed(TASKS))
    is_due(project.due(), [], [], VIEW)


def test_a_comment_and_the_order_of_keys(project: Project) -> None:
    path = project / "config/config.yaml"
    data = yaml.safe_load(path.read_text())
    path.write_text("# a comment\n" + yaml.safe_dump(data, sort_keys=True))
    agent = project / "config/agents/steady.yaml"
    agent.write_text(agent.read_text() + "# a comment\n\n")
    pack = project / "packs/small/pack.json"
    pack.write_text(pack.read_text().replace(", ", ",\n  "))
    assert project.due().rules == NOTHING


def test_cores_and_temporary_folder(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    elsewhere = {"TMPDIR": str(tmp_path / "elsewhere")}
    assert project.due(cores=1).rules == NOTHING
    assert project.due(cores=4, env=elsewhere).rules == NOTHING
    again = project.succeeds(cores=4, env=elsewhere)
    assert again.rules == NOTHING


def test_files_that_no_control_names(project: Project) -> None:
    write(project / "packs/small/README.md", "about\n")
    write(project / "packs/small/known_wrong/double/number.py", "def double(n):\n    return 0\n")
    write(project / "packs/small/fixtures/double/__pycache__/number.pyc", "cache")
    write(project / "config/agents/other.yaml", "adapter: python\n")
    assert project.due().rules == NOTHING


def test_a_touched_project(project: Project) -> None:
    for path in files(project.folder):
        if ".snakemake" not in path.parts:
            path.touch()
    assert project.due().rules == NOTHING


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_checkout_with_results_copied_in(project: Project, seed: int) -> None:
    """Times in random order, at another path, without Snakemake's own memory."""
    clone = project.folder.with_name("a clone, elsewhere")
    project.folder.rename(clone)
    shutil.rmtree(clone / ".snakemake")
    shutil.rmtree(clone / "logs")
    chance = random.Random(seed)
    for root, folders, names in os.walk(clone):
        for name in [*folders, *names]:
            then = 1.7e9 + chance.random() * 1e6
            os.utime(Path(root, name), (then, then), follow_symlinks=False)
    assert Project(clone).due().rules == NOTHING


def test_one_more_task_keeps_the_old_cells(project: Project) -> None:
    """Every cell but the new ones stays, although the pack file's hash changed."""
    before = {(row["agent"], row["task"], row["budget"]): row for row in project.rows()}
    write_lines(project.folder, *TASKS, "shout")
    cells = cells_of(tasks=["shout"])
    frozen = {"freeze_task": 1, "freeze_grader": 1, "freeze_expected": 1}
    is_due(project.due(), cells, cells, EXPERIMENT | frozen)
    ran = project.succeeds()
    assert (ran.runs, ran.grades) == (cells, cells)
    after = {(row["agent"], row["task"], row["budget"]): row for row in project.rows()}
    assert len(after) == len(before) + len(cells)
    assert {key: after[key] for key in before} == before
    assert after["stubborn", "shout", "calls-3"]["outcome"] == "PASS"
