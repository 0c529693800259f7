from __future__ import annotations

import subprocess
import sys

import pytest
from frozenbench.assume import Environment, environment_from_probe, probe_source
from frozenbench.canonical import BadInput


@pytest.fixture(scope="module")
def environment() -> Environment:
    run = subprocess.run(
        [sys.executable, "-I", "-c", probe_source()], capture_output=True, check=True, timeout=60
    )
    assert run.stderr == b""
    return environment_from_probe(run.stdout)


def test_the_probe_lists_the_standard_library_and_the_installed_packages(
    environment: Environment,
) -> None:
    assert environment.stdlib == sys.stdlib_module_names
    assert {"pytest", "_pytest", "hypothesis", "yaml", "frozenbench"} <= environment.modules
    assert "tests" not in environment.modules
    assert not environment.modules & environment.stdlib


def test_the_probe_knows_the_names_of_modules_that_can_be_imported(
    environment: Environment,
) -> None:
    for module, names in {
        "json": {"loads", "decoder", "tool"},
        "os": {"path", "environ", "getcwd"},
        "os.path": {"join", "exists"},
        "xml": {"etree"},
        "xml.etree.ElementTree": {"fromstring"},
        "concurrent": {"futures"},
        "builtins": {"print", "ExceptionGroup"},
        "csv": {"DictReader"},
        "datetime": {"datetime", "UTC"},
    }.items():
        assert names <= environment.names[module], module
    assert "parse" not in environment.names["json"]


def test_of_a_module_that_makes_names_when_asked_nothing_is_known(environment: Environment) -> None:
    assert not {"this", "antigravity", "unittest", "pytest"} & environment.names.keys()


def test_the_probe_prints_the_same_twice() -> None:
    command = [sys.executable, "-I", "-c", probe_source()]
    first, second = (subprocess.run(command, capture_output=True).stdout for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "[]",
        "{}",
        "null",
        b"\xff",
        '{"stdlib": [], "modules": [], "names": []}',
        '{"stdlib": [1], "modules": [], "names": {}}',
        '{"stdlib": [], "modules": "os", "names": {}}',
    ],
)
def test_other_output_is_refused_in_one_line(printed: str | bytes) -> None:
    with pytest.raises(BadInput, match="environment probe: ") as caught:
        environment_from_probe(printed)
    assert "\n" not in str(caught.value)
