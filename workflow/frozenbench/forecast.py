"""What a plan would run, and the most that it can cost, before anything is paid."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from frozenbench import keys, layout
from frozenbench.canonical import BadInput, digest
from frozenbench.gateway.ledger import Ledger, amount, beside
from frozenbench.gateway.prices import dearest
from frozenbench.gateway.published_record import read_record
from frozenbench.gateway.record import Store
from frozenbench.gateway.record_index import Indexed, indexed, indexed_entry
from frozenbench.plan import DEFAULT_CONFIG, Plan, PlannedCell


@dataclass(frozen=True)
class Ceiling:
    """The most that the missing runs of one agent can use; None: a cap is absent.

    Attributes:
        runs: runs that are not in the store.
        requests: model requests.
        tokens: input and output tokens that are delivered.
        seconds: agent's clock, summed over runs.
        money: at the dearest price for every token; None without prices or without a cap on tokens.
        currency: of the prices; None without prices.
    """

    runs: int
    requests: int | None
    tokens: int | None
    seconds: float
    money: float | None
    currency: str | None


@dataclass(frozen=True)
class Held:
    """What is recorded of an agent's conversations; tokens that are not reported count nothing."""

    responses: int = 0
    tokens: int = 0


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
    """Return the most that an agent's missing runs can use.

    A request is a proposal of a chat agent; a program behind the gateway may ask as often as it
    likes without a tool call, so its requests have no bound but its tokens.
    """
    caps = [keys.effective_caps(plan.controls, cell.task, cell.budget) for cell in cells]
    sheet = plan.controls["agents"][agent]["sheet"]
    prices = plan.agents[agent].connection.get("prices") if agent in plan.agents else None
    asked = _bought_once(plan, agent, cells, caps)
    requests: int | None = 0
    if "endpoint" in sheet:
        counts = [[cap.get("tool_calls") for cap in group] for group in asked]
        requests = _sum([_most(group) for group in counts])
        if sheet["adapter"] != "chat":
            requests = None if cells else 0
        if sheet.get("policy") == "oneshot":
            requests = len(asked)
    tokens = _sum([_most([cap.get("tokens") for cap in group]) for group in asked])
    money = None if prices is None or tokens is None else tokens * dearest(prices)
    return Ceiling(
        runs=len(cells),
        requests=requests,
        tokens=tokens,
        seconds=sum(cap["wall_clock"] for cap in caps),
        money=money,
        currency=None if prices is None else prices["currency"],
    )


def _bought_once(
    plan: Plan, agent: str, cells: list[PlannedCell], caps: Sequence[Mapping[str, float]]
) -> list[list[Mapping[str, float]]]:
    """Return the caps of the runs in groups that buy no more than their largest member.

    A chat agent asks the same under every budget that it is not told of, so what a smaller budget
    asks is the beginning of what a larger one does, and responses are shared.
    """
    sheet = plan.controls["agents"][agent]["sheet"]
    shared = plan.config.responses.policy == "shared" and not plan.config.budget_disclosed
    if sheet["adapter"] != "chat" or not shared:
        return [[cap] for cap in caps]
    groups: dict[tuple[str, int], list[Mapping[str, float]]] = defaultdict(list)
    for cell, cap in zip(cells, caps, strict=True):
        groups[cell.task, cell.repeat].append(cap)
    return list(groups.values())


def _most(values: list[float | None]) -> float | None:
    """Return the largest of some caps; an absent one is the largest."""
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else max(known)


def _sum(values: list[float | None]) -> int | None:
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else int(sum(known))


