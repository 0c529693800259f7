"""The command line: the real program, its exit statuses, its help, and no traceback ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from frozenbench import __version__, layout
from frozenbench.cli import main
from frozenbench.cli.people import COMMANDS as PEOPLE
from frozenbench.cli.rules import COMMANDS as RULES
from small_study import CHAT, Study, changed

COMMANDS = {**PEOPLE, **RULES}


@dataclass(frozen=True)
class Told:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str


def real(folder: Path, *words: str, **more: str) -> Told:
    """Run the real program in a folder."""
    environment = {**os.environ, **more}
    ended = subprocess.run(
        [sys.executable, "-m", "frozenbench", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return Told(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.save()
    return study


def here(capsys: pytest.CaptureFixture[str], *words: str) -> Told:
    """Run a command in this process: for what does not need the real one."""
    try:
        status = main(words)
    except SystemExit as ended:  # argparse
        status = int(ended.code or 0)
    told = capsys.readouterr()
    return Told(status, told.out, told.err)


# Help


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], []])
def test_the_overview_names_every_command(
    capsys: pytest.CaptureFixture[str], words: Sequence[str]
) -> None:
    told = here(capsys, *words)
    assert told.status == (0 if words else 2)
    listed = [line.split()[0] for line in told.out.splitlines() if line.startswith("  ")]
    assert listed == [*PEOPLE, *RULES], "those for people first"
    assert "Exit status: 0 all well, 1 differs or failed, 2 bad input, 3 refused" in told.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_with_an_example(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told = here(capsys, name, "--help")
    assert told.status == 0
    assert f"usage: frozenbench {name}" in told.out
    assert COMMANDS[name].summary in told.out
    example = told.out.split("example:")[1].strip().splitlines()[0]
    assert example.startswith(f"frozenbench {name}")
    assert "Exit status: 0 all well" in told.out


@pytest.mark.parametrize("name", PEOPLE)
def test_every_example_for_people_can_be_parsed(name: str) -> None:
    import argparse
    import shlex

    for line in COMMANDS[name].example.splitlines():
        line = line.split("&&")[0]
        words = shlex.split(line)
        assert words[:2] == ["frozenbench", name]
        parser = argparse.ArgumentParser(exit_on_error=False)
        COMMANDS[name].declare(parser)
        parser.parse_args(words[2:])


def test_the_program_tells_its_version(tmp_path: Path) -> None:
    assert real(tmp_path, "--version") == Told(0, f"frozenbench {__version__}\n", "")


# Bad input: the real program

CONTRAST = "contrast --cells a --measured b --controls c --view d --refusals e --out f"
RUN_CELL = (
    "run_cell --controls a --task_files b --environment c --out d --agent one --task beta "
    "--budget b --repeat first"
)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["plam"],
            "frozenbench: 'plam' is unknown; did you mean 'plan'? known: build_environment, ",
        ),
        (["--plan"], "frozenbench: '--plan' is unknown; did you mean 'plan'?"),
        (["plan", "--config", "nope.yaml"], "frozenbench plan: nope.yaml: is not there; cure: "),
        (["plan", "--config", "."], "frozenbench plan: .: is not readable YAML"),
        (["plan", "--confg", "x"], "error: unrecognized arguments: --confg x"),
        (
            ["explain", "one", "beta"],
            "frozenbench explain: cell: 'one beta' names none; cure: a key, or AGENT TASK",
        ),
        (["explain", "on", "beta", "calls-1"], "agent: 'on' is unknown; did you mean 'one'?"),
        (["show", "one", "beta", "calls-2"], "budget: 'calls-2' is unknown; did you mean 'calls-"),
        (["record", "import"], "argument action: invalid choice: 'import'"),
        (["record", "export"], "responses.record: names no file; cure: name one, or --out"),
        (
            ["freeze_task", "--pack", "packs/small"],
            "the following arguments are required: --out, --t",
        ),
        (
            ["freeze_task", "--pack", "packs/small", "--task", "gamma", "--out", "x"],
            "frozenbench freeze_task: packs/small/pack.jsonl: task 'gamma' is not there; cure: ",
        ),
        (
            ["freeze_task", "--pack", "packs/small", "--task", "beta", "--out", "x"],
            "frozenbench freeze_task: task beta: was planned as x and is ",
        ),
        (
            ["freeze_agent", "--agent", "oen", "--out", "x"],
            "config: agents: 'oen' has no file config/agents/oen.yaml; did you mean 'one'?",
        ),
        (
            ["freeze_controls", "--config", "config/config.yaml", "--out", "x"],
            "config/config.yaml: changed while the workflow ran; cure: start again",
        ),
        (
            ["collect_cells", "--controls", "nope.json", "--record", "x", "--out", "y"],
            "frozenbench collect_cells: nope.json: is not there; cure: ",
        ),
        (CONTRAST.split(), "frozenbench contrast: "),
        (
            [
                "publish",
                *["--experiment", "a", "--view_folder", "b", "--out", ".", "--marker", "c"],
            ],
            "frozenbench publish: .: its content would be replaced; cure: results/<name>",
        ),
        (RUN_CELL.split(), "argument --repeat: invalid int value: 'first'"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else "",
)
def test_bad_input_is_one_readable_message(
    study: Study, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    found = here(capsys, *words)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    last = found.err.rstrip("\n").split("\n")[-1]
    assert last.startswith("frozenbench")
    assert str(study.root) not in found.err


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({"config/config.yaml": "agents: [one\n"}, 2, "config/config.yaml: is not readable YAML"),
        (
            {"config/config.yaml": "agnets: [one]\n"},
            2,
            "agnets: unknown key; did you mean 'agents'",
        ),
        (
            {"config/agents/one.yaml": "adapter: pyton\n"},
            2,
            "'pyton' is unknown; did you mean 'pyt",
        ),
        (
            {"packs/small/pack.jsonl": '{"id": "a"\n'},
            2,
            "packs/small/pack.jsonl: line 1: is not JSON",
        ),
        ({"packs/small/pack.jsonl": b"\xff\n"}, 2, "packs/small/pack.jsonl: line 1: is not UTF-8"),
        ({"packs/small/pack.json": "{}"}, 2, "packs/small/pack.json: name: is missing"),
        ({"config/agents/two.yaml": (Path("config/agents/one.yaml"))}, 3, "have equal sheets"),
    ],
    ids=lambda value: str(value)[:48],
)
def test_the_real_program_names_what_is_wrong(
    study: Study, change: dict[str, str | bytes | Path], status: int, told: str
) -> None:
    for name, content in change.items():
        study.write(name, content.read_bytes() if isinstance(content, Path) else content)
    found = real(study.root, "plan")
    assert (found.status, found.out) == (status, "")
    assert told in found.err
    assert found.err.startswith("frozenbench plan: ")
    assert found.err.count("\n") == 1


# All is well


def test_plan_explain_and_show_on_an_experiment_that_has_not_run(study: Study) -> None:
    plan = real(study.root, "plan")
    assert (plan.status, plan.err) == (0, "")
    assert plan.out.splitlines()[-1] == "next: snakemake --cores 4"
    explained = real(study.root, "explain", "one", "beta", "calls-4")
    assert (explained.status, explained.err) == (0, "")
    assert "  caps.tool_calls = 4\n" in explained.out
    shown = real(study.root, "show")
    assert (shown.status, shown.out) == (5, "")
    assert "results/study: nothing is published there; cure: snakemake" in shown.err
    cell = real(study.root, "show", "one", "beta", "calls-4")
    assert (cell.status, cell.err) == (
        5,
        "frozenbench show: one beta calls-4 repeat 0: has not run; cure: snakemake --cores 4\n",
    )


def test_a_pin_in_the_environment_refuses(study: Study) -> None:
    told = real(study.root, "plan", EXPECTED_PACK_SHA256="0" * 64)
    assert (told.status, told.out) == (3, "")
    assert "environment variable EXPECTED_PACK_SHA256: is 000" in told.err


def test_the_store_s_commands_on_an_empty_store(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = here(capsys, "verify")
    assert (nothing.status, "results: is not there; cure: " in nothing.err) == (5, True)
    assert here(capsys, "gc").out == "everything in the store belongs to an experiment\n"
    retried = here(capsys, "retry")
    assert (retried.status, retried.out[:8]) == (0, "no cell ")
    record = here(capsys, "record", "export", "--out", "records/x.jsonl.gz")
    assert (record.status, "has not run; cure: " in record.err) == (5, True)


def test_verify_names_what_is_not_what_its_path_promises(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tasks", "agents", "graders"):
        study.write(f"results/frozen/{name}/{'a' * 64}/{name[:-1]}.json", "{}")
    told = here(capsys, "verify")
    assert told.status == 1
    for name in ("tasks", "agents", "graders"):
        assert f"results/frozen/{name}/{'a' * 64}: " in told.out
    assert told.out.splitlines()[-1].startswith("3 problems; cure: ")


def test_verify_reads_a_frozen_agent_s_code_again(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = study.plan().agents["one"]
    out = layout.frozen_agent(agent.frozen_digest)
    assert here(capsys, "freeze_agent", "--agent", "one", "--out", str(out)).status == 0
    assert here(capsys, "verify").status == 0
    code = out / "code" / "config/agents/code/agent.py"
    code.chmod(0o644)
    code.write_text("def propose(task, history):\n    return {'done': True}\n")
    told = here(capsys, "verify")
    assert f"{out}: its code is not what its sheet says" in told.out


def test_gc_removes_what_no_experiment_holds_and_only_when_asked(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = study.plan()
    held, lost = next(iter(plan.runs)), "f" * 64
    study.write(f"{plan.folder}/controls.json", json.dumps(plan.controls))
    for key in (held, lost):
        study.write(f"results/runs/{key}/run.json", "{}")
    listed = here(capsys, "gc")
    assert listed.out.splitlines() == [
        f"unused results/runs/{lost} (2 bytes)",
        "1 entries, 2 bytes; next: gc --remove",
    ]
    assert layout.run(lost).exists()
    assert "removed" in here(capsys, "gc", "--remove").out
    assert (layout.run(lost).exists(), layout.run(held).exists()) == (False, True)


def test_what_goes_wrong_with_a_file_is_told_by_its_name(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write("taken", "a file where a folder is due")
    told = here(capsys, "freeze_record", "--out", "taken/record.json")
    assert (told.status, told.err) == (1, "frozenbench freeze_record: taken: File exists\n")


def test_a_closed_pipe_is_no_error(study: Study) -> None:
    command = f"{sys.executable} -m frozenbench explain | head -1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=study.root, capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines()[0].startswith("experiment study ")
    assert "Traceback" not in ended.stderr


def test_no_key_is_printed(study: Study) -> None:
    study.agents["one"] = changed(CHAT, "endpoint.key_env", "STUDY_KEY")
    study.save()
    for words in (["plan"], ["explain"], ["explain", "one", "beta", "calls-1"]):
        told = real(study.root, *words, STUDY_KEY="sk-secret-value")
        assert told.status == 0
        assert "sk-secret-value" not in told.out + told.err
