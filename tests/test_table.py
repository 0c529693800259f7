"""The two tables: the columns of PROTOCOL 11, the same bytes for the same rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from frozenbench.canonical import BadInput
from frozenbench.table import (
    CELLS,
    CONTROLS_KEY,
    MEASURED,
    metadata_of,
    read_table,
    sort_key,
    table_rows,
    write_table,
)
from small_experiment_files import Files, files_of


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("table"))


#: Column names by type, in the order of PROTOCOL 11.
COLUMNS = {
    "cells": """
        agent task budget repeat control outcome reason cap_hit
        tool_calls edit_rounds model_calls tokens tokens_input tokens_output tokens_cached
        tokens_undelivered cap_tool_calls cap_edit_rounds cap_tokens cap_wall_clock
        weight split network unmetered tests_expected tests_passed banned_ever grader_trust isolation
        run_key grade_key task_digest grader_digest artifact_sha256
    """,
    "measured": """
        agent task budget repeat seconds model_seconds startup_seconds grade_seconds spend currency
        infra_retries attempts responses_recorded responses_live machine_class isolation_measured
        model_observed warm
    """,
}
TYPES = {
    "int32": """
        repeat weight tests_expected tests_passed infra_retries attempts responses_recorded
        responses_live
    """,
    "int64": """
        tool_calls edit_rounds model_calls tokens tokens_input tokens_output tokens_cached
        tokens_undelivered cap_tool_calls cap_edit_rounds cap_tokens
    """,
    "double": "cap_wall_clock seconds model_seconds startup_seconds grade_seconds spend",
    "bool": "control unmetered banned_ever warm",
}


def test_the_tables_have_the_protocol_s_columns_and_types() -> None:
    assert CELLS.names == COLUMNS["cells"].split()
    assert MEASURED.names == COLUMNS["measured"].split()
    named = {name: kind for kind, names in TYPES.items() for name in names.split()}
    for schema in (CELLS, MEASURED):
        for field in schema:
            assert str(field.type) == named.get(field.name, "string"), field.name


def test_the_same_rows_give_the_same_bytes_with_the_controls_in_them(
    files: Files, tmp_path: Path
) -> None:
    controls = files.rows.controls
    turned = dict(reversed(controls.items()))
    for name, metadata in (("a", controls), ("b", turned)):
        path = tmp_path / name / "cells.parquet"
        rows = files.rows.cells[::-1]
        rows.sort(key=sort_key)
        write_table(path, rows, CELLS, {CONTROLS_KEY: metadata})
    first, second = (tmp_path / name / "cells.parquet" for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    table = read_table(first)
    assert metadata_of(table, CONTROLS_KEY) == controls
    names = ["agent", "budget", "task", "repeat"]
    keys = [tuple(row[name] for name in names) for row in table.to_pylist()]
    assert keys == sorted(keys)
    absent = {row["cap_tool_calls"] for row in table.to_pylist() if row["budget"] == "free"}
    assert absent == {None}, "absent is null, never 0"


def test_a_table_without_controls_is_no_source_of_a_score(tmp_path: Path) -> None:
    path = tmp_path / "cells.parquet"
    with pytest.raises(BadInput, match=r"cells\.parquet: is not there; cure: run the workflow"):
        read_table(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"cells\.parquet: is no readable Parquet file"):
        read_table(path)
    write_table(path, [], CELLS, {})
    with pytest.raises(BadInput, match=r"cells\.parquet: carries no controls"):
        read_table(path)


def test_rows_are_the_table_s_and_equal_texts_are_one_object() -> None:
    names = pa.array(["one", None, "on" + "e"], pa.string())
    table = pa.table({"agent": names, "tokens": pa.array([1, None, 3], pa.int64())})
    rows = table_rows(pa.concat_tables([table, table]), ("tokens", "agent"))
    assert rows == [dict(reversed(row.items())) for row in table.to_pylist() * 2]
    assert rows[0]["agent"] is rows[2]["agent"] is rows[3]["agent"]
    assert table_rows(table.slice(0, 0), ("agent",)) == []
