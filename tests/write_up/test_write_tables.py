"""Rule write_tables, from files to files: what an article includes is what the tables hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import Refused, read_json, write_json
from frozenbench.plan import load_plan
from frozenbench.write_tables import write_tables
from small_experiment_files import Files, files_of
from small_study import Study
from small_table import Rows

ROOT = Path(__file__).parents[2]
ARTICLE = ROOT / "docs" / "write_up" / "article.tex"
RESPONSES = {
    "distinct": 3,
    "first_date": "2026-01-02",
    "last_date": "2026-01-03",
    "recorded": True,
}


def write_up(files: Files, out: Path) -> Path:
    inputs = [files.experiment / "controls.json", files.view / "view.json"]
    tables = [files.experiment / "measured.parquet", files.experiment / "cells.parquet"]
    write_tables(files.statistics, *inputs, *tables, out)
    return out


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("small"), responses=RESPONSES)


@pytest.fixture(scope="module")
def out(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_up(files, tmp_path_factory.mktemp("out") / "write_up")


@pytest.fixture(scope="module")
def numbers(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "numbers.json").read_bytes())
    return found


def contents(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def rows(files: Files, name: str) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = pq.read_table(files.statistics / f"{name}.parquet").to_pylist()
    return held


def macros(text: str) -> dict[str, str]:
    found = re.findall(r"^\\newcommand\*\{\\(\w+)\}\{(.*)\}% ", text, re.MULTILINE)
    return dict(found)


def test_the_folder_holds_what_is_promised(out: Path) -> None:
    tables = {
        f"tables/{name}.{end}"
        for name in ("summary", "contrasts", "flips", "areas")
        for end in ("md", "tex")
    }
    assert set(contents(out)) == {
        "numbers.tex",
        "numbers.json",
        "controls.tex",
        "cite.bib",
        *tables,
    }


def test_every_file_names_the_experiment_and_the_pack(files: Files, out: Path) -> None:
    for name, data in contents(out).items():
        for digest in (files.plan.digest, files.plan.pack.digest):
            assert digest[:12] in data.decode(), name


def test_every_macro_is_a_number_of_the_tables(files: Files, out: Path, numbers: Any) -> None:
    held, found = macros((out / "numbers.tex").read_text("utf-8")), numbers["numbers"]
    assert {f"\\{name}" for name in held} == {one["macro"] for one in found.values()}
    assert len(held) == len(found)
    for row in rows(files, "summary"):
        where = f"{row['agent']}/{row['budget']}"
        for column in ("weighted_pass_rate", "weighted_low", "pass_rate", "rank", "n"):
            assert found[f"{column}/{where}"]["value"] == row[column]
        rate = found[f"weighted_pass_rate/{where}"]
        assert rate["text"] == f"{100 * row['weighted_pass_rate']:.1f}"
    for row in rows(files, "contrasts"):
        where = f"{row['agent_a']}/{row['agent_b']}/{row['budget']}"
        for column in ("delta", "p", "p_holm", "discordant"):
            assert found[f"{column}/{where}"]["value"] == row[column]
    for row in rows(files, "areas"):
        assert found[f"area/{row['agent']}"]["value"] == row["area"]
    assert held["fbStudyWeightedPassRateOneCallsOne"] == "0.0"
    assert held["fbStudyTasks"] == "2"
    assert held["fbStudyFlipOneTwo"] == "1 unresolved crossing"
    assert held["fbStudyWeightedPassRateWithoutExhaustedOneCallsOne"] == "n/a"
    assert held["fbStudyPython"] == r"\ensuremath{>}=3.11"


def test_a_table_holds_each_row_as_markdown_and_as_latex(files: Files, out: Path) -> None:
    for name in ("summary", "contrasts", "flips", "areas"):
        count = len(rows(files, name))
        markdown = (out / "tables" / f"{name}.md").read_text("utf-8").splitlines()
        table = [line for line in markdown if line.startswith("|")]
        assert len(table) == count + 2
        assert len({line.count("|") for line in table}) == 1
        latex = (out / "tables" / f"{name}.tex").read_text("utf-8")
        body = latex.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
        assert len(body) == count
        assert {line.count(" & ") for line in body} == {table[0].count("|") - 2}
        assert latex.count("{") == latex.count("}")


def test_budgets_come_in_their_order_and_both_bounds_stand_side_by_side(out: Path) -> None:
    lines = (out / "tables" / "summary.md").read_text("utf-8").splitlines()
    assert [line.split(" | ")[0] for line in lines[2:8]] == [
        *["| calls-1"] * 2,
        *["| calls-4"] * 2,
        *["| free"] * 2,
    ]
    assert " | pass | EXHAUSTED left out | fail test | " in lines[0]
    assert "no cap hit" not in lines[0], "no PASS hit one: it would say what `pass` says"


def test_the_controls_are_all_there(files: Files, out: Path) -> None:
    text = (out / "controls.tex").read_text("utf-8").replace("\\allowbreak ", "")
    controls = files.rows.controls
    assert controls["experiment"]["digest"] in text
    assert controls["pack"]["digest"] in text
    assert files.plan.view["pack"]["file_sha256"] in text
    for name in ("one", "two"):
        assert controls["agents"][name]["sheet_digest"] in text
    for name in ("calls-1", "calls-4", "free"):
        assert f"\\fbcontrol{{budget {name}}}" in text
    assert "tool calls 1, edit rounds no cap, tokens 500, wall clock 60 s" in text


def test_a_missing_control_is_refused_by_name(files: Files, tmp_path: Path) -> None:
    controls = read_json(files.experiment / "controls.json")
    del controls["grading"]
    write_json(tmp_path / "controls.json", controls)
    view, tables = files.view / "view.json", files.experiment
    with pytest.raises(Refused, match=r"controls\.json: grading"):
        write_tables(
            files.statistics,
            tmp_path / "controls.json",
            view,
            tables / "measured.parquet",
            tables / "cells.parquet",
            tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()


def test_equal_input_gives_equal_bytes_and_nothing_stays_beside(files: Files, out: Path) -> None:
    before = contents(out)
    (out / "tables" / "stale.tex").write_text("of another time")
    write_up(files, out)
    assert contents(out) == before
    assert [path.name for path in out.parent.iterdir()] == ["write_up"]


def test_a_held_out_slice_has_numbers_of_its_own(tmp_path: Path) -> None:
    def hold_out(study: Study, rows: Rows) -> None:
        study.lines[1]["split"] = "held_out"

    study = files_of(tmp_path, hold_out)
    found = json.loads((write_up(study, tmp_path / "out") / "numbers.json").read_bytes())["numbers"]
    if not any(row["slice"] == "held_out" for row in rows(study, "summary")):
        pytest.fail("the study has no held-out slice")
    rate = found["held_out/weighted_pass_rate/one/calls-1"]
    assert rate["macro"] == "\\fbStudyHeldOutWeightedPassRateOneCallsOne"
    assert found["tasks"]["value"] == found["held_out/tasks"]["value"] == 1
    assert (tmp_path / "out" / "tables" / "summary.md").read_text().startswith("| slice |")


@pytest.mark.parametrize(
    ("change", "config"),
    [({"split": "held_out"}, {}), ({"network": "open"}, {"allow_open_network": ["beta"]})],
    ids=["held_out", "open_network"],
)
def test_weights_are_equal_where_those_behind_each_rate_are(
    change: dict[str, str], config: dict[str, Any], tmp_path: Path, out: Path
) -> None:
    """alpha weighs twice what beta does: no rate is of both."""

    def apart(study: Study, rows: Rows) -> None:
        study.lines[1].update(change)

    write_up(files_of(tmp_path, apart, **config), tmp_path / "out")
    for end, column in (("md", " | pass | "), ("tex", " & pass & ")):
        name = f"tables/summary.{end}"
        assert column in (out / name).read_text("utf-8"), "both are in one rate"
        told = (tmp_path / "out" / name).read_text("utf-8")
        assert column not in told
        assert "rank, unit weights" not in told


def test_a_refused_score_leaves_a_file_that_stops_tex_and_no_number(tmp_path: Path) -> None:
    def lying(study: Study, rows: Rows) -> None:
        rows.change({"agent": "noop", "task": "beta"}, outcome="PASS", reason="green_at_cap")

    out = tmp_path / "out"
    write_up(files_of(tmp_path / "true"), out)
    write_up(files_of(tmp_path / "refused", lying), out)
    assert list(contents(out)) == ["numbers.tex"]
    text = (out / "numbers.tex").read_text("utf-8")
    assert re.search(r"\\errmessage\{frozenbench: no score is printed: .*control cells", text)
    assert "newcommand" not in text


# The worked example


def write_default(root: Path, solved: int, **config: Any) -> Path:
    """Write the default experiment into a project folder: of three cells so many pass, by place."""
    shutil.rmtree(root / "results", ignore_errors=True)
    shutil.rmtree(root / "files", ignore_errors=True)
    plan = load_plan("config/config.yaml", ROOT)
    rows = Rows(plan.controls)
    for place, cell in enumerate(rows.cells):
        if not cell["control"] and place % 3 >= solved:
            cell.update(outcome="EXHAUSTED", reason="tool_calls", cap_hit="tool_calls")
    files = Files(root / "files", plan, rows, RESPONSES)
    if config:
        write_json(files.view / "view.json", {**plan.view, **config})
    return write_up(files, root / "results" / "default")


@pytest.fixture(scope="module")
def article_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder in which the default experiment has run, each cell with an outcome."""
    root = tmp_path_factory.mktemp("article")
    write_default(root, 1)
    shutil.copytree(ARTICLE.parent, root / "docs" / "write_up")
    return root


