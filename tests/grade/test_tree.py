"""The graded tree: hidden files win, and nothing of the agent's stands in for the harness."""

from __future__ import annotations

from frozenbench.canonical import File
from frozenbench.grade.tree import lay_over
from hypothesis import given
from hypothesis import strategies as st

ARTIFACT, FIXTURE, HIDDEN = File(b"artifact"), File(b"fixture"), File(b"hidden", True)


def laid(
    artifact: list[str], hidden: list[str], folders: list[str], fixture: tuple[str, ...] = ()
) -> dict[str, bytes]:
    tree = lay_over(
        dict.fromkeys(artifact, ARTIFACT),
        dict.fromkeys(fixture, FIXTURE),
        dict.fromkeys(hidden, HIDDEN),
        folders,
    )
    return {path: file.data for path, file in tree.items()}


def test_hidden_files_lie_over_the_artifact() -> None:
    assert laid(["app.py", "tests/test_a.py"], ["tests/test_a.py"], []) == {
        "app.py": b"artifact",
        "tests/test_a.py": b"hidden",
    }


def test_a_hidden_folder_replaces_the_whole_folder() -> None:
    artifact = ["app.py", "tests/planted.py", "tests/deep/planted.py", "tests_more/kept.py"]
    assert laid(artifact, ["tests/test_a.py"], ["tests"]) == {
        "app.py": b"artifact",
        "tests_more/kept.py": b"artifact",
        "tests/test_a.py": b"hidden",
    }


def test_in_a_folder_that_is_the_grader_s_alone_the_agent_has_no_file() -> None:
    agents = ["tests/mine.py", "tests/deep/json.py", "mine.py"]
    assert laid(agents, ["tests/test_a.py"], []).keys() == {"mine.py", "tests/test_a.py"}


def test_in_a_shared_folder_the_agent_s_files_stay_unless_they_shadow_a_hidden_one() -> None:
    hidden = ["tests/test_a.py", "tests/support/layout.py"]
    agents = ["tests/mine.py", "tests/support.py", "tests/test_a/__init__.py", "tests/old.py"]
    kept = laid(agents, hidden, [], fixture=("tests/old.py",))
    assert kept.keys() == {*hidden, "tests/mine.py", "tests/old.py"}


def test_where_the_solution_has_files_the_agent_may_have_some_too() -> None:
    hidden, solution = {"pkg/test_a.py": HIDDEN}, {"pkg/core.py": FIXTURE}
    artifact = {"pkg/core.py": ARTIFACT, "pkg/more.py": ARTIFACT, "pkg/test_a.pyi": ARTIFACT}
    tree = lay_over(artifact, {}, hidden, [], solution)
    assert tree.keys() == {"pkg/core.py", "pkg/more.py", "pkg/test_a.py"}


def test_beside_hidden_files_at_the_top_the_agent_s_files_stay() -> None:
    kept = laid(["app.py", "pkg/a.py", "test_a/__init__.py"], ["test_a.py"], [])
    assert kept.keys() == {"app.py", "pkg/a.py", "test_a.py"}


def test_a_fixture_s_conftest_that_was_deleted_stands_again() -> None:
    assert laid([], ["tests/test_a.py"], [], fixture=("conftest.py",)) == {
        "conftest.py": b"fixture",
        "tests/test_a.py": b"hidden",
    }


def test_a_file_gives_way_to_a_folder_and_a_folder_to_a_file() -> None:
    assert laid(["tests"], ["tests/test_a.py"], []) == {"tests/test_a.py": b"hidden"}
    assert laid(["check.py/x", "check.py/y/z"], ["check.py"], []) == {"check.py": b"hidden"}


def test_a_conftest_is_the_harness_s_and_never_the_agent_s() -> None:
    """B.11: the agent's own is left out, a changed one is put back, a hidden one stands."""
    artifact = ["conftest.py", "deep/conftest.py", "tests/conftest.py"]
    assert laid(artifact, ["tests/conftest.py"], [], fixture=("deep/conftest.py",)) == {
        "deep/conftest.py": b"fixture",
        "tests/conftest.py": b"hidden",
    }


PATHS = st.text("ab/", min_size=1, max_size=5).filter(lambda p: p.strip("/") == p and "//" not in p)


def whole(paths: set[str]) -> set[str]:
    """The paths that can stand together on disk: none of them is a folder of another."""
    return {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}


@given(st.sets(PATHS).map(whole), st.sets(PATHS, min_size=1).map(whole), st.booleans())
def test_the_graded_tree_can_stand_on_disk_and_holds_every_hidden_file(
    artifact: set[str], hidden: set[str], by_folder: bool
) -> None:
    folders = [path.rsplit("/", 1)[0] for path in hidden if "/" in path] if by_folder else []
    tree = lay_over(dict.fromkeys(artifact, ARTIFACT), {}, dict.fromkeys(hidden, HIDDEN), folders)
    assert {path for path, file in tree.items() if file == HIDDEN} == hidden
    assert whole(set(tree)) == set(tree)
    for path in set(tree) - hidden:
        assert not any(path.startswith(f"{folder}/") for folder in folders)
    for path in artifact - set(tree):
        reasons = [path.startswith(f"{other}/") for other in (*hidden, *folders)]
        reasons += [other.startswith(f"{path}/") for other in hidden]
        homes = [other.rpartition("/")[0] for other in hidden]
        reasons += [bool(home) and path.startswith(f"{home}/") for home in homes]
        assert any(reasons), "nothing else is left out"
