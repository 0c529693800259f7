"""What an experiment has paid: one line a response that one of its cells bought, and its limit.

    results/experiments/<name>-<digest>/spend.jsonl

A response that is served from the record costs nothing and has no line, so one that cells of
several budgets share stands here once. A line is written before its response is stored: what a cell
that was killed in between has paid is not forgotten.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import Use
from frozenbench.canonical import Refused, canonical_json
from frozenbench.gateway.prices import Prices, cost, estimate, use_of, use_of_cut


def beside(controls: Path) -> Path:
    """Return where the ledger of the experiment with these controls stands."""
    return controls.parent / "spend.jsonl"


class SpendReached(Refused):
    """The experiment has spent what its config allows: nothing more is asked of an endpoint."""


@dataclass(frozen=True)
class Spent:
    """What was paid so far.

    Attributes:
        money: amount by currency.
        responses: number of bought responses.
        estimated: how many of them did not report what they used.
        cut: number of answers that broke off and were asked for again, none of `responses`; what
            they can have cost, by an estimate, is in `money`.
        cut_money: their part of it, by currency.
    """

    money: Mapping[str, Decimal]
    responses: int
    estimated: int
    cut: int = 0
    cut_money: Mapping[str, Decimal] = field(default_factory=dict)

    def told(self) -> str:
        """Return it for people; empty where nothing was bought."""
        return _sums(self.money)

    def told_of_cut(self) -> str:
        """Return what broke off, for people; empty where nothing did."""
        if not self.cut:
            return ""
        answers = f"{self.cut:,} broken answer{'' if self.cut == 1 else 's'}"
        return f"{_sums(self.cut_money)} of it for {answers}, by an estimate"


def _sums(money: Mapping[str, Decimal]) -> str:
    return " + ".join(amount(value, name) for name, value in sorted(money.items()))


def amount(value: Decimal | float, currency: str) -> str:
    """Return an amount of money with two decimals, or four where two would hide something."""
    return f"{f'{value:,.4f}'.removesuffix('00')} {currency}".rstrip()


class Ledger:
    """The ledger at a path. Safe for all processes of the machine; lines are only ever added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin()

    def _begin(self) -> None:
        self._money: dict[str, Decimal] = {}
        self._cut_money: dict[str, Decimal] = {}
        self._read = self._responses = self._estimated = self._cut = 0

    def spent(self) -> Spent:
        """Return the sums; only what was added since the last call is read."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read:  # somebody began it anew
                    self._begin()
                file.seek(self._read)
                added = file.read()
        except FileNotFoundError:
            added = b""
        whole = added[: added.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            self._count(line)
        sums = dict(self._money), dict(self._cut_money)
        return Spent(sums[0], self._responses, self._estimated, self._cut, sums[1])

    def _count(self, line: bytes) -> None:
        try:
            entry = json.loads(line, parse_float=Decimal)
            money, currency = Decimal(entry["spend"]), str(entry["currency"])
            estimated, cut = bool(entry["estimated"]), bool(entry.get("cut"))
        except (ValueError, TypeError, KeyError, ArithmeticError):
            return  # cut off by a power failure
        self._money[currency] = self._money.get(currency, Decimal(0)) + money
        if cut:
            self._cut += 1
            self._cut_money[currency] = self._cut_money.get(currency, Decimal(0)) + money
            return
        self._responses += 1
        self._estimated += estimated

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add a line, and wait until it is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(self.path, flags, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            cut = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            os.write(file, (b"\n" if cut else b"") + canonical_json(entry) + b"\n")
            os.fsync(file)
        finally:
            os.close(file)


@dataclass(frozen=True)
class Spending:
    """An experiment's ledger beside its limit; None: there is none."""

    ledger: Ledger
    limit: float | None = None
    currency: str | None = None

    def told(self) -> str:
        """Return what was paid, of what may be; empty where nothing was."""
        spent = self.ledger.spent()
        if not spent.money:
            return ""
        currency = self.currency or next(iter(spent.money))
        of = "" if self.limit is None else f" of {amount(self.limit, currency)}"
        return f"{spent.told()}{of} paid"


@dataclass(frozen=True)
class CellPurse:
    """What one cell may spend of its experiment's money.

    Attributes:
        ledger: the experiment's.
        agent: its name.
        wire: wire format of its endpoint.
        prices: of its endpoint.
        limit: `max_spend`, in the prices' currency; None: what is spent is counted alone.
    """

    ledger: Ledger
    agent: str
    wire: str
    prices: Prices
    limit: float | None = None

    def check(self) -> None:
        """Let a request go out.

        Raises:
            SpendReached: what all cells have paid is as much as is allowed.
        """
        if self.limit is None:
            return
        spent, currency = self.ledger.spent(), self.prices["currency"]
        if spent.money.get(currency, Decimal(0)) >= Decimal(str(self.limit)):
            raise SpendReached(
                f"max_spend: {amount(self.limit, currency)} is reached ({spent.told()} for "
                f"{spent.responses:,} responses), so nothing more is asked; cure: raise max_spend and "
                "run again: only open cells run, and what they have bought is not bought again"
            )

    def pay(self, key: str, request: Mapping[str, Any], response: Mapping[str, Any] | None) -> None:
        """Note a response that was bought; None: it came too late, or nobody knows what of it came."""
        use = None if response is None else use_of(self.wire, response)
        known = None if use is None else cost(self.prices, use)
        if use is None or known is None:
            use = estimate(request, response)
        self._add(key, use, estimated=known is None)

    def pay_cut(self, key: str, request: Mapping[str, Any], came: bytes) -> None:
        """Note what came of an answer that broke off: tokens were made, and may be billed."""
        use = use_of_cut(self.wire, request, came)
        if use is not None:
            self._add(key, use, estimated=True, cut=True)

    def _add(self, key: str, use: Use, *, estimated: bool, cut: bool = False) -> None:
        money = cost(self.prices, use)
        assert money is not None
        entry = {
            "key": key,
            "agent": self.agent,
            "input": use.input,
            "output": use.output,
            "cached": use.cached,
            "cache_write": use.cache_write,
            "spend": round(money, 12),
            "currency": self.prices["currency"],
            "estimated": estimated,
        }
        self.ledger.add({**entry, "cut": True} if cut else entry)
