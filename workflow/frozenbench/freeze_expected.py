"""freeze_expected: find the test ids that must pass, by grading the reference solution.

Without a solution they come from a static parse of the hidden tests, where `name[*]` stands for a
parametrised test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frozenbench.canonical import tree_digest, write_json
from frozenbench.frozen import tree_at
from frozenbench.grade.grading import (
    FrozenGrader,
    grade_tree,
    graded_tree,
    read_grader,
    store,
    verdict_key,
)
from frozenbench.seal import read_sealed, sealed


def freeze_expected(
    grader_files: Path, task_files: Path, environment: Path, isolation: str, out: Path
) -> None:
    """Write {"source", "ids", "log", "place"}; ids is null for a grader without test ids.

    `place` is what the path is made of: grader digest, fixture digest, environment.

    A reference that fails is no error here: its ids are those that passed, and the reference cell
    then refuses the score.
    """
    grader = read_grader(grader_files)
    fixture = tree_at(task_files / "fixture")
    found: dict[str, Any]
    if grader.trust == "exit-status":
        found = {"source": "none", "ids": None, "log": ""}
    elif grader.solution is None:
        found = {"source": "static", "ids": static_ids(grader), "log": ""}
    else:
        artifact = {**fixture, **grader.solution}
        graded = grade_tree(grader, artifact, fixture, environment, isolation, None)
        ids = sorted(set(graded.verdict.ids))
        found = {"source": "reference", "ids": ids, "log": graded.log}
        if graded.verdict.green:
            # With these ids expected the same evidence is as green: the reference cell need not
            # be graded once more.
            tree = graded_tree(grader, artifact, fixture)
            key = verdict_key(tree, grader.digest, ids, environment.name, isolation)
            store(key, graded)
    place = [grader.digest, tree_digest(fixture), environment.name]
    write_json(out, sealed({**found, "place": place}))


def read_expected(path: Path) -> tuple[str, ...] | None:
    """Return the expected ids, or None where the grader has none."""
    ids = read_sealed(path, "remove the file, it is found again")["ids"]
    return None if ids is None else tuple(ids)


def static_ids(grader: FrozenGrader) -> list[str]:
    """Return the ids of the tests that stand in the hidden files which the command names."""
    found: list[str] = []
    for path in sorted(grader.hidden):
        named = any(path == test or path.startswith(f"{test}/") for test in grader.tests)
        name = Path(path).name
        is_test = name.startswith("test_") or name.endswith("_test.py")
        if named and path.endswith(".py") and (is_test or path in grader.tests):
            found += _ids_in(path, grader.hidden[path].data)
    return found


def _ids_in(path: str, source: bytes) -> Iterator[str]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in module.body:
        if _is_test(node):
            yield f"{path}::{_name(node)}"
        elif isinstance(node, ast.ClassDef) and _holds_tests(node):
            for item in node.body:
                if _is_test(item):
                    yield f"{path}::{node.name}::{_name(item)}"


def _holds_tests(node: ast.ClassDef) -> bool:
    """Tell whether pytest looks into a class: by its name, or as a case of unittest."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    return node.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)


def _is_test(node: ast.stmt) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, functions) and node.name.startswith("test")


def _name(node: ast.stmt) -> str:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    parametrised = any("parametrize" in ast.unparse(item) for item in node.decorator_list)
    return f"{node.name}[*]" if parametrised else node.name
