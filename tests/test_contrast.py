"""Rule contrast, from files to files: tables, refusals, determinism, readable errors."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import BadInput, FrozenbenchError, Refused, canonical_json
from frozenbench.contrast import contrast

DIGEST = "0123456789abcdef" * 4
PACK = "fedcba9876543210" * 4
BUDGETS = {"calls-1": 1, "calls-4": 4, "free": None}
AGENTS = ("early", "late", "never")
TABLES = ("summary", "contrasts", "flips", "areas")

CELLS = pa.schema(
    [
        *((name, pa.string()) for name in ("agent", "task", "budget")),
        ("repeat", pa.int32()),
        ("control", pa.bool_()),
        *((name, pa.string()) for name in ("outcome", "reason", "cap_hit")),
        *((name, pa.int64()) for name in ("tool_calls", "edit_rounds", "tokens")),
        ("weight", pa.int32()),
        *((name, pa.string()) for name in ("split", "network")),
    ]
)
MEASURED = pa.schema(
    [
        *((name, pa.string()) for name in ("agent", "task", "budget")),
        ("repeat", pa.int32()),
        ("seconds", pa.float64()),
        ("spend", pa.float64()),
        ("currency", pa.string()),
    ]
)


def outcome(agent: str, budget: str, task: int) -> str:
    """`early` solves the first half of 60 tasks, `late` more with calls, `never` none."""
    if agent == "reference":
        return "PASS"
    solved = {"early": task < 30, "late": task >= {"calls-1": 60, "calls-4": 50, "free": 0}[budget]}
    return "PASS" if solved.get(agent, False) else "EXHAUSTED"


class Study:
    """The five input files of one view, to be changed before `run`."""

    def __init__(self, folder: Path, tasks: int = 60) -> None:
        self.folder = folder
        self.split = {f"t{task:02}": "public" for task in range(tasks)}
        self.network = dict.fromkeys(self.split, "blocked")
        self.weight = dict.fromkeys(self.split, 1)
        self.refusals: list[dict[str, str]] = []
        self.controls: dict[str, Any] = {
            "experiment": {"name": "study", "digest": DIGEST},
            "pack": {"name": "pack", "digest": PACK, "file_sha256": "a" * 64},
            "tasks": {task: {} for task in self.split},
            "agents": {
                name: {"control": name in ("noop", "reference")}
                for name in (*AGENTS, "noop", "reference")
            },
            "budgets": {
                name: {"max_seconds": 60} | ({"max_tool_calls": cap} if cap else {})
                for name, cap in BUDGETS.items()
            },
            "repeats": 1,
            "task_subset": None,
        }
        self.view: dict[str, Any] = {
            "digest": "b" * 64,
            "budget_axis": "max_tool_calls",
            "statistics": {"resamples": 500, "alpha": 0.05},
            "agents": list(AGENTS),
            "budgets": list(BUDGETS),
        }
        self.stored = DIGEST
        self.dropped: tuple[str, str, str] | None = None

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "agent": agent,
                "task": task,
                "budget": budget,
                "repeat": 0,
                "control": agent in ("noop", "reference"),
                "outcome": outcome(agent, budget, place),
                "reason": "tool_calls"
                if outcome(agent, budget, place) == "EXHAUSTED"
                else "finished",
                "cap_hit": "tool_calls" if outcome(agent, budget, place) == "EXHAUSTED" else None,
                "tool_calls": place % 3,
                "edit_rounds": 1,
                "tokens": None if place == 7 else 100 + place,
                "weight": self.weight[task],
                "split": self.split[task],
                "network": self.network[task],
                "seconds": 0.25 * place,
                "spend": None,
                "currency": None,
            }
            for agent in sorted((*AGENTS, "noop", "reference"))
            for budget in sorted(BUDGETS)
            for place, task in enumerate(self.split)
            if (agent, budget, task) != self.dropped
        ]

    def write(self) -> list[Path]:
        metadata = {
            b"frozenbench.controls": canonical_json({"experiment": {"digest": self.stored}})
        }
        paths = [self.folder / name for name in ("cells.parquet", "measured.parquet")]
        for path, schema in zip(paths, (CELLS, MEASURED), strict=True):
            held = [{name: row[name] for name in schema.names} for row in self.rows()]
            pq.write_table(pa.Table.from_pylist(held, schema.with_metadata(metadata)), path)
        for name, value in (
            ("controls", self.controls),
            ("view", self.view),
            ("refusals", {"refusals": self.refusals}),
        ):
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_bytes(canonical_json(value))
        return paths

    def run(self) -> Path:
        out = self.folder / "views" / "statistics"
        contrast(*self.write(), out)
        return out


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def read(out: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(out / f"{name}.parquet").to_pylist()
    return rows


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def test_the_folder_holds_tables_and_facts_and_a_planted_flip_is_confirmed(study: Study) -> None:
    out = study.run()
    assert sorted(contents(out)) == sorted(
        [f"{name}.{end}" for name in TABLES for end in ("csv", "parquet")] + ["statistics.json"]
    )
    [flip] = read(out, "flips")
    assert (flip["agent_a"], flip["agent_b"], flip["kind"]) == ("early", "late", "confirmed")
    assert (flip["budget_from"], flip["budget_to"], flip["lead"]) == ("calls-4", "free", True)
    assert (flip["confirmed_from"], flip["confirmed_to"]) == ("calls-4", "free")
    facts = json.loads((out / "statistics.json").read_bytes())
    assert facts["slice"] == "public"
    assert (facts["pairs"], facts["contrasts"], facts["confirmed_pairs"]) == (3, 9, 1)
    assert (facts["suggestive_pairs"], facts["unresolved_pairs"]) == (0, 0)
    assert (facts["min_discordant"], facts["cannot_confirm"]) == (9, False)
    assert (facts["alpha"], facts["resamples"], facts["seed"]) == (0.05, 500, DIGEST)
    assert (facts["pack_sha256"], facts["experiment_digest"]) == (PACK, DIGEST)


def test_rows_stand_in_config_order_and_hold_ranks(study: Study) -> None:
    out = study.run()
    summary = read(out, "summary")
    assert [(r["agent"], r["budget"]) for r in summary] == [(a, b) for a in AGENTS for b in BUDGETS]
    assert [r["axis_value"] for r in summary[:3]] == [1.0, 4.0, None]
    assert [r["rank"] for r in summary] == [1, 1, 2, 2, 2, 1, 2, 3, 3]
    assert all(r["rank_low"] <= r["rank"] <= r["rank_high"] for r in summary)
    assert all((r["n"], r["tokens_n"], r["tokens_missing"]) == (60, 59, 1) for r in summary)
    contrasts = read(out, "contrasts")
    pairs = [("early", "late"), ("early", "never"), ("late", "never")]
    assert [(r["agent_a"], r["agent_b"], r["budget"]) for r in contrasts] == [
        (*pair, budget) for pair in pairs for budget in BUDGETS
    ]
    first = contrasts[0]
    assert (first["statistic"], first["discordant"], first["interval"]) == (30, 30, "tango")
    assert first["p"] == 2.0**-29
    assert contrasts[6]["p"] == 1.0
    assert contrasts[6]["low"] is None


def test_both_bounds_stand_beside_each_other(study: Study) -> None:
    """EXHAUSTED as wrong is the headline; EXHAUSTED left out is another rate, under its own name."""
    summary = {(r["agent"], r["budget"]): r for r in read(study.run(), "summary")}
    early, never = summary["early", "calls-1"], summary["never", "free"]
    assert (early["pass_rate"], early["exhaust_rate"]) == (0.5, 0.5)
    assert (early["n_without_exhausted"], early["pass_rate_without_exhausted"]) == (30, 1.0)
    assert early["weighted_pass_rate_without_exhausted"] == 1.0
    assert (never["n_without_exhausted"], never["pass_rate_without_exhausted"]) == (0, None)


def test_areas_hold_the_capped_budgets_of_a_ladder(study: Study) -> None:
    areas = {r["agent"]: r for r in read(study.run(), "areas")}
    assert [areas[a]["area"] for a in AGENTS] == [0.5, round((0 + 10 / 60) / 2, 12), 0.0]
    late = areas["late"]
    assert (late["budget_from"], late["budget_to"], late["budgets"]) == ("calls-1", "calls-4", 2)
    assert (late["axis_from"], late["axis_to"]) == (1.0, 4.0)
    assert late["area_low"] < late["area"] < late["area_high"]


def test_each_contrast_has_its_band_and_its_n(study: Study) -> None:
    out = study.run()
    facts = json.loads((out / "statistics.json").read_bytes())
    contrasts = read(out, "contrasts")
    banded = [r for r in contrasts if r["band_low"] is not None]
    assert banded
    assert facts["band_critical"] > 1.96
    for r in banded:
        assert -1 <= r["band_low"] <= r["delta"] <= r["band_high"] <= 1
    for r in contrasts:
        assert (r["interval"] is None) <= (r["band_low"] is None)
        assert (r["n_for_80_power"] is None) is (r["statistic"] == 0)
        if r["p"] > 0.5 and r["statistic"]:
            assert r["n_for_80_power"] > 60


def test_every_file_names_its_controls_and_csv_equals_parquet(study: Study) -> None:
    out = study.run()
    for name in TABLES:
        metadata = pq.read_schema(out / f"{name}.parquet").metadata
        assert json.loads(metadata[b"frozenbench.controls"]) == study.controls
        assert b"pandas" not in metadata
        with (out / f"{name}.csv").open(newline="") as handle:
            header, *lines = list(csv.reader(handle))
        assert header[-2:] == ["pack_sha256", "experiment_digest"]
        assert all(line[-2:] == [PACK, DIGEST] for line in lines)
        for line, row in zip(lines, read(out, name), strict=True):
            for text, value in zip(line, row.values(), strict=False):
                if value is None:
                    assert text == ""
                elif isinstance(value, bool):
                    assert text == str(value).lower()
                else:
                    assert type(value)(text) == value


def test_slices_have_their_own_family_and_open_tasks_take_no_part(study: Study) -> None:
    for task in list(study.split)[:20]:
        study.split[task] = "held_out"
    study.network["t59"] = "open"
    out = study.run()
    assert {(r["slice"], r["n"]) for r in read(out, "summary")} == {
        ("public", 39),
        ("held_out", 20),
    }
    contrasts = read(out, "contrasts")
    assert [r["slice"] for r in contrasts] == ["public"] * 9 + ["held_out"] * 9
    for name in ("public", "held_out"):
        least = min((r for r in contrasts if r["slice"] == name), key=lambda r: r["p"])
        assert least["p_holm"] == 9 * least["p"]
    facts = json.loads((out / "statistics.json").read_bytes())
    assert {name: held["n_tasks"] for name, held in facts["slices"].items()} == {
        "public": 39,
        "held_out": 20,
    }
    assert facts["n_tasks"] == 39


def test_a_refusal_leaves_nothing_but_itself(study: Study) -> None:
    out = study.run()
    study.refusals = [{"control": "weights", "message": "t03 has none", "cure": "add one"}]
    study.run()
    assert list(contents(out)) == ["refused.json"]
    assert json.loads((out / "refused.json").read_bytes()) == {"refusals": study.refusals}
    study.refusals = []
    study.run()
    assert "refused.json" not in contents(out)


def test_the_folder_is_replaced_whole_and_leaves_no_siblings(study: Study) -> None:
    out = study.run()
    (out / "refused.json").write_text("from another time")
    (out.parent / ".statistics.partial").mkdir()
    (out.parent / ".statistics.partial" / "half").write_text("of a killed writer")
    study.run()
    assert [path.name for path in out.parent.iterdir()] == ["statistics"]
    assert "refused.json" not in contents(out)


@pytest.mark.slow
def test_equal_input_gives_equal_bytes_with_any_number_of_threads(study: Study) -> None:
    study.weight |= {task: 1 + place % 5 for place, task in enumerate(study.split)}
    paths = [str(path) for path in study.write()]
    found = []
    for threads in ("1", "2", "4"):
        out = study.folder / f"threads-{threads}"
        code = (
            "import sys, pathlib; from frozenbench.contrast import contrast; "
            "contrast(*map(pathlib.Path, sys.argv[1:]))"
        )
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS")
        subprocess.run(
            [sys.executable, "-c", code, *paths, str(out)],
            check=True,
            env=os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": threads},
        )
        found.append(contents(out))
    assert found[0] == found[1] == found[2]


def test_a_missing_cell_or_task_is_refused_by_name(study: Study) -> None:
    study.dropped = ("late", "free", "t11")
    with pytest.raises(Refused, match="the cell of late on t11 under free, repeat 0, is missing"):
        study.run()
    study.dropped = None
    study.controls["tasks"]["t99"] = {}
    with pytest.raises(Refused, match="no cell of t99"):
        study.run()
    assert not (study.folder / "views").exists()


def test_a_subset_of_the_tasks_is_what_the_controls_say(study: Study) -> None:
    study.controls["task_subset"] = list(study.split)
    study.controls["tasks"]["t99"] = {}
    assert read(study.run(), "summary")[0]["n_tasks"] == 60


def test_tables_of_another_experiment_are_never_read(study: Study) -> None:
    study.stored = "c" * 64
    with pytest.raises(BadInput, match=r"cells\.parquet: frozenbench\.controls"):
        study.run()


def test_a_view_that_shows_fewer_agents_or_budgets_does_not_shrink_the_family(study: Study) -> None:
    study.view["agents"] = ["early", "late"]
    with pytest.raises(BadInput, match=r"view\.json: agents"):
        study.run()
    study.view |= {"agents": list(AGENTS), "budgets": ["calls-1"]}
    with pytest.raises(BadInput, match=r"view\.json: budgets"):
        study.run()


def test_no_task_that_takes_part_is_refused(study: Study) -> None:
    study.network = dict.fromkeys(study.split, "open")
    with pytest.raises(Refused, match="no task takes part"):
        study.run()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cells.parquet", b"PAR0"),
        ("measured.parquet", None),
        ("controls.json", b"{}"),
        ("view.json", b'{"agents": []}'),
        ("refusals.json", b"[]"),
        ("controls.json", b"{"),
    ],
)
def test_a_broken_input_is_one_readable_error_that_names_the_file(
    study: Study, name: str, data: bytes | None
) -> None:
    paths = study.write()
    path = study.folder / name
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(FrozenbenchError, match=name.replace(".", r"\.")):
        contrast(*paths, study.folder / "out")
    assert not (study.folder / "out").exists()
