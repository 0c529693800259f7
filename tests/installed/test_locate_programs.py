"""Programs of every kind, found where they lie and started in a real box."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.installed import Program, locate
from frozenbench.sandbox import Box, Limits, Mount, measure, run, work_folder

needs_walls = pytest.mark.skipif(
    measure().level not in ("userns", "userns+cgroup"), reason="this machine gives no walls"
)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")

#: Interpreters of JavaScript reserve far more address space than they use.
LIMITS = Limits(seconds=60, memory_bytes=1 << 40, processes=512)


@pytest.fixture
def add_to_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    def add(folder: Path) -> None:
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return add


def npm_package(root: Path) -> Path:
    """Make what `npm install` leaves: a package with a script, one that it needs, a link to it."""
    modules = root / "node_modules"
    files = {
        "@firm/agent/package.json": json.dumps(
            {"name": "@firm/agent", "version": "1.2.3", "dependencies": {"words": "*", "gone": "*"}}
        ),
        "@firm/agent/bin/agent.js": (
            "#!/usr/bin/env node\n"
            "console.log(require('words'), __filename, require('os').userInfo().username)\n"
        ),
        "words/package.json": json.dumps({"name": "words", "version": "9.0.0", "main": "w.js"}),
        "words/w.js": "module.exports = 'hello'\n",
        "other/package.json": json.dumps({"name": "other", "version": "0.0.1"}),
    }
    for name, text in files.items():
        path = modules / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (modules / "@firm/agent/bin/agent.js").chmod(0o755)
    (modules / ".bin").mkdir()
    (modules / ".bin" / "firm-agent").symlink_to("../@firm/agent/bin/agent.js")
    return modules / ".bin"


def virtual_environment(root: Path, version: str = "2.0") -> Path:
    """Make a virtual environment with one distribution that brings a console script."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    packages = next(root.glob("lib/python3.*/site-packages"))
    described = packages / f"py_agent-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: py-agent\nVersion: {version}\n"
    )
    (described / "entry_points.txt").write_text("[console_scripts]\npy-agent = py_agent:main\n")
    (described / "INSTALLER").write_text("pip\n")
    (packages / "py_agent.py").write_text(
        "import sys\ndef main():\n    print('hello', __file__, sys.prefix, sys.argv[1:])\n"
    )
    script = root / "bin" / "py-agent"
    head = f"#!{root}/bin/python\n"
    if " " in str(root):  # as pip writes it
        head = f"#!/bin/sh\n'''exec' \"{root}/bin/python\" \"$0\" \"$@\"\n' '''\n"
    script.write_text(f"{head}import sys\nfrom py_agent import main\nsys.exit(main())\n")
    script.chmod(0o755)
    return root / "bin"


def boxed(program: Program, *words: str) -> str:
    with work_folder() as work:
        mounts = tuple(Mount(source, target) for source, target in program.mounts)
        box = Box("userns", work, mounts, None, LIMITS)
        ended = run(box, [*program.words(walled=True), *words])
    output = ended.output.decode()
    assert ended.exit_status == 0, output
    return output


@needs_node
@needs_walls
def test_a_package_of_node_runs_in_a_box_with_what_it_needs(
    tmp_path: Path, add_to_path: Callable[[Path], None]
) -> None:
    add_to_path(npm_package(tmp_path / "here"))
    program = locate("firm-agent")
    shown = [target for _, target in program.mounts if target.startswith("/opt")]
    assert "/opt/agent/node_modules/words" in shown
    assert not [target for target in shown if "other" in target], "only what it depends on"
    said = boxed(program)
    assert said == "hello /opt/agent/node_modules/@firm/agent/bin/agent.js agent\n"


@needs_walls
def test_a_virtual_environment_runs_in_a_box_at_a_path_that_is_always_the_same(
    tmp_path: Path, add_to_path: Callable[[Path], None]
) -> None:
    add_to_path(virtual_environment(tmp_path / "a venv"))
    said = boxed(locate("py-agent"), "one", "two")
    assert said.startswith("hello /opt/agent/lib/python3.")
    assert said.endswith("/py_agent.py /opt/agent ['one', 'two']\n")


