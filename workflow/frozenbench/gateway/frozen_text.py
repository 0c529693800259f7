"""What agents put into their requests of the day and machine: frozen, so that no answer rests on it.

Two kinds. Today's date, times of today and the kernel's name are replaced before a request is
forwarded: the model is told a fixed day, on whatever day the run is made or replayed. Names of
temporary files and measured durations reach the model as they are and are left out of the key
alone: a name that was changed would lead nowhere.
"""

from __future__ import annotations

import calendar
import datetime
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

#: The day that every model is told, at midnight.
FROZEN_DAY = datetime.date(2026, 1, 1)
#: The kernel that every model is told.
FROZEN_RELEASE, FROZEN_VERSION = "6.0.0", "#1 SMP"

_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"

#: What differs between two runs and is no part of what is asked: a part of it that is fast to
#: find, its pattern, and what stands for it.
_UNKEYED = (
    ("/tmp/tmp", re.compile(r"(/tmp/tmp)[a-z0-9_]{8}\b"), r"\1________"),
    ("/tmp/", re.compile(r"(/tmp/[\w.-]*-)(?=\w*[A-Z0-9])[A-Za-z0-9]{6}\b"), r"\1______"),
    (" in ", re.compile(r"( in )\d+\.\d+( ?s(?:econds)?)\b"), r"\g<1>0\2"),
    ("all time: ", re.compile(r"\b([Ww]all time: )\d+(?:\.\d+)?"), r"\g<1>0"),
    ("uration: ", re.compile(r"\b([Dd]uration: )\d+(?:\.\d+)?"), r"\g<1>0"),
    ("Chunk ID: ", re.compile(r"\b(Chunk ID: )[0-9a-f]{4,}"), r"\g<1>0"),
    ("cch=", re.compile(r"\b(cch=)[0-9a-f]{4,}"), r"\g<1>0"),  # a checksum over a request's bytes
)


def utc_day() -> datetime.date:
    """Return today's date in UTC, which is also a sandbox's time zone."""
    return datetime.datetime.fromtimestamp(time.time(), datetime.UTC).date()


def unkeyed(value: Any) -> Any:
    """Return JSON without what a record key leaves out of its texts."""
    return _in_texts(value, _without_chance)


def _without_chance(text: str) -> str:
    for part, pattern, instead in _UNKEYED:
        if part in text:
            text = pattern.sub(instead, text)
    return text


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON with every text changed; names of fields stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_in_texts(item, change) for item in value]
    if isinstance(value, Mapping):
        return {name: _in_texts(item, change) for name, item in value.items()}
    return value


@dataclass(frozen=True)
class Freezer:
    """Freezes the requests of one cell.

    Attributes:
        began: the day on which the cell began; the day of a request is frozen as well.
        own: the task's own texts: a date that stands in them is no date of today's making.
        release, version: the kernel's, as `uname` gives them.
    """

    began: datetime.date
    own: tuple[str, ...] = ()
    release: str = ""
    version: str = ""

    @classmethod
    def of_this_machine(cls, own: Iterable[str]) -> Freezer:
        """Return the freezer of a cell that begins now, here."""
        kernel = os.uname()
        return cls(utc_day(), tuple(own), kernel.release, kernel.version)

    def frozen(self, value: Any) -> Any:
        """Return a request, as JSON, with day and kernel frozen."""
        days = tuple(sorted({self.began, utc_day()}))
        return _in_texts(value, lambda text: self._kernel(self._dates(text, days)))

    def _dates(self, text: str, days: tuple[datetime.date, ...]) -> str:
        named = [d for d in days if str(d.year) in text or calendar.month_abbr[d.month] in text]
        # Form by form: one without a year would take half of the same day of another year.
        for forms in zip(*map(_forms, named), strict=True):
            for form in forms:
                text = form.written_in(text, self.own)
        return text

    def _kernel(self, text: str) -> str:
        if self.version and len(self.version) > 8:
            text = text.replace(self.version, FROZEN_VERSION)
        if not self.release or self.release not in text:
            return text
        if len(self.release) > 8 and "-" in self.release:
            return text.replace(self.release, FROZEN_RELEASE)
        # A release such as 6.1.0 may be anything's: only behind the system's name it is a kernel's.
        behind = re.compile(rf"(\bLinux(?: [\w.-]+)? ){re.escape(self.release)}(?![\w.])")
        return behind.sub(rf"\g<1>{FROZEN_RELEASE}", text)


