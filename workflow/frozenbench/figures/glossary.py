"""Plain words for the terms in a figure that a reader who sees the picture alone does not know."""

from __future__ import annotations

from frozenbench.figures.inputs import Inputs

_TRUST = {
    "split": "split: the tests run outside the agent’s code",
    "in-process": "in-process: the tests import the agent’s code",
    "exit-status": "exit-status: the grader tells green by its exit status",
}
_GRADING = {
    "every_step": "oracle stop: a run counts as solved at its first green step",
    "final": "final: what stands at the end of a run is graded",
}
_CLOCK = {
    "guard": "guard: no score if the clock ends more than 1\u00a0% of an agent’s cells",
    "strict": "strict: cells under the clock never share a core",
}


def replayed(inputs: Inputs) -> bool:
    """Return whether model responses came out of a record; nothing is replayed of a log."""
    return not inputs.imported and bool(
        inputs.responses["recorded"] and inputs.responses["distinct"]
    )


def explained(inputs: Inputs) -> list[str]:
    """Return one sentence on the words of the box and the footer; only words that stand there."""
    if inputs.imported:
        return []
    need = inputs.controls.need
    trust = sorted({str(need("tasks", name, "grader_trust")) for name in inputs.tasks})
    told = [
        *(_TRUST[name] for name in trust if name in _TRUST),
        *(_GRADING[name] for name in [str(need("grading"))] if name in _GRADING),
        *(_CLOCK[name] for name in [str(need("clock"))] if name in _CLOCK),
        *(["REPLAYED: recorded model answers"] if replayed(inputs) else []),
    ]
    return [f"Terms: {'; '.join(told)}."] if told else []
