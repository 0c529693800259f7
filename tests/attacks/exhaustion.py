"""Attacks on the machine: code that takes all there is of something, and does not end by itself."""

# ruff: noqa: E501
from __future__ import annotations

from dataclasses import dataclass

from attack_task import FIXTURE, WRONG, Tree, file_of

#: The clock of each of them, s, and what may come on top until the verdict is there.
LIMIT_SECONDS, GRACE_SECONDS = 2.0, 5.0

_FOREVER = "\nwhile True:\n    time.sleep(0.05)\n"
_SLEEPER = '[sys.executable, "-c", "import time; time.sleep(600)", "@MARK@"]'


@dataclass(frozen=True)
class Exhaustion:
    """One resource attack: what it takes, and the code that takes it."""

    name: str
    takes: str
    code: str

    def source(self, mark: str) -> str:
        """Return the code as a script."""
        head = "import os, signal, subprocess, sys, threading, time\n"
        return head + self.code.replace("@MARK@", mark)

    def tree(self, mark: str) -> Tree:
        """Return an artifact that does it when it is imported."""
        return {**FIXTURE, "solution.py": file_of(WRONG + self.source(mark))}


def _filling(write: str, most: int) -> str:
    """Return code that writes until it is refused or `most` bytes or names are there."""
    return (
        f"done = 0\ntry:\n    while done < {most}:\n        done += {write}\n"
        "except OSError as error:\n    print('REFUSED', error, flush=True)\n"
        "print('WROTE', done, flush=True)" + _FOREVER
    )


EXHAUSTIONS = (
    Exhaustion("infinite_loop", "processor time", "while True:\n    pass\n"),
    Exhaustion(
        "loop_in_c_regex",
        "processor time inside one call",
        'import re\nre.match(r"(a+)+$", "a" * 64 + "b")\n',
    ),
    Exhaustion("loop_in_c_power", "processor time inside one number", "n = 3 ** (10 ** 9)\n"),
    Exhaustion(
        "fork_bomb",
        "processes",
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        time.sleep(0.01)\n",
    ),
    Exhaustion(
        "thread_bomb",
        "threads",
        "while True:\n    try:\n        threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "    except RuntimeError:\n        time.sleep(0.01)\n",
    ),
    Exhaustion(
        "memory_bomb",
        "memory in large pieces",
        "held = []\ntry:\n    while True:\n        held.append(b'x' * (64 << 20))\n"
        f"except MemoryError:\n    pass{_FOREVER}",
    ),
    Exhaustion(
        "small_allocations",
        "memory in small pieces",
        "held = None\nwhile True:\n    try:\n        while True:\n            held = (held, [0] * 50)\n"
        "    except MemoryError:\n        time.sleep(0.01)\n",
    ),
    Exhaustion(
        "disk_fill",
        "disk space in many files",
        _filling("open(f'fill{done}', 'wb', 0).write(bytes(16 << 20))", 768 << 20),
    ),
    Exhaustion("inode_fill", "names in a folder", _filling("os.mknod(f'n{done}') or 1", 60_000)),
    Exhaustion(
        "huge_file",
        "disk space in one file",
        "out = open('huge', 'wb', 0)\n" + _filling("out.write(bytes(16 << 20))", 768 << 20),
    ),
    Exhaustion(
        "sparse_file",
        "the size of a file without content",
        "try:\n    open('sparse', 'wb').truncate(1 << 43)\nexcept OSError:\n    pass" + _FOREVER,
    ),
    Exhaustion(
        "stdout_flood",
        "a gigabyte of standard output",
        f"for _ in range(1024):\n    os.write(1, b'x' * (1 << 20)){_FOREVER}",
    ),
    Exhaustion(
        "stderr_flood",
        "standard error without line ends",
        "while True:\n    os.write(2, b'x' * 65536)\n",
    ),
    Exhaustion(
        "descriptors",
        "file descriptors",
        "held = []\nwhile True:\n    try:\n        held.append(os.pipe())\n"
        "    except OSError:\n        time.sleep(0.05)\n",
    ),
    Exhaustion(
        "sleeping_daemon",
        "the grader's pipes, held by a daemon",
        f"if os.fork() == 0:\n    os.setsid()\n    subprocess.Popen({_SLEEPER}, start_new_session=True)\n"
        f"    time.sleep(600)\nsubprocess.Popen({_SLEEPER}, start_new_session=True){_FOREVER}",
    ),
    Exhaustion(
        "deaf",
        "every signal that can be caught",
        "for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n    try:\n"
        f"        signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass{_FOREVER}",
    ),
    Exhaustion(
        "zombies",
        "entries of ended processes",
        "while True:\n    try:\n        os.fork() or os._exit(0)\n    except OSError:\n        time.sleep(0.01)\n",
    ),
    Exhaustion(
        "stopped",
        "patience: everything stops itself",
        "if os.fork() == 0:\n    time.sleep(600)\nos.kill(0, signal.SIGSTOP)" + _FOREVER,
    ),
    Exhaustion(
        "deep_recursion",
        "the stack",
        "sys.setrecursionlimit(10 ** 9)\nthreading.stack_size(512 << 20)\ndef deeper(n):\n"
        "    return deeper(n + 1) + 1\ntry:\n    deeper(0)\nexcept (RecursionError, MemoryError):\n    pass"
        + _FOREVER,
    ),
    Exhaustion(
        "deep_tree",
        "folders in folders",
        "try:\n    for _ in range(3000):\n        os.mkdir('d')\n        os.chdir('d')\n"
        f"except OSError:\n    pass{_FOREVER}",
    ),
    Exhaustion(
        "expansion",
        "what little data unpacks to",
        "import zlib\npacked = zlib.compress(bytes(64 << 20))\nheld = []\ntry:\n    while True:\n"
        f"        held.append(zlib.decompress(packed))\nexcept MemoryError:\n    pass{_FOREVER}",
    ),
    Exhaustion(
        "shared_memory",
        "shared memory and scratch folders",
        "import mmap\nheld = []\nfor place in ('/dev/shm', '/tmp', os.path.expanduser('~')):\n"
        "    try:\n        for number in range(40):\n            with open(f'{place}/@MARK@{number}', 'wb', 0) as out:\n"
        "                out.write(bytes(16 << 20))\n    except OSError:\n        pass\n"
        "try:\n    while len(held) < 64:\n        held.append(mmap.mmap(-1, 64 << 20))\n"
        f"        held[-1].write(b'x' * (64 << 20))\nexcept (OSError, MemoryError, ValueError):\n    pass{_FOREVER}",
    ),
)
