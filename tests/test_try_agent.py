"""`frozenbench try`: with agents that need no program of somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.cli import main
from frozenbench.sandbox import measure

CHAT = {
    "adapter": "chat",
    "policy": "resample",
    "max_output_tokens": 50,
    "endpoint": {
        "id": "mine",
        "wire": "openai-chat",
        "model": "m-1",
        "base_url": "http://x.invalid",
    },
    "temperature": 0.5,
}
#: A program of the project itself: it asks its model once and writes what that says.
OWN = """
import json, sys, urllib.request
body = {"model": "m-1", "messages": [{"role": "user", "content": sys.argv[2]}]}
for _ in range(int(sys.argv[3])):
    request = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(body).encode())
    answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    with open("app.py", "w") as file:
        file.write(answer.split("```")[1].removeprefix("python").lstrip("\\n"))
"""

pytestmark = pytest.mark.skipif(
    measure().level not in ("userns", "userns+cgroup"), reason="this machine gives no walls"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config" / "agents").mkdir(parents=True)
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def agent(project: Path, name: str, **data: Any) -> None:
    (project / "config" / "agents" / f"{name}.yaml").write_text(yaml.safe_dump(data))


def program(times: int) -> dict[str, Any]:
    endpoint = {**CHAT["endpoint"], "key_env": "NOT_SET"}
    argv = ["python", "own.py", "{base_url}", "{prompt}", str(times)]
    return {"adapter": "program", "code": ["own.py"], "argv": argv, "endpoint": endpoint}


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    out = capsys.readouterr().out
    return {line[:13].strip(): line[14:] for line in out.splitlines() if line[:1].isalpha()}


@pytest.mark.slow
def test_a_program_is_tried_and_what_was_metered_is_printed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent(project, "own", **program(1))
    assert main(["try", "own"]) == 0
    told = lines(capsys)
    assert told["ending"] == "finished"
    assert told["requests"] == "1 reached the endpoint"
    assert told["tokens"] == "110 (input 100, output 10, cached 0)"
    assert (told["edit_rounds"], told["task"]) == ("1", "solved")
    assert told["tool schema"] == "no tools offered"
    assert told["pinned"] == "model m-1"
    assert "seed" in told["unpinned"]
    assert not (project / "results").exists(), "nothing stays"


@pytest.mark.slow
def test_a_cap_a_script_and_every_request(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "faults.yaml").write_text(
        "steps:\n  - {status: 500}\n  - write: {path: app.py, content: 'x = 1'}\n    usage: missing\n"
    )
    agent(project, "own", **program(3))
    argv = ["try", "own", "--script", "faults.yaml", "--max-edit-rounds", "1", "--verbose"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "step 0: HTTP 500" in out
    assert '"event": "end"' in out
    assert "tokens        not reported" in out
    assert "task          not solved" in out


@pytest.mark.slow
def test_a_chat_agent_is_tried_at_its_cap(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent(project, "mine", **CHAT)
    assert main(["try", "mine", "--max-tool-calls", "3"]) == 0
    told = lines(capsys)
    assert told["ending"] == "cap:tool_calls (cap tool_calls)"
    assert (told["tool_calls"], told["requests"]) == ("3", "3 reached the endpoint")
    assert told["pinned"] == "model m-1, temperature 0.5"


@pytest.mark.slow
def test_an_agent_that_gets_no_answer_is_status_1(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "s.yaml").write_text("steps: [{say: ok, model: other-2}]\n")
    agent(project, "own", **program(1))
    assert main(["try", "own", "--script", "s.yaml"]) == 1
    assert lines(capsys)["ending"] == "pin_drift"


def test_what_cannot_be_tried_is_bad_input(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent(project, "plain", adapter="python", code=["own.py"], module="own")
    assert main(["try", "plain"]) == 2
    assert "only an agent that asks a model can be tried" in capsys.readouterr().err
    assert main(["try", "codx"]) == 2
    assert "did you mean 'codex'" in capsys.readouterr().err
    (project / "bad.yaml").write_text("steps: [{sya: x}]\n")
    assert main(["try", "codex", "--script", "bad.yaml"]) == 2
    assert "bad.yaml: steps.0: sya: unknown key" in capsys.readouterr().err
