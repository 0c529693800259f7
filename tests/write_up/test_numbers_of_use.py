"""What runs used: a number says how many cells it is of, and none is of survivors alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from frozenbench.write_tables import write_tables
from small_experiment_files import files_of
from small_study import Study
from small_table import Rows
from small_write_up import write_up_of_logs

#: Three short runs and one of many calls that used most of all.
LOGS: list[list[Any]] = [
    ["agent", "task", "solved", "calls", "steps", "tokens", "cost", "seconds"],
    *([a, f"t{n}", "true", 2, 2, 100 + n, 0.5, 10] for a in ("one", "two") for n in range(3)),
    *([a, "t3", "true", 8, 8, 9000, 40, 900] for a in ("one", "two")),
]
USE = {"mean_tool_calls", "median_seconds", "median_tokens", "total_tokens", "spend"}


def held(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "numbers.json").read_bytes())["numbers"]
    return found


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return held(write_up_of_logs(tmp_path_factory.mktemp("use"), LOGS))


def of(numbers: dict[str, Any], name: str, agent: str = "one") -> dict[str, Any]:
    """The numbers of an agent, budget -> number."""
    return {
        key.split("/")[2]: number
        for key, number in numbers.items()
        if key.startswith(f"{name}/{agent}/")
    }


def test_a_cut_of_an_import_tells_nothing_of_what_was_used(imported: dict[str, Any]) -> None:
    """The runs that ended before a cut are those that used little."""
    missing = of(imported, "tokens_missing")
    cut = {budget for budget, number in missing.items() if number["value"]}
    whole = set(missing) - cut
    assert cut
    assert whole
    assert {missing[budget]["text"] for budget in cut} <= {"1", "4"}
    for name in USE:
        numbers = of(imported, name)
        for budget in cut:
            assert (numbers[budget]["value"], numbers[budget]["text"]) == (None, "n/a"), name
        for budget in whole:
            assert numbers[budget]["value"] is not None
            assert "cells)" not in numbers[budget]["text"]
    for budget in whole:
        assert of(imported, "total_tokens")[budget]["value"] == 9303
        assert of(imported, "spend")[budget]["text"] == "41.5000"
        assert of(imported, "median_seconds")[budget]["text"] == "10.0"
    partly = [budget for budget in cut if missing[budget]["value"] == 1]
    assert partly
    for budget in partly:
        for name in USE:
            assert "3 of 4 cells tell it" in of(imported, name)[budget]["says"]


def test_what_some_logs_do_not_state_is_no_number_of_an_import(tmp_path: Path) -> None:
    """Not cut by a budget, but which runs state their seconds is not by chance either."""
    logs: list[list[Any]] = [["agent", "task", "solved", "seconds"]]
    logs += [["one", "t1", "true", 1], ["one", "t2", "false", ""]]
    logs += [["two", "t1", "true", 1], ["two", "t2", "false", 3]]
    source = {"format": "auto", "paths": ["logs"]}
    numbers = held(write_up_of_logs(tmp_path, logs, source=source))
    assert [one["text"] for one in of(numbers, "n").values()] == ["2"], "as it was run"
    (seconds,) = of(numbers, "median_seconds").values()
    assert (seconds["value"], seconds["text"]) == (None, "n/a")
    assert "1 of 2 cells tell it" in seconds["says"]
    (other,) = of(numbers, "median_seconds", "two").values()
    assert other["text"] == "2.0"


def test_a_number_of_an_enforced_budget_names_its_cells_where_some_do_not_tell(
    tmp_path: Path,
) -> None:
    def spent(study: Study, rows: Rows) -> None:
        rows.change({"agent": "one", "task": "alpha"}, spend=0.25, currency="USD")
        rows.change({"agent": "two", "task": "beta", "budget": "free"}, seconds=None)

    files = files_of(tmp_path, spent)  # one tells no tokens of beta under `free`
    sheets = {"controls": files.experiment / "controls.json", "view": files.view / "view.json"}
    tables = {name: files.experiment / f"{name}.parquet" for name in ("measured", "cells")}
    write_tables(files.statistics, **sheets, **tables, out=tmp_path / "out")
    numbers = held(tmp_path / "out")
    total = numbers["total_tokens/one/free"]
    assert (total["value"], total["text"]) == (100, "100 (1 of 2 cells)")
    assert numbers["median_tokens/one/free"]["text"] == "100 (1 of 2 cells)"
    assert numbers["tokens_missing/one/free"]["text"] == "1"
    assert numbers["total_tokens/one/calls-1"]["text"] == "200"
    assert numbers["spend/one/free"]["text"] == "0.2500 (1 of 2 cells)"
    assert numbers["spend/two/free"]["text"] == "n/a"
    assert numbers["median_seconds/two/free"]["text"] == "1.5 (1 of 2 cells)"
    assert numbers["median_seconds/one/free"]["text"] == "1.5"
    macros = (tmp_path / "out" / "numbers.tex").read_text("utf-8")
    assert r"\newcommand*{\fbStudyTotalTokensOneFree}{100 (1 of 2 cells)}%" in macros
