"""Presets: what an agent's file of a few lines becomes, and the six agents themselves."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from cell_project import CellProject
from frozenbench.adapters.program import Options
from frozenbench.agent_files import read_agent
from frozenbench.canonical import BadInput
from frozenbench.preset_files import SHIPPED, preset_names, read_preset, with_preset
from frozenbench.sandbox import measure
from frozenbench.scripted_endpoint import parse_script, scripted_endpoint
from frozenbench.try_agent import DEFAULT_SCRIPT, Tried, try_agent
from replayed_cells import GONE, another, same

SIX = ("aider", "claude-code", "codex", "mini-swe-agent", "opencode", "qwen-code")
ENDPOINT = {"id": "mine", "base_url": "http://127.0.0.1:9", "model": "m-1"}
PLACEHOLDERS = {"prompt", "prompt_file", "base_url", "model", "seed", "home", "work", "flags"}

#: Tool calls and requests of the default script: aider makes one request and has no tools, and
#: mini-swe-agent is done by one call more.
EXPECTED = dict.fromkeys(SIX, (4, 4)) | {"aider": (0, 1), "mini-swe-agent": (5, 4)}
ENDLESS = parse_script(
    {
        "steps": [
            {"write": {"path": "app.py", "content": "x = 1\n"}},
            {"run": "echo x >> app.py"},
            {"calls": [{"run": "echo y >> app.py"}, {"run": "ls"}]},
        ],
        "then": 1,
    }
)

#: The clock falls while the agent's tool runs, and while the endpoint answers.
#: Some agents refuse to run `sleep` itself.
SLEEP = "python3 -c 'import time; time.sleep(60)'"
SLEEPY = parse_script(
    {"steps": [{"write": {"path": "app.py", "content": "x = 1\n"}}, {"run": SLEEP}]}
)
SLOW = parse_script({"steps": [{"finish": "Done.", "wait": 60}]})


def merged(preset: str, root: Path = Path("/nonexistent"), **more: Any) -> dict[str, Any]:
    return with_preset({"preset": preset, "endpoint": ENDPOINT, **more}, root, "a.yaml")


def missing(preset: str) -> str | None:
    """Return why a preset's agent cannot be tried here, or None."""
    if measure().level not in ("userns", "userns+cgroup"):
        return f"this machine gives {measure().level}, the agents need userns"
    found = read_preset(Path("/nonexistent"), preset)
    if shutil.which(found.program) is None:
        return f"{found.program} is not installed ({found.install})"
    return None


