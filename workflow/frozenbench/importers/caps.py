"""Caps and limits as a config or a command writes them: checked before a log is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from frozenbench.canonical import BadInput
from frozenbench.importers.documents import decimal
from frozenbench.importers.model import AXES, Axis

#: A cap: a whole number, or an exact decimal on the axes `cost` and `seconds`.
Cap = int | Decimal
#: Words in place of caps, which stand alone: of two up to the own limit; every break point.
POWERS, ALL = "powers", "all"


def check_caps(
    texts: Sequence[str], axis: str | None, limits: Mapping[str, Decimal], where: str
) -> tuple[Cap, ...]:
    """Return the caps as far as they can be told without a log: none of `powers` and `all`.

    Args:
        texts: caps, `powers` or `all`.
        axis: the axis that is asked for; None: it is not known yet, and any number will do.
        limits: the own limits that are given.
        where: what stands before the message.

    Raises:
        BadInput: as `parse_caps` and `up_to`.
    """
    if tuple(texts) in ((POWERS,), (ALL,)):
        return ()
    caps = parse_caps(texts, None if axis is None else AXES[axis], where)
    return up_to(caps, None if axis is None else limits.get(axis), where)


def check_chosen(agents: Sequence[str] | None, where: str) -> None:
    """Check what can be told of the chosen agents without a log; None: all of them.

    Raises:
        BadInput: none is named, or one twice.
    """
    if agents is None:
        return
    if not agents:
        raise BadInput(f"{where}agents: names none; cure: leave it out to compare all")
    twice = [name for place, name in enumerate(agents) if name in agents[:place]]
    if twice:
        raise BadInput(f"{where}agents: {twice[0]!r} stands twice; cure: keep one")


def up_to(caps: Sequence[Cap], limit: Decimal | None, where: str) -> tuple[Cap, ...]:
    """Return the caps up to the own limit, all of them where none is known.

    Raises:
        BadInput: all lie beyond it.
    """
    kept = tuple(cap for cap in caps if limit is None or cap <= limit)
    if not kept:
        raise BadInput(
            f"{where}: {', '.join(map(plain, caps[:9]))}: all lie beyond the log's own limit of "
            f"{limit}; cure: caps up to it"
        )
    return kept


def parse_caps(texts: Sequence[str], axis: Axis | None, where: str) -> tuple[Cap, ...]:
    """Return caps, rising.

    Raises:
        BadInput: a cap is no number of its kind, is negative or stands twice.
    """
    whole, on = (False, "") if axis is None else (axis.whole, f" on {axis.name}")
    caps: list[Cap] = []
    for text in texts:
        value = decimal(str(text))
        if value is None or value < 0 or (whole and value != int(value)):
            alone = f"; {POWERS} and {ALL} stand alone" if text in (POWERS, ALL) else ""
            cure = f"a {'whole ' * whole}number from 0, below 10^15{alone}"
            raise BadInput(f"{where}: {text!r} is no cap{on}; cure: {cure}")
        cap = int(value) if whole else value
        if cap in caps:
            raise BadInput(f"{where}: {plain(cap)} stands twice; cure: keep one")
        caps.append(cap)
    return tuple(sorted(caps))


def own_limits(given: Iterable[tuple[str, str]], where: str) -> dict[str, Decimal]:
    """Return the harness's own limits by axis, exact: each is above 0.

    Raises:
        BadInput: a limit is no number of its kind, of no axis, or of one that has another.
    """
    limits: dict[str, Decimal] = {}
    for axis, text in given:
        value = decimal(text)
        odd = axis in AXES and AXES[axis].whole and value is not None and value != int(value)
        if axis not in AXES or value is None or value <= 0 or odd:
            raise BadInput(
                f"{where}: {axis}: {text!r} is no limit; cure: a number above 0 for one of "
                f"{', '.join(AXES)}, a whole one where it counts"
            )
        if axis in limits:
            raise BadInput(f"{where}: {axis}: is given twice; cure: keep one")
        limits[axis] = value
    return limits


def plain(cap: Cap) -> str:
    """Write a cap without exponent and needless zeros."""
    text = f"{cap:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
