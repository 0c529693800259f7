"""What is generated from the dataclasses agrees with them, and with what is read and written."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from frozenbench.agent_files import free_adapters
from frozenbench.canonical import BadInput
from frozenbench.controls import Agent, Config
from frozenbench.grade.evidence import Verdict
from frozenbench.packs.model import PackLine
from frozenbench.schema import build
from frozenbench.schema_files import (
    FOLDER,
    README,
    key_rows,
    key_tables,
    schemas,
    with_tables,
    write,
    yaml_text,
)
from small_study import ALPHA, BETA, CHAT, CONFIG, PYTHON, changed

ROOT = Path(__file__).parents[1]
NAMES = ["config", "import", "pack-line", "agent", "verdict"]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_file_is_what_the_dataclasses_give(name: str) -> None:
    """If this fails: python -m frozenbench.schema_files."""
    text = (ROOT / FOLDER / f"{name}.schema.yaml").read_text("utf-8")
    assert text == yaml_text(schemas()[name])


def test_there_are_no_other_schema_files() -> None:
    there = {path.name for path in (ROOT / FOLDER).iterdir()}
    assert there == {f"{name}.schema.yaml" for name in NAMES}
    assert set(schemas()) == set(NAMES)


def test_the_readme_s_tables_are_what_the_dataclasses_give() -> None:
    """If this fails: python -m frozenbench.schema_files."""
    text = (ROOT / README).read_text("utf-8")
    assert with_tables(text, "config/README.md") == text


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema_and_closed(name: str) -> None:
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    loaded = yaml.safe_load(yaml_text(schema))
    assert loaded == json.loads(json.dumps(schema))
    assert "&id" not in yaml_text(schema), "each part can be read alone"


def validates(name: str, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schemas()[name]).is_valid(value))


def test_shipped_files_fit_their_schemas() -> None:
    for path in sorted((ROOT / "config").glob("*.yaml")):
        held = yaml.safe_load(path.read_text("utf-8"))
        assert validates("import" if "source" in held else "config", held), path.name
    for path in sorted((ROOT / "config" / "agents").glob("*.yaml")):
        assert validates("agent", yaml.safe_load(path.read_text("utf-8"))), path.name
    for path in sorted((ROOT / "packs").glob("*/pack.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            assert validates("pack-line", json.loads(line)), path


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("config", CONFIG, True),
        ("config", {**CONFIG, "more": 1}, False),
        ("config", changed(CONFIG, "budgets.0.max_seconds", None), False),
        ("pack-line", ALPHA, True),
        ("pack-line", BETA, True),
        ("pack-line", {**ALPHA, "task_id": "beta"}, False),
        ("pack-line", changed(ALPHA, "grade", None), False),
        ("pack-line", {**ALPHA, "weight": 0}, False),
        ("agent", PYTHON, True),
        ("agent", CHAT, True),
        ("agent", {**PYTHON, "policy": "oneshot"}, False),
        ("agent", {"adapter": "noop"}, False),
    ],
)
def test_the_schemas_tell_right_from_wrong(name: str, value: Any, right: bool) -> None:
    assert validates(name, value) is right


def test_the_schema_of_agents_has_one_branch_for_each_adapter() -> None:
    branches = schemas()["agent"]["oneOf"]
    assert [branch["title"] for branch in branches] == list(free_adapters())
    for branch in branches:
        assert branch["properties"]["adapter"]["const"] == branch["title"]


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(True, expected=2, passed=2, ids=("a", "b")),
        Verdict(False, broken=True, note="did not start"),
        Verdict(False, failure="assertion", expected=None, passed=None),
    ],
)
def test_a_stored_verdict_fits_its_schema(verdict: Verdict) -> None:
    stored = {"verdict": asdict(verdict), "seconds": 0.5, "log": "x"}
    assert validates("verdict", json.loads(json.dumps(stored)))
    assert not validates("verdict", {**stored, "verdict": {"green": True}})


@pytest.mark.parametrize("cls", [Config, Agent, PackLine])
def test_every_control_carries_its_meaning(cls: Any) -> None:
    for row in key_rows(cls):
        assert row.meaning.strip(), row.key
        assert row.default, row.key
        assert row.enters, row.key


def test_a_table_names_every_key_of_its_file() -> None:
    tables = key_tables()
    for row in [*key_rows(Config)]:
        assert f"| `{row.key}` |" in tables["config"]
    assert "| `budgets[].max_tokens` | input and output tokens" in tables["config"]
    assert "| tokens | absent | run key |" in tables["config"]
    assert "| `endpoint.base_url` | root of an endpoint" in tables["agent"]
    adapters = {f"adapter {name}" for name in free_adapters()}
    assert set(tables) == {"config", "agent", "import", *adapters}


def test_a_default_in_the_table_is_the_default() -> None:
    config = build(Config, CONFIG, "here")
    rows = {row.key: row.default for row in key_rows(Config)}
    for field in dataclasses.fields(Config):
        value = getattr(config, field.name)
        if field.name in rows and field.name not in CONFIG:
            told = "absent" if value is None else f"`{str(value).lower()}`"
            if not isinstance(value, tuple):
                assert rows[field.name] == told, field.name


@pytest.mark.parametrize("text", ["", "<!-- begin config: generated -->"])
def test_a_readme_without_its_places_is_told(tmp_path: Path, text: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)
    with pytest.raises(BadInput, match=r"README\.md: the lines .*begin config.* are missing; cure"):
        write(tmp_path / "schemas", readme)
    readme.unlink()
    with pytest.raises(BadInput, match=r"README\.md: is not there; cure: create it"):
        write(tmp_path / "schemas", readme)


def test_the_command_writes_what_is_there(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    current = (ROOT / README).read_text("utf-8")
    generated = "| s | **required** | run key |"
    assert generated in current
    readme.write_text(current.replace(generated, "| s | old |"), encoding="utf-8")
    argv = [sys.executable, "-m", "frozenbench.schema_files", str(tmp_path / "s"), str(readme)]
    subprocess.run(argv, check=True)
    assert readme.read_text("utf-8") == current
    for name in NAMES:
        text = (tmp_path / "s" / f"{name}.schema.yaml").read_text("utf-8")
        assert text == (ROOT / FOLDER / f"{name}.schema.yaml").read_text("utf-8")
    argv[-1] = str(tmp_path / "nope.md")
    told = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert told.stderr.startswith("schema_files: ")
