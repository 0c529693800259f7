"""Write the runs of an experiment under one budget as logs of every harness that we import.

    python docs/gallery/write_logs.py results/default calls-8 OUT

Every value is a fact of the cells table or of the sealed record of its run; what a run does not
know (a price) stands in no log. `solved` is the cell's verdict: green at some step, best of k.
Use is that of the whole run, as the record of a finished run has it, and when it got green is in
no log. aider's is the exception: it stops at the first green round, and so does its log here.
"""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from finished_runs import Run, Step, Study, load


def plain_rows(study: Study) -> list[dict[str, Any]]:
    """Return the runs as plain rows: everything that this format has a column for."""
    return [
        {
            "agent": run.agent,
            "task": run.task,
            "solved": run.solved,
            "calls": len(run.steps),
            "edit_rounds": run.edit_rounds,
            "tokens": run.sent() + run.received(),
            "tokens_input": run.sent(),
            "tokens_output": run.received(),
            "seconds": run.seconds,
            "ran_out": "calls" if run.hit_cap else None,
        }
        for run in study.runs
    ]


def plain_csv(study: Study, folder: Path) -> None:
    """Write `runs.csv`."""
    rows = plain_rows(study)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as sink:
        table = csv.DictWriter(sink, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({**row, "solved": str(row["solved"]).lower()} for row in rows)


def plain_jsonl(study: Study, folder: Path) -> None:
    """Write `runs.jsonl`."""
    _lines(folder / "runs.jsonl", plain_rows(study))


def swebench(study: Study, folder: Path) -> None:
    """Write `leaderboards.json` with the details of every instance."""
    entries = [
        {
            "name": agent,
            "folder": agent,
            "resolved": _rate(runs),
            "tags": [f"Model: {study.model}"],
            "per_instance_details": {
                run.task: {"resolved": run.solved, "api_calls": len(run.steps)} for run in runs
            },
        }
        for agent, runs in study.by_agent()
    ]
    board = {"name": study.name, "results": entries}
    _json(folder / "leaderboards.json", {"leaderboards": [board]})


def mini_swe_agent(study: Study, folder: Path) -> None:
    """Write trajectories, and the resolved ids beside them.

    The model is not named: the importer would take it for the agent, and here is one for all.
    """
    for run in study.runs:
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": "", "extra": {"timestamp": 0.0}}
        ]
        for step in run.steps:
            extra = {"timestamp": step.at, "response": {"usage": _tokens(step)}}
            messages.append({"role": "assistant", "content": "", "extra": extra})
        kwargs = {"temperature": study.temperature[run.agent], "seed": study.seed}
        info = {
            "exit_status": "LimitsExceeded" if run.hit_cap else "Submitted",
            "model_stats": {"api_calls": len(run.steps)},
            "config": {"agent": {"step_limit": study.cap}, "model": {"model_kwargs": kwargs}},
        }
        log = {"trajectory_format": "mini-swe-agent-1.1", "messages": messages, "info": info}
        _json(folder / run.agent / run.task / f"{run.task}.traj.json", log)
    _reports(study, folder)


def swe_agent(study: Study, folder: Path) -> None:
    """Write trajectories, and the resolved ids beside them; the model as in mini-swe-agent."""
    for run in study.runs:
        model = {
            "per_instance_call_limit": study.cap,
            "temperature": study.temperature[run.agent],
        }
        stats = {
            "tokens_sent": run.sent(),
            "tokens_received": run.received(),
            "api_calls": len(run.steps),
        }
        log = {
            "environment": study.name,
            "trajectory": [{"action": "", "observation": ""} for _ in run.steps],
            "history": [],
            # Its only word for a limit, be it of cost or of calls.
            "info": {
                "exit_status": "submitted (exit_cost)" if run.hit_cap else "submitted",
                "model_stats": stats,
            },
            "replay_config": {"agent": {"model": model}},
        }
        _json(folder / run.agent / f"{run.task}.traj", log)
    _reports(study, folder)


def _reports(study: Study, folder: Path) -> None:
    for agent, runs in study.by_agent():
        verdicts = {
            "model_name_or_path": agent,
            "resolved_ids": [run.task for run in runs if run.solved],
            "unresolved_ids": [run.task for run in runs if not run.solved],
        }
        _json(folder / agent / "report.json", verdicts)


