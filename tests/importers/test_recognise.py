"""Which format a file has: its own and no other, and what becomes of files of none."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from frozenbench.importers import FORMATS, documents
from frozenbench.importers.documents import Document
from frozenbench.importers.recognise import module_of, read_file
from log_files import (
    aider_board,
    aider_exercise,
    atif,
    detail,
    entry,
    hal_upload,
    harbor_trial,
    inspect_eval,
    inspect_json,
    leaderboards,
    lm_eval_samples,
    mini_trajectory,
    openhands_line,
    openhands_verdicts,
    plain_csv,
    put,
    report,
    sample,
    swe_agent_trajectory,
    terminal_bench_run,
    trial,
)
from reading import named, read

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "gallery"))

from test_gallery import STUDY
from write_logs import WRITERS

OWN = {"inspect_json": "inspect", "inspect_eval": "inspect"}
OWN |= {"plain_csv": "plain", "plain_jsonl": "plain"}


def claims(path: Path) -> list[str]:
    """Return every format that takes the file for its own."""
    return [name for name in FORMATS if module_of(name).recognises(Document(path, path.name))]


@pytest.mark.parametrize("form", WRITERS)
def test_each_file_of_the_gallery_is_of_one_format(tmp_path: Path, form: str) -> None:
    WRITERS[form](STUDY, tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        own = {"report.json": "swebench"}.get(path.name, OWN.get(form, form))
        assert claims(path) == [own], path


def test_each_kind_of_file_is_of_one_format(tmp_path: Path) -> None:
    details = {"t": detail(True, 1, 0.5)}
    files = {
        leaderboards(tmp_path / "a", {"bash-only": [entry("x", 100.0, details)]}): "swebench",
        put(tmp_path / "b" / "details.json", details): "swebench",
        put(tmp_path / "c" / "preds.json", {"t": {"model_patch": ""}}): "swebench",
        report(tmp_path / "d", ["t"], []): "swebench",
        mini_trajectory(tmp_path / "e", "t"): "mini_swe_agent",
        swe_agent_trajectory(tmp_path / "f", "t"): "swe_agent",
        inspect_json(tmp_path / "g", [sample(1)]): "inspect",
        inspect_eval(tmp_path / "h", [sample(1)], zstd=True): "inspect",
        terminal_bench_run(tmp_path / "i", [trial("t")], 1.0): "terminal_bench",
        put(tmp_path / "j" / "results.json", trial("t")): "terminal_bench",
        harbor_trial(tmp_path / "k", "t"): "harbor",
        put(tmp_path / "l" / "result.json", {"stats": {}, "n_total_trials": 0}): "harbor",
        atif(tmp_path / "m" / "x.trajectory.json"): "harbor",
        put(tmp_path / "n" / "output.jsonl", [openhands_line("t")]): "openhands",
        openhands_verdicts(tmp_path / "o", {"t": True}): "openhands",
        aider_exercise(tmp_path / "p", "t", [True]): "aider",
        aider_board(tmp_path / "q", [{"model": "m", "pass_rate_1": 1.0}]): "aider",
        lm_eval_samples(tmp_path / "r", [{"doc_id": 0, "filter": "none"}]): "lm_eval",
        hal_upload(tmp_path / "s", {"0": 1.0}): "hal",
        plain_csv(tmp_path / "t", "agent,task,solved\na,t,true\n"): "plain",
    }
    assert {path: claims(path) for path in files} == {p: [own] for p, own in files.items()}


def test_a_folder_of_several_formats_is_read_as_each(tmp_path: Path) -> None:
    plain_csv(tmp_path, "agent,task,solved\na,t,true\n")
    inspect_json(tmp_path, [sample(1)])
    put(tmp_path / "settings.json", {"moon": 1})
    found = read(tmp_path)
    assert found.formats == ("inspect", "plain")
    (message,) = named(found, "unknown_file")
    assert "settings.json" in message
    assert all(form in message for form in FORMATS)
    assert "agent, task, solved" in message


def test_a_file_that_is_asked_to_be_another_is_refused(tmp_path: Path) -> None:
    path = inspect_json(tmp_path, [sample(1)])
    for form in set(FORMATS) - {"inspect"}:
        found = read(path, form)
        assert not found.rows
        assert named(found, "broken_file"), form


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".yml"])
def test_a_small_gzip_cannot_fill_the_memory(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_TEXT", "MOST_LINE", "MOST_YAML"):
        monkeypatch.setattr(documents, name, 1 << 20)
    monkeypatch.setattr(documents.Document.text, "__defaults__", (1 << 20,))
    path = tmp_path / f"x{ending}.gz"
    path.write_bytes(gzip.compress(b"[" * 5_000_000))
    assert path.stat().st_size < 10_000
    found = read_file(("auto", str(path), path.name))
    assert found.kind == "broken_file"
    assert "than 1 MiB" in found.message


def test_a_list_over_many_lines_in_a_jsonl_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('[\n {"doc_id": 0}\n]\n', "utf-8")
    assert Document(path, "x").head == [{"doc_id": 0}]
