"""The text protocol of a chat agent: fenced code blocks become files.

The rules, in full:

- A fence opens with a line of three or more backticks or tildes, at any indentation; what stands
  behind is its info string. It closes with a line of as many or more of the same character and
  nothing else. A fence that never closes takes the rest: a cut answer still proposes something.
- The info string may name a path (`python src/a.py`, `python:src/a.py`, `src/a.py`,
  `title="src/a.py"`), or the last line before the fence that is not blank may be a path and
  nothing else but Markdown's marks and `File:` (`**src/a.py**`, `### File: src/a.py`). A path that
  is absolute or leads upward is never written: its block is left out.
- Every block with a path is that file; the last one counts if a path comes twice.
- If no block is named after the task's only artifact path, the first block without a path whose
  language fits it is that file (Python for .py; a block without a language fits any). Where no
  block has a path and none fits, it is the first block.
- A block is its lines without the fence's indentation, line ends LF; blank lines at its end go,
  one line end stays, white space at the ends of lines stays. A block of blank lines is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)")
_ATTRIBUTE = re.compile(r"""(?:title|file|filename|path|name)=["']?([^"'\s]+)["']?""")
_PATH = re.compile(r"[\w.+@-]+(?:[/\\][\w.+@-]+)*")
_LABEL = re.compile(r"(?:file|filename|path)\s*:\s*", re.IGNORECASE)
_MARKS = "*_`#: \t>"

#: Languages of info strings whose files end in the given way; any other language fits any file.
_SUFFIXES = {
    "python": (".py", ".pyi"),
    "python3": (".py", ".pyi"),
    "py": (".py", ".pyi"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "js": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".tsx"),
    "ts": (".ts", ".tsx"),
    "json": (".json",),
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "markdown": (".md",),
    "html": (".html", ".htm"),
    "css": (".css",),
    "bash": (".sh",),
    "sh": (".sh",),
    "shell": (".sh",),
    "console": (),
    "output": (),
    "diff": (".diff", ".patch"),
    "text": (".txt",),
    "plaintext": (".txt",),
}


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        language: first word of the info string in lower case, or "".
        path: the path that is named for it, as written, or None.
        text: its content; ends with one line end.
    """

    language: str
    path: str | None
    text: str


def blocks(reply: str) -> list[Block]:
    """Return the fenced blocks of a reply in order, empty ones left out."""
    found: list[Block] = []
    lines = reply.replace("\r\n", "\n").split("\n")
    before = ""
    position = 0
    while position < len(lines):
        fence = _opening(lines[position])
        if fence is None:
            before = lines[position] if lines[position].strip() else before
            position += 1
            continue
        end = _closing(lines, position + 1, fence[2])
        text = _content(lines[position + 1 : end], fence[1])
        if text:
            found.append(_block(fence[3], before, text))
        before, position = "", end + 1
    return found


def _opening(line: str) -> re.Match[str] | None:
    fence = _FENCE.fullmatch(line.rstrip())
    # With backticks in its info string it is code in a sentence.
    return None if fence is None or ("`" in fence[2] and "`" in fence[3]) else fence


def _closing(lines: Sequence[str], start: int, fence: str) -> int:
    for position in range(start, len(lines)):
        text = lines[position].strip()
        if len(text) >= len(fence) and not text.strip(fence[0]):
            return position
    return len(lines)


def _content(lines: Sequence[str], indent: str) -> str:
    kept = [_dedent(line, len(indent)) for line in lines]
    while kept and not kept[-1].strip():
        kept.pop()
    return "".join(line + "\n" for line in kept)


def _dedent(line: str, width: int) -> str:
    """Take away up to `width` characters of white space."""
    return line[min(width, len(line) - len(line.lstrip(" \t"))) :]


def _block(info: str, before: str, text: str) -> Block:
    words = info.strip().split()
    first = words[0] if words else ""
    language, colon, rest = first.partition(":")
    path = _attribute(info)
    if path is None and colon and _looks_like_path(rest):
        path = rest
    if path is None:
        path = next((word for word in words if _looks_like_path(word)), None)
    if path is None:
        label = _LABEL.sub("", before.strip(_MARKS)).strip(_MARKS)
        path = label if _looks_like_path(label) else None
    if path == first:
        language = ""
    return Block(language.lower(), path, text)


def _attribute(info: str) -> str | None:
    found = _ATTRIBUTE.search(info)
    return found[1] if found else None


def _looks_like_path(text: str) -> bool:
    """Tell whether a text is a file's path: no sentence, and a suffix or a folder in it."""
    plain = text.removeprefix("/")
    if _PATH.fullmatch(plain) is None or plain.strip(".") == "":
        return False
    stem, dot, suffix = plain.rpartition(".")
    named = bool(dot) and bool(stem) and suffix.isalnum() and not suffix.isdigit()
    return named or "/" in plain


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return "\\" not in path and all(part not in ("", ".", "..") for part in parts)


def files_of(reply: str, artifact: Sequence[str]) -> dict[str, str]:
    """Return the files that a reply proposes, by path; empty where it proposes none.

    Args:
        reply: what the model said.
        artifact: the paths that the task asks for; a block without a path needs exactly one.
    """
    found = blocks(reply)
    named = {_plain(block.path): block.text for block in found if block.path is not None}
    files = {path: text for path, text in named.items() if _is_inside(path)}
    if len(artifact) != 1 or artifact[0] in files:
        return files
    rest = [block for block in found if block.path is None]
    fitting = [block for block in rest if _fits(block.language, artifact[0])]
    chosen = fitting or ([] if named else rest)
    return {**files, artifact[0]: chosen[0].text} if chosen else files


def _plain(path: str) -> str:
    return path.removeprefix("./")


def _fits(language: str, path: str) -> bool:
    return language not in _SUFFIXES or path.endswith(_SUFFIXES[language])
