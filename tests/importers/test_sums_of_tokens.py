"""A sum of which one part is not told is not told: it would pass at too small a cap."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from log_files import hal_upload, inspect_json, put, sample
from mutated_logs import content
from reading import named, read

WHOLE = {"prompt_tokens": 6, "completion_tokens": 2}
FRESH = {"input_tokens": 6, "output_tokens": 2, "total_tokens": 8}


def _hal(folder: Path, usages: list[Any], by_task: bool) -> Path:
    path = hal_upload(folder, {"t1": 1.0})
    calls: Any = [
        {"id": f"c{n}", "weave_task_id": "t1", "summary": {"usage": {"m": usage}}}
        for n, usage in enumerate(usages)
    ]
    if by_task:
        calls = {"t1": {"call_metadata": [{"usage": usage} for usage in usages]}}
    return put(path, {**content(path), "raw_logging_results": calls})


@pytest.mark.parametrize("by_task", [True, False])
@pytest.mark.parametrize(
    ("second", "tokens", "sent", "received"),
    [
        (WHOLE, 16, 12, 4),
        ({**WHOLE, "prompt_tokens": None}, None, None, 4),
        ({"completion_tokens": 2}, None, None, 4),
        ({"prompt_tokens": 6}, None, 12, None),
        ({}, None, None, None),
        (None, None, None, None),
        ({"input_tokens": 6, "output_tokens": 2, "cache_read_input_tokens": None}, 16, 12, 4),
        ({"input_tokens": 6, "output_tokens": 2, "cache_read_input_tokens": 5}, 21, 17, 4),
    ],
)
def test_calls_of_an_upload(
    tmp_path: Path,
    by_task: bool,
    second: Mapping[str, Any] | None,
    tokens: int | None,
    sent: int | None,
    received: int | None,
) -> None:
    found = read(_hal(tmp_path, [WHOLE, second], by_task))
    use = found.rows[0].use
    assert (use.calls, use.tokens, use.tokens_input, use.tokens_output) == (
        2,
        tokens,
        sent,
        received,
    )
    assert not named(found, "odd_value")


@pytest.mark.parametrize("first", [True, False])
def test_models_of_an_upload_in_any_order(tmp_path: Path, first: bool) -> None:
    usages = [{"prompt_tokens": None, "completion_tokens": 2}, WHOLE]
    found = read(_hal(tmp_path, usages if first else usages[::-1], by_task=False))
    assert found.rows[0].use.tokens is None


@pytest.mark.parametrize(
    ("other", "tokens"),
    [
        (FRESH, 108),
        ({"input_tokens": 900}, None),
        ({**FRESH, "total_tokens": None}, None),
        ({}, None),
        (7, None),
        (None, None),
    ],
)
def test_models_of_a_sample(tmp_path: Path, other: Any, tokens: int | None) -> None:
    usage = {"m": {"total_tokens": 100, "output_tokens": 10}, "n": other}
    found = read(inspect_json(tmp_path, [sample(1, model_usage=usage)]))
    assert found.rows[0].use.tokens == tokens


def test_a_cache_that_one_model_alone_tells_is_told(tmp_path: Path) -> None:
    usage = {"m": FRESH, "n": {**FRESH, "input_tokens_cache_read": 5}}
    use = read(inspect_json(tmp_path, [sample(1, model_usage=usage)])).rows[0].use
    assert (use.tokens, use.tokens_cached) == (16, 5)