def _inspect(study: Study, agent: str, runs: Sequence[Run]) -> tuple[dict[str, Any], list[Any]]:
    header = {
        "version": 2,
        "status": "success",
        "eval": {
            "task": study.name,
            "model": study.model,
            "solver": agent,
            "run_id": agent,
            "dataset": {"sample_ids": [run.task for run in runs]},
            "config": {"turn_limit": study.cap},
            "model_generate_config": {
                "temperature": study.temperature[agent],
                "seed": study.seed,
            },
            "packages": {"frozenbench": study.harness},
        },
        "results": {"scores": [{"name": "green"}]},
    }
    return header, [_sample(study, run) for run in runs]


def _sample(study: Study, run: Run) -> dict[str, Any]:
    usage = {"input_tokens": run.sent(), "output_tokens": run.received()}
    usage["total_tokens"] = run.sent() + run.received()
    return {
        "id": run.task,
        "epoch": 1,
        "messages": [{"role": "user"}, *({"role": "assistant"} for _ in run.steps)],
        "scores": {"green": {"value": "C" if run.solved else "I"}},
        "model_usage": {study.model: usage},
        "events": [{"event": "model"} for _ in run.steps],
        "total_time": run.seconds,
        "limit": {"type": "turn", "limit": study.cap} if run.hit_cap else None,
    }


def inspect_json(study: Study, folder: Path) -> None:
    """Write one `.json` log an agent."""
    for agent, runs in study.by_agent():
        header, samples = _inspect(study, agent, runs)
        _json(folder / f"{agent}.json", {**header, "samples": samples})


