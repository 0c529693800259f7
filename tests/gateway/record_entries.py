"""Entries of the record, by hand and by hypothesis."""

from __future__ import annotations

from typing import Any

from frozenbench.canonical import digest
from frozenbench.gateway.record import Entry, key_material
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)


def entry(
    request: dict[str, Any] | None = None, response: dict[str, Any] | None = None, **changes: Any
) -> Entry:
    """Return a sound entry; `occurrence` and the entry's own fields can be given."""
    material = key_material(
        endpoint="e" * 64,
        task="t" * 64,
        repeat=0,
        salt=None,
        request=request or {"messages": [{"role": "user", "content": "hello"}]},
        occurrence=changes.pop("occurrence", 0),
    )
    given = {
        "key": digest(material),
        "material": material,
        "response": response or {"choices": [{"message": {"content": "hi"}}]},
        "seconds": 1.5,
        "date": "2026-11-30",
        "machine_class": "x86_64-AuthenticAMD-25-1",
        "model": "m",
    }
    return Entry(**{**given, **changes})


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Draw a sound entry with any request and response."""
    return entry(
        request=draw(OBJECTS) or None,
        response=draw(OBJECTS) or None,
        occurrence=draw(st.integers(0, 9)),
        seconds=draw(st.floats(0, 1e6)),
        date=draw(st.dates()).isoformat(),
        machine_class=draw(st.none() | TEXT),
        model=draw(st.none() | TEXT),
    )
