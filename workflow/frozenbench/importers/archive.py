"""A ZIP of JSON files, read in place: every size is bounded and checked, nothing is written to disk.

Read here rather than by `zipfile`, because the directory and the sizes in a file of strangers can
lie, and because Zstandard (method 93) is not read by the standard library before Python 3.14.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from frozenbench.importers.documents import parse
from frozenbench.importers.doubles import Doubles
from frozenbench.importers.model import Unreadable
from frozenbench.source_files import open_file

_MIB = 1 << 20
#: Bytes of one member, unpacked: JSON needs up to 24 times as much memory.
MOST_MEMBER = 100 * _MIB
#: Bytes of all members that are read, unpacked: 16 MiB and so many times the file's own size, up
#: to the bound.
MOST_WHOLE, MOST_TIMES, _FREE = 4096 * _MIB, 1000, 16 * _MIB
#: Bytes of the directory: about half a million members.
_MOST_DIRECTORY = 64 * _MIB

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_ENTRY, _LOCAL = struct.Struct("<4s4B4HL2L5H2L"), struct.Struct("<4s2B4HL2L2H")
_ENCRYPTED, _UTF_8 = 0x1, 0x800
_UNKNOWN = 0xFFFFFFFF  # the 64-bit field of the entry's extra data holds the number


class TooLarge(Unreadable):
    """A member that would unpack to more than the bound."""


@dataclass(frozen=True)
class _Member:
    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int


class Archive:
    """The members of a ZIP by name; of several members of one name the last counts, as in Inspect.

    Args:
        path: where it is.
        doubles: where keys that stand twice in a member are noted.

    Attributes:
        names: of all members that are files, each once.

    Raises:
        Unreadable: it is no ZIP, or its directory is damaged.
    """

    def __init__(self, path: Path, doubles: Doubles | None = None) -> None:
        self._doubles = doubles
        try:
            self._stream: BinaryIO = open_file(path)
        except OSError as error:
            raise Unreadable(f"cannot be read ({error})") from None
        try:
            self._size = path.stat().st_size
            self._members = _directory(self._stream, self._size)
        except (struct.error, OSError, OverflowError):
            self._stream.close()
            raise Unreadable("is no readable ZIP (its directory is damaged)") from None
        except Unreadable:
            self._stream.close()
            raise
        self._left = min(MOST_WHOLE, MOST_TIMES * self._size + _FREE)
        self.names = tuple(name for name in self._members if not name.endswith("/"))

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def json(self, name: str) -> Any:
        """Return one member.

        Raises:
            TooLarge: it, or all members so far, unpack to more than the bound.
            Unreadable: it is not there, damaged, encrypted, packed otherwise, or no JSON.
        """
        try:
            return parse(self._read(name).decode("utf-8"), self._doubles, name)
        except UnicodeDecodeError:
            raise Unreadable(f"{name}: is no UTF-8") from None
        except TooLarge as error:
            raise TooLarge(f"{name}: {error}") from None
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from None

    def _read(self, name: str) -> bytes:
        member = self._members.get(name)
        if member is None:
            raise Unreadable("is not there")
        if member.flags & _ENCRYPTED:
            raise Unreadable("is encrypted")
        if member.method not in (_STORED, _DEFLATED, _ZSTD):
            raise Unreadable(
                f"is packed by method {member.method}; 0, 8 (deflate) and 93 (Zstandard) are read"
            )
        if max(member.size, member.packed) > MOST_MEMBER:
            raise TooLarge(f"unpacks to more than {MOST_MEMBER // _MIB} MiB")
        if member.size > self._left:
            raise TooLarge(f"with it the file would unpack to more than {self._bound()}")
        self._left -= member.size
        data = _unpacked(self._raw(member), member)
        if len(data) != member.size or zlib.crc32(data) != member.crc:
            raise Unreadable("is damaged: its check sum does not fit")
        return data

    def _bound(self) -> str:
        many = MOST_TIMES * self._size + _FREE > MOST_WHOLE
        return f"{MOST_WHOLE // _MIB} MiB" if many else f"{MOST_TIMES} times its size"

    def _raw(self, member: _Member) -> bytes:
        """Return a member as it lies in the file: behind a local header of its own length."""
        try:
            self._stream.seek(member.offset)
            header = _LOCAL.unpack(self._stream.read(_LOCAL.size))
            if header[0] != b"PK\x03\x04" or self._stream.read(header[-2]) != member.name:
                raise Unreadable("is damaged: its header is another's")
            self._stream.seek(header[-1], 1)
            return self._stream.read(member.packed)
        except (struct.error, OSError, OverflowError, ValueError):
            raise Unreadable("is damaged: its header is not there") from None


def _directory(stream: BinaryIO, size: int) -> dict[str, _Member]:
    place, length, start = _end(stream, size)
    if length > _MOST_DIRECTORY:
        raise Unreadable(f"its directory is larger than {_MOST_DIRECTORY // _MIB} MiB")
    before = place - length - start
    if before < 0:
        raise Unreadable("is no readable ZIP (its directory is cut)")
    if before > 0:
        raise Unreadable(
            f"{before} bytes lie before the archive, such as another one; cure: each log its own file"
        )
    stream.seek(start)
    data, at = stream.read(length), 0
    members = {}
    while at < length:
        fields = _ENTRY.unpack_from(data, at)
        name_size, extra_size, comment_size = fields[12:15]
        at += _ENTRY.size
        name, extra = data[at : at + name_size], data[at + name_size : at + name_size + extra_size]
        at += name_size + extra_size + comment_size
        if fields[0] != b"PK\x01\x02" or at > length:
            raise Unreadable("is no readable ZIP (its directory is damaged)")
        member = _member(name, extra, fields)
        coded = "utf-8" if member.flags & _UTF_8 else "cp437"
        # The last member of a name counts: it was written anew.
        members[name.decode(coded, "replace")] = member
    return members


def _member(name: bytes, extra: bytes, fields: tuple[Any, ...]) -> _Member:
    flags, method, crc, packed, size, offset = (*fields[5:7], *fields[9:12], fields[-1])
    numbers = [size, packed, offset]
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1:  # ZIP64: only the numbers that do not fit above, in this order
            held = struct.unpack_from(f"<{length // 8}Q", extra, 4)
            places = [place for place, number in enumerate(numbers) if number == _UNKNOWN]
            for place, number in zip(places, held, strict=False):
                numbers[place] = number
        extra = extra[4 + length :]
    return _Member(name, flags, method, crc, numbers[1], numbers[0], numbers[2])


def _end(stream: BinaryIO, size: int) -> tuple[int, int, int]:
    """Return where the directory ends, how long it is and where it says that it starts."""
    stream.seek(max(0, size - 0x10000 - 22))
    tail = stream.read()
    found = last = tail.rfind(_END, 0, max(0, len(tail) - 18))
    # The end's own comment may hold the same sign: the end is where its comment ends the file.
    while found > 0 and found + 22 + struct.unpack_from("<H", tail, found + 20)[0] != len(tail):
        found = tail.rfind(_END, 0, found)
    found = last if found < 0 else found
    if found < 0:
        raise Unreadable("is no readable ZIP (its end is not there: is the file cut?)")
    length, start = struct.unpack_from("<LL", tail, found + 12)
    place = size - len(tail) + found
    if place >= 76 and _UNKNOWN in (length, start):
        stream.seek(place - 20)
        locator = stream.read(20)
        if locator[:4] == b"PK\x06\x07":
            (place,) = struct.unpack_from("<Q", locator, 8)
            stream.seek(place)
            record = stream.read(56)
            if record[:4] != _END_64:
                raise Unreadable("is no readable ZIP (its 64-bit end is not there)")
            length, start = struct.unpack_from("<QQ", record, 40)
    return place, length, start


def _unpacked(raw: bytes, member: _Member) -> bytes:
    """Return the data, at most one byte more than the directory tells."""
    most = member.size + 1
    if member.method == _STORED:
        return raw
    if member.method == _DEFLATED:
        try:
            return zlib.decompressobj(-15).decompress(raw, most)
        except zlib.error as error:
            raise Unreadable(f"cannot be unpacked ({error})") from None
    # pyarrow, which writes our tables, brings the decoder: no further package is needed.
    import pyarrow as pa

    try:
        found: bytes = pa.CompressedInputStream(pa.BufferReader(raw), "zstd").read(most)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable(f"is no Zstandard ({error})") from None
    return found
