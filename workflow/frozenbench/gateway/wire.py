"""Wire formats: where a request goes, and what a response says, each format one `Wire`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from frozenbench.adapters.contract import Use
from frozenbench.canonical import BadInput

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Wire:
    """One wire format.

    Attributes:
        path: the address of a request below the version part of an endpoint's root.
        version: the version part, added where a root names no path at all.
        auth: key -> headers that carry it.
        fault: body -> why it is no answer, or None.
        text: body -> what the model said.
        use: body -> reported tokens.
        whole: a whole answer that is no JSON object is the agent's own fault, not a broken stream.
        refusal: body -> why the model cannot take the request at all, or None.
    """

    path: str
    version: str
    auth: Callable[[str], dict[str, str]]
    fault: Callable[[Body], str | None]
    text: Callable[[Body], str]
    use: Callable[[Body], Use]
    refusal: Callable[[Body], str | None]
    whole: bool = False

    def address(self, root: str) -> str:
        """Return the address of a request; a root with a path names its version itself."""
        parts = urlsplit(root)
        path = parts.path.rstrip("/") or self.version
        return urlunsplit(parts._replace(path=path + self.path))


def wire_of(name: str) -> Wire:
    """Return a wire format by the name in an agent's file.

    Raises:
        BadInput: no adapter can speak it yet; the message lists those that exist.
    """
    try:
        return WIRES[name]
    except KeyError:
        known = ", ".join(sorted(WIRES))
        raise BadInput(f"endpoint: wire: is {name!r}; cure: one of: {known}") from None


def model_of(body: Body) -> str | None:
    """Return the model name that a response states, or None; all formats have it at the top."""
    model = body.get("model")
    return model if isinstance(model, str) else None


def count(value: Any) -> int | None:
    """Return a reported number of tokens; None for anything that is not one, never 0."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _chat_message(body: Body) -> Mapping[str, Any] | None:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def _chat_fault(body: Body) -> str | None:
    return None if _chat_message(body) is not None else "holds no choices[0].message"


def _chat_text(body: Body) -> str:
    content = (_chat_message(body) or {}).get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _chat_use(body: Body) -> Use:
    """Return the tokens of a chat response.

    `total_tokens` counts where it exceeds the two parts: some endpoints leave hidden reasoning
    out of `completion_tokens`. A request that the model could not take cost nothing, which is
    known.
    """
    if _chat_refusal(body) is not None:
        return Use(total=0, input=0, output=0, cached=0)
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Use()
    given, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    parts = None if given is None or written is None else given + written
    sums = [value for value in (parts, count(usage.get("total_tokens"))) if value is not None]
    details = usage.get("prompt_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Use(total=max(sums, default=None), input=given, output=written, cached=cached)


#: What endpoints call a request that is longer than the model's context.
_TOO_LONG = ("exceed_context_size_error", "context_length_exceeded")


def _chat_refusal(body: Body) -> str | None:
    error = body.get("error")
    if not isinstance(error, dict):
        return None
    if error.get("type") not in _TOO_LONG and error.get("code") not in _TOO_LONG:
        return None
    return str(error.get("message") or "the request is longer than the model's context")


WIRES = {
    "openai-chat": Wire(
        path="/chat/completions",
        version="/v1",
        auth=_bearer,
        fault=_chat_fault,
        text=_chat_text,
        use=_chat_use,
        refusal=_chat_refusal,
    ),
}
