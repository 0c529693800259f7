"""The club's calendar, kept in a CSV file."""

import csv
from datetime import date, datetime

LAYOUTS = ("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y")


def parse_day(text: str) -> date:
    """Return the day that `text` names, in either of the two ways to write it."""
    for layout in LAYOUTS:
        try:
            return datetime.strptime(text.strip(), layout).date()
        except ValueError:
            continue
    raise ValueError(f"{text!r} is not a day")


def read_events(path: str) -> list[tuple[date, str]]:
    """Return (day, title) of every event in the file, earliest day first."""
    with open(path, newline="", encoding="utf-8") as handle:
        events = [(parse_day(row["date"]), row["title"]) for row in csv.DictReader(handle)]
    return sorted(events, key=lambda event: event[0])


def events_between(path: str, first: date, last: date) -> list[tuple[date, str]]:
    """Return the events from `first` to `last`, both days included."""
    return [event for event in read_events(path) if first <= event[0] <= last]
