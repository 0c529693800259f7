"""What six agents really asked, scrubbed: adapters/preset_requests/, with {work} for the box's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from frozenbench.sandbox import WORK

REQUESTS = Path(__file__).parent / "adapters" / "preset_requests"


def requests_of(preset: str) -> list[dict[str, Any]]:
    """Return an agent's requests in their order, each with `body` and `headers`."""
    text = (REQUESTS / f"{preset}.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text.replace("{work}", WORK))
    return found
