"""What an adapter that asks a model itself needs of a wire format, as one `Wire`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from frozenbench.adapters.contract import Use
from frozenbench.canonical import BadInput
from frozenbench.gateway.wires import openai_chat

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
        return address(root, self.version, self.path)


def address(root: str, version: str, path: str) -> str:
    """Return the address of `path` below an endpoint's root, the version added where it names none."""
    parts = urlsplit(root)
    return urlunsplit(parts._replace(path=(parts.path.rstrip("/") or version) + path))


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
    """Return the model name that a response states, or None; all formats have it at the top.

    An empty name states nothing.
    """
    model = body.get("model")
    return model if isinstance(model, str) and model else None


WIRES = {
    "openai-chat": Wire(
        path=openai_chat.PATH,
        version="/v1",
        auth=openai_chat.auth,
        fault=openai_chat.fault_of,
        text=openai_chat.text_of,
        use=openai_chat.use_of,
        refusal=openai_chat.too_long,
    ),
}
