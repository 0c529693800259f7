"""The small experiment of these tests: two tasks, two agents that need no model, two budgets.

`double` can be solved at once, `greet` is got right by the stubborn agent at its third call alone.
A third task, `shout`, lies in the pack's folder without a line in pack.jsonl.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
NAME = "small"
AGENTS = ("steady", "stubborn")
BUDGETS = ("calls-1", "calls-3")
TASKS = ("double", "greet")

#: Task -> (file, starting text, reference solution, hidden test).
SOURCES = {
    "double": (
        "number.py",
        "def double(n):\n    return n\n",
        "def double(n):\n    return 2 * n\n",
        "from number import double\n\n\ndef test_one():\n    assert double(1) == 2\n\n\n"
        "def test_minus_three():\n    assert double(-3) == -6\n",
    ),
    "greet": (
        "greeting.py",
        'def greet(name):\n    return ""\n',
        'def greet(name):\n    return f"Hello, {name}!"\n',
        "from greeting import greet\n\n\ndef test_greet():\n    assert greet('Ada') == 'Hello, Ada!'\n",
    ),
    "shout": (
        "voice.py",
        "def shout(text):\n    return text\n",
        "def shout(text):\n    return text.upper()\n",
        "from voice import shout\n\n\ndef test_shout():\n    assert shout('ahoy') == 'AHOY'\n",
    ),
}

LINES: dict[str, dict[str, Any]] = {
    "double": {
        "id": "double",
        "prompt_file": "prompts/double.md",
        "fixture_dir": "fixtures/double",
        "grade": ["python", "-m", "pytest", "-q", "graders/double/test_double.py"],
    },
    "greet": {
        "task_id": "greet",
        "prompt": "Complete greet in greeting.py.\n",
        "fixture_dir": "fixtures/greet",
        "test_cmd": "pytest -q graders/greet/test_greet.py",
        "weight": 3,
        "budget_s": 50,
    },
    "shout": {
        "id": "shout",
        "prompt": "Complete shout in voice.py.\n",
        "fixture_dir": "fixtures/shout",
        "grade": ["pytest", "-q", "graders/shout/test_shout.py"],
    },
}

STEADY = '''\
"""Gets `double` right, `greet` wrong, and stops."""

FILES = {
    "double": {"number.py": "def double(n):\\n    return n + n\\n"},
    "greet": {"greeting.py": "def greet(name):\\n    return 'Hi, ' + name\\n"},
    "shout": {"voice.py": "def shout(text):\\n    return text.upper()\\n"},
}


def propose(task, history):
    return {"files": FILES[task["id"]], "tool_name": "write", "tokens": 10, "done": True}
'''

STUBBORN = '''\
"""Is wrong twice, right at its third call, and never stops."""

WRONG = {
    "double": {"number.py": "def double(n):\\n    return n * n + {}\\n"},
    "greet": {"greeting.py": "def greet(name):\\n    return name * {}\\n"},
    "shout": {"voice.py": "def shout(text):\\n    return text * {}\\n"},
}
RIGHT = {
    "double": {"number.py": "def double(n):\\n    return n * 2\\n"},
    "greet": {"greeting.py": "def greet(name):\\n    return 'Hello, ' + name + '!'\\n"},
    "shout": {"voice.py": "def shout(text):\\n    return text.upper()\\n"},
}


def propose(task, history):
    calls = len(history)
    files = RIGHT if calls >= 2 else WRONG
    filled = {path: text.format(calls) for path, text in files[task["id"]].items()}
    return {"files": filled, "tool_name": "write", "tokens": 20, "done": False}
'''

#: (agent, task, budget) -> (outcome, reason) of the agents under the policy `final`.
OUTCOMES = {
    ("steady", "double", "calls-1"): ("PASS", "finished"),
    ("steady", "double", "calls-3"): ("PASS", "finished"),
    ("steady", "greet", "calls-1"): ("FAIL_TEST", "assertion"),
    ("steady", "greet", "calls-3"): ("FAIL_TEST", "assertion"),
    ("stubborn", "double", "calls-1"): ("EXHAUSTED", "tool_calls"),
    ("stubborn", "double", "calls-3"): ("PASS", "green_at_cap"),
    ("stubborn", "greet", "calls-1"): ("EXHAUSTED", "tool_calls"),
    ("stubborn", "greet", "calls-3"): ("PASS", "green_at_cap"),
}


def config() -> dict[str, Any]:
    """Return the experiment's config."""
    return {
        "experiment": {"name": NAME, "question": "a_vs_b"},
        "pack": {"path": "packs/small"},
        "agents": list(AGENTS),
        "budgets": [
            {"name": name, "max_tool_calls": calls, "max_tokens": 1000, "max_seconds": 60}
            for name, calls in zip(BUDGETS, (1, 3), strict=True)
        ],
        "budget_axis": "max_tool_calls",
        "repeats": 1,
        "grading": "final",
        "isolation": "userns",
        "figures": ["budget_curves"],
        "statistics": {"resamples": 200},
    }


def write_workflow(folder: Path) -> None:
    """Copy what a project consists of besides its study: Snakefile, rules, captions, profile."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy2(ROOT / name, folder / name)
    for name in ("workflow/rules", "workflow/report", "profiles"):
        shutil.copytree(ROOT / name, folder / name)


def write_study(folder: Path) -> None:
    """Write the pack, the agents and the config of the small experiment."""
    pack = folder / "packs" / "small"
    for task, (file, start, solution, test) in SOURCES.items():
        write(pack / "fixtures" / task / file, start)
        write(pack / "solutions" / task / file, solution)
        write(pack / "graders" / task / f"test_{task}.py", test)
    write(pack / "prompts" / "double.md", "Mend double in number.py.\n")
    write_lines(folder, *TASKS)
    about = {"name": "small", "status": "proposal", "licence": "MIT", "source": "tests"}
    write(pack / "pack.json", json.dumps({**about, "python": ">=3.11"}))
    shutil.copyfile(ROOT / "packs/starter/requirements.txt", pack / "requirements.txt")
    for name, code in (("steady", STEADY), ("stubborn", STUBBORN)):
        write(folder / "config" / "agents" / "code" / f"{name}.py", code)
        sheet = {"adapter": "python", "code": [f"config/agents/code/{name}.py"], "module": name}
        write(folder / "config" / "agents" / f"{name}.yaml", yaml.safe_dump(sheet))
    write(folder / "config" / "config.yaml", yaml.safe_dump(config(), sort_keys=False))


def write_lines(folder: Path, *tasks: str, **changed: dict[str, Any]) -> None:
    """Write pack.jsonl with the lines of `tasks`, fields of `changed[task]` laid over them."""
    lines = [json.dumps(LINES[task] | changed.get(task, {})) for task in tasks]
    write(folder / "packs/small/pack.jsonl", "\n".join(lines) + "\n")


def write(path: Path, text: str) -> None:
    """Write a text file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