@pytest.fixture
def tried_preset(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if (why := missing(name)) is not None:
        pytest.skip(why)
    return name


def test_the_six_are_there() -> None:
    assert preset_names(Path("/nonexistent")) == SIX


@pytest.mark.parametrize("name", SIX)
def test_a_preset_says_all_that_a_program_needs_and_nothing_of_a_machine(name: str) -> None:
    data = merged(name)
    assert set(data) == {"adapter", "argv", "variables", "files", "endpoint"}
    assert set(data) - {"adapter", "endpoint"} <= {
        f.name for f in Options.__dataclass_fields__.values()
    }
    texts = [*data["argv"], *data["variables"].values(), *data["files"].values()]
    used = {found for text in texts for found in re.findall(r"(?<!\$)\{(\w+)\}", text)}
    assert used <= PLACEHOLDERS - {"flags"}
    assert {"model", "base_url"} <= used, "it asks the pinned model, and by the gateway alone"
    assert used & {"prompt", "prompt_file"}
    assert not [text for text in texts if re.search(r"(^|[\s=\"'])/\w", text)], "an absolute path"
    assert data["endpoint"] == {**ENDPOINT, "wire": read_preset(SHIPPED, name).wire}
    comments = (SHIPPED / f"{name}.yaml").read_text("utf-8")
    assert comments.startswith("# ")


@pytest.mark.parametrize("name", SIX)
def test_files_of_json_stay_json_when_they_are_filled(name: str) -> None:
    for path, text in merged(name)["files"].items():
        if path.endswith(".json"):
            json.loads(text.replace("{model}", "m-1").replace("{base_url}", "http://h"))


def test_the_file_of_an_agent_adds_to_its_preset() -> None:
    data = merged(
        "claude-code",
        flags=["--bare"],
        variables={"IS_SANDBOX": None, "CLAUDE_CODE_MAX_RETRIES": "2", "NEW": "x"},
        files={".claude/CLAUDE.md": "Be brief."},
        seed=7,
    )
    assert data["argv"][-1] == "--bare"
    assert "IS_SANDBOX" not in data["variables"]
    assert data["variables"]["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert data["variables"]["NEW"] == "x"
    assert data["variables"]["ANTHROPIC_BASE_URL"] == "{base_url}"
    assert data["files"] == {".claude/CLAUDE.md": "Be brief."}
    assert data["seed"] == 7
    assert "{flags}" not in merged("claude-code")["argv"]


def test_a_project_has_presets_of_its_own(tmp_path: Path) -> None:
    own = {
        "program": "mine",
        "install": "make mine",
        "wire": "openai-chat",
        "edits": "shell",
        "argv": ["mine", "{flags}", "{prompt}"],
        "flags": ["--fast"],
    }
    folder = tmp_path / "config" / "presets"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(yaml.safe_dump(own))
    (folder / "codex.yaml").write_text(yaml.safe_dump({**own, "argv": ["mine"]}))
    assert merged("mine", tmp_path)["argv"] == ["mine", "--fast", "{prompt}"]
    assert merged("mine", tmp_path, flags=[])["argv"] == ["mine", "{prompt}"]
    assert merged("codex", tmp_path)["argv"] == ["mine"], "the project's own comes first"
    assert "mine" in preset_names(tmp_path)


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        (
            {"preset": "claud-code"},
            "a.yaml: preset: 'claud-code' is unknown; did you mean 'claude-code'",
        ),
        ({"adapter": "chat"}, "a.yaml: adapter: stands beside a preset"),
        ({"argv": ["x"]}, "a.yaml: argv: stands beside a preset"),
        ({"flags": "--bare"}, "a.yaml: flags: is '--bare'; cure: a value of type array"),
        ({"variables": ["X"]}, "a.yaml: variables: is "),
        ({"endpoint": None}, "a.yaml: endpoint: is missing"),
        ({"endpoint": {**ENDPOINT, "wire": "openai-chat"}}, "speaks anthropic-messages alone"),
    ],
)
def test_what_contradicts_a_preset_is_refused(more: dict[str, Any], wrong: str) -> None:
    with pytest.raises(BadInput) as error:
        with_preset(
            {"preset": "claude-code", "endpoint": ENDPOINT, **more}, Path("/nonexistent"), "a.yaml"
        )
    assert wrong in str(error.value)
    assert "cure" in str(error.value) or "did you mean" in str(error.value)


@pytest.mark.parametrize("name", SIX)
def test_an_agent_that_is_not_installed_is_one_error_that_says_how_to(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "config" / "agents").mkdir(parents=True)
    text = yaml.safe_dump({"preset": name, "endpoint": ENDPOINT})
    (tmp_path / "config" / "agents" / "mine.yaml").write_text(text)
    with pytest.raises(BadInput) as error:
        read_agent(tmp_path, "mine")
    assert read_preset(tmp_path, name).install in str(error.value)
    assert "\n" not in str(error.value)


each_installed = pytest.mark.parametrize("tried_preset", SIX, indirect=True)


@each_installed
def test_the_sheet_of_an_installed_agent_holds_what_it_is(
    tried_preset: str, tmp_path: Path
) -> None:
    (tmp_path / "config" / "agents").mkdir(parents=True)
    path = tmp_path / "config" / "agents" / "mine.yaml"
    path.write_text(yaml.safe_dump({"preset": tried_preset, "endpoint": ENDPOINT}))
    sheet = read_agent(tmp_path, "mine").sheet
    program = sheet["program"]
    assert re.fullmatch(r"[0-9a-f]{64}", program["digest"])
    assert re.match(r"\d+\.\d+", program["version"])
    where = str(Path(shutil.which(read_preset(tmp_path, tried_preset).program) or "").resolve())
    assert str(Path(where).parent) not in json.dumps(sheet)
    pinned = {"program": {"version": "0.0.0-other"}}
    path.write_text(yaml.safe_dump({"preset": tried_preset, "endpoint": ENDPOINT, **pinned}))
    with pytest.raises(BadInput, match=r"program.version: is '0.0.0-other', and installed is"):
        read_agent(tmp_path, "mine")


