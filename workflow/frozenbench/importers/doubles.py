"""Keys that stand twice in one JSON object: every reader keeps the last, so somebody must say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from frozenbench.importers.model import Remark
from frozenbench.importers.names import short
from frozenbench.source_files import printable

#: What a JSON reader calls with the (key, value) pairs of each object.
Joined = Callable[[list[tuple[str, Any]]], dict[str, Any]]
#: How much of a key is shown.
_SHOWN = 80


class Doubles:
    """What stands twice in the objects of one file with values that differ.

    Where the values are the same nothing is lost, and nothing is said. A place that is read again,
    such as the first line that tells the format, counts once.
    """

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {}  # place -> key -> number of objects

    def at(self, place: str) -> Joined:
        """Return what joins the pairs of an object in a place: a line, a member; empty: the file."""
        self._found.pop(place, None)

        def joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            value = dict(pairs)
            if len(value) != len(pairs):
                self._found.setdefault(place, Counter()).update(_differing(pairs))
            return value

        return joined

    def remarks(self, file: str) -> Iterator[Remark]:
        """Yield one remark for each key."""
        first: dict[str, str] = {}
        objects: Counter[str] = Counter()
        for place, counts in self._found.items():
            objects += counts
            for key in counts:
                first.setdefault(key, place)
        for key, number in objects.items():
            many = number > 1
            place = f", {'first ' * many}in {first[key]}" if first[key] else ""
            name = f'"{printable(short(key, _SHOWN))}"'
            told = f"{file}: {name} in {number} object{'s' * many}{place}"
            yield Remark("doubled_key", told)


def _differing(pairs: Sequence[tuple[str, Any]]) -> set[str]:
    """Return the keys with several values; `true` and 1 are two, though Python calls them equal."""
    first: dict[str, Any] = {}
    found = set()
    for key, value in pairs:
        before = first.setdefault(key, value)
        if before is not value and repr(before) != repr(value):
            found.add(key)
    return found
