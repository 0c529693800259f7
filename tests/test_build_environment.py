"""The pack environment: all of the lock or nothing, no trace of this machine, works in a box."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import string
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from frozenbench.build_environment import build_environment, check_lock
from frozenbench.canonical import BadInput, Failed, entries, read_tree
from frozenbench.sandbox import Box, Limits, measure, run, work_folder
from hypothesis import given
from hypothesis import strategies as st

CODE = """
import sys

def main():
    print("hello from", sys.prefix, __file__)
"""


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock of one package that comes from a folder, not from the network."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel = make_wheel(folder)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    path = tmp_path / "requirements.txt"
    path.write_text(f"# a comment\nhello.pkg==1.2 \\\n    --hash=sha256:{digest}\n    # via x\n")
    return path


def make_wheel(folder: Path) -> Path:
    info = "hello_pkg-1.2.dist-info"
    files = {
        "hello_pkg/__init__.py": CODE,
        "hello_pkg/template.py": "this is {no} python",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: Hello.Pkg\nVersion: 1.2\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nhello = hello_pkg:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / "hello_pkg-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return all that a tree holds: bytes of files, targets of links."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.fsencode(path.readlink())
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def test_it_is_described(lock: Path, tmp_path: Path) -> None:
    out = tmp_path / "environments" / "abc"
    build_environment(lock, out)
    assert json.loads((out / "environment.json").read_bytes()) == {
        "python": platform.python_version(),
        "implementation": "cpython",
        "packages": {"hello-pkg": "1.2"},
    }
    assert [path.name for path in out.parent.iterdir()] == ["abc"]


@pytest.mark.parametrize("level", ["userns", "process", "none"])
def test_it_works_in_a_box(lock: Path, tmp_path: Path, level: str) -> None:
    if level == "userns" and measure().level == "process":
        pytest.skip("this machine gives process, this test needs userns")
    out = tmp_path / "environment"
    build_environment(lock, out)
    with work_folder() as work:
        box = Box(level, work, environment=out, limits=Limits(seconds=20))
        by_name = run(box, ["hello"])
        by_python = run(box, [box.python, "-c", "import hello_pkg; hello_pkg.main()"])
    prefix = box.seen("/opt/env")
    assert by_name.output == by_python.output
    assert by_name.output.decode().startswith(f"hello from {prefix} {prefix}/lib")
    assert by_name.exit_status == 0


@pytest.mark.parametrize("deep", [False, True], ids=["short", "long"])
def test_no_trace_of_this_machine_is_in_it(lock: Path, tmp_path: Path, deep: bool) -> None:
    # Beyond 127 bytes a script cannot name its interpreter directly.
    out = tmp_path.joinpath(*["a-long-name-of-a-folder"] * (6 if deep else 1)) / "environment"
    build_environment(lock, out)
    found = contents(out)
    assert "lib64" in found
    for trace in (tmp_path, Path.home(), Path(sys.prefix)):
        assert [name for name, held in found.items() if os.fsencode(trace) in held] == []
    assert found["bin/hello"].startswith(b"#!/opt/env/bin/python\n")
    base = "/usr" if sys.base_prefix == "/usr" else "/opt/python"
    assert found["bin/python"].decode().startswith(f"{base}/bin/python3.")
    compiled = [held for name, held in found.items() if name.endswith(".pyc")]
    assert len(compiled) == 1  # what is no Python stays as it is
    assert b"/opt/env/lib" in compiled[0]
    assert compiled[0][4] == 1  # PEP 552: by hash, and never checked


def test_files_are_read_only(lock: Path, tmp_path: Path) -> None:
    out = tmp_path / "environment"
    build_environment(lock, out)
    files = [path for path in out.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o222] == []


def test_the_same_lock_gives_the_same_bytes(lock: Path, tmp_path: Path) -> None:
    build_environment(lock, tmp_path / "one")
    build_environment(lock, tmp_path / "elsewhere" / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "elsewhere" / "two")


def test_record_tells_the_truth_about_changed_scripts(lock: Path, tmp_path: Path) -> None:
    from importlib import metadata

    build_environment(lock, tmp_path / "one")
    packages = next((tmp_path / "one" / "lib").glob("python3.*/site-packages"))
    (found,) = metadata.distributions(path=[str(packages)])
    scripts = [file for file in found.files or [] if file.name == "hello"]
    assert len(scripts) == 1
    data = scripts[0].read_binary()
    assert scripts[0].size == len(data)
    assert scripts[0].hash is not None


def test_without_a_lock_it_is_empty(tmp_path: Path) -> None:
    build_environment(None, tmp_path / "environment")
    told = json.loads((tmp_path / "environment" / "environment.json").read_bytes())
    assert told["packages"] == {}


def test_a_lock_of_nothing_is_empty_too(tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text("# nothing is needed\n")
    build_environment(tmp_path / "lock.txt", tmp_path / "environment")
    told = json.loads((tmp_path / "environment" / "environment.json").read_bytes())
    assert told["packages"] == {}


def test_an_older_one_is_replaced(lock: Path, tmp_path: Path) -> None:
    out = tmp_path / "environment"
    build_environment(None, out)
    build_environment(lock, out)
    assert "hello-pkg" in (out / "environment.json").read_text()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


HASH = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hello\n", 1),
        ("hello==1.2\n", 1),
        ("hello>=1.2 --hash=" + HASH, 1),
        (f"a==1 --hash={HASH}\nhello==1.2\n", 2),
        ("hello==1.2 --hash=md5:0123", 1),
        ("-r other.txt", 1),
        ("-e .", 1),
        ("\n# x\nhello @ https://example.org/hello.whl --hash=" + HASH, 3),
        ("git+https://example.org/hello", 1),
        ("--find-links=/somewhere", 1),
    ],
)
def test_what_is_not_pinned_is_refused(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "lock.txt"
    path.write_text(text)
    with pytest.raises(BadInput, match=rf"lock\.txt: line {line}: .*cure: "):
        build_environment(path, tmp_path / "environment")
    assert [entry.name for entry in tmp_path.iterdir()] == ["lock.txt"]


def test_a_missing_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"absent\.txt: cannot be read.*cure: "):
        build_environment(tmp_path / "absent.txt", tmp_path / "environment")


NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
MARKS = st.sampled_from(["", " ; python_version >= '3.11'", " ; sys_platform == 'linux'"])


@given(st.lists(st.tuples(NAMES, MARKS, st.integers(1, 3)), max_size=5), st.booleans())
def test_pinned_locks_are_taken_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, packages: list[tuple[str, str, int]], crlf: bool
) -> None:
    text = "--index-url https://example.org/simple\n"
    for name, mark, hashes in packages:
        text += f"{name}==1.0.post1{mark}" + f" \\\n    --hash={HASH}" * hashes + "\n    # via x\n"
    path = tmp_path_factory.mktemp("lock") / "lock.txt"
    path.write_bytes((text.replace("\n", "\r\n") if crlf else text).encode())
    check_lock(path)
    path.write_text(text + "unpinned==1\n")
    with pytest.raises(BadInput, match="unpinned"):
        check_lock(path)


def test_a_wrong_hash_leaves_nothing(lock: Path, tmp_path: Path) -> None:
    lock.write_text(f"hello.pkg==1.2 --hash={HASH}\n")
    with pytest.raises(Failed, match=r"requirements\.txt: its packages cannot be .*cure: "):
        build_environment(lock, tmp_path / "environments" / "abc")
    assert list((tmp_path / "environments").iterdir()) == []


def test_a_package_that_is_not_there_is_named(lock: Path, tmp_path: Path) -> None:
    lock.write_text(f"no-such-package==1.2 --hash={HASH}\n")
    with pytest.raises(Failed, match="no-such-package"):
        build_environment(lock, tmp_path / "environment")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.2, 0.5, 0.9])
def test_a_killed_build_leaves_nothing_half_built(lock: Path, tmp_path: Path, delay: float) -> None:
    out = tmp_path / "environments" / "abc"
    code = (
        "import sys; from pathlib import Path; "
        "from frozenbench.build_environment import build_environment; "
        "build_environment(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    build = subprocess.Popen([sys.executable, "-c", code, lock, out], start_new_session=True)
    time.sleep(delay)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not out.exists() or (out / "environment.json").exists()
    for left in out.parent.glob(".*"):
        os.utime(left, (0, 0))  # long ago
    build_environment(lock, out)
    assert [path.name for path in out.parent.iterdir()] == ["abc"]


def test_an_environment_of_another_python_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "environment"
    build_environment(None, out)
    described = out / "environment.json"
    described.chmod(0o644)
    described.write_text('{"python": "3.4.1"}')
    with work_folder() as work, pytest.raises(BadInput, match=r"3\.4\.1 was built for another"):
        run(Box("none", work, environment=out), ["true"])
    with work_folder() as work, pytest.raises(BadInput, match="not that of a built pack"):
        run(Box("none", work, environment=tmp_path / "absent"), ["true"])


def test_the_tree_has_no_caches_that_a_digest_would_miss(lock: Path, tmp_path: Path) -> None:
    """Files that `read_tree` takes in: nothing but the three links are no files."""
    build_environment(lock, tmp_path / "one")
    for link in [path for path in (tmp_path / "one").rglob("*") if path.is_symlink()]:
        link.unlink()
    assert len(entries(read_tree(tmp_path / "one"))) > 5
