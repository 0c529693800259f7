"""A pack in the current folder whose graders are tried by a pack check, one fault a task."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, STARTER_LOCK, WRONG
from frozenbench import layout
from frozenbench.pack_check.check import Asked, Checked, check_pack
from frozenbench.sandbox import measure

PACK = Path("packs/tried")
TEST = "from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


class SmallPack:
    """A pack in the current folder; each task has tests of its own."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        info = {"name": "tried", "status": "proposal", "licence": "MIT", "source": "tests"}
        self.write({"pack.json": json.dumps({**info, "python": ">=3.11"})})
        self.write({"requirements.txt": STARTER_LOCK.read_bytes()})

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, data in files.items():
            path = PACK / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def task(
        self,
        name: str,
        *,
        test: str = TEST,
        fixture: str = WRONG,
        solution: str | None = RIGHT,
        wrong: str | None = None,
        more: Mapping[str, str] | None = None,
        **line: Any,
    ) -> None:
        """Add a task: by default one with nothing wrong."""
        path = f"tests/{name}/test_app.py"
        self.write({f"fixtures/{name}/app.py": fixture, path: test, **(more or {})})
        if solution is not None:
            self.write({f"solutions/{name}/app.py": solution})
        if wrong is not None:
            self.write({f"known_wrong/{name}/app.py": wrong})
        fixed = {"id": name, "prompt": "Mend add.\n", "fixture_dir": f"fixtures/{name}"}
        self.lines.append({**fixed, "grade": ["pytest", "-q", path], **line})

    def save(self) -> None:
        self.write({"pack.jsonl": "".join(json.dumps(line) + "\n" for line in self.lines)})

    def check(self, stream: Any = None, **more: Any) -> Checked:
        self.save()
        return check_pack(Asked(PACK, **more), stream or io.StringIO())


def project(root: Path, environment: Path) -> None:
    """Let the environment that was built for this session be the pack's."""
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, these tests need userns")
    place = root / layout.environment(environment.name)
    place.parent.mkdir(parents=True)
    place.symlink_to(environment)
