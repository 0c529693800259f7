"""The digest of a tree that is too large to be an artifact: exact, bounded, not to be fooled."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import pytest
from frozenbench.canonical import File, tree_digest, write_tree
from frozenbench.sandbox import large_tree_digest, take_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MIB = 1 << 20
NAMES = st.sampled_from(["a", "b", "c/d", "c/e", "\u00e9", "b.pyc"])
FILES = st.builds(File, st.binary(max_size=20), st.booleans())


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=st.dictionaries(NAMES, FILES))
def test_it_is_the_digest_of_what_would_be_taken(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, File]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    write_tree(tree, folder)
    (folder / "link").symlink_to("a")
    assert large_tree_digest(folder) == tree_digest(take_tree(folder)[0])


CHANGES = {
    "a byte": lambda folder: (folder / "f0").write_bytes(b"y" + bytes(9)),
    "the last byte of a sparse file": lambda folder: put(folder / "sparse", (4 << 30) - 1, b"x"),
    "its length": lambda folder: os.truncate(folder / "sparse", (4 << 30) - 1),
    "what it holds": lambda folder: put(folder / "sparse", 2 << 30, b"z"),
    "where it holds it": lambda folder: (
        os.truncate(folder / "sparse", 1 << 30),
        put(folder / "sparse", 3 << 30, b"y"),
    ),
    "the x-bit": lambda folder: (folder / "f0").chmod(0o755),
    "a name": lambda folder: (folder / "f0").rename(folder / "g0"),
    "two exchanged": lambda folder: exchange(folder / "f0", folder / "f1"),
    "a new empty file": lambda folder: (folder / "n").touch(),
    "one less": lambda folder: (folder / "f2").unlink(),
}


def put(path: Path, place: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)


def exchange(one: Path, other: Path) -> None:
    one.rename(one.parent / "third")
    other.rename(one)
    (one.parent / "third").rename(other)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    for number in range(3):
        (tmp_path / f"f{number}").write_bytes(bytes([number] * 10))
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 4 << 30)
    put(tmp_path / "sparse", 2 << 30, b"y")
    return tmp_path


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_one_whatever_the_time_stamps_say(large: Path, change: str) -> None:
    before, times = large_tree_digest(large), {p: p.stat() for p in large.iterdir()}
    assert before is not None
    CHANGES[change](large)
    for path, status in times.items():
        if path.exists():
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert large_tree_digest(large) not in (before, None)


def test_what_is_no_change_is_none(large: Path) -> None:
    before = large_tree_digest(large)
    (large / "folder").mkdir()
    (large / "link").symlink_to("f0")
    (large / "__pycache__").mkdir()
    (large / "__pycache__/f0.pyc").write_bytes(b"1")
    os.utime(large / "f1")
    exchange(large / "f0", large / "f1")
    exchange(large / "f0", large / "f1")
    assert large_tree_digest(large) == before


def test_a_sparse_file_and_many_names_of_one_cost_no_reading(large: Path) -> None:
    begun = time.process_time()
    assert large_tree_digest(large, max_bytes=MIB) is not None  # 4 GiB long, and a page of bytes
    (large / "mib").write_bytes(bytes(MIB // 2))
    for number in range(1000):
        os.link(large / "mib", large / f"name{number}")
    assert large_tree_digest(large, max_bytes=MIB) is not None
    assert time.process_time() - begun < 2


def test_beyond_its_bounds_nothing_is_known(large: Path) -> None:
    assert large_tree_digest(large, max_names=4) is not None
    assert large_tree_digest(large, max_names=3) is None
    (large / "mib").write_bytes(bytes(MIB))
    assert large_tree_digest(large, max_bytes=MIB // 2) is None


def test_a_write_through_memory_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_bytes(b"x = 1\n")
    with (tmp_path / "app.py").open("r+b") as file, mmap.mmap(file.fileno(), 6) as shown:
        shown[4:5] = b"2"
        before = large_tree_digest(tmp_path)
        shown[4:5] = b"3"
        assert large_tree_digest(tmp_path) != before
