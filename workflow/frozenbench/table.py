"""The two tables of an experiment: their columns, and Parquet files that carry the controls."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from frozenbench.canonical import BadInput, canonical_json

CONTROLS_KEY = b"frozenbench.controls"
RESPONSES_KEY = b"frozenbench.responses"
#: Which table of `frozenbench import` it is; no other table carries this.
IMPORT_KEY = b"frozenbench.import"
NAMES = [("agent", pa.string()), ("task", pa.string()), ("budget", pa.string())]
REPEAT = [("repeat", pa.int32())]

#: One row a cell; nothing in it depends on who ran first, where or how fast.
CELLS = pa.schema(
    [
        *NAMES,
        *REPEAT,
        ("control", pa.bool_()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("cap_hit", pa.string()),
        ("tool_calls", pa.int64()),
        ("edit_rounds", pa.int64()),
        ("model_calls", pa.int64()),
        ("tokens", pa.int64()),
        ("tokens_input", pa.int64()),
        ("tokens_output", pa.int64()),
        ("tokens_cached", pa.int64()),
        ("tokens_undelivered", pa.int64()),
        ("cap_tool_calls", pa.int64()),
        ("cap_edit_rounds", pa.int64()),
        ("cap_tokens", pa.int64()),
        ("cap_wall_clock", pa.float64()),
        ("weight", pa.int32()),
        ("split", pa.string()),
        ("network", pa.string()),
        ("unmetered", pa.bool_()),
        ("tests_expected", pa.int32()),
        ("tests_passed", pa.int32()),
        ("banned_ever", pa.bool_()),
        ("grader_trust", pa.string()),
        ("isolation", pa.string()),
        ("run_key", pa.string()),
        ("grade_key", pa.string()),
        ("task_digest", pa.string()),
        ("grader_digest", pa.string()),
        ("artifact_sha256", pa.string()),
    ]
)

#: The same rows with what was measured: never part of a key or an outcome.
MEASURED = pa.schema(
    [
        *NAMES,
        *REPEAT,
        ("seconds", pa.float64()),
        ("model_seconds", pa.float64()),
        ("startup_seconds", pa.float64()),
        ("grade_seconds", pa.float64()),
        ("spend", pa.float64()),
        ("currency", pa.string()),
        ("infra_retries", pa.int32()),
        ("attempts", pa.int32()),
        ("responses_recorded", pa.int32()),
        ("responses_live", pa.int32()),
        ("machine_class", pa.string()),
        ("isolation_measured", pa.string()),
        ("model_observed", pa.string()),
        ("warm", pa.bool_()),
    ]
)


def sort_key(row: Mapping[str, Any]) -> tuple[str, str, str, int]:
    """Return the order of rows: agent, budget, task, repeat."""
    return row["agent"], row["budget"], row["task"], row["repeat"]


def write_table(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    schema: pa.Schema,
    metadata: Mapping[bytes, Any],
) -> None:
    """Write rows as Parquet, atomically and with the same bytes for the same rows.

    Args:
        path: the file.
        rows: one mapping a row, in their final order.
        schema: the columns.
        metadata: key -> JSON value, stored canonically in the schema's metadata.
    """
    coded = {key: canonical_json(value) for key, value in sorted(metadata.items())}
    table = pa.Table.from_pylist(list(rows), schema=schema.with_metadata(coded))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        pq.write_table(table, temporary, compression="zstd", store_schema=True)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


class TableWriter:
    """Write a table part by part, beside its file; see `written_together`.

    Attributes:
        path: the file.
        placed: whether the new table stands there.
    """

    def __init__(self, path: Path, schema: pa.Schema, metadata: Mapping[bytes, Any]) -> None:
        coded = {key: canonical_json(value) for key, value in sorted(metadata.items())}
        self.path = path
        self.placed = False
        self._schema = schema.with_metadata(coded)
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self._writer: pq.ParquetWriter | None = None

    def open(self) -> None:
        """Start a file beside the one that it will replace."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(self._temporary, self._schema, compression="zstd")

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows, in their final order."""
        assert self._writer is not None, "it is open"
        self._writer.write_table(pa.Table.from_pylist(list(rows), schema=self._schema))

    def close(self) -> None:
        """Write what is left, the end of the file included, which can fail as any part of it."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def place(self) -> None:
        """Put the closed file in place of the old one."""
        self._temporary.replace(self.path)
        self.placed = True

    def discard(self) -> None:
        """Remove what is not in place; a file that cannot be closed is gone all the same."""
        with suppress(OSError, pa.ArrowException):
            self.close()
        self._temporary.unlink(missing_ok=True)


@contextmanager
def written_together(writers: Sequence[TableWriter]) -> Iterator[None]:
    """Open tables, and put all of them in place when each is closed: until then none is changed."""
    try:
        for writer in writers:
            writer.open()
        yield
        for writer in writers:
            writer.close()
        for writer in writers:
            writer.place()
    finally:
        for writer in writers:
            writer.discard()


def read_table(path: Path) -> pa.Table:
    """Read a table with its metadata.

    Raises:
        BadInput: the file is absent, is no Parquet, or carries no controls.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: is not there; cure: run the workflow") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"{path}: is no readable Parquet file ({error})") from None
    if CONTROLS_KEY not in (table.schema.metadata or {}):
        raise BadInput(f"{path}: carries no controls, so no score is read from it")
    return table


def coded_at(path: Path, key: bytes) -> bytes | None:
    """Return what a file's metadata holds at a key, as it is coded; None for any other file."""
    try:
        held = pq.read_schema(path).metadata if path.is_file() else None
    except (pa.ArrowException, OSError):
        return None
    value: bytes | None = (held or {}).get(key)
    return value


def table_rows(table: pa.Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return some columns of a table as rows; equal texts are one object.

    A large experiment has some hundred thousand rows, and the same few names in each.
    """
    held = [_values(table.column(name).combine_chunks()) for name in columns]
    return [dict(zip(columns, values, strict=True)) for values in zip(*held, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    if not pa.types.is_string(column.type):
        found: list[Any] = column.to_pylist()
        return found
    coded = column.dictionary_encode()
    words = coded.dictionary.to_pylist()
    return [None if place is None else words[place] for place in coded.indices.to_pylist()]


def metadata_of(table: pa.Table, key: bytes) -> Any:
    """Return one JSON value of a table's metadata."""
    return json.loads(table.schema.metadata[key])
