"""The seed of each request."""

from __future__ import annotations

import hashlib


def request_seed(base: int, repeat: int, proposal: int) -> int:
    """Return the seed of request number `proposal` (from 0) in `repeat` (from 0).

    The first 4 bytes, big-endian, of SHA-256 of `base:repeat:proposal` in decimal, without the
    sign bit (PROTOCOL 4). Another attempt after an infrastructure fault changes nothing in it.
    """
    text = f"{base:d}:{repeat:d}:{proposal:d}".encode("ascii")
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") & 0x7FFFFFFF
