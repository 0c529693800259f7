"""controls.tex: every control that a score of the experiment depends on, as LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from frozenbench.controls import CAP_FIELDS
from frozenbench.import_lines import TRUNCATED
from frozenbench.write_up.inputs import ORACLE, Inputs
from frozenbench.write_up.tex import breakable, narrow, tex, with_signs
from frozenbench.write_up.wording import cap, dates

#: A control: its name and its value, both set for TeX.
Line = tuple[str, str]


def controls_tex(inputs: Inputs) -> str:
    """Return the sheet: the experiment's controls, each budget's caps, each agent's sheet."""
    lines = [*_experiment(inputs), *_budgets(inputs), *_agents(inputs)]
    return with_signs(
        "\n".join(
            [
                f"% {inputs.origin}",
                "\\begingroup\\footnotesize\\setlength{\\parindent}{0pt}%",
                "\\newcommand*{\\fbcontrol}[2]{%",
                "  \\parbox[t]{.24\\linewidth}{\\raggedright #1}\\hfill%",
                "  \\parbox[t]{.74\\linewidth}{\\raggedright #2\\strut}\\par}%",
                *(f"\\fbcontrol{{{name}}}{{{value}}}" for name, value in lines),
                "\\endgroup",
            ]
        )
        + "\n"
    )


def _experiment(inputs: Inputs) -> Iterator[Line]:
    controls, view = inputs.controls, inputs.view
    pack, environment = view["pack"], controls["environment"]
    tasks = controls["tasks"]
    lock = environment["lock_sha256"]
    policy = f" ({ORACLE})" if controls["grading"] == "every_step" else ""
    yield "experiment", f"{tex(inputs.name)} {breakable(controls['experiment']['digest'])}"
    yield (
        "pack",
        tex(f"{pack['name']}, {pack['status']}, {pack['licence']}, {len(tasks)} tasks; digest ")
        + breakable(controls["pack"]["digest"])
        + "; pack.jsonl "
        + (breakable(pack["file_sha256"]) if pack["file_sha256"] else "not known"),
    )
    if controls["task_subset"] is not None:
        yield "task subset", tex(", ".join(controls["task_subset"]))
    yield "weights", tex(_counted(task["weight"] for task in tasks.values()))
    yield "without reference", tex(_unqualified(tasks))
    yield "metric", tex(f"{controls['metric']}; repeats {controls['repeats']}")
    yield (
        "grading",
        tex(f"{controls['grading']}{policy}; trust ")
        + tex(_counted(task["grader_trust"] for task in tasks.values())),
    )
    yield (
        "environment",
        tex(f"Python {environment['python']}, lock ")
        + (breakable(lock) if lock else "none")
        + tex(f"; isolation {environment['isolation']}, network {environment['network']}"),
    )
    disclosed = {True: "yes", False: "no"}.get(controls["budget_disclosed"], "not stated")
    yield "clock", tex(str(controls["clock"]))
    yield "budget disclosed", disclosed
    if "source" not in controls:  # of an import's models nothing is known here
        yield "responses", tex(f"{controls['responses_policy']}; {_responses(inputs.responses)}")
    yield (
        "semantics",
        tex(f"run {environment['run_semantics']}, grade {environment['grade_semantics']}"),
    )
    if "source" in controls:
        yield "imported logs", tex(_source(controls["source"]))
    for name, value in sorted(controls["accepted"].items()):
        yield "accepted", tex(f"{name}: {value}")


def _source(source: Mapping[str, Any]) -> str:
    lacking = source["controls_not_stated"]
    files = source["file_count"]
    return (
        f"{files} file{'s'[: files != 1]} ({', '.join(source['formats'])}), {TRUNCATED}; "
        f"{len(lacking)} of {len(source['controls_known'])} controls not stated: "
        f"{', '.join(lacking) or 'none'}"
    )


def _counted(values: Iterator[Any]) -> str:
    counts = sorted(Counter(values).items())
    return ", ".join(f"{value} ({count} task{'s'[: count != 1]})" for value, count in counts)


def _unqualified(tasks: Mapping[str, Any]) -> str:
    """Name them; held-out ones by the first digits of their digests."""
    found = {name: task for name, task in tasks.items() if not task["qualified"]}
    told = [
        str(task["task_digest"])[:12] if task["split"] == "held_out" else name
        for name, task in found.items()
    ]
    return ", ".join(told) or "no task"


def _responses(responses: Mapping[str, Any]) -> str:
    if not responses["distinct"]:
        return "no model was asked"
    origin = "from the committed record" if responses["recorded"] else "asked for this run"
    return f"{responses['distinct']} distinct, {dates(responses)}, {origin}"


def _budgets(inputs: Inputs) -> Iterator[Line]:
    for name in inputs.view["budgets"]:
        caps = inputs.controls["budgets"][name]
        if "source" in inputs.controls:
            cut = (f"{field.removeprefix('max_')} {cap(value)}" for field, value in caps.items())
            told = f"{', '.join(cut) or 'none'}: no cap was enforced"
        else:
            told = ", ".join(_cap(meter, caps.get(field)) for meter, field in CAP_FIELDS.items())
        yield f"budget {narrow(name)}", tex(told)


def _cap(meter: str, value: float | None) -> str:
    seconds = " s" if meter == "wall_clock" and value is not None else ""
    return f"{meter.replace('_', ' ')} {cap(value)}{seconds}"


def _agents(inputs: Inputs) -> Iterator[Line]:
    for name in inputs.view["agents"]:
        agent = inputs.controls["agents"][name]
        yield (
            f"agent {narrow(name)}",
            tex("; ".join(_sheet(agent))) + "; sheet " + breakable(agent["sheet_digest"]),
        )


def _sheet(agent: Mapping[str, Any]) -> Iterator[str]:
    sheet = agent["sheet"]
    if "stated" in sheet:  # of an import: what its logs tell, and nothing else is pinned
        stated = ", ".join(f"{name} {value}" for name, value in sheet["stated"].items())
        yield f"imported; its logs state {stated or 'nothing'}"
        return
    yield str(sheet["adapter"]) + (f", {sheet['policy']}" if "policy" in sheet else "")
    endpoint = sheet.get("endpoint")
    if endpoint is not None:
        yield f"{endpoint['id']}, model {endpoint.get('model', 'not named')}"
    for name in ("temperature", "seed", "salt"):
        if name in sheet:
            yield f"{name} {sheet[name]}"
    if sheet.get("tool_schema_sha256"):
        yield f"tool schema {sheet['tool_schema_sha256'][:12]}"
    yield "not pinned: " + (", ".join(agent["unpinned"]) or "nothing")
