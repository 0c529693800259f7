"""verify: re-hash the store, because Snakemake does not notice a file that was edited or lost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from frozenbench import keys, layout
from frozenbench.canonical import (
    BadInput,
    File,
    Incomplete,
    digest,
    read_json,
    sha256_file,
    tree_digest,
)
from frozenbench.controls import is_imported
from frozenbench.frozen import controls_problem, read_frozen_task, tree_at
from frozenbench.gateway.record import read_clock
from frozenbench.run.snapshots import restore
from frozenbench.seal import broken_seal
from frozenbench.verify_links import (
    Given,
    aliens,
    answers_given,
    expected_stands,
    frozen_record,
    grade_stands,
    lost_responses,
    run_stands,
    unmarked,
)


def verify_store() -> Iterator[str]:
    """Yield a line for everything in results/ that is not what its path promises.

    Frozen tasks, graders, agents, names and expected ids, verdicts, runs with all their files,
    grades, responses, pack checks, and each experiment's tables, which are gathered again and
    compared. What is gone is named by what stands on it; what belongs to nothing is named too.
    """
    if not layout.RESULTS.is_dir():
        raise Incomplete(f"{layout.RESULTS}: is not there; cure: run the workflow first")
    given = answers_given()
    for pattern, check in (
        ("frozen/tasks/*", _task),
        ("frozen/graders/*", _grader),
        ("frozen/agents/*", _agent),
        ("frozen/expected/*/*.json", _expected),
        ("frozen/names/*.json", _names),
        ("frozen/records/*.json", frozen_record),
        ("verdicts/??/*.json", _verdict),
        ("runs/*", _run),
        ("grades/*", _grade),
        ("responses/??/*.json", partial(_response, given)),
        ("responses/clocks/*.json", _clock),
        ("pack_checks/*.json", _pack_check),
        ("experiments/*", _experiment),
        ("experiments/*/views/*", _view),
    ):
        for path in sorted(layout.RESULTS.glob(pattern)):
            try:
                problem = check(path)
            except (BadInput, KeyError, TypeError, ValueError, OSError) as error:
                problem = f"cannot be checked ({type(error).__name__}: {error})"
            if problem is not None:
                yield f"{path}: {problem}"
    yield from lost_responses(given)
    yield from aliens()
    yield from unmarked()
    if any(layout.RESULTS.glob("*/view.json")):
        yield from _published()


def _view(path: Path) -> str | None:
    from frozenbench.verify_views import view_problem

    return view_problem(path)


def _published() -> Iterator[str]:
    from frozenbench.verify_views import published_problems

    yield from published_problems()


def _task(path: Path) -> str | None:
    read_frozen_task(path, path.name)
    return None


def _grader(path: Path) -> str | None:
    from frozenbench.grade.grading import read_grader

    read_grader(path)
    return None


def _agent(path: Path) -> str | None:
    agent = read_json(path / "agent.json")
    if digest(agent) != path.name:
        return "its digest is not what its sheet and connection give"
    code = agent["sheet"].get("code_sha256")
    if code is not None and tree_digest(tree_at(path / "code")) != code:
        return "its code is not what its sheet says"
    return None


def _expected(path: Path) -> str | None:
    return broken_seal(read_json(path)) or expected_stands(path)


def _verdict(path: Path) -> str | None:
    document = read_json(path)
    if document["key"] != path.stem:
        return "is the verdict of another key"
    return broken_seal(document)


def _run(path: Path) -> str | None:
    if not (path / "run.json").exists():
        return "holds no run.json: it never ended, or the file was removed"
    run = read_json(path / "run.json")
    if digest(run["material"]) != path.name or run["run_key"] != path.name:
        return "its run key is not what its material gives"
    if problem := broken_seal(run, path, "run.json") or run_stands(run):
        return problem
    fixture = tree_at(layout.frozen_task(run["material"]["task_digest"]) / "fixture")
    last: Mapping[str, File] = fixture
    for step in run["steps"]:
        if step["snapshot"] is not None:
            where = path / "snapshots" / step["snapshot"]
            last = restore(fixture, read_json(where), str(where))
    return None if tree_digest(last) == run["artifact_sha256"] else "its artifact differs"


def _grade(path: Path) -> str | None:
    grade = read_json(path / "grade.json")
    if digest(grade["material"]) != path.name or grade["grade_key"] != path.name:
        return "its grade key is not what its material gives"
    return broken_seal(grade, path, "grade.json") or grade_stands(grade)


def _response(given: Mapping[str, Given], path: Path) -> str | None:
    entry = read_json(path)
    if digest(entry["material"]) != path.stem or entry["key"] != path.stem:
        return "its record key is not what its material gives"
    told = given.get(path.stem)
    if told is not None and told.sha256 not in (None, digest(entry)):
        return f"was changed after run {told.run_key[:12]} was given it"
    return None


def _clock(path: Path) -> str | None:
    read_clock(layout.RESPONSES, path.stem)
    return None


def _names(path: Path) -> str | None:
    document = read_json(path)
    return broken_seal(document)


def _pack_check(path: Path) -> str | None:
    document = read_json(path)
    if document["pack_digest"] != path.stem:
        return "is the check of another pack"
    return broken_seal(document)


def _experiment(path: Path) -> str | None:
    if not (path / "cells.parquet").exists():
        left = [name for name in ("measured.parquet", "refusals.json") if (path / name).exists()]
        return f"cells.parquet is gone, and {left[0]} stands on it" if left else None
    controls = read_json(path / "controls.json")
    if (problem := controls_problem(controls)) is not None:
        return f"controls.json: {problem}"
    if is_imported(controls):
        return None
    lost = _lost_leaves(controls)
    if lost:
        return f"{len(lost)} runs or grades behind cells.parquet are gone, the first {lost[0]}"
    from frozenbench.collect_cells import table_rows
    from frozenbench.refusals import refusals_of
    from frozenbench.table import (
        CELLS,
        CONTROLS_KEY,
        MEASURED,
        RESPONSES_KEY,
        metadata_of,
        read_table,
    )

    cells, measured, answers = table_rows(controls)
    if not _same_table(path / "cells.parquet", cells, CELLS, {CONTROLS_KEY: controls}):
        return "cells.parquet: is not what its runs and grades give"
    gone = [name for name in ("measured.parquet", "refusals.json") if not (path / name).is_file()]
    if gone:
        return f"{gone[0]} is gone"
    responses = metadata_of(read_table(path / "measured.parquet"), RESPONSES_KEY)
    records = layout.RESULTS.glob("frozen/records/*.json")
    metadata = {CONTROLS_KEY: controls, RESPONSES_KEY: responses}
    same = any(answers.summary(record) == responses for record in records)
    if not same or not _same_table(path / "measured.parquet", measured, MEASURED, metadata):
        return "measured.parquet: is not what its runs, grades and record give"
    refusals = [refusal.as_dict() for refusal in refusals_of(controls, cells, measured)]
    if read_json(path / "refusals.json") != {"refusals": refusals}:
        return "refusals.json: is not what its tables give"
    return None


def _same_table(path: Path, rows: Any, schema: Any, metadata: Mapping[bytes, Any]) -> bool:
    from frozenbench.table import write_table

    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / path.name
        write_table(again, rows, schema, metadata)
        return sha256_file(again) == sha256_file(path)


def _lost_leaves(controls: Mapping[str, Any]) -> list[Path]:
    lost = []
    for names in keys.expected_cells(controls):
        run_key = keys.run_key(controls, *names)
        grade_key = keys.grade_key(controls, names[1], run_key)
        leaves = (layout.run(run_key) / "run.json", layout.grade(grade_key) / "grade.json")
        lost += [leaf for leaf in leaves if not leaf.exists()]
    return lost
