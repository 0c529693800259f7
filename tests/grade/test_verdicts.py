"""Frozen graders as they are read back, and the store of verdicts."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from cell_project import CellProject
from frozenbench import layout
from frozenbench.canonical import BadInput
from frozenbench.grade.evidence import Verdict
from frozenbench.grade.grading import Graded, read_grader, store, stored


def test_a_frozen_grader_cannot_be_changed(cells: CellProject) -> None:
    cells.verdict({})
    (folder,) = Path("results/frozen/graders").iterdir()
    read_grader(folder)
    for name in ("hidden/tests/test_app.py", "solution/app.py"):
        path = folder / name
        before = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(before + b"\n")
        with pytest.raises(BadInput, match="was changed after it was frozen; cure"):
            read_grader(folder)
        path.write_bytes(before)
    (folder / "hidden" / "tests" / "more.py").write_text("")
    with pytest.raises(BadInput, match="was changed after it was frozen"):
        read_grader(folder)


def test_the_first_verdict_under_a_key_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = Graded(Verdict(True, expected=2, passed=2, ids=("a", "é")), 1.5, "log\r\n")
    second = Graded(Verdict(False, failure="assertion"), 0.5, "other")
    key = "ab" + "0" * 62
    assert stored(key) is None
    assert store(key, first) == first
    assert stored(key) == first
    assert store(key, second) == first
    assert stored(key) == first
    path = layout.verdict(key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_an_edited_verdict_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    key, other = "ab" + "0" * 62, "ab" + "1" * 62
    store(key, Graded(Verdict(False, failure="assertion"), 0.5, "log"))
    path = layout.verdict(key)
    written = path.read_text()
    layout.verdict(other).write_text(written)
    with pytest.raises(BadInput, match="is the verdict of another key; cure: remove the file"):
        stored(other)
    path.write_text(written.replace('"green":false', '"green":true'))
    with pytest.raises(BadInput, match="was changed after it was written; cure: remove the file"):
        stored(key)


def test_a_broken_grader_has_no_stored_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = Graded(Verdict(False, broken=True, note="did not start"), 0.1, "")
    key = "cd" + "0" * 62
    assert store(key, broken) == broken
    assert stored(key) is None
    assert not (tmp_path / "results").exists()
    mended = replace(broken, verdict=Verdict(True, expected=1, passed=1, ids=("a",)))
    assert store(key, mended) == mended == stored(key)
