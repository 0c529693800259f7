"""Folders of lm-evaluation-harness runs, as lm_eval 0.4.0 and 0.4.13 write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from log_files import put
from reading import by_task, named, read

STAMP = "2025-01-01T00-00-00.000000"


def line(number: int, **metrics: Any) -> dict[str, Any]:
    return {"doc_id": number, "doc": {}, "filter": "none", "metrics": list(metrics), **metrics}


def samples(folder: Path, task: str, lines: Sequence[Any]) -> Path:
    return put(folder / f"samples_{task}_{STAMP}.jsonl", list(lines))


def results(folder: Path, task: str, rate: float, due: int) -> Path:
    held = {
        "results": {task: {"alias": task, "acc,none": rate, "acc_stderr,none": 0.1}},
        "configs": {task: {"metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]}},
        "versions": {task: 1},
        "n-shot": {task: 0},
        "n-samples": {task: {"original": 100, "effective": due}},
        "config": {"model": "hf", "random_seed": 0, "gen_kwargs": {"temperature": 0.5}},
        "lm_eval_version": "0.4.13",
        "model_name": "model-l",
    }
    return put(folder / f"results_{STAMP}.json", held)


def test_results_beside_samples_state_the_run(tmp_path: Path) -> None:
    samples(tmp_path, "mc", [line(0, acc=1.0, acc_norm=0.0), line(1, acc=0.0, acc_norm=1.0)])
    results(tmp_path, "mc", 0.5, 2)
    found = read(tmp_path)
    assert {task: row.solved for task, row in by_task(found).items()} == {
        "mc/0": True,
        "mc/1": False,
    }
    (stated,) = found.stated.values()
    assert (stated["temperature"], stated["seed"]) == ("0.5", "0")
    assert stated["harness version"] == "lm_eval 0.4.13"
    assert named(found, "several_scorers") == (f"mc of {tmp_path.name}: acc counts, not acc_norm",)
    kinds = {notice.kind for notice in found.notices}
    assert kinds == {"several_scorers"}


def test_samples_that_lack_rows_are_named(tmp_path: Path) -> None:
    samples(tmp_path, "mc", [line(0, acc=1.0)])
    results(tmp_path, "mc", 0.75, 4)
    found = read(tmp_path)
    assert "1 of 4 rows" in named(found, "unfinished_log")[0]
    assert "published 75 %" in named(found, "contradiction")[0]


def test_results_without_samples_are_named(tmp_path: Path) -> None:
    results(tmp_path, "mc", 0.75, 4)
    assert f"no samples_mc_{STAMP}.jsonl" in named(read(tmp_path), "no_rows")[0]


def test_a_verdict_counts_before_other_metrics(tmp_path: Path) -> None:
    found = read(
        samples(tmp_path, "g", [line(0, bleu=1, exact_match=0), line(1, bleu=0, exact_match=1)])
    )
    assert [row.solved for row in found.rows] == [False, True]


def test_a_metric_that_is_no_verdict_is_no_grade(tmp_path: Path) -> None:
    found = read(samples(tmp_path, "p", [line(0, word_perplexity=[-0.8, 1])]))
    assert [(row.solved, row.error) for row in found.rows] == [(None, "unclear_grade")]


def test_the_first_releases_wrote_one_list(tmp_path: Path) -> None:
    path = tmp_path / "model" / "args_task.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps([line(0, acc=1.0), line(1, acc=0.0)], indent=2), "utf-8")
    assert [row.solved for row in read(path).rows] == [True, False]
