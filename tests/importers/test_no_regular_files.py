"""A pipe, a socket, a device in place of a log: named, and never waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.importers import FORMATS
from frozenbench.importers.recognise import SUFFIXES
from frozenbench.source_files import find_files, identity, open_file
from log_files import plain_csv, put

ROWS = "agent,task,solved,calls\na,t1,true,1\na,t2,false,2\n"
#: What readers look for beside a log.
BESIDE = [
    "result.json",
    "results.json",
    "run_metadata.json",
    "output.jsonl",
    "output.critic_attempt_1.jsonl",
    "cost_report.jsonl",
    "metadata.json",
    "report.json",
    "other/.aider.results.json",
    "agent/trajectory.json",
    "t1.traj",
    "preds.json",
    "results_2025.json",
    "samples_t_2025.jsonl",
    "args.yaml",
    "config.json",
]


def pipe(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        one.bind(path.name)
        os.chdir(here)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def run(folder: Path, *words: str, form: str = "auto") -> tuple[int, str]:
    """Run the command, which must not wait for anybody."""
    argv = [sys.executable, "-m", "frozenbench", "import", form, *words, "--out", "x.parquet"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("make", [pipe, bound, device])
def test_one_called_like_a_log_is_named(make: Callable[[Path], None], tmp_path: Path) -> None:
    plain_csv(tmp_path / "logs", ROWS)
    make(tmp_path / "logs" / "x.json")
    status, said = run(tmp_path, "logs")
    assert status == 1
    assert "1 files that are broken: not read" in said
    assert "logs/x.json: cannot be read (is no regular file)" in said


def test_one_that_no_log_is_called_is_passed_over(tmp_path: Path) -> None:
    plain_csv(tmp_path / "logs", ROWS)
    pipe(tmp_path / "logs" / "tmux.sock")
    status, said = run(tmp_path, "logs")
    assert status == 0
    assert "logs/tmux.sock: cannot be read (is no regular file)" in said


def test_one_that_is_given_is_refused(tmp_path: Path) -> None:
    pipe(tmp_path / "x.json")
    status, said = run(tmp_path, "x.json")
    assert status == 2
    assert "x.json: is no regular file; cure: a log file, or a folder of them" in said
    with pytest.raises(BadInput, match="gone: is not there"):
        find_files(["gone"], tmp_path)


def test_a_config_reads_its_files_alike(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        pipe(tmp_path / "logs" / f"x{suffix}")
        with pytest.raises(OSError, match="is no regular file"):
            identity(tmp_path / "logs" / f"x{suffix}")
        with pytest.raises(OSError, match="is no regular file"):
            open_file(tmp_path / "logs" / f"x{suffix}")
    assert len(find_files(["logs"], tmp_path)) == len(SUFFIXES)


@pytest.mark.parametrize("form", ["auto", *FORMATS])
def test_no_reader_waits_for_one_beside_its_log(tmp_path: Path, form: str) -> None:
    """Each file that a reader looks for is a pipe, beside logs of the same folder and one below."""
    for folder in (tmp_path / "logs", tmp_path / "logs" / "agent" / "t1"):
        plain_csv(folder, ROWS)
        put(folder / "log.json", {"trial_name": "t", "task_name": "t"})
        put(folder / "t2.traj.json", {"info": {}, "messages": []})
        put(folder / "samples_t_2025-01-01.jsonl", [{"doc_id": 1}])
        put(folder / "e" / ".aider.results.json", {"testcase": "e", "tests_outcomes": [True]})
        put(folder / "samples_u_2025-01-01.jsonl", [{"doc_id": 1, "filter": "none"}])
        put(folder / "output.swebench_eval.jsonl", [{"instance_id": "t"}])
        for name in BESIDE:
            pipe(folder / name)
    status, said = run(tmp_path, "logs", form=form)
    assert status in (1, 2)
    assert "cannot be read (is no regular file)" in said
    assert "Traceback" not in said
