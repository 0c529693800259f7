"""Find out which format a file has, and read it: one file in, what it gave out."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput
from frozenbench.importers import FORMATS, plain
from frozenbench.importers.documents import Document
from frozenbench.importers.model import Part, Passed, Remark, Unreadable
from frozenbench.schema import nearest
from frozenbench.source_files import identity

AUTO = "auto"
#: What a file of a log can be called; others in a folder are passed over by name.
SUFFIXES = (".json", ".jsonl", ".eval", ".traj", ".yml", ".yaml", ".csv", ".tsv", ".lock")
#: What code raises besides, where a value is not of the shape that it expects.
_SHAPES = (ArithmeticError, RuntimeError, MemoryError)


@dataclass(frozen=True)
class FileRead:
    """What became of one file.

    Attributes:
        name: as people see it.
        sha256, size: of the bytes as they lie there.
        format: the format it was read as, None where none fits.
        part: what it gave, None where it gave nothing.
        kind: why it gave nothing: `broken_file`, `unknown_file`, `passed_over`.
        message: the same in words.
        remarks: what a reader must be told of how its text is written.
    """

    name: str
    sha256: str
    size: int
    format: str | None
    part: Part | None
    kind: str | None = None
    message: str = ""
    remarks: tuple[Remark, ...] = ()


def check_format(name: str, where: str) -> None:
    """Raise BadInput for a format that does not exist."""
    known = (AUTO, *FORMATS)
    if name not in known:
        raise BadInput(f"{where}: {name!r} is no format{nearest(name, known)}; cure: one of these")


def module_of(name: str) -> Any:
    """Return the module that reads a format."""
    return importlib.import_module(f"frozenbench.importers.{name}")


def recognise(document: Document) -> str | None:
    """Return the name of the first format that knows the file, None where none does.

    Raises:
        Unreadable: it cannot be opened at all.
    """
    return next((name for name in FORMATS if module_of(name).recognises(document)), None)


def unknown(document: Document) -> str:
    """Return why no format knows a file, and what can be done."""
    lacks = plain.lacking(document)
    own = f"a table or JSON lines with {', '.join(plain.COLUMNS[:3])} are read as plain"
    cure = f"its head lacks {lacks}: {own}" if lacks else own
    return f"no format knows it ({', '.join(FORMATS)}); cure: {cure}"


def _written(document: Document) -> tuple[Remark, ...]:
    return tuple(document.doubles.remarks(document.name))


def read_file(job: tuple[str, str, str]) -> FileRead:
    """Read one file: (format or `auto`, path, name); whatever is wrong with it is in the answer."""
    asked, path, name = job
    document = Document(Path(path), name)
    try:
        sha256, size = identity(document.path)
    except OSError as error:
        told = f"cannot be read ({error.strerror or error})"
        kind = "broken_file" if document.suffix in SUFFIXES else "passed_over"
        return FileRead(name, "", 0, None, None, kind, told)
    found: str | None = None
    try:
        if document.suffix not in SUFFIXES:
            raise Passed(f"no log by its name; logs end in {', '.join(SUFFIXES)}")
        found = recognise(document) if asked == AUTO else asked
        if found is None:
            told = unknown(document)
            return FileRead(name, sha256, size, None, None, "unknown_file", told)
        part = module_of(found).read(document)
        return FileRead(name, sha256, size, found, part, remarks=_written(document))
    except Passed as error:
        # Others may be read together with it: how it is written is told of it alone.
        told, written = str(error), _written(document)
        return FileRead(name, sha256, size, found, None, "passed_over", told, written)
    except Unreadable as error:
        return FileRead(name, sha256, size, found, None, "broken_file", str(error))
    except (TypeError, ValueError, LookupError, AttributeError, *_SHAPES) as error:
        # A shape that nobody thought of: the file is named and the rest goes on.
        told = f"is not of the shape of {found} ({type(error).__name__}: {error})"
        return FileRead(name, sha256, size, found, None, "broken_file", told)
