"""How a pack is refused: every refusal names file, place and cure, in one line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from small_study import ALPHA, PACK, Study

WHERE = f"{PACK}/pack.jsonl"


def jsonl(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def refusal(study: Study) -> str:
    """Return how the pack is refused; every refusal names a cure."""
    with pytest.raises(BadInput) as caught:
        study.pack()
    told = str(caught.value)
    assert told.startswith(f"{PACK}/"), told
    assert re.search(r"cure: \S", told), told
    assert "\n" not in told
    assert str(study.root) not in told, "a path of this machine"
    return told


def with_line(study: Study, line: dict[str, Any]) -> str:
    """Return how a pack whose second line is `line` is refused, after the line's place."""
    study.lines = [ALPHA, line]
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 2: "), told
    return told.removeprefix(f"{WHERE}: line 2: ")
