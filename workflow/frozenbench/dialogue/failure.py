"""What a model is told of a failed check: the same text on every machine, and not too long of it.

Taken out, because they differ between two runs of the same check: addresses (`0x7f…`), times that
a tool says it took (`in 0.12s`, `0.01s call`, `0:00:03`), folders of the machine, traceback frames
outside the work folder with their source lines, and the marks below a source line (`^^^^`), which
Python versions set differently. Quantities in other places are the task's own and stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_UNIT = r" ?(?:s|ms|us|µs|ns|sec(?:onds?)?)\b"
_TOOK = re.compile(rf"\b(in(?= \d+\.)|took) \d+(?:\.\d+)?{_UNIT}")
_PHASE = re.compile(r"\b\d+\.\d+ ?s (?=(?:call|setup|teardown)\b)")
_CLOCK = re.compile(r" \(\d+:\d\d:\d\d\)")
_FRAME = re.compile(r'(\s*)File "([^"]+)", line \d+')
_MARKS = re.compile(r"\s*[~^][~^\s]*")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: Folders in which machines differ; the file's name is kept.
_FOLDERS = re.compile(
    r"(?<![\w./])/(?:usr|opt|tmp|var|home|root|lib|lib64|nix|proc|private|Users)/(?:[^\s\"':,()<>]*/)?"
)
_CUT = "[…]\n"


def told(output: bytes, work_folders: Sequence[str], length: int) -> str:
    """Return the output of a failed check as the model reads it.

    Args:
        output: what the check wrote, both streams.
        work_folders: the work folder as the check may have called it.
        length: at most so many characters; the end is kept, where checks say what is wrong.
    """
    text = _COLOURS.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n")
    # A longer name first: one folder may stand inside another.
    for folder in sorted(work_folders, key=len, reverse=True):
        text = text.replace(folder.rstrip("/") + "/", "")
    lines = [line.rstrip() for line in _without_foreign_frames(text.split("\n"))]
    text = "\n".join(line for line in lines if line and _MARKS.fullmatch(line) is None)
    text = _FOLDERS.sub("", text)
    text = _ADDRESS.sub("0x…", text)
    text = _TOOK.sub(r"\1 …", text)
    text = _CLOCK.sub("", _PHASE.sub("… ", text))
    return cut(text, length)


def _without_foreign_frames(lines: Sequence[str]) -> list[str]:
    """Drop frames of files outside the work folder: they still have an absolute path here."""
    kept: list[str] = []
    deeper: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if deeper is not None and line.strip() and indent > deeper:
            continue
        frame = _FRAME.match(line)
        deeper = len(frame[1]) if frame and frame[2].startswith(("/", "<frozen ")) else None
        if deeper is None:
            kept.append(line)
    return kept


def cut(text: str, length: int) -> str:
    """Return the end of a text, from the start of a line where one begins in it."""
    if len(text) <= length:
        return text
    room = max(0, length - len(_CUT))
    end = text[len(text) - room :]
    _, newline, whole_lines = end.partition("\n")
    return (_CUT + (whole_lines if newline else end))[:length]
