"""Hold RUN_SEMANTICS and GRADE_SEMANTICS to the code behind them.

    python -m frozenbench.semantics                        what changed since the lock was written
    python -m frozenbench.semantics --raised               after a number was raised by hand
    python -m frozenbench.semantics --unchanged REASON     the code changed, and no result does

A digest of the code is in no key: it would void every stored run at a renamed variable. Instead the
numbers are raised by hand, and this lock makes sure that nobody forgets to decide. Comments,
docstrings and layout do not count, nor does the version of Python that reads the code.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, digest, read_json, write_atomic
from frozenbench.controls import GRADE_SEMANTICS, RUN_SEMANTICS

PACKAGE = Path(__file__).parent
LOCK = PACKAGE / "semantics.lock.json"

_TREES = (
    "canonical:CACHE_NAMES,CACHE_SUFFIXES,File,canonical_json,digest,entries,is_cache,read_tree,"
    "sha256_bytes,tree_digest,write_tree"
)
#: What a result depends on: a module, a folder's modules (`folder/*`), or names in a module.
CODE: Mapping[str, Sequence[str]] = {
    "run": (
        _TREES,
        "adapters/*",
        "dialogue/*",
        "gateway.exchange",
        "gateway.frozen_text",
        "gateway.live",
        "gateway.local_server:_BATCH,_MICRO_BATCH,_THREADS,_load",
        "gateway.record:UNKEYED_FIELDS,canonical_request,key_material,_plain",
        "gateway.replay",
        "gateway.seed",
        "gateway.session",
        "gateway.wire",
        "gateway/wires/*",
        "inside.agent_loop",
        "inside.forward",
        "keys",
        "outcomes:METERS",
        "run/*",
        "run_cell",
        "sandbox.artifact",
        "sandbox.box:Limits",
    ),
    "grade": (
        _TREES,
        "assume/*",
        "freeze_expected",
        "grade/*",
        "grade_cell",
        "inside.candidate_child",
        "inside.candidate_codec",
        "inside.grade_command",
        "inside.grade_pytest",
        "inside.grade_split",
        "inside/trusted/frozenbench_candidate/*",
        "outcomes",
        "run.snapshots:restore",
        "sandbox.box:Limits",
    ),
}
NUMBERS = {"run": RUN_SEMANTICS, "grade": GRADE_SEMANTICS}

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Locked:
    """What the lock says of one number.

    Attributes:
        number: the semantics number.
        code: what was named in CODE -> digest of it.
        unchanged: entries {"date", "reason"}, one for each change that changed no result.
    """

    number: int
    code: Mapping[str, str]
    unchanged: tuple[Mapping[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "number": self.number,
            "code": dict(self.code),
            "unchanged": [dict(entry) for entry in self.unchanged],
        }


def source_digest(source: str, names: Sequence[str] = ()) -> str:
    """Return the digest of what a module does: its syntax tree without docstrings and positions.

    Args:
        source: Python source text.
        names: what is assigned or defined at its top level; empty: the whole module.

    Raises:
        BadInput: a name is not defined at the top level.
    """
    body = ast.parse(source).body
    if not names:
        return digest(_plain(ast.Module(body, [])))
    found = {name: node for node in body for name in _names(node)}
    absent = [name for name in names if name not in found]
    if absent:
        raise BadInput(f"semantics: {absent[0]} is not defined; cure: correct semantics.CODE")
    return digest([_plain(found[name]) for name in names])


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(part, ast.Name):
                yield part.id


def _plain(value: Any) -> Any:
    """Return a syntax tree as JSON; what is empty is left out: newer Pythons add such fields."""
    if isinstance(value, ast.AST):
        fields = dict(ast.iter_fields(value))
        if isinstance(value, _DOCUMENTED) and ast.get_docstring(value, clean=False) is not None:
            fields["body"] = fields["body"][1:]
        kept = {name: _plain(item) for name, item in fields.items() if item not in (None, [])}
        return [type(value).__name__, kept]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    # A constant: 1, 1.0 and True are three things, and bytes, ... and 1j are no JSON.
    return value if isinstance(value, str) else f"{type(value).__name__} {value!r}"


def code_of(scope: str, package: Path = PACKAGE) -> dict[str, str]:
    """Return the digest of everything behind one number, by what CODE names."""
    found: dict[str, str] = {}
    for pattern in CODE[scope]:
        module, _, names = pattern.partition(":")
        for path in _paths(package, module):
            name = ".".join(path.relative_to(package).with_suffix("").parts)
            text = path.read_text("utf-8")
            found[name] = source_digest(text, names.split(",") if names else ())
    return found


def _paths(package: Path, module: str) -> list[Path]:
    if module.endswith("/*"):
        return sorted((package / module.removesuffix("/*")).glob("*.py"))
    return [package / f"{module.replace('.', '/')}.py"]


def read_lock(path: Path = LOCK) -> dict[str, Locked]:
    """Read the lock.

    Raises:
        BadInput: it is not there or not of its form.
    """
    data = read_json(path)
    try:
        return {
            scope: Locked(int(item["number"]), item["code"], tuple(item["unchanged"]))
            for scope, item in data.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadInput(f"{path.name}: is no lock; cure: take it from the last commit") from None


def now(package: Path = PACKAGE, numbers: Mapping[str, int] = NUMBERS) -> dict[str, Locked]:
    """Return what a lock of the code as it stands would say."""
    return {scope: Locked(numbers[scope], code_of(scope, package)) for scope in CODE}


def problems(lock: Mapping[str, Locked], found: Mapping[str, Locked]) -> Iterator[str]:
    """Yield a line for each number that its code has left behind, with the cure."""
    for scope, here in found.items():
        there = lock.get(scope)
        if there is None:
            yield f"{scope}: is not in the lock; cure: python -m frozenbench.semantics --raised"
        elif here.number != there.number:
            yield (
                f"{_name(scope)}: is {here.number}, the lock says {there.number}; cure: python -m "
                "frozenbench.semantics --raised"
            )
        elif changed := differing(there.code, here.code):
            yield (
                f"{_name(scope)}: the code behind it changed ({', '.join(changed)}); cure: raise it "
                "in controls.py where any result changes and say --raised, else say --unchanged "
                "REASON (python -m frozenbench.semantics)"
            )


def _name(scope: str) -> str:
    return f"{scope.upper()}_SEMANTICS"


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the names that stand in one of the two alone, or differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def raised(lock: Mapping[str, Locked], found: Mapping[str, Locked]) -> dict[str, Locked]:
    """Return the lock after a number was raised; what was not raised stays as it was.

    Raises:
        BadInput: no number was raised, or one was lowered.
    """
    new = dict(lock)
    for scope, here in found.items():
        there = lock.get(scope)
        if there is not None and here.number < there.number:
            raise BadInput(
                f"{_name(scope)}: was lowered to {here.number}; cure: only ever raise it"
            )
        if there is None or here.number > there.number:
            new[scope] = here
    if new == dict(lock):
        raise BadInput("no number was raised; cure: raise it in controls.py, or --unchanged REASON")
    return new


def unchanged(
    lock: Mapping[str, Locked], found: Mapping[str, Locked], reason: str, date: str
) -> dict[str, Locked]:
    """Return the lock after a change of code that changes no result.

    Raises:
        BadInput: nothing changed, no reason is given, or a number was raised.
    """
    if not reason.strip():
        raise BadInput("--unchanged: holds no reason; cure: say why no result changes")
    new = dict(lock)
    for scope, here in found.items():
        there = lock.get(scope)
        if there is None or here.number != there.number:
            raise BadInput(f"{_name(scope)}: was raised; cure: --raised")
        if differing(there.code, here.code):
            entry = {"date": date, "reason": reason.strip()}
            new[scope] = Locked(there.number, here.code, (*there.unchanged, entry))
    if new == dict(lock):
        raise BadInput("no code changed: the lock is right as it is")
    return new


def write_lock(lock: Mapping[str, Locked], path: Path = LOCK) -> None:
    """Write the lock, in lines, so that a change of it can be read."""
    import json

    document = {scope: locked.as_dict() for scope, locked in lock.items()}
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    write_atomic(path, (text + "\n").encode())


def main(words: Sequence[str]) -> int:
    """Check the lock, or write it anew; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m frozenbench.semantics")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--raised", action="store_true", help="a number was raised")
    choice.add_argument("--unchanged", metavar="REASON", help="the code changed, no result does")
    asked = parser.parse_args(words)
    try:
        lock, found = read_lock() if LOCK.exists() else {}, now()
        if asked.raised:
            write_lock(raised(lock, found))
        elif asked.unchanged is not None:
            today = time.strftime("%Y-%m-%d", time.gmtime())
            write_lock(unchanged(lock, found, asked.unchanged, today))
        lines = list(problems(read_lock(), found))
    except BadInput as error:
        print(f"semantics: {error}", file=sys.stderr)
        return error.exit_status
    print("\n".join(lines) if lines else "the numbers and the code behind them fit the lock")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
