"""A seccomp filter: what namespaces leave open and no agent or grader needs.

Namespaces do not cover netlink and vsock sockets, ptrace, io_uring and the kernel's key store.
The program is classic BPF, as `bwrap --seccomp FD` reads it: an array of `struct sock_filter`
(linux/filter.h) over `struct seccomp_data` (linux/seccomp.h).
"""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """System call numbers of one machine (asm/unistd.h) and its AUDIT_ARCH (linux/audit.h)."""

    audit_arch: int
    sockets: tuple[int, ...]  # socket, socketpair: the family is the first argument
    refused: tuple[int, ...]  # with EPERM
    absent: tuple[int, ...]  # with ENOSYS, as on a kernel built without
    foreign_bit: int | None  # numbers at and above it belong to another calling convention


# ptrace, process_vm_readv, process_vm_writev, add_key, request_key, keyctl, bpf,
# perf_event_open, userfaultfd, pidfd_getfd, kcmp, quotactl, acct;
# io_uring_setup, io_uring_enter, io_uring_register
MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        (41, 53),
        (101, 310, 311, 248, 249, 250, 321, 298, 323, 438, 312, 179, 163),
        (425, 426, 427),
        0x40000000,
    ),
    "aarch64": Machine(
        0xC00000B7,
        (198, 199),
        (117, 270, 271, 217, 218, 219, 280, 241, 282, 438, 272, 60, 89),
        (425, 426, 427),
        None,
    ),
}

#: Families that a process may open sockets of: within its own network namespace they reach
#: loopback and sockets that are mounted, nothing else.
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, JEQ|K, JGE|K, RET|K
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO


def filter_program(machine: str = "") -> bytes | None:
    """Return the filter for `machine` (default: this one), or None where none is known."""
    known = MACHINES.get(machine or os.uname().machine)
    return None if known is None else _assemble(known)


def _assemble(machine: Machine) -> bytes:
    """Return the program: a test that matches goes on to its answer, another steps over it."""
    program = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, machine.audit_arch), _error(errno.EPERM)]
    program.append((_LOAD, 0, 0, _NUMBER))
    if machine.foreign_bit is not None:
        program += [(_AT_LEAST, 0, 1, machine.foreign_bit), _error(errno.EPERM)]
    for number in machine.refused:
        program += [(_EQUAL, 0, 1, number), _error(errno.EPERM)]
    for number in machine.absent:
        program += [(_EQUAL, 0, 1, number), _error(errno.ENOSYS)]
    # The family is an int: the kernel ignores the upper half of the register, and so do we.
    families = [(_LOAD, 0, 0, _FIRST_ARGUMENT)]
    families += [
        (_EQUAL, len(FAMILIES) - place, 0, family) for place, family in enumerate(FAMILIES)
    ]
    families += [_error(errno.EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    # A socket call steps over the other tests and the permission, to the families.
    for place, number in enumerate(machine.sockets):
        program.append((_EQUAL, len(machine.sockets) - place, 0, number))
    program.append((_RETURN, 0, 0, _ALLOW))
    program += families
    return b"".join(struct.pack("=HBBI", *line) for line in program)


def _error(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERROR | number)
