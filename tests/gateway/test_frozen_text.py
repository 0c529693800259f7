from __future__ import annotations

import datetime
from typing import Any

import pytest
from frozenbench.gateway import frozen_text
from frozenbench.gateway.frozen_text import FROZEN_DAY, Freezer, unkeyed
from hypothesis import example, given
from hypothesis import strategies as st
from record_entries import JSON

DAY = datetime.date(2027, 5, 4)
KERNEL = ("6.8.0-45-generic", "#45-Ubuntu SMP PREEMPT_DYNAMIC")


def freezer(day: datetime.date, *own: str) -> Freezer:
    return Freezer(day, own, *KERNEL)


@pytest.fixture(autouse=True)
def another_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen_text, "utc_day", lambda: DAY)


#: How people, languages and tools write a day; each is frozen in its own form.
FORMS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%A, %B %d, %Y",
    "%a %b %d %Y",
    "%B %d, %Y",
    "%d %B %Y",
    "%a, %d %b %Y",
]
TIMES = ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M", "%a %b %d %H:%M:%S UTC %Y", "%b %d %H:%M"]


@pytest.mark.parametrize("form", FORMS)
@given(day=st.dates(datetime.date(2024, 1, 1), datetime.date(2035, 1, 1)))
def test_today_becomes_the_frozen_day_in_its_own_form(form: str, day: datetime.date) -> None:
    text = f"Today: {day.strftime(form)}."
    frozen = freezer(day).frozen({"a": [text]})["a"][0]
    assert frozen == freezer(DAY).frozen(f"Today: {DAY.strftime(form)}.")
    assert str(FROZEN_DAY.year) in frozen


@pytest.mark.parametrize("form", TIMES)
@given(at=st.datetimes(datetime.datetime(2024, 1, 1), datetime.datetime(2035, 1, 1)))
@example(at=datetime.datetime(2028, 5, 4))
def test_times_of_today_become_midnight(form: str, at: datetime.datetime) -> None:
    frozen = freezer(at.date()).frozen(at.strftime(form))
    other = freezer(DAY).frozen(datetime.datetime(2027, 5, 4, 3, 2, 1).strftime(form))
    assert frozen == other
    assert "00:00" in frozen


@given(value=JSON)
def test_what_holds_no_day_stays(value: Any) -> None:
    assert freezer(datetime.date(2999, 12, 31)).frozen(value) == value


def test_other_days_and_numbers_stay() -> None:
    text = "2027-05-03, 2027-05-05, 12027-05-04, 2027-05-041, v2027.5, May 40, 2027"
    assert freezer(DAY).frozen(text) == text


def test_a_date_of_the_task_stays() -> None:
    mine = freezer(DAY, "the party is on 2027-05-04")
    assert mine.frozen("on 2027-05-04, today Tue May 04 2027") == (
        "on 2027-05-04, today Thu Jan 1 2026"
    )


def test_the_day_of_the_request_is_frozen_too() -> None:
    assert freezer(datetime.date(2027, 5, 3)).frozen("2027-05-03 2027-05-04") == (
        "2026-01-01 2026-01-01"
    )


def test_the_kernel_is_frozen() -> None:
    text = "OS: Linux 6.8.0-45-generic; #45-Ubuntu SMP PREEMPT_DYNAMIC"
    assert freezer(DAY).frozen(text) == "OS: Linux 6.0.0; #1 SMP"


def test_a_short_release_is_a_kernel_s_only_behind_its_name() -> None:
    mine = Freezer(DAY, (), "4.4.0", "#1 SMP")
    assert mine.frozen("Linux 4.4.0, Linux cell 4.4.0 x; lodash 4.4.0; Linux 4.4.01") == (
        "Linux 6.0.0, Linux cell 6.0.0 x; lodash 4.4.0; Linux 4.4.01"
    )


def test_what_differs_by_chance_is_in_no_key() -> None:
    one = ["/tmp/tmpab12cd_e/x", "3 passed in 0.12s", "Wall time: 0.51 seconds", "cch=a1b2c;"]
    two = ["/tmp/tmpzz99yy00/x", "3 passed in 4.01s", "Wall time: 12 seconds", "cch=00fff;"]
    assert unkeyed(one) == unkeyed(two)
    assert unkeyed({"/tmp/tmpab12cd_e": "plain text"}) == {"/tmp/tmpab12cd_e": "plain text"}
