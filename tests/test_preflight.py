"""What refuses an experiment before anything starts, each with its cure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frozenbench import layout
from frozenbench.canonical import BadInput, FrozenbenchError, Refused, digest
from frozenbench.forecast import check_keys
from frozenbench.gateway.record import Entry, Store, key_material
from frozenbench.preflight import check_cores, physical_cores
from small_study import CHAT, CONFIG, PACK, PYTHON, Study, changed


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.delenv("EXPECTED_PACK_SHA256", raising=False)
    return Study(tmp_path)


def refusal(study: Study, kind: type[FrozenbenchError]) -> str:
    with pytest.raises(kind) as caught:
        study.preflight()
    told = str(caught.value)
    assert "cure: " in told
    assert str(study.root) not in told
    return told


def test_a_good_experiment_may_start(study: Study) -> None:
    plan = study.plan()
    assert study.preflight().digest == plan.digest


@pytest.mark.parametrize("which", ["digest", "file_sha256"])
@pytest.mark.parametrize("where", ["config", "environment"])
def test_either_digest_pins_the_pack(
    study: Study, monkeypatch: pytest.MonkeyPatch, which: str, where: str
) -> None:
    pin = getattr(study.plan().pack, which)
    if where == "config":
        study.config = changed(CONFIG, "pack.expected_sha256", pin)
    else:
        monkeypatch.setenv("EXPECTED_PACK_SHA256", pin)
    study.preflight()
    study.lines[0]["weight"] = 3
    told = refusal(study, Refused)
    origin = {
        "config": "config/config.yaml: pack.expected_sha256",
        "environment": "environment variable EXPECTED_PACK_SHA256",
    }[where]
    assert told.startswith(f"{origin}: is {pin}, but {PACK} has digest ")
    assert "the pack drifted and nothing starts" in told


def test_an_empty_pin_pins_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPECTED_PACK_SHA256", "")
    study.config["pack"]["expected_sha256"] = None
    study.preflight()


def test_the_pack_s_digest_as_a_pin_lets_a_reordered_file_pass(study: Study) -> None:
    pack = study.plan().pack
    study.lines.reverse()
    study.config["pack"]["expected_sha256"] = pack.digest
    study.preflight()
    study.config["pack"]["expected_sha256"] = pack.file_sha256
    assert "drifted" in refusal(study, Refused)


def test_another_python_than_the_pack_s_is_refused(study: Study) -> None:
    study.info["python"] = ">=3.99"
    told = refusal(study, Refused)
    assert told.startswith(f"{PACK}/pack.json: python: wants >=3.99, this is 3.")


@pytest.mark.parametrize("key", ["tasks", "allow_open_network"])
def test_a_task_that_the_pack_has_not_is_told(study: Study, key: str) -> None:
    study.config[key] = ["alpha", "bata"]
    assert refusal(study, BadInput).startswith(
        f"config/config.yaml: {key}: 'bata' is not in the pack; did you mean 'beta'? known: alpha"
    )


def test_an_open_network_is_refused_unless_it_is_allowed_by_name(study: Study) -> None:
    study.lines[0]["network"] = "open"
    told = refusal(study, Refused)
    assert told.startswith("config/config.yaml: task 'alpha' wants an open network; cure: list it")
    study.config["allow_open_network"] = ["beta"]
    assert "'alpha'" in refusal(study, Refused)
    study.config["allow_open_network"] = ["alpha"]
    study.preflight()


def test_an_open_task_outside_the_subset_asks_for_nothing(study: Study) -> None:
    study.lines[0]["network"] = "open"
    study.config["tasks"] = ["beta"]
    study.preflight()


def test_two_equal_sheets_are_one_agent_under_two_names(study: Study) -> None:
    study.agents["two"] = {**PYTHON}
    told = refusal(study, Refused)
    assert told.startswith("config/config.yaml: agents: 'two' and 'one' have equal sheets")
    assert told.endswith("cure: give one of them a `salt`")
    study.agents["two"] = {**PYTHON, "salt": "again"}
    study.preflight()


@pytest.mark.parametrize(
    "other",
    [
        {**CHAT, "temperature": 1.0},
        {**CHAT, "history_rounds": 1},
        changed(CHAT, "endpoint.base_url", "http://127.0.0.1:9/v1"),
        changed(CHAT, "endpoint.key_env", "OTHER"),
    ],
    ids=["1.0", "a default", "address", "key name"],
)
def test_sheets_that_differ_in_no_control_are_equal(study: Study, other: dict[str, Any]) -> None:
    study.agents = {"one": {**CHAT, "temperature": other["temperature"]}, "two": other}
    if other["temperature"] == 1.0:
        study.agents["one"]["temperature"] = 1
    assert "have equal sheets" in refusal(study, Refused)


@pytest.mark.parametrize("cap", ["max_tool_calls", "max_edit_rounds", "max_tokens"])
def test_a_cap_that_an_adapter_cannot_enforce_is_told(study: Study, cap: str) -> None:
    study.agents["two"] = {"adapter": "command", "argv": ["python", "agent.py"]}
    study.config["budgets"] = [{"name": "b", cap: 9, "max_seconds": 9}]
    study.config["budget_axis"] = cap
    told = refusal(study, BadInput)
    assert told == (
        f"config/config.yaml: budgets: 'b' caps {cap}, which adapter 'command' (agent 'two') cannot "
        "enforce from outside; cure: remove the cap, or the agent; command enforces wall_clock"
    )


def test_an_agent_in_a_process_of_ours_must_be_accepted_by_name(study: Study) -> None:
    study.agents["two"] = {"adapter": "http", "version": "1", "url": "http://127.0.0.1:1/"}
    told = refusal(study, Refused)
    assert told.startswith("config/config.yaml: agents: 'two' runs in a process of yours")
    assert "accept_unsandboxed: [two]" in told
    study.config["accept_unsandboxed"] = ["two"]
    assert study.preflight().controls["accepted"] == {"accept_unsandboxed": ["two"]}


@pytest.mark.parametrize("place", ["salt", "endpoint.id", "endpoint.base_url"])
def test_a_key_that_stands_in_an_agent_s_file_is_refused(
    study: Study, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    study.agents["two"] = changed(CHAT, "endpoint.key_env", "PLANTED_KEY")
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    study.preflight()
    text = "http://127.0.0.1/sk-planted" if place == "endpoint.base_url" else "sk-planted"
    study.agents["two"] = changed(study.agents["two"], place, text)
    told = refusal(study, BadInput)
    assert told.startswith("config/agents/two.yaml: holds the key that is in PLANTED_KEY")
    assert "sk-planted" not in told


def test_a_key_that_stands_in_an_agent_s_code_is_refused(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = study.write("config/agents/code/agent.py", "KEY = 'sk-planted'\n")
    program = {
        "adapter": "program",
        "argv": ["python", "x"],
        "code": [str(code.relative_to(study.root))],
    }
    endpoint = {**CHAT["endpoint"], "key_env": "PLANTED_KEY"}
    study.config["agents"] = ["one"]
    study.agents = {"one": {**program, "endpoint": endpoint}}
    study.preflight()
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    assert "one.yaml: code: holds the key that is in PLANTED_KEY" in refusal(study, BadInput)


def test_runs_that_must_ask_do_not_start_without_their_key(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(study.root)
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    check_keys(study.preflight())
    study.agents["two"] = changed(CHAT, "endpoint.key_env", "PLANTED_KEY")
    plan = study.preflight()
    told = (
        r"config/agents/two\.yaml: endpoint\.key_env: .*PLANTED_KEY is not set, .* 4 runs.*; cure: "
    )
    with pytest.raises(BadInput, match=told):
        check_keys(plan)
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    check_keys(plan)
    monkeypatch.delenv("PLANTED_KEY")
    material = key_material(
        endpoint=digest(plan.agents["two"].sheet["endpoint"]),
        task=next(iter(plan.task_by_digest)),
        repeat=0,
        salt=None,
        request={"model": "small-1"},
        occurrence=0,
    )
    answer = {"choices": [{"message": {"content": "x"}}]}
    Store(layout.RESPONSES).put(
        Entry(digest(material), material, answer, 1.0, "2026-01-01", None, "small-1")
    )
    check_keys(plan)  # what is recorded may be all that it asks for


def test_an_axis_in_seconds_needs_a_strict_clock(study: Study) -> None:
    study.config["budgets"][1]["max_seconds"] = 90
    study.config["budget_axis"] = "max_seconds"
    told = refusal(study, BadInput)
    assert told == (
        "config/config.yaml: clock: is 'guard' with an axis in seconds; cure: clock: strict"
    )
    study.config["clock"] = "strict"
    study.preflight()


@pytest.mark.parametrize("name", ["budget_curve", "marks", "style", "inputs", "__init__"])
def test_a_figure_that_does_not_exist_is_told_with_those_that_do(study: Study, name: str) -> None:
    study.config["figures"] = [name]
    told = refusal(study, BadInput)
    assert told.startswith(f"config/config.yaml: figures: {name!r} is unknown")
    assert "known: budget_curves, outcomes" in told
    assert "marks," not in told.split("known:")[1]


@pytest.mark.parametrize(
    ("clock", "cores", "refused"),
    [("strict", 3, True), ("strict", 2, False), ("guard", 64, False)],
)
def test_a_strict_clock_refuses_more_jobs_than_cores(
    study: Study, clock: str, cores: int, refused: bool
) -> None:
    study.config = changed(CONFIG, "clock", clock)
    plan = study.plan()
    if not refused:
        check_cores(plan, cores, physical=2)
        return
    with pytest.raises(Refused, match=r"3 jobs on 2 physical cores.*cure: snakemake --cores 2"):
        check_cores(plan, cores, physical=2)


CORES = "processor : {}\nphysical id : {}\ncore id : {}\n"


@pytest.mark.parametrize(
    ("cpuinfo", "cores"),
    [
        (CORES.format(0, 0, 0) + CORES.format(1, 0, 0), 1),  # two threads of one core
        (CORES.format(0, 0, 0) + CORES.format(1, 1, 0), 2),  # two sockets
        ("processor : 0\nprocessor : 1\n", 2),  # names no cores
        ("", 1),
    ],
)
def test_threads_of_one_core_are_one_core(cpuinfo: str, cores: int) -> None:
    assert physical_cores(cpuinfo) == cores
