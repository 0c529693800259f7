"""`frozenbench import`: one table of the cells' shape, every mark, and an exit status that tells."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from frozenbench.cli import main
from frozenbench.importers.documents import decimal
from frozenbench.table import CELLS, CONTROLS_KEY, MEASURED, metadata_of, read_table
from log_files import aider_board, plain_csv, put

CLEAN = """agent,task,solved,calls,tokens,cost
a,t1,true,2,10,0.10
a,t2,false,5,20,0.20
b,t1,true,4,10,0.30
b,t2,true,9,20,0.30000000000000004
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out" / "imported.parquet"


def run(folder: Path, out: Path, *more: str, text: str = CLEAN) -> int:
    path = plain_csv(folder / "logs", text)
    return main(["import", "auto", str(path), "--out", str(out), *more])


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(path).to_pylist()
    return found


def test_the_table_has_the_cells_columns_and_nulls_where_a_log_cannot_tell(
    tmp_path: Path, out: Path
) -> None:
    assert run(tmp_path, out, "--caps", "0,2,4") == 0
    assert pq.read_schema(out).names == CELLS.names
    assert pq.read_schema(out.with_suffix(".measured.parquet")).names == MEASURED.names
    held = rows(out)
    assert held == sorted(held, key=lambda row: (row["agent"], row["budget"], row["task"]))
    assert {row["budget"] for row in held} == {"calls-0", "calls-2", "calls-4"}
    assert len(held) == 3 * 4, "the denominator is all tasks, at every cap"
    one = next(r for r in held if (r["agent"], r["task"], r["budget"]) == ("b", "t1", "calls-4"))
    told = {"outcome", "reason", "model_calls", "tokens", "cap_tool_calls", "weight", "split"}
    names = {"agent", "task", "budget", "repeat", "control"}
    assert {name for name, value in one.items() if value is not None} == told | names
    assert (one["outcome"], one["model_calls"], one["cap_tool_calls"]) == ("PASS", 4, 4)
    beyond = next(r for r in held if (r["agent"], r["task"], r["budget"]) == ("b", "t2", "calls-4"))
    assert (beyond["outcome"], beyond["tokens"]) == ("EXHAUSTED", None), "use at a cut is not told"


def test_controls_and_marks_are_in_the_metadata(tmp_path: Path, out: Path) -> None:
    run(tmp_path, out)
    source = metadata_of(read_table(out), CONTROLS_KEY)["source"]
    assert len(source["controls_not_stated"]) == len(source["controls_known"]) == 16
    assert source["notices"] == []
    assert source["axis"] == "calls"
    assert source["files"][0]["name"] == "runs.csv", "no place outside the project"


def test_counts_at_every_cap_stand_beside_it(tmp_path: Path, out: Path) -> None:
    run(tmp_path, out)
    counts = rows(out.with_suffix(".counts.parquet"))
    b = {
        row["cap"]: row["passed"] for row in counts if (row["axis"], row["agent"]) == ("cost", "b")
    }
    assert (b["0"], b["0.29"], b["0.3"], b["0.30000000000000004"]) == (0, 0, 1, 2)
    calls = [row["cap"] for row in counts if (row["axis"], row["agent"]) == ("calls", "a")]
    assert calls == [str(number) for number in range(10)], "from 0, every cap"
    assert {row["n"] for row in counts} == {2}


def test_the_same_logs_give_the_same_bytes(tmp_path: Path, out: Path) -> None:
    run(tmp_path, out)
    first = out.read_bytes()
    run(tmp_path, out)
    assert out.read_bytes() == first


def test_something_that_needs_a_look_gives_status_1(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, out, text=CLEAN + "a,t3,,1,1,1\nb,t3,true,1,1,1\n") == 1
    told = capsys.readouterr().out
    assert "1 runs without a verdict: ERROR" in told
    assert "a: 1 of 3 = 33.33 % with null grades as not solved; 1 of 2 graded = 50 %" in told
    assert {row["outcome"] for row in rows(out) if row["task"] == "t3"} == {
        "ERROR",
        "PASS",
        "EXHAUSTED",
    }


