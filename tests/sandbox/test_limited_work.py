"""The work folder: its size and number of files, and what hostile content does outside."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import BadInput
from frozenbench.sandbox import Box, Limits, Mount, measure, run, start, take_tree, work_folder
from frozenbench.sandbox.watch import usage
from inside import alive, python, said

MIB = 1024 * 1024
LEVELS = ["userns", "process"]

FILL = """
import os, sys, time
try:
    for n in range(10_000):
        with open(f"{sys.argv[1]}{n}", "wb", 0) as file:
            for _ in range(4):
                file.write(bytes(256 << 10))
except OSError as error:
    print(error.strerror, flush=True)
time.sleep(74.5)
"""

MANY = """
import os, time
os.mkdir("many")
try:
    for n in range(100_000):
        os.close(os.open(f"many/{n}", os.O_CREAT, 0o600))
except OSError as error:
    print(error.strerror, flush=True)
time.sleep(74.5)
"""


def used(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


@pytest.mark.parametrize("level", LEVELS)
def test_a_full_work_folder_ends_its_box(
    walled: MakeBox, make_box: MakeBox, work: Path, level: str
) -> None:
    box = make_box(level, 30, limits={"work_bytes": 8 * MIB})
    started = time.monotonic()
    ended = python(box, FILL, "fill")
    assert time.monotonic() - started < 10
    assert ended.resource_limit == "work_bytes"
    assert (ended.signal, ended.timed_out) == (signal.SIGKILL, False)
    if level == "userns" and measure().sized_work:
        assert ended.output == b"No space left on device\n"
        assert used(work) <= 8 * MIB
    assert not alive("74.5")


@pytest.mark.parametrize("level", LEVELS)
def test_too_many_files_end_their_box(
    walled: MakeBox, make_box: MakeBox, work: Path, level: str
) -> None:
    box = make_box(level, 30, limits={"work_files": 3000})
    started = time.monotonic()
    ended = python(box, MANY)
    assert time.monotonic() - started < 15
    assert ended.resource_limit == "work_files"
    if level == "userns" and measure().sized_work:
        assert len(list(work.rglob("*"))) == 3000


@pytest.mark.parametrize("level", LEVELS)
def test_one_that_ends_full_is_told_too(walled: MakeBox, make_box: MakeBox, level: str) -> None:
    box = make_box(level, limits={"work_bytes": MIB})
    code = """
import os, sys
try:
    for n in range(3):
        open(f"f{n}", "wb", 0).write(bytes(1 << 20))
except OSError:
    pass
"""
    ended = python(box, code)
    assert ended.resource_limit == "work_bytes"
    assert ended.exit_status == 0 or ended.seconds >= 0.2  # it was looked at before it had ended


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_within_the_limits_is_left_alone(
    walled: MakeBox, make_box: MakeBox, work: Path, level: str
) -> None:
    box = make_box(level, limits={"work_bytes": 8 * MIB, "work_files": 100})
    code = """
import os, time
open("large", "wb").write(bytes(7 << 20))
for n in range(90):
    open(str(n), "w").close()
time.sleep(0.5)
"""
    ended = python(box, code)
    assert (ended.exit_status, ended.resource_limit) == (0, None)
    assert len(list(work.iterdir())) == 91


def test_scratch_folders_do_not_count(walled: MakeBox) -> None:
    box = walled(limits={"work_bytes": MIB})
    ended = python(box, "open('/tmp/large', 'wb').write(bytes(30 << 20))")
    assert (ended.exit_status, ended.resource_limit) == (0, None)


def test_it_is_seen_from_outside_at_any_time(walled: MakeBox, work: Path) -> None:
    (work / "given").write_text("given")
    code = "import sys; print(open('given').read(), flush=True); open('made', 'w').write('made')"
    box = walled()
    with start(box, [box.python, "-c", f"{code}; sys.stdin.readline(); open('last', 'w')"]) as one:
        assert one.read_line(time.monotonic() + 10) == b"given"
        deadline = time.monotonic() + 5
        while not (work / "made").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        tree, notes, limit = take_tree(work)
        assert (sorted(tree), notes, limit) == (["given", "made"], [], None)
        assert not (work / "last").exists()
        (work / "given").write_text("changed")
        one.write_line(b"")
        assert one.wait(time.monotonic() + 10) is not None
    assert {path.name for path in work.iterdir()} == {"given", "made", "last"}
    assert said(python(box, "print(open('given').read())")) == "changed\n"


def test_boxes_of_one_folder_share_its_limit(walled: MakeBox, work: Path) -> None:
    box = walled(limits={"work_bytes": 4 * MIB})
    said(python(box, "open('first', 'wb').write(bytes(3 << 20))"))
    ended = python(box, "open('second', 'wb').write(bytes(3 << 20))")
    assert ended.resource_limit == "work_bytes"
    said(python(box, "import os; os.remove('second')"))
    assert [path.name for path in work.iterdir()] == ["first"]


def test_a_folder_serves_many_boxes_and_ours_adds_nothing_to_it(
    walled: MakeBox, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "prompt").write_text("x" * 900_000)
    with work_folder() as out:
        mounts = (Mount(tmp_path / "prompt", "/prompt"), Mount(out, "/out", writable=True))
        box = walled(mounts=mounts, limits={"work_files": 2})
        for number in range(15):
            said(run(box, ["sh", "-c", f"echo {number} > file; echo made"]))
    assert (work / "file").read_text() == "14\n"


def test_a_tree_is_given_as_it_is(walled: MakeBox, work: Path) -> None:
    (work / "folder" / "inner").mkdir(parents=True)
    script = work / "folder" / "run"
    script.write_text("#!/bin/sh\necho ran\n")
    script.chmod(0o755)
    (work / "folder" / "link").symlink_to("run")
    (work / "closed").write_text("x")
    (work / "closed").chmod(0o600)
    (work / "w\nith \udcff").write_text("odd")
    for path in (script, work / "folder"):
        os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_001_500_000_000))
    code = """
