"""Where an import writes: what it may replace, and that its tables stand or fall together."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frozenbench.cli import main
from frozenbench.importers.out_table import ROLES, counts_beside, measured_beside, role_of
from frozenbench.table import CELLS, CONTROLS_KEY, IMPORT_KEY, TableWriter, written_together
from log_files import aider_board, plain_csv

ROWS = "agent,task,solved,calls\na,t1,true,1\na,t2,false,2\n"
OUT = Path("x.parquet")
TABLES = {"cells": OUT, "measured": measured_beside(OUT), "counts": counts_beside(OUT)}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain_csv(Path("logs"), ROWS)


def run(out: Path = OUT, logs: str = "logs") -> int:
    return main(["import", "auto", logs, "--out", str(out)])


def rates(out: Path = OUT) -> int:
    entry = {"model": "m", "dirname": "d", "test_cases": 225, "pass_rate_1": 20.4}
    aider_board(Path("board"), [entry])
    return run(out, "board")


def table(path: Path, metadata: dict[bytes, bytes]) -> None:
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata(metadata), path)


def own(role: str, path: Path) -> None:
    """Put the table of an import somewhere."""
    plain_csv(Path("other"), ROWS)
    assert run(Path("made.parquet"), "other") == 0
    if role == "rates":
        assert rates(Path("made.parquet")) == 1
    held = {"measured": "made.measured.parquet", "counts": "made.counts.parquet"}
    shutil.copy(held.get(role, "made.parquet"), path)


def test_each_table_says_which_it_is() -> None:
    assert run() == 0
    assert {role: role_of(path) for role, path in TABLES.items()} == {r: r for r in TABLES}
    assert rates(Path("r.parquet")) == 1
    assert role_of(Path("r.parquet")) == "rates"


@pytest.mark.parametrize("place", ["cells", "measured", "counts"])
@pytest.mark.parametrize("role", ROLES)
def test_a_table_of_an_import_is_replaced_where_such_a_one_stands(
    place: str, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own(role, TABLES[place])
    before = TABLES[place].read_bytes()
    capsys.readouterr()
    if role == place or (role, place) == ("rates", "cells"):
        assert run() == 0
        assert role_of(TABLES[place]) == place
    else:
        assert run() == 2
        told = capsys.readouterr().err
        assert f"--out: {TABLES[place]}: is there, and is the table of {role} of an import" in told
        assert "; cure: another name, or remove it" in told
        assert TABLES[place].read_bytes() == before
        assert {path.name for path in Path().glob("x*")} == {TABLES[place].name}


def no_table(path: Path) -> None:
    path.write_bytes(b"mine")


def no_metadata(path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), path)


def of_an_experiment(path: Path) -> None:
    """Every table of the project carries controls, those of an experiment that cost money too."""
    table(path, {CONTROLS_KEY: b"{}"})


def of_another_word(path: Path) -> None:
    table(path, {CONTROLS_KEY: b"{}", IMPORT_KEY: b"cells"})


def dead_link(path: Path) -> None:
    path.symlink_to("gone.parquet")


@pytest.mark.parametrize("place", ["cells", "measured", "counts"])
@pytest.mark.parametrize(
    "make", [no_table, no_metadata, of_an_experiment, of_another_word, dead_link, os.mkfifo]
)
def test_nothing_else_is_ever_replaced(
    make: Callable[[Path], None], place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = TABLES[place]
    make(path)
    before = path.lstat()
    for begin in (run, rates):
        assert begin() == 2
        assert f"--out: {path}: is there, and no import wrote it" in capsys.readouterr().err
        assert path.lstat() == before
        assert [one.name for one in Path().glob("x*")] == [path.name]


def test_the_measured_table_of_another_import_is_not_replaced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(Path("y.parquet")) == 0
    before = Path("y.measured.parquet").read_bytes()
    assert run(Path("y.measured.parquet")) == 2
    assert "is the table of measured of an import, not of cells or rates" in capsys.readouterr().err
    assert Path("y.measured.parquet").read_bytes() == before


def test_rates_have_nothing_of_another_import_beside_them() -> None:
    assert run() == 0
    assert rates() == 1
    assert {path.name for path in Path().glob("*.parquet")} == {"x.parquet"}
    assert run() == 0
    assert set(Path().glob("*.parquet")) == set(TABLES.values())


def test_a_limit_at_the_last_byte_of_any_table_changes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The last bytes are written when a table is closed: none may be in place before all are."""
    many = "".join(f"a,t{n},true,{n}\nb,t{n},false,{n + 1}\n" for n in range(40))
    assert run() == 0
    before = {path: path.read_bytes() for path in TABLES.values()}
    plain_csv(Path("logs"), "agent,task,solved,calls\n" + many)
    words = ["import", "auto", "logs", "--caps", "1,2,3,4,5", "--out"]
    assert main([*words, "y.parquet"]) == 0
    sizes = sorted(path.stat().st_size for path in Path().glob("y*.parquet"))
    assert len(set(sizes)) == 3
    for most in (*(size - 1 for size in sizes), sizes[0] // 2):
        capsys.readouterr()
        with largest_file(most):
            assert main([*words, "x.parquet"]) == 1
        told = capsys.readouterr().err
        assert "(File too large); nothing was changed; cure: " in told
        assert told.count("\n") == 1
        assert {path: path.read_bytes() for path in Path().glob("x*")} == before
        assert not list(Path().glob(".x*"))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process become larger, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_is_in_place_when_a_replacement_fails_is_known() -> None:
    """No disk is full then, but a folder may forbid it."""
    one, other = (TableWriter(Path(name), CELLS, {}) for name in ("one.parquet", "other.parquet"))
    with pytest.raises(OSError), written_together([one, other]):  # noqa: PT011
        Path("other.parquet").mkdir()
    assert (one.placed, other.placed) == (True, False)
    assert sorted(path.name for path in Path().iterdir()) == [
        "logs",
        "one.parquet",
        "other.parquet",
    ]
