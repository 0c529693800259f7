"""System calls that Python does not have before 3.12, or at all: namespaces and mounts."""

from __future__ import annotations

import ctypes
import os

#: linux/sched.h
NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000

#: sys/mount.h
READ_ONLY, NO_SUID, NO_DEVICES = 1, 2, 4
_RECURSIVE, _SLAVE = 16384, 1 << 19

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(namespaces: int) -> None:
    """Move this process to new namespaces. Raises OSError."""
    _check(_libc.unshare(ctypes.c_int(namespaces)), "new namespaces")


def enter(descriptor: int, namespace: int) -> None:
    """Move this process to the namespace behind a descriptor. Raises OSError."""
    _check(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(namespace)), "entering a namespace")


def mount(kind: str, target: str, flags: int, options: str) -> None:
    """Mount a new file system of `kind`, which is also the source that is shown for it.

    Raises:
        OSError: the kernel does not let us.
    """
    words = (kind.encode(), os.fsencode(target), kind.encode())
    done = _libc.mount(*words, ctypes.c_ulong(flags), options.encode())
    _check(done, f"mounting {kind}")


def keep_mounts_here() -> None:
    """Let nothing that is mounted from now on be seen outside this mount namespace."""
    flags = ctypes.c_ulong(_RECURSIVE | _SLAVE)
    _check(_libc.mount(b"none", b"/", None, flags, None), "a private view of the mounts")