@needs_walls
def test_a_single_binary_runs_in_a_box(tmp_path: Path, add_to_path: Callable[[Path], None]) -> None:
    found = shutil.which("cat")
    assert found is not None
    shutil.copy(Path(found).resolve(), tmp_path / "lone-agent")
    add_to_path(tmp_path)
    program = locate("lone-agent")
    assert program.words(walled=True) == ("/opt/agent/bin/lone-agent",)
    assert boxed(program, "/etc/passwd").startswith("agent:x:1000:1000:")
    assert program.identity()["name"] == "lone-agent"
    assert program.identity()["version"][0].isdigit() or program.identity()["version"] == "unknown"


def test_a_program_below_usr_is_shown_by_every_box_already(
    tmp_path: Path, add_to_path: Callable[[Path], None]
) -> None:
    program = locate("bash")
    assert program.words(walled=True) == (str(Path(shutil.which("bash") or "").resolve()),)
    assert [target for _, target in program.mounts] == ["/etc/passwd"]


def test_the_same_release_is_the_same_program_wherever_it_lies(
    tmp_path: Path, add_to_path: Callable[[Path], None]
) -> None:
    found = []
    for place in ("one", "two"):
        add_to_path(npm_package(tmp_path / place))
        add_to_path(virtual_environment(tmp_path / f"venv-{place}"))
        found.append((locate("firm-agent").identity(), locate("py-agent").identity()))
    assert found[0] == found[1]
    assert found[0][0]["name"] == "@firm/agent"
    assert found[0][0]["version"] == "1.2.3"
    assert found[0][1]["name"] == "py-agent"
    assert found[0][1]["version"] == "2.0"
    assert str(tmp_path) not in json.dumps(found)


@pytest.mark.parametrize(
    ("file", "same"),
    [
        ("node_modules/@firm/agent/bin/agent.js", False),
        ("node_modules/words/w.js", False),
        ("node_modules/@firm/agent/new.js", False),
        ("node_modules/other/package.json", True),
        ("node_modules/@firm/agent/__pycache__/x.pyc", True),
    ],
)
def test_the_digest_changes_with_any_file_of_the_program(
    tmp_path: Path, add_to_path: Callable[[Path], None], file: str, same: bool
) -> None:
    add_to_path(npm_package(tmp_path))
    before = locate("firm-agent").identity()["digest"]
    assert locate("firm-agent").identity()["digest"] == before
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + " ")
    assert (locate("firm-agent").identity()["digest"] == before) == same


def test_how_an_environment_was_installed_is_no_part_of_it(
    tmp_path: Path, add_to_path: Callable[[Path], None]
) -> None:
    add_to_path(virtual_environment(tmp_path / "venv"))
    before = locate("py-agent").identity()
    (described,) = tmp_path.glob("venv/lib/*/site-packages/*.dist-info")
    (described / "INSTALLER").write_text("uv\n")
    (described / "direct_url.json").write_text("{}")
    pip = described.parent / "pip"
    pip.mkdir()
    (pip / "__init__.py").write_text("")
    assert locate("py-agent").identity() == before
    (described.parent / "py_agent.py").write_text("def main(): pass\n")
    assert locate("py-agent").identity() != before


def test_what_is_missing_says_how_to_install_it() -> None:
    with pytest.raises(BadInput) as error:
        locate("no-such-agent", "npm install -g no-such-agent")
    assert "no-such-agent: is not on the PATH; cure: npm install -g no-such-agent" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("first", "wrong"),
    [
        ("#!/usr/bin/env python3", "outside any virtual environment"),
        ("#!/bin/sh", "is a script of sh and of no package"),
    ],
)
def test_a_script_of_no_known_kind_is_refused(
    tmp_path: Path, add_to_path: Callable[[Path], None], first: str, wrong: str
) -> None:
    script = tmp_path / "bin" / "odd-agent"
    script.parent.mkdir()
    script.write_text(f"{first}\n")
    script.chmod(0o755)
    add_to_path(script.parent)
    with pytest.raises(BadInput, match=wrong):
        locate("odd-agent")
