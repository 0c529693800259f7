"""Snapshots hold every tree exactly; proposals stay inside the work folder."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from frozenbench.adapters.contract import AgentCrashed
from frozenbench.canonical import BadInput, File, canonical_json
from frozenbench.run.snapshots import (
    MAX_BYTES,
    MAX_FILES,
    TooLarge,
    apply_files,
    checked_path,
    difference,
    restore,
)
from hypothesis import given
from hypothesis import strategies as st

PATHS = st.text("ab/é ", min_size=1, max_size=5).filter(lambda path: path.strip("/ ") == path)
TREES = st.dictionaries(
    PATHS, st.builds(File, st.binary(max_size=6) | st.just(b"a\r\nb\n"), st.booleans()), max_size=5
)


@given(TREES, TREES)
def test_a_snapshot_gives_its_tree_back_byte_for_byte(
    fixture: dict[str, File], tree: dict[str, File]
) -> None:
    snapshot = json.loads(canonical_json(difference(fixture, tree)))
    assert restore(fixture, snapshot, "here") == tree


def test_a_snapshot_tells_added_changed_deleted_and_x_bits() -> None:
    fixture = {"same": File(b"1"), "old": File(b"1"), "gone": File(b"1"), "bit": File(b"1")}
    tree = {"same": File(b"1"), "old": File(b"2"), "new": File(b"\xff"), "bit": File(b"1", True)}
    snapshot = difference(fixture, tree)
    assert snapshot["deleted"] == ["gone"]
    assert snapshot["changed"] == {
        "bit": {"text": "1", "executable": True},
        "new": {"base64": "/w==", "executable": False},
        "old": {"text": "2", "executable": False},
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("changed.old.text", "3"),
        ("changed.old.executable", True),
        ("deleted", []),
        ("tree_sha256", "0" * 64),
    ],
)
def test_an_edited_snapshot_is_told(path: str, value: Any) -> None:
    fixture = {"old": File(b"1"), "gone": File(b"1")}
    snapshot = copy.deepcopy(difference(fixture, {"old": File(b"2")}))
    *parents, last = path.split(".")
    place = snapshot
    for part in parents:
        place = place[part]
    place[last] = value
    with pytest.raises(BadInput, match=r"0001\.json: the snapshot was changed"):
        restore(fixture, snapshot, "0001.json")


def test_a_proposal_lies_over_the_tree() -> None:
    tree = {"a": File(b"1", True), "b": File(b"1"), "c": File(b"1")}
    files = {"a": "2\r\n", "./b": b"\x00", "c": None, "absent": None, "new/d": "é"}
    assert apply_files(tree, files) == {
        "a": File(b"2\r\n", True),  # the x-bit stays
        "b": File(b"\x00"),
        "new/d": File("é".encode()),
    }
    assert tree["a"] == File(b"1", True)


@given(st.dictionaries(PATHS, st.none() | st.text(max_size=3), max_size=4))
def test_what_a_proposal_leaves_is_a_tree_that_can_stand_on_disk(files: dict[str, Any]) -> None:
    tree, told = {}, ""
    try:
        tree = apply_files({"a": File(b"")}, files)
    except AgentCrashed as error:
        told = str(error)
    assert not told or "a file and a folder" in told
    for path in tree:
        parts = path.split("/")
        assert not any("/".join(parts[:size]) in tree for size in range(1, len(parts)))


def test_caches_are_no_change() -> None:
    files = {"__pycache__/m.pyc": "x", "x.pyc": "x", ".pytest_cache/v": "x", ".git/config": "x"}
    assert apply_files({"a": File(b"")}, files) == {"a": File(b"")}


OUTSIDE = ["/etc/passwd", "../up", "a/../../b", "a\0b", "", ".", "x" * 241, "\ud800", 7, None]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_reaches_outside_crashes_the_agent(path: Any) -> None:
    with pytest.raises(AgentCrashed, match=r"outside|no file name|text was due"):
        checked_path(path)
    with pytest.raises(AgentCrashed):
        apply_files({}, {path: "x"})


@pytest.mark.parametrize("content", [7, ["x"], True, {}, "\udcff"])
def test_content_of_another_form_crashes_the_agent(content: Any) -> None:
    with pytest.raises(AgentCrashed, match=r"files\['a'\]"):
        apply_files({}, {"a": content})
    with pytest.raises(AgentCrashed, match="a mapping was due"):
        apply_files({}, [("a", content)])  # type: ignore[arg-type]


def test_a_file_cannot_be_a_folder_too() -> None:
    with pytest.raises(AgentCrashed, match="a would be a file and a folder"):
        apply_files({"a": File(b"")}, {"a/b": "x"})
    assert apply_files({"a": File(b"")}, {"a/b": "x", "a": None}) == {"a/b": File(b"x")}


def test_the_artifact_s_limits_are_those_that_are_named() -> None:
    full = {f"f{number}": "" for number in range(MAX_FILES)}
    assert len(apply_files({}, full)) == MAX_FILES
    with pytest.raises(TooLarge):
        apply_files({}, {**full, "more": ""})
    assert apply_files({}, {"a": b"x" * MAX_BYTES})
    with pytest.raises(TooLarge):
        apply_files({"b": File(b"x")}, {"a": b"x" * MAX_BYTES})
