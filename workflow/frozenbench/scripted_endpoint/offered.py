"""What a request offers and holds, in each of the three wire formats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]

#: The end of a path -> its wire format.
PATHS = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic-messages",
}


@dataclass(frozen=True)
class Offered:
    """A tool that a request offers.

    Attributes:
        name: its name.
        schema: the JSON schema of its arguments; empty for one that takes free text.
        free: whether its input is free text (a custom tool of the responses format).
        namespace: the group that it stands in, or None.
    """

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    free: bool = False
    namespace: str | None = None

    @property
    def properties(self) -> Mapping[str, Any]:
        """Its arguments' schemas by name."""
        found = self.schema.get("properties")
        return found if isinstance(found, Mapping) else {}

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments that it must have."""
        found = self.schema.get("required")
        return tuple(map(str, found)) if isinstance(found, list) else ()


def offered_tools(body: Body) -> tuple[Offered, ...]:
    """Return the tools that a request offers, in its order; what is no tool of ours is left out."""
    return tuple(_tools(body.get("tools"), None))


def _tools(items: Any, namespace: str | None) -> Iterator[Offered]:
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, Mapping):
            continue
        if item.get("type") == "namespace":
            yield from _tools(item.get("tools"), str(item.get("name")))
            continue
        inner = item.get("function") if isinstance(item.get("function"), Mapping) else item
        assert isinstance(inner, Mapping)
        name = inner.get("name")
        if not isinstance(name, str):
            continue  # what the provider itself runs, such as a search
        schema = inner.get("parameters", inner.get("input_schema"))
        yield Offered(
            name,
            schema if isinstance(schema, Mapping) else {},
            free=item.get("type") == "custom",
            namespace=namespace,
        )


def all_text(body: Body) -> str:
    """Return everything that a request says to the model, as one text."""
    said = [body.get(name) for name in ("system", "instructions", "messages", "input")]
    return json.dumps([part for part in said if part is not None], ensure_ascii=False)
