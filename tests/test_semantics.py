"""RUN_SEMANTICS and GRADE_SEMANTICS stand for the code behind them: the lock, and what changes it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.controls import GRADE_SEMANTICS, RUN_SEMANTICS
from frozenbench.semantics import (
    CODE,
    LOCK,
    PACKAGE,
    Locked,
    code_of,
    differing,
    now,
    problems,
    raised,
    read_lock,
    source_digest,
    unchanged,
    write_lock,
)


def test_the_numbers_and_the_code_behind_them_fit_the_lock() -> None:
    """If this fails, the code behind a run or a grade changed.

    Does any result change? Raise RUN_SEMANTICS or GRADE_SEMANTICS in controls.py, then
    `python -m frozenbench.semantics --raised`: stored runs or grades are void. If none does:
    `python -m frozenbench.semantics --unchanged "why"`.
    """
    assert list(problems(read_lock(), as_it_stands())) == []


def test_the_lock_is_of_these_numbers_and_is_installed() -> None:
    lock = read_lock()
    assert (lock["run"].number, lock["grade"].number) == (RUN_SEMANTICS, GRADE_SEMANTICS)
    assert LOCK.parent == PACKAGE
    for locked in lock.values():
        for entry in locked.unchanged:
            assert set(entry) == {"date", "reason"}
            assert all(entry.values())


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("run", {"run.loop", "run.meters", "run.snapshots", "run_cell", "keys", "gateway.seed"}),
        ("run", {"adapters.noop", "adapters.python", "adapters.chat", "inside.agent_loop"}),
        ("grade", {"grade.evidence", "grade.tree", "outcomes", "grade_cell", "freeze_expected"}),
        ("grade", {"inside.grade_pytest", "inside.grade_command", "assume.ghosts"}),
    ],
)
def test_what_stands_behind_a_number(scope: str, names: set[str]) -> None:
    assert names <= set(code_of(scope))


# What changes a digest

SOURCE = '''
"""A module."""

LIMIT = 3  # three


def over(value: int) -> bool:
    """Tell whether it is over."""
    return value > LIMIT


class Box:
    """A box."""

    size = 1
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another text."""'),
        ('"""A module."""', ""),
        ("# three", "# 3"),
        ('    """Tell whether it is over."""\n', ""),
        ('    """A box."""\n', '    """Box."""\n'),
        ("value > LIMIT", "(value\n        > LIMIT)"),
        ("\n\n\n", "\n"),
    ],
)
def test_words_and_layout_change_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    assert source_digest(SOURCE.replace(old, new)) == source_digest(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("LIMIT = 3", "LIMIT = True"),
        ("LIMIT = 3", "LIMIT = '3'"),
        ("value > LIMIT", "value >= LIMIT"),
        ("size = 1", "size = None"),
        ("size = 1", "size: int = 1"),
        ("return value", "return not value"),
        ("def over", "async def over"),
    ],
)
def test_code_changes_its_digest(old: str, new: str) -> None:
    assert old in SOURCE
    assert source_digest(SOURCE.replace(old, new)) != source_digest(SOURCE)


def test_named_parts_of_a_module_stand_for_themselves() -> None:
    for names in (["over"], ["LIMIT"], ["Box", "LIMIT"]):
        elsewhere = SOURCE + "\n\ndef more() -> None:\n    pass\n"
        assert source_digest(elsewhere, names) == source_digest(SOURCE, names)
    changed = SOURCE.replace("LIMIT = 3", "LIMIT = 4")
    assert source_digest(changed, ["over"]) == source_digest(SOURCE, ["over"])
    assert source_digest(changed, ["LIMIT"]) != source_digest(SOURCE, ["LIMIT"])
    with pytest.raises(BadInput, match="gone is not defined"):
        source_digest(SOURCE, ["gone"])


def test_the_digest_is_the_same_in_every_version_of_python() -> None:
    """Newer Pythons add fields to the syntax tree; this value holds in all of them."""
    source = "def f(x, /, *y: int): ...\nclass A(B): x = f'{1!r:>3}'\n"
    assert source_digest(source) == (
        "cb41173758dc9730f91208c88f7f39f8b31d6a78b993f60d205f8b3bd80186ad"
    )


@cache
def as_it_stands() -> dict[str, Locked]:
    return now()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's sources."""
    return shutil.copytree(
        PACKAGE, tmp_path / "frozenbench", ignore=shutil.ignore_patterns("__pycache__")
    )


@pytest.mark.parametrize(
    ("module", "scopes"),
    [
        ("run/meters.py", {"run"}),
        ("adapters/noop.py", {"run"}),
        ("grade/evidence.py", {"grade"}),
        ("assume/ghosts.py", {"grade"}),
        ("run_cell.py", {"run"}),
        ("inside/grade_pytest.py", {"grade"}),
        ("pages/page.py", set()),
        ("cli/people.py", set()),
        ("gateway/upstream.py", set()),
        ("gateway/record.py", set()),  # beyond what makes a record key
    ],
)
def test_a_changed_module_is_told_by_name_under_its_number(
    package: Path, module: str, scopes: set[str]
) -> None:
    path = package / module
    path.write_text(path.read_text("utf-8") + "\nADDED = 1\n", encoding="utf-8")
    before, after = as_it_stands(), now(package)
    found = {scope: differing(before[scope].code, after[scope].code) for scope in CODE}
    name = module.removesuffix(".py").replace("/", ".")
    assert found == {scope: [name] if scope in scopes else [] for scope in CODE}
    told = list(problems(before, after))
    assert len(told) == len(scopes)
    assert all(f"the code behind it changed ({name}); cure: raise it" in line for line in told)


