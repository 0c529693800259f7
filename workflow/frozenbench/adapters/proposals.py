"""The form of a proposal that a `python` or `http` agent sends, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenbench.adapters.contract import AgentCrashed, Cell, Proposal, Use

FIELDS = ("files", "tool_name", "tokens", "done", "gave_up")


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
    files = value.get("files") or {}
    if not isinstance(files, Mapping):
        raise AgentCrashed(f"proposal: files is {type(files).__name__}; a mapping was due")
    return Proposal(
        files=files,
        tool_name=_typed(value, "tool_name", str, None),
        use=Use(total=_tokens(value)),
        done=_typed(value, "done", bool, False),
        gave_up=_typed(value, "gave_up", bool, False),
    )


def _typed(value: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    item = value.get(name)
    if item is None:
        return default
    if not isinstance(item, kind):
        raise AgentCrashed(f"proposal: {name} is {type(item).__name__}; {kind.__name__} was due")
    return item


def _tokens(value: Mapping[str, Any]) -> int | None:
    tokens = value.get("tokens")
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise AgentCrashed(f"proposal: tokens is {tokens!r}; a whole number >= 0 was due")
    return tokens


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
