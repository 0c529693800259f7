"""Small log files of every format, of our own making: one function a format, `write(folder) -> path`."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml


def put(path: Path, value: Any) -> Path:
    """Write JSON, or JSON lines for a list in a `.jsonl`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.suffix == ".jsonl"
    text = "\n".join(map(json.dumps, value)) + "\n" if lines else json.dumps(value)
    path.write_text(text, "utf-8")
    return path


def detail(resolved: bool, calls: int, cost: float) -> dict[str, Any]:
    return {"resolved": resolved, "api_calls": calls, "cost": cost}


def leaderboards(folder: Path, boards: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    held = [{"name": name, "results": list(entries)} for name, entries in boards.items()]
    return put(folder / "leaderboards.json", {"leaderboards": held})


def entry(
    name: str, resolved: float, details: Mapping[str, Any] | None, **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "folder": more.pop("folder", f"2025_{name}"),
        "resolved": resolved,
        "per_instance_details": details,
        "tags": [f"Model: {name}-model"],
        "mini-swe-agent_version": "9.9.9",
        **more,
    }


def mini_trajectory(
    folder: Path,
    task: str,
    status: str | None = "Submitted",
    calls: int = 3,
    cost: float = 0.5,
    limits: Mapping[str, float] | None = None,
    model: str = "model-m",
) -> Path:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "s", "extra": {"timestamp": 100.5}}
    ]
    for number in range(calls):
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        extra = {"timestamp": 101.25 + number, "response": {"usage": usage}}
        messages.append({"role": "assistant", "content": "a", "extra": extra})
    return put(
        folder / task / f"{task}.traj.json",
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "messages": messages,
            "info": {
                "exit_status": status,
                "model_stats": {"instance_cost": cost, "api_calls": calls},
                "mini_version": "2.0.0",
                "config": {
                    "agent": dict(limits or {}),
                    "model": {"model_name": model, "model_kwargs": {"temperature": 0.0}},
                },
            },
        },
    )


def swe_agent_trajectory(
    folder: Path, task: str, status: str | None = "submitted", **stats: Any
) -> Path:
    held = {"instance_cost": 0.25, "total_cost": 99.0, "tokens_sent": 90, "tokens_received": 10}
    log: dict[str, Any] = {
        "environment": "swe_main",
        "trajectory": [{"action": "ls", "observation": "", "execution_time": 0.1}] * 4,
        "history": [{"role": "assistant", "content": "x"}] * 4,
        "info": {"exit_status": status, "model_stats": {**held, "api_calls": 4, **stats}},
        "replay_config": json.dumps(
            {
                "agent": {
                    "model": {"name": "model-s", "per_instance_cost_limit": 2.0, "temperature": 0.5}
                }
            }
        ),
    }
    if status is None:
        log = {"history": log["history"]}
    return put(folder / f"{task}.traj", log)


def report(folder: Path, resolved: Sequence[str], unresolved: Sequence[str], **more: Any) -> Path:
    held = {"resolved_ids": list(resolved), "unresolved_ids": list(unresolved), **more}
    return put(folder / "report.json", held)


def sample(number: int, value: Any = "C", epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": epoch,
        "messages": [{"role": "user"}, {"role": "assistant"}, {"role": "assistant"}],
        "scores": {} if value is None else {"match": {"value": value}},
        "model_usage": {"m/one": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}},
        "events": [{"event": "model"}, {"event": "tool"}, {"event": "model"}, {"event": "model"}],
        "total_time": 9.5,
        "working_time": 4.25,
        **more,
    }


def inspect_header(ids: Sequence[int], **config: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "made_up",
            "model": "m/one",
            "run_id": "r1",
            "dataset": {"sample_ids": list(ids)},
            "config": {"limit": 10, **config},
            "packages": {"inspect_ai": "0.0.1"},
        },
        "results": {"scores": [{"name": "match"}]},
    }


def inspect_json(folder: Path, samples: Sequence[Mapping[str, Any]], **config: Any) -> Path:
    ids = sorted({item["id"] for item in samples})
    return put(folder / "log.json", {**inspect_header(ids, **config), "samples": list(samples)})


def inspect_eval(
    folder: Path, samples: Sequence[Mapping[str, Any]], zstd: bool, ids: Sequence[int] | None = None
) -> Path:
    header = inspect_header(ids or sorted({item["id"] for item in samples}))
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    held = {name: json.dumps(value).encode() for name, value in members.items()}
    held["header.json"] = json.dumps(header).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "log.eval"
    path.write_bytes(_zip_of_zstd(held) if zstd else _zip(held))
    return path


