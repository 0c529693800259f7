"""Running to the end: input, output, report, status, clock; and exchanging lines."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import BadInput
from frozenbench.sandbox import TRUNCATED, Box, measure, run, start
from inside import gone, python, said

LEVELS = ["userns", "process", "none"]


@pytest.fixture(params=LEVELS)
def box(request: pytest.FixtureRequest, make_box: MakeBox) -> Box:
    if request.param == "userns" and measure().level == "process":
        pytest.skip("this machine gives process, this test needs userns")
    return make_box(request.param)


def smaller(box: Box, make_box: MakeBox, seconds: float, **limits: int) -> Box:
    return make_box(box.level, seconds, limits=limits)


def test_streams_are_merged_in_order(box: Box) -> None:
    ended = run(box, ["sh", "-c", "echo one; echo two >&2; echo three; exit 5"])
    assert (ended.exit_status, ended.signal, ended.timed_out) == (5, None, False)
    assert ended.output == b"one\ntwo\nthree\n"
    assert not ended.truncated
    assert ended.report == b""
    assert 0 < ended.seconds < 10


def test_it_starts_in_the_work_folder(box: Box, work: Path) -> None:
    assert said(python(box, "import os; print(os.getcwd())")).strip() == box.seen("/work")
    said(run(box, ["touch", box.seen("/work/here")]))
    assert (work / "here").is_file()


def test_an_ending_by_a_signal_is_told(box: Box) -> None:
    ended = python(box, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ended.exit_status, ended.signal) == (None, signal.SIGSEGV)
    assert ended.resource_limit is None


def test_an_unknown_command_is_the_commands_fault(box: Box) -> None:
    ended = run(box, ["no-such-program"])
    assert ended.exit_status == 127
    assert b"no-such-program" in ended.output


def test_an_empty_command_is_refused(box: Box) -> None:
    with pytest.raises(BadInput, match="empty"):
        run(box, [])


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_input_arrives_whole(box: Box, size: int) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    assert said(python(box, code, stdin=b"x" * size)) == f"{size}\n"


def test_input_that_nobody_reads_is_no_error(box: Box) -> None:
    assert said(python(box, "print(1)", stdin=b"x" * 3_000_000)) == "1\n"


def test_the_report_is_apart_from_the_output(box: Box) -> None:
    code = """
import os
descriptor = int(os.environ["FROZENBENCH_REPORT_FD"])
print("to the output")
os.write(descriptor, bytes(range(256)))
"""
    ended = python(box, code, report=True)
    assert ended.output == b"to the output\n"
    assert ended.report == bytes(range(256))


def test_without_report_no_descriptor_is_left_open(box: Box) -> None:
    code = """
import os
print("FROZENBENCH_REPORT_FD" in os.environ)
for descriptor in range(3, 64):
    try:
        print(descriptor, os.readlink(f"/proc/self/fd/{descriptor}"))
    except OSError:
        pass
"""
    assert said(python(box, code)) == "False\n"


def test_a_report_is_bounded(box: Box, make_box: MakeBox) -> None:
    code = """
import os
descriptor = int(os.environ["FROZENBENCH_REPORT_FD"])
for _ in range(100):
    os.write(descriptor, bytes(10_000))
"""
    ended = python(smaller(box, make_box, 20, output_bytes=1000), code, report=True)
    assert ended.report == bytes(1000)
    assert ended.truncated


def test_much_output_costs_no_memory(box: Box) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = run(box, ["sh", "-c", "head -c 200000000 /dev/zero; exit 3"])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ended.exit_status == 3  # it was let run to its end
    assert ended.truncated
    assert ended.output == bytes(box.limits.output_bytes) + TRUNCATED
    assert grown < 32 * 1024  # KiB


def test_the_clock_ends_it(box: Box, make_box: MakeBox) -> None:
    started = time.monotonic()
    ended = run(smaller(box, make_box, 0.5), ["sh", "-c", "trap '' TERM INT; echo on; sleep 61.5"])
    assert ended.timed_out
    assert (ended.exit_status, ended.signal) == (None, signal.SIGKILL)
    assert ended.output == b"on\n"
    assert 0.5 <= ended.seconds < 2
    assert time.monotonic() - started < 3
    assert gone("61.5", 0)


def test_a_grandchild_that_holds_the_pipe_delays_nothing(box: Box) -> None:
    script = "sleep 602.5 & setsid sleep 602.5 & setsid sh -c '(sleep 602.5 &)' & echo done; exit 4"
    ended = run(box, ["sh", "-c", script])
    assert (ended.exit_status, ended.timed_out) == (4, False)
    assert ended.output == b"done\n"
    assert ended.seconds < 3
    assert gone("602.5", 0)


DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
for _ in range(2):  # away from its parent, its session and its group
    if os.fork():
        os._exit(0)
    os.setsid()
for descriptor in range(3):
    os.close(descriptor)
while True:
    with open("beat", "a") as file:
        file.write(sys.argv[1])
    time.sleep(0.01)
"""


