"""What agents ask besides their model: answered by the gateway itself, never forwarded or metered."""

from __future__ import annotations

import json
from typing import Any

from frozenbench.gateway.wires import WireFormat


def is_model_request(wire: WireFormat, method: str, path: str) -> bool:
    """Tell whether a request is one for a response of the model."""
    return method == "POST" and path.partition("?")[0].rstrip("/").endswith(wire.PATH)


def side_reply(
    wire: WireFormat, method: str, path: str, body: bytes, model: str
) -> tuple[int, dict[str, Any]]:
    """Return status and body of the answer to any other request.

    A model list holds the pinned model alone; a count of tokens is a rough one, a quarter of the
    request's bytes, since nothing but an answer of the model is paid for; a probe is answered.
    """
    place = path.partition("?")[0].rstrip("/")
    if method == "POST" and place.endswith("/count_tokens"):
        return 200, {"input_tokens": max(1, len(body) // 4)}
    if method in ("GET", "HEAD"):
        if place.endswith("/models"):
            return 200, {
                "object": "list",
                "data": [_model(model)],
                "has_more": False,
                "first_id": model,
                "last_id": model,
            }
        if "/models/" in place:
            return 200, _model(model)
        if place in ("", "/v1", "/health", "/healthz", "/v1/health") or method == "HEAD":
            return 200, {"status": "ok"}
    shown = json.dumps(f"{method} {place}"[:80])[1:-1]
    return 404, wire.refusal(f"{shown}: the gateway offers no such thing")


def _model(model: str) -> dict[str, Any]:
    return {
        "id": model,
        "object": "model",
        "type": "model",
        "display_name": model,
        "created": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "frozenbench",
    }
