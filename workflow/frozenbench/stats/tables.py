"""The columns of the statistics tables, and their bytes as Parquet and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from frozenbench.canonical import canonical_json

Row = Mapping[str, Any]

_TYPES: dict[str, pa.DataType] = {
    "s": pa.string(),
    "i": pa.int64(),
    "f": pa.float64(),
    "b": pa.bool_(),
}


def _columns(text: str) -> tuple[tuple[str, pa.DataType], ...]:
    """Read `name:type` words, type one of s, i, f, b."""
    return tuple((name, _TYPES[kind]) for name, kind in (word.split(":") for word in text.split()))


#: One row for each slice, agent and budget.
SUMMARY = _columns(
    """
    slice:s agent:s budget:s axis_value:f n:i n_tasks:i repeats:i weight_total:i effective_n:f
    pass_rate:f pass_low:f pass_high:f pass_rate_strict:f
    weighted_pass_rate:f weighted_low:f weighted_high:f fail_test_rate:f assume_rate:f
    exhaust_rate:f exhaust_low:f exhaust_high:f error_rate:f
    exhaust_rate_tool_calls:f exhaust_rate_edit_rounds:f exhaust_rate_tokens:f
    exhaust_rate_wall_clock:f pass_at_cap:i
    n_without_exhausted:i pass_rate_without_exhausted:f weighted_pass_rate_without_exhausted:f
    mean_tool_calls:f mean_tool_calls_n:i mean_edit_rounds:f mean_edit_rounds_n:i
    median_seconds:f median_tokens:f total_tokens:i tokens_n:i tokens_missing:i
    spend:f spend_n:i currency:s rank:i rank_low:i rank_high:i rank_unweighted:i
    """
)

#: One row for each slice, pair of agents and budget.
CONTRASTS = _columns(
    """
    slice:s agent_a:s agent_b:s budget:s axis_value:f n_tasks:i rate_a:f rate_b:f delta:f
    statistic:i discordant:i p:f p_holm:f rejected:b low:f high:f interval:s
    band_low:f band_high:f n_for_80_power:i
    """
)

#: One row for each crossing; a confirmed flip is the crossing that it is marked at.
FLIPS = _columns(
    """
    slice:s agent_a:s agent_b:s ladder:s budget_from:s budget_to:s kind:s support:f
    confirmed_from:s confirmed_to:s old_leader:s new_leader:s lead:b
    """
)

#: One row for each slice, agent and ladder with two or more caps.
AREAS = _columns(
    """
    slice:s agent:s ladder:s budget_from:s budget_to:s axis_from:f axis_to:f budgets:i
    area:f area_low:f area_high:f
    """
)

Columns = tuple[tuple[str, pa.DataType], ...]


def parquet_bytes(rows: Sequence[Row], columns: Columns, controls: Mapping[str, Any]) -> bytes:
    """Return a table as Parquet, with `controls` in its metadata: equal input, equal bytes."""
    metadata = {b"frozenbench.controls": canonical_json(controls)}
    schema = pa.schema(list(columns), metadata=metadata)
    arrays = [
        pa.array([row[name] for row in rows], type=kind, from_pandas=False)
        for name, kind in columns
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table(arrays, schema=schema),
        sink,
        compression="zstd",
        version="2.6",
        row_group_size=2**20,
    )
    return bytes(sink.getvalue())


def csv_bytes(rows: Sequence[Row], columns: Columns, naming: Mapping[str, str]) -> bytes:
    """Return a table as CSV (UTF-8, LF), the columns of `naming` last, the same in every row.

    Null is an empty field, a float its shortest exact form, a bool `true` or `false`.

    Raises:
        ValueError: a float is not finite.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [name for name, _ in columns]
    writer.writerow([*names, *naming])
    for row in rows:
        writer.writerow([*(_field(row[name]) for name in names), *naming.values()])
    return text.getvalue().encode("utf-8")


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} in a table")
        return repr(value)
    return str(value)
