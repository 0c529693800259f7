"""Every path below results/, built in one place.

All paths are relative to the project's folder, which is the current folder of every command.
"""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import digest

RESULTS = Path("results")
RESPONSES = RESULTS / "responses"
VERDICTS = RESULTS / "verdicts"
#: A page's file for the first page of `snakemake --report`: no reader's of results/<name>/.
LANDING = "report.rst"
#: Names below results/ that an experiment cannot have.
TAKEN_NAMES = (
    "experiments",
    "frozen",
    "grades",
    "pack_checks",
    "responses",
    "runs",
    "verdicts",
)


def frozen_task(task_digest: str) -> Path:
    """Folder of a frozen task: task.json and fixture/."""
    return RESULTS / "frozen" / "tasks" / task_digest


def frozen_grader(grader_digest: str) -> Path:
    """Folder of a frozen grader: grader.json, hidden/, solution/."""
    return RESULTS / "frozen" / "graders" / grader_digest


def expected(grader_digest: str, fixture_digest: str, environment_id: str) -> Path:
    """The expected test ids of a grader: they are found by running it on the reference."""
    short = digest([grader_digest, fixture_digest, environment_id])[:16]
    return RESULTS / "frozen" / "expected" / grader_digest[:16] / f"{short}.json"


def frozen_agent(frozen_digest: str) -> Path:
    """Folder of a frozen agent: agent.json and code/."""
    return RESULTS / "frozen" / "agents" / frozen_digest


def environment(environment_id: str) -> Path:
    """Folder of a built pack environment."""
    return RESULTS / "frozen" / "environments" / environment_id


def frozen_names(environment_id: str) -> Path:
    """The modules and names that a pack environment has."""
    return RESULTS / "frozen" / "names" / f"{environment_id}.json"


def frozen_record(record_id: str) -> Path:
    """What was unpacked from a committed record into the store."""
    return RESULTS / "frozen" / "records" / f"{record_id}.json"


def run(run_key: str) -> Path:
    """Folder of a run: run.json, trace.jsonl, snapshots/, log, attempts/."""
    return RESULTS / "runs" / run_key


def grade(grade_key: str) -> Path:
    """Folder of a grade: grade.json, log."""
    return RESULTS / "grades" / grade_key


def verdict(verdict_key: str) -> Path:
    """One stored verdict."""
    return VERDICTS / verdict_key[:2] / f"{verdict_key}.json"


def pack_check(pack_digest: str) -> Path:
    """The result of the last check of a whole pack."""
    return RESULTS / "pack_checks" / f"{pack_digest}.json"


def experiment(name: str, experiment_digest: str) -> Path:
    """Folder of an experiment: controls.json, cells.parquet, measured.parquet, views/."""
    return RESULTS / "experiments" / f"{name}-{experiment_digest[:12]}"


def view(name: str, experiment_digest: str, view_digest: str) -> Path:
    """Folder of one view of an experiment."""
    return experiment(name, experiment_digest) / "views" / view_digest[:8]


def published(name: str) -> Path:
    """The folder that always shows the current experiment."""
    return RESULTS / name


def published_marker(name: str, experiment_digest: str, view_digest: str) -> Path:
    """The marker that makes a changed experiment or view publish again."""
    return published(name) / f".published-{experiment_digest[:12]}-{view_digest[:8]}"


def checked_marker(name: str, experiment_digest: str, view_digest: str) -> Path:
    """Written when the published score was printed and nothing refused it."""
    return published(name) / f".checked-{experiment_digest[:12]}-{view_digest[:8]}"
