import pytest
from frozenbench_candidate import load, write_file

# Runs beside the candidate, so that it can look at the environment that the candidate sees.
PROBE = """
import os

from envfile import read_env


def read_and_look(path):
    os.environ["FROM_OUTSIDE"] = "outside"
    before = dict(os.environ)
    return read_env(path), dict(os.environ) == before
"""
envfile = load("envfile.py")


def read_text(text):
    write_file(envfile, "settings.env", text)
    return envfile.read_env("settings.env")


@pytest.fixture
def read():
    return read_text


def test_names_and_values(read):
    assert read("HOST=localhost\nPORT=8080\n_x1=\n") == {
        "HOST": "localhost",
        "PORT": "8080",
        "_x1": "",
    }


def test_blank_lines_and_comments_are_skipped(read):
    assert read("\n# first\nA=1\n   \n   # A=2\nB=2") == {"A": "1", "B": "2"}


def test_white_space_around_name_and_value(read):
    assert read("  A =  one two \n\tB\t=\tx\t\n") == {"A": "one two", "B": "x"}


def test_the_first_equals_sign_divides(read):
    assert read("URL=http://h/?a=1&b=2\n") == {"URL": "http://h/?a=1&b=2"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a b"', "a b"),
        ("'a b'", "a b"),
        ('" a "', " a "),
        ('""', ""),
        ("\"'a'\"", "'a'"),
        ('"', '"'),
        ("\"a'", "\"a'"),
        ('say "a"', 'say "a"'),
    ],
    ids=["double", "single", "inner-space", "empty", "one-pair", "lone", "unlike", "inside"],
)
def test_quotes(read, written, value):
    assert read(f"A={written}\n") == {"A": value}


def test_nothing_else_is_special(read):
    assert read("A=$B\nC=x # y\nD=a\\nb\n") == {"A": "$B", "C": "x # y", "D": "a\\nb"}


def test_the_later_line_counts(read):
    assert read("A=1\nB=2\nA=3\n") == {"A": "3", "B": "2"}


@pytest.mark.parametrize(
    "line",
    ["nonsense", "=value", "1A=x", "A-B=x", "A B=x", "export A=x"],
    ids=["no-equals", "no-name", "digit-first", "hyphen", "space", "export"],
)
def test_an_illegal_line_is_a_value_error_with_its_number(read, line):
    with pytest.raises(ValueError, match=r"(?<!\d)4(?!\d)"):
        read(f"# settings\nOK=1\n\n{line}\n")


def test_the_environment_is_left_alone():
    settings = "FROM_FILE=1\nFROM_OUTSIDE=2\n"
    probe = load("probe.py", files={"probe.py": PROBE, "settings.env": settings})
    found, left_alone = probe.read_and_look("settings.env")
    assert found == {"FROM_FILE": "1", "FROM_OUTSIDE": "2"}
    assert left_alone
