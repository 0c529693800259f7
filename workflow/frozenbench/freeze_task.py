"""freeze_task: copy one task to its content-addressed place; cells read only this copy."""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import BadInput, Tree, write_json, write_tree
from frozenbench.packs import Pack, Task, read_pack


def freeze_task(pack: Path, task_id: str, out: Path) -> None:
    """Write fixture/ and, last, task.json below `out`.

    Raises:
        BadInput: the task no longer has the digest in the path of `out`.
    """
    task = the_task(read_pack(pack, str(pack), only=task_id), task_id, pack)
    check_digest(task.digest, out, f"task {task_id}")
    freeze_tree(task.fixture, out / "fixture")
    write_json(out / "task.json", task.material)


def the_task(pack: Pack, task_id: str, where: Path) -> Task:
    """Return the task with this id.

    Raises:
        BadInput: the pack has none.
    """
    for task in pack.tasks:
        if task.id == task_id:
            return task
    raise BadInput(f"{where}/pack.jsonl: task {task_id!r} is gone; cure: start again")


def check_digest(found: str, out: Path, what: str) -> None:
    """Raise BadInput where what was read no longer has the digest that the plan gave `out`."""
    if out.name != found:
        raise BadInput(
            f"{what}: was planned as {out.name[:12]} and is {found[:12]} now: the pack changed while "
            "the workflow ran; cure: start again"
        )


def freeze_tree(tree: Tree, folder: Path) -> None:
    """Write a tree anew and take the write bits away."""
    import shutil

    if folder.exists():
        shutil.rmtree(folder)
    if not tree:
        return
    write_tree(tree, folder)
    for path, file in tree.items():
        (folder / path).chmod(0o555 if file.executable else 0o444)
