"""`frozenbench verify`, on model responses: a run under its seal tells what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, CellProject
from frozenbench import layout
from frozenbench.canonical import canonical_json, read_json
from frozenbench.run_cell import run_cell
from frozenbench.verify import verify_store
from scripted_endpoint import MODEL, says, scripted

Entry = dict[str, Any]


@pytest.fixture
def response(cells: CellProject, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The response that the one run of a store was given."""
    monkeypatch.setenv("VERIFY_KEY", "sk-verify")
    with scripted(says(f"```python app.py\n{RIGHT}```\n")) as endpoint:
        where = {"id": "scripted", "wire": "openai-chat", "model": MODEL}
        where |= {"base_url": endpoint.root, "key_env": "VERIFY_KEY"}
        sheet = {"adapter": "chat", "policy": "oneshot", "temperature": 0.5, "seed": 7}
        cells.agent(None, "asking", **sheet, max_output_tokens=50, endpoint=where)
        plan = cells.plan()
        cell = next(cell for cell in plan.cells if cell.agent == "asking")
        run_cell(*cells.run_inputs(plan, cell))
    (path,) = layout.RESPONSES.glob("??/*.json")
    return path


def answer_edited(entry: Entry) -> None:
    text = json.dumps(entry["response"]).replace("return a + b", "return a - b")
    assert text != json.dumps(entry["response"])
    entry["response"] = json.loads(text)


def seconds_edited(entry: Entry) -> None:
    entry["seconds"] += 1


@pytest.mark.parametrize("edit", [answer_edited, seconds_edited])
def test_an_edited_response_is_named_with_a_run_that_was_given_it(
    response: Path, edit: Callable[[Entry], None]
) -> None:
    assert list(verify_store()) == []
    before = response.read_bytes()
    entry = read_json(response)
    edit(entry)
    response.write_bytes(canonical_json(entry) + b"\n")
    (run,) = layout.RESULTS.glob("runs/*")
    found = list(verify_store())
    assert found == [f"{response}: was changed after run {run.name[:12]} was given it"]
    response.write_bytes(before)
    assert list(verify_store()) == []


def test_a_response_that_no_run_was_given_is_held_to_its_key_alone(response: Path) -> None:
    (run,) = layout.RESULTS.glob("runs/*/run.json")
    run.write_bytes(b"{}")
    entry = read_json(response)
    answer_edited(entry)
    response.write_bytes(canonical_json(entry) + b"\n")
    assert not [line for line in verify_store() if line.startswith(str(response))]