@pytest.mark.parametrize("ends_by", ["itself", "clock"])
def test_a_daemon_does_not_outlive_it(
    box: Box, make_box: MakeBox, work: Path, ends_by: str
) -> None:
    (work / "daemon.py").write_text(DAEMON)
    mark = f"mark-{os.getpid()}-{box.level}-{ends_by}"
    command = '"$0" daemon.py "$1"; while [ ! -s beat ]; do sleep 0.02; done; echo up'
    command += "; sleep 63.5" if ends_by == "clock" else ""
    box = smaller(box, make_box, 1.5)
    ended = run(box, ["sh", "-c", command, box.python, mark])
    assert ended.output == b"up\n"
    assert ended.timed_out == (ends_by == "clock")
    assert gone(mark, 0)
    size = (work / "beat").stat().st_size
    time.sleep(0.1)
    assert (work / "beat").stat().st_size == size


ECHO = """
import sys
print("started", file=sys.stderr, flush=True)
for line in sys.stdin:
    print(line.strip()[::-1], flush=True)
print("over", file=sys.stderr, flush=True)
"""


def test_lines_go_to_and_fro(box: Box) -> None:
    with start(box, [box.python, "-c", ECHO]) as running:
        for number in range(50):
            assert running.write_line(b"line %d" % number)
            answer = running.read_line(time.monotonic() + 10)
            assert answer == (b"line %d" % number)[::-1]
        assert running.ended is None
        ended = running.close(seconds=10)
    assert (ended.exit_status, ended.timed_out) == (0, False)
    assert ended.output == b"started\nover\n"
    assert running.ended is ended
    assert not running.write_line(b"late")
    assert running.read_line(time.monotonic() + 1) is None


def test_no_line_before_the_deadline_is_none(box: Box) -> None:
    with start(box, ["sh", "-c", "printf half; sleep 64.5"]) as running:
        started = time.monotonic()
        assert running.read_line(started + 0.3) is None
        assert 0.3 <= time.monotonic() - started < 1
        assert running.ended is None
        running.kill()
        assert running.ended is not None
        assert running.ended.signal == signal.SIGKILL
        assert not running.ended.timed_out
    assert gone("64.5", 0)


def test_last_lines_are_read_after_the_end(box: Box) -> None:
    with start(box, ["sh", "-c", "echo one; echo two; exit 6"]) as running:
        ended = running.wait(time.monotonic() + 10)
        assert ended is not None
        assert ended.exit_status == 6
        deadline = time.monotonic() + 1
        assert [running.read_line(deadline) for _ in range(3)] == [b"one", b"two", None]


def test_a_reader_that_is_slow_loses_nothing(box: Box, make_box: MakeBox) -> None:
    box = smaller(box, make_box, 20, output_bytes=1000)
    with start(box, ["seq", "100000"]) as running:
        deadline = time.monotonic() + 20
        read = [running.read_line(deadline) for _ in range(100_000)]
    assert read == [b"%d" % number for number in range(1, 100_001)]


def test_an_endless_line_ends_it(box: Box, make_box: MakeBox) -> None:
    box = smaller(box, make_box, 20, output_bytes=5000)
    with start(box, ["cat", "/dev/zero"]) as running:
        assert running.read_line(time.monotonic() + 10) is None
        assert running.ended is not None
        assert running.ended.resource_limit == "output_bytes"


def test_much_on_the_other_stream_blocks_nothing(box: Box) -> None:
    code = """
import sys
sys.stderr.write("e" * 3_000_000)
for line in sys.stdin:
    sys.stderr.write("e" * 3_000_000)
    print(len(line), flush=True)
"""
    with start(box, [box.python, "-c", code]) as running:
        assert running.write_line(b"x" * 2_000_000)
        assert running.read_line(time.monotonic() + 10) == b"2000001"
        ended = running.close(5)
    assert ended.truncated
    assert len(ended.output) == box.limits.output_bytes + len(TRUNCATED)


def test_a_deaf_partner_cannot_block_the_writer(box: Box) -> None:
    with start(box, ["sleep", "65.5"]) as running:
        started = time.monotonic()
        assert not running.write_line(b"x" * 5_000_000, started + 0.3)
        assert time.monotonic() - started < 2


def test_the_clock_ends_a_partner_that_nobody_talks_to(box: Box, make_box: MakeBox) -> None:
    box = smaller(box, make_box, 0.7)
    with start(box, ["sh", "-c", "echo on; exec sleep 66.5"]) as running:
        assert running.read_line(time.monotonic() + 0.6) == b"on"
        assert gone("66.5", 3)
        ended = running.wait(time.monotonic() + 2)
        assert ended is not None
        assert ended.timed_out


def test_boxes_run_at_the_same_time(box: Box) -> None:
    endings: list[int | None] = []

    def one(status: int) -> None:
        endings.append(run(box, ["sh", "-c", f"sleep 0.3; exit {status}"]).exit_status)

    started = time.monotonic()
    threads = [threading.Thread(target=one, args=(status,)) for status in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status or 0 for status in endings) == [1, 2, 3, 4]
    assert time.monotonic() - started < 1.1
