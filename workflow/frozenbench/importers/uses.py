"""Read what a run used out of a log, and remember the values that no run can have."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import amount, whole
from frozenbench.importers.model import Remark

#: How much of a value is shown.
_SHOWN = 30


class Uses:
    """Reads the uses of one file.

    Attributes:
        remarks: one for every value that is there and is no use: negative, no number, too large.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self.remarks: list[Remark] = []

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

    def _note(self, name: str, value: Any, odd: bool) -> None:
        if odd and value is not None:
            text = repr(value) if isinstance(value, str) else str(value)
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            told = f"{self._file}: {name}: {shown} is no use that a run can have"
            self.remarks.append(Remark("odd_value", told))