def inspect_eval(study: Study, folder: Path) -> None:
    """Write one `.eval` archive an agent, deflated."""
    folder.mkdir(parents=True, exist_ok=True)
    for agent, runs in study.by_agent():
        header, samples = _inspect(study, agent, runs)
        with zipfile.ZipFile(folder / f"{agent}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(header))
            for sample in samples:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def terminal_bench(study: Study, folder: Path) -> None:
    """Write a run an agent: its settings and the results of its trials."""
    for agent, runs in study.by_agent():
        about = {
            "run_id": agent,
            "agent_name": agent,
            "model_name": study.model,
            "dataset_name": study.name,
            "dataset_version": study.pack,
        }
        trials = [
            {
                "trial_name": f"{run.task}.1-of-1.{agent}",
                "task_id": run.task,
                "is_resolved": run.solved,
                "failure_mode": "unset",  # it has a word for the clock alone
                "total_input_tokens": run.sent(),
                "total_output_tokens": run.received(),
                "agent_started_at": study.clock(0),
                "agent_ended_at": study.clock(run.seconds),
            }
            for run in runs
        ]
        solved = sum(run.solved for run in runs)
        accuracy = solved / len(runs)
        log = {"id": agent, "results": trials, "n_resolved": solved, "accuracy": accuracy}
        _json(folder / agent / "run_metadata.json", about)
        _json(folder / agent / "results.json", log)


def harbor(study: Study, folder: Path) -> None:
    """Write a trial a run: its result, and its ATIF trajectory beside it."""
    for run in study.runs:
        trial = f"{run.task}__{run.agent}"
        result = {
            "task_name": run.task,
            "trial_name": trial,
            "agent_info": {
                "name": run.agent,
                "version": study.harness,
                "model_info": {"name": study.model},
            },
            "verifier_result": {"rewards": {"reward": float(run.solved)}},
            "agent_result": {"n_input_tokens": run.sent(), "n_output_tokens": run.received()},
            "agent_execution": {
                "started_at": study.clock(0),
                "finished_at": study.clock(run.seconds),
            },
            "exception_info": None,
        }
        trajectory = {
            "schema_version": "ATIF-v1.5",
            "agent": {"name": run.agent, "version": study.harness, "model_name": study.model},
            "steps": [
                {"source": "agent", "tool_calls": [{}], "timestamp": study.clock(step.at)}
                for step in run.steps
            ],
            "final_metrics": {
                "total_prompt_tokens": run.sent(),
                "total_completion_tokens": run.received(),
            },
        }
        _json(folder / run.agent / trial / "result.json", result)
        _json(folder / run.agent / trial / "agent" / "trajectory.json", trajectory)


def openhands(study: Study, folder: Path) -> None:
    """Write an `output.jsonl` an agent, with the verdict in each line."""
    for agent, runs in study.by_agent():
        _lines(folder / agent / "output.jsonl", [_output(study, run) for run in runs])


def _output(study: Study, run: Run) -> dict[str, Any]:
    told = f"RuntimeError: Agent reached maximum iteration. Current iteration: {study.cap}"
    usage = {"prompt_tokens": run.sent(), "completion_tokens": run.received()}
    settings = {
        "model": study.model,
        "temperature": study.temperature[run.agent],
        "seed": study.seed,
    }
    return {
        "instance_id": run.task,
        "metadata": {
            "agent_class": run.agent,
            "llm_config": settings,
            "max_iterations": study.cap,
        },
        "history": [
            {"id": 0, "source": "user", "action": "message", "timestamp": study.clock(0)},
            *(
                {"id": n, "source": "agent", "action": "edit", "timestamp": study.clock(step.at)}
                for n, step in enumerate(run.steps, 1)
            ),
        ],
        "metrics": {
            "accumulated_token_usage": usage,
            "token_usages": [_tokens(step) for step in run.steps],
        },
        "error": told if run.hit_cap else None,
        "test_result": {"report": {"resolved": run.solved}},
    }


def aider(study: Study, folder: Path) -> None:
    """Write the results of every exercise, up to the round that was green.

    A round is one call and one test. The way to use the model stands as its edit format.
    """
    for run in study.runs:
        log = {
            "testcase": run.task,
            "testdir": f"{run.agent}/{run.task}",
            "model": study.model,
            "edit_format": run.agent,
            "tests_outcomes": [*[False] * (run.green_after - 1), run.solved],
            "duration": run.steps[run.green_after - 1].at,
            "prompt_tokens": run.sent(run.green_after),
            "completion_tokens": run.received(run.green_after),
        }
        _json(folder / run.agent / run.task / ".aider.results.json", log)


def lm_eval(study: Study, folder: Path) -> None:
    """Write the samples of every agent: outcomes, no use."""
    name = f"samples_{study.name}_{study.start:%Y-%m-%dT%H-%M-%S}.000000.jsonl"
    for agent, runs in study.by_agent():
        lines = [
            {
                "doc_id": number,
                "doc": {"task": run.task},
                "filter": "none",
                "metrics": ["pass@1"],
                "pass@1": float(run.solved),
            }
            for number, run in enumerate(sorted(runs, key=lambda run: run.task))
        ]
        _lines(folder / agent / name, lines)


def hal(study: Study, folder: Path) -> None:
    """Write an upload an agent."""
    for agent, runs in study.by_agent():
        log = {
            "config": {"agent_name": agent, "run_id": agent, "model_name": study.model},
            "results": {
                "accuracy": sum(run.solved for run in runs) / len(runs),
                "latencies": {run.task: run.seconds for run in runs},
            },
            "raw_eval_results": {
                run.task: {"reward": float(run.solved), "taken_actions": [{}] * len(run.steps)}
                for run in runs
            },
            "raw_logging_results": [
                {
                    "id": f"{run.task} {number}",
                    "weave_task_id": run.task,
                    "summary": {"usage": {study.model: _tokens(step)}},
                }
                for run in runs
                for number, step in enumerate(run.steps)
            ],
        }
        _json(folder / f"{agent}_UPLOAD.json", log)


def _tokens(step: Step) -> dict[str, int]:
    return {"prompt_tokens": step.sent, "completion_tokens": step.received}


WRITERS: Mapping[str, Callable[[Study, Path], None]] = {
    "plain_csv": plain_csv,
    "plain_jsonl": plain_jsonl,
    "swebench": swebench,
    "mini_swe_agent": mini_swe_agent,
    "swe_agent": swe_agent,
    "inspect_json": inspect_json,
    "inspect_eval": inspect_eval,
    "terminal_bench": terminal_bench,
    "harbor": harbor,
    "openhands": openhands,
    "aider": aider,
    "lm_eval": lm_eval,
    "hal": hal,
}


def write_all(study: Study, out: Path) -> None:
    """Write every format into a folder of its name."""
    for name, write in WRITERS.items():
        write(study, out / name)


def _rate(runs: Sequence[Run]) -> float:
    return round(100 * sum(run.solved for run in runs) / len(runs), 2)


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value) + "\n", "utf-8")


def _lines(path: Path, values: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("use: python docs/gallery/write_logs.py RESULTS/EXPERIMENT BUDGET OUT")
    write_all(load(Path(sys.argv[1]), sys.argv[2]), Path(sys.argv[3]))
