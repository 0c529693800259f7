"""Plain rows, as people write them: understood, or refused with what is right."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from frozenbench.importers.documents import decimal
from frozenbench.importers.gather import Imported
from frozenbench.importers.plain import BROKEN
from hypothesis import given
from hypothesis import strategies as st
from log_files import plain_csv, put
from reading import by_task, named, read

HEAD = "agent,task,solved,calls\n"


def table(folder: Path, data: bytes, name: str = "runs.csv") -> Imported:
    path = folder / name
    path.write_bytes(data)
    return read(path)


def test_decimals_are_exact_and_null_is_not_0(tmp_path: Path) -> None:
    text = "agent,task,solved,calls,cost,ran_out\na,t1,true,0,0.10,\na,t2,,,,calls\n"
    rows = by_task(read(plain_csv(tmp_path, text)))
    assert (rows["t1"].use.calls, rows["t1"].use.cost) == (0, Decimal("0.10"))
    assert (rows["t2"].use.calls, rows["t2"].solved, rows["t2"].error) == (None, None, "no_grade")


def test_a_sum_of_floats_keeps_its_digits(tmp_path: Path) -> None:
    line = {"agent": "a", "task": "t", "solved": True, "cost": 0.1 + 0.2}
    (row,) = read(put(tmp_path / "runs.jsonl", [line])).rows
    assert row.use.cost == Decimal("0.30000000000000004")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\xef\xbb\xbfAgent;Task;Solved;Calls\r\na;t;TRUE;3\r\n;;;\r\n", "runs.csv"),
        (b"agent\ttask\tsolved\tcalls\na\tt\ttrue\t3\n", "runs.tsv"),
        (b"agent\ttask\tsolved\tcalls\na\tt\ttrue\t3\n", "runs.csv"),
        (b"agent,task,solved,calls,,\n\na,t,True,3.0,,\n\n", "runs.csv"),
        (b'agent,task,solved,calls,ending\na,t,1,3,"it said:\nenough, now"\n', "runs.csv"),
        (b"task,calls,solved,agent\n t ,3, true ,a\n", "runs.csv"),
    ],
)
def test_what_spreadsheets_write_is_understood(tmp_path: Path, data: bytes, name: str) -> None:
    (row,) = table(tmp_path, data, name).rows
    assert (row.agent, row.task, row.solved, row.use.calls) == ("a", "t", True, 3)
    assert row.ending in (None, "it said: enough, now"), "a remark is one line"


@pytest.mark.parametrize(
    ("text", "told", "cure"),
    [
        ("agent,task,solved,call\na,t,true,1\n", "line 1: call: unknown", "did you mean 'calls'"),
        ("agent,task,solved,calls,calls\na,t,true,1,1\n", "calls stands twice", "in the head"),
        ("agent,task,calls\na,t,1\n", "line 1: solved: is missing", "a column of that name"),
        (HEAD + "a,t,true,-1\n", "line 2: calls: '-1' is not a whole number", "empty where"),
        (HEAD + "a,t,true,1.5\n", "line 2: calls: '1.5' is not a whole number", "empty where"),
        (HEAD + "a,t,true,NaN\n", "line 2: calls: 'NaN' is not a whole number", "empty where"),
        (HEAD + 'a,t,true,"1,200"\n', "'1,200' is not a whole number", "nothing between thousands"),
        ("agent;task;solved;cost\na;t;true;0,5\n", "cost: '0,5' is not a number", "a point before"),
        (HEAD + "a,t,true,1_0\n", "'1_0' is not a whole number", "nothing between thousands"),
        (HEAD + "a,t,true,1 200\n", "'1 200' is not a whole", "nothing between thousands"),
        (HEAD + "a,t,true,1'200\n", '"1\'200" is not a whole', "nothing between thousands"),
        (HEAD + "a,t,true,\uff13\n", "'\uff13' is not a whole number", "digits 0 to 9"),
        (HEAD + "a,t,true,\u0663\n", "'\u0663' is not a whole number", "digits 0 to 9"),
        ("agent,task,solved,cost\na,t,true,1_0.5\n", "'1_0.5' is not a number", "nothing between"),
        ("agent,task,solved,cost\na,t,true,\uff11.5\n", "is not a number", "digits 0 to 9"),
        (HEAD + "a,t,pass,1\n", "solved: 'pass' is neither", "true or false, or empty"),
        (HEAD + "a,,true,1\n", "line 2: task: is empty", "a name in every row"),
        (HEAD + '"a\nb",t,true,1\n', "holds a line break", "one line"),
        ("agent,task,solved,ran_out\na,t,false,timeout\n", "'timeout' is none of", "unknown, or"),
        (HEAD + "a,t,true,1,extra\n", "line 2: has 5 fields, the head 4", "needs quotes"),
        (HEAD + "a,t1,true,1\na,t2,tr", "line 3: has 3 fields, the head 4", "is the file cut?"),
        (
            ",agent,task,solved\n0,a,t,true\n",
            "'0' stands in a column without a name",
            "index=False",
        ),
        (HEAD + 'a,t,"tr"ue,1\n', "line 2: is no CSV", ""),
        (HEAD, "holds no row below its head", ""),
        ("", "line 1: agent: is missing", ""),
    ],
)
def test_a_mistake_is_named_with_its_cure(tmp_path: Path, text: str, told: str, cure: str) -> None:
    found = read(plain_csv(tmp_path, text), "plain")
    assert not found.rows
    (message,) = named(found, "broken_file")
    assert told in message
    assert cure in message


def test_a_file_in_another_coding_is_named(tmp_path: Path) -> None:
    found = table(tmp_path, f"{HEAD}a,t,true,1\n".encode("utf-16"))
    assert "cure: save it as UTF-8" in named(found, "broken_file")[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "agent,task,outcome\na,t,pass\n"),
        ("r.jsonl", json.dumps({"agent": "a", "task": "t", "passed": True})),
    ],
)
def test_rows_that_lack_a_column_are_told_which(tmp_path: Path, name: str, text: str) -> None:
    found = table(tmp_path, text.encode(), name)
    (message,) = named(found, "unknown_file")
    assert "its head lacks solved" in message
    assert "terminal_bench" in message, "the formats are listed"


def test_lines_of_json_are_checked_one_by_one(tmp_path: Path) -> None:
    line = {"agent": "a", "task": "t", "solved": True}
    for second, told in (([1], "is no object"), (line | {"moon": 1}, "moon: unknown column")):
        path = put(tmp_path / "runs.jsonl", [line, second])
        assert f"line 2: {told}" in named(read(path), "broken_file")[0]


def test_a_repeat_that_stands_twice_is_no_further_repeat(tmp_path: Path) -> None:
    head = "agent,task,solved,repeat,calls\n"
    text = f"{head}a,t,true,0,3\na,t,true,0,3\na,t,false,1,3\na,t,true,1,3\n"
    found = read(plain_csv(tmp_path, text))
    assert [(row.repeat, row.solved) for row in found.rows] == [(0, True), (1, False)]
    assert len(named(found, "duplicate")) == len(named(found, "contradicting_duplicate")) == 1


def test_rows_without_a_number_are_repeats_in_their_order(tmp_path: Path) -> None:
    found = read(plain_csv(tmp_path, HEAD + "a,t,true,3\na,t,false,3\n"))
    assert [(row.repeat, row.solved) for row in found.rows] == [(0, True), (1, False)]


NONE = [
    "",
    "0",
    "0.0",
    "false",
    "False",
    "FALSE",
    "no",
    "n",
    "none",
    "null",
    "NaN",
    "N/A",
    "-",
    "off",
]
EMPTY: list[object] = [None, False, 0, 0.0, "", "false", [], {}]
BARE = ["1", "1.0", "true", "True", "yes", "Y", "on"]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *((word, None) for word in NONE),
        *((word, BROKEN) for word in BARE),
        ("no space left", "no space left"),
        ("137", "137"),
        ("0 of 3 containers", "0 of 3 containers"),
    ],
)
def test_an_error_is_a_flag_or_a_text(tmp_path: Path, value: str, error: str | None) -> None:
    (row,) = table(tmp_path, f"agent,task,solved,error\na,t,true,{value}\n".encode()).rows
    assert row.error == error
    (row,) = table(tmp_path, f"agent,task,solved,error\na,t,,{value}\n".encode()).rows
    assert row.error == (error or "no_grade"), "no grade is an ERROR all the same"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *((value, None) for value in EMPTY),
        *((value, BROKEN) for value in (True, 1, 1.0, "true")),
        ({"code": 1}, "{'code': 1}"),
        ("broke\nhere", "broke here"),
    ],
)
def test_so_it_is_in_json(tmp_path: Path, value: object, error: str | None) -> None:
    line = {"agent": "a", "task": "t", "solved": True, "error": value}
    (row,) = read(put(tmp_path / "runs.jsonl", [line])).rows
    assert row.error == error


@given(st.text("0123456789.,_ eE+-\u0663\uff13\u00bd", min_size=1, max_size=6))
def test_a_number_is_read_as_it_is_written_or_not_at_all(text: str) -> None:
    value = decimal(text)
    if value is not None:
        assert re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text.strip(), re.ASCII)
        assert value == Decimal(text.strip())
