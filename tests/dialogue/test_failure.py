from __future__ import annotations

import pytest
from frozenbench.dialogue.failure import cut, told
from hypothesis import given
from hypothesis import strategies as st

FOLDERS = ("/work", "/tmp/frozenbench-0/work/17-ab")


def said(text: str, length: int = 5000) -> str:
    return told(text.encode(), FOLDERS, length)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("<f.X object at 0x7f3a2b1c9d60>", "<f.X object at 0x…>"),
        ("Ran 3 tests in 0.002s", "Ran 3 tests in …"),
        ("1 failed in 12.34s (0:00:12)", "1 failed in …"),
        ("took 15 ms", "took …"),
        ("0.01s call     test_a.py::test_b", "… call     test_a.py::test_b"),
        ("/work/app.py:3: error", "app.py:3: error"),
        ("/tmp/frozenbench-0/work/17-ab/app.py:3: error", "app.py:3: error"),
        ("cannot open '/tmp/xyz123/data.csv'", "cannot open 'data.csv'"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\r\n\r\n\r\nb  \n", "a\nb"),
    ],
)
def test_what_differs_between_runs_is_taken_out(output: str, text: str) -> None:
    assert said(output) == text


@pytest.mark.parametrize(
    "text",
    [
        "expected '1 min 30 s', got '90 s'",
        "assert f(2) == 5, got 4",
        "expected '/a/b', got '/b/a'",
        "after 3 s the light is red",
        "expected 'done in 3 s'",
        "got 0.25 of the whole",
        "Zeile 2: größer als ½",
    ],
)
def test_what_the_task_says_stays(text: str) -> None:
    assert said(text) == text


TRACEBACK = """Traceback (most recent call last):
  File "{work}/check.py", line 2, in <module>
    app.run()
    ~~~~~~~^^
  File "{lib}/asyncio/runners.py", line {line}, in run
    return runner.run(main)
           ^^^^^^^^^^^^^^^^
  File "<frozen importlib._bootstrap>", line {line}, in _find_and_load
  File "{work}/app.py", line 9, in run
    raise ValueError(object())
             ^^^^
ValueError: <object object at 0x{address:x}>
"""


def test_a_traceback_tells_of_the_work_folder_alone() -> None:
    one = TRACEBACK.format(work="/work", lib="/usr/lib/python3.11", line=118, address=2**40)
    two = TRACEBACK.format(work=FOLDERS[1], lib="/opt/python/lib", line=90, address=77)
    assert said(one) == said(two.replace("    ~~~~~~~^^\n", ""))
    assert said(one).splitlines() == [
        "Traceback (most recent call last):",
        '  File "check.py", line 2, in <module>',
        "    app.run()",
        '  File "app.py", line 9, in run',
        "    raise ValueError(object())",
        "ValueError: <object object at 0x…>",
    ]


def test_bytes_that_are_no_text() -> None:
    assert told(b"\xff\xfe", FOLDERS, 100) == "��"


@given(st.text(max_size=400), st.integers(1, 120))
def test_a_failure_is_never_longer(text: str, length: int) -> None:
    assert len(said(text, length)) <= length
    assert cut(text, len(text)) == text


@given(st.lists(st.sampled_from(["aa", "b", "ccc"]), min_size=1, max_size=60))
def test_the_end_is_kept_in_whole_lines(lines: list[str]) -> None:
    text = said("\n".join(lines), 40)
    kept = text.removeprefix("[…]\n").split("\n")
    assert lines[-len(kept) :] == kept
    assert text.startswith("[…]\n") == (len("\n".join(lines)) > 40)


@given(
    st.integers(0, 2**48),
    st.floats(0, 1000),
    st.sampled_from(FOLDERS),
)
def test_two_runs_of_one_check_say_the_same(address: int, took: float, work: str) -> None:
    output = f"{work}/a.py:1: <A at 0x{address:x}>\n1 failed in {took:.2f}s\n"
    assert said(output) == "a.py:1: <A at 0x…>\n1 failed in …"