def test_the_article_cites_nothing_that_the_default_experiment_does_not_have(
    article_results: Path,
) -> None:
    text, results = ARTICLE.read_text("utf-8"), article_results / "results" / "default"
    used = set(re.findall(r"\\(fb[A-Za-z]+)", text))
    assert len(used) > 20
    assert used <= set(macros((results / "numbers.tex").read_text("utf-8")))
    for name in re.findall(r"\\input\{\\results/([a-z_/]+)\}", text):
        assert (results / f"{name}.tex").is_file()
    entries = re.findall(r"^@\w+\{([^,]+),$", (results / "cite.bib").read_text(), re.MULTILINE)
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert cited <= set(entries)
    assert not re.search(r"\d\.\d", text.split("\\begin{document}")[1]), "a number copied by hand"


def fill(root: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "fill.py", "article.md", "../../results/default"]
    folder = root / "docs" / "write_up"
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def test_the_markdown_article_is_filled_and_changes_by_itself(article_results: Path) -> None:
    text = (ARTICLE.parent / "article.md").read_text("utf-8")
    assert not re.search(r"\d\.\d", text), "a number copied by hand"
    done = fill(article_results)
    assert done.returncode == 0, done.stderr
    assert "{{" not in done.stdout
    held = json.loads((article_results / "results/default/numbers.json").read_bytes())["numbers"]
    for key in ("weighted_pass_rate/oneshot/calls-1", "finding", "grading"):
        assert held[key]["text"] in done.stdout
    assert "| budget | agent | n |" in done.stdout
    before = done.stdout
    write_default(article_results, 2)
    after = fill(article_results).stdout
    write_default(article_results, 1)
    assert after != before
    assert fill(article_results).stdout == before


