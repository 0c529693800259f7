from __future__ import annotations

import pytest
from frozenbench.assume import Finding, agent_lines, banned_string
from frozenbench.canonical import File
from hypothesis import given, settings
from hypothesis import strategies as st


def lines(fixture: bytes, artifact: bytes) -> list[int]:
    found = agent_lines({"f": File(fixture)}, {"f": File(artifact)})
    return sorted(found.get("f", ()))


@pytest.mark.parametrize(
    ("fixture", "artifact", "own"),
    [
        (b"a\nb\n", b"a\nb\n", []),
        (b"a\nb\n", b"a\nc\nb\n", [2]),
        (b"a\nb\n", b"b\na\n", []),
        (b"a\nb\n", b"    a\n\tb  \n", []),
        (b"a\nb\n", b"a\r\nb\r\n", []),
        (b"a\r\nb\r\n", b"a\nb\nc\n", [3]),
        (b"a\rb", b"a\rx\rb", [2]),
        (b"a\r\nb\n", b"a\r\nnew\rb\nlast", [2, 4]),
        (b"a", b"a\n", []),
        (b"a\n", b"a", []),
        (b"a\n", b"a\n\n   \n", []),
        (b"", b"a", [1]),
        (b"a\n", b"\xef\xbb\xbfa\n", []),
        (b"\xef\xbb\xbfa\n", b"a\nb", [2]),
        (b"a\n", b"a\x00\n\x00a\na\n", [1, 2]),
        (b"\xff\n", b"\xff\n\xfe\n", [2]),
        (b"a\n", b"a\x0bb\x1cc\xc2\x85d\n", [1]),
    ],
)
def test_a_line_is_the_agents_if_it_stands_nowhere_in_the_fixture(
    fixture: bytes, artifact: bytes, own: list[int]
) -> None:
    assert lines(fixture, artifact) == own


def test_a_line_of_another_fixture_file_is_not_the_agents() -> None:
    fixture = {"a.py": File(b"import os\n"), "sub/b.txt": File(b"  shared = 1\n")}
    artifact = {"new.py": File(b"import os\nshared = 1\nmine = 2\n")}
    assert agent_lines(fixture, artifact) == {"new.py": frozenset({3})}


def test_an_executable_bit_and_a_deleted_file_have_no_lines() -> None:
    fixture = {"a": File(b"x\n"), "b": File(b"y\n")}
    assert agent_lines(fixture, {"a": File(b"x\n", True)}) == {}


BAN = "fetch_csv_from_s3"


def test_a_banned_string_is_found_in_code_comments_and_binary_files() -> None:
    for line in (b"fetch_csv_from_s3()", b"# no fetch_csv_from_s3", b"\xff\x00fetch_csv_from_s3"):
        found = banned_string({}, {"a": File(b"ok\n" + line)}, ["other", BAN])
        assert found == Finding("banned_string", "a", 2, BAN)


def test_a_banned_string_on_a_line_of_the_fixture_is_not_the_agents() -> None:
    fixture = {"a.py": File(b"# never call fetch_csv_from_s3\n")}
    moved = {"a.py": File(b"x = 1\r\n    # never call fetch_csv_from_s3\r\n")}
    assert banned_string(fixture, moved, [BAN]) is None
    changed = {"a.py": File(b"# never call fetch_csv_from_s3!\n")}
    assert banned_string(fixture, changed, [BAN]) == Finding("banned_string", "a.py", 1, BAN)


def test_a_banned_string_in_an_added_path_is_found_with_line_0() -> None:
    added = {"lib/fetch_csv_from_s3.py": File(b"")}
    found = Finding("banned_string", "lib/fetch_csv_from_s3.py", 0, BAN)
    assert banned_string({}, added, [BAN]) == found
    assert banned_string({"lib/x": File(b"")}, added, [BAN]) == found
    assert banned_string(added, added, [BAN]) is None


def test_a_folder_of_the_fixture_is_not_the_agents_path() -> None:
    fixture = {"fetch_csv_from_s3/old.py": File(b"")}
    assert banned_string(fixture, {"fetch_csv_from_s3/new.py": File(b"")}, [BAN]) is None
    assert banned_string(fixture, {"fetch_csv_from_s3/new.py": File(b"")}, ["s3/new"]) is not None
    assert banned_string(fixture, {"fetch_csv_from_s3/new.py": File(b"")}, ["_s3/"]) is None


def test_the_first_finding_is_by_path_then_line() -> None:
    artifact = {"b": File(b"two\none"), "a": File(b"\n\none two")}
    assert banned_string({}, artifact, ["two", "one"]) == Finding("banned_string", "a", 3, "two")


def test_a_banned_string_that_is_not_ascii_is_looked_for_as_utf_8() -> None:
    found = banned_string({}, {"a": File("größe = 1".encode())}, ["größe"])
    assert found is not None
    assert found.what == "größe"
    assert banned_string({}, {"a": File(b"a\tb")}, ["a\tb"]) == Finding(
        "banned_string", "a", 1, "a\\tb"
    )


def test_an_empty_string_and_one_with_a_line_end_are_in_no_line() -> None:
    assert banned_string({}, {"a": File(b"x\ny")}, ["", "x\ny", "\ud800"]) is None


DATA = st.binary(max_size=60) | st.lists(
    st.sampled_from([b"a", b" b", b"\r", b"\n", b"\r\n", b"\0", b"\xff", b"ban"])
).map(b"".join)
TREES = st.dictionaries(st.sampled_from(["a.py", "d/b.txt", "d/ban", "c"]), DATA.map(File))


@settings(deadline=None)  # a busy machine is no failure
@given(TREES, TREES)
def test_agent_lines_hold_exactly_the_text_that_is_new(
    fixture: dict[str, File], artifact: dict[str, File]
) -> None:
    bom = b"\xef\xbb\xbf"
    data = [file.data.removeprefix(bom) for file in fixture.values()]
    known = {line.strip() for each in data for line in each.splitlines()}
    found = agent_lines(fixture, artifact)
    for path, file in artifact.items():
        for number, line in enumerate(file.data.removeprefix(bom).splitlines(), start=1):
            is_new = line.strip() not in known and bool(line.strip())
            assert (number in found.get(path, ())) == is_new


@settings(deadline=None)  # a busy machine is no failure
@given(TREES, TREES)
def test_a_banned_string_is_found_just_where_one_is(
    fixture: dict[str, File], artifact: dict[str, File]
) -> None:
    found = banned_string(fixture, artifact, ["ban"])
    own = agent_lines(fixture, artifact)
    in_lines = any(
        b"ban" in artifact[path].data.splitlines()[number - 1]
        for path, numbers in own.items()
        for number in numbers
    )
    assert (found is not None) == (in_lines or ("d/ban" in artifact and "d/ban" not in fixture))
    assert banned_string(artifact, artifact, ["ban"]) is None
