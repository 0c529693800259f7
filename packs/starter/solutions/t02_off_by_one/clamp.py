"""Indices that stay inside their sequence."""


def clamp_index(i: int, n: int) -> int:
    """Return `i` limited to the half-open range [0, n)."""
    if n <= 0:
        raise ValueError(f"a sequence of length {n} has no positions")
    return max(0, min(i, n - 1))
