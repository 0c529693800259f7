"""Work folders: fresh, private, and removed whatever a process has made of them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import Failed
from frozenbench.sandbox import base_folder, remove_tree, work_folder
from inside import python, said


def test_it_is_empty_private_and_gone_at_the_end() -> None:
    with work_folder() as one, work_folder() as two:
        assert one != two
        assert list(one.iterdir()) == []
        assert one.parent.name.startswith(f"{os.getpid()}-")
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
        # Nobody else can list the folders above; only root's can be passed through.
        for folder in (one.parent.parent, base_folder()):
            assert stat.S_IMODE(folder.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)
        (one / "file").write_text("x")
    assert list(one.parent.parent.glob(f"{one.parent.name}*")) == []


def test_it_is_removed_after_an_error() -> None:
    made: list[Path] = []

    def fail() -> None:
        with work_folder() as folder:
            (folder / "file").touch()
            made.append(folder)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not made[0].exists()


HOSTILE = """
import os
os.makedirs("closed/inner")
open("closed/inner/file", "w").close()
os.chmod("closed/inner", 0)
os.chmod("closed", 0)
os.symlink("/usr", "link")
os.symlink("closed", "linked")
os.mkfifo("pipe")
open(b"\\xff\\xfe", "w").close()
for _ in range(1100):
    os.mkdir("d")
    os.chdir("d")
open("bottom", "w").close()
"""


def test_a_hostile_tree_is_removed(walled: MakeBox) -> None:
    with work_folder() as folder:
        box = walled()
        said(python(type(box)(box.level, folder, limits=box.limits), HOSTILE))
        assert len(list(folder.iterdir())) == 6
    assert not folder.exists()
    assert Path("/usr/bin").exists()


def test_removing_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").touch()
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / "deep" / "link").symlink_to(tmp_path / "outside")
    remove_tree(tmp_path / "tree")
    remove_tree(tmp_path / "absent")
    assert (tmp_path / "outside" / "kept").exists()
    assert not (tmp_path / "tree").exists()


def test_somebody_elses_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "target").mkdir()
    (tmp_path / f"frozenbench-{os.geteuid()}").symlink_to("target")
    with pytest.raises(Failed, match="belongs to somebody else; cure"):
        base_folder()