def recorded(plan: Plan) -> dict[tuple[str, ...], Held]:
    """Return what store and committed record hold for the tasks, by the agents of one endpoint.

    Which of these an agent will ask for again is known when it has run.
    """
    agents: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    wires: dict[tuple[str, str | None], str] = {}
    for name, agent in plan.agents.items():
        if "endpoint" in agent.sheet:
            who = (digest(agent.sheet["endpoint"]), agent.sheet.get("salt"))
            agents[who].append(name)
            wires[who] = agent.sheet["endpoint"]["wire"]
    found = dict.fromkeys(agents, Held())
    for entry in _entries(plan, {who[0]: wire for who, wire in wires.items()}) if agents else ():
        who = (entry.endpoint, entry.salt)
        ours = entry.task in plan.task_by_digest
        if who in found and ours and entry.repeat < plan.config.repeats:
            held = found[who]
            found[who] = Held(held.responses + 1, held.tokens + (entry.tokens or 0))
    return {tuple(agents[who]): held for who, held in found.items()}


def _entries(plan: Plan, wires: Mapping[str, str]) -> Iterable[Indexed]:
    found = {entry.key: entry for entry in indexed(Store(layout.RESPONSES), wires)}
    record = plan.config.responses.record
    if record is not None and not layout.frozen_record(plan.record_id).exists():
        for entry in read_record(Path(record)).entries:  # not laid into the store yet
            found.setdefault(entry.key, indexed_entry(entry, wires))
    return found.values()


def check_keys(plan: Plan) -> None:
    """Refuse runs that must ask an endpoint whose key is not there, before the first one starts.

    Where something is recorded of an agent nobody knows yet whether its runs will ask.

    Raises:
        BadInput: names file, key, variable and cure.
    """
    due = Counter(cell.agent for cell in missing_runs(plan))
    lacking = {
        name: agent.connection["endpoint"]["key_env"]
        for name, agent in plan.agents.items()
        if due[name] and "key_env" in agent.connection.get("endpoint", {})
    }
    lacking = {who: name for who, name in lacking.items() if not os.environ.get(name, "").strip()}
    for agents, held in recorded(plan).items() if lacking else ():
        for agent in lacking if not held.responses else ():
            if agent in agents:
                raise BadInput(
                    f"config/agents/{agent}.yaml: endpoint.key_env: the environment variable "
                    f"{lacking[agent]} is not set, and nothing is recorded for its {due[agent]} runs "
                    f"to do; cure: export {lacking[agent]}=…"
                )


def forecast_lines(plan: Plan) -> Iterator[str]:
    """Yield what would run, agent by agent, what is there already, and the ceilings."""
    runs, grades = missing_runs(plan), missing_grades(plan)
    yield f"experiment {plan.name} {plan.digest[:12]} at {plan.folder}"
    yield (
        f"cells {len(plan.cells)}: {len(plan.runs)} runs, {len(runs)} of them to do; "
        f"{len(plan.grades)} grades, {len(grades)} of them to do"
    )
    yield from _agents(plan, runs)
    record = plan.config.responses.record
    if record is not None and runs:
        there = "is there" if plan.record_id != "none" else "is not there: it counts as empty"
        yield f"record {record} {there}; a recorded response costs nothing"
    yield from _limits(plan)
    due = runs or grades or not (plan.folder / "cells.parquet").exists()
    show = "frozenbench show" + ("" if plan.where == DEFAULT_CONFIG else f" --config {plan.where}")
    yield f"next: {command_line(plan)}" if due else f"nothing to run; next: {show}"


def _agents(plan: Plan, runs: list[PlannedCell]) -> Iterator[str]:
    """Yield a line for each agent that has runs to do, and one for all that ask a model."""
    asking: list[Ceiling] = []
    for agent, facts in plan.controls["agents"].items():
        cells = [cell for cell in runs if cell.agent == agent]
        if not cells or facts["control"]:
            continue
        most = ceiling(plan, agent, cells)
        yield _agent_line(agent, most)
        if "endpoint" in facts["sheet"]:
            asking.append(most)
    if len(asking) > 1:
        yield _total_line(asking)
    for agents, held in recorded(plan).items() if asking else ():
        yield _held_line(", ".join(agents), held)
    if unbounded := [most for most in asking if most.tokens is None]:
        yield (
            f"the cost has no bound: {len(unbounded)} of the agents that ask a model have no cap on "
            "tokens under some budget; cure: max_tokens in every budget, or max_spend"
        )


