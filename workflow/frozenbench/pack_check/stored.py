"""The stored result of a pack check: written, read back, and put into one line.

It is an observation: it is in no digest and no key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from frozenbench import keys, layout
from frozenbench.canonical import FrozenbenchError, read_json, write_json
from frozenbench.controls import is_imported
from frozenbench.pack_check.finding import LASTING, Finding
from frozenbench.seal import broken_seal, sealed

#: A page's own copy of what it says: later checks change no page.
COPY = "pack_check.json"
SHOWN = 5

Check = Mapping[str, Any]


def check_place(pack_digest: str) -> None:
    """Check that a result can be stored, before the minutes that it takes are spent.

    Raises:
        OSError: it cannot; names the folder.
    """
    folder = layout.pack_check(pack_digest).parent
    folder.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(prefix=".", dir=folder):
        pass


def store(document: Check) -> Path:
    """Write the result of a whole pack's check; the last one counts. Return where it stands."""
    path = layout.pack_check(document["pack_digest"])
    write_json(path, sealed(document))
    return path


def read(pack_digest: str, environment_id: str, isolation: str) -> dict[str, Any] | None:
    """Return the result for exactly this pack, environment and isolation, or None."""
    found = _unsealed(layout.pack_check(pack_digest))
    here = {"pack_digest": pack_digest, "environment": environment_id, "isolation": isolation}
    if found is None or any(found.get(name) != value for name, value in here.items()):
        return None
    return found


def of_experiment(controls: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a page says of the check of an experiment's pack, as the store stands now.

    Only names and kinds: what was found may hold test ids, which are no reader's of a held-out task.
    """
    if is_imported(controls):  # a log of another harness has no pack of ours
        return None
    shared = controls["environment"]
    environment = keys.environment_id(shared["lock_sha256"])
    found = read(controls["pack"]["digest"], environment, shared["isolation"])
    if found is None:
        return None
    named = [{"task": item["task"], "kind": item["kind"]} for item in found["findings"]]
    kept = ("pack_digest", "environment", "isolation", "repeats", "date")
    return {**{name: found[name] for name in kept}, "findings": named}


def of_page(page: Path) -> dict[str, Any] | None:
    """Return what a page that was written says of it, from the page's own copy."""
    return _unsealed(page / COPY)


def _unsealed(path: Path) -> dict[str, Any] | None:
    """Return a sealed document without its seal; None where it is not there or not as written."""
    if not path.is_file():
        return None
    try:
        document = read_json(path)
        sound = isinstance(document, dict) and broken_seal(document) is None
    except FrozenbenchError:
        return None
    return {name: value for name, value in document.items() if name != "seal"} if sound else None


def said(check: Check | None) -> str:
    """Return `passed (…)`, `N findings (…): …` or `not run`."""
    if check is None:
        return "not run"
    how = f"(k = {check['repeats']}, {check['date']})"
    found = check["findings"]
    if not found:
        return f"passed {how}"
    told = [f"{item['kind']} {item['task']}" for item in found[:SHOWN]]
    more = len(found) - len(told)
    told += [f"{more} more"] if more else []
    return f"{count(len(found), 'finding')} {how}: {', '.join(told)}"


def count(number: int, thing: str) -> str:
    """Return `1 finding`, `2 findings`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def remembered(now: Sequence[Finding], earlier: Check | None) -> list[Finding]:
    """Return the findings of now and what an earlier check of the same pack saw flapping.

    A lucky second check takes nothing back: the same digest is the same tests.
    """
    known = {(finding.task, finding.kind) for finding in now}
    kept = [
        Finding(item["task"], item["kind"], item["found"], item["cure"], earlier=True)
        for item in ([] if earlier is None else earlier["findings"])
        if item["kind"] in LASTING and (item["task"], item["kind"]) not in known
    ]
    return [*now, *kept]


def as_stored(finding: Finding) -> dict[str, Any]:
    """Return a finding without the grader's output."""
    return {name: value for name, value in asdict(finding).items() if name != "log"}
