"""All of these tests once more as an ordinary user, where they are run as root."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from frozenbench.sandbox.users import unprivileged
from ordinary_user import run_as


@pytest.mark.slow
def test_everything_holds_for_an_ordinary_user() -> None:
    user = unprivileged()
    if user is None:
        pytest.skip("not root: the other tests have just run as an ordinary user")
    # A short path: Unix sockets lie below it.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        # The digest of a large tree knows no user; its property test needs hypothesis, which is not there.
        without = [Path(__file__).name, "test_large_trees.py"]
        run_as(user, folder, Path(__file__).parent, [], without=without)
