"""Canonical JSON, digests, trees and atomic writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import (
    CACHE_NAMES,
    BadInput,
    Entry,
    Failed,
    File,
    FrozenbenchError,
    Incomplete,
    Refused,
    canonical_json,
    digest,
    entries,
    is_cache,
    read_json,
    read_tree,
    sha256_bytes,
    sha256_file,
    tree_digest,
    write_atomic,
    write_json,
    write_tree,
)
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
).filter(lambda value: "\\ud" not in json.dumps(value))
TREES = st.dictionaries(
    st.text("abcé/.", min_size=1, max_size=6),
    st.builds(File, st.binary(max_size=9), st.booleans()),
    max_size=6,
)


@given(JSON)
def test_canonical_json_reads_back_and_has_one_spelling(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(), min_size=2))
def test_key_order_changes_no_digest(value: dict[str, int]) -> None:
    turned = dict(reversed(list(value.items())))
    assert digest(turned) == digest(value)


def test_the_encoding_is_the_one_that_every_digest_stands_on() -> None:
    value = {"b": [1, 1.5, True, None], "a": "é \u2028 \x7f", "A": {}}
    assert canonical_json(value) == ('{"A":{},"a":"é \u2028 \x7f","b":[1,1.5,true,null]}'.encode())
    assert digest({}) == sha256_bytes(b"{}")
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [-float("inf")], {"a": {1, 2}}, b"x", "\ud800"]
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(BadInput, match="canonical JSON"):
        canonical_json(value)


@given(st.binary())
def test_a_file_s_digest_is_that_of_its_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "digested"
    path.write_bytes(data)
    assert sha256_file(path) == sha256_bytes(data)


@given(TREES, st.randoms())
def test_a_tree_s_digest_knows_no_order_and_every_content(
    tree: dict[str, File], random: Any
) -> None:
    items = list(tree.items())
    random.shuffle(items)
    assert tree_digest(dict(items)) == tree_digest(tree) == tree_digest(entries(tree)[::-1])
    for path, file in tree.items():
        others = (
            {**tree, path: File(file.data + b"x", file.executable)},
            {**tree, path: File(file.data, not file.executable)},
            {name: kept for name, kept in tree.items() if name != path},
            {**{name: kept for name, kept in tree.items() if name != path}, path + "!": file},
        )
        assert tree_digest(tree) not in {tree_digest(other) for other in others}


def test_a_tree_s_identity_is_path_bit_and_sha256() -> None:
    tree = {"run.sh": File(b"echo\n", True), "a/b.txt": File(b"")}
    assert entries(tree) == [
        Entry("a/b.txt", False, sha256_bytes(b"")),
        Entry("run.sh", True, sha256_bytes(b"echo\n")),
    ]
    listed = [["a/b.txt", False, sha256_bytes(b"")], ["run.sh", True, sha256_bytes(b"echo\n")]]
    assert tree_digest(tree) == digest(listed)


@pytest.mark.parametrize("name", sorted(CACHE_NAMES))
def test_caches_are_known_by_any_part_of_a_path(name: str) -> None:
    assert all(map(is_cache, (name, f"deep/{name}", f"{name}/x", f"deep/{name}/er/x")))


def test_byte_code_is_a_cache_wherever_it_lies() -> None:
    assert all(map(is_cache, ("mod.pyc", "deep/mod.pyo")))


@pytest.mark.parametrize("path", ["git/x", "pycache.py", "a.pycx", "__pycache__.txt", "my.git/x"])
def test_what_only_looks_like_a_cache_is_none(path: str) -> None:
    assert not is_cache(path)


def test_a_tree_goes_to_disk_and_back(tmp_path: Path) -> None:
    tree = {
        "a\r\nb": File(b"a\r\nb\n"),
        "deep/er/run": File(b"\x00\xff", True),
        "ümlaut": File(b""),
    }
    write_tree(tree, tmp_path / "tree")
    assert read_tree(tmp_path / "tree") == tree


@pytest.mark.parametrize("kind", ["link", "dangling", "folder link", "pipe"])
def test_only_files_and_folders_can_be_frozen(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "tree"
    write_tree({"deep/real": File(b"")}, folder)
    match kind:
        case "link":
            (folder / "deep/odd").symlink_to("real")
        case "dangling":
            (folder / "deep/odd").symlink_to("/nowhere")
        case "folder link":
            (folder / "deep/odd").symlink_to(tmp_path)
        case "pipe":
            os.mkfifo(folder / "deep/odd")
    with pytest.raises(BadInput, match="tree/deep/odd: is"):
        read_tree(folder)


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/b\xffd")).write_bytes(b"")
    with pytest.raises(BadInput, match=r"tree/.*not UTF-8; cure: rename"):
        read_tree(folder)


def test_json_on_disk_is_canonical_and_ends_its_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "value.json"
    write_json(path, {"b": 1, "a": "ü"})
    assert path.read_bytes() == '{"a":"ü","b":1}\n'.encode()
    assert read_json(path) == {"a": "ü", "b": 1}
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "is not there"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"1" * 5000, "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        ("folder", "cannot be read"),
    ],
)
def test_a_file_that_is_no_json_is_named(tmp_path: Path, content: Any, told: str) -> None:
    path = tmp_path / "value.json"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=f"value.json: {told}"):
        read_json(path)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, 1)
    with pytest.raises(BadInput):
        write_json(path, float("nan"))
    with pytest.raises(TypeError):
        write_atomic(path, "text")  # type: ignore[arg-type]
    assert [item.name for item in tmp_path.iterdir()] == ["value.json"]
    assert read_json(path) == 1


WRITER = """
import sys
from pathlib import Path
from frozenbench.canonical import write_atomic
data = (sys.argv[2] * 200_000).encode()
print("ready", flush=True)
while True:
    write_atomic(Path(sys.argv[1]), data)
"""


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "value"
    write_atomic(path, b"a" * 200_000)
    for letter in "bcd":
        argv = [sys.executable, "-c", WRITER, str(path), letter]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            seen = {path.read_bytes() for _ in range(200)}
            writer.kill()
        seen.add(path.read_bytes())
        assert {(len(data), len(set(data))) for data in seen} == {(200_000, 1)}


def test_each_kind_of_error_has_its_exit_status() -> None:
    statuses = {kind.exit_status: kind for kind in (Failed, BadInput, Refused, Incomplete)}
    assert statuses == {1: Failed, 2: BadInput, 3: Refused, 5: Incomplete}
    assert all(issubclass(kind, FrozenbenchError) for kind in statuses.values())
