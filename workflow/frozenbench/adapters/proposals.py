"""The form of a proposal that a `python` or `http` agent sends, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenbench.adapters.contract import AgentCrashed, Cell, Proposal, Use

FIELDS = ("files", "tool_name", "tokens", "done", "gave_up")
#: Beyond it a number of tokens is no count: the tables hold sums of them as int64.
MAX_COUNT = 10**12


def parse_proposal(value: Any) -> Proposal:
    """Return the proposal in what an agent sent.

    Raises:
        AgentCrashed: it is not of its form; the message names the field.
    """
    if not isinstance(value, Mapping):
        raise AgentCrashed(f"proposal: is {type(value).__name__}; a mapping was due")
    for name in value:
        if name not in FIELDS:
            raise AgentCrashed(f"proposal: {name!r} is unknown; known: {', '.join(FIELDS)}")
    return Proposal(
        files=_files(value),
        tool_name=_typed(value, "tool_name", str, None),
        use=Use(total=_tokens(value)),
        done=_typed(value, "done", bool, False),
        gave_up=_typed(value, "gave_up", bool, False),
    )


def _files(value: Mapping[str, Any]) -> Mapping[str, str | None]:
    """Return path -> text or None; what a path may be is the loop's to say, for all adapters."""
    files = value.get("files")
    if files is None:
        return {}
    if not isinstance(files, Mapping):
        raise AgentCrashed(f"proposal: files is {type(files).__name__}; a mapping was due")
    for path, content in files.items():
        if not isinstance(content, str | None):
            kind = type(content).__name__
            raise AgentCrashed(f"proposal: files[{path[:80]!a}] is {kind}; text or null was due")
        _check_text(path, "a path")
    return files


def _check_text(text: str, what: str) -> None:
    """Raise AgentCrashed for half a surrogate pair, which JSON can say and no file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise AgentCrashed(f"proposal: {what} holds half a surrogate pair") from None


def _typed(value: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    item = value.get(name)
    if item is None:
        return default
    if not isinstance(item, kind):
        raise AgentCrashed(f"proposal: {name} is {type(item).__name__}; {kind.__name__} was due")
    if isinstance(item, str):
        _check_text(item, name)
    return item


def _tokens(value: Mapping[str, Any]) -> int | None:
    tokens = value.get("tokens")
    if tokens is None:
        return None
    if (number := count_of(tokens)) is None:
        told = repr(tokens)[:80]
        raise AgentCrashed(
            f"proposal: tokens is {told}; a whole number from 0 to {MAX_COUNT} was due"
        )
    return number


def count_of(value: Any) -> int | None:
    """Return a count that an agent tells of itself, or None for what can be none."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= MAX_COUNT else None


def told(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as its agent reads it back in `history`."""
    files = {
        path: content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        for path, content in proposal.files.items()
    }
    return {
        "files": files,
        "tool_name": proposal.tool_name,
        "tokens": proposal.use.total,
        "done": proposal.done,
        "gave_up": proposal.gave_up,
    }


def task_told(cell: Cell) -> dict[str, Any]:
    """Return what the agent is told of its task: the budget only if it is disclosed."""
    task: dict[str, Any] = {"id": cell.task_id, "prompt": cell.prompt}
    if cell.budget_disclosed:
        task["budget"] = dict(cell.caps)
    return task
