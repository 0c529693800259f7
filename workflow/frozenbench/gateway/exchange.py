"""Ask a model: from the record if it is there, else upstream, once, and into the record."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from frozenbench.adapters.contract import Cell, ClockFell, PinDrift, Served, Use
from frozenbench.canonical import BadInput, digest
from frozenbench.gateway.record import Entry, Store, key_material
from frozenbench.gateway.wire import wire_of


def ask(
    cell: Cell, request: Mapping[str, Any], occurrence: int
) -> tuple[Mapping[str, Any], Served, Use]:
    """Return the response to a request, where it came from and the tokens that it used.

    Only the time that the endpoint took for this response goes on the agent's clock, whether it
    is asked now or was asked long ago: not the look-up, not the wait for another cell that asks
    the same, not failed tries and their backoff, not the start of a local server.

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
    material = _material(cell, endpoint, request, occurrence)
    remaining = cell.caps.get("wall_clock", math.inf) - cell.clock.elapsed()
    try:
        with cell.clock.paused():
            entry, retries = _find(cell, endpoint, material, request, remaining)
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
    )
    return entry.response, served, wire_of(endpoint["wire"]).use(entry.response)


def _material(
    cell: Cell, endpoint: Mapping[str, Any], request: Mapping[str, Any], occurrence: int
) -> dict[str, Any]:
    return key_material(
        endpoint=digest(endpoint),  # the sheet holds key fields only: this is Endpoint.digest()
        task=cell.task_digest,
        repeat=cell.repeat,
        salt=cell.sheet.get("salt"),
        request=request,
        occurrence=occurrence,
        caps=cell.caps if cell.responses_policy == "independent" else None,
    )


def _find(
    cell: Cell,
    endpoint: Mapping[str, Any],
    material: Mapping[str, Any],
    request: Mapping[str, Any],
    remaining: float,
) -> tuple[Entry, int | None]:
    """Return the entry, and the retries that it cost, or None where it was in the record."""
    store, key = Store(cell.responses), digest(material)
    entry = store.get(key)
    if entry is None:
        with store.lock(key):
            entry = store.get(key)  # whoever held the lock may have asked
            if entry is None:
                return _ask_and_keep(cell, endpoint, material, request, remaining, store)
    if entry.model is not None and entry.model != endpoint["model"]:
        raise PinDrift(
            f"the record holds an answer of {entry.model!r} under {key}; pinned is "
            f"{endpoint['model']!r}",
            entry.model,
        )
    return entry, None


def _ask_and_keep(
    cell: Cell,
    endpoint: Mapping[str, Any],
    material: Mapping[str, Any],
    request: Mapping[str, Any],
    remaining: float,
    store: Store,
) -> tuple[Entry, int]:
    # Only a cell that asks pays for these imports: one that is served starts faster.
    from frozenbench.gateway.machine import machine_class
    from frozenbench.gateway.upstream import Target, ask_upstream

    connection = cell.connection.get("endpoint", {})
    target = Target(
        wire=wire_of(endpoint["wire"]),
        model=endpoint["model"],
        key_env=connection.get("key_env"),
        reach=lambda: _reach(endpoint, connection),
    )
    answer = ask_upstream(target, request, remaining, cell.log)
    entry = Entry(
        key=digest(material),
        material=material,
        response=answer.body,
        seconds=round(answer.seconds, 6),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        # Of a machine that is not ours nobody can say what it is.
        machine_class=machine_class() if connection.get("server") else None,
        model=answer.model,
    )
    return store.put(entry), answer.infra_retries


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
