"""What refuses an experiment before anything starts, each with its cure."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from packaging.specifiers import SpecifierSet

from frozenbench.agent_code import check_code
from frozenbench.build_environment import check_lock_text
from frozenbench.canonical import BadInput, Refused, canonical_json
from frozenbench.controls import CAP_FIELDS
from frozenbench.figures import figure_names
from frozenbench.packs import PackInfo, Task
from frozenbench.plan import Plan, network_policy
from frozenbench.sandbox import require
from frozenbench.schema import nearest

#: What is shorter is a dummy such as `none`, and may stand anywhere.
_SHORTEST_KEY = 8


def preflight(plan: Plan) -> Plan:
    """Return the plan if it may start.

    Raises:
        BadInput: the config asks for what cannot be.
        Refused: a pinned pack drifted, or the protocol would be broken.
    """
    _check_pin(plan)
    _check_pack(plan)
    _check_agents(plan)
    _check_secrets(plan)
    _check_spend(plan)
    _check_figures(plan)
    return plan


def check_machine(plan: Plan) -> None:
    """Check that the cells that are due can run here, by running a box.

    Raises:
        Refused: the machine gives less isolation than the config asks for.
    """
    if all(leaf.exists() for cell in plan.cells for leaf in plan.leaves(cell)):
        return
    try:
        require(plan.config.isolation)
    except Refused as error:
        raise Refused(f"{plan.where}: {error}") from None


def check_cores(plan: Plan, cores: int, physical: int) -> None:
    """Check that under `clock: strict` no two cells share a core.

    Raises:
        Refused: more jobs than physical cores may run at once.
    """
    if plan.config.clock == "strict" and cores > physical:
        raise Refused(
            f"{plan.where}: clock: strict: {cores} jobs on {physical} physical cores would share "
            f"cores, and the clock would measure that; cure: snakemake --cores {physical}"
        )


def cores_here() -> int:
    """Return the number of this machine's physical cores."""
    try:
        return physical_cores(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:  # not Linux
        return os.cpu_count() or 1


def physical_cores(cpuinfo: str) -> int:
    """Return the number of physical cores in the text of /proc/cpuinfo.

    Where it names no cores, each processor counts as one.
    """
    cores: set[tuple[str, str]] = set()
    processors = 0
    package = ""
    for line in cpuinfo.splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        processors += name == "processor"
        if name == "physical id":
            package = value
        if name == "core id":
            cores.add((package, value))
    return len(cores) or max(1, processors)


def _check_pin(plan: Plan) -> None:
    pins = {
        f"{plan.where}: pack.expected_sha256": plan.config.pack.expected_sha256,
        "environment variable EXPECTED_PACK_SHA256": os.environ.get("EXPECTED_PACK_SHA256"),
    }
    for origin, pin in pins.items():
        if pin and pin not in (plan.pack.digest, plan.pack.file_sha256):
            raise Refused(
                f"{origin}: is {pin}, but {plan.config.pack.path} has digest {plan.pack.digest} and "
                f"file SHA-256 {plan.pack.file_sha256}: the pack drifted and nothing starts; cure: "
                "restore the pack, or pin the new one as a new experiment"
            )


def check_python(info: PackInfo, folder: str) -> None:
    """Check that this Python is in the range of the pack in `folder`.

    Raises:
        Refused: it is not.
    """
    if not SpecifierSet(info.python).contains(platform.python_version(), prereleases=True):
        raise Refused(
            f"{folder}/pack.json: python: wants {info.python}, this is "
            f"{platform.python_version()}; cure: run frozenbench with a Python in that range"
        )


def _check_pack(plan: Plan) -> None:
    where = plan.where
    check_python(plan.pack.info, plan.config.pack.path)
    if plan.pack.lock is not None:
        text = plan.pack.lock.decode("utf-8", "replace")
        check_lock_text(text, f"{plan.config.pack.path}/requirements.txt")
    known = [task.id for task in plan.pack.tasks]
    for key in ("tasks", "allow_open_network"):
        for name in getattr(plan.config, key) or ():
            if name not in known:
                raise BadInput(
                    f"{where}: {key}: {name!r} is not in the pack{nearest(name, known)}; cure: name "
                    "a task"
                )
    for task in plan.tasks.values():
        _check_task(plan, task)


def _check_task(plan: Plan, task: Task) -> None:
    where = plan.where
    if task.network == "open" and task.id not in (plan.config.allow_open_network or ()):
        raise Refused(
            f"{where}: task {task.id!r} wants an open network; cure: list it in "
            "allow_open_network (its cells are shown apart and never enter a rate)"
        )


def _check_agents(plan: Plan) -> None:
    where = plan.where
    sheets: dict[str, str] = {}
    for name, agent in plan.agents.items():
        if agent.sheet_digest in sheets:
            raise Refused(
                f"{where}: agents: {name!r} and {sheets[agent.sheet_digest]!r} have equal sheets: "
                "they would be one agent under two names; cure: give one of them a `salt`"
            )
        sheets[agent.sheet_digest] = name
        for budget in plan.config.budgets:
            for meter in budget.caps():
                if meter not in agent.adapter.METERS:
                    adapter = agent.sheet["adapter"]
                    raise BadInput(
                        f"{where}: budgets: {budget.name!r} caps {CAP_FIELDS[meter]}, which adapter "
                        f"{adapter!r} (agent {name!r}) cannot enforce from outside; cure: remove "
                        f"the cap, or the agent; {adapter} enforces "
                        f"{', '.join(sorted(agent.adapter.METERS))}"
                    )
        unsandboxed = getattr(agent.adapter, "UNSANDBOXED", False)
        accepted = plan.config.isolation == "none" or name in (plan.config.accept_unsandboxed or ())
        if unsandboxed and not accepted:
            raise Refused(
                f"{where}: agents: {name!r} runs in a process of yours, which no sandbox holds; "
                f"cure: accept_unsandboxed: [{name}] (printed above the score)"
            )
        check_code(agent, plan.root, network_policy(plan.config.isolation) == "blocked")
    if plan.config.budget_axis == "max_seconds" and plan.config.clock != "strict":
        raise BadInput(
            f"{where}: clock: is {plan.config.clock!r} with an axis in seconds; cure: clock: strict"
        )


def _check_secrets(plan: Plan) -> None:
    """Refuse an agent's file that holds the key itself: what stands there is published."""
    for name, agent in plan.agents.items():
        variable = agent.connection.get("endpoint", {}).get("key_env")
        secret = os.environ.get(variable, "").strip() if variable else ""
        if len(secret) < _SHORTEST_KEY:
            continue
        for part in (agent.sheet, agent.connection):
            if json.dumps(secret, ensure_ascii=False)[1:-1].encode() in canonical_json(part):
                raise BadInput(
                    f"config/agents/{name}.yaml: holds the key that is in {variable}, and would be "
                    "published with it; cure: remove it: the gateway adds the key to each request"
                )
        if any(secret.encode() in file.data for file in agent.code.values()):
            raise BadInput(
                f"config/agents/{name}.yaml: code: holds the key that is in {variable}; cure: "
                "remove it: the gateway adds the key to each request"
            )


def _check_spend(plan: Plan) -> None:
    """Refuse a limit of money that could not be held: unknown prices, or several currencies."""
    most, currency = plan.config.spend_limit()
    if most is None:
        return
    currencies: dict[str, str] = {}
    for name, agent in plan.agents.items():
        if "base_url" not in agent.connection.get("endpoint", {}):
            continue  # it asks nobody, or a server of our own
        if "prices" not in agent.connection:
            raise BadInput(
                f"{plan.where}: max_spend: is {most:g}, and agent {name!r} has no prices, so that "
                f"nobody knows what it spends; cure: `prices` in config/agents/{name}.yaml (0 where "
                "an endpoint is free)"
            )
        currencies[agent.connection["prices"]["currency"]] = name
    if currency is not None:
        currencies[currency] = "max_spend itself"
    if len(currencies) > 1:
        told = " and ".join(f"{money} ({name})" for money, name in sorted(currencies.items()))
        raise BadInput(
            f"{plan.where}: max_spend: {told} cannot be added; cure: prices in one currency"
        )


def _check_figures(plan: Plan) -> None:
    known = figure_names()
    for name in plan.config.figures:
        if name not in known:
            raise BadInput(
                f"{plan.where}: figures: {name!r} is unknown{nearest(name, known)}; cure: one of these"
            )
