"""Reading packs: both dialects, real files' oddities, and every error by its name, place and cure."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput, File
from frozenbench.packs import read_pack
from frozenbench.packs.model import PackLine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_study import ALPHA, BETA, INFO, PACK, PACK_FILES, Study, changed

WHERE = f"{PACK}/pack.jsonl"
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def jsonl(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def refusal(study: Study) -> str:
    """Return how the pack is refused; every refusal names a cure."""
    with pytest.raises(BadInput) as caught:
        study.pack()
    told = str(caught.value)
    assert told.startswith(f"{PACK}/"), told
    assert re.search(r"cure: |did you mean|; known: ", told), told
    assert "\n" not in told
    assert str(study.root) not in told, "a path of this machine"
    return told


def with_line(study: Study, line: dict[str, Any]) -> str:
    """Return how a pack whose second line is `line` is refused, after the line's place."""
    study.lines = [ALPHA, line]
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 2: "), told
    return told.removeprefix(f"{WHERE}: line 2: ")


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
    assert told.startswith(f"{WHERE}: id: {twin!r} stands twice (beside 'beta'")


# Whole files


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^packs/nope: is no folder; cure: correct pack\.path$"):
        read_pack(tmp_path / "nope", "packs/nope")


@pytest.mark.parametrize("name", ["pack.jsonl", "pack.json"])
@pytest.mark.parametrize("kind", ["absent", "folder", "link"])
def test_a_file_that_is_not_there_is_named(study: Study, name: str, kind: str) -> None:
    study.save_pack()
    path = study.pack_folder / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(study.write("elsewhere", "{}"))
    with pytest.raises(BadInput, match=rf"^{PACK}/{name}: .*; cure: "):
        read_pack(study.pack_folder, PACK)


@pytest.mark.parametrize("raw", [b"", b"\n \n\t\n", BOM])
def test_an_empty_pack_is_refused(study: Study, raw: bytes) -> None:
    study.raw = raw
    assert refusal(study) == f"{WHERE}: holds no task; cure: one JSON object a line"


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", None, "name: is missing"),
        ("name", "a/b", "name: is 'a/b'"),
        ("name", "small\n", r"name: is 'small\n'"),
        ("status", "draft", "status: is 'draft'; cure: one of proposal or published"),
        ("licence", "", "licence: is ''"),
        ("license", "MIT", "license: unknown key; did you mean 'licence'?"),
        ("python", "3.11", "python: '3.11' is no version range; cure: such as '>=3.11'"),
        ("python", 3.11, "python: is 3.11; cure: a value of type string"),
        ("source", None, "source: is missing"),
    ],
)
def test_pack_json_says_what_a_pack_must_say(
    study: Study, field: str, value: Any, told: str
) -> None:
    study.info = changed(INFO, field, value)
    assert refusal(study).startswith(f"{PACK}/pack.json: {told}")


# Lines that are no good JSON


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"[1, 2]", "holds no JSON object; cure: {...}"),
        (b"7", "holds no JSON object; cure: {...}"),
        (b'{"id": "a", "id": "b"}', "id: the field stands twice; cure: keep one"),
        (b'{"hidden": {"a": "x", "a": "y"}}', "a: the field stands twice; cure: keep one"),
        (b'{"weight": NaN}', "NaN is no JSON number"),
        (b'{"budget_s": -Infinity}', "-Infinity is no JSON number"),
        (b'{"id": "\xff"}', "is not UTF-8 (byte 8); cure: save as UTF-8"),
        (b'{"prompt": "\\ud83d"}', "holds half of a surrogate pair; cure: a whole character"),
        (b'{"id": "a"} {"id": "b"}', "is not JSON: Extra data"),
        (b"{'id': 'a'}", "is not JSON: Expecting property name"),
        (b'{"weight": ' + b"9" * 5000 + b"}", "is not JSON: Exceeds the limit"),
        (b'{"hidden": ' + b"[" * 50_000 + b"}", "is not JSON: "),
        (b'{"hidden": ' + b"[" * 700 + b"]" * 700 + b"}", ""),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_line_that_is_no_good_json_is_told(study: Study, line: bytes, told: str) -> None:
    study.raw = jsonl(ALPHA) + line + b"\n"
    assert refusal(study).startswith(f"{WHERE}: line 2: {told}")


# Fields

ABSENT: tuple[tuple[str, str], ...] = (
    ("id", "id (or task_id): is missing; cure: give exactly one of the two"),
    ("prompt_file", "prompt_file (or prompt): is missing; cure: give exactly one of the two"),
    ("grade", "grade (or test_cmd): is missing; cure: give exactly one of the two"),
)


