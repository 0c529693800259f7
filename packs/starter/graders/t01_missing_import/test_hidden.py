import math

import pytest

from report import column_total


def write(folder, text):
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_adds_up_integers(tmp_path):
    path = write(tmp_path, "name,hours\nann,3\nbob,4\ncy,5\n")
    assert math.isclose(column_total(path, "hours"), 12)


def test_adds_up_fractions_and_negative_numbers(tmp_path):
    path = write(tmp_path, "delta,note\n0.25,a\n-1.5,b\n10,c\n")
    assert math.isclose(column_total(path, "delta"), 8.75)


def test_takes_the_named_column(tmp_path):
    path = write(tmp_path, "a,b,c\n1,10,100\n2,20,200\n")
    assert [column_total(path, name) for name in "abc"] == [3, 30, 300]


def test_an_empty_cell_counts_as_zero(tmp_path):
    path = write(tmp_path, "name,hours\nann,\nbob,4\ncy,\n")
    assert math.isclose(column_total(path, "hours"), 4)


def test_a_quoted_cell_may_hold_commas(tmp_path):
    path = write(tmp_path, 'name,hours\n"Doe, Jane, Dr",2\n"Roe, Max",3\n')
    assert math.isclose(column_total(path, "hours"), 5)


def test_a_header_without_rows_gives_zero(tmp_path):
    assert column_total(write(tmp_path, "name,hours\n"), "hours") == 0


@pytest.mark.parametrize("rows", ["", "ann,3\n"], ids=["no-rows", "rows"])
def test_an_unknown_column_is_a_key_error(tmp_path, rows):
    with pytest.raises(KeyError):
        column_total(write(tmp_path, "name,hours\n" + rows), "minutes")
