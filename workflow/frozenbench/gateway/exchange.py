"""Ask a model: from the record if it is there, else upstream, once, and into the record."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import Cell, ClockFell, EndpointDown, PinDrift, Served, Use
from frozenbench.canonical import BadInput, digest
from frozenbench.gateway.prices import cost
from frozenbench.gateway.record import Entry, Store, key_material
from frozenbench.gateway.replay import Drift, nearest
from frozenbench.gateway.slots import slot
from frozenbench.gateway.transport import HungUp
from frozenbench.gateway.wire import wire_of


@dataclass(frozen=True)
class Live:
    """What an endpoint answered just now.

    Attributes:
        response: what is stored of it, as JSON.
        seconds: time that it took, failed tries and waiting left out.
        model: the model name that it states, or None.
        infra_retries: tries that failed before.
    """

    response: Mapping[str, Any]
    seconds: float
    model: str | None
    infra_retries: int


#: Asks the endpoint: seconds left on the clock, and what takes what came of an answer that broke
#: off -> its answer.
AskLive = Callable[[float, Callable[[bytes], None]], Live]


def ask(
    cell: Cell, request: Mapping[str, Any], occurrence: int
) -> tuple[Mapping[str, Any], Served, Use]:
    """Return the response to a request, where it came from and the tokens that it used.

    Args:
        cell: who asks.
        request: the request's body.
        occurrence: how often the cell had this canonical request answered before.

    Raises:
        ClockFell: the response took longer than the clock allows.
        EndpointDown, PinDrift: see the adapters' contract.
        BadInput: the key's variable is not set, or the local server's package is not installed.
    """
    endpoint: Mapping[str, Any] = cell.sheet["endpoint"]

    def live(remaining: float, lost: Callable[[bytes], None]) -> Live:
        # Only a cell that asks pays for this import: one that is served starts faster.
        from frozenbench.gateway.upstream import Target, ask_upstream

        target = Target(
            wire=wire_of(endpoint["wire"]),
            model=endpoint["model"],
            key_env=cell.connection.get("endpoint", {}).get("key_env"),
            reach=way_to(cell),
        )
        answer = ask_upstream(target, request, remaining, cell.log, lost=lost)
        return Live(answer.body, answer.seconds, answer.model, answer.infra_retries)

    response, served = answered(cell, request, occurrence, live)
    return response, served, wire_of(endpoint["wire"]).use(response)


def answered(
    cell: Cell,
    request: Mapping[str, Any],
    occurrence: int,
    live: AskLive,
    synced: Callable[[Path], None] | None = None,
) -> tuple[Mapping[str, Any], Served]:
    """Return the response to a request and where it came from; `live` asks for one that is new.

    Only the time that the endpoint took for this response goes on the agent's clock, whether it
    is asked now or was asked long ago: not the look-up, not the wait for another cell that asks
    the same, not failed tries and their backoff, not the start of a local server. In a replay
    nothing is asked: the nearest answer of the same place in the conversation is given instead.

    Args:
        cell: who asks.
        request: what the record key is made of.
        occurrence: how often the cell had this canonical request answered before.
        live: asks the endpoint.
        synced: takes the file of a new entry and sees to it that it reaches the disk; absent: that
            is waited for here.

    Raises:
        ClockFell: the response took longer than the clock allows.
        PinDrift: the record holds another model's answer.
        HungUp: the run ended meanwhile.
        EndpointDown: a replay, and the record holds no answer.
    """
    material = _material(cell, request, occurrence)
    left = cell.caps.get("wall_clock", math.inf) - cell.clock.elapsed()
    remaining = math.inf if cell.replay else left
    try:
        with cell.clock.paused():
            entry, retries, drift = _find(cell, material, live, remaining, synced)
    except ClockFell:
        cell.clock.credit(remaining)
        raise
    cell.clock.credit(entry.seconds)
    if entry.seconds > remaining:
        raise ClockFell
    served = Served(
        key=entry.key,
        recorded=retries is None,
        date=entry.date,
        seconds=entry.seconds,
        model=entry.model,
        infra_retries=retries or 0,
        drift=None if drift is None else drift.to_json(),
    )
    return entry.response, served


def _material(cell: Cell, request: Mapping[str, Any], occurrence: int) -> dict[str, Any]:
    return key_material(
        endpoint=digest(cell.sheet["endpoint"]),  # key fields only: this is Endpoint.digest()
        task=cell.task_digest,
        repeat=cell.repeat,
        salt=cell.sheet.get("salt"),
        request=request,
        occurrence=occurrence,
        caps=cell.caps if cell.responses_policy == "independent" else None,
    )


def _find(
    cell: Cell,
    material: Mapping[str, Any],
    live: AskLive,
    remaining: float,
    synced: Callable[[Path], None] | None,
) -> tuple[Entry, int | None, Drift | None]:
    """Return the entry, the retries that it cost (None: it was in the record), and its drift."""
    store, key = Store(cell.responses), digest(material)
    drift = None
    entry = store.get(key)
    if entry is None and cell.replay:
        entry, drift = _replayed(cell, store, material)
    if entry is None:
        with store.lock(key):
            entry = store.get(key)  # whoever held the lock may have asked
            if entry is None:
                entry, tries = _ask(cell, key, material, live, remaining)
                kept = store.put(entry, durable=synced is None)
                if synced is not None:
                    synced(store.path(key))
                return kept, tries, None
    pinned = cell.sheet["endpoint"]["model"]
    if entry.model is not None and entry.model != pinned:
        raise PinDrift(
            f"the record holds an answer of {entry.model!r} under {key}; pinned is {pinned!r}",
            entry.model,
        )
    return entry, None, drift


def _replayed(cell: Cell, store: Store, material: Mapping[str, Any]) -> tuple[Entry, Drift]:
    found = nearest(store, material, cell.sheet["endpoint"]["wire"])
    if found is None:
        raise EndpointDown(
            f"replay: the record holds no answer to this request ({digest(material)}), nor any at "
            "its place in the conversation"
        )
    cell.log(f"replay: {found[1].told()}")
    return found


def _ask(
    cell: Cell,
    key: str,
    material: Mapping[str, Any],
    live: AskLive,
    remaining: float,
) -> tuple[Entry, int]:
    from frozenbench.gateway.machine import machine_class

    answer = _bought(cell, key, material["request"], live, remaining)
    server = cell.connection.get("endpoint", {}).get("server")
    entry = Entry(
        key=key,
        material=material,
        response=answer.response,
        seconds=round(answer.seconds, 6),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        # Of a machine that is not ours nobody can say what it is.
        machine_class=machine_class() if server else None,
        model=answer.model,
    )
    return entry, answer.infra_retries


def _bought(
    cell: Cell,
    key: str,
    request: Mapping[str, Any],
    live: AskLive,
    remaining: float,
) -> Live:
    """Return the endpoint's answer; what it costs is noted, also where it is of no use."""
    purse = cell.purse
    if purse is None:
        return live(remaining, lambda came: None)
    try:
        answer = live(remaining, lambda came: purse.pay_cut(key, request, came))
    except ClockFell:
        purse.pay(key, request, None)
        raise
    except HungUp as end:
        if end.sent:
            purse.pay(key, request, None)
        raise
    except PinDrift as drift:
        if drift.response is not None:
            purse.pay(key, request, drift.response)
        raise
    purse.pay(key, request, answer.response)
    return answer


