"""Agent files: sheets and connections, and every error by file, key, value and cure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.agent_files import AgentFile, adapter_names, free_adapters, read_agent
from frozenbench.canonical import BadInput, File, digest, tree_digest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_study import CHAT, CODE, PYTHON, Study, changed

WHERE = "config/agents/one.yaml"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def read(study: Study, sheet: Any) -> AgentFile:
    study.write(WHERE, sheet if isinstance(sheet, str) else yaml.safe_dump(sheet, sort_keys=False))
    return read_agent(study.root, "one")


def refusal(study: Study, sheet: Any) -> str:
    with pytest.raises(BadInput) as caught:
        read(study, sheet)
    told = str(caught.value)
    assert told.startswith(f"{WHERE}: "), told
    assert re.search(r"cure: \S", told), told
    assert str(study.root) not in told
    return told.removeprefix(f"{WHERE}: ")


def test_a_python_agent_s_sheet_holds_its_code_s_digest(study: Study) -> None:
    agent = read(study, {**PYTHON, "salt": "x"})
    path = "config/agents/code/agent.py"
    assert agent.code == {path: File(CODE.encode())}
    assert agent.roots == ("config/agents/code",)
    assert agent.sheet == {
        "adapter": "python",
        "module": "agent",
        "attribute": "propose",
        "salt": "x",
        "code_sha256": tree_digest(agent.code),
    }
    assert (agent.connection, agent.unpinned) == ({}, ())
    assert agent.sheet_digest == digest(agent.sheet)


def test_a_chat_agent_s_sheet_holds_no_address_key_or_price(study: Study) -> None:
    prices = {"currency": "EUR", "input_per_million": 1.5, "output_per_million": 2}
    sheet = changed({**CHAT, "prices": prices}, "endpoint.key_env", "MY_KEY")
    agent = read(study, sheet)
    endpoint = {"id": "here", "wire": "openai-chat", "model": "small-1"}
    assert agent.sheet["endpoint"] == endpoint
    assert "prices" not in agent.sheet
    assert agent.connection["endpoint"] == {
        "base_url": "http://127.0.0.1:1/v1",
        "key_env": "MY_KEY",
    }
    assert agent.connection["prices"] == prices


def test_what_is_frozen_changes_with_the_connection_and_the_key_does_not(study: Study) -> None:
    one = read(study, CHAT)
    other = read(study, changed(CHAT, "endpoint.base_url", "http://127.0.0.1:2/v1"))
    assert one.sheet_digest == other.sheet_digest
    assert one.frozen_digest != other.frozen_digest


@pytest.mark.parametrize(
    ("sheet", "right"),
    [
        (CHAT, ("weights",)),
        (changed(CHAT, "temperature", None), ("temperature", "weights")),
        (changed(CHAT, "seed", None), ("seed", "weights")),
        (changed(CHAT, "endpoint.weights_sha256", "a" * 64), ()),
    ],
)
def test_what_a_model_leaves_open_is_named(study: Study, sheet: Any, right: Any) -> None:
    assert read(study, sheet).unpinned == right


def test_absent_is_absent_and_never_0(study: Study) -> None:
    sheet = changed(changed(CHAT, "temperature", None), "seed", None)
    assert not {"temperature", "seed", "salt", "top_p"} & set(read(study, sheet).sheet)
    assert read(study, {**CHAT, "temperature": 0}).sheet["temperature"] == 0


@pytest.mark.parametrize(
    ("sheet", "told"),
    [
        ({}, "adapter: is missing; cure: one of chat, "),
        ({"adapter": "pyton"}, "adapter: 'pyton' is unknown; did you mean 'python'? known: chat, "),
        ({"adapter": None}, "adapter: 'None' is unknown; known: "),
        ({"adapter": "contract"}, "adapter: 'contract' is unknown"),
        ({"adapter": "proposals"}, "adapter: 'proposals' is unknown"),
        ({"adapter": "noop"}, "adapter: 'noop' is reserved, every experiment runs it by itself"),
        ({"adapter": "reference"}, "adapter: 'reference' is reserved"),
        ({**PYTHON, "modul": "x"}, "modul: unknown key; did you mean 'module'?"),
        ({**PYTHON, "temprature": 1}, "temprature: unknown key; did you mean 'temperature'?"),
        ({**PYTHON, "policy": "oneshot"}, "policy: unknown key"),
        (changed(PYTHON, "module", None), "module: is missing; cure: give module that is imported"),
        (changed(PYTHON, "code", None), "code: is missing"),
        ({**PYTHON, "code": []}, "code: is []; cure: at least 1 item(s)"),
        ({**PYTHON, "code": "x.py"}, "code: is 'x.py'; cure: a value of type array"),
        ({**PYTHON, "code": ["nope.py"]}, "code: 'nope.py' is not there; cure: correct the path"),
        ({**PYTHON, "code": ["../x.py"]}, "code: '../x.py' leaves the project; cure"),
        ({**PYTHON, "code": ["/etc/passwd"]}, "code: '/etc/passwd' leaves the project; cure"),
        ({**PYTHON, "endpoint": CHAT["endpoint"]}, "endpoint: adapter python asks no model itself"),
        ({**PYTHON, "salt": 1}, "salt: is 1; cure: a value of type string"),
        ({**PYTHON, "seed": -1}, "seed: is -1; cure: a value of at least 0"),
        ({**PYTHON, "seed": 1.0}, "seed: is 1.0; cure: a value of type integer"),
        ({**PYTHON, "temperature": True}, "temperature: is True; cure: a value of type number"),
        (
            {**CHAT, "temperature": float("nan")},
            "temperature: is nan; cure: a value of type number",
        ),
        ({**CHAT, "temperature": -0.1}, "temperature: is -0.1; cure: a value of at least 0"),
        (
            {**CHAT, "policy": "guess"},
            "policy: is 'guess'; cure: one of oneshot or resample or rep",
        ),
        ({**CHAT, "top_p": 0}, "top_p: is 0; cure: a value above 0"),
        ({**CHAT, "endpoint": None}, "endpoint: is null; cure: a value of type object"),
        (
            changed(CHAT, "endpoint", None),
            "endpoint: is missing; cure: say where the model answers",
        ),
        (
            changed(CHAT, "endpoint.wire", "grpc"),
            "endpoint.wire: is 'grpc'; cure: one of openai-cha",
        ),
        (
            changed(CHAT, "endpoint.modle", "x"),
            "endpoint: modle: unknown key; did you mean 'model'?",
        ),
        (
            changed(CHAT, "endpoint.model", None),
            "endpoint: model: is missing; cure: give model name",
        ),
        (changed(CHAT, "endpoint.key_env", "a b"), "endpoint.key_env: is 'a b'; cure: text that"),
        (changed(CHAT, "endpoint.key_env", "A\n"), r"endpoint.key_env: is 'A\n'; cure: text that"),
        ({**CHAT, "prices": {"currency": "eur"}}, "prices"),
        (
            {**CHAT, "tool_schema_sha256": "x"},
            "tool_schema_sha256: is 'x'; cure: text that matches",
        ),
        (
            "adapter: python\nadapter: chat\n",
            "line 2: adapter: the key stands twice; cure: keep one",
        ),
        ("- adapter\n", "holds no mapping"),
        ({"adapter": "command", "argv": []}, "argv: is []; cure: at least 1 item(s)"),
        ({"adapter": "command", "argv": "run"}, "argv: is 'run'; cure: a value of type array"),
    ],
    ids=lambda value: ascii(value)[:36],
)
def test_a_wrong_agent_file_is_told_by_key_value_and_cure(
    study: Study, sheet: Any, told: str
) -> None:
    assert refusal(study, sheet).startswith(told)


def test_an_agent_without_a_file_is_told_with_the_nearest(study: Study) -> None:
    study.save()
    with pytest.raises(BadInput) as caught:
        read_agent(study.root, "tow")
    assert str(caught.value) == (
        "config: agents: 'tow' has no file config/agents/tow.yaml; did you mean 'two'? known: one, "
        "two; cure: create it"
    )


def test_code_may_be_files_and_folders_and_caches_are_none(study: Study) -> None:
    study.write("agents/lib/deep/part.py", "1")
    study.write("agents/lib/__pycache__/part.pyc", "2")
    study.write("agents/run.sh", "3", executable=True)
    agent = read(study, {**PYTHON, "code": ["agents/lib", "agents/run.sh"]})
    assert agent.code == {
        "agents/lib/deep/part.py": File(b"1"),
        "agents/run.sh": File(b"3", True),
    }
    assert agent.roots == ("agents/lib", "agents")
    turned = read(study, {**PYTHON, "code": ["agents/run.sh", "agents/lib"]})
    assert turned.code == agent.code
    assert turned.sheet_digest != agent.sheet_digest, "another module may be imported"


def test_code_that_is_a_link_is_refused(study: Study) -> None:
    aside = study.write("aside.py", CODE)
    (study.root / "link.py").symlink_to(aside)
    told = refusal(study, {**PYTHON, "code": ["link.py"]})
    assert told.startswith("code: 'link.py' passes a link; cure: a real file or folder")


def test_the_shipped_agents_are_read() -> None:
    root = Path(__file__).parents[1]
    names = sorted(path.stem for path in (root / "config/agents").glob("*.yaml"))
    assert {"keep_mutating", "write_once"} <= set(names)
    for name in names:
        assert read_agent(root, name).name == name


def test_every_adapter_keeps_its_contract() -> None:
    from importlib import import_module

    from frozenbench.outcomes import METERS

    assert set(free_adapters()) | {"noop", "reference"} == set(adapter_names())
    for name in adapter_names():
        module = import_module(f"frozenbench.adapters.{name}")
        assert set(METERS) >= module.METERS
        assert "wall_clock" in module.METERS, "every agent needs a clock"
        assert callable(module.check)
        assert callable(module.open_agent)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
KEYS = st.sampled_from([*CHAT, *PYTHON, "argv", "salt", "prices", "url", "version"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120)
@given(st.sampled_from([CHAT, PYTHON, {}]), st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_mapping_gives_an_agent_or_a_readable_refusal(
    study: Study, good: dict[str, Any], change: dict[str, Any]
) -> None:
    told = ""
    try:
        assert re.fullmatch("[0-9a-f]{64}", read(study, {**good, **change}).sheet_digest)
    except BadInput as error:
        told = str(error)
    assert not told or re.fullmatch(f"{WHERE}: .*", told)