def test_a_new_adapter_is_told(package: Path) -> None:
    (package / "adapters" / "mine.py").write_text("METERS = frozenset()\n")
    assert differing(code_of("run"), code_of("run", package)) == ["adapters.mine"]


# The lock

CODE_A, CODE_B = {"run.loop": "a"}, {"run.loop": "b"}
FIRST = {"run": Locked(1, CODE_A)}


def test_an_entry_says_why_no_result_changes() -> None:
    later = unchanged(FIRST, {"run": Locked(1, CODE_B)}, " renamed ", "2024-01-02")
    entry = {"date": "2024-01-02", "reason": "renamed"}
    assert later == {"run": Locked(1, CODE_B, (entry,))}
    assert list(problems(later, {"run": Locked(1, CODE_B)})) == []
    again = unchanged(later, {"run": Locked(1, CODE_A)}, "back", "2024-01-03")
    assert [item["reason"] for item in again["run"].unchanged] == ["renamed", "back"]


@pytest.mark.parametrize(
    ("found", "reason", "told"),
    [
        (Locked(1, CODE_A), "why", "no code changed"),
        (Locked(1, CODE_B), " ", "holds no reason"),
        (Locked(2, CODE_B), "why", "RUN_SEMANTICS: was raised; cure: --raised"),
    ],
)
def test_an_entry_that_says_nothing_is_refused(found: Locked, reason: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        unchanged(FIRST, {"run": found}, reason, "2024-01-02")


def test_a_raise_starts_anew() -> None:
    entry = {"date": "2024-01-02", "reason": "renamed"}
    before = {"run": Locked(1, CODE_A, (entry,)), "grade": Locked(1, CODE_A, (entry,))}
    found = {"run": Locked(2, CODE_B), "grade": Locked(1, CODE_A)}
    assert raised(before, found) == {"run": Locked(2, CODE_B), "grade": before["grade"]}


@pytest.mark.parametrize(
    ("number", "told"),
    [(1, "no number was raised"), (0, "was lowered to 0; cure: only ever raise")],
)
def test_only_a_raise_is_a_raise(number: int, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        raised(FIRST, {"run": Locked(number, CODE_B)})


def test_a_raise_without_a_new_lock_is_told() -> None:
    (told,) = problems(FIRST, {"run": Locked(2, CODE_A)})
    assert told.startswith("RUN_SEMANTICS: is 2, the lock says 1; cure: python -m")
    (told,) = problems({}, FIRST)
    assert told.startswith("run: is not in the lock; cure: ")


def test_the_lock_is_written_in_lines_and_read_back(tmp_path: Path) -> None:
    lock = {"run": Locked(1, CODE_A, ({"date": "2024-01-02", "reason": "ü"},))}
    path = tmp_path / "lock.json"
    write_lock(lock, path)
    assert read_lock(path) == lock
    assert len(path.read_text("utf-8").splitlines()) > 5
    for text in ("[]", '{"run": {}}', '{"run": {"number": "x", "code": {}, "unchanged": []}}'):
        path.write_text(text)
        with pytest.raises(BadInput, match=r"lock\.json: is no lock; cure: "):
            read_lock(path)


def run(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a copy of the package."""
    argv = [sys.executable, "-m", "frozenbench.semantics", *words]
    environment = {"PYTHONPATH": str(package.parent), "PYTHONSAFEPATH": "1"}
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)


def test_the_command_checks_refuses_and_rewrites(package: Path) -> None:
    lock = package / "semantics.lock.json"
    write_lock(now(package), lock)
    path = package / "run" / "clock.py"
    path.write_text(path.read_text("utf-8") + "\nADDED = 1\n", encoding="utf-8")
    told = run(package)
    assert (told.returncode, "run.clock" in told.stdout) == (1, True)
    told = run(package, "--raised")
    assert (told.returncode, told.stderr[:34]) == (2, "semantics: no number was raised; c")
    assert run(package, "--unchanged", "a name").returncode == 0
    entries = {scope: locked.unchanged for scope, locked in read_lock(lock).items()}
    assert [entry["reason"] for entry in entries["run"]] == ["a name"]
    assert entries["grade"] == ()
    controls = package / "controls.py"
    text = controls.read_text("utf-8").replace("RUN_SEMANTICS = 1", "RUN_SEMANTICS = 2")
    controls.write_text(text, encoding="utf-8")
    assert run(package, "--raised").returncode == 0
    assert read_lock(lock)["run"] == Locked(2, code_of("run", package))
