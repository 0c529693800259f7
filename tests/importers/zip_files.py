"""ZIP archives written by hand, so that anything in them can be false."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from log_files import zstd

STORED, DEFLATED, ZSTD = 0, 8, 93
_FULL = 0xFFFFFFFF


@dataclass(frozen=True)
class Member:
    """One member; what is None is true.

    Attributes:
        method: how its data is packed, and what the directory says.
        size, crc: what the directory says instead of the truth.
        flags: general purpose bits.
        wide: its numbers stand in a ZIP64 field alone.
    """

    name: str
    data: bytes
    method: int = DEFLATED
    size: int | None = None
    crc: int | None = None
    flags: int = 0x800
    wide: bool = False
    other_name: str | None = None


def packed(member: Member) -> bytes:
    if member.method == ZSTD:
        return zstd(member.data)
    if member.method == DEFLATED:
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflate.compress(member.data) + deflate.flush()
    return member.data


def archive(members: Sequence[Member], *, wide_end: bool = False, comment: bytes = b"") -> bytes:
    """Return an archive; `wide_end`: its end is a ZIP64 record."""
    body, directory = b"", b""
    for member in members:
        data, name = packed(member), member.name.encode()
        size = len(member.data) if member.size is None else member.size
        crc = zlib.crc32(member.data) if member.crc is None else member.crc
        told = (_FULL, _FULL) if member.wide else (len(data), size)
        common = struct.pack("<HHHHH", 45, member.flags, member.method, 0, 0x21)
        sizes = struct.pack("<III", crc, *told)
        field = struct.pack("<QQQ", size, len(data), len(body)) if member.wide else b""
        extra = struct.pack("<HH", 1, len(field)) + field if field else b""
        local = (member.other_name or member.name).encode()
        # A local header may be longer than that of the directory.
        tail = b"\xfe\xca\x02\x00xx"
        head = b"PK\x03\x04" + common + sizes + struct.pack("<HH", len(local), len(tail))
        directory += (
            b"PK\x01\x02"
            + struct.pack("<H", 45)
            + common
            + sizes
            + struct.pack("<HHHHHI", len(name), len(extra), 0, 0, 0, 0)
            + struct.pack("<I", _FULL if member.wide else len(body))
            + name
            + extra
        )
        body += head + local + tail + data
    return body + directory + _end(len(members), directory, body, wide_end, comment)


def _end(count: int, directory: bytes, body: bytes, wide: bool, comment: bytes) -> bytes:
    told = (0xFFFF, 0xFFFF, _FULL, _FULL) if wide else (count, count, len(directory), len(body))
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, *told, len(comment)) + comment
    if not wide:
        return end
    record = b"PK\x06\x06" + struct.pack("<QHHII", 44, 45, 45, 0, 0)
    record += struct.pack("<QQQQ", count, count, len(directory), len(body))
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(body) + len(directory), 1)
    return record + locator + end