def _midnight(text: str | None) -> str:
    """Return a time of day with all digits 0."""
    return re.sub(r"\d", "0", text or "")


@dataclass(frozen=True)
class _Form:
    """One way in which a day is written, and how the frozen day is written so."""

    pattern: re.Pattern[str]
    instead: Callable[[re.Match[str]], str]

    def written_in(self, text: str, own: tuple[str, ...]) -> str:
        """Return the text with the frozen day in it, but for what stands in a text of `own`."""

        def one(found: re.Match[str]) -> str:
            whole = found[0]
            return whole if any(whole in mine for mine in own) else self.instead(found)

        return self.pattern.sub(one, text)


@lru_cache(maxsize=8)
def _forms(day: datetime.date) -> tuple[_Form, ...]:
    """Return the ways in which a day is written, and how the frozen day is written so."""
    year, month, number = day.year, f"{day.month:02d}", f"{day.day:02d}"
    to = FROZEN_DAY
    names = {
        calendar.day_name[day.weekday()]: calendar.day_name[to.weekday()],
        calendar.day_abbr[day.weekday()]: calendar.day_abbr[to.weekday()],
        # One spelling for both: of May nobody can say whether it was cut short.
        calendar.month_name[day.month]: calendar.month_abbr[to.month],
        calendar.month_abbr[day.month]: calendar.month_abbr[to.month],
    }
    weekday = rf"(?:(?P<w>{calendar.day_name[day.weekday()]}|{calendar.day_abbr[day.weekday()]})(?P<wc>,? ))?"
    month_name = rf"(?P<m>{calendar.month_name[day.month]}|{calendar.month_abbr[day.month]})"
    plain = rf"0?{day.day}"

    def named(found: re.Match[str], rest: str) -> str:
        head = f"{names[found['w']]}{found['wc']}" if found["w"] else ""
        return head + rest

    def iso(found: re.Match[str]) -> str:
        cut = found["s"]
        time_of_day = f"{found['t']}{_midnight(found['h'])}" if found["h"] else ""
        return f"{to.year}{cut}{to.month:02d}{cut}{to.day:02d}{time_of_day}"

    forms: list[tuple[str, Callable[[re.Match[str]], str]]] = [
        (
            rf"(?<!\d){year}(?P<s>[-/.]){month}(?P=s){number}(?!\d)(?:(?P<t>[T ])(?P<h>{_TIME}))?",
            iso,
        ),
        (
            rf"(?<!\d){month}/{number}/{year}(?!\d)",
            lambda found: f"{to.month:02d}/{to.day:02d}/{to.year}",
        ),
        (
            rf"(?<!\d){number}(?P<s>[/.]){month}(?P=s){year}(?!\d)",
            lambda found: f"{to.day:02d}{found['s']}{to.month:02d}{found['s']}{to.year}",
        ),
        (  # Monday, November 30, 2026; Mon Nov 30 2026 12:00:00
            rf"\b{weekday}{month_name} {plain}(?P<c>,? ){year}(?!\d)(?:(?P<t>,? )(?P<h>{_TIME}))?",
            lambda found: named(
                found,
                f"{names[found['m']]} {to.day}{found['c']}{to.year}{found['t'] or ''}"
                f"{_midnight(found['h'])}",
            ),
        ),
        (  # Mon, 30 Nov 2026 12:00:00
            rf"\b{weekday}{plain} {month_name}(?P<c>,? ){year}(?!\d)(?:(?P<t>,? )(?P<h>{_TIME}))?",
            lambda found: named(
                found,
                f"{to.day} {names[found['m']]}{found['c']}{to.year}{found['t'] or ''}"
                f"{_midnight(found['h'])}",
            ),
        ),
        (  # Mon Nov 30 12:00:00 UTC 2026, as date(1) prints it
            rf"\b{weekday}{month_name} {{1,2}}{plain} (?P<h>{_TIME})(?P<z>(?: [AP]M)?(?: \w+)? ){year}(?!\d)",
            lambda found: named(
                found,
                f"{names[found['m']]} {to.day:2d} {_midnight(found['h'])}{found['z']}{to.year}",
            ),
        ),
        (  # Nov 30 12:00, as ls prints it
            rf"\b{month_name} {{1,2}}{plain} (?P<h>\d\d:\d\d)(?!\d)",
            lambda found: f"{names[found['m']]} {to.day:2d} {_midnight(found['h'])}",
        ),
    ]
    return tuple(_Form(re.compile(pattern), instead) for pattern, instead in forms)