@pytest.mark.parametrize(("field", "told"), ABSENT)
def test_a_field_that_must_be_there_is_named(study: Study, field: str, told: str) -> None:
    assert with_line(study, changed(changed(ALPHA, "id", "gamma"), field, None)) == told


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("task_id", "gamma", "id (or task_id): both stand"),
        ("prompt", "Mend.", "prompt_file (or prompt): both stand"),
        ("test_cmd", "pytest x", "grade (or test_cmd): both stand"),
        ("weights", 2, "weights: unknown key; did you mean 'weight'? known: artifact, "),
        ("Weight", 2, "Weight: unknown key; did you mean 'weight'?"),
        ("", 2, "'': unknown key; known: artifact, "),
        ("a\nb", 2, r"'a\nb': unknown key; known: artifact, "),
        ("weight", 0, "weight: is 0; cure: a value of at least 1"),
        ("weight", -1, "weight: is -1; cure: a value of at least 1"),
        ("weight", 1.5, "weight: is 1.5; cure: a value of type integer"),
        ("weight", 1.0, "weight: is 1.0; cure: a value of type integer"),
        ("weight", True, "weight: is True; cure: a value of type integer"),
        ("weight", "2", "weight: is '2'; cure: a value of type integer"),
        ("weight", 2**31, "weight: is 2147483648; cure: a value of at most 2147483647"),
        ("budget_s", 0, "budget_s: is 0; cure: a value above 0"),
        ("budget_s", "90", "budget_s: is '90'; cure: a value of type number"),
        ("budget_s", True, "budget_s: is True; cure: a value of type number"),
        ("grade_timeout_s", -1, "grade_timeout_s: is -1; cure: a value above 0"),
        ("grade", [], "grade: is []; cure: at least 1 item(s)"),
        ("grade", "pytest x", "grade: is 'pytest x'; cure: a value of type array"),
        ("grade", ["pytest", ""], "grade.1: is ''; cure: a text that is not empty"),
        ("must_not_contain", [""], "must_not_contain.0: is ''; cure: a text that is not empty"),
        (
            "must_not_use",
            ["os..system"],
            "must_not_use.0: is 'os..system'; cure: text that matches",
        ),
        ("must_not_use", ["os.system\n"], r"must_not_use.0: is 'os.system\n'; cure: text that"),
        ("network", "closed", "network: is 'closed'; cure: one of blocked or open"),
        ("grader_trust", "full", "grader_trust: is 'full'; cure: one of split or in-process or"),
        ("split", "hidden", "split: is 'hidden'; cure: one of public or held_out"),
        ("artifact", ["../x"], "artifact: '../x' leaves the tree; cure: a relative path"),
        ("artifact", ["/x"], "artifact: '/x' leaves the tree"),
        ("artifact", ["."], "artifact: '.' leaves the tree"),
        ("hidden", [], "hidden: is []; cure: files laid over the artifact when grading"),
        ("hidden", {"a": 7}, "hidden: is {'a': 7}; cure: files laid over the artifact"),
        ("hidden", "tests", "hidden: is 'tests'; cure: files laid over the artifact"),
        ("prompt_file", "", "prompt_file: is ''; cure: a text that is not empty"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_wrong_field_is_named_with_its_value_and_cure(
    study: Study, field: str, value: Any, told: str
) -> None:
    assert with_line(study, {**ALPHA, "id": "gamma", field: value}).startswith(told)


def test_infinity_by_a_large_exponent_is_no_number(study: Study) -> None:
    study.raw = jsonl(ALPHA) + jsonl(BETA).replace(b'"budget_s": 30', b'"budget_s": 1e999')
    assert "budget_s: is inf; cure: a value of type number (finite)" in refusal(study)


def test_a_whole_number_has_one_spelling(study: Study) -> None:
    plain = study.pack().digest
    study.lines[1]["budget_s"] = 30.0
    study.lines[1]["grade_timeout_s"] = 60.0
    assert study.pack().digest == plain


@pytest.mark.parametrize("prompt", ["", " \n\t", "\ufeff"])
def test_an_empty_prompt_is_refused(study: Study, prompt: str) -> None:
    told = with_line(study, changed(BETA, "prompt", prompt))
    assert told == "prompt: is empty; cure: say what is to be done"


@pytest.mark.parametrize("command", ["'", ' "a', "a\\"])
def test_an_open_quote_is_told(study: Study, command: str) -> None:
    assert with_line(study, changed(BETA, "test_cmd", command)).startswith("test_cmd: No ")


def test_a_prompt_file_that_is_not_utf_8_is_told(study: Study) -> None:
    study.files["prompts/alpha.md"] = b"ab\xff"
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 1: prompt_file: prompts/alpha.md is not UTF-8 (byte 2)")


# Paths that leave the pack, links and .git


OUTSIDE = ["../up", "/etc", "a/../../x", "..", ".", "a\\b", "a\0b"]


@pytest.mark.parametrize("path", OUTSIDE, ids=ascii)
@pytest.mark.parametrize(
    "field", ["prompt_file", "fixture_dir", "hidden list", "hidden source", "hidden target"]
)
def test_no_path_leaves_the_pack(study: Study, field: str, path: str) -> None:
    line = changed(ALPHA, "id", "gamma")
    match field:
        case "hidden list":
            line["hidden"] = [path]
        case "hidden source":
            line["hidden"] = {"x.py": path}
        case "hidden target":
            line["hidden"] = {path: "tests/alpha/test_alpha.py"}
        case _:
            line[field] = path
    if (field, path) == ("hidden target", "a\\b"):
        return  # in the tree that is a plain name
    told = with_line(study, line)
    assert re.match(rf"{field.split()[0]}\b.*(leaves the (pack|tree)|is not there)", told), told


@pytest.mark.parametrize(
    ("link", "field"),
    [
        ("prompts/alpha.md", "prompt_file"),
        ("prompts", "prompt_file"),
        ("fixtures/alpha", "fixture_dir"),
        ("fixtures/alpha/alpha.py", "fixture_dir"),
        ("fixtures", "fixture_dir"),
        ("tests/alpha/test_alpha.py", "hidden"),
        ("tests", "hidden"),
        ("solutions/alpha", "solution"),
        ("solutions/alpha/alpha.py", "solution"),
        ("known_wrong", "known_wrong"),
    ],
)
def test_no_link_leads_out_of_the_pack(study: Study, link: str, field: str) -> None:
    """A.8: also not from a fixture to the hidden tests."""
    study.files["known_wrong/alpha/alpha.py"] = "wrong"
    study.save_pack()
    place = study.pack_folder / link
    aside = study.root / "aside" / link
    aside.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(place, aside)
    place.symlink_to(aside)
    with pytest.raises(BadInput, match=rf"{WHERE}: line 1: {field}: .*link; (cure|only)"):
        read_pack(study.pack_folder, PACK)


@pytest.mark.parametrize("name", ["fixtures/alpha/.git/config", "fixtures/alpha/deep/.git"])
@pytest.mark.parametrize("empty", [False, True])
def test_a_fixture_holds_no_git(study: Study, name: str, empty: bool) -> None:
    """A.8: a later commit may hold the answer."""
    study.save_pack()
    if empty:
        (study.pack_folder / name).mkdir(parents=True)
    else:
        study.files[name] = "x"
    told = refusal(study)
    assert told.startswith(f"{WHERE}: line 1: fixture_dir: fixtures/alpha/")
    assert told.endswith(": a .git may hold the answer; cure: remove it")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"prompt_file": "prompts/nope.md"}, "prompt_file: prompts/nope.md: is not there; cure"),
        ({"prompt_file": "prompts"}, "prompt_file: prompts: is not there; cure"),
        ({"prompt_file": "x" * 300}, "prompt_file: "),
        ({"fixture_dir": "fixtures/nope"}, "fixture_dir: 'fixtures/nope' is no folder; cure"),
        ({"fixture_dir": "pack.json"}, "fixture_dir: 'pack.json' is no folder; cure"),
        ({"hidden": ["tests/nope.py"]}, "hidden: 'tests/nope.py' is not there; cure"),
        ({"hidden": {"a.py": "tests/nope.py"}}, "hidden: 'tests/nope.py' is not there; cure"),
        (
            {"grade": ["pytest", "tests/nope.py"]},
            "hidden: the command 'pytest tests/nope.py' names",
        ),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_missing_file_is_named(study: Study, line: dict[str, Any], told: str) -> None:
    assert with_line(study, {**ALPHA, "id": "gamma", **line}).startswith(told)


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
    try:
        pack = study.pack()
    except BadInput as error:
        assert str(error).startswith(f"{PACK}/pack.jsonl: ")
        assert "\n" not in str(error)
    else:
        assert re.fullmatch("[0-9a-f]{64}", pack.digest)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    st.binary(max_size=30) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_give_a_readable_refusal(study: Study, raw: bytes) -> None:
    study.raw = raw
    with pytest.raises(BadInput, match=r"^packs/small/pack\.jsonl: "):
        study.pack()
