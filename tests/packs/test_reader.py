"""Reading packs: both dialects, real files' oddities, ids, hidden files, and anything at all."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput, File
from frozenbench.packs import read_pack
from frozenbench.packs.model import PackLine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_pack_refusals import WHERE, jsonl, refusal, with_line
from small_study import ALPHA, BETA, PACK, PACK_FILES, Study, changed

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


# Both dialects


def test_the_first_dialect_is_read(study: Study) -> None:
    task = study.pack().tasks[0]
    assert (task.id, task.prompt, task.weight, task.split) == (
        "alpha",
        "Mend alpha.\n",
        2,
        "public",
    )
    assert task.fixture == {"alpha.py": File(PACK_FILES["fixtures/alpha/alpha.py"].encode())}
    assert (task.budget_s, task.artifact, task.network) == (None, (), "blocked")
    grader = task.grader
    assert grader.argv == ("python", "-m", "pytest", "-q", "tests/alpha/test_alpha.py")
    assert list(grader.hidden) == ["tests/alpha/test_alpha.py"]
    assert grader.tests == ("tests/alpha/test_alpha.py",)
    assert (grader.timeout_s, grader.trust) == (60, "in-process")
    assert grader.solution == {"alpha.py": File(b"def alpha():\n    return 1\n")}


def test_the_second_dialect_is_read(study: Study) -> None:
    task = study.pack().tasks[1]
    assert (task.id, task.prompt, task.budget_s) == ("beta", "Mend beta.\n", 30)
    assert task.artifact == ("beta.py",)
    assert task.grader.argv == ("pytest", "-q", "checks/test_beta.py")
    assert list(task.grader.hidden) == ["checks/test_beta.py"]
    assert task.grader.must_not_contain == ("eval(",)
    assert task.grader.must_not_use == ("os.system",)


def test_the_two_dialects_say_the_same_thing(study: Study) -> None:
    first = study.pack()
    study.lines[0] = {
        "task_id": "alpha",
        "prompt": "Mend alpha.\n",
        "fixture_dir": "fixtures/alpha",
        "test_cmd": "python -m pytest '-q' tests/alpha/test_alpha.py",
        "weight": 2,
    }
    second = study.pack()
    assert second.digest == first.digest
    assert second.file_sha256 != first.file_sha256


def test_a_command_is_split_as_a_shell_splits_words_and_no_shell_runs(study: Study) -> None:
    study.lines[1] = changed(BETA, "test_cmd", "pytest checks/test_beta.py -k 'a b' $HOME | tee x")
    argv = study.pack().tasks[1].grader.argv
    assert argv == ("pytest", "checks/test_beta.py", "-k", "a b", "$HOME", "|", "tee", "x")


def test_the_shipped_packs_are_read() -> None:
    root = Path(__file__).parents[2]
    sizes = {
        name: len(read_pack(root / name, name).tasks)
        for name in ("packs/starter", "packs/functions")
    }
    assert sizes == {"packs/starter": 6, "packs/functions": 48}


# A.1: BOM, CRLF, blank and cut lines


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda raw: BOM + raw,
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: BOM + raw.replace(b"\n", b"\r\n") + b"\r\n  \r\n",
        lambda raw: raw + b"\n\n",
        lambda raw: b"\n" + raw.replace(b"\n", b"\n\n"),
        lambda raw: raw.rstrip(b"\n"),
        lambda raw: b"".join(reversed(raw.splitlines(keepends=True))),
    ],
    ids=["BOM", "CRLF", "BOM+CRLF", "blank end", "blank between", "no last LF", "other order"],
)
def test_how_the_file_is_written_changes_no_task_and_no_digest(
    study: Study, rewritten: Any
) -> None:
    plain = study.pack()
    study.raw = rewritten(jsonl(ALPHA, BETA))
    pack = study.pack()
    assert {task.id: task for task in pack.tasks} == {task.id: task for task in plain.tasks}
    assert pack.digest == plain.digest
    assert pack.file_sha256 != plain.file_sha256, "sha256sum finds this one"


@pytest.mark.parametrize("before", [b"", BOM], ids=["plain", "BOM"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_a_cut_line_is_named_by_its_number(study: Study, before: bytes, end: bytes) -> None:
    third = json.dumps(changed(ALPHA, "id", "gamma")).encode()
    lines = [json.dumps(ALPHA).encode(), json.dumps(BETA).encode(), third[: len(third) // 2]]
    study.raw = before + end.join(lines)
    assert refusal(study).startswith(f"{WHERE}: line 3: is not JSON: ")


def test_only_lf_and_crlf_end_a_line(study: Study) -> None:
    study.lines[1] = changed(BETA, "prompt", "one\u2028two\x0bthree\x85four")
    study.raw = "".join(
        json.dumps(line, ensure_ascii=False) + "\n" for line in study.lines
    ).encode()
    assert study.pack().tasks[1].prompt == "one\u2028two\x0bthree\x85four"


def test_prompts_lose_bom_and_crlf_and_nothing_else(study: Study) -> None:
    plain = study.pack().tasks[0].digest
    study.files["prompts/alpha.md"] = BOM + b"Mend alpha.\r\n"
    assert study.pack().tasks[0].digest == plain
    study.files["prompts/alpha.md"] = b"Mend alpha. \n"
    assert study.pack().tasks[0].prompt == "Mend alpha. \n"


def test_fixtures_and_hidden_files_are_bytes(study: Study) -> None:
    """A.2: line ends are never rewritten."""
    study.files["fixtures/alpha/data.txt"] = b"a\r\nb\n\xff"
    study.files["tests/alpha/test_alpha.py"] = b"x = 1\r\n"
    task = study.pack().tasks[0]
    assert task.fixture["data.txt"].data == b"a\r\nb\n\xff"
    assert task.grader.hidden["tests/alpha/test_alpha.py"].data == b"x = 1\r\n"


# A.3, A.5, A.6: ids

BAD_IDS = [
    *("a/b", "/abs", "../up", "a b", "a%20b", "a:b", "-rf", ".", "..", "ä", "a\u0308", "{x}", ""),
    *("a\n", "a\r", "\ufeffa", "a\u0000", "_a", "a\\b", "*", "x" * 101),
]


@pytest.mark.parametrize("name", BAD_IDS, ids=ascii)
def test_an_id_that_is_no_plain_name_is_refused(study: Study, name: str) -> None:
    told = with_line(study, changed(ALPHA, "id", name))
    assert told.startswith("id: ") or "id" in told
    assert "cure: letters, digits" in told


@pytest.mark.parametrize("name", ["a", "CON", "a_b", "b.c", "A-1.x_y", "9", "x" * 100])
def test_plain_ids_are_allowed(study: Study, name: str) -> None:
    study.lines[0]["id"] = name
    assert study.pack().tasks[0].id == name


@pytest.mark.parametrize("twin", ["beta", "BETA", "Beta"])
def test_an_id_stands_once_without_regard_to_case(study: Study, twin: str) -> None:
    study.lines.append(changed(ALPHA, "id", twin))
    told = refusal(study)
    assert told.startswith(
        f"{WHERE}: line 3: id: {twin!r} stands twice (beside 'beta' in line 2;"
    )


# Hidden files and harness


def test_hidden_files_default_to_what_the_command_names_and_what_lies_beside_it(
    study: Study,
) -> None:
    study.files["tests/alpha/conftest.py"] = "c"
    study.files["tests/alpha/support/deep/data.bin"] = b"\x00"
    study.files["tests/alpha/other.py"] = "not named"
    study.lines[0]["grade"] = ["pytest", "tests/alpha/test_alpha.py::test_one", "--tb=short"]
    grader = study.pack().tasks[0].grader
    assert sorted(grader.hidden) == [
        "tests/alpha/conftest.py",
        "tests/alpha/support/deep/data.bin",
        "tests/alpha/test_alpha.py",
    ]
    assert grader.folders == ("tests/alpha/support",)
    assert grader.tests == ("tests/alpha/test_alpha.py",)


def test_a_named_folder_is_hidden_whole(study: Study) -> None:
    study.lines[0]["grade"] = ["pytest", "tests/alpha/"]
    grader = study.pack().tasks[0].grader
    assert grader.folders == ("tests/alpha",)
    assert grader.tests == ("tests/alpha",)


def test_a_hidden_file_keeps_its_x_bit(study: Study) -> None:
    study.pack()
    (study.pack_folder / "tests/alpha/test_alpha.py").chmod(0o755)
    assert study.pack().tasks[0].grader.hidden["tests/alpha/test_alpha.py"].executable


def test_a_hidden_path_cannot_be_a_file_and_a_folder(study: Study) -> None:
    hidden = {"t": "tests/alpha/test_alpha.py", "t/x.py": "tests/beta/test_beta.py"}
    line = {**changed(ALPHA, "id", "gamma"), "hidden": hidden}
    assert with_line(study, line).startswith("hidden: t would be a file and a folder (for t/x.py)")


@pytest.mark.parametrize("argv", [["make", "tests/alpha"], ["python", "tests/alpha/test_alpha.py"]])
def test_tests_without_ids_need_another_trust(study: Study, argv: list[str]) -> None:
    line = {**changed(ALPHA, "id", "gamma"), "grade": argv}
    assert "reports no test ids; cure: pytest, or grader_trust exit-status" in with_line(
        study, line
    )
    study.lines = [{**line, "grader_trust": "exit-status"}]
    assert study.pack().tasks[0].grader.argv == tuple(argv)


@pytest.mark.parametrize("script", ["print(1)  # " + "x" * 300, "a\0b", "import sys; sys.exit(1)"])
def test_a_script_in_the_command_is_no_path(study: Study, script: str) -> None:
    study.lines[0] |= {"grade": ["python", "-c", script], "grader_trust": "exit-status"}
    grader = study.pack().tasks[0].grader
    assert (grader.hidden, grader.argv[2]) == ({}, script)


def test_pytest_needs_a_lock(study: Study) -> None:
    study.files["requirements.txt"] = None
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 1: grade: runs pytest, and the pack has no requirements")


def test_one_task_can_be_read_alone(study: Study) -> None:
    study.lines.append(changed(ALPHA, "id", "broken") | {"fixture_dir": "nope"})
    study.save_pack()
    for name in ("alpha", "beta"):
        pack = read_pack(study.pack_folder, PACK, only=name)
        assert [task.id for task in pack.tasks] == [name]
    with pytest.raises(BadInput, match=r"pack\.jsonl: task 'gamma' is not there; cure: "):
        read_pack(study.pack_folder, PACK, only="gamma")


def test_a_file_name_that_is_not_utf_8_is_told(study: Study) -> None:
    study.save_pack()
    folder = os.fsencode(study.pack_folder / "fixtures/alpha")
    Path(os.fsdecode(folder + b"/\xff.py")).write_bytes(b"")
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 1: fixture_dir: alpha/'\\udcff.py': the file's name")


# Anything at all

FIELDS = list(PackLine.__dataclass_fields__)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2**70)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["alpha", "fixtures/alpha", "tests/alpha/test_alpha.py", "../x", "python"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
LINES = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), VALUES, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120)
@given(st.lists(LINES, min_size=1, max_size=2), st.booleans())
def test_any_line_gives_a_task_or_a_readable_refusal(
    study: Study, changes: list[dict[str, Any]], whole: bool
) -> None:
    study.lines = [change if whole else {**ALPHA, **change} for change in changes]
    told = ""
    try:
        assert re.fullmatch("[0-9a-f]{64}", study.pack().digest)
    except BadInput as error:
        told = str(error)
    assert not told or re.fullmatch(rf"{PACK}/pack\.jsonl: .*", told)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    st.binary(max_size=30) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_give_a_readable_refusal(study: Study, raw: bytes) -> None:
    study.raw = raw
    with pytest.raises(BadInput, match=r"^packs/small/pack\.jsonl: "):
        study.pack()
