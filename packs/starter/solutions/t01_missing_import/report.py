"""Totals for the monthly sales report."""

import csv


def column_total(path, column):
    """Return the sum of the numbers in one column of a CSV file."""
    with open(path, newline="", encoding="utf-8") as handle:
        reader = csv.DictReader(handle)
        if column not in (reader.fieldnames or ()):
            raise KeyError(column)
        return sum(float(row[column]) for row in reader if row[column])
