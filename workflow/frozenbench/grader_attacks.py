"""What the attack suite of this version found, as one line for pages and closing lines."""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import read_json

RESULTS = Path(__file__).with_name("attack_results.json")


def grader_attacks() -> str:
    """Return how many attacks on the grader are called PASS, by trust level, and when."""
    found = read_json(RESULTS)
    counts = ", ".join(
        f"{trust} {found[trust]['passed']} of {found[trust]['of']}"
        for trust in ("split", "in-process")
    )
    return f"{counts} ({found['date']})"
