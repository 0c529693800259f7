"""Every error of a pack by its name: file, line, field, value and cure."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from frozenbench.packs import read_pack
from small_pack_refusals import WHERE, jsonl, refusal, with_line
from small_study import ALPHA, BETA, INFO, PACK, Study, changed

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


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
    with pytest.raises(BadInput, match=rf"{WHERE}: line 1: {field}: .*link(;|, and only .*;) cure: "):
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