import os
for path in ("folder", "folder/run"):
    print(oct(os.stat(path).st_mode), os.stat(path).st_mtime_ns)
print(os.readlink("folder/link"), oct(os.stat("closed").st_mode), open("closed").read())
print(sorted(os.listdir(".")), os.listdir("folder/inner"), flush=True)
os.system("folder/link")
"""
    lines = said(python(walled(), code)).splitlines()
    assert lines[:2] == ["0o40755 1600000001500000000", "0o100755 1600000001500000000"]
    assert lines[2] == "run 0o100600 x"
    assert lines[3:] == ["['closed', 'folder', 'w\\nith \\udcff'] []", "ran"]


HOSTILE = """
import os, socket, sys
refused = []
def attempt(name, what):
    try:
        what()
    except OSError:
        refused.append(name)
def sparse():
    with open("sparse", "wb") as file:
        os.ftruncate(file.fileno(), 63 << 20)
def deep():
    top = os.open(".", os.O_RDONLY)
    for n in range(1200):
        name = ("d" * 250) if n < 20 else "d"
        os.mkdir(name)
        os.chdir(name)
    open("bottom", "w").close()
    os.fchdir(top)
attempt("terabyte", lambda: os.truncate(os.open("huge", os.O_CREAT | os.O_RDWR), 1 << 40))
sparse()
open("one", "w").write("1")
for n in range(500):
    os.link("one", f"link{n}")
attempt("hard link out", lambda: os.link("/etc/ld.so.cache", "stolen"))
os.symlink("/etc", "etc")
os.symlink("loop", "loop")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
attempt("block device", lambda: os.mknod("disk", 0o60600, os.makedev(254, 0)))
attempt("character device", lambda: os.mknod("memory", 0o20600, os.makedev(1, 1)))
open(b"\\xff\\xfe\\n\\r\\x1b[31m", "w").close()
open("n" * 255, "w").close()
deep()
for n in range(30_000):
    os.close(os.open(f"many{n}", os.O_CREAT))
os.mkdir("closed")
open("closed/file", "w").close()
os.chmod("closed", 0)
print(refused)
"""


def test_hostile_content_is_bounded_in_time(walled: MakeBox) -> None:
    with work_folder() as folder:
        box = Box("userns", folder, limits=Limits(seconds=60))
        refused = said(python(box, HOSTILE))
        assert refused == "['terabyte', 'hard link out', 'block device', 'character device']\n"
        started = time.monotonic()
        tree, notes, limit = take_tree(folder)
        assert time.monotonic() - started < 10
        assert limit is not None
        assert all("\n" not in note and "\x1b" not in note for note in notes)
        assert not {"fifo", "socket", "etc", "loop", "stolen"} & set(tree)
        started = time.monotonic()
    assert time.monotonic() - started < 10
    assert list(folder.parent.parent.glob(f"{folder.parent.name}*")) == []


def test_a_writable_mount_gives_back_files_alone(walled: MakeBox) -> None:
    with work_folder() as folder:
        out = folder / "out"
        out.mkdir()
        (out / "given").write_text("given")
        box = walled(mounts=(Mount(out, "/out", writable=True),), limits={"work_bytes": 4 * MIB})
        code = """
import os
print(open("/out/given").read())
os.mkdir("/out/inner")
open("/out/inner/made", "w").write("made")
os.symlink("/etc/passwd", "/out/link")
os.mkfifo("/out/fifo")
"""
        assert said(python(box, code)) == "given\n"
        assert (out / "inner" / "made").read_text() == "made"
        if not measure().sized_work:
            return
        assert sorted(path.name for path in out.iterdir()) == ["given", "inner"]
        ended = python(box, "open('/out/large', 'wb').write(bytes(6 << 20))")
        assert ended.resource_limit == "work_bytes"


def test_a_folder_that_a_box_has_used_is_mounted_nowhere_else(walled: MakeBox, work: Path) -> None:
    if not measure().sized_work:
        pytest.skip("here a work folder stays on the disk")
    said(run(walled(), ["sh", "-c", "mkdir inner; echo made"]))
    with work_folder() as other:
        box = Box("userns", other, mounts=(Mount(work / "inner", "/inner"),))
        with pytest.raises(BadInput, match="another box has used"):
            run(box, ["true"])


def test_usage_counts_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(bytes(100_000))
    (tmp_path / "second").hardlink_to(tmp_path / "inner" / "file")
    (tmp_path / "link").symlink_to("/usr")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "inner").chmod(0)
    size, files = usage(tmp_path, 1 << 30, 100)
    assert files == 5
    assert 100_000 <= size < 150_000
    assert usage(tmp_path, 50_000, 100)[0] > 50_000
    assert usage(tmp_path, 1 << 30, 3)[1] == 4


def test_usage_does_not_get_lost_in_the_depth(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(250):
        folder = folder / "d"
        folder.mkdir()
    assert usage(tmp_path, 1 << 30, 1000)[1] == 1001
