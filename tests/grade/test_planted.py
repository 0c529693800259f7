"""What an artifact plants beside the hidden tests: settings, plug-ins, shadows, other tests."""

from __future__ import annotations

import pytest
from cell_project import HIDDEN, RIGHT, WRONG, CellProject

PASS_ALL = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
def pytest_collection_modifyitems(items):
    items[:] = []
print("PLANTED")
"""
PLANTED = "print('PLANTED', flush=True)\nimport os\nos._exit(0)\n"
ALWAYS = "def test_small(): pass\ndef test_zero(): pass\ndef test_negative(): pass\n"

#: What an artifact may plant beside a wrong or a right solution: it changes nothing.
PLANTS: dict[str, dict[str, str]] = {
    "conftest.py": {"conftest.py": PASS_ALL, "tests/conftest.py": PASS_ALL},
    "settings": {
        "pytest.ini": "[pytest]\naddopts = --collect-only -p evil\n",
        "tox.ini": "[pytest]\npython_functions = nothing\n",
        "setup.cfg": "[tool:pytest]\npython_files = nothing\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k nothing'\n",
        ".pytest.ini": "[pytest]\naddopts = --version\n",
    },
    "sitecustomize": {"sitecustomize.py": PLANTED, "usercustomize.py": PLANTED},
    "pytest": {"pytest.py": PLANTED, "_pytest/__init__.py": PLANTED, "pluggy.py": PLANTED},
    "standard library": {
        f"{name}.py": PLANTED
        for name in ("random", "json", "os", "importlib", "unittest", "pathlib", "ast", "types")
    },
    "plug-in": {
        "evil.py": PLANTED,
        "evil-1.dist-info/METADATA": "Name: evil\nVersion: 1\n",
        "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    },
    "path file": {"evil.pth": "import evil\n", "evil.py": PLANTED},
    "programs": {"python": "#!/bin/sh\nexit 0\n", "pytest": "#!/bin/sh\nexit 0\n"},
    "hidden file": {"tests/test_app.py": ALWAYS},
    "package in the hidden folder": {"tests/__init__.py": "", "tests/app.py": ALWAYS},
    "more tests": {"tests/test_more.py": "def test_more():\n    assert False\n"},
    "a file": {"tests": "a file where the hidden folder goes"},
    "a folder": {"tests/test_app.py/x": "a folder where the hidden file goes"},
}


@pytest.mark.parametrize("case", PLANTS)
def test_what_is_planted_changes_nothing(cells: CellProject, case: str) -> None:
    planted: dict[str, str | None] = {**PLANTS[case]}
    graded = cells.verdict(planted)
    assert (graded.verdict.green, graded.verdict.failure) == (False, "assertion")
    assert (graded.verdict.expected, graded.verdict.passed) == (3, 1)
    assert "PLANTED" not in graded.log


def test_a_right_artifact_is_green_whatever_lies_beside_it(cells: CellProject) -> None:
    planted: dict[str, str | None] = {}
    for case, files in PLANTS.items():
        if case not in ("more tests", "a file", "a folder"):
            planted.update(files)
    # The artifact's own imports find the standard library too.
    right = f"import random, json\nassert json.dumps(random.random())\n{RIGHT}"
    for more in ({}, PLANTS["more tests"], PLANTS["a folder"]):
        if more is PLANTS["a folder"]:
            planted = {k: v for k, v in planted.items() if not k.startswith("tests/")}
        graded = cells.verdict({**planted, **more, "app.py": right})
        assert graded.verdict.green, graded.log
        assert "PLANTED" not in graded.log


def test_code_beside_the_hidden_tests_is_the_candidates(cells: CellProject) -> None:
    """A package's own file would run before its tests do: where it may, it proves nothing."""
    plants = (PLANTED, PASS_ALL, "import pytest\npytest.exit('ok', returncode=0)\n")
    for fixture in ({"app.py": WRONG}, {"app.py": WRONG, "tests/test_old.py": ""}):
        cells.task(fixture=fixture, solution={"app.py": RIGHT})
        for code in plants:
            assert not cells.verdict({"tests/__init__.py": code}).verdict.green


def test_a_hidden_folder_replaces_the_whole_folder(cells: CellProject) -> None:
    cells.task(
        hidden={"checks/test_app.py": HIDDEN, "checks/data/x.txt": "x"}, grade=["pytest", "checks"]
    )
    planted = {"checks/test_more.py": "def test_more():\n    assert False\n", "checks/data/y": ""}
    assert cells.verdict({**planted, "app.py": RIGHT}).verdict.green
    found = cells.verdict({**planted, "checks/test_app.py": ALWAYS}).verdict
    assert (found.failure, found.expected) == ("assertion", 3)


def test_a_fixture_conftest_stands_as_it_was(cells: CellProject) -> None:
    fixture = {
        "app.py": WRONG,
        "conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
    }
    hidden = {
        "tests/test_app.py": "from app import add\ndef test_it(two):\n    assert add(two, 2) == 4\n"
    }
    cells.task(fixture=fixture, hidden=hidden, solution={"app.py": RIGHT})
    assert cells.verdict({"app.py": RIGHT, "conftest.py": PASS_ALL}).verdict.green
    assert cells.verdict({"app.py": RIGHT, "conftest.py": None}).verdict.green
    assert cells.verdict({"conftest.py": PASS_ALL}).verdict.failure == "assertion"


def test_a_hidden_conftest_is_used(cells: CellProject) -> None:
    hidden = {
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
        "tests/support/numbers.py": "THREE = 3\n",
        "tests/test_app.py": "from app import add\nfrom support.numbers import THREE\n"
        "def test_it(two):\n    assert add(two, THREE) == 5\n",
    }
    cells.task(hidden=hidden)
    assert cells.verdict({"app.py": RIGHT}).verdict.green
    assert cells.verdict({}).verdict.failure == "assertion"


@pytest.mark.parametrize(
    "planted",
    ["support/numbers.py", "support.py", "tests/support.py", "tests/support/numbers.py"],
)
def test_a_planted_module_never_stands_in_for_a_hidden_one(
    cells: CellProject, planted: str
) -> None:
    hidden = {
        "tests/support/numbers.py": "THREE = 3\n",
        "tests/test_app.py": "from app import add\nfrom support.numbers import THREE\n"
        "def test_it():\n    assert add(1, 2) == THREE\n",
    }
    cells.task(hidden=hidden)
    fooling = "THREE = -1\nclass numbers:\n    THREE = -1\n"
    planting = {planted: fooling, "support/__init__.py": ""}
    assert not cells.verdict({**planting, "app.py": WRONG}).verdict.green
    assert cells.verdict({**planting, "app.py": RIGHT}).verdict.green


def test_a_module_beside_a_hidden_script_is_not_imported(cells: CellProject) -> None:
    """Python puts a script's own folder first, before the standard library."""
    cells.task(
        hidden={"checks/check.py": "import json\nfrom app import add\nassert add(1, 2) == 3\n"},
        grade=["python", "checks/check.py"],
        grader_trust="exit-status",
    )
    cells.verdict({"app.py": RIGHT, "checks/json.py": PLANTED})
    assert not cells.verdict({"app.py": WRONG, "checks/json.py": PLANTED}).verdict.green
