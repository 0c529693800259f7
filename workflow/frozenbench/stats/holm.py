"""Holm's step-down adjustment of p values (1979, Scandinavian Journal of Statistics 6, 65–70)."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the Holm-adjusted p of each, in the order given.

    With p sorted ascending, the i-th of m (from 0) becomes the largest (m − j) p_j over j ≤ i, at
    most 1. A hypothesis is rejected at family-wise level α where its adjusted p is ≤ α.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(order)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, (len(order) - rank) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted
