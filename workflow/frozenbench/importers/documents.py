"""Open a log file: JSON, JSON lines, YAML, CSV or a ZIP of JSON; numbers stay exact."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

from frozenbench.importers.model import Unreadable

#: Powers of ten between which numbers in a log lie: a sum of them over many runs fits 64 bits.
_SMALLEST, _LARGEST = 40, 15
#: ZIP's number for Zstandard, which the standard library reads from Python 3.14 on.
_ZSTD = 93


@dataclass(frozen=True)
class Document:
    """One file, read as late as it can be.

    Attributes:
        path: where it is.
        name: how it is named to people: relative to what was asked for.
    """

    path: Path
    name: str

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
        """The name of the folder that it lies in."""
        return self.path.parent.name

    def text(self) -> str:
        """Return all of it as text.

        Raises:
            Unreadable: it is no UTF-8, or a broken gzip.
        """
        try:
            return self._bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Unreadable(f"is no UTF-8 ({error.reason} at byte {error.start})") from None

    def _bytes(self) -> bytes:
        try:
            data = self.path.read_bytes()
            return gzip.decompress(data) if self.path.name.endswith(".gz") else data
        except (OSError, EOFError, zlib.error) as error:
            raise Unreadable(f"cannot be read ({error})") from None

    @cached_property
    def json(self) -> Any:
        """The JSON value; numbers with a point are exact decimals.

        Raises:
            Unreadable: it is no JSON.
        """
        return parse(self.text())

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Yield (line number, JSON value), one line in memory at a time.

        Raises:
            Unreadable: a line is no JSON.
        """
        opened = gzip.open if self.path.name.endswith(".gz") else open
        try:
            with opened(self.path, "rt", encoding="utf-8-sig") as stream:
                for number, line in enumerate(stream, start=1):
                    if line.strip():
                        try:
                            yield number, parse(line)
                        except Unreadable as error:
                            raise Unreadable(f"line {number}: {error}") from None
        except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise Unreadable(f"cannot be read ({error})") from None

    @cached_property
    def head(self) -> Any:
        """The value that tells the format: the whole JSON, or the first of many lines; else None."""
        if self.suffix == ".jsonl":
            return next((value for _, value in self.lines()), None)
        if self.suffix in (".json", ".traj"):
            return self.json
        return None

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
            return decimal(loader.construct_scalar(node).replace("_", ""))

        Exact.add_constructor("tag:yaml.org,2002:float", exact)
        try:
            return yaml.load(self.text(), Loader=Exact)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise Unreadable(f"is no YAML ({' '.join(str(error).split())[:120]})") from None

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield (line number, row) of a CSV with a head.

        Raises:
            Unreadable: it has no head, or a row has too many fields.
        """
        reader = csv.DictReader(io.StringIO(self.text(), newline=""), strict=True)
        try:
            if not reader.fieldnames:
                raise Unreadable("is empty: a CSV needs a head")
            for row in reader:
                if None in row:
                    raise Unreadable(f"line {reader.line_num}: has more fields than the head")
                yield reader.line_num, {key: value or "" for key, value in row.items()}
        except csv.Error as error:
            raise Unreadable(f"line {reader.line_num}: is no CSV ({error})") from None


def stem(name: str) -> str:
    """Return a file's name without the endings of logs: `a__b-1.traj.json` -> `a__b-1`."""
    for ending in (".gz", ".jsonl", ".json", ".traj", ".trajectory", ".yaml", ".yml", ".csv"):
        name = name.removesuffix(ending)
    return name


def _constant(_: str) -> None:
    """Read NaN and Infinity, which are no JSON, as "not told"."""


def parse(text: str) -> Any:
    """Return a JSON value with exact decimals.

    Raises:
        Unreadable: it is no JSON.
    """
    try:
        return json.loads(text, parse_float=decimal, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise Unreadable(f"is no JSON ({error.msg} at line {error.lineno})") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no JSON ({error})") from None


def decimal(text: str) -> Decimal | None:
    """Return a finite decimal, None where it is none, or where no use of a run is of its size.

    A text of ten letters can stand for a number of a thousand million digits.
    """
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or (value and not -_SMALLEST <= value.adjusted() < _LARGEST):
        return None
    return value


class Archive:
    """A ZIP of JSON files, its members deflated or compressed with Zstandard (method 93).

    Raises:
        Unreadable: it is no ZIP, or a member is broken or compressed otherwise.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise Unreadable(f"is no readable ZIP ({error})") from None
        self.names = tuple(self._zip.namelist())

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def json(self, name: str) -> Any:
        """Return one member."""
        try:
            return parse(self._member(self._zip.getinfo(name)).decode("utf-8"))
        except UnicodeDecodeError:
            raise Unreadable(f"{name}: is no UTF-8") from None
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from None

    def _member(self, info: zipfile.ZipInfo) -> bytes:
        if info.compress_type != _ZSTD:
            try:
                return self._zip.read(info)
            except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
                raise Unreadable(f"cannot be unpacked ({error})") from None
        data = _zstd(self._raw(info))
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise Unreadable("is damaged: its check sum does not fit")
        return data

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """Return a member as it lies in the file: behind a local header of its own length."""
        stream = self._zip.fp
        if stream is None:
            raise Unreadable("is closed")
        stream.seek(info.header_offset)
        header = stream.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise Unreadable("is damaged: its header is not there")
        name, extra = struct.unpack("<HH", header[26:30])
        stream.seek(info.header_offset + 30 + name + extra)
        return stream.read(info.compress_size)


def _zstd(data: bytes) -> bytes:
    # pyarrow, which writes our tables, brings the decoder: no further package is needed.
    import pyarrow as pa

    try:
        found: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(f"is no Zstandard ({error})") from None
    return found


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
    return times[1] - times[0]


def _time(value: Any) -> Decimal | None:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    if not isinstance(value, str):
        return None
    from datetime import UTC, datetime, timedelta

    try:
        parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    since = parsed - datetime(1970, 1, 1, tzinfo=UTC)
    return Decimal(since // timedelta(microseconds=1)) / 1_000_000