@pytest.mark.slow
@each_installed
def test_an_installed_agent_solves_a_task_behind_the_gateway(
    tried_preset: str, tmp_path: Path
) -> None:
    tried = try_agent(tried_preset, tmp_path)
    calls, requests = EXPECTED[tried_preset]
    assert (tried.run["ending"], tried.solved, tried.status) == ("finished", True, 0), tried.log
    assert len(tried.asked) == requests
    meters = tried.run["meters"]
    assert meters["tool_calls"] == calls
    assert meters["edit_rounds"] == 1
    assert meters["tokens"] == 110 * requests
    told = "\n".join(tried.lines())
    assert f"{tried.sheet['program']['name']} {tried.sheet['program']['version']}" in told
    if calls:
        assert re.search(r"tool schema   [0-9a-f]{64}", told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cap", "meter", "used"),
    [
        (
            {"max_tool_calls": 3},
            "tool_calls",
            2,
        ),  # the third answer holds two calls: withheld whole
        ({"max_tool_calls": 4}, "tool_calls", 4),
        ({"max_tokens": 350}, "tokens", 330),
        ({"max_edit_rounds": 2}, "edit_rounds", 2),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("tried_preset", [name for name in SIX if name != "aider"], indirect=True)
def test_an_installed_agent_is_stopped_at_exactly_the_cap(
    tried_preset: str, tmp_path: Path, cap: dict[str, int], meter: str, used: int
) -> None:
    tried = try_agent(tried_preset, tmp_path, ENDLESS, cap)
    assert (tried.run["ending"], tried.run["cap_hit"]) == (f"cap:{meter}", meter), tried.log
    assert tried.run["meters"][meter] == used
    assert tried.status == 0


@pytest.mark.slow
@each_installed
def test_an_installed_agent_is_stopped_by_the_clock(tried_preset: str, tmp_path: Path) -> None:
    has_tools = tried_preset != "aider"
    tried = try_agent(tried_preset, tmp_path, SLEEPY if has_tools else SLOW, {"max_seconds": 6})
    assert (tried.run["ending"], tried.run["cap_hit"]) == ("cap:wall_clock", "wall_clock"), (
        tried.log
    )
    (hit,) = (event for event in tried.trace if event["event"] == "hit")
    assert 6 <= hit["measured"]["seconds"] < 7
    assert tried.run["measured"]["seconds"] < 6 + 5
    meters = tried.run["meters"]
    assert meters["tool_calls"] == (2 if has_tools else 0)
    assert meters["edit_rounds"] == (1 if has_tools else 0)


@pytest.mark.slow
@pytest.mark.parametrize("tried_preset", ["aider"], indirect=True)
def test_an_agent_without_tools_is_stopped_at_the_cap_on_tokens(
    tried_preset: str, tmp_path: Path
) -> None:
    for cap, ending, used in ((109, "cap:tokens", 0), (110, "finished", 110)):
        tried = try_agent(tried_preset, tmp_path, None, {"max_tokens": cap})
        assert (tried.run["ending"], tried.run["meters"]["tokens"]) == (ending, used), tried.log


@pytest.mark.slow
@each_installed
def test_an_installed_agent_replays_elsewhere_with_its_endpoint_gone(
    tried_preset: str, cells: CellProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.task(prompt="Write a file app.py with a function add(a, b) that returns their sum.\n")
    cells.budget(max_tool_calls=9, max_seconds=200)
    with scripted_endpoint(parse_script(DEFAULT_SCRIPT)) as endpoint:
        where = {"id": "scripted", "model": "scripted-1", "base_url": endpoint.root}
        cells.agent(adapter="program", preset=tried_preset, endpoint=where)
        first = cells.run()
    assert first.run["ending"] == "finished", first.log
    other = another(cells, monkeypatch, first)
    other.task(prompt="Write a file app.py with a function add(a, b) that returns their sum.\n")
    gone = {**where, "base_url": GONE}
    other.agent(adapter="program", preset=tried_preset, endpoint=gone)
    again = other.run(replay=True)
    same(first, again)
    assert "drift" not in again.run, again.run["drift"]
    assert again.run["measured"]["responses_live"] == 0


@pytest.mark.slow
@each_installed
def test_an_installed_agent_meets_faults_of_its_endpoint(tried_preset: str, tmp_path: Path) -> None:
    faults = [{"status": 429}, {"status": 500}, *DEFAULT_SCRIPT["steps"]]
    tried: Tried = try_agent(tried_preset, tmp_path, parse_script({"steps": faults}))
    assert (tried.run["ending"], tried.solved) == ("finished", True), tried.log
    assert tried.run["measured"]["infra_retries"] == 2
    assert tried.run["meters"]["tokens"] == 110 * EXPECTED[tried_preset][1]
