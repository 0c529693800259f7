"""`frozenbench import` says one thing, with its cure, and leaves no half of a table behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from frozenbench.cli import main
from frozenbench.importers.notices import KINDS
from frozenbench.source_files import find_files, printable
from frozenbench.table import read_table
from log_files import detail, mini_trajectory, plain_csv, put
from reading import named, read

ROWS = "agent,task,solved,calls\na,t1,true,1\na,t2,false,2\n"
IMPORTERS = Path(sys.modules["frozenbench.importers.notices"].__file__ or "").parent


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain_csv(Path("logs"), ROWS)


def refusal(capsys: pytest.CaptureFixture[str], *words: str, status: int = 2) -> str:
    """Run the command, which must refuse; return its one message."""
    out = [] if "--out" in words else ["--out", "out.parquet"]
    assert main(["import", "auto", "logs", *out, *words]) == status
    said = capsys.readouterr().err
    assert said.count("frozenbench import: ") == 1, said
    assert len(said.splitlines()) == 1, said
    assert "cure: " in said
    return said.removeprefix("frozenbench import: ").strip()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--caps", "x"), "--caps: 'x' is no cap; cure: a number"),
        (("--caps", "1_0"), "--caps: '1_0' is no cap"),
        (("--caps", "1.5", "--axis", "calls"), "--caps: '1.5' is no cap on calls"),
        (("--caps", "all,3"), "powers and all stand alone"),
        (("--limit", "calls"), "--limit: calls: '' is no limit"),
        (
            ("--limit", "moon=3"),
            "--limit: moon: '3' is no limit; cure: a number above 0 for one of",
        ),
        (("--caps", "1,2,1.0"), "--caps: 1 stands twice"),
        (("--caps", "1,,2"), "--caps: '' is no cap"),
        (("--caps", "1e400"), "--caps: '1e400' is no cap"),
        (("--caps", "8,9", "--limit", "calls=4"), "--caps: 8, 9: all lie beyond"),
        (("--axis", "moon"), "--axis: 'moon' is no axis"),
        (("--axis", "tokens"), "--axis: 'tokens' is not to be had"),
        (("--limit", "calls=2.5"), "--limit: calls: '2.5' is no limit"),
        (("--limit", "calls=0"), "--limit: calls: '0' is no limit"),
        (("--limit", "calls=2", "--limit", "calls=3"), "--limit: calls: is given twice"),
        (("--jobs", "0"), "--jobs: 0: is no number of processes"),
        (("--jobs", "-1"), "--jobs: -1: is no number of processes"),
        (("--out", "logs"), "--out: logs: is a folder; cure: a file in it, such as logs/"),
        (("--out", "."), "--out: .: is a folder"),
        (("--out", "table.csv"), "--out: table.csv: the table is written as Parquet"),
        (("--out", "logs/runs.csv/x.parquet"), "runs.csv is a file and no folder"),
        (("--out", f"{'x' * 300}.parquet"), "File name too long"),
    ],
)
def test_a_wrong_word_is_named_once_with_its_cure(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert told in refusal(capsys, *words)
    assert not Path("out.parquet").exists()


def test_nothing_that_no_import_wrote_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("own.parquet", "own.counts.parquet", "logs/data.parquet"):
        Path(name).write_bytes(b"mine")
    told = refusal(capsys, "--out", "own.parquet")
    assert "own.parquet: is there, and no import wrote it" in told
    Path("own.parquet").unlink()
    assert "own.counts.parquet: is there" in refusal(capsys, "--out", "own.parquet")
    assert "is one of the logs" in refusal(capsys, "--out", "logs/data.parquet")
    assert Path("own.counts.parquet").read_bytes() == Path("logs/data.parquet").read_bytes()


def test_an_import_replaces_its_own_tables_even_beside_the_logs() -> None:
    for _ in range(2):
        assert main(["import", "auto", "logs", "--out", "logs/out.parquet"]) == 0
    assert read_table(Path("logs/out.parquet")).num_rows


def test_an_empty_folder_and_logs_without_a_run_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty").mkdir()
    assert main(["import", "auto", "empty", "--out", "o.parquet"]) == 2
    assert "empty: no file is in it; cure: " in capsys.readouterr().err
    put(Path("none/x.json"), {"no": "log"})
    assert main(["import", "auto", "none", "--out", "o.parquet"]) == 2
    assert "none: no run could be read: 1 files that no format knows" in capsys.readouterr().err


def test_a_full_disk_leaves_the_old_tables_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "auto", "logs", "--out", "out.parquet"]) == 0
    before = {path: path.read_bytes() for path in Path().glob("*.parquet")}
    assert len(before) == 3
    plain_csv(Path("logs"), ROWS + "a,t3,true,3\n")
    capsys.readouterr()
    words = [sys.executable, "-m", "frozenbench", "import", "auto", "logs", "--out", "out.parquet"]
    done = subprocess.run(
        words, capture_output=True, text=True, preexec_fn=limit_file_size, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert (
        "--out: out.parquet: cannot be written (File too large); nothing was changed" in done.stderr
    )
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_it_at_once_with_one_line(tmp_path: Path, jobs: str) -> None:
    for number in range(2000):
        mini_trajectory(Path("many"), f"t{number}")
    words = ["import", "auto", "many", "--out", "out.parquet", "--jobs", jobs]
    with subprocess.Popen(
        [sys.executable, "-m", "frozenbench", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that run in the background of a shell inherit that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stderr.read()
    assert first == "500 of 2000 files read\n"
    assert process.returncode == 1
    assert rest.splitlines()[-1] == "frozenbench import: interrupted"
    assert "Traceback" not in rest
    assert time.monotonic() - began < 10
    assert not list(Path().glob("*out.*")), "no table, and no part of one"


def test_links_are_followed_once_and_a_dead_one_is_named() -> None:
    Path("logs/again").symlink_to(".")
    Path("logs/dead.jsonl").symlink_to("gone")
    plain_csv(Path("elsewhere"), "agent,task,solved,calls\nb,t1,true,1\nb,t2,true,1\n")
    Path("logs/there").symlink_to("../elsewhere")
    os.mkfifo("logs/pipe.json")
    found = read(Path("logs"))
    assert set(found.agents) == {"a", "b"}
    assert len(found.rows) == 4
    dead, pipe = named(found, "broken_file")
    assert dead.startswith("logs/dead.jsonl: cannot be read")
    assert pipe == "logs/pipe.json: cannot be read (is no regular file)"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["/x/logs/run"], ["run/f"]),
        (["/x/a/run", "/x/b/run"], ["a/run/f", "b/run/f"]),
        (["/x/a/run", "/x/b/other"], ["run/f", "other/f"]),
    ],
)
def test_files_outside_are_named_by_as_little_as_tells_them(
    tmp_path: Path, given: list[str], shown: list[str]
) -> None:
    paths = [tmp_path / path.lstrip("/") for path in given]
    for path in paths:
        path.mkdir(parents=True)
        (path / "f").touch()
    assert [name for _, name in find_files(paths)] == shown


def test_two_runs_of_one_name_in_two_places_are_not_mixed(tmp_path: Path) -> None:
    for place, calls in (("a", 2), ("b", 3)):
        mini_trajectory(tmp_path / place / "run", "t1", calls=calls)
    words = [str(tmp_path / place / "run") for place in "ab"]
    assert main(["import", "auto", *words, "--out", "o.parquet", "--agents-by", "run"]) == 1
    agents = set(read_table(Path("o.parquet"))["agent"].to_pylist())
    assert agents == {"model-m (a/run)", "model-m (b/run)"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\x00b", r"a\x00b"),
        ("a\x1b[2J", r"a\x1b[2J"),
        ("a\nb", r"a\nb"),
        ("a\ud800", r"a\ud800"),
        ("a\u202eb", r"a\u202eb"),
        ("modèle 模型", "modèle 模型"),
    ],
)
def test_names_can_be_shown_everywhere(
    capsys: pytest.CaptureFixture[str], name: str, shown: str
) -> None:
    put(Path("odd/per_instance_details.json"), {name: {name: detail(True, 1, 0.5)}})
    status = main(["import", "auto", "odd", "--out", "o.parquet"])
    said = capsys.readouterr().out
    assert shown in said
    assert printable(name) == shown
    assert set(read_table(Path("o.parquet"))["task"].to_pylist()) == {shown}
    assert status == (name != shown)
    assert ("names with signs that cannot be shown" in said) == (name != shown)


def test_a_name_of_5000_letters_is_cut_in_the_terminal_and_whole_in_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "m" * 5000
    put(Path("long/runs.jsonl"), [{"agent": name, "task": "t", "solved": True, "calls": 1}])
    assert main(["import", "auto", "long", "--out", "o.parquet"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) < 1100
    assert set(read_table(Path("o.parquet"))["agent"].to_pylist()) == {name}


def test_names_that_a_reader_takes_for_one_are_named() -> None:
    names = ("Model", "model", "mo\u0301del", "m\u00f3del", "model ", "other")
    details = {name: {"t": detail(True, 1, 0.5)} for name in names}
    put(Path("x/per_instance_details.json"), details)
    assert named(read(Path("x")), "names_alike") == (
        r"agents 'Model', 'model', 'model '",
        r"agents 'mo\u0301del', 'm\xf3del'",
    )


def test_every_kind_that_a_remark_can_have_is_told() -> None:
    """One that is not in KINDS would be dropped without a word."""
    text = "".join(path.read_text("utf-8") for path in sorted(IMPORTERS.glob("*.py")))
    used = {part.split('"')[1] for part in text.split("Remark(")[1:] if part.lstrip()[:1] == '"'}
    assert len(used) > 20
    assert used <= set(KINDS)


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "ascii:strict", "utf-8:strict", "cp1252"])
def test_what_a_terminal_cannot_write_is_escaped(coding: str) -> None:
    """The tables are written by then: all that is named would be lost."""
    rows = "agent,task,solved,calls\n模型,t…1,true,1\nmodèle,t…1,,2\n"
    plain_csv(Path("odd"), rows)
    words = [sys.executable, "-m", "frozenbench", "import", "auto", "odd", "--out", "o.parquet"]
    done = subprocess.run(
        words,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": coding},
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b""), "something is named"
    assert b"not as the workflow writes it" not in done.stdout
    said = done.stdout.decode(coding.partition(":")[0])
    assert "1 runs without a verdict: ERROR" in said
    assert ("模型" if coding.startswith("utf") else "\\u6a21\\u578b") in said
    assert len(said.splitlines()[-1]) > 20


def test_so_is_what_is_wrong(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "frozenbench", "模型"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run(words, capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"frozenbench: '\\u6a21\\u578b' is unknown")
