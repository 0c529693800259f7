"""`frozenbench sandbox`: a table, JSON, and a refusal below the level that is asked for."""

from __future__ import annotations

import json

import pytest
from frozenbench.cli import main
from frozenbench.sandbox import LEVELS, measure


def test_the_table_names_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox"]) == 0
    table, _, cures = capsys.readouterr().out.partition("\n\n")
    told = measure()
    lines = {line[: line.index("  ")]: line for line in table.splitlines()}
    assert lines["isolation"].endswith(told.level)
    for name in ("kernel", "bubblewrap", "seccomp filter", "user of boxes", "work folder"):
        assert name in lines
    assert (told.bubblewrap or "none") in lines["bubblewrap"]
    if not told.memory_cgroup:
        assert "total memory" in cures or told.level == "process"


def test_json_holds_the_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["level"] == measure().level
    assert told["limits"]["work_files"] == 50_000
    assert isinstance(told["missing"], dict)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_given_or_refused(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    enough = LEVELS.index(measure().level) >= LEVELS.index(level)
    assert main(["sandbox", "--level", level]) == (0 if enough else 3)
    said = capsys.readouterr()
    assert bool(said.out) == enough
    if not enough:
        assert f"isolation: {level}" in said.err
        assert "cure:" in said.err


def test_an_unknown_level_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "--level", "vm"]) == 2
    assert "one of none, process" in capsys.readouterr().err
