"""What closing lines, page and figures say of an import: its files, its cut, what is not stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from frozenbench.number_text import count

TRUNCATED = "truncated from finished runs"


def source_lines(controls: Mapping[str, Any]) -> Iterator[str]:
    """Yield the closing lines that stand above the scores of an import."""
    source = controls["source"]
    digest = source["material"]["files_sha256"][:12]
    yield (
        f"imported from {', '.join(source['formats'])}: {count(source['file_count'], 'file')} "
        f"({digest}), {count(len(controls['agents']), 'agent')}, "
        f"{count(len(controls['tasks']), 'task')}, {count(controls['repeats'], 'repeat')}"
    )
    yield f"budget {axis_words(source)}"
    yield not_stated(source)
    for notice in source["notices"]:
        yield f"named: {notice['count']} {notice['meaning']}"


def axis_words(source: Mapping[str, Any]) -> str:
    """Return how budgets came about."""
    if source["axis"] is None:
        return "none: each run as it was run, since not all runs tell one use"
    limit = source["own_limit"]
    told = "own limit not known" if limit is None else f"own limit {limit}"
    return f"{source['unit']} at {', '.join(source['caps'])}: {TRUNCATED}; {told}"


def not_stated(source: Mapping[str, Any]) -> str:
    """Return the controls that the logs do not state, as n of m."""
    lacking, known = source["controls_not_stated"], source["controls_known"]
    if not lacking:
        return f"controls not stated: 0 of {len(known)}"
    return f"controls not stated: {len(lacking)} of {len(known)}: {', '.join(lacking)}"
