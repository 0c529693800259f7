from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.cli import main
from frozenbench.out_folder import Own, remove_folder, replace_folder
from small_experiment_files import Files, files_of

OWN = Own(("mark.json", "refused.json"), ("table.csv",))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "before", [None, [], ["mark.json", "table.csv"], ["refused.json", ".snakemake_timestamp"]]
)
def test_a_folder_of_its_own_is_replaced_whole(tmp_path: Path, before: list[str] | None) -> None:
    out = tmp_path / "out"
    for name in before or ():
        out.mkdir(exist_ok=True)
        (out / name).write_text("old")
    if before == []:
        out.mkdir()
    replace_folder(out, {"mark.json": b"new", "below/x": b"1"}, OWN)
    assert names(out) == ["below", "mark.json"]
    assert (out / "mark.json").read_text() == "new"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (["notes.txt"], "holds 'notes.txt'"),
        (["mark.json", "notes.txt"], "holds 'notes.txt'"),
        (["mark.json", ".git"], "holds '.git'"),
        (["table.csv"], "holds 'table.csv' and no 'mark.json'"),
    ],
)
@pytest.mark.parametrize("replaced", [True, False])
def test_a_folder_of_anybody_else_stays(
    tmp_path: Path, held: list[str], told: str, replaced: bool
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in held:
        (out / name).write_text("mine")
    act = partial(replace_folder, files={"mark.json": b""}) if replaced else remove_folder
    with pytest.raises(BadInput, match=told) as caught:
        act(out, own=OWN)
    assert "cure: " in str(caught.value)
    assert names(out) == sorted(held)
    assert names(tmp_path) == ["out"]


def test_a_file_and_a_link_stay(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "lost").symlink_to("nowhere")
    for name in ("file", "link", "lost"):
        with pytest.raises(BadInput, match="is no folder"):
            replace_folder(tmp_path / name, {}, OWN)
    assert names(tmp_path) == ["file", "folder", "link", "lost"]


@pytest.mark.parametrize("out", ["", ".", "..", "/", "a/.."])
def test_a_path_without_a_name_is_refused(out: str) -> None:
    with pytest.raises(BadInput, match="names no folder"):
        replace_folder(Path(out), {}, OWN)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize(
    "command",
    ["contrast", "draw_figure --figure outcomes", "write_page", "write_tables"],
)
def test_no_command_removes_a_folder_that_it_did_not_write(
    command: str, files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    paths = {
        "statistics": files.statistics,
        "cells": files.experiment / "cells.parquet",
        "measured": files.experiment / "measured.parquet",
        "controls": files.experiment / "controls.json",
        "refusals": files.experiment / "refusals.json",
        "view": files.view / "view.json",
        "figures": tmp_path / "figures",
    }
    taken = {
        "contrast": ("cells", "measured", "controls", "view", "refusals"),
        "write_page": ("statistics", "controls", "view", "measured", "cells"),
    }
    name, *more = command.split()
    words = [name, *more, "--out", str(tmp_path)]
    for option in taken.get(name, ("statistics", "controls", "view", "measured", "cells")):
        words += [f"--{option}", str(paths[option])]
    if name == "write_page":  # a page without pictures is none of a rule's
        (tmp_path / "figures" / "outcomes").mkdir(parents=True)
    assert main(words) == 2
    assert "which would be removed; cure: " in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "mine"
