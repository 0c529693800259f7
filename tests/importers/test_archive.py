"""ZIP archives of strangers: every lie is a message, and the memory they take is bounded."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from frozenbench.importers import archive as reader
from frozenbench.importers.archive import Archive, TooLarge
from frozenbench.importers.model import Unreadable
from frozenbench.importers.recognise import read_file
from hypothesis import example, given, settings
from hypothesis import strategies as st
from log_files import inspect_header, sample
from zip_files import DEFLATED, STORED, ZSTD, Member, archive

METHODS = (STORED, DEFLATED, ZSTD)


def written(folder: Path, data: bytes) -> Path:
    path = folder / "log.eval"
    path.write_bytes(data)
    return path


def held(path: Path, name: str = "a.json") -> object:
    with Archive(path) as opened:
        return opened.json(name)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wide", [False, True])
def test_members_are_read_in_every_method_and_in_64_bits(
    tmp_path: Path, method: int, wide: bool
) -> None:
    members = [Member(f"{n}.json", b'{"n": %d}' % n, method, wide=wide) for n in range(3)]
    path = written(
        tmp_path, archive(members, wide_end=wide, comment=b"" if wide else b"PK\x05\x06")
    )
    with Archive(path) as opened:
        assert opened.names == ("0.json", "1.json", "2.json")
        assert [opened.json(name) for name in opened.names] == [{"n": n} for n in range(3)]


def test_the_last_member_of_a_name_counts(tmp_path: Path) -> None:
    members = [Member("a.json", b"1"), Member("b.json", b"2"), Member("a.json", b"3")]
    path = written(tmp_path, archive(members))
    with Archive(path) as opened:
        assert opened.names == ("a.json", "b.json")
        assert opened.json("a.json") == 3


def test_folders_and_names_that_lead_elsewhere_are_names_alone(tmp_path: Path) -> None:
    names = ["samples/", "/etc/passwd", "../../x.json", "C:\\x.json"]
    (tmp_path / "in").mkdir()
    path = written(tmp_path / "in", archive([Member(name, b"1") for name in names]))
    with Archive(path) as opened:
        assert opened.names == tuple(names[1:])
        assert [opened.json(name) for name in opened.names] == [1, 1, 1]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["in", "log.eval"], "nothing is written"


@pytest.mark.parametrize(
    ("member", "told"),
    [
        (Member("a.json", b"1", flags=0x801), "a.json: is encrypted"),
        (Member("a.json", b"1", method=12), "packed by method 12"),
        (Member("a.json", b"1", crc=7), "check sum does not fit"),
        (Member("a.json", b"11", size=1), "check sum does not fit"),
        (Member("a.json", b"1", size=9), "check sum does not fit"),
        (Member("a.json", b"1", method=STORED, size=9), "check sum does not fit"),
        (Member("a.json", b"1", method=ZSTD, size=9), "check sum does not fit"),
        (Member("a.json", b"1", other_name="b.json"), "its header is another's"),
        (Member("a.json", b"\xff"), "is no UTF-8"),
        (Member("a.json", b"{"), "is no JSON"),
        (Member("b.json", b"1"), "a.json: is not there"),
    ],
)
def test_a_member_that_lies_is_named(tmp_path: Path, member: Member, told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        held(written(tmp_path, archive([member])))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data + data, "bytes lie before the archive"),
        (lambda data: b"x" * 9 + data, "bytes lie before the archive"),
        (lambda data: data[:-1], "is the file cut"),
        (lambda data: data[9:], "its directory is cut"),
        (lambda data: b"", "is the file cut"),
        (lambda data: b"no ZIP", "is the file cut"),
        (lambda data: data.replace(b"PK\x01\x02", b"PK\x01\x03"), "its directory is damaged"),
    ],
)
def test_a_file_that_is_no_single_archive_is_named(
    tmp_path: Path, change: object, told: str
) -> None:
    data = archive([Member("a.json", b"1")])
    with pytest.raises(Unreadable, match=told):
        held(written(tmp_path, change(data)))  # type: ignore[operator]


def test_what_unpacks_to_more_than_the_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_MEMBER", 1000)
    members = [Member("a.json", b"[" + b" " * 1000 + b"]"), Member("b.json", b"1")]
    path = written(tmp_path, archive(members))
    with pytest.raises(TooLarge, match=r"a\.json: unpacks to more than"):
        held(path)
    assert held(path, "b.json") == 1


def test_so_is_what_all_members_unpack_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_WHOLE", 1000)
    members = [Member(f"{n}.json", b"[" + b" " * 400 + b"]") for n in range(3)]
    with Archive(written(tmp_path, archive([*members, Member("small.json", b"1")]))) as opened:
        assert [opened.json("0.json"), opened.json("1.json")] == [[], []]
        with pytest.raises(TooLarge, match="the file would unpack to more than"):
            opened.json("2.json")
        assert opened.json("small.json") == 1


@pytest.mark.parametrize("method", [DEFLATED, ZSTD])
def test_a_member_unpacks_to_no_more_than_it_tells(tmp_path: Path, method: int) -> None:
    bomb = Member("a.json", b"0" * 50_000_000, method, size=10)
    path = written(tmp_path, archive([bomb]))
    started = time.monotonic()
    with pytest.raises(Unreadable, match="check sum does not fit"):
        held(path)
    assert time.monotonic() - started < 2


def test_a_small_file_cannot_unpack_to_much(tmp_path: Path) -> None:
    # 40 MB of JSON that becomes a thousand MB of objects, out of a few kB.
    bomb = Member("a.json", b"[" + b"{}," * 13_000_000 + b"{}]", ZSTD)
    path = written(tmp_path, archive([bomb]))
    assert path.stat().st_size < 10_000
    with pytest.raises(TooLarge, match="1000 times its size"):
        held(path)


def log(method: int) -> bytes:
    members = {f"samples/{n}_epoch_1.json": sample(n) for n in (1, 2)}
    held = {**members, "header.json": inspect_header([1, 2])}
    return archive([Member(n, json.dumps(value).encode(), method) for n, value in held.items()])


LOGS = {method: log(method) for method in METHODS}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "log.eval"


def check(place: Path, data: bytes) -> None:
    """Read damaged bytes: every sample is a row, or the file is named; never anything else."""
    place.write_bytes(data)
    found = read_file(("auto", str(place), "log.eval"))
    if found.part is None:
        assert found.kind == "broken_file"
        assert "not of the shape" not in found.message
        return
    due = {task for _, task in found.part.expected} | {row.task for row in found.part.rows}
    assert {"made_up/1", "made_up/2"} <= due
    whole = [row for row in found.part.rows if row.error is None]
    assert all(row.use.tokens == 7 for row in whole), "what is read is what was written"


@settings(max_examples=300, deadline=2000)
@given(
    method=st.sampled_from(METHODS),
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), max_size=8),
)
@example(method=ZSTD, flips=[])
def test_flipped_bits_break_a_file_or_a_sample_and_no_more(
    place: Path, method: int, flips: list[tuple[float, int]]
) -> None:
    data = bytearray(LOGS[method])
    for where, bit in flips:
        data[int(where * len(data))] ^= 1 << bit
    check(place, bytes(data))


@settings(max_examples=200, deadline=2000)
@given(
    method=st.sampled_from(METHODS),
    start=st.floats(0, 1),
    end=st.floats(0, 1),
    more=st.binary(max_size=40) | st.sampled_from(list(LOGS.values())),
)
def test_cut_and_joined_files_are_named(
    place: Path, method: int, start: float, end: float, more: bytes
) -> None:
    whole = LOGS[method]
    cut = whole[int(start * len(whole) / 3) : len(whole) - int(end * len(whole) / 3)]
    check(place, cut)
    check(place, cut + more)
    check(place, more + cut)
