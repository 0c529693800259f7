"""Open a log file: JSON, JSON lines, YAML or CSV; numbers stay exact, sizes are bounded."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from frozenbench.importers.doubles import Doubles
from frozenbench.importers.model import Unreadable
from frozenbench.source_files import open_file

#: Powers of ten between which numbers in a log lie: a sum of them over many runs fits 64 bits.
_SMALLEST, _LARGEST = 40, 15
_MIB = 1 << 20
#: How the place of one of many lines begins; the text of it has no lines of its own.
LINE = "line "
#: Bytes of a file that is read whole, of one line of JSON lines, and of YAML, all unpacked.
MOST_TEXT, MOST_LINE, MOST_YAML = 512 * _MIB, 100 * _MIB, 8 * _MIB


@dataclass(frozen=True)
class Document:
    """One file, read as late as it can be.

    Attributes:
        path: where it is.
        name: how it is named to people: relative to what was asked for.
        doubles: the keys that stand twice in what was read of it so far.
    """

    path: Path
    name: str
    doubles: Doubles = field(default_factory=Doubles, compare=False, repr=False)

    @property
    def suffix(self) -> str:
        """The kind by its name, `.gz` left out."""
        return Path(self._base).suffix.lower()

    @property
    def _base(self) -> str:
        return self.path.name.removesuffix(".gz")

    @property
    def stem(self) -> str:
        """The name without any of a log's endings."""
        return stem(self._base)

    @property
    def folder(self) -> str:
        """The name of the folder that it lies in, from wherever it was asked for."""
        return self.place.parent.name

    @cached_property
    def place(self) -> Path:
        """Where it lies, whole: what a folder is called does not hang on the one that is open."""
        return place_of(self.path)

    def shown(self, folder: Path) -> str:
        """Return how a folder above it is called to people.

        One above what was asked for is told by its name alone: `./run-a`, where that folder is open.
        """
        levels = len(self.place.parts) - len(folder.parts)
        parts = PurePosixPath(self.name).parts
        return "/".join(parts[:-levels]) if levels < len(parts) else f"./{folder.name}"

    def text(self, most: int = MOST_TEXT) -> str:
        """Return all of it as text.

        Raises:
            Unreadable: it is no UTF-8, a broken gzip, or larger than `most` bytes.
        """
        data = self._bytes(most)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            told = f"is no UTF-8 ({error.reason} at byte {error.start}); cure: save it as UTF-8"
            raise Unreadable(told) from None

    def _bytes(self, most: int) -> bytes:
        try:
            with self._open() as stream:
                data = stream.read(most + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise Unreadable(f"cannot be read ({error})") from None
        if len(data) > most:
            raise Unreadable(f"is larger than {most // _MIB} MiB")
        return data

    def _open(self) -> BinaryIO:
        """Open it, unpacked: what a small gzip unpacks to is bounded by who reads."""
        stream = open_file(self.path)
        if self.path.name.endswith(".gz"):
            stream.close()
            return cast(BinaryIO, gzip.open(self.path, "rb"))
        return stream

    @cached_property
    def json(self) -> Any:
        """The JSON value; numbers with a point are exact decimals.

        Raises:
            Unreadable: it is no JSON.
        """
        return self.inner(self.text())

    def inner(self, text: str, place: str = "") -> Any:
        """Return the JSON value of a text that stands in a place of it; empty: that is all of it.

        Raises:
            Unreadable: it is no JSON.
        """
        return parse(text, self.doubles, place)

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Yield (line number, JSON value), one line in memory at a time.

        Raises:
            Unreadable: a line is no JSON, or too long.
        """
        try:
            with self._open() as stream:
                for number in count(1):
                    line = stream.readline(MOST_LINE + 1)
                    if not line:
                        return
                    if len(line) > MOST_LINE:
                        told = f"is longer than {MOST_LINE // _MIB} MiB"
                        raise Unreadable(f"line {number}: {told}")
                    if line.strip():
                        yield number, self._line(number, line)
        except (OSError, EOFError, zlib.error) as error:
            raise Unreadable(f"cannot be read ({error})") from None

    def _line(self, number: int, line: bytes) -> Any:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            return self.inner(text, f"{LINE}{number}")
        except UnicodeDecodeError as error:
            raise Unreadable(f"line {number}: is no UTF-8 ({error.reason})") from None
        except Unreadable as error:
            raise Unreadable(f"line {number}: {error}") from None

    @cached_property
    def head(self) -> Any:
        """The value that tells the format: the whole JSON, or the first of many lines; else None.

        A `.jsonl` that is one JSON list over many lines is that list.
        """
        if self.suffix == ".jsonl":
            return self.json if self._is_list() else next((v for _, v in self.lines()), None)
        if self.suffix in (".json", ".traj"):
            return self.json
        return None

    def _is_list(self) -> bool:
        """Tell whether the first line holds the opening of a list and no more."""
        try:
            with self._open() as stream:
                return stream.readline(16).strip() == b"["
        except (OSError, EOFError, zlib.error):
            return False

    @cached_property
    def yaml(self) -> Any:
        """The YAML value; numbers with a point are exact decimals.

        Raises:
            Unreadable: it is no YAML.
        """
        import yaml

        class Exact(yaml.SafeLoader):
            """Read 20.4 as the decimal 20.4."""

        def exact(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
            return exact_number(loader.construct_scalar(node).replace("_", ""))

        Exact.add_constructor("tag:yaml.org,2002:float", exact)
        try:
            return yaml.load(self.text(MOST_YAML), Loader=Exact)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise Unreadable(f"is no YAML ({' '.join(str(error).split())[:120]})") from None

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield (line number, row) of a table with a head; columns part at `,`, `;` or a tab.

        Names of columns are read without regard to case. Rows and columns without any text, as
        spreadsheets leave them behind, hold nothing.

        Raises:
            Unreadable: it has no head, a name stands twice in it, or a row is of another length.
        """
        text = self.text()
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
        try:
            head: list[str] = []
            for row in reader:
                if not any(field.strip() for field in row):
                    continue
                if not head:
                    head = _head(row)
                    continue
                yield reader.line_num, _row(reader.line_num, head, row)
            if not head:
                raise Unreadable("is empty: a table needs a head")
        except csv.Error as error:
            raise Unreadable(f"line {reader.line_num}: is no CSV ({error})") from None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names in the head of a table, as `rows` gives them.

        Raises:
            Unreadable: it is no UTF-8 or too large.
        """
        text = self.text()
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
        try:
            first = next((row for row in reader if any(field.strip() for field in row)), [])
        except csv.Error:
            return ()
        return tuple(field.strip().lower() for field in first)


def _delimiter(text: str) -> str:
    """Return what parts the columns of a head: a comma, or what a spreadsheet puts in its place."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    counts = {mark: head.count(mark) for mark in (",", ";", "\t")}
    return max(counts, key=lambda mark: counts[mark])


def _head(row: Sequence[str]) -> list[str]:
    head = [name.strip().lower() for name in row]
    twice = [name for name, times in Counter(head).items() if name and times > 1]
    if twice:
        raise Unreadable(f"column {twice[0]} stands twice in the head")
    return head


def _row(number: int, head: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    fields = list(row)
    while len(fields) > len(head) and not fields[-1].strip():
        fields.pop()
    if len(fields) != len(head):
        told = f"has {len(fields)} fields, the head {len(head)}"
        cure = "is the file cut?" if len(fields) < len(head) else "a text with commas needs quotes"
        raise Unreadable(f"line {number}: {told}: {cure}")
    return {
        name: field
        for name, field in zip(head, fields, strict=True)
        if name or field.strip()  # a column without name and text
    }


def place_of(path: Path) -> Path:
    """Return where a path leads, from the root on; a link keeps its name."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def stem(name: str) -> str:
    """Return a file's name without the endings of logs: `a__b-1.traj.json` -> `a__b-1`."""
    for ending in (".gz", ".jsonl", ".json", ".traj", ".trajectory", ".yaml", ".yml", ".csv"):
        name = name.removesuffix(ending)
    return name


@dataclass(frozen=True)
class NoNumber:
    """A number that no run can use, as it stands in a log: NaN, Infinity, 1e400.

    It is no number to any reader, and it is there: so it is named, and not taken for "not told".
    """

    text: str

    def __str__(self) -> str:
        return self.text


def parse(text: str, doubles: Doubles | None = None, place: str = "") -> Any:
    """Return a JSON value with exact decimals; of a key that stands twice the last counts.

    Args:
        text: all of it.
        doubles: where keys that stand twice are noted.
        place: where the text stands in its file.

    Raises:
        Unreadable: it is no JSON.
    """
    collecting = gc.isenabled()
    gc.disable()  # millions of objects, no cycle among them: collecting makes up most of the time
    try:
        joined = None if doubles is None else doubles.at(place)
        return json.loads(
            text, parse_float=exact_number, parse_constant=NoNumber, object_pairs_hook=joined
        )
    except json.JSONDecodeError as error:
        told = error.msg.removesuffix(" at")  # "Unterminated string starting at"
        line = "" if place.startswith(LINE) else f"line {error.lineno} "
        raise Unreadable(f"is no JSON ({told} at {line}column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no JSON ({error})") from None
    finally:
        if collecting:
            gc.enable()


def exact_number(text: str) -> Decimal | NoNumber:
    """Return a number with a point or an exponent as an exact decimal, or that it is of no use."""
    value = decimal(text)
    return NoNumber(text) if value is None else value


def decimal(text: str) -> Decimal | None:
    """Return a finite decimal, None where it is none, or where no use of a run is of its size.

    A text of ten letters can stand for a number of a thousand million digits. Digits are 0 to 9, with
    nothing between them: `1_0` is no number, and may have been 1.0.
    """
    text = text.strip()
    if not text.isascii() or "_" in text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    if not value.is_finite() or (value and not -_SMALLEST <= value.adjusted() < _LARGEST):
        return None
    return value


def whole(value: Any) -> int | None:
    """Return a count: a whole number from 0 to what a run can use, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return int(value) if 0 <= value < 10**_LARGEST and value == int(value) else None


def amount(value: Any) -> Decimal | None:
    """Return an exact amount from 0 to what a run can use, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if 0 <= value < 10**_LARGEST else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def added(*values: int | None) -> int | None:
    """Return the sum of what is known, None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def between(start: Any, end: Any) -> Decimal | None:
    """Return the seconds between two times (ISO 8601, or seconds since the epoch)."""
    times = [_time(start), _time(end)]
    if times[0] is None or times[1] is None or times[1] < times[0]:
        return None
    return amount(times[1] - times[0])


def _time(value: Any) -> Decimal | None:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    if not isinstance(value, str):
        return None
    from datetime import UTC, datetime, timedelta

    try:
        parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
        parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        since = parsed - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return Decimal(since // timedelta(microseconds=1)) / 1_000_000
