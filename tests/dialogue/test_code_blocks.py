from __future__ import annotations

import textwrap

import pytest
from frozenbench.dialogue.code_blocks import blocks, files_of
from hypothesis import given
from hypothesis import strategies as st

ONE = ("app.py",)


def reply(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


CASES: dict[str, tuple[str, dict[str, str]]] = {
    "one block": ("Here:\n```python\nx = 1\n```\nDone.", {"app.py": "x = 1\n"}),
    "no language": ("```\nx = 1\n```", {"app.py": "x = 1\n"}),
    "tildes": ("~~~py\nx = 1\n~~~", {"app.py": "x = 1\n"}),
    "no block": ("x = 1", {}),
    "code in a sentence": ("Use ```x = 1``` here.\n```x``` y", {}),
    "empty block": ("```python\n\n```", {}),
    "unclosed": ("```python\nx = 1\ny = 2", {"app.py": "x = 1\ny = 2\n"}),
    "unclosed after prose": ("Text.\n\n```python\nx = 1\n\n\n", {"app.py": "x = 1\n"}),
    "line ends": ("```python\r\nx = 1\r\n```\r\n", {"app.py": "x = 1\n"}),
    "blank lines at the end": ("```\nx = 1\n\n \n```", {"app.py": "x = 1\n"}),
    "blank lines at the start": ("```\n\nx = 1\n```", {"app.py": "\nx = 1\n"}),
    "space at a line's end": ('```\nx = """a  \n"""\n```', {"app.py": 'x = """a  \n"""\n'}),
    "first of several": ("```py\nx = 1\n```\n```py\nx = 2\n```", {"app.py": "x = 1\n"}),
    "language that fits": (
        "```bash\npip list\n```\n```python\nx = 1\n```",
        {"app.py": "x = 1\n"},
    ),
    "no language that fits": ("```bash\npip list\n```", {"app.py": "pip list\n"}),
    "path in the info string": ("```python src/a.py\nx = 1\n```", {"src/a.py": "x = 1\n"}),
    "path behind a colon": ("```python:src/a.py\nx = 1\n```", {"src/a.py": "x = 1\n"}),
    "path as the info string": ("```src/a.py\nx = 1\n```", {"src/a.py": "x = 1\n"}),
    "path as an attribute": ('```python title="src/a.py"\nx = 1\n```', {"src/a.py": "x = 1\n"}),
    "path in the line before": ("**src/a.py**\n\n```python\nx = 1\n```", {"src/a.py": "x = 1\n"}),
    "path in a heading": ("### File: `src/a.py`:\n```\nx = 1\n```", {"src/a.py": "x = 1\n"}),
    "path without a suffix": ("docs/NOTES\n```\nx\n```", {"docs/NOTES": "x\n"}),
    "dot folder": ("```python ./a.py\nx = 1\n```", {"a.py": "x = 1\n"}),
    "a sentence is no path": ("This is app.py now.\n```\nx = 1\n```", {"app.py": "x = 1\n"}),
    "a version is no path": ("Python\n3.11\n```\nx = 1\n```", {"app.py": "x = 1\n"}),
    "several files": (
        "a.py\n```\nx = 1\n```\nb.py\n```\ny = 1\n```",
        {"a.py": "x = 1\n", "b.py": "y = 1\n"},
    ),
    "the same file twice": ("a.py\n```\nx = 1\n```\na.py\n```\nx = 2\n```", {"a.py": "x = 2\n"}),
    "a path is used once": (
        "b.py\n```\nx = 1\n```\n```\ny = 1\n```",
        {"b.py": "x = 1\n", "app.py": "y = 1\n"},
    ),
    "named beside a shell": ("b.py\n```\nx = 1\n```\n```sh\nls\n```", {"b.py": "x = 1\n"}),
    "the artifact is named": (
        "```python\nx = 0\n```\n```python app.py\nx = 1\n```",
        {"app.py": "x = 1\n"},
    ),
    "upward": ("```python ../a.py\nx = 1\n```", {}),
    "absolute": ("/etc/passwd\n```\nx\n```", {}),
    "upward in the middle": ("```python a/../../b.py\nx = 1\n```", {}),
    "backslash": ("```python a\\b.py\nx = 1\n```", {}),
    "longer fence holds a shorter": (
        "````markdown\n```python\nx = 1\n```\n````",
        {"app.py": "```python\nx = 1\n```\n"},
    ),
    "other fence inside": ("```\n~~~\nx\n~~~\n```", {"app.py": "~~~\nx\n~~~\n"}),
    "in a list": (
        "1. First:\n   ```python\n   def f():\n       pass\n   ```",
        {"app.py": "def f():\n    pass\n"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rules(case: str) -> None:
    text, files = CASES[case]
    assert files_of(text, ONE) == files


@pytest.mark.parametrize("artifact", [(), ("a.py", "b.py")])
def test_without_one_artifact_a_block_needs_a_path(artifact: tuple[str, ...]) -> None:
    assert files_of("```python\nx = 1\n```", artifact) == {}
    assert files_of("```python c.py\nx = 1\n```", artifact) == {"c.py": "x = 1\n"}


LINE = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]).filter(lambda c: c not in "`~"),
    max_size=20,
)
CODE = st.lists(LINE, min_size=1, max_size=8).filter(lambda lines: any(s.strip() for s in lines))


def block_text(lines: list[str]) -> str:
    kept = list(lines)
    while not kept[-1].strip():
        kept.pop()
    return "".join(line + "\n" for line in kept)


@given(
    CODE,
    st.sampled_from(["```", "````", "~~~", "~~~~~"]),
    st.sampled_from(["", "  ", "\t"]),
    st.booleans(),
)
def test_what_is_fenced_comes_back(lines: list[str], fence: str, indent: str, closed: bool) -> None:
    inside = [indent + line for line in lines]
    text = "\n".join(["Some prose.", indent + fence + "python", *inside])
    assert files_of(text + (f"\n{indent}{fence}\nmore" if closed else ""), ONE) == {
        "app.py": block_text(lines)
    }


@given(st.dictionaries(st.sampled_from(["a.py", "s/b.py", "c/d/e.txt"]), CODE))
def test_many_files_come_back(files: dict[str, list[str]]) -> None:
    text = "".join(
        f"```python {path}\n" + "\n".join(lines) + "\n```\n\n" for path, lines in files.items()
    )
    assert files_of(text, ("x", "y")) == {path: block_text(code) for path, code in files.items()}


MARKDOWN = st.lists(
    st.sampled_from(["```", "~~~", "```python", "```py a.py", "`", "a.py", "../b", "/c", "x", ""])
    | LINE,
    max_size=12,
).map("\n".join)


@given(MARKDOWN | st.text(max_size=200))
def test_whatever_a_model_says(text: str) -> None:
    for path, content in files_of(text, ONE).items():
        assert path
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(path.split("/"))
        assert content.strip()
        assert content.endswith("\n")
        assert not content.endswith("\n\n")
    assert files_of(text.replace("\n", "\r\n"), ONE) == files_of(text, ONE) or "\r" in text


def test_language_and_path_of_a_block() -> None:
    (block,) = blocks("```Python file=a.py\nx\n```")
    assert (block.language, block.path, block.text) == ("python", "a.py", "x\n")
