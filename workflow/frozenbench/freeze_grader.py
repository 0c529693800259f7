"""freeze_grader: copy one task's grader to its content-addressed place."""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import write_json
from frozenbench.freeze_task import check_digest, freeze_tree, the_task
from frozenbench.packs import read_pack


def freeze_grader(pack: Path, task_id: str, out: Path) -> None:
    """Write hidden/, solution/ and, last, grader.json below `out`.

    grader.json holds what the grader digest is made of, and nothing beside it that could decide.

    Raises:
        BadInput: the grader no longer has the digest in the path of `out`.
    """
    task = the_task(read_pack(pack, str(pack), only=task_id), task_id, pack)
    grader = task.grader
    check_digest(grader.digest, out, f"grader of {task_id}")
    freeze_tree(grader.hidden, out / "hidden")
    freeze_tree(grader.solution or {}, out / "solution")
    write_json(out / "grader.json", {"material": grader.material})
