"""The page's last section: the commands that check a score and replay it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from frozenbench.controls import is_imported
from frozenbench.pages.blocks import Block, Code, Paragraph, Section
from frozenbench.pages.inputs import PageInputs

_WHERE = "In the project's folder, with its environment active (`. .venv/bin/activate`)."


def check_section(inputs: PageInputs) -> Section:
    """Return how to check and to replay; an import has nothing of ours to replay."""
    blocks = tuple(_imported() if is_imported(inputs.controls) else _run(inputs))
    replayed = "Check it" if is_imported(inputs.controls) else "Check it and replay it"
    return Section("check", replayed, blocks)


def _imported() -> Iterator[Block]:
    yield Paragraph(
        f"{_WHERE} `verify` makes statistics, page and write-up again from the tables, and compares "
        "them byte for byte:"
    )
    yield Code(("frozenbench verify",))
    yield Paragraph(
        "The runs are another harness's: the SHA-256 of its files stands above the scores."
    )


def _run(inputs: PageInputs) -> Iterator[Block]:
    yield Paragraph(
        f"{_WHERE} `verify` hashes everything in `results/` again, makes `cells.parquet`, statistics, "
        "page and write-up again from what is stored, and compares them byte for byte:"
    )
    yield Code(("frozenbench verify",))
    yield Paragraph(
        "`show` prints a cell: prompt, difference, trace, grader log. `explain` prints what its two keys "
        "are made of. `replay` runs every agent under every budget again in an empty store, with the "
        "recorded responses alone, no key and no network, and compares cell by cell: one that differs is "
        "a broken experiment, no regression. These three read `config/config.yaml`; where this experiment "
        "stands in another file, add `--config FILE` to them."
    )
    words = shlex.join(cell_words(inputs))
    yield Code((f"frozenbench show {words}", f"frozenbench explain {words}", "frozenbench replay"))


def cell_words(inputs: PageInputs) -> tuple[str, str, str]:
    """Return agent, task and budget of a cell to look at: of the first agent and the last budget.

    A held-out task is named nowhere; where all are, the words for them stand in their place.
    """
    tasks = [name for name, task in inputs.controls["tasks"].items() if task["split"] == "public"]
    task = tasks[0] if tasks else "TASK"
    return inputs.view["agents"][0], task, inputs.view["budgets"][-1]
