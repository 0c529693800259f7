"""The artifact comes out of a folder that a hostile process has filled."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import File, write_tree
from frozenbench.sandbox import take_tree
from inside import python, said


def test_files_come_out_as_they_are(tmp_path: Path) -> None:
    tree = {
        "a.py": File(b"x = 1\r\n"),
        "package/run.sh": File(b"#!/bin/sh", executable=True),
        "package/\u00e9\u4e2d/empty": File(b""),
    }
    write_tree(tree, tmp_path)
    assert take_tree(tmp_path) == (tree, [], None)


def test_caches_are_no_part_of_it(tmp_path: Path) -> None:
    for name in (".git/config", "__pycache__/a.pyc", "b.pyc", "deep/.pytest_cache/v/c", "kept.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert take_tree(tmp_path, max_files=1) == ({"kept.py": File(b"x")}, [], None)


def test_what_is_no_file_is_noted_and_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    (folder / "link").symlink_to(secret)
    (folder / "folder-link").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket"))
    server.close()
    os.close(os.open(os.fsencode(folder) + b"/\xff\n", os.O_CREAT))
    tree, notes, limit = take_tree(folder)
    assert (tree, limit) == ({"kept": File(b"kept")}, None)
    assert (
        sorted(notes)
        == [
            "\\xff\\n: its name is not UTF-8",
            "folder-link: is a link",
            "link: is a link",
            "pipe: is no regular file",
            "socket: is no regular file",
        ]
        or len(notes) == 5
    )


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"max_files": 3}, "more than 3 files"),
        ({"max_bytes": 35}, "larger than 35 bytes in all"),
        ({"max_file_bytes": 9}, "f0: larger than 9 bytes"),
    ],
)
def test_limits_are_told(tmp_path: Path, limits: dict[str, int], words: str) -> None:
    for number in range(4):
        (tmp_path / f"f{number}").write_bytes(bytes(10))
    assert take_tree(tmp_path)[2] is None
    tree, _, limit = take_tree(tmp_path, **limits)
    assert limit == words
    assert len(tree) < 4


def test_limits_are_inclusive(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"f{number}").write_bytes(bytes(10))
    assert take_tree(tmp_path, max_files=4, max_bytes=40, max_file_bytes=10)[2] is None


def test_a_huge_sparse_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert take_tree(tmp_path) == ({}, [], "sparse: larger than 8388608 bytes")


def test_names_without_end_are_cut(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"l{number}").symlink_to("nowhere")
    tree, notes, limit = take_tree(tmp_path, max_files=5)
    assert tree == {}
    assert limit is not None
    assert len(notes) < 60


def test_a_deep_tree_is_a_limit(tmp_path: Path, walled: MakeBox, work: Path) -> None:
    code = "import os\nfor _ in range(200):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w')"
    said(python(walled(), code))
    tree, _, limit = take_tree(work)
    assert tree == {}
    assert limit is not None
    assert "nested" in limit


def test_closed_files_of_the_process_come_out(walled: MakeBox, work: Path) -> None:
    code = """
import os
os.mkdir("closed")
open("closed/file", "w").write("content")
os.chmod("closed/file", 0)
os.chmod("closed", 0)
"""
    said(python(walled(), code))
    assert take_tree(work) == ({"closed/file": File(b"content")}, [], None)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    with pytest.raises(OSError, match="link"):
        take_tree(tmp_path / "link")
