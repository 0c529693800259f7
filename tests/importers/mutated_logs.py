"""Logs of every format, and the same with one value in them replaced."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import log_files as logs

Place = tuple[str | int, ...]
_HOLE = "a value in the place of this text"


def _details(folder: Path) -> Path:
    return logs.put(
        folder / "agent" / "per_instance_details.json", {"t1": logs.detail(True, 3, 0.5)}
    )


def _instance(folder: Path) -> Path:
    patch = dict.fromkeys(("patch_exists", "patch_successfully_applied", "resolved"), True)
    return logs.put(folder / "t1" / "report.json", {"t1": {"patch_is_None": False, **patch}})


def _report(folder: Path) -> Path:
    more: dict[str, Any] = {"error_ids": ["t3"], "incomplete_ids": [], "model_name_or_path": "m"}
    return logs.report(folder, ["t1"], ["t2"], completed_ids=["t1"], **more)


def _hal_by_task(folder: Path) -> Path:
    path = logs.hal_upload(folder, {"t1": 1.0}, successful_tasks=["t1"], failed_tasks=[])
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}
    calls = {"t1": {"call_metadata": [{"usage": usage}, {"usage": usage}], "call_count": 2}}
    log = {**json.loads(path.read_text("utf-8")), "raw_logging_results": calls}
    return logs.put(path, {**log, "wall_clock_times": {"t1": 4}, "task_step_counts": {"t1": 6}})


def _harbor_steps(folder: Path) -> Path:
    path = logs.harbor_trial(folder, "t1")
    log = json.loads(path.read_text("utf-8"))
    step = {"step_name": "one", **{k: log.pop(k) for k in ("agent_result", "agent_execution")}}
    limits = {"agent": {"override_timeout_sec": 60}, "timeout_multiplier": 2}
    return logs.put(path, {**log, "step_results": [step], "config": limits})


def _openhands_short(folder: Path) -> Path:
    line = {"instance_id": "t1", "attempt": 1, "max_attempts": 3, "status": "success"}
    cost = {"input_tokens": 5, "output_tokens": 2, "total_cost": 0.5}
    return logs.put(folder / "output.jsonl", [{**line, "resolved": True, "cost": cost}])


def _openhands_issue(folder: Path) -> Path:
    line = {**logs.openhands_line("t1"), "issue": {"owner": "o", "repo": "r", "number": 5}}
    return logs.put(folder / "output.jsonl", [{**line, "success": True}])


def _swe_agent(folder: Path) -> Path:
    path = logs.swe_agent_trajectory(folder, "t1")
    log = json.loads(path.read_text("utf-8"))
    return logs.put(path, {**log, "replay_config": json.loads(log["replay_config"])})


def _lm_eval(folder: Path) -> Path:
    sample = {"doc_id": 0, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    return logs.lm_eval_samples(folder, [sample, {**sample, "doc_id": 1}])


def _lm_eval_results(folder: Path) -> Path:
    held = {
        "results": {"made_up": {"acc,none": 0.5}},
        "configs": {"made_up": {"metric_list": [{"metric": "acc"}], "filter_list": []}},
        "versions": {},
        "n-shot": {},
        "n-samples": {"made_up": {"effective": 2}},
    }
    return logs.put(folder / "results_2025-01-01T00-00-00.000000.json", held)


def _boards(folder: Path) -> Path:
    details = {"t1": logs.detail(True, 3, 0.5), "t2": logs.detail(False, 3, 0.5)}
    return logs.leaderboards(folder, {"bash-only": [logs.entry("m", 50.0, details)]})


#: Name -> what writes a log of it.
WRITERS: dict[str, Callable[[Path], Path]] = {
    "boards": _boards,
    "details": _details,
    "report": _report,
    "instance": _instance,
    "mini": lambda folder: logs.mini_trajectory(folder, "t1", limits={"step_limit": 30}),
    "messages": lambda folder: logs.put(
        folder / "t1.traj.json", [{"role": "assistant", "content": "x"}]
    ),
    "swe_agent": _swe_agent,
    "inspect": lambda folder: logs.inspect_json(
        folder, [logs.sample(1), logs.sample(2)], token_limit=100, epochs=1
    ),
    "terminal_bench": lambda folder: logs.terminal_bench_run(folder, [logs.trial("t1")], 1.0),
    "trials": lambda folder: logs.put(folder / "trials.jsonl", [logs.trial("t1")]),
    "atif": lambda folder: logs.atif(folder / "trajectory.json"),
    "harbor": lambda folder: logs.harbor_trial(folder, "t1"),
    "harbor_steps": _harbor_steps,
    "openhands": lambda folder: logs.put(
        folder / "output.jsonl", [logs.openhands_line("t1"), logs.openhands_line("t2")]
    ),
    "openhands_short": _openhands_short,
    "openhands_issue": _openhands_issue,
    "openhands_verdicts": lambda folder: logs.openhands_verdicts(folder, {"t1": True}),
    "aider": lambda folder: logs.aider_exercise(folder, "t1", [False, True]),
    "lm_eval": _lm_eval,
    "lm_eval_results": _lm_eval_results,
    "hal": lambda folder: logs.hal_upload(
        folder, {"t1": 1.0}, successful_tasks=["t1"], failed_tasks=[]
    ),
    "hal_by_task": _hal_by_task,
}


def replace_in(path: Path, place: Place, written: str) -> None:
    """Replace one value of a log by another, as JSON text; NaN and 1e400 are written as such."""
    value = content(path)
    inner = value = copy.deepcopy(value)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = _HOLE
    logs.put(path, value)
    path.write_text(path.read_text("utf-8").replace(json.dumps(_HOLE), written), "utf-8")


def content(path: Path) -> Any:
    """Return a log's JSON, a list of its lines for a `.jsonl`."""
    text = path.read_text("utf-8")
    return (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else json.loads(text)
    )


def places(value: Any, before: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a log; of lists that of the first two."""
    if before:
        yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*before, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value[:2]):
            yield from places(inner, (*before, number))
