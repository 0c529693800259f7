"""Every published file that holds a score carries its controls, or names them by digest."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from frozenbench.draw_figure import draw_figure
from frozenbench.figures import figure_names
from frozenbench.publish import publish
from frozenbench.write_page import write_page
from frozenbench.write_tables import write_tables
from small_experiment_files import Files, files_of

#: What holds no score: the controls themselves, how they are shown, and marks of the workflow.
NO_SCORE = {"controls.json", "view.json", "refusals.json", "cite.bib", ".published"}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Files, Path]:
    root = tmp_path_factory.mktemp("published")
    files = files_of(root, figures=figure_names())
    sheets = files.experiment / "controls.json", files.view / "view.json"
    tables = files.experiment / "measured.parquet", files.experiment / "cells.parquet"
    for name in figure_names():
        draw_figure(name, files.statistics, *sheets, *tables, files.view / "figures" / name)
    write_page(files.statistics, *sheets, *tables, files.page, files.view / "figures")
    write_tables(files.statistics, *sheets, *tables, files.view / "write_up")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        out = Path("results/study")
        publish(files.experiment, files.view, out, out / ".published")
    return files, root / out


def of_csv(path: Path, experiment: str, pack: str) -> bool:
    """Each row names them: a row that is cut out of its table still does."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    named = {(row["experiment_digest"], row["pack_sha256"]) for row in rows}
    return named <= {(experiment, pack)}


def of_parquet(path: Path, experiment: str, pack: str) -> bool:
    held = json.loads(pq.read_schema(path).metadata[b"frozenbench.controls"])
    found: tuple[str, str] = held["experiment"]["digest"], held["pack"]["digest"]
    return found == (experiment, pack)


def of_text(path: Path, experiment: str, pack: str) -> bool:
    """Digests in full, or their first 12 digits."""
    text = re.sub(rb"\\\n", b"", path.read_bytes())  # a PDF breaks long texts so
    return all(name[:12].encode() in text for name in (experiment, pack))


CHECKS: dict[str, Callable[[Path, str, str], bool]] = {
    ".csv": of_csv,
    ".parquet": of_parquet,
    **dict.fromkeys((".json", ".tex", ".md", ".html", ".svg", ".pdf", ".png"), of_text),
}


def test_no_score_leaves_without_its_controls(published: tuple[Files, Path]) -> None:
    files, out = published
    digests = files.plan.digest, files.plan.pack.digest
    held = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in NO_SCORE]
    assert {path.suffix for path in held} == set(CHECKS), "every kind of file is checked"
    assert len(held) > 30
    bare = [
        path.relative_to(out).as_posix() for path in held if not CHECKS[path.suffix](path, *digests)
    ]
    assert bare == []


def test_a_picture_s_metadata_says_what_it_is_of(published: tuple[Files, Path]) -> None:
    files, out = published
    for kind in ("svg", "png", "pdf"):
        data = (out / "figures" / f"outcomes.{kind}").read_bytes()
        told = re.sub(rb"\\\r?\n", b"", data)
        assert f"experiment sha256 {files.plan.digest}".encode() in told
        assert f"pack sha256 {files.plan.pack.digest}".encode() in told
