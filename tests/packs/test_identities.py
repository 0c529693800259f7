"""Which digest changes with which part of a pack: a table, and nothing else changes any."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from frozenbench.canonical import digest, tree_digest
from frozenbench.controls import GRADE_SEMANTICS
from frozenbench.packs import Pack
from small_study import Study

Change = Callable[[Study], None]


def field(name: str, value: object) -> Change:
    """Set a field of the first line."""
    return lambda study: study.lines[0].update({name: value})


def file(name: str, content: str | None) -> Change:
    """Set a file of the pack; None removes it."""
    return lambda study: study.files.update({name: content})


def mode(name: str) -> Change:
    """Set the x-bit of a file."""
    return lambda study: (study.pack_folder / name).chmod(0o755)


def info(name: str, value: str) -> Change:
    return lambda study: study.info.update({name: value})


def both(*changes: Change) -> Change:
    def change(study: Study) -> None:
        for one in changes:
            one(study)

    return change


def turn(study: Study) -> None:
    study.lines.reverse()


def without_solution(study: Study) -> None:
    study.files.pop("solutions/alpha/alpha.py")
    shutil.rmtree(study.pack_folder / "solutions/alpha")


TASK, GRADER, PACK, NONE = {"task", "pack"}, {"grader", "pack"}, {"pack"}, set[str]()

#: What is changed in `alpha` -> the digests of it and of the pack that change.
TABLE: list[tuple[str, Change, set[str]]] = [
    # The task digest: what the agent can see or feel.
    (
        "id",
        both(
            field("id", "gamma"), file("solutions/gamma/alpha.py", "def alpha():\n    return 1\n")
        ),
        TASK,
    ),
    ("prompt text", file("prompts/alpha.md", "Mend alpha!\n"), TASK),
    (
        "a fixture file's bytes",
        file("fixtures/alpha/alpha.py", "def alpha():\r\n    return 0\r\n"),
        TASK,
    ),
    ("a fixture file more", file("fixtures/alpha/empty", ""), TASK),
    (
        "a fixture file's name",
        both(file("fixtures/alpha/alpha.py", None), file("fixtures/alpha/b.py", "")),
        TASK,
    ),
    ("a fixture file's x-bit", mode("fixtures/alpha/alpha.py"), TASK),
    ("budget_s", field("budget_s", 9), TASK),
    ("artifact", field("artifact", ["alpha.py"]), TASK),
    ("network", field("network", "open"), TASK),
    # The grader digest: what decides.
    ("grade argv", field("grade", ["pytest", "tests/alpha/test_alpha.py"]), GRADER),
    (
        "a hidden file's bytes",
        file("tests/alpha/test_alpha.py", "def test_alpha():\n    assert 0\n"),
        GRADER,
    ),
    ("a hidden file more", file("tests/alpha/conftest.py", ""), GRADER),
    ("a hidden file's x-bit", mode("tests/alpha/test_alpha.py"), GRADER),
    ("grade_timeout_s", field("grade_timeout_s", 61), GRADER),
    ("must_not_contain", field("must_not_contain", ["eval("]), GRADER),
    ("must_not_use", field("must_not_use", ["os.system"]), GRADER),
    ("grader_trust", field("grader_trust", "exit-status"), GRADER),
    ("the solution", file("solutions/alpha/alpha.py", "def alpha():\n    return 2 - 1\n"), GRADER),
    ("no solution", without_solution, GRADER),
    # The pack digest alone: weight and slice.
    ("weight", field("weight", 3), PACK),
    ("split", field("split", "held_out"), PACK),
    ("a task less", lambda study: study.lines.pop(), PACK),
    # None.
    ("file order", turn, NONE),
    (
        "the prompt's place",
        both(file("prompts/other.md", "Mend alpha.\n"), field("prompt_file", "prompts/other.md")),
        NONE,
    ),
    ("the prompt's BOM and CRLF", file("prompts/alpha.md", "\ufeffMend alpha.\r\n"), NONE),
    (
        "the fixture's place",
        both(file("other/alpha.py", "def alpha():\n    return 0\n"), field("fixture_dir", "other")),
        NONE,
    ),
    (
        "a default written out",
        both(field("split", "public"), field("network", "blocked"), field("grade_timeout_s", 60)),
        NONE,
    ),
    (
        "caches in the fixture",
        both(file("fixtures/alpha/__pycache__/a.pyc", "x"), file("fixtures/alpha/.cache/y", "y")),
        NONE,
    ),
    ("a support folder", file("tests/alpha/support/data", "x"), GRADER),
    ("caches beside hidden files", file("tests/alpha/support/__pycache__/a.pyc", "x"), NONE),
    ("an empty folder", lambda study: (study.pack_folder / "fixtures/alpha/empty").mkdir(), NONE),
    ("known_wrong", file("known_wrong/alpha/alpha.py", "wrong"), NONE),
    ("files that no line names", file("README.md", "more"), NONE),
    ("the pack's name", info("name", "other"), NONE),
    ("the pack's status", info("status", "published"), NONE),
    ("the pack's licence", info("licence", "CC0-1.0"), NONE),
    ("the pack's Python", info("python", ">=3.11.1"), NONE),
    ("read bits", lambda study: (study.pack_folder / "fixtures/alpha/alpha.py").chmod(0o400), NONE),
]


def digests(pack: Pack) -> dict[str, str]:
    """The digests of the pack and of its first-written task."""
    (task,) = (task for task in pack.tasks if task.id != "beta")
    return {"task": task.digest, "grader": task.grader.digest, "pack": pack.digest}


@pytest.mark.parametrize(("change", "right"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_a_change_changes_exactly_these_digests(
    tmp_path: Path, change: Change, right: set[str]
) -> None:
    study = Study(tmp_path)
    before = digests(study.pack())
    change(study)
    after = digests(study.pack())
    assert {name for name in before if before[name] != after[name]} == right


def test_the_lock_is_in_every_grader_and_in_no_task(tmp_path: Path) -> None:
    study = Study(tmp_path)
    before = study.pack()
    study.files["requirements.txt"] = str(study.files["requirements.txt"]).replace("9.0.0", "9.0.1")
    after = study.pack()
    for old, new in zip(before.tasks, after.tasks, strict=True):
        assert (old.digest == new.digest, old.grader.digest == new.grader.digest) == (True, False)


@pytest.mark.parametrize("rewrite", ["\ufeff{}", "{}"], ids=["BOM", "CRLF"])
def test_a_lock_s_line_ends_change_no_digest(tmp_path: Path, rewrite: str) -> None:
    study = Study(tmp_path)
    before = study.pack().digest
    lock = rewrite.format(study.files["requirements.txt"])
    study.files["requirements.txt"] = lock if "\ufeff" in lock else lock.replace("\n", "\r\n")
    assert study.pack().digest == before


def test_an_id_is_part_of_the_task_digest_alone(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.lines.append({**study.lines[0], "id": "twin"})
    study.files["solutions/twin/alpha.py"] = study.files["solutions/alpha/alpha.py"]
    alpha, _, twin = study.pack().tasks
    assert alpha.digest != twin.digest
    assert alpha.grader.digest == twin.grader.digest


def test_digests_are_made_of_what_the_protocol_lists(tmp_path: Path) -> None:
    pack = Study(tmp_path).pack()
    alpha = pack.tasks[0]
    assert alpha.digest == digest(
        {
            "id": "alpha",
            "prompt": "Mend alpha.\n",
            "fixture": tree_digest(alpha.fixture),
            "budget_s": None,
            "artifact": [],
            "network": "blocked",
        }
    )
    assert set(alpha.grader.material) == {
        *("argv", "hidden", "hidden_folders", "grade_timeout_s", "must_not_contain"),
        *("must_not_use", "grader_trust", "solution", "lock_sha256", "grade_semantics"),
    }
    assert alpha.grader.material["grade_semantics"] == GRADE_SEMANTICS
    assert pack.digest == digest(
        sorted([t.id, t.digest, t.grader.digest, t.weight, t.split] for t in pack.tasks)
    )
