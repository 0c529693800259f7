import math

import pytest
from frozenbench_candidate import load, write_file

report = load("report.py")
column_total = report.column_total


def write(text):
    write_file(report, "table.csv", text)
    return "table.csv"


def test_adds_up_integers():
    path = write("name,hours\nann,3\nbob,4\ncy,5\n")
    assert math.isclose(column_total(path, "hours"), 12)


def test_adds_up_fractions_and_negative_numbers():
    path = write("delta,note\n0.25,a\n-1.5,b\n10,c\n")
    assert math.isclose(column_total(path, "delta"), 8.75)


def test_takes_the_named_column():
    path = write("a,b,c\n1,10,100\n2,20,200\n")
    assert [float(column_total(path, name)) for name in "abc"] == [3.0, 30.0, 300.0]


def test_an_empty_cell_counts_as_zero():
    path = write("name,hours\nann,\nbob,4\ncy,\n")
    assert math.isclose(column_total(path, "hours"), 4)


def test_a_quoted_cell_may_hold_commas():
    path = write('name,hours\n"Doe, Jane, Dr",2\n"Roe, Max",3\n')
    assert math.isclose(column_total(path, "hours"), 5)


def test_a_header_without_rows_gives_zero():
    assert float(column_total(write("name,hours\n"), "hours")) == 0.0


@pytest.mark.parametrize("rows", ["", "ann,3\n"], ids=["no-rows", "rows"])
def test_an_unknown_column_is_a_key_error(rows):
    with pytest.raises(KeyError):
        column_total(write("name,hours\n" + rows), "minutes")
