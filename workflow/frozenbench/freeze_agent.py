"""freeze_agent: copy one agent's sheet, connection and code to their content-addressed place."""

from __future__ import annotations

from pathlib import Path

from frozenbench.agent_files import read_agent
from frozenbench.canonical import write_json
from frozenbench.freeze_task import check_digest, freeze_tree


def freeze_agent(agent: str, out: Path, root: Path = Path()) -> None:
    """Write code/ and, last, agent.json below `out`.

    Raises:
        BadInput: the agent's file or code no longer has the digest in the path of `out`.
    """
    found = read_agent(root, agent)
    check_digest(found.frozen_digest, out, f"agent {agent}")
    freeze_tree(found.code, out / "code")
    write_json(
        out / "agent.json",
        {"sheet": found.sheet, "connection": found.connection, "roots": list(found.roots)},
    )
