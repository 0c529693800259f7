"""The class of this machine's processor: what may decide the last bit of a floating-point sum."""

from __future__ import annotations

import platform
from functools import lru_cache
from pathlib import Path

#: /proc/cpuinfo fields that make the class: x86 first, then ARM, then what is left.
_FIELDS = (
    ("vendor_id", "cpu family", "model"),
    ("CPU implementer", "CPU architecture", "CPU part"),
    ("uarch", "isa"),
)


@lru_cache(maxsize=1)
def machine_class() -> str:
    """Return architecture, vendor, family and model, such as `x86_64-AuthenticAMD-25-1`.

    It holds no host name, no core count and no clock rate: two machines of one class are meant to
    give the same bytes for the same model request.
    """
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return class_of(platform.machine() or "unknown", text)


def class_of(architecture: str, cpuinfo: str) -> str:
    """Return the class that the text of a /proc/cpuinfo states for its first processor."""
    found: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), "_".join(value.split()))
    for fields in _FIELDS:
        values = [found[field] for field in fields if found.get(field)]
        if values:
            return "-".join([architecture, *values])
    return f"{architecture}-unknown"
