"""lm-evaluation-harness: `samples_<task>_<time>.jsonl`; outcomes without any use.

A document that several filters grade has several rows; the first filter is read, which is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, mapping
from frozenbench.importers.model import Part, Remark, Row, Unreadable

#: Metrics whose 1 means solved, the first that a sample has.
_METRICS = ("exact_match", "acc", "pass@1", "pass_at_1", "prompt_level_strict_acc")


def recognises(document: Document) -> bool:
    """Tell whether this is a file of samples."""
    head = document.head
    return document.suffix == ".jsonl" and isinstance(head, Mapping) and "doc_id" in head


def read(document: Document) -> Part:
    """Read one file, line by line.

    Raises:
        Unreadable: it is none of lm-evaluation-harness.
    """
    if not recognises(document):
        raise Unreadable("is no file of samples of lm-evaluation-harness")
    found = re.fullmatch(r"samples_(.+?)_\d{4}-\d\d-\d\dT.*", document.stem)
    task = found.group(1) if found else document.stem.removeprefix("samples_")
    agent = document.folder or "unnamed"
    rows: dict[Any, Row] = {}
    chosen: Any = None
    remarks = []
    for number, value in document.lines():
        line = mapping(value)
        if "doc_id" not in line:
            raise Unreadable(f"line {number}: doc_id is missing")
        name, kept = line.get("filter"), line["doc_id"]
        chosen = name if not rows else chosen
        if name != chosen:
            remarks.append(Remark("several_filters", f"{task}/{kept} of {agent}: {name}"))
            continue
        if kept in rows:
            raise Unreadable(f"line {number}: doc_id {kept} stands twice under filter {name}")
        solved, partial = _solved(line)
        row = Row(
            agent,
            f"{task}/{kept}",
            solved,
            run=document.name,
            error="no_grade" if solved is None else None,
            file=document.name,
        )
        rows[kept] = row
        if partial:
            remarks.append(Remark("partial_grade", f"{row.task} of {agent}"))
    return Part(rows=tuple(rows.values()), stated={agent: {}}, remarks=tuple(remarks))


def _solved(line: Mapping[str, Any]) -> tuple[bool | None, bool]:
    named = [name for name in line.get("metrics") or () if isinstance(name, str)]
    for name in (*named, *_METRICS):
        value = line.get(name)
        if isinstance(value, bool):
            return value, False
        if isinstance(value, int | Decimal):
            return value == 1, value not in (0, 1)
    return None, False
