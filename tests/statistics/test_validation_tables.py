"""The committed tables of docs/statistics/ hold what docs/statistics.md promises."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import validate_statistics

FOLDER = Path(__file__).parents[2] / "docs" / "statistics"


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


def check_differences(folder: Path) -> None:
    held = [
        r
        for r in rows("differences", folder)
        if int(r["tasks"]) >= 60 and r["expected_discordant"] == "10"
    ]
    assert len(held) == 70
    for r in held:
        if r["coverage_exact"]:
            assert float(r["coverage_exact"]) >= 0.92, r
        assert float(r["coverage"]) + 2 * float(r["standard_error"]) >= 0.92, r


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


CHECKS = [check_rates, check_differences, check_errors, check_power]


@pytest.mark.parametrize("check", CHECKS)
def test_the_committed_tables_reach_the_targets(check: object) -> None:
    check(FOLDER)  # type: ignore[operator]


def test_the_committed_tables_are_of_2000_worlds_and_more() -> None:
    for name in ("rates", "differences", "errors", "power"):
        assert min(int(r["worlds"]) for r in rows(name)) >= 2000


@pytest.mark.soak
def test_all_of_it_measured_again_reaches_the_targets(tmp_path: Path) -> None:
    """Half an hour: what `make statistics` writes, into another folder."""
    assert validate_statistics.main(["--out", str(tmp_path)]) == 0
    for check in CHECKS:
        check(tmp_path)
    assert (tmp_path / "validation.png").stat().st_size > 10_000