def test_an_unknown_number_in_the_markdown_article_is_named(article_results: Path) -> None:
    held = article_results / "docs" / "write_up" / "article.md"
    text = held.read_text("utf-8")
    held.write_text(text + "\n{{weighted_pass_rate/oneshot/calls-3}}\n", "utf-8")
    done = fill(article_results)
    held.write_text(text, "utf-8")
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.match(r"line \d+: weighted_pass_rate/oneshot/calls-3: is no number", done.stderr)
    assert "the nearest is weighted_pass_rate/oneshot/calls-" in done.stderr


def test_an_oracle_stop_and_its_brackets_are_named_in_every_table(article_results: Path) -> None:
    """The default experiment grades every step."""
    results = article_results / "results" / "default"
    for name in ("summary", "contrasts", "flips", "areas"):
        for end in ("md", "tex"):
            told = (results / "tables" / f"{name}.{end}").read_text("utf-8")
            assert "an oracle stop, best of k" in told, name
    assert "an oracle stop, best of k" in (results / "controls.tex").read_text("utf-8")
    numbers = json.loads((results / "numbers.json").read_bytes())["numbers"]
    assert numbers["grading"]["text"] == "every_step (an oracle stop, best of k)"
    assert numbers["grading"]["value"] == "every_step"
    summary = (results / "tables" / "summary.md").read_text("utf-8")
    assert re.search(r"\| 100\.0 \(\d+\) \|", summary), "the cells that remain"
    assert "| pass |" not in summary, "all weights are equal"


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("bibtex") is None,
    reason="no pdflatex on this machine; cure: apt-get install texlive-latex-base",
)
def test_the_article_compiles_and_changes_by_itself(article_results: Path) -> None:
    first = compiled(article_results)
    write_default(article_results, 2, title="Another title, and more that pass")
    second = compiled(article_results)
    write_default(article_results, 1)
    assert len(first) > 10_000
    assert first != second
    assert compiled(article_results) == first, "the same numbers, the same bytes"


def compiled(root: Path) -> bytes:
    """Compile the article as its first lines say, without a time of day in it."""
    folder = root / "docs" / "write_up"
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article"]
    fixed = {**os.environ, "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    for argv in (latex, ["bibtex", "article"], latex, latex):
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, check=False, env=fixed
        )
        assert done.returncode == 0, done.stdout[-2000:]
    log = (folder / "article.log").read_text("utf-8", "replace")
    assert "undefined" not in log, "every citation and reference is there"
    return (folder / "article.pdf").read_bytes()
