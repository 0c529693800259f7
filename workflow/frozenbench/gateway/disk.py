"""Writing through to the disk, off the way of what waits for an answer."""

from __future__ import annotations

import os
import queue
import threading
from contextlib import suppress
from pathlib import Path


class Disk:
    """Syncs files in a thread of its own, in the order in which they come."""

    def __init__(self) -> None:
        self._files: queue.Queue[Path] = queue.Queue()
        self._thread: threading.Thread | None = None

    def sync(self, path: Path) -> None:
        """See to it that a file that is there reaches the disk."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        self._files.put(path)

    def wait(self) -> None:
        """Wait until every file has."""
        self._files.join()

    def _work(self) -> None:
        while True:
            path = self._files.get()
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            self._files.task_done()
