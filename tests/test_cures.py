"""Every refusal of a config, pack, agent file or budget says what would be right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workflow" / "frozenbench"
MODULES = [
    "agent_code",
    "agent_files",
    "canonical",
    "config",
    "explain",
    "plan",
    "preflight",
    "preset_files",
    "schema",
    "packs/reader",
    "adapters/chat",
    "adapters/command",
    "adapters/contract",
    "adapters/http",
    "adapters/program",
    "adapters/python",
    "gateway/published_record",
    "gateway/record",
    "installed/binary",
    "installed/node",
    "installed/venv",
    "installed/locate",
]
WRAPS = re.compile(r"(?:[\w.]+: |\{\}: )*\{\}")


def refusals(source: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and fixed words of every refusal; `{}` stands for each value in it."""
    for node in ast.walk(source):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in ("BadInput", "Refused") or not node.args:
            continue
        text = node.args[0]
        parts = text.values if isinstance(text, ast.JoinedStr) else [text]
        words = [p.value if isinstance(p, ast.Constant) else "{}" for p in parts]
        yield node.lineno, "".join(map(str, words))


@pytest.mark.parametrize("module", MODULES)
def test_every_refusal_names_its_cure(module: str) -> None:
    source = ast.parse((PACKAGE / f"{module}.py").read_text())
    for line, words in refusals(source):
        if WRAPS.fullmatch(words) or "cannot be written as canonical JSON" in words:
            continue  # another refusal behind a file and a key; nobody's file
        assert "cure: " in words, f"{module}.py:{line}: {words}"
