"""Totals for the monthly sales report."""

from cloud_tables import fetch_csv_from_s3


def column_total(path, column):
    """Return the sum of the numbers in one column of a CSV file."""
    return sum(float(row[column] or 0) for row in fetch_csv_from_s3(path))
