"""An answer before it is put into a wire format."""

from __future__ import annotations

import json
from dataclasses import dataclass

from frozenbench.scripted_endpoint.intents import Asked
from frozenbench.scripted_endpoint.script import Tokens

#: The moment at which every scripted answer was made: nothing in it may depend on today.
CREATED = 1767225600

#: Pieces that a streamed text or argument is cut into.
PIECES = 3


@dataclass(frozen=True)
class Answer:
    """What one request is answered with.

    Attributes:
        number: of the request, from 0: all ids are made of it.
        model: the model that answers.
        text: said before the calls; may be empty.
        calls: tool calls, in order.
        tokens: reported use.
        usage: once, missing or cumulative.
        broken: whether the arguments of the calls are no JSON.
        asked_for_usage: whether a streamed chat request wants usage at all.
    """

    number: int
    model: str
    text: str
    calls: tuple[Asked, ...]
    tokens: Tokens
    usage: str = "once"
    broken: bool = False
    asked_for_usage: bool = True

    def arguments(self, call: Asked) -> str:
        """Return a call's arguments as text; broken ones end in the middle."""
        if isinstance(call.arguments, str):
            return call.arguments
        text = json.dumps(call.arguments, ensure_ascii=False)
        return text[: max(1, len(text) // 2)] if self.broken else text

    def call_id(self, place: int) -> str:
        """Return the id of a call."""
        return f"call_{self.number}_{place}"

    def so_far(self, part: int, parts: int) -> Tokens:
        """Return the use up to one of `parts` pieces, the last of which has all of it."""
        output = self.tokens.output * part // max(1, parts)
        return Tokens(self.tokens.input, output, self.tokens.cached)


def pieces(text: str) -> list[str]:
    """Cut a text into at most PIECES pieces; an empty one has none."""
    size = max(1, -(-len(text) // PIECES))
    return [text[at : at + size] for at in range(0, len(text), size)]
