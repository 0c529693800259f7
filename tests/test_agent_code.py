"""What an agent's file names must be in its code: told by `plan`, not by every cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from small_study import CODE, Study

WHERE = "config/agents/one.yaml"
FILES = {
    "agents/mine.py": "import json\nimport helper\n\n" + CODE,
    "agents/helper.py": "X = 1\n",
    "agents/guarded.py": "try:\n    import helper\nexcept ImportError:\n    helper = None\n" + CODE,
    "agents/typed.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper\n" + CODE
    ),
    "agents/late.py": "def propose(task, history):\n    from helper import X\n",
    "agents/alone.py": "import os, numpy\nfrom importlib import metadata\n" + CODE,
    "agents/relative.py": "from .helper import X\n" + CODE,
    "agents/dotted.py": "import agents.helper\n" + CODE,
    "agents/chain.py": "import mine\n" + CODE,
    "agents/newer.py": "type X = int\ndef propose[T](task: T, history): ...\n",
    "agents/odd.py": "from somewhere import *\n",
    "agents/misnamed.py": "def suggest(task, history):\n    pass\n",
    "agents/pkg/__init__.py": "from .inner import propose\n",
    "agents/pkg/inner.py": "from . import deep\nfrom ..helper import X\n" + CODE,
    "agents/pkg/deep.py": "",
    "agents/flat/one.py": "",
    "agents/flat/two.py": "",
    "agents/space.py": "from flat import one, two\n" + CODE,
    "agents/run.sh": "#!/bin/sh\n",
    "agents/solve.py": "import helper\n",
    "agents/plain.py": "print('x')\n",
}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study(tmp_path)
    for name, text in FILES.items():
        study.write(name, text)
    return study


def told(study: Study, **sheet: Any) -> str:
    """Return what `plan` refuses of an agent, or an empty text."""
    study.agents["one"] = {"adapter": "python", **sheet}
    if sheet.get("adapter") == "command":
        study.config["budgets"] = [{"name": "b", "max_seconds": 5}]
        study.config |= {"budget_axis": "max_seconds", "clock": "strict"}
    try:
        study.preflight()
    except BadInput as error:
        return str(error)
    return ""


def python(module: str, *code: str, **more: Any) -> dict[str, Any]:
    return {"module": module, "code": [f"agents/{name}" for name in code], **more}


GOOD = {
    "beside it": python("mine", "mine.py", "helper.py"),
    "a folder": python("mine", "../agents"),
    "guarded": python("guarded", "guarded.py"),
    "for types alone": python("typed", "typed.py"),
    "of library and environment": python("alone", "alone.py"),
    "a newer Python": python("newer", "newer.py"),
    "only a run can tell": python("odd", "odd.py"),
    "another attribute": python("misnamed", "misnamed.py", attribute="suggest"),
    "a namespace": python("space", "space.py", "flat/one.py", "flat/two.py"),
}


@pytest.mark.parametrize("sheet", GOOD.values(), ids=GOOD)
def test_a_python_agent_whose_code_is_whole_may_start(study: Study, sheet: Any) -> None:
    sheet["code"] = [name.replace("agents/../", "") for name in sheet["code"]]
    assert told(study, **sheet) == ""


WRONG = {
    "another file": (
        python("mine", "helper.py"),
        "module: 'mine' is not in code: agents/mine.py is not in code; cure: add it to code",
    ),
    "a typing error": (
        python("mien", "mine.py", "helper.py"),
        "module: 'mien' is not in code: cure: the name of a module that is there (mine), or add",
    ),
    "a path in place of a name": (
        python("agents.mine", "mine.py", "helper.py"),
        "module: 'agents.mine' is not in code: cure: the name of a module that is there (mine)",
    ),
    "its function": (
        python("misnamed", "misnamed.py"),
        "attribute: 'propose' is not in agents/misnamed.py; cure: the name of a function that is "
        "there (suggest)",
    ),
    "a sibling": (
        python("mine", "mine.py"),
        "code: agents/mine.py, line 2: imports 'helper', which is agents/helper.py, and not in "
        "code; cure: add agents/helper.py to code",
    ),
    "a sibling of a sibling": (
        python("chain", "chain.py", "mine.py"),
        "code: agents/mine.py, line 2: imports 'helper', which is agents/helper.py",
    ),
    "a sibling in a function": (
        python("late", "late.py"),
        "code: agents/late.py, line 2: imports 'helper', which is agents/helper.py",
    ),
    "a relative one": (
        python("relative", "relative.py", "helper.py"),
        "code: agents/relative.py, line 1: imports '.helper' from beside it, and is no part of a "
        "package in its box; cure: import it as 'helper'",
    ),
    "from the top of the project": (
        python("dotted", "dotted.py"),
        "code: agents/dotted.py, line 1: imports 'agents.helper', which is agents/helper.py, and "
        "not in code; cure: add agents/helper.py to code, and import it as 'helper'",
    ),
    "above its package": (
        python("inner", "pkg"),
        "code: agents/pkg/inner.py, line 1: imports '.deep' from beside it",
    ),
    "one of a namespace": (
        python("space", "space.py", "flat/one.py"),
        "code: agents/space.py, line 1: imports 'flat.two', which is agents/flat/two.py",
    ),
}


@pytest.mark.parametrize(("sheet", "words"), WRONG.values(), ids=WRONG)
def test_a_python_agent_whose_code_is_not_whole_is_refused(
    study: Study, sheet: Any, words: str
) -> None:
    found = told(study, **sheet)
    assert found.startswith(f"{WHERE}: {words}"), found
    assert "cure: " in found
    assert str(study.root) not in found


def command(*argv: str, code: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"adapter": "command", "argv": list(argv), "code": [f"agents/{name}" for name in code]}


GOOD_COMMANDS = {
    "a script": command("python", "agents/plain.py", code=("plain.py",)),
    "its siblings": command("python3", "-u", "agents/solve.py", code=("solve.py", "helper.py")),
    "a line": command("bash", "-c", "agents/run.sh"),
    "of the system": command("/usr/bin/env", "true"),
    "of the task": command("python", "solution.py"),
    "a module of the environment": command("python", "-m", "pytest"),
}


@pytest.mark.parametrize("sheet", GOOD_COMMANDS.values(), ids=GOOD_COMMANDS)
def test_a_command_whose_code_is_whole_may_start(study: Study, sheet: Any) -> None:
    study.agents["two"] = {**sheet, "salt": "2"}
    assert told(study, **sheet) == ""


WRONG_COMMANDS = {
    "its program": (
        command("agents/run.sh"),
        "argv.0: 'agents/run.sh' is a file of the project, and not in code; cure: add it to code",
    ),
    "with a dot": (command("./agents/run.sh"), "argv.0: 'agents/run.sh' is a file of the project"),
    "its x-bit": (
        command("agents/run.sh", code=("run.sh",)),
        "argv.0: 'agents/run.sh' is not executable; cure: chmod +x agents/run.sh, or",
    ),
    "its script": (
        command("python", "-u", "agents/solve.py"),
        "argv.2: 'agents/solve.py' is a file of the project, and not in code; cure: add it to code",
    ),
    "a shell's script": (command("/bin/sh", "agents/run.sh"), "argv.1: 'agents/run.sh' is a file"),
    "a typing error": (
        command("python", "agents/slove.py", code=("solve.py", "helper.py")),
        "argv.1: 'agents/slove.py' is not in code; cure: 'agents/solve.py'?",
    ),
    "a sibling": (
        command("python", "agents/solve.py", code=("solve.py",)),
        "code: agents/solve.py, line 1: imports 'helper', which is agents/helper.py, and not in",
    ),
    "as a module": (
        command("python", "-m", "plain", code=("plain.py",)),
        "argv.2: 'plain' is in code, where -m does not look; cure: the path of its file",
    ),
    "outside its box": (
        command("/opt/tool/run"),
        "argv.0: '/opt/tool/run' is not in the agent's box; cure: a program below /usr, or a file",
    ),
}


@pytest.mark.parametrize(("sheet", "words"), WRONG_COMMANDS.values(), ids=WRONG_COMMANDS)
def test_a_command_whose_code_is_not_whole_is_refused(study: Study, sheet: Any, words: str) -> None:
    study.agents["two"] = {**command("/bin/true"), "salt": "2"}
    found = told(study, **sheet)
    assert found.startswith(f"{WHERE}: {words}"), found
    assert "cure: " in found


def test_below_walls_a_program_may_lie_anywhere_but_in_the_project(study: Study) -> None:
    study.agents["two"] = {**command("/bin/true"), "salt": "2"}
    study.config["isolation"] = "process"
    assert told(study, **command("/opt/tool/run")) == ""
    path = (study.root / "agents/run.sh").as_posix()
    assert told(study, **command(path)).startswith(f"{WHERE}: argv.0: {path!r} is not in the")
