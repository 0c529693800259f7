"""Runs every attack and writes what came of it: docs/attacks.md and attack_results.json.

    python tests/attacks/report.py

The second is part of the package: results pages print its line.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attack_table import ATTACKS, FOOLED_IN_PROCESS, KINDS
from attack_task import ENVIRONMENT_VARIABLE, EXIT_STATUS, IN_PROCESS, LEVELS, SPLIT, arena
from attempt import Attempt, attempt
from endurance import PLACES, Endured, endured
from exhaustion import EXHAUSTIONS, GRACE_SECONDS, LIMIT_SECONDS
from frozenbench.build_environment import build_environment
from frozenbench.canonical import write_atomic
from frozenbench.sandbox import measure, work_folder
from host_state import new_mark
from odd_solutions import ODD
from ways_out import host, tried

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "attacks.md"
REMAINS = Path(__file__).with_name("what_remains.md")
RESULTS = ROOT / "workflow" / "frozenbench" / "attack_results.json"
LOCK = ROOT / "packs" / "starter" / "requirements.txt"

Row = Sequence[object]


def table(header: Row, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    for row in (header, ["---"] * len(header), *rows):
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"
    yield ""


def told(*words: object) -> None:
    """Say how far the run is."""
    print(*words, file=sys.stderr, flush=True)


def run_attacks(environment: Path) -> dict[tuple[str, str], Attempt]:
    """Return (attack, trust level) -> what came of it."""
    found = {}
    for attack in ATTACKS:
        for trust in LEVELS:
            result = found[attack.name, trust] = attempt(attack, trust, environment)
            told(attack.name, trust, result.word, f"{result.seconds:.1f} s")
            if not result.left.nothing:
                raise SystemExit(f"{attack.name}: left {result.left}")
    return found


def run_exhaustions(environment: Path) -> dict[tuple[str, str], Endured]:
    """Return (attack, place) -> what came of it."""
    found = {}
    for exhaustion in EXHAUSTIONS:
        for place in PLACES:
            result = found[exhaustion.name, place] = endured(exhaustion, place, environment)
            told(exhaustion.name, place, result.word, f"{result.seconds:.1f} s")
            if not result.left.nothing:
                raise SystemExit(f"{exhaustion.name}: left {result.left}")
    return found


def run_ways(environment: Path) -> dict[str, dict[str, str]]:
    """Return place -> way -> what came of it."""
    with work_folder() as folder, host(folder, new_mark()) as outside:
        found = {place: tried(place, environment, outside) for place in PLACES}
        if outside.visitors():
            raise SystemExit("a box has reached the host")
    return found


def run_odd(environment: Path) -> dict[tuple[str, str], bool]:
    """Return (odd solution, trust level) -> whether it was called PASS."""
    found = {}
    for trust in (SPLIT, IN_PROCESS):
        with arena(trust, environment) as grader:
            for name, tree in ODD.items():
                found[name, trust] = grader.grade(tree).verdict.green
    return found


def summary(attempts: dict[tuple[str, str], Attempt], day: str) -> dict[str, object]:
    """Return what the package carries."""
    passed = {
        trust: sum(attempts[attack.name, trust].called_pass for attack in ATTACKS)
        for trust in LEVELS
    }
    counts = {trust: {"passed": passed[trust], "of": len(ATTACKS)} for trust in LEVELS}
    return {**counts, "date": day}


def _attacks(attempts: dict[tuple[str, str], Attempt], results: dict[str, object]) -> Iterator[str]:
    yield "## Artifacts that do not solve their task"
    yield ""
    said = {trust: f"{count['passed']} of {count['of']}" for trust, count in _counts(results)}
    yield from table(
        ["", *LEVELS],
        [["called PASS", *(f"**{said[trust]}**" for trust in LEVELS)]],
    )
    for kind, against in KINDS.items():
        yield f"### {kind[0].upper()}{kind[1:]}"
        yield ""
        yield f"Against: {against}."
        yield ""
        rows = []
        for attack in ATTACKS:
            if attack.kind == kind:
                words = [attempts[attack.name, trust].word for trust in LEVELS]
                words = [f"**{word}**" if word == "PASS" else word for word in words]
                mark = " (types)" if attack.types else ""
                rows.append([f"`{attack.name}`{mark}", attack.tries, *words])
        yield from table(["attack", "what it tries", *LEVELS], rows)


def _counts(results: dict[str, object]) -> Iterator[tuple[str, dict[str, int]]]:
    for trust, count in results.items():
        if isinstance(count, dict):
            yield trust, count


def _fooled() -> Iterator[str]:
    yield f"### Called PASS under `{IN_PROCESS}`"
    yield ""
    rows = [[f"`{name}`", why] for name, why in FOOLED_IN_PROCESS.items()]
    yield from table(["attack", "why no wall around the process helps"], rows)


def _exhaustions(found: dict[tuple[str, str], Endured]) -> Iterator[str]:
    times = [result.seconds for result in found.values()]
    yield "## Attacks on the machine"
    yield ""
    yield (
        f"Each runs under a clock of {LIMIT_SECONDS:g} s, once in an agent's box and once as an artifact "
        f"at both trust levels. Until the verdict is there it takes at most {GRACE_SECONDS:g} s more; "
        f"the median was {statistics.median(times):.2f} s, the longest {max(times):.2f} s. No process and "
        "no file was left, and the host was as before."
    )
    yield ""
    rows = []
    for exhaustion in EXHAUSTIONS:
        results = [found[exhaustion.name, place] for place in PLACES]
        cells = [f"{result.word}, {result.seconds:.1f} s" for result in results]
        rows.append([f"`{exhaustion.name}`", exhaustion.takes, *cells])
    yield from table(["attack", "what it takes", *PLACES], rows)


def _ways(found: dict[str, dict[str, str]]) -> Iterator[str]:
    yield "## Ways out"
    yield ""
    yield (
        "Tried from an agent's box, from the grader's and from a candidate's under `split`. Listeners "
        "outside were reached from outside; from the boxes nobody came."
    )
    yield ""
    rows = [
        [way, *(found[place].get(way, "not tried").split(" ")[0] for place in PLACES)]
        for way in found[PLACES[0]]
    ]
    yield from table(["way", *PLACES], rows)


def _odd(found: dict[tuple[str, str], bool]) -> Iterator[str]:
    wrong = sorted({name for (name, _), green in found.items() if not green})
    yield "## Right solutions with odd habits"
    yield ""
    passed = "all PASS" if not wrong else f"not PASS: {', '.join(wrong)}"
    yield f"{len(ODD)}, under `{SPLIT}` and `{IN_PROCESS}`: {passed}."
    yield ""
    yield f"{'; '.join(ODD)}."
    yield ""


def page(environment: Path, day: str) -> tuple[str, dict[str, object]]:
    """Run everything; return the page and the summary."""
    attempts = run_attacks(environment)
    results = summary(attempts, day)
    user = "root (boxes run as another user)" if os.geteuid() == 0 else "an ordinary user"
    lines = [
        "# Attacks on grader and box, and what came of them",
        "",
        f"Result of {day}, isolation {measure().level}, run by {user}. Written by "
        "`python tests/attacks/report.py`; `make test-all` runs all of it as root and as an "
        "ordinary user, `make test` one of each kind as an ordinary user. The artifacts are in "
        "tests/attacks/artifacts.",
        "",
        "All attack one task, six functions with eight hidden tests that compare by `==`. "
        f"Under `{EXIT_STATUS}` the same tests are graded by `python -m pytest` and its status, which "
        "shows what the other two levels are for. Attacks marked (types) are graded, where the level "
        "does not compare types, by one more test that does.",
        "",
        *_attacks(attempts, results),
        *_fooled(),
        *_exhaustions(run_exhaustions(environment)),
        *_ways(run_ways(environment)),
        *_odd(run_odd(environment)),
        REMAINS.read_text("utf-8").rstrip(),
    ]
    return "\n".join(lines) + "\n", results


def main() -> int:
    """Write both files."""
    day = datetime.now(UTC).date().isoformat()
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(given) if given else Path(folder) / "environment"
        if not given:
            build_environment(LOCK, environment)
        text, results = page(environment, day)
    write_atomic(PAGE, text.encode())
    write_atomic(RESULTS, json.dumps(results, indent=2).encode() + b"\n")
    print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
