"""Read what a run used, and its verdict, and remember the values that are neither."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import amount, between, whole
from frozenbench.importers.model import Remark

#: How much of a value is shown, and how many members of one.
_SHOWN, _FEW = 30, 3
#: Seconds by which two marks of one moment may differ.
_CLOCKS = Decimal("0.001")
_WORDS: Mapping[Any, str] = {True: "true", False: "false", None: "null"}


class Uses:
    """Reads the uses of one file.

    Attributes:
        remarks: one for every value that is there and is no use (negative, no number, too large),
            or no verdict.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self.remarks: list[Remark] = []

    def of(self, name: str) -> Uses:
        """Return a reader of one run of several in the file; its remarks are those of the file."""
        inner = Uses(f"{self._file}: {name}")
        inner.remarks = self.remarks
        return inner

    def whole(self, name: str, value: Any) -> int | None:
        """Return a count, None where it is not told."""
        read = whole(value)
        self._note(name, value, read is None)
        return read

    def amount(self, name: str, value: Any) -> Decimal | None:
        """Return an exact amount, None where it is not told."""
        read = amount(value)
        self._note(name, value, read is None)
        return read

    def sum(self, name: str, *values: int | None) -> int | None:
        """Return a sum of counts, None where one is not told or the sum is no count of a run."""
        if any(value is None for value in values):
            return None
        return self.whole(name, sum(value for value in values if value is not None))

    def between(self, name: str, start: Any, end: Any) -> Decimal | None:
        """Return the seconds between two times, None where one is not told.

        An end before its start is named, unless it lies so near that clocks may differ by it.
        """
        read = between(start, end)
        lacks = start is None or end is None
        if read is None and not lacks and (between(end, start) or _CLOCKS) >= _CLOCKS:
            self._odd(name, f"from {written(start)} to {written(end)}")
        return read

    def verdict(self, name: str, value: Any) -> bool | None:
        """Return a verdict, None where none is told."""
        if value is None or isinstance(value, bool):
            return value
        self.no_verdict(name, value)
        return None

    def no_verdict(self, name: str, value: Any) -> None:
        """Remember a value that is there in the place of a verdict, and is none."""
        told = f"{self._file}: {name}: {written(value)} is neither true nor false"
        self.remarks.append(Remark("odd_verdict", told))

    def disagree(self, told: str) -> None:
        """Remember that verdicts contradict each other, and what they say."""
        self.remarks.append(Remark("verdicts_disagree", f"{self._file}: {told}"))

    def _note(self, name: str, value: Any, odd: bool) -> None:
        if odd and value is not None:
            self._odd(name, written(value))

    def _odd(self, name: str, shown: str) -> None:
        told = f"{self._file}: {name}: {shown} is no use that a run can have"
        self.remarks.append(Remark("odd_value", told))


def written(value: Any) -> str:
    """Return a value of a log in words, cut where it is long."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, list | Mapping) and len(value) > _FEW:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
