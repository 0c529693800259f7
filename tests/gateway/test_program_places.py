"""An agent behind the gateway: what it sees, at each level of isolation, and how many ask at once."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cell_project import CellProject
from frozenbench.canonical import BadInput, digest
from frozenbench.gateway.published_record import read_record
from frozenbench.gateway.record import canonical_request, key_material
from frozenbench.gateway.seed import request_seed
from frozenbench.gateway.slots import slot
from program_cells import program, used
from scripted_endpoint import model_cell
from wire_endpoint import MODEL, NOTHING, WIRES, Says, wire_endpoint, writes

pytestmark = pytest.mark.slow
RECORD = Path(__file__).parents[2] / "records" / "default.jsonl.gz"

TELLS = """
import http.client, json, os, sys
told = {"argv": sys.argv[1:], "environment": dict(os.environ), "cwd": os.getcwd(),
        "prompt": open("/task/prompt.md").read(),
        "file": open(os.path.expanduser("~/deep/conf.json")).read(),
        "stdin": sys.stdin.read()}
open("told.json", "w").write(json.dumps(told))
open(os.path.expanduser("~/mine"), "w").write("x" * 40_000_000)
client = http.client.HTTPConnection(sys.argv[2].removeprefix("http://"))
client.request("POST", "/v1/messages", json.dumps({"messages": [], "stream": False}))
client.getresponse().read()
"""


def test_what_a_program_sees(cells: CellProject) -> None:
    words = ["{prompt}", "{base_url}", "{prompt_file}", "{model}", "{seed}", "{home}", "{work}"]
    with wire_endpoint(WIRES[2]) as endpoint:
        cells.agent(
            TELLS,
            adapter="program",
            argv=["python", "agents/agent.py", *words, "agents/agent.py", "${other}"],
            variables={"AT": "{base_url}/v1", "PLAIN": "{}"},
            files={"deep/conf.json": '{"model": "{model}", "home": "{home}"}'},
            endpoint={"id": "e", "wire": WIRES[2], "model": MODEL, "base_url": endpoint.root},
            seed=5,
        )
        cells.task(prompt="Say {model}.\n")
        cell = cells.run()
    assert cell.run["ending"] == "finished", cell.log
    told = json.loads(cell.changed()["told.json"])
    base = "http://127.0.0.1:41417"
    assert told["argv"] == [
        *(
            "Say {model}.\n",
            base,
            "/task/prompt.md",
            MODEL,
            str(request_seed(5, 0, 0)),
            "/home/agent",
            "/work",
        ),
        *("/agent/agents/agent.py", "${other}"),
    ]
    assert told["prompt"] == "Say {model}.\n"
    assert json.loads(told["file"]) == {"model": MODEL, "home": "/home/agent"}
    assert told["stdin"] == ""
    assert told["cwd"] == "/work"
    assert (told["environment"]["AT"], told["environment"]["PLAIN"]) == (f"{base}/v1", "{}")
    assert told["environment"]["HOME"] == "/home/agent"


def test_the_budget_is_disclosed_in_the_prompt(cells: CellProject) -> None:
    cells.config["budget_disclosed"] = True
    cells.budget(max_tool_calls=3, max_tokens=99)
    with wire_endpoint(WIRES[0], Says((("say", {"text": "x"}),))) as endpoint:
        program(cells, WIRES[0], endpoint.root, variables={"TINY_TODAY": "{prompt}"})
        cells.write({"agent.py": SAYS_ITS_PROMPT}, "agents")
        cell = cells.run()
    assert "Your budget: at most 3 tool calls, 99 tokens in all, 20 seconds." in cell.log


SAYS_ITS_PROMPT = """
import os
print(os.environ["TINY_TODAY"])
"""


@pytest.mark.parametrize("level", ["none", "process", "userns"])
def test_at_each_level(cells: CellProject, level: str) -> None:
    cells.config["isolation"] = level
    cells.budget(max_tool_calls=2)
    with wire_endpoint(WIRES[0], Says((writes(),)), always=Says((NOTHING,))) as endpoint:
        program(cells, WIRES[0], endpoint.root, "linger")
        cell = cells.run()
    assert cell.run["ending"] == "cap:tool_calls"
    assert used(cell, "tool_calls", "edit_rounds") == (2, 1)
    assert cell.changed() == {"app.py": "x = 1\n"}
    assert cell.seconds < 9


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"endpoint": None}, "endpoint: is missing"),
        ({"files": {"../x": ""}}, "leaves the home folder"),
        ({"files": {"/x": ""}}, "leaves the home folder"),
        ({"variables": {"A": 1}}, r"variables\.A: is 1"),
        ({"variables": {"A=B": ""}}, r"variables: 'A=B' is no name of a variable; cure: "),
        ({"variables": {"A": "x\0y"}}, r"variables\.A: holds a NUL character; cure: "),
        ({"files": {"a": "", "a/b": ""}}, r"files: 'a' is a file, and 'a/b' wants .*; cure: "),
        ({"files": {"a" * 300: ""}}, r"files: 'a+' is no path; cure: "),
        ({"argv": ["python", "{promt}"]}, r"argv\.1: \{promt\} is no .*did you mean \{prompt\}\?"),
        ({"argv": ["python", "{task}"]}, r"argv\.1: \{task\} is no placeholder; cure: one of"),
        ({"variables": {"A": "{baseurl}/v1"}}, r"variables\.A: \{baseurl\} .* mean \{base_url\}\?"),
        ({"files": {"a.toml": "m = {Model}"}}, r"files\.a\.toml: \{Model\} .* mean \{model\}\?"),
        ({"argv": "python x.py"}, r"argv: is 'python x\.py'; cure: "),
        ({"argv": ["no-such-agent"]}, r"agents/agent\.yaml: program: no-such-agent: .*; cure: "),
    ],
)
def test_what_a_program_s_file_cannot_say(
    cells: CellProject, fields: dict[str, Any], told: str
) -> None:
    endpoint = {"id": "e", "wire": WIRES[0], "model": "m", "base_url": "http://127.0.0.1:1"}
    data = {"argv": ["python", "x.py"], "endpoint": endpoint, **fields}
    cells.agent(adapter="program", **{k: v for k, v in data.items() if v is not None})
    with pytest.raises(BadInput, match=told):
        cells.run()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("localhost:8080", "is 'localhost:8080'; cure: http://host:port"),
        ("ftp://x", "is 'ftp://x'; cure: http://host:port"),
        ("http://x:99999", "is no address; cure: http://host:port"),
        ("https://x/v1/chat/completions", "ends with /chat/completions.*; cure: leave that out"),
        ("https://me:sk-planted@x/v1", "holds a password or key.*; cure: .*key_env"),
        ("https://x/v1?api_key=sk-planted", "holds a password or key.*; cure: .*key_env"),
        ("https://x/v1?version=2&token=sk-planted", "holds a password or key.*; cure: .*key_env"),
    ],
)
def test_an_address_that_is_none_or_holds_a_secret(
    cells: CellProject, address: str, told: str
) -> None:
    endpoint = {"id": "e", "wire": WIRES[0], "model": "m", "base_url": address}
    cells.agent("", adapter="program", argv=["python", "agents/agent.py"], endpoint=endpoint)
    with pytest.raises(
        BadInput, match=rf"config/agents/agent\.yaml: endpoint\.base_url: {told}"
    ) as it:
        cells.plan()
    assert "planted" not in str(it.value)


def test_what_looks_like_a_placeholder_and_is_none_stays(cells: CellProject) -> None:
    cells.agent(
        "",
        adapter="program",
        argv=["python", "agents/agent.py", "${HOME}", "{{task}}", "{}", '{"a": 1}'],
        files={"a.json": '{"paths": {id}}', "b.sh": "echo ${model}"},
        endpoint={
            "id": "e",
            "wire": WIRES[0],
            "model": "m",
            "base_url": "https://x/v1?api-version=2",
        },
    )
    assert cells.plan().agents["agent"].sheet["argv"][2:] == [
        "${HOME}",
        "{{task}}",
        "{}",
        '{"a": 1}',
    ]


def test_no_more_ask_at_once_than_the_endpoint_takes(tmp_path: Path) -> None:
    cell = model_cell(tmp_path, "x", connection={"endpoint": {"max_concurrency": 2}})
    inside, most, guard = [0], [0], threading.Lock()

    def ask() -> None:
        with slot(cell):
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.05)
            with guard:
                inside[0] -= 1

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]


def test_the_committed_record_keeps_its_keys() -> None:
    """What was bought stays bought: no change of what a request is may change a chat's key."""
    entries = read_record(RECORD).entries
    assert entries
    for entry in entries:
        material = dict(entry.material)
        assert canonical_request(material["request"]) == material["request"]
        assert digest(key_material(**material)) == entry.key
