"""Documents of the store that somebody edited: one message that names the cure, and no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput, digest
from frozenbench.cli import TRACEBACK, main
from frozenbench.frozen import read_controls
from frozenbench.seal import broken_seal, read_sealed, sealed
from small_experiment_files import Files, files_of

WHOLE = ["{}", "[]", "null", '"x"', "7"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("small"))


def write_tables(files: Files, out: Path) -> int:
    tables = {name: files.experiment / f"{name}.parquet" for name in ("cells", "measured")}
    paths = {
        **tables,
        "controls": files.experiment / "controls.json",
        "statistics": files.statistics,
        "view": files.view / "view.json",
        "out": out,
    }
    return main(["write_tables", *(w for n, p in paths.items() for w in (f"--{n}", str(p)))])


@pytest.fixture
def edited(files: Files) -> Any:
    """Edit a document of the files for the time of a test."""
    before: dict[Path, bytes] = {}

    def edit(path: Path, text: str) -> None:
        before.setdefault(path, path.read_bytes())
        path.write_text(text)

    yield edit
    for path, data in before.items():
        path.write_bytes(data)


def test_controls_are_held_to_their_digest(files: Files, tmp_path: Path, edited: Any) -> None:
    path = files.experiment / "controls.json"
    assert read_controls(path)["repeats"] == 1
    controls = json.loads(path.read_bytes())
    controls["tasks"]["alpha"]["weight"] = 99
    edited(path, json.dumps(controls))
    with pytest.raises(BadInput, match="its experiment digest is not what its controls give; cure"):
        read_controls(path)
    assert write_tables(files, tmp_path / "out") == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_no_document_of_controls_is_told(files: Files, edited: Any, text: str) -> None:
    path = files.experiment / "controls.json"
    edited(path, text)
    with pytest.raises(BadInput, match=r"controls\.json: is no document of controls; cure"):
        read_controls(path)


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("name", ["view.json", "statistics/statistics.json"])
def test_another_shape_ends_in_one_line(
    files: Files,
    tmp_path: Path,
    edited: Any,
    name: str,
    text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    edited(files.view / name, text)
    assert write_tables(files, tmp_path / "out") != 0
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("frozenbench write_tables: ")
    assert "; cure: " in told
    assert not (tmp_path / "out").exists()


def test_where_it_broke_can_be_had(
    files: Files, tmp_path: Path, edited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(files.view / "view.json", "7")
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(TypeError):
        write_tables(files, tmp_path / "out")


def unsealed(document: dict[str, Any]) -> Any:
    del document["seal"]
    return document


def edited_value(document: dict[str, Any]) -> Any:
    return document | {"outcome": "PASS"}


@pytest.mark.parametrize("change", [unsealed, edited_value, lambda _: [], lambda _: None])
def test_a_sealed_document_is_read_as_it_was_written_or_not_at_all(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    path = tmp_path / "grade.json"
    document = sealed({"outcome": "FAIL_TEST"})
    path.write_text(json.dumps(document))
    assert read_sealed(path, "again") == document
    path.write_text(json.dumps(change(dict(document))))
    with pytest.raises(BadInput, match=r"grade\.json: .*; cure: again"):
        read_sealed(path, "again")


@pytest.mark.parametrize("files", [None, [], "x", 7])
def test_a_seal_without_files_is_a_broken_one(tmp_path: Path, files: Any) -> None:
    content: dict[str, Any] = {"a": 1}
    document = {**content, "seal": {"content": digest(content), "files": files}}
    assert broken_seal(document, tmp_path) == "holds no seal"
