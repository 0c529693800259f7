"""Read many files on several processes, in their order; an interrupt ends all of them at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from frozenbench.canonical import Failed
from frozenbench.importers.recognise import FileRead, read_file
from frozenbench.process import follow

#: Below this many files, or bytes of them, starting processes costs more than it saves.
_FEW, _SMALL = 16, 32_000_000
#: The most files that one process takes at a time.
_CHUNK = 32


def read_files(form: str, files: Sequence[tuple[Path, str]], jobs: int) -> Iterator[FileRead]:
    """Yield what became of every file, in their order.

    Raises:
        Failed: a reading process was ended from outside.
    """
    work = [(form, str(path), name) for path, name in files]
    size = sum(path.stat().st_size for path, _ in files if path.exists())
    if jobs < 2 or len(work) < 2 or (len(work) < _FEW and size < _SMALL):
        yield from map(read_file, work)
        return
    chunk = max(1, min(_CHUNK, len(work) // (4 * jobs)))
    pool = ProcessPoolExecutor(jobs, initializer=_follow, initargs=(os.getpid(),))
    try:
        yield from pool.map(read_file, work, chunksize=chunk)
    except BrokenProcessPool:
        raise Failed(
            "a process that reads logs was ended by the system, which may be short of memory; "
            "cure: --jobs 1, or fewer or smaller files"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _follow(parent: int) -> None:
    """Leave interrupts to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    follow(parent)
