"""What a response costs: the tokens that it reports, at the prices in its agent's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenbench.adapters.contract import Use
from frozenbench.canonical import canonical_json
from frozenbench.gateway.wires import format_of, read_stream
from frozenbench.gateway.wires.reading import EventStream, json_of

Prices = Mapping[str, Any]

#: Fields in which a request says how many tokens its answer may have.
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def cost(prices: Prices, use: Use) -> float | None:
    """Return what a response costs, in the prices' currency; None where its use is not known.

    What was read from the cache and what was written into it are parts of the input. Without a
    price of its own either costs what input costs.
    """
    if use.input is None or use.output is None:
        return None
    cached = min(use.cached or 0, use.input)
    kept = min(use.cache_write or 0, use.input - cached)
    fresh = (use.input - cached - kept) * prices["input_per_million"]
    again = cached * prices.get("cached_per_million", prices["input_per_million"])
    writing = kept * prices.get("cache_write_per_million", prices["input_per_million"])
    return float(fresh + again + writing + use.output * prices["output_per_million"]) / 1e6


def dearest(prices: Prices) -> float:
    """Return what a token can cost at most."""
    return max(float(value) for name, value in prices.items() if name != "currency") / 1e6


def use_of(wire: str, stored: Mapping[str, Any]) -> Use:
    """Return the tokens that a response of the record reports: a stream, a body or a refusal."""
    if "sse" in stored:
        return read_stream(format_of(wire), str(stored["sse"]).encode()).use
    if "status" in stored and isinstance(stored.get("body"), Mapping):
        return Use(0, 0, 0, 0)  # what was refused cost nothing
    return format_of(wire).read(stored).use


def use_of_cut(wire: str, request: Mapping[str, Any], came: bytes) -> Use | None:
    """Return what an answer that broke off can have used; None where nothing of an answer came.

    What it reported itself counts; the rest is a token a byte.
    """
    use = _streamed(wire, came) if b"data:" in came else _of_body(wire, came)
    if use is None:
        return None
    given = len(canonical_json(request)) if use.input is None else use.input
    written = len(came) if use.output is None else use.output
    return Use(given + written, given, written, use.cached, use.cache_write)


def _streamed(wire: str, came: bytes) -> Use | None:
    """Return what a broken stream reports; None where it holds errors alone."""
    found = [json_of(event.data) for event in EventStream().feed(came)]
    told = [body for body in found if body is not None]
    if told and all(body.get("error") or body.get("type") == "error" for body in told):
        return None
    return read_stream(format_of(wire), came).use


def _of_body(wire: str, came: bytes) -> Use | None:
    """Return what a body reports that is no answer; of one that was cut nothing is known."""
    text = came.decode("utf-8", "replace")
    if (whole := json_of(text)) is None:
        return Use() if text.lstrip().startswith("{") else None
    use = format_of(wire).read(whole).use
    return None if use.total is None else use


def estimate(request: Mapping[str, Any], stored: Mapping[str, Any] | None) -> Use:
    """Return what a response can have used that reports nothing, or that came too late to be read.

    A token a byte, which is more than texts have. Of an answer that never came, the request's own
    limit is taken, and nothing where it has none.
    """
    given = len(canonical_json(request))
    if stored is not None:
        written = len(canonical_json(stored))
    else:
        limits = [request.get(name) for name in _LIMITS]
        written = next((value for value in limits if isinstance(value, int)), 0)
    return Use(total=given + written, input=given, output=written, cached=0)
