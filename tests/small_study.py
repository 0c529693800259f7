"""A project folder with a config, two agents and a pack of two tasks, to be changed and planned.

Nothing here runs: the two tasks are written once in each of the pack's dialects, the agents are of
the python adapter. A test changes `config`, `agents`, `info`, `lines` or `files`, then plans.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from frozenbench.packs import Pack, read_pack
from frozenbench.plan import DEFAULT_CONFIG, Plan, load_plan
from frozenbench.preflight import preflight

PACK = "packs/small"
LOCK = "pytest==9.0.0 --hash=sha256:" + "0" * 64 + "\n"

INFO = {
    "name": "small",
    "status": "proposal",
    "licence": "MIT",
    "source": "written for the tests",
    "python": ">=3.11",
}
#: The first dialect.
ALPHA = {
    "id": "alpha",
    "prompt_file": "prompts/alpha.md",
    "fixture_dir": "fixtures/alpha",
    "grade": ["python", "-m", "pytest", "-q", "tests/alpha/test_alpha.py"],
    "weight": 2,
}
#: The second dialect.
BETA = {
    "task_id": "beta",
    "prompt": "Mend beta.\n",
    "fixture_dir": "fixtures/beta",
    "test_cmd": "pytest -q checks/test_beta.py",
    "hidden": {"checks/test_beta.py": "tests/beta/test_beta.py"},
    "budget_s": 30,
    "artifact": ["beta.py"],
    "must_not_contain": ["eval("],
    "must_not_use": ["os.system"],
}
PACK_FILES = {
    "requirements.txt": LOCK,
    "prompts/alpha.md": "Mend alpha.\n",
    "fixtures/alpha/alpha.py": "def alpha():\n    return 0\n",
    "fixtures/beta/beta.py": "def beta():\n    return 0\n",
    "tests/alpha/test_alpha.py": "def test_alpha():\n    from alpha import alpha\n",
    "tests/beta/test_beta.py": "def test_beta():\n    from beta import beta\n",
    "solutions/alpha/alpha.py": "def alpha():\n    return 1\n",
    "solutions/beta/beta.py": "def beta():\n    return 1\n",
}
CONFIG: dict[str, Any] = {
    "experiment": {"name": "study"},
    "pack": {"path": PACK},
    "agents": ["one", "two"],
    "budgets": [
        {"name": "calls-1", "max_tool_calls": 1, "max_tokens": 500, "max_seconds": 60},
        {"name": "calls-4", "max_tool_calls": 4, "max_tokens": 500, "max_seconds": 60},
    ],
    "budget_axis": "max_tool_calls",
}
CODE = "def propose(task, history):\n    return {'files': {}, 'done': True}\n"
PYTHON = {"adapter": "python", "module": "agent", "code": ["config/agents/code/agent.py"]}
CHAT = {
    "adapter": "chat",
    "policy": "oneshot",
    "max_output_tokens": 200,
    "temperature": 0.8,
    "seed": 1,
    "endpoint": {
        "id": "here",
        "wire": "openai-chat",
        "model": "small-1",
        "base_url": "http://127.0.0.1:1/v1",
    },
}


class Study:
    """A project below `root`; everything in it may be changed before it is saved."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = copy.deepcopy(CONFIG)
        self.agents: dict[str, dict[str, Any]] = {"one": {**PYTHON}, "two": {**PYTHON, "salt": "2"}}
        self.info: dict[str, Any] = dict(INFO)
        self.lines: list[dict[str, Any]] = [copy.deepcopy(ALPHA), copy.deepcopy(BETA)]
        self.raw: bytes | None = None  # in place of `lines`
        self.files: dict[str, str | bytes | None] = dict(PACK_FILES)  # None: remove it
        self.write("config/agents/code/agent.py", CODE)

    @property
    def pack_folder(self) -> Path:
        return self.root / PACK

    def write(self, name: str, content: str | bytes, executable: bool = False) -> Path:
        """Write a file below the project's folder."""
        path = self.root / name
        data = content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if executable else 0o644)
        return path

    def save(self) -> None:
        """Write config, agents and pack."""
        self.write(DEFAULT_CONFIG, yaml.safe_dump(self.config, sort_keys=False))
        for name, agent in self.agents.items():
            self.write(f"config/agents/{name}.yaml", yaml.safe_dump(agent, sort_keys=False))
        self.save_pack()

    def save_pack(self) -> None:
        """Write the pack; a file that is right already stays, with its x-bit."""
        for name, content in self.files.items():
            path = self.pack_folder / name
            if content is None:
                path.unlink(missing_ok=True)
                continue
            self.write(f"{PACK}/{name}", content)
        self.write(f"{PACK}/pack.json", json.dumps(self.info))
        raw = self.raw
        if raw is None:
            raw = b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)
        self.write(f"{PACK}/pack.jsonl", raw)

    def pack(self) -> Pack:
        """Save and read the pack."""
        self.save_pack()
        return read_pack(self.pack_folder, PACK)

    def plan(self) -> Plan:
        """Save everything and plan it."""
        self.save()
        return load_plan(DEFAULT_CONFIG, self.root)

    def preflight(self) -> Plan:
        """Save everything, plan it, and ask whether it may start."""
        return preflight(self.plan())


def changed(value: Mapping[str, Any], path: str, new: Any) -> dict[str, Any]:
    """Return a deep copy of `value` in which the dotted `path` is `new`; None removes it."""
    whole: dict[str, Any] = copy.deepcopy(dict(value))
    *parents, last = path.split(".")
    place: Any = whole
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if isinstance(place, list):
        place[int(last)] = new
    elif new is None:
        place.pop(last, None)
    else:
        place[last] = new
    return whole
