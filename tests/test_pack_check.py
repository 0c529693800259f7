"""pack check: what it finds in small packs, in the real sandbox."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cell_project import RIGHT, STARTER_LOCK, WRONG, files_with
from frozenbench import keys, layout
from frozenbench.canonical import BadInput, Refused, read_json, sha256_bytes, write_json
from frozenbench.cli import main
from frozenbench.pack_check.check import Checked, report_lines
from frozenbench.pack_check.stored import read
from frozenbench.packs import read_pack
from frozenbench.seal import SEAL
from frozenbench.verify import verify_store
from tried_pack import PACK, TEST, SmallPack, project

SLOW = TEST + "\n\ndef test_slow():\n    import time\n\n    time.sleep(0.6)\n"
#: Three tests that each fail one time in five: 20 runs show none of them failing, or no run in
#: which all pass, less than once in 400,000.
FLAKY = (
    "import os\n\nimport pytest\n\nfrom app import add\n\n\n"
    "@pytest.mark.parametrize('number', range(3))\ndef test_flaky(number):\n"
    "    assert int.from_bytes(os.urandom(8), 'big') % 5 != 0\n\n\n"
    "def test_steady():\n    assert add(1, 2) == 3\n"
)


@pytest.fixture
def pack(tmp_path: Path, pack_environment: Path, monkeypatch: pytest.MonkeyPatch) -> SmallPack:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, pack_environment)
    return SmallPack()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(checked: Checked) -> str:
    return "\n".join(report_lines(checked))


# What is found, in the real sandbox


def bad_pack() -> SmallPack:
    """One task a fault; most of them would go unnoticed until an agent profits or suffers."""
    pack = SmallPack()
    pack.task("good", wrong=WRONG)
    pack.task("green_start", fixture=RIGHT)
    pack.task("bad_reference", solution=WRONG)
    pack.task("banned_reference", solution=f"{RIGHT}# eval(1)\n", must_not_contain=["eval("])
    pack.task("no_artifact", artifact=["answer.txt"])
    pack.task("empty_file", test="from app import add\n\nassert add\n")
    beside = {"tests/half_empty/test_more.py": "def check_add():\n    assert False\n"}
    both = [f"tests/half_empty/{name}.py" for name in ("test_app", "test_more")]
    pack.task("half_empty", more=beside, grade=["pytest", "-q", *both])
    unrun = {"tests/unrun/test_more.py": TEST}
    hidden = ["tests/unrun/test_app.py", "tests/unrun/test_more.py"]
    pack.task("unrun", more=unrun, hidden=hidden)
    pack.task("lenient", wrong="def add(a, b):\n    return 3\n")
    pack.task("slow", test=SLOW, grade_timeout_s=5)
    pack.task("unsolved", solution=None)
    pack.task("bad_command", grade=["pytest", "--no-such-option", "tests/bad_command/test_app.py"])
    script = {"tests/by_status/test_app.py": "from app import add\n\nassert add(1, 2) == 3\n"}
    command = ["python", "-c", "import app; assert app.add(1, 2) == 3"]
    pack.task("by_status", more=script, grade=command, grader_trust="exit-status")
    pack.task("open", network="open")
    return pack


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory, pack_environment: Path) -> Checked:
    root = tmp_path_factory.mktemp("bad")
    project(root, pack_environment)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return bad_pack().check(repeats=1)


#: Task -> kinds that are found, and what is said of the first.
FAULTS = {
    "green_start": (["start_passes"], "the starting tree passes"),
    "bad_reference": (
        ["reference_fails"],
        "is FAIL_TEST assertion (1 failed, the first tests/bad_reference/test_app.py::test_add) in 1 of 1",
    ),
    "banned_reference": (["reference_fails"], "FAIL_ASSUME banned_string (eval( at app.py:3)"),
    "no_artifact": (["reference_fails"], "ERROR missing_artifact (answer.txt is not there)"),
    "empty_file": (["no_expected_ids", "file_without_test"], "gives no test id"),
    "half_empty": (["file_without_test"], "tests/half_empty/test_more.py holds no test"),
    "unrun": (
        ["file_without_test"],
        "tests/unrun/test_more.py holds 1 tests, and none of them is run by the command",
    ),
    "lenient": (["known_wrong_passes"], "the known wrong solution passes"),
    "slow": (["slow_grader"], "of grade_timeout_s 5: a"),
    "unsolved": (["unqualified"], "there is no reference solution"),
    "bad_command": (["reference_fails"], "ERROR grader_broken (pytest refused its command line)"),
    "by_status": (["weak_trust"], "grader_trust is exit-status"),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", FAULTS)
def test_each_fault_is_found_with_its_task_and_cure(bad: Checked, task: str) -> None:
    kinds, words = FAULTS[task]
    found = [finding for finding in bad.findings if finding.task == task]
    assert [finding.kind for finding in found] == kinds
    assert words in found[0].found
    assert all(finding.cure for finding in found)
    assert f"{task}: {kinds[0]}: {found[0].found}\n    cure: {found[0].cure}\n" in told(bad)


@pytest.mark.slow
def test_nothing_else_is_found(bad: Checked) -> None:
    assert {finding.task for finding in bad.findings} == set(FAULTS)
    facts = bad.document["tasks"]["good"]
    assert (facts["reference_passed"], facts["reference_runs"], facts["tests"]) == (1, 1, 1)
    assert facts["start"] == facts["known_wrong"] == "FAIL_TEST assertion"
    assert bad.document["tasks"]["lenient"]["known_wrong"] == "PASS finished"
    assert bad.document["tasks"]["by_status"]["tests"] is None


@pytest.mark.slow
def test_the_report_says_what_was_looked_at_and_what_comes_next(bad: Checked) -> None:
    lines = told(bad).splitlines()
    assert lines[-1].endswith(
        "14 tasks, k = 1: 13 findings in 12 tasks; next: mend what is named, then frozenbench "
        "pack check packs/tried"
    )
    assert "known wrong: 2 given, 1 passed" in lines
    assert "wants an open network, for agents alone: open" in lines
    assert any(re.match(r"grading time: \d\.\d\d s of 5 s where the reserve", x) for x in lines)
    failed = lines.index(next(line for line in lines if line.startswith("bad_reference: ")))
    assert any("assert -1 == 3" in line for line in lines[failed + 2 : failed + 14]), "its log"


@pytest.mark.slow
def test_a_good_pack_passes_and_its_result_is_stored_and_sealed(
    pack: SmallPack, capsys: pytest.CaptureFixture[str]
) -> None:
    pack.task("one", wrong=WRONG)
    pack.save()
    assert main(["pack", "check", PACK.as_posix(), "--repeats", "2"]) == 0
    out, err = capsys.readouterr()
    digest = read_pack(PACK, "pack").digest
    assert out.splitlines()[-1] == (
        f"pack check: tried {digest[:12]}, 1 task, k = 2: passed; next: pin it by "
        f"pack.expected_sha256: {digest}"
    )
    assert err == "", "no progress of so short a check in a pipe"
    document = read_json(layout.pack_check(digest))
    assert document["findings"] == []
    assert document["environment"] == keys.environment_id(sha256_bytes(STARTER_LOCK.read_bytes()))
    assert list(verify_store()) == []
    assert files_with(layout.pack_check(digest).parent, str(Path.cwd())) == []
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", document["date"])
    assert not (layout.VERDICTS).exists(), "a stored verdict would answer every repeat"

    document["findings"] = [{"task": "one", "kind": "slow_grader"}]
    write_json(layout.pack_check(digest), document)
    told = f"{layout.pack_check(digest)}: was changed after it was written"
    assert list(verify_store()) == [told]
    assert read(digest, document["environment"], "userns") is None, "it is shown nowhere"


@pytest.mark.slow
def test_tests_that_fail_one_time_in_five_are_named_with_20_repeats(pack: SmallPack) -> None:
    pack.task("flaky", test=FLAKY)
    checked = pack.check(repeats=20)
    (finding,) = checked.findings
    assert finding.kind == "flaky_tests"
    passed = re.match(r"the reference passes in (\d+) of 20 runs", finding.found)
    assert passed is not None
    assert 0 < int(passed[1]) < 20
    named = re.findall(r"test_app\.py::test_flaky\[\d\] passes in (\d+) of 20", finding.found)
    assert named
    assert all(0 < int(count) < 20 for count in named)
    assert "test_steady" not in finding.found

    again = pack.check(repeats=1)
    kinds = {(item.kind, item.earlier) for item in again.findings}
    assert kinds & {("flaky_tests", True), ("reference_fails", False)}, "what was seen stays"
    assert kinds - {("reference_fails", False)} == {("flaky_tests", True)}


@pytest.mark.slow
def test_a_part_of_a_pack_is_checked_and_not_stored(pack: SmallPack) -> None:
    pack.task("one")
    pack.task("two", fixture=RIGHT)
    checked = pack.check(repeats=1, tasks=("one",))
    assert (checked.findings, checked.path) == ((), None)
    assert list(checked.document["tasks"]) == ["one"]
    assert "passed, not stored; next: frozenbench pack check packs/tried (all tasks)" in told(
        checked
    )
    assert not layout.pack_check(checked.document["pack_digest"]).exists()


@pytest.mark.slow
def test_a_place_where_nothing_can_be_stored_is_told_before_anything_is_tried(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = SmallPack()
    pack.task("one")
    pack.save()
    Path("results/pack_checks").parent.mkdir(exist_ok=True)
    Path("results/pack_checks").write_text("mine")
    assert main(["pack", "check", str(PACK)]) == 1
    assert capsys.readouterr().err == "frozenbench pack: results/pack_checks: File exists\n"


def test_json_is_the_result_alone(pack: SmallPack, capsys: pytest.CaptureFixture[str]) -> None:
    pack.task("one", fixture=RIGHT)
    pack.save()
    words = ["pack", "check", PACK.as_posix(), "--repeats", "1", "--json", "--isolation", "process"]
    assert main(words) == 1
    document = json.loads(capsys.readouterr().out)
    assert [item["kind"] for item in document["findings"]] == ["start_passes"]
    assert (document["network"], document["isolation"]) == ("not enforced", "process")
    stored = read_json(layout.pack_check(document["pack_digest"]))
    assert document == {name: value for name, value in stored.items() if name != SEAL}


# Bad input


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["packs/none"], "packs/none: is no folder"),
        ([PACK.as_posix()], "packs/tried/pack.jsonl: line 1: hiden: unknown key; did you mean"),
        ([PACK.as_posix(), "--repeats", "0"], "--repeats: 0 is too small; cure: 1 or more"),
        ([PACK.as_posix(), "--task", "onne"], "did you mean 'one'"),
        ([PACK.as_posix(), "--isolation", "perfect"], "perfect"),
    ],
)
def test_bad_input_is_told_in_one_line(
    here: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = SmallPack()
    pack.task("one")
    if "hiden" in said:
        pack.lines[0]["hiden"] = "x"
    pack.save()
    assert main(["pack", "check", *words]) == BadInput.exit_status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("frozenbench pack: ")
    assert said in err
    assert len(err.splitlines()) == 1


def test_another_python_is_refused(here: Path) -> None:
    pack = SmallPack()
    pack.task("one")
    info = json.loads((PACK / "pack.json").read_text()) | {"python": ">=3.99"}
    pack.write({"pack.json": json.dumps(info)})
    with pytest.raises(Refused, match=r"packs/tried/pack.json: python: wants >=3.99"):
        pack.check()


def test_the_group_wants_an_action(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pack"])
    assert ended.value.code == 2
    assert "ACTION" in capsys.readouterr().err
