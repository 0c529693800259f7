"""What a key is made of, and which control differs from the nearest run that is there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frozenbench import keys, layout
from frozenbench.canonical import BadInput, read_json
from frozenbench.plan import Plan, PlannedCell
from frozenbench.schema import nearest


def find_cell(plan: Plan, words: list[str]) -> PlannedCell:
    """Return the cell that a key (or its first digits) or agent, task, budget, repeat name.

    Raises:
        BadInput: no cell, or more than one, is named.
    """
    if len(words) == 1:
        found = [
            cell
            for cell in plan.cells
            if cell.run_key.startswith(words[0]) or cell.grade_key.startswith(words[0])
        ]
        if len({cell.run_key for cell in found}) == 1:
            return found[0]
        what = "no cell" if not found else f"{len(found)} cells"
        raise BadInput(f"{words[0]!r}: names {what}; cure: more digits, or AGENT TASK BUDGET")
    if len(words) not in (3, 4):
        raise BadInput(
            f"cell: {' '.join(words)!r} names none; cure: a key, or AGENT TASK BUDGET [REPEAT]"
        )
    agent, task, budget = words[:3]
    known = {
        "agent": (agent, plan.controls["agents"]),
        "task": (task, plan.controls["tasks"]),
        "budget": (budget, plan.controls["budgets"]),
    }
    for kind, (name, names) in known.items():
        if name not in names:
            raise BadInput(f"{kind}: {name!r} is unknown{nearest(name, names)}; cure: one of these")
    repeat = int(words[3]) if len(words) == 4 and words[3].isdecimal() else 0
    if len(words) == 4 and not words[3].isdecimal():
        raise BadInput(f"repeat: {words[3]!r} is no number; cure: 0 to {plan.config.repeats - 1}")
    for cell in plan.cells:
        if (cell.agent, cell.task, cell.budget, cell.repeat) == (agent, task, budget, repeat):
            return cell
    raise BadInput(
        f"{' '.join(words)}: is no cell of this experiment; cure: repeats are counted from 0 to "
        f"{plan.config.repeats - 1}, noop and reference have 0 alone"
    )


def experiment_lines(plan: Plan) -> Iterator[str]:
    """Yield what the experiment digest is made of."""
    yield f"experiment {plan.name} {plan.digest}"
    yield from json.dumps(plan.content, indent=2, ensure_ascii=False, sort_keys=True).split("\n")


def cell_lines(plan: Plan, cell: PlannedCell) -> Iterator[str]:
    """Yield what a cell's two keys are made of, and where its files stand."""
    names = (cell.agent, cell.task, cell.budget, cell.repeat)
    yield f"cell {cell.label}"
    yield f"run key {cell.run_key}  {_there(layout.run(cell.run_key) / 'run.json')}"
    yield from _material(keys.run_material(plan.controls, *names))
    yield f"grade key {cell.grade_key}  {_there(layout.grade(cell.grade_key) / 'grade.json')}"
    yield from _material(keys.grade_material(plan.controls, cell.task, cell.run_key))


def _there(path: Path) -> str:
    return f"{path} ({'there' if path.exists() else 'not there'})"


def _material(material: Mapping[str, Any]) -> Iterator[str]:
    for name, value in flat(material).items():
        yield f"  {name} = {json.dumps(value, ensure_ascii=False)}"


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, with dotted names."""
    if not isinstance(value, Mapping):
        return {prefix: value}
    found: dict[str, Any] = {}
    for name, item in value.items():
        found |= flat(item, f"{prefix}.{name}" if prefix else str(name))
    return found


def why_lines(plan: Plan, cell: PlannedCell) -> Iterator[str]:
    """Yield which controls differ between a cell and the nearest run in the store."""
    if (layout.run(cell.run_key) / "run.json").exists():
        yield f"{cell.label}: its run is there; nothing has to run"
        return
    names = (cell.agent, cell.task, cell.budget, cell.repeat)
    wanted = flat(keys.run_material(plan.controls, *names))
    best: tuple[int, str, dict[str, Any]] | None = None
    for path in sorted(layout.RESULTS.glob("runs/*/run.json")):
        other = flat(read_json(path)["material"])
        count = len(_differing(wanted, other))
        if best is None or count < best[0]:
            best = (count, path.parent.name, other)
    if best is None:
        yield f"{cell.label}: the store holds no run yet"
        return
    yield f"{cell.label}: nearest is run {best[1]}, which differs in {best[0]}:"
    for name in _differing(wanted, best[2]):
        yield f"  {name}: there {_shown(best[2], name)}, here {_shown(wanted, name)}"


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    absent = object()
    names = sorted(set(one) | set(other))
    return [name for name in names if one.get(name, absent) != other.get(name, absent)]


def _shown(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values[name], ensure_ascii=False) if name in values else "absent"