def _zip(members: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return sink.getvalue()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def _zip_of_zstd(members: Mapping[str, bytes]) -> bytes:
    """Write a ZIP whose members have method 93, which the standard library cannot."""
    body, directory = b"", b""
    for name, data in members.items():
        packed, coded = zstd(data), name.encode()
        sizes = struct.pack("<III", zlib.crc32(data), len(packed), len(data))
        common = struct.pack("<HHHHH", 63, 0, 93, 0, 0x21) + sizes
        extra = b"\xfe\xca\x02\x00xx"  # a local header may be longer than that of the directory
        local = b"PK\x03\x04" + common + struct.pack("<HH", len(coded), len(extra)) + coded + extra
        directory += (
            b"PK\x01\x02"
            + struct.pack("<H", 63)
            + common
            + struct.pack("<HHHHHII", len(coded), 0, 0, 0, 0, 0, len(body))
            + coded
        )
        body += local + packed
    count = len(members)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + end


def trial(
    task: str, resolved: bool | None = True, mode: str = "unset", number: int = 1, **more: Any
) -> dict[str, Any]:
    return {
        "trial_name": f"{task}.{number}-of-2",
        "task_id": task,
        "is_resolved": resolved,
        "failure_mode": mode,
        "total_input_tokens": 100,
        "total_output_tokens": 20,
        "agent_started_at": "2025-01-01T00:00:00+00:00",
        "agent_ended_at": "2025-01-01T00:00:02.500000+00:00",
        **more,
    }


def terminal_bench_run(folder: Path, trials: Sequence[Mapping[str, Any]], accuracy: float) -> Path:
    put(folder / "run_metadata.json", {"run_id": "r", "dataset_name": "d", "agent_name": "term"})
    solved = sum(bool(item["is_resolved"]) for item in trials)
    held = {"id": folder.name, "results": list(trials), "n_resolved": solved, "accuracy": accuracy}
    held["resolved_ids"] = [item["task_id"] for item in trials if item["is_resolved"]]
    return put(folder / "results.json", held)


def atif(path: Path, **more: Any) -> Path:
    return put(
        path,
        {
            "schema_version": "ATIF-v1.5",
            "agent": {"name": "arm", "version": "2", "model_name": "model-h"},
            "steps": [
                {"source": "user", "message": "go"},
                {"source": "agent", "tool_calls": [{}, {}], "timestamp": "2025-01-01T00:00:00Z"},
                {"source": "agent", "tool_calls": [{}], "timestamp": "2025-01-01T00:00:03Z"},
            ],
            "final_metrics": {
                "total_prompt_tokens": 50,
                "total_completion_tokens": 5,
                "total_cost_usd": 0.125,
            },
            **more,
        },
    )


def harbor_trial(
    folder: Path, task: str, reward: float | None = 1.0, exception: str | None = None
) -> Path:
    return put(
        folder / f"{task}__abc" / "result.json",
        {
            "task_name": task,
            "trial_name": f"{task}__abc",
            "agent_info": {"name": "arm", "version": "2", "model_info": {"name": "model-h"}},
            "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
            "agent_result": {"n_input_tokens": 40, "n_output_tokens": 4, "cost_usd": 0.5},
            "agent_execution": {
                "started_at": "2025-01-01T00:00:00Z",
                "finished_at": "2025-01-01T00:01:00Z",
            },
            "exception_info": exception and {"exception_type": exception},
        },
    )


def openhands_line(task: str, error: str | None = None, cost: float = 0.75) -> dict[str, Any]:
    return {
        "instance_id": task,
        "metadata": {
            "agent_class": "CodeAct",
            "llm_config": {"model": "model-o", "temperature": 0.0},
            "max_iterations": 30,
        },
        "history": [
            {"id": 0, "source": "agent", "action": "system", "timestamp": "2025-01-01T00:00:00"},
            {"id": 1, "source": "user", "action": "message", "timestamp": "2025-01-01T00:00:01"},
            {"id": 2, "source": "agent", "action": "run", "timestamp": "2025-01-01T00:00:02"},
            {"id": 3, "source": "agent", "observation": "run", "timestamp": "2025-01-01T00:00:03"},
            {"id": 4, "source": "agent", "action": "finish", "timestamp": "2025-01-01T00:00:09"},
        ],
        "metrics": {
            "accumulated_cost": cost,
            "accumulated_token_usage": {"prompt_tokens": 30, "completion_tokens": 3},
            "token_usages": [{}, {}, {}],
        },
        "error": error,
    }


def openhands_verdicts(folder: Path, verdicts: Mapping[str, bool]) -> Path:
    lines = [
        {"instance_id": task, "test_result": {"report": {"resolved": verdict}}}
        for task, verdict in verdicts.items()
    ]
    return put(folder / "output.swebench_eval.jsonl", lines)


def aider_exercise(folder: Path, task: str, rounds: Sequence[bool], **more: Any) -> Path:
    return put(
        folder / task / ".aider.results.json",
        {
            "testcase": task,
            "testdir": f"bench/{task}",
            "model": "model-a",
            "edit_format": "diff",
            "tests_outcomes": list(rounds),
            "cost": 0.1,
            "duration": 12.5,
            "prompt_tokens": 9,
            "completion_tokens": 1,
            **more,
        },
    )


def aider_board(folder: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "board.yml"
    path.write_text(yaml.safe_dump(list(entries)), "utf-8")
    return path


def lm_eval_samples(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    return put(folder / "samples_made_up_2025-01-01T00-00-00.000000.jsonl", list(rows))


def hal_upload(folder: Path, rewards: Mapping[str, float], **results: Any) -> Path:
    usage = {"m": {"prompt_tokens": 6, "completion_tokens": 2}}
    return put(
        folder / "one_UPLOAD.json",
        {
            "config": {"agent_name": "hal-agent", "run_id": "h1"},
            "results": {
                "latencies": dict.fromkeys(rewards, 1.5),
                "costs": dict.fromkeys(rewards, 0.001),
                **results,
            },
            "raw_eval_results": {
                task: {"reward": reward, "taken_actions": [1, 2]}
                for task, reward in rewards.items()
            },
            "raw_logging_results": [
                {"weave_task_id": task, "summary": {"usage": usage, "weave": {"latency_ms": 1500}}}
                for task in rewards
            ],
        },
    )


def plain_csv(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "runs.csv"
    path.write_text(text, "utf-8")
    return path
