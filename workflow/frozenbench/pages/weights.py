"""What unequal weights do to n: the effective number of tasks, and a warning where few tasks rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from frozenbench.pages.blocks import count, listed, percent, plain
from frozenbench.pages.inputs import task_name
from frozenbench.stats.grid import equal_weights

#: The page warns where n counts for less than this share of itself, or where one task holds more of
#: the weight than this, and more than twice its part.
_FEW, _HEAVY = Fraction(1, 2), Fraction(1, 4)
#: Heavy tasks that are named one by one.
_NAMED = 4


@dataclass(frozen=True)
class Weights:
    """The weights of the tasks of one slice that are in its rates: name -> weight, heaviest first.

    A held-out task is named by the first digits of its digest.
    """

    slice: str
    of: Mapping[str, int]

    @property
    def n(self) -> int:
        """Number of tasks."""
        return len(self.of)

    @property
    def equal(self) -> bool:
        """Whether all tasks weigh the same."""
        return equal_weights(self.of.values())

    @property
    def effective(self) -> Fraction:
        """(Σ w)² / Σ w²: Kish 1965, Survey Sampling; at least 1."""
        weights = self.of.values()
        return Fraction(sum(weights) ** 2, sum(weight**2 for weight in weights))

    def share(self, name: str) -> float:
        """The share of all weight that a task holds."""
        return self.of[name] / sum(self.of.values())

    @property
    def half(self) -> list[str]:
        """The fewest tasks that hold half of the weight."""
        found: list[str] = []
        held, whole = 0, sum(self.of.values())
        for name, weight in self.of.items():
            if 2 * held >= whole:
                break
            found.append(name)
            held += weight
        return found

    @property
    def concentrated(self) -> bool:
        """Whether few tasks hold so much of the weight that n misleads."""
        heaviest = Fraction(max(self.of.values()), sum(self.of.values()))
        heavy = heaviest > max(_HEAVY, Fraction(2, self.n))
        return not self.equal and (self.effective < _FEW * self.n or heavy)


def weights_of(controls: Mapping[str, Any], name: str) -> Weights:
    """Return the weights of a slice, without tasks that have an open network."""
    tasks = {
        task: facts
        for task, facts in controls["tasks"].items()
        if facts["split"] == name and facts["network"] != "open"
    }
    of = {task_name(controls, task): facts["weight"] for task, facts in tasks.items()}
    return Weights(name, dict(sorted(of.items(), key=lambda item: (-item[1], item[0]))))


def effective(weights: Weights) -> str:
    """Return the effective n as text."""
    return f"{float(weights.effective):,.1f}"


def weight_notes(weights: Weights, notice: str | None) -> Iterator[str]:
    """Yield what unequal weights do to the numbers of a slice, if anything.

    `notice` is what the statistics say of them, None where they see no need (`weight_notice`).
    """
    if weights.equal:
        return
    low, high = min(weights.of.values()), max(weights.of.values())
    yield (
        f"Weights run from {low:,} to {high:,}: the {count(weights.n, f'{weights.slice} task')} count "
        f"like {effective(weights)} of equal weight, and intervals of rates are made at that n."
    )
    if notice is not None:
        first, mark, rest = notice.partition(":")
        yield f"**{plain(first)}**{plain(mark + rest)}"
    if weights.concentrated or notice is not None:
        yield (
            f"**Half of the weight or more lies on {_heaviest(weights)}**. Weighted rates, ranks and "
            "flips are mostly theirs, and another choice of tasks or of weights can turn them; rate and "
            "rank under unit weights stand beside them."
        )


def _heaviest(weights: Weights) -> str:
    half = weights.half
    share = percent(sum(map(weights.share, half)))
    if len(half) > _NAMED:
        return f"{len(half)} of {weights.n} tasks ({share})"
    named = [f"{plain(name)} ({percent(weights.share(name))})" for name in half]
    together = f", together {share}" if len(half) > 1 else ""
    return f"{listed(named)}{together}"
