"""The examples in the documentation of presets and endpoints are what the schemas accept."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
import yaml
from frozenbench.adapters import program
from frozenbench.agent_files import agent_schema, read_agent
from frozenbench.preset_files import OWN, Preset, read_preset, with_preset
from frozenbench.schema import check
from frozenbench.scripted_endpoint import read_script

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "docs" / "presets.md", ROOT / "docs" / "endpoints.md"]
NAME = re.compile(r"# (?P<path>(config/(agents|presets)/)?\w+\.yaml)\n")


def examples() -> dict[str, str]:
    """Return path -> text of every example that is a whole YAML file."""
    found: dict[str, str] = {}
    for path in DOCS:
        for block in re.findall(r"(?:^ {4}.*\n|^\n)+", path.read_text("utf-8"), re.MULTILINE):
            text = textwrap.dedent(block).lstrip("\n")
            for part in re.split(r"(?m)^(?=# (?:config/\w+/)?\w+\.yaml$)", text):
                if match := NAME.match(part):
                    assert match["path"] not in found, "one example a name"
                    found[match["path"]] = part
    return found


EXAMPLES = examples()
PRESETS = [name for name, text in EXAMPLES.items() if "preset:" in text]
AGENTS = [name for name in EXAMPLES if name.startswith("config/agents/") and name not in PRESETS]


def test_the_examples_are_found() -> None:
    assert len(PRESETS) >= 7
    assert len(AGENTS) == 1
    assert f"{OWN}/mine.yaml" in EXAMPLES
    assert "faults.yaml" in EXAMPLES


@pytest.mark.parametrize("name", PRESETS)
def test_an_agent_of_a_preset(name: str) -> None:
    merged = with_preset(yaml.safe_load(EXAMPLES[name]), ROOT, name)
    pinned = {"name": "x", "version": "1", "digest": "0"} | merged.pop("program", {})
    check(agent_schema(program), {**merged, "program": pinned}, name)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of_another_adapter(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(EXAMPLES[name])
    assert read_agent(tmp_path, path.stem).sheet["endpoint"]["model"]


def test_a_preset_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / OWN / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(EXAMPLES[f"{OWN}/mine.yaml"])
    assert isinstance(read_preset(tmp_path, "mine"), Preset)


def test_a_script(tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text(EXAMPLES["faults.yaml"])
    assert len(read_script(tmp_path / "faults.yaml").steps) == 9


def test_the_table_names_every_preset_that_is_shipped() -> None:
    text = DOCS[0].read_text("utf-8")
    for path in (ROOT / "workflow" / "frozenbench" / "presets").glob("*.yaml"):
        preset = read_preset(ROOT, path.stem)
        (row,) = re.findall(rf"(?m)^\| `{path.stem}` \| \d+\.\d+.*$", text)
        assert preset.wire in row
        assert preset.install.split(" (")[0] in row
