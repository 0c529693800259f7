"""Smooth a series of readings."""


def windows(values: list[float], size: int) -> list[list[float]]:
    """Return every run of `size` neighbouring values, from left to right."""
    return [values[start : start + size] for start in range(len(values) - size + 1)]


def moving_mean(values: list[float], size: int) -> list[float]:
    """Return the mean of each window."""
    return [sum(window) / size for window in windows(values, size)]
