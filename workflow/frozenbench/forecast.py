"""What a plan would run, and the most that it can cost, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from frozenbench import keys, layout
from frozenbench.plan import DEFAULT_CONFIG, Plan, PlannedCell


@dataclass(frozen=True)
class Ceiling:
    """The most that the missing runs of one agent can use; None: a cap is absent.

    Attributes:
        runs: runs that are not in the store.
        requests: model requests.
        tokens: input and output tokens that are delivered.
        seconds: agent's clock, summed over runs.
        money: at the dearer of both prices for every token; None without prices.
    """

    runs: int
    requests: int | None
    tokens: int | None
    seconds: float
    money: float | None
    currency: str | None


def command_line(plan: Plan) -> str:
    """Return the command that runs the plan."""
    other = "" if plan.where == DEFAULT_CONFIG else f" --configfile {plan.where}"
    return f"snakemake --cores 4{other}"


def missing_runs(plan: Plan) -> list[PlannedCell]:
    """Return the cells whose run is not in the store."""
    return [c for key, c in plan.runs.items() if not (layout.run(key) / "run.json").exists()]


def missing_grades(plan: Plan) -> list[PlannedCell]:
    """Return the cells whose grade is not in the store."""
    return [c for key, c in plan.grades.items() if not (layout.grade(key) / "grade.json").exists()]


def ceiling(plan: Plan, agent: str, cells: list[PlannedCell]) -> Ceiling:
    """Return the most that an agent's missing runs can use."""
    caps = [keys.effective_caps(plan.controls, cell.task, cell.budget) for cell in cells]
    sheet = plan.controls["agents"][agent]["sheet"]
    requests = _sum([cap.get("tool_calls") for cap in caps]) if "endpoint" in sheet else 0
    if sheet.get("policy") == "oneshot":
        requests = len(cells)
    tokens = _sum([cap.get("tokens") for cap in caps])
    prices = plan.agents[agent].connection.get("prices") if agent in plan.agents else None
    money = None
    if prices is not None and tokens is not None:
        money = tokens * max(prices["input_per_million"], prices["output_per_million"]) / 1e6
    return Ceiling(
        runs=len(cells),
        requests=requests,
        tokens=tokens,
        seconds=sum(cap["wall_clock"] for cap in caps),
        money=money,
        currency=None if prices is None else prices["currency"],
    )


def _sum(values: list[float | None]) -> int | None:
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else int(sum(known))


def forecast_lines(plan: Plan) -> Iterator[str]:
    """Yield what would run, agent by agent, and the ceilings."""
    runs, grades = missing_runs(plan), missing_grades(plan)
    yield f"experiment {plan.name} {plan.digest[:12]} at {plan.folder}"
    yield (
        f"cells {len(plan.cells)}: {len(plan.runs)} runs, {len(runs)} of them to do; "
        f"{len(plan.grades)} grades, {len(grades)} of them to do"
    )
    for agent in plan.controls["agents"]:
        cells = [cell for cell in runs if cell.agent == agent]
        if cells and not plan.controls["agents"][agent]["control"]:
            yield _agent_line(agent, ceiling(plan, agent, cells))
    record = plan.config.responses.record
    if record is not None and runs:
        there = "is there" if plan.record_id != "none" else "is not there: it counts as empty"
        yield f"record {record} {there}; a recorded response costs nothing"
    due = runs or grades or not (plan.folder / "cells.parquet").exists()
    show = "frozenbench show" + ("" if plan.where == DEFAULT_CONFIG else f" --config {plan.where}")
    yield f"next: {command_line(plan)}" if due else f"nothing to run; next: {show}"


def _agent_line(agent: str, most: Ceiling) -> str:
    def told(value: float | None, unit: str) -> str:
        return f"no cap on {unit}" if value is None else f"{value:,.0f} {unit}"

    parts = [
        told(most.requests, "requests"),
        told(most.tokens, "tokens"),
        told(most.seconds, "s on its clock"),
    ]
    if most.money is not None:
        parts.append(f"{most.money:,.2f} {most.currency}")
    told_most = f"{agent}: {most.runs} runs, at most {', '.join(parts)}"
    # A response that does not fit is withheld, and was paid for all the same.
    return told_most + ("; an answer withheld at a cap comes on top" if most.requests else "")