def test_nothing_usable_gives_status_2_and_no_table(tmp_path: Path, out: Path) -> None:
    path = put(tmp_path / "x.json", {"no": "log"})
    assert main(["import", "auto", str(path), "--out", str(out)]) == 2
    assert main(["import", "auto", str(tmp_path / "gone"), "--out", str(out)]) == 2
    assert main(["import", "moon", str(path), "--out", str(out)]) == 2
    assert not out.exists()


@pytest.mark.parametrize(
    "more",
    [
        ["--axis", "moon"],
        ["--axis", "seconds"],
        ["--caps", "x"],
        ["--limit", "calls"],
        ["--limit", "moon=3"],
        ["--caps", "9", "--limit", "calls=4"],
    ],
)
def test_a_wrong_option_is_one_message_and_status_2(
    tmp_path: Path, out: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, out, *more) == 2
    message = capsys.readouterr().err.strip()
    assert message.startswith("frozenbench import: ")
    assert len(message.splitlines()) == 1
    assert not out.exists()


def test_rates_without_rows_are_printed_and_written(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"model": "m", "dirname": "d", "test_cases": 225, "pass_rate_1": 20.4, "pass_num_1": 46}
    entry |= {"pass_rate_2": 35.6, "pass_num_2": 80}
    path = aider_board(tmp_path, [entry])
    assert main(["import", "aider", str(path), "--out", str(out)]) == 1
    told = capsys.readouterr().out
    assert "m (d): 20.4 % within 1 edit round (46 of 225)" in told
    assert "m (d): 35.6 % within 2 edit rounds (80 of 225)" in told
    assert [(row["cap"], row["passed"]) for row in rows(out)] == [(1, 46), (2, 80)]


def test_agents_that_ran_different_tasks_are_told(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CLEAN + "a,t3,true,1,1,1\n"
    assert run(tmp_path, out, text=text) == 1
    assert "not comparable: tasks" in capsys.readouterr().out
    assert len({row["task"] for row in rows(out)}) == 3
    assert run(tmp_path, out, "--tasks", "common", text=text) == 1
    assert len({row["task"] for row in rows(out)}) == 2
    metric = metadata_of(read_table(out), CONTROLS_KEY)["metric"]
    assert metric == "pass_under_budget_on_common_tasks@1", "another name"


def test_the_command_line_tells_by_its_status(tmp_path: Path, out: Path) -> None:
    path = plain_csv(tmp_path / "logs", CLEAN)
    argv = [sys.executable, "-m", "frozenbench", "import", "plain", str(path), "--out", str(out)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "truncated from finished runs" in done.stdout


@pytest.mark.parametrize("use", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 40, "9" * 19])
def test_a_number_of_no_size_that_a_run_can_have_is_not_computed_with(
    tmp_path: Path, use: str
) -> None:
    """As integers such texts have a thousand million digits: reading them would never end."""
    assert decimal(use) is None
    assert decimal("0") == 0
    assert decimal("1e-30") is not None, "exact costs stay"
    text = f"agent,task,solved,calls\na,t1,true,{use}\na,t2,true,1\n"
    path = plain_csv(tmp_path / "logs", text)
    words = [sys.executable, "-m", "frozenbench", "import", "auto", str(path), "--out", "x.parquet"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "runs.csv" in done.stdout + done.stderr


@pytest.mark.parametrize("axis", ["calls", "tokens", "cost"])
def test_an_integer_beyond_64_bits_in_json_is_named(
    tmp_path: Path, axis: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"agent": "a", "task": f"t{number}", "solved": True, axis: use}
        for number, use in enumerate((9_300_000_000_000_000_000, 3))
    ]
    path = put(tmp_path / "logs" / "runs.jsonl", lines)
    assert main(["import", "auto", str(path.parent), "--out", str(tmp_path / "x.parquet")]) == 2
    said = capsys.readouterr()
    assert f"line 1: {axis}" in said.out + said.err


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_gzip_with_a_broken_body_is_named(
    tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = gzip.compress(b'{"agent": "a", "task": "t", "solved": true, "calls": 1}\n' * 9)
    path = tmp_path / "logs" / f"runs{ending}.gz"
    path.parent.mkdir()
    path.write_bytes(whole[:12] + b"\xff" * 20 + whole[32:])
    status = main(["import", "auto", str(path.parent), "--out", str(tmp_path / "x.parquet")])
    said = capsys.readouterr()
    assert status == 2
    assert f"runs{ending}.gz" in said.out + said.err