def way_to(cell: Cell) -> Callable[[], AbstractContextManager[str]]:
    """Return what opens the way to the cell's endpoint for one try and gives its root.

    A place at the endpoint is waited for, and what the experiment may spend is looked at, before
    each try.
    """

    @contextlib.contextmanager
    def way() -> Iterator[str]:
        with (
            _reach(cell.sheet["endpoint"], cell.connection.get("endpoint", {})) as root,
            slot(cell),
        ):
            if cell.purse is not None:
                cell.purse.check()
            yield root

    return way


def _reach(
    endpoint: Mapping[str, Any], connection: Mapping[str, Any]
) -> AbstractContextManager[str]:
    """Open the way to the endpoint for one try: our own server is started where none runs."""
    if connection.get("server"):
        from frozenbench.gateway.local_server import running, spec_of

        return running(spec_of(endpoint, connection["server"]))
    if not connection.get("base_url"):
        raise BadInput(
            "endpoint: base_url: is missing; cure: give base_url, or a server of our own"
        )
    return contextlib.nullcontext(connection["base_url"])


def spend_of(cell: Cell, use: Use) -> tuple[float | None, str | None]:
    """Return what a response cost and in which currency; None without prices or use."""
    prices = cell.connection.get("prices")
    money = None if prices is None else cost(prices, use)
    return (None, None) if prices is None or money is None else (money, prices["currency"])