def _agent_line(agent: str, most: Ceiling) -> str:
    told_most = f"{agent}: {most.runs} runs, at most {', '.join(_parts(most))}"
    # A response that does not fit is withheld, and was paid for all the same.
    asks = most.requests is None or most.requests > 0
    return told_most + ("; an answer withheld at a cap comes on top" if asks else "")


def _parts(most: Ceiling) -> Iterator[str]:
    for value, unit in (
        (most.requests, "requests"),
        (most.tokens, "tokens"),
        (most.seconds, "s on its clock"),
    ):
        yield f"no cap on {unit}" if value is None else f"{value:,.0f} {unit}"
    if most.money is not None and most.currency is not None:
        yield amount(most.money, most.currency)


def _held_line(agents: str, held: Held) -> str:
    if not held.responses:
        return f"recorded of {agents} and these tasks: nothing"
    return (
        f"recorded of {agents} and these tasks: {held.responses:,} responses with {held.tokens:,} "
        "tokens; what is asked for again costs nothing"
    )


def _total_line(asking: list[Ceiling]) -> str:
    """Return the sum over all agents that ask a model; money by currency, where all have prices."""
    total = Ceiling(
        runs=sum(most.runs for most in asking),
        requests=_sum([most.requests for most in asking]),
        tokens=_sum([most.tokens for most in asking]),
        seconds=sum(most.seconds for most in asking),
        money=None,
        currency=None,
    )
    parts = list(_parts(total))
    if all(most.money is not None for most in asking):
        sums: dict[str, float] = defaultdict(float)
        for most in asking:
            sums[str(most.currency)] += most.money or 0.0
        parts += [amount(value, currency) for currency, value in sorted(sums.items())]
    elif any(most.money is not None for most in asking):
        parts.append("money not known: some of them have no prices")
    return f"in all: {total.runs} runs, at most {', '.join(parts)}"


def _limits(plan: Plan) -> Iterator[str]:
    """Yield what was paid already, and where spending stops."""
    spent = Ledger(beside(plan.folder / "controls.json")).spent()
    most, currency = plan.config.spend_limit()
    paid = f"{spent.told()} paid for {spent.responses:,} responses so far" if spent.money else ""
    if spent.estimated:
        paid += f", {spent.estimated} of them by an estimate"
    if spent.cut:
        paid += f"; {spent.told_of_cut()}"
    if most is None:
        if paid:
            yield paid
        return
    prices = [agent.connection.get("prices") for agent in plan.agents.values()]
    name = currency or next((found["currency"] for found in prices if found), "")
    left = max(Decimal(0), Decimal(str(most)) - spent.money.get(name, Decimal(0)))
    yield (
        f"max_spend {amount(most, name)}: {paid or 'nothing paid so far'}; at most "
        f"{amount(left, name)} more, and what is under way when that is reached"
    )
    yield from _not_counted(plan)


def _not_counted(plan: Plan) -> Iterator[str]:
    """Yield what `max_spend` does not hold, or not at its own price."""
    own = [name for name, agent in plan.agents.items() if agent.sheet["adapter"] == "command"]
    if own:
        yield f"max_spend: what {', '.join(own)} may spend and report is not counted: it is their own word"
    for name, agent in plan.agents.items():
        prices = agent.connection.get("prices")
        wire = agent.sheet.get("endpoint", {}).get("wire")
        if wire == "anthropic-messages" and prices and "cache_write_per_million" not in prices:
            yield (
                f"max_spend: what the endpoint of {name} writes into its cache is counted as input; "
                "cure: prices.cache_write_per_million, where that has a price of its own"
            )
