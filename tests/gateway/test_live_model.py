"""The real engine with the real weights: the shipped agents' endpoint answers, always the same."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.adapters.contract import Cell, ClockFell
from frozenbench.gateway.exchange import ask
from frozenbench.gateway.machine import machine_class
from frozenbench.gateway.record import Store
from scripted_endpoint import model_cell

pytestmark = [pytest.mark.model, pytest.mark.slow]

AGENT = yaml.safe_load(
    (Path(__file__).parents[2] / "config" / "agents" / "resample.yaml").read_text()
)
ENDPOINT = AGENT["endpoint"]
SHEET = {
    **{key: value for key, value in ENDPOINT.items() if key != "server"},
    "server": {key: ENDPOINT["server"][key] for key in ("engine", "context")},
}
TASKS = ("adds two numbers", "reverses a string", "counts vowels", "says whether n is prime")
LONG = "Read this first. " * 60


def live_cell(folder: Path, **changes: Any) -> Cell:
    connection = {"endpoint": {"server": ENDPOINT["server"]}}
    return model_cell(folder, "", sheet={"endpoint": SHEET}, connection=connection, **changes)


def request(number: int) -> dict[str, Any]:
    task = f"{LONG if number % 2 else ''}Write a Python function that {TASKS[number % 4]}."
    return {
        "model": ENDPOINT["model"],
        "messages": [{"role": "user", "content": task}],
        "temperature": 0.8 if number >= 4 else 0,
        "seed": number,
        "max_tokens": 60,
    }


def text(cell: Cell, number: int) -> str:
    body, served, use = ask(cell, request(number), 0)
    assert served.model == ENDPOINT["model"]
    assert use.cached == 0
    assert use.input
    assert use.output
    return str(body["choices"][0]["message"]["content"])


ASK = """
import sys
from pathlib import Path
from test_live_model import live_cell, text
for number in map(int, sys.argv[2:]):
    text(live_cell(Path(sys.argv[1])), number)
"""


def test_the_same_bytes_alone_together_and_after_a_cut(tmp_path: Path) -> None:
    alone = [text(live_cell(tmp_path / "alone"), number) for number in range(8)]
    assert len(set(alone)) == 8
    for number in reversed(range(8)):
        impatient = live_cell(tmp_path / "cut", caps={"wall_clock": 0.3})
        with pytest.raises(ClockFell):
            ask(impatient, {**request(number), "max_tokens": 900, "ignore_eos": True}, 0)
        assert text(live_cell(tmp_path / "after"), number) == alone[number]
    path = ":".join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
    askers = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, str(tmp_path / "together"), *map(str, numbers)],
            env={"PYTHONPATH": path},
        )
        for numbers in ((0, 5, 2), (7, 1, 4), (3, 6), (6, 3, 0))
    ]
    assert [asker.wait(120) for asker in askers] == [0] * 4
    assert [text(live_cell(tmp_path / "together"), number) for number in range(8)] == alone


def test_the_entry_names_our_machine(tmp_path: Path) -> None:
    cell = live_cell(tmp_path)
    _, served, _ = ask(cell, request(0), 0)
    entry = Store(cell.responses).get(served.key)
    assert entry is not None
    assert entry.machine_class == machine_class()
    assert str(Path(sys.prefix)) not in Store(cell.responses).path(served.key).read_text()


def test_a_request_longer_than_the_context(tmp_path: Path) -> None:
    long = {**request(0), "messages": [{"role": "user", "content": "word " * 3000}]}
    body, _, use = ask(live_cell(tmp_path), long, 0)
    assert body["error"]["type"] == "exceed_context_size_error"
    assert use.total == 0
    other = replace(live_cell(tmp_path), connection={})
    assert ask(other, long, 0)[1].recorded
