"""The plan: cells, paths, the two documents, and what a lost leaf does to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from frozenbench import layout
from frozenbench.canonical import BadInput, digest
from frozenbench.explain import (
    cell_lines,
    experiment_lines,
    find_cell,
    flat,
    why_lines,
)
from frozenbench.forecast import (
    Held,
    ceiling,
    forecast_lines,
    missing_grades,
    missing_runs,
    recorded,
)
from frozenbench.gateway.record import Entry, key_material
from frozenbench.plan import Plan, load_plan
from small_study import CHAT, CONFIG, Study, changed

HEX = re.compile("[0-9a-f]{64}")
PRICES = {"currency": "EUR", "input_per_million": 1, "output_per_million": 4}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def test_every_cell_is_planned_once_with_control_cells_beside(study: Study) -> None:
    study.config["repeats"] = 2
    plan = study.plan()
    names = [(cell.agent, cell.task, cell.budget, cell.repeat) for cell in plan.cells]
    assert len(names) == len(set(names)) == 2 * 2 * 2 * 2 + 2 * 2 * 2
    assert {cell.agent for cell in plan.cells if cell.control} == {"noop", "reference"}
    assert len(plan.runs) == len(plan.grades) == len(plan.cells)
    assert all(HEX.fullmatch(key) for key in (*plan.runs, *plan.grades))


def test_names_that_look_like_other_wildcards_are_cells_of_their_own(study: Study) -> None:
    """A.4: agents a, a_b; tasks b_c, c."""
    study.agents = {"a": study.agents["one"], "a_b": study.agents["two"]}
    study.config["agents"] = ["a", "a_b"]
    for line, name in zip(study.lines, ("b_c", "c"), strict=True):
        line.pop("task_id", None)
        line["id"] = name
    plan = study.plan()
    scored = {(cell.agent, cell.task) for cell in plan.cells if not cell.control}
    assert scored == {("a", "b_c"), ("a", "c"), ("a_b", "b_c"), ("a_b", "c")}
    assert len({cell.run_key for cell in plan.cells if not cell.control}) == 8


def test_every_path_is_relative_and_below_results(study: Study) -> None:
    plan = study.plan()
    task = plan.tasks["alpha"]
    paths = [
        plan.folder,
        plan.view_folder,
        plan.expected_path(task),
        layout.run(next(iter(plan.runs))),
        layout.grade(next(iter(plan.grades))),
        layout.frozen_task(task.digest),
        layout.frozen_grader(task.grader.digest),
        layout.frozen_agent(plan.agents["one"].frozen_digest),
        layout.environment(plan.environment_id),
        layout.frozen_names(plan.environment_id),
        layout.frozen_record(plan.record_id),
        layout.verdict("a" * 64),
        layout.published(plan.name),
        layout.published_marker(plan.name, plan.digest, plan.view_digest),
        layout.checked_marker(plan.name, plan.digest, plan.view_digest),
    ]
    assert len(set(paths)) == len(paths)
    for path in paths:
        assert path.parts[0] == "results"
        assert ".." not in path.parts
    assert plan.folder.name == f"study-{plan.digest[:12]}"
    assert plan.view_folder.name == plan.view_digest[:8]


def test_planning_writes_nothing(study: Study) -> None:
    study.save()
    before = sorted(study.root.rglob("*"))
    plan = load_plan(root=study.root)
    assert plan.cells
    assert plan.lost_cells() == []
    assert sorted(study.root.rglob("*")) == before


def test_budgets_stand_in_the_order_of_the_axis_and_no_cap_comes_last(study: Study) -> None:
    study.config["budgets"] = [
        {"name": "free", "max_seconds": 9},
        {"name": "many", "max_tool_calls": 10, "max_seconds": 9},
        {"name": "few", "max_tool_calls": 9, "max_seconds": 9},
    ]
    assert list(study.plan().budgets) == ["few", "many", "free"]


@pytest.mark.parametrize("name", [*layout.TAKEN_NAMES, "Runs"])
def test_an_experiment_cannot_be_called_like_a_folder_of_the_store(study: Study, name: str) -> None:
    study.config = changed(CONFIG, "experiment.name", name)
    with pytest.raises(
        BadInput, match=f"^config/config.yaml: experiment.name: '{name}' is a folder"
    ):
        study.plan()


def test_the_controls_hold_everything_that_stands_above_a_score(study: Study) -> None:
    study.agents["one"] = {**CHAT}
    plan = study.plan()
    controls = json.loads(json.dumps(plan.controls))
    assert controls == plan.controls, "it is JSON"
    assert controls["experiment"] == {"name": "study", "digest": plan.digest}
    content = {name: value for name, value in controls.items() if name != "experiment"}
    assert digest(content) == plan.digest
    assert controls["pack"]["digest"] == plan.pack.digest
    assert controls["tasks"]["alpha"] == {
        "task_digest": plan.tasks["alpha"].digest,
        "grader_digest": plan.tasks["alpha"].grader.digest,
        "weight": 2,
        "split": "public",
        "network": "blocked",
        "grader_trust": "in-process",
        "qualified": True,
        "solution_sha256": controls["tasks"]["alpha"]["solution_sha256"],
    }
    assert controls["budgets"] == {
        "calls-1": {"max_tool_calls": 1, "max_tokens": 500, "max_seconds": 60},
        "calls-4": {"max_tool_calls": 4, "max_tokens": 500, "max_seconds": 60},
    }
    assert set(controls["agents"]) == {"one", "two", "noop", "reference"}
    assert controls["agents"]["one"]["unpinned"] == ["weights"]
    assert controls["metric"] == "weighted_pass_under_budget@1"
    assert controls["environment"]["isolation"] == "userns"


@pytest.mark.parametrize("secret", ["127.0.0.1", "SECRET_ENV", "EUR"])
def test_no_address_key_name_or_price_is_published(study: Study, secret: str) -> None:
    prices = {"currency": "EUR", "input_per_million": 1, "output_per_million": 2}
    sheet = changed(CHAT, "endpoint.key_env", "SECRET_ENV")
    study.agents["one"] = {**sheet, "prices": prices}
    plan = study.plan()
    assert secret not in json.dumps([plan.controls, plan.view])


def test_no_path_of_this_machine_is_in_the_documents(study: Study) -> None:
    plan = study.plan()
    told = json.dumps([plan.controls, plan.view])
    assert str(study.root) not in told
    assert not re.search(r'"/\w', told)


def test_a_subset_is_another_experiment_and_marked(study: Study) -> None:
    whole = study.plan()
    study.config["tasks"] = ["beta"]
    part = study.plan()
    assert part.digest != whole.digest
    assert part.controls["task_subset"] == ["beta"]
    assert set(part.runs) < set(whole.runs), "its cells are the same cells"
    assert {cell.task for cell in part.cells} == {"beta"}


def test_a_record_that_is_not_there_counts_as_empty(study: Study) -> None:
    study.config = changed(CONFIG, "responses.record", "records/mine.jsonl.gz")
    assert study.plan().record_id == "none"
    study.write("records/mine.jsonl.gz", b"1")
    one = study.plan().record_id
    study.write("records/mine.jsonl.gz", b"2")
    assert len({"none", one, study.plan().record_id}) == 3


def test_a_task_without_a_solution_is_unqualified_and_has_no_reference(study: Study) -> None:
    study.files.pop("solutions/alpha/alpha.py")
    plan = study.plan()
    assert plan.controls["tasks"]["alpha"]["qualified"] is False
    assert {cell.task for cell in plan.cells if cell.agent == "reference"} == {"beta"}


def make_leaves(plan: Plan) -> list[Path]:
    leaves = [layout.run(key) / "run.json" for key in plan.runs]
    leaves += [layout.grade(key) / "grade.json" for key in plan.grades]
    for leaf in leaves:
        leaf.parent.mkdir(parents=True)
        leaf.write_text("{}")
    return leaves


def test_cells_whose_results_something_stands_on_are_named_when_they_are_lost(
    study: Study,
) -> None:
    plan = study.plan()
    make_leaves(plan)
    no_run, no_grade, neither = plan.cells[0], plan.cells[3], plan.cells[-1]
    layout.run(no_run.run_key).joinpath("run.json").unlink()
    layout.grade(no_grade.grade_key).joinpath("grade.json").unlink()
    for leaf in plan.leaves(neither):
        leaf.unlink()
    assert plan.lost_cells() == [no_run], "a grade stands on its run; the others are yet to come"
    study.write(f"{plan.folder}/cells.parquet", b"")
    assert plan.lost_cells() == [no_run, no_grade, neither], "a table stands on all of them"


# explain


def test_a_cell_is_found_by_names_and_by_the_first_digits_of_its_keys(study: Study) -> None:
    plan = study.plan()
    cell = find_cell(plan, ["one", "beta", "calls-4"])
    assert (cell.agent, cell.task, cell.budget, cell.repeat) == ("one", "beta", "calls-4", 0)
    assert find_cell(plan, ["one", "beta", "calls-4", "0"]) == cell
    assert find_cell(plan, [cell.run_key]) == find_cell(plan, [cell.grade_key[:16]]) == cell


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["on", "beta", "calls-4"], "agent: 'on' is unknown; did you mean 'one'?"),
        (["one", "bet", "calls-4"], "task: 'bet' is unknown; did you mean 'beta'?"),
        (["one", "beta", "calls-3"], "budget: 'calls-3' is unknown; did you mean 'calls-"),
        (
            ["one", "beta", "calls-4", "7"],
            "one beta calls-4 7: is no cell of this experiment; cure",
        ),
        (["one", "beta", "calls-4", "x"], "repeat: 'x' is no number; cure: 0 to 0"),
        (["one", "beta", "calls-4", "-1"], "repeat: '-1' is no number"),
        (["zz"], "'zz': names no cell; cure: more digits, or AGENT TASK BUDGET"),
        ([""], "'': names 16 cells; cure: more digits"),
        (
            ["one", "beta"],
            "cell: 'one beta' names none; cure: a key, or AGENT TASK BUDGET [REPEAT]",
        ),
    ],
)
def test_a_cell_that_is_not_there_is_told(study: Study, words: list[str], told: str) -> None:
    with pytest.raises(BadInput) as caught:
        find_cell(study.plan(), words)
    assert str(caught.value).startswith(told)


def test_explain_prints_all_that_the_keys_are_made_of(study: Study) -> None:
    plan = study.plan()
    cell = find_cell(plan, ["one", "beta", "calls-4"])
    lines = list(cell_lines(plan, cell))
    assert lines[1].startswith(f"run key {cell.run_key}  results/runs/{cell.run_key}/run.json (not")
    assert "  caps.wall_clock = 30" in lines, "the task's own clock is the smaller one"
    assert "  caps.tool_calls = 4" in lines
    assert '  agent_sheet.module = "agent"' in lines
    assert '  grading = "final"' in lines
    told = "\n".join(experiment_lines(plan))
    assert json.loads(told.split("\n", 1)[1]) == json.loads(json.dumps(plan.content))


def test_explain_why_names_the_control_that_differs(study: Study) -> None:
    plan = study.plan()
    cell = find_cell(plan, ["one", "beta", "calls-4"])
    assert list(why_lines(plan, cell)) == [f"{cell.label}: the store holds no run yet"]
    from frozenbench import keys

    stored = keys.run_material(plan.controls, "one", "beta", "calls-4", 0)
    for change in ({"budget_disclosed": True, "isolation": "none"}, {"isolation": "none"}):
        other = {**stored, **change}
        study.write(f"results/runs/{digest(other)}/run.json", json.dumps({"material": other}))
    lines = list(why_lines(plan, cell))
    assert lines[0].endswith("which differs in 1:")
    assert lines[1:] == ['  isolation: there "none", here "userns"']
    study.write(f"results/runs/{cell.run_key}/run.json", "{}")
    assert list(why_lines(plan, cell)) == [f"{cell.label}: its run is there; nothing has to run"]


def test_nested_controls_are_told_by_dotted_names() -> None:
    assert flat({"a": {"b": 1, "c": {"d": [2]}}, "e": None}) == {"a.b": 1, "a.c.d": [2], "e": None}


# forecast


def test_the_forecast_is_the_most_that_the_missing_runs_can_cost(study: Study) -> None:
    prices = {"currency": "EUR", "input_per_million": 1, "output_per_million": 4}
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": prices}
    plan = study.plan()
    cells = [cell for cell in missing_runs(plan) if cell.agent == "one"]
    most = ceiling(plan, "one", cells)
    # What calls-1 asks is the beginning of what calls-4 asks, and is bought once.
    assert (most.runs, most.requests, most.tokens) == (4, 2 * 4, 2 * 500)
    assert most.seconds == 2 * 60 + 2 * 30
    assert (most.money, most.currency) == (2 * 500 * 4 / 1e6, "EUR")
    assert ceiling(plan, "two", cells).requests == 0, "no model"


def test_oneshot_asks_once_a_cell(study: Study) -> None:
    study.agents["one"] = {**CHAT}
    plan = study.plan()
    cells = [cell for cell in plan.cells if cell.agent == "one"]
    assert ceiling(plan, "one", cells).requests == 2, "one a task, whatever the budget"
    study.config = changed(CONFIG, "responses.policy", "independent")
    assert ceiling(study.plan(), "one", cells).requests == 4


def test_a_cap_that_is_absent_is_no_number_in_the_forecast(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample"}
    study.config["budgets"] = [{"name": "free", "max_seconds": 9}]
    study.config["budget_axis"] = "max_seconds"
    plan = study.plan()
    most = ceiling(plan, "one", [cell for cell in plan.cells if cell.agent == "one"])
    assert (most.requests, most.tokens, most.money) == (None, None, None)
    told = "\n".join(forecast_lines(plan))
    assert "one: 2 runs, at most no cap on requests, no cap on tokens, 18 s on its clock" in told


def test_where_a_cap_is_absent_the_cost_has_no_bound(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": PRICES}
    assert "no bound" not in "\n".join(forecast_lines(study.plan()))
    study.config["budgets"][0].pop("max_tokens")
    told = "\n".join(forecast_lines(study.plan()))
    assert "the cost has no bound: 1 of the agents that ask a model have no cap on tokens" in told
    assert "EUR" not in told, "money is told where it has a bound"


def test_all_agents_that_ask_a_model_are_summed(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": PRICES}
    study.agents["two"] = {**CHAT, "policy": "oneshot", "salt": "x"}
    told = list(forecast_lines(study.plan()))
    assert (
        "in all: 8 runs, at most 10 requests, 2,000 tokens, 360 s on its clock, money not known: "
        in (told[4])
    )
    study.agents["two"]["prices"] = {**PRICES, "currency": "USD", "cached_per_million": 50}
    told = list(forecast_lines(study.plan()))
    assert told[4].endswith(", 0.0040 EUR, 0.05 USD")


def test_a_program_s_requests_have_no_bound_but_its_tokens(study: Study) -> None:
    endpoint = {**CHAT["endpoint"], "base_url": "http://127.0.0.1:1"}
    study.write("helper.py", "")
    study.agents["one"] = {
        "adapter": "program",
        "code": ["helper.py"],
        "argv": ["python", "helper.py"],
        "endpoint": endpoint,
        "prices": PRICES,
    }
    plan = study.plan()
    cells = [cell for cell in plan.cells if cell.agent == "one"]
    most = ceiling(plan, "one", cells)
    assert (most.requests, most.tokens, most.money) == (None, 4 * 500, 4 * 500 * 4 / 1e6)


def test_what_is_recorded_of_the_agents(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample"}
    plan = study.plan()
    assert recorded(plan) == {("one",): Held()}
    digests = list(plan.task_by_digest)
    endpoint = digest(plan.agents["one"].sheet["endpoint"])
    body = {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "x"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }
    for task, repeat, salt, seed in (
        (digests[0], 0, None, 1),
        (digests[1], 0, None, 2),
        (digests[1], 99, None, 3),  # of a repeat that this experiment has not
        (digests[1], 0, "other", 4),
        ("0" * 64, 0, None, 5),
    ):
        material = key_material(
            endpoint=endpoint,
            task=task,
            repeat=repeat,
            salt=salt,
            request={"seed": seed},
            occurrence=0,
        )
        entry = Entry(digest(material), material, body, 0.1, "2026-11-30", None, "m")
        study.write(
            f"results/responses/{entry.key[:2]}/{entry.key}.json", json.dumps(entry.to_json())
        )
    assert recorded(plan) == {("one",): Held(2, 14)}
    told = "\n".join(forecast_lines(plan))
    assert "recorded of one and these tasks: 2 responses with 14 tokens" in told


def test_what_was_paid_and_may_be_paid(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": PRICES}
    study.config["max_spend"] = 2
    plan = study.plan()
    assert "max_spend 2.00 EUR: nothing paid so far; at most 2.00 EUR more" in "\n".join(
        forecast_lines(plan)
    )
    line = {"key": "k", "spend": 0.5, "currency": "EUR", "estimated": True}
    study.write(f"{plan.folder}/spend.jsonl", json.dumps(line) + "\n")
    assert (
        "max_spend 2.00 EUR: 0.50 EUR paid for 1 responses so far, 1 of them by an estimate; at most "
        "1.50 EUR more"
    ) in "\n".join(forecast_lines(plan))


def test_what_broke_off_is_told_apart(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": PRICES}
    study.config["max_spend"] = 2
    plan = study.plan()
    line = {"key": "k", "spend": 0.5, "currency": "EUR", "estimated": False}
    cut = {**line, "spend": 0.25, "estimated": True, "cut": True}
    study.write(f"{plan.folder}/spend.jsonl", json.dumps(line) + "\n" + json.dumps(cut) + "\n")
    assert (
        "max_spend 2.00 EUR: 0.75 EUR paid for 1 responses so far; 0.25 EUR of it for 1 broken "
        "answer, by an estimate; at most 1.25 EUR more"
    ) in "\n".join(forecast_lines(plan))


def test_what_the_limit_does_not_hold_is_said(study: Study) -> None:
    study.write("helper.py", "")
    endpoint = {**CHAT["endpoint"], "wire": "anthropic-messages"}
    argv = ["python", "helper.py"]
    asks = {"adapter": "program", "code": ["helper.py"], "argv": argv, "endpoint": endpoint}
    study.agents["one"] = {**asks, "prices": PRICES}
    study.agents["two"] = {"adapter": "command", "argv": ["/bin/true"]}
    words = "writes into its cache is counted as input; cure: prices.cache_write_per_million"
    assert "max_spend" not in "\n".join(forecast_lines(study.plan())), "there is no limit"
    study.config["max_spend"] = 2
    told = "\n".join(forecast_lines(study.plan()))
    assert f"max_spend: what the endpoint of one {words}" in told
    assert "max_spend: what two may spend and report is not counted" in told
    study.agents["one"]["prices"] = {**PRICES, "cache_write_per_million": 5}
    assert words not in "\n".join(forecast_lines(study.plan()))


def test_the_limit_of_money_is_no_control(study: Study) -> None:
    study.agents["one"] = {**CHAT, "policy": "resample", "prices": PRICES}
    without = study.plan()
    study.config["max_spend"] = {"amount": 3, "currency": "EUR"}
    limited = study.plan()
    assert (limited.digest, limited.view_digest) == (without.digest, without.view_digest)
    assert limited.cells == without.cells


def test_the_forecast_tells_what_is_to_do_and_the_next_command(study: Study) -> None:
    study.config = changed(CONFIG, "responses.record", "records/mine.jsonl.gz")
    plan = study.plan()
    lines = list(forecast_lines(plan))
    assert lines[0] == f"experiment study {plan.digest[:12]} at {plan.folder}"
    assert lines[1] == "cells 16: 16 runs, 16 of them to do; 16 grades, 16 of them to do"
    assert "record records/mine.jsonl.gz is not there: it counts as empty" in lines[-2]
    assert lines[-1] == "next: snakemake --cores 4"
    make_leaves(plan)
    assert (missing_runs(plan), missing_grades(plan)) == ([], [])
    assert list(forecast_lines(plan))[-1] == "next: snakemake --cores 4", "no table yet"
    study.write(f"{plan.folder}/cells.parquet", b"")
    assert list(forecast_lines(plan))[-1] == "nothing to run; next: frozenbench show"
