"""The committed tables of docs/statistics/ hold what docs/statistics.md promises."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import documented_figures
import pytest
import validate_statistics
from difference_coverage import exact_tango
from frozenbench.stats.intervals import effective_n
from rate_coverage import exact_coverage, percentile_ends
from scipy.stats import binom, norm
from simulated_worlds import CORRELATED, weights_of

FOLDER = Path(__file__).parents[2] / "docs" / "statistics"
PAGE = FOLDER.parent / "statistics.md"


def rows(name: str, folder: Path = FOLDER) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def check_rates(folder: Path) -> None:
    held = [
        r
        for r in rows("rates", folder)
        if r["interval"] == "wilson"
        and float(r["effective_n"]) >= 24
        and (r["weights"], r["repeats"]) != ("one heavy", "1")
    ]
    assert len(held) >= 6
    for r in held:
        if r["repeats"] == "1":
            assert 0.93 <= float(r["mean_exact"]) <= 0.97, r
            assert float(r["min_exact"]) >= 0.90, r
        else:  # repeats do not multiply n, so that intervals are wider than they need be
            assert float(r["mean_simulated"]) >= 0.93, r
            assert float(r["min_simulated"]) >= 0.90, r


def check_weights(folder: Path) -> None:
    """The notice is given where, and only where, the interval holds less than 90 % of the time."""
    found = rows("weights", folder)
    assert {r["notice"] for r in found} == {"true", "false"}
    for r in found:
        assert 0.93 <= float(r["wilson_mean"]) <= 0.97, r
        assert (float(r["wilson_least"]) < 0.90) == (r["notice"] == "true"), r


def check_differences(folder: Path) -> None:
    held = [
        r
        for r in rows("differences", folder)
        if int(r["tasks"]) >= 60 and float(r["expected_discordant"]) >= 10
    ]
    assert len(held) >= 300
    assert {r["world"].split()[0] for r in held} == {"one", "rates", "uneven"}
    for r in held:
        if r["coverage_exact"]:
            assert float(r["coverage_exact"]) >= 0.92, r
        assert float(r["coverage"]) + 2 * float(r["standard_error"]) >= 0.92, r
    adjusted = [r for r in held if r["interval"] == "adjusted tango"]
    for column in ("coverage", "as_test"):
        kept, other = (
            sum(float(r[name]) for r in adjusted) for name in (column, f"{column}_bootstrap")
        )
        assert kept > other, column


def check_errors(folder: Path) -> None:
    held = [r for r in rows("errors", folder) if r["under_target"] == "true"]
    assert {r["world"] for r in held} == {"null", "hard null", "opposed"}
    for r in held:
        assert float(r["false_contrast"]) <= float(r["limit"]), r
        assert float(r["false_confirmed"]) <= float(r["limit"]), r


def check_power(folder: Path) -> None:
    [named] = [
        r
        for r in rows("power", folder)
        if (r["tasks"], r["dependence"], r["weights"], r["repeats"], r["agents"])
        == ("80", "independent", "equal", "1", "2")
    ]
    assert float(named["confirmed"]) >= 0.80


CHECKS = [check_rates, check_weights, check_differences, check_errors, check_power]


@pytest.mark.parametrize("check", CHECKS)
def test_the_committed_tables_reach_the_targets(check: object) -> None:
    check(FOLDER)  # type: ignore[operator]


def test_the_committed_tables_are_of_2000_worlds_and_more() -> None:
    for name in ("rates", "differences", "errors", "power"):
        assert min(int(r["worlds"]) for r in rows(name)) >= 2000


@pytest.mark.parametrize("table", documented_figures.TABLES)
def test_the_page_shows_the_tables_as_they_are(table: Callable[[Path], str]) -> None:
    assert table(FOLDER) in PAGE.read_text(encoding="utf-8")


def test_the_sentences_of_the_page_say_what_the_tables_say() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for phrase in documented_figures.phrases(FOLDER):
        assert phrase in text, phrase


def test_the_sentences_on_what_is_computed_say_what_is_computed() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    percent = documented_figures.percent
    shown, always = exact_tango(60, 5, 0.8)
    for phrase in (
        f"{percent(binom.sf(9, 60, 5 / 60))} of contrasts reach ten by luck, and those intervals "
        f"hold {percent(shown, 0)}; shown always, they would hold {percent(always, 0)}",
        f"{percent(exact_coverage(percentile_ends(24), weights_of('equal', 24), 0.02), 0)} at .02",
    ):
        assert phrase in text, phrase
    agreement = 2 / math.pi * math.asin(CORRELATED.task + CORRELATED.agent)
    share = agreement + (1 - agreement) / 3
    held = 2 * norm.cdf(norm.ppf(0.975) / math.sqrt(share)) - 1
    assert f"ρ = {agreement:.2f}" in text
    assert f"{share**-0.5:.2f} as wide" in text.replace(" times as wide", " as wide")
    assert f"hold {percent(held)}. With ρ = 1" in text
    told_apart = math.sqrt(2 * math.log(2 / 0.05) / float(effective_n(weights_of("starter", 24))))
    assert f"|Δ| ≥ {told_apart:.2f}" in text


def test_the_page_names_every_cell_outside_the_targets() -> None:
    """Each figure stands in the one table of what is outside; no other cell is."""
    told = PAGE.read_text(encoding="utf-8").partition("**Outside the targets**")[2]
    listed = told.partition("**Power**")[0]
    outside = documented_figures.outside(FOLDER)
    assert len(outside) == 6, outside
    for what, figure in outside:
        assert figure.split()[-2] + " %" in listed, (what, figure)


@pytest.mark.soak
def test_all_of_it_measured_again_reaches_the_targets(tmp_path: Path) -> None:
    """Half an hour: what `make statistics` writes, into another folder."""
    assert validate_statistics.main(["--out", str(tmp_path)]) == 0
    for check in CHECKS:
        check(tmp_path)
    assert (tmp_path / "validation.png").stat().st_size > 10_000
