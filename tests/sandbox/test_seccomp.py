"""The filter, run by a small machine of its own, for both processors."""

from __future__ import annotations

import errno
import platform
import struct

import pytest
from frozenbench.sandbox.seccomp import MACHINES, filter_program

ALLOW = 0x7FFF0000
# machine: AUDIT_ARCH, and numbers of socket, socketpair, ptrace, io_uring_setup, read, openat
CALLS = {
    "x86_64": (0xC000003E, 41, 53, 101, 425, 0, 257),
    "aarch64": (0xC00000B7, 198, 199, 117, 425, 63, 56),
}


def answer(program: bytes, number: int, arch: int, first: int = 0) -> int:
    """Run a filter as the kernel does; return its answer."""
    data = struct.pack("<IIQQ", number, arch, 0, first)
    lines = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator = at = 0
    while True:
        code, true, false, value = lines[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            held = accumulator == value if code == 0x15 else accumulator >= value
            assert code in (0x15, 0x35)
            at += true if held else false


def error(number: int) -> int:
    return 0x00050000 | number


@pytest.mark.parametrize("machine", sorted(CALLS))
def test_answers(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    arch, sock, pair, ptrace, ring, read, openat = CALLS[machine]
    for call in (sock, pair):
        for family in range(60):
            expected = ALLOW if family in (1, 2, 10) else error(errno.EAFNOSUPPORT)
            assert answer(program, call, arch, family) == expected
            # The kernel looks at the lower half alone.
            assert answer(program, call, arch, family | 1 << 32) == expected
    assert answer(program, ptrace, arch) == error(errno.EPERM)
    assert answer(program, ring, arch) == error(errno.ENOSYS)
    assert answer(program, read, arch) == ALLOW
    assert answer(program, openat, arch) == ALLOW


@pytest.mark.parametrize("machine", sorted(CALLS))
def test_only_the_named_calls_are_answered(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    known = MACHINES[machine]
    named = {*known.refused, *known.absent}
    for number in range(500):
        allowed = answer(program, number, known.audit_arch, 1) == ALLOW
        assert allowed == (number not in named)


def test_other_calling_conventions_are_refused() -> None:
    program = filter_program("x86_64")
    assert program is not None
    assert answer(program, 0, 0x40000003) == error(errno.EPERM)  # 32 bit
    assert answer(program, 0x40000000 + 101, 0xC000003E) == error(errno.EPERM)  # x32


def test_an_unknown_machine_has_none() -> None:
    assert filter_program("pdp11") is None
    assert (filter_program() is None) == (platform.machine() not in MACHINES)
