"""The controls document of an import: what the logs state, what they do not, and every mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenbench.canonical import digest
from frozenbench.controls import METRIC
from frozenbench.importers.caps import Cap, plain
from frozenbench.importers.cells import budget_caps
from frozenbench.importers.gather import Imported
from frozenbench.importers.model import CONTROLS
from frozenbench.importers.study import Study

NOT_STATED = "not stated"
#: The metric where only the tasks that all agents ran are compared: another name, never the same.
COMMON_METRIC = "pass_under_budget_on_common_tasks@1"
#: How many files are named; the digest holds them all.
_MOST_FILES = 200


def controls_document(
    imported: Imported,
    study: Study,
    caps: Sequence[Cap],
    experiment: Mapping[str, str],
    material: Mapping[str, Any],
    common: bool,
) -> dict[str, Any]:
    """Return the document, of the same shape as that of an experiment that was run here.

    Args:
        imported: everything that the logs gave.
        study: what is compared.
        caps: the caps of the table.
        experiment: name and digest.
        material: what the digest is over.
        common: whether only the tasks that all agents ran are compared.
    """
    return {
        "experiment": dict(experiment),
        "source": _source(imported, study, caps, material),
        "pack": {"digest": digest(list(study.tasks)), "python": NOT_STATED, "lock_sha256": None},
        "tasks": {task: _task() for task in study.tasks},
        "agents": {agent: _agent(imported.stated.get(agent, {})) for agent in study.agents},
        "budgets": budget_caps(study, caps),
        "repeats": study.repeats,
        "grading": "as logged",
        "metric": COMMON_METRIC if common else METRIC,
        "budget_disclosed": NOT_STATED,
        "clock": NOT_STATED,
        "responses_policy": NOT_STATED,
        "task_subset": None,
        "accepted": {},
        "environment": {
            "python": NOT_STATED,
            "lock_sha256": None,
            "isolation": NOT_STATED,
            "network": NOT_STATED,
            "run_semantics": NOT_STATED,
            "grade_semantics": NOT_STATED,
        },
    }


def _source(
    imported: Imported, study: Study, caps: Sequence[Cap], material: Mapping[str, Any]
) -> dict[str, Any]:
    lacking = [name for name in CONTROLS if name in imported.not_stated]
    axis = study.axis
    return {
        "material": dict(material),
        "formats": list(imported.formats),
        "files": [
            {"name": file.name, "sha256": file.sha256, "bytes": file.size, "format": file.format}
            for file in imported.files[:_MOST_FILES]
        ],
        "file_count": len(imported.files),
        "bytes": sum(file.size for file in imported.files),
        "axis": None if axis is None else axis.name,
        "unit": None if axis is None else axis.unit,
        "caps": [plain(cap) for cap in caps],
        # Their order: the keys of a canonical document are sorted.
        "agents": list(study.agents),
        "budgets": list(budget_caps(study, caps)),
        "own_limit": None if study.limit is None else plain(study.limit),
        "controls_known": list(CONTROLS),
        "controls_not_stated": lacking,
        "notices": [notice.as_dict() for notice in study.notices],
    }


def _task() -> dict[str, Any]:
    return {
        "task_digest": NOT_STATED,
        "grader_digest": NOT_STATED,
        "weight": 1,
        "split": "public",
        "network": NOT_STATED,
        "grader_trust": NOT_STATED,
        "qualified": True,
    }


def _agent(stated: Mapping[str, str]) -> dict[str, Any]:
    sheet = {"adapter": "imported", "stated": dict(sorted(stated.items()))}
    return {"sheet": sheet, "sheet_digest": digest(sheet), "control": False, "unpinned": []}
