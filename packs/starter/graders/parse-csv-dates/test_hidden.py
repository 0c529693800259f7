from datetime import date
from pathlib import Path

import pytest
from frozenbench_candidate import load, write_file

SAMPLE = "calendar_sample.csv"
events = load("events.py", files={SAMPLE: Path(__file__).with_name(SAMPLE).read_bytes()})
read_events, events_between = events.read_events, events.events_between
IN_ORDER = [
    (date(2024, 2, 1), "Walk"),
    (date(2024, 2, 29), "Rehearsal"),
    (date(2024, 11, 5), "Dinner, with speeches"),
    (date(2024, 11, 5), "Opening"),
    (date(2024, 12, 31), "Closing"),
]


def write(*rows):
    write_file(events, "written.csv", "\n".join(["date,title", *rows, ""]))
    return "written.csv"


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-04-03", date(2024, 4, 3)),
        ("03/04/2024", date(2024, 4, 3)),
        ("12/11/2023", date(2023, 11, 12)),
        ("31/01/2025", date(2025, 1, 31)),
        ("29/02/2024", date(2024, 2, 29)),
        ("  2024-04-03 ", date(2024, 4, 3)),
    ],
    ids=["iso", "day-first", "both-could-be-months", "day-above-12", "leap-day", "spaces"],
)
def test_both_ways_to_write_a_day(written, day):
    assert read_events(write(f"{written},Fair")) == [(day, "Fair")]


def test_a_day_is_a_plain_date():
    assert {type(day) for day, _ in read_events(SAMPLE)} == {date}


def test_earliest_first_and_equal_days_as_in_the_file():
    assert read_events(SAMPLE) == IN_ORDER


def test_a_header_without_rows():
    assert read_events(write()) == []


@pytest.mark.parametrize(
    "written",
    ["31/02/2024", "2023-02-29", "2024-13-01", "soon", ""],
    ids=["31-february", "29-february-2023", "month-13", "word", "empty"],
)
def test_what_is_no_day_is_a_value_error(written):
    with pytest.raises(ValueError):
        read_events(write("2024-01-01,Fine", f"{written},Broken"))


def test_between_includes_both_ends():
    assert events_between(SAMPLE, date(2024, 2, 29), date(2024, 11, 5)) == IN_ORDER[1:4]


def test_between_of_one_day():
    assert events_between(SAMPLE, date(2024, 12, 31), date(2024, 12, 31)) == IN_ORDER[4:]


def test_between_leaves_out_the_neighbours():
    assert events_between(SAMPLE, date(2024, 2, 2), date(2024, 2, 28)) == []


def test_between_of_everything():
    assert events_between(SAMPLE, date(2024, 1, 1), date(2025, 1, 1)) == IN_ORDER
