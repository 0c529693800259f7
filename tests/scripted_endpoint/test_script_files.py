"""Scripts: their files, their loops, and what is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.scripted_endpoint import parse_script, read_script


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    data = {
        "steps": [{"write": {"path": "a.py", "content": "x\n"}}, {"finish": "Done."}],
        "then": 0,
    }
    (tmp_path / "s.json").write_text(json.dumps(data))
    (tmp_path / "s.yaml").write_text(
        'steps:\n  - write: {path: a.py, content: "x\\n"}\n  - finish: Done.\nthen: 0\n'
    )
    assert read_script(tmp_path / "s.json") == read_script(tmp_path / "s.yaml")


def test_steps_repeat_and_a_loop_has_no_end() -> None:
    script = parse_script(
        {"steps": [{"say": "a"}, {"say": "b", "times": 2}, {"say": "c"}], "then": 1}
    )
    said = [script.step(number).say for number in range(10)]
    assert "".join(map(str, said)) == "abbcbbcbbc"
    assert parse_script({"steps": [{"say": "a"}]}).step(10**6).say == "a"


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ({}, "steps: is missing"),
        ({"steps": []}, "steps"),
        ({"steps": [{}]}, "steps.0: says nothing"),
        ({"steps": [{"sya": "x"}]}, r"steps\.0.*sya: unknown key; did you mean 'say'"),
        ({"steps": [{"say": "x"}], "then": 1}, "then: is 1"),
        ({"steps": [{"run": "ls", "read": "a"}]}, "read: stands beside run"),
        ({"steps": [{"finish": "x", "run": "ls"}]}, "finish: stands alone"),
        ({"steps": [{"status": 429, "say": "x"}]}, "status: an error"),
        ({"steps": [{"status": 200}]}, "status: is 200"),
        ({"steps": [{"calls": [{"run": "a", "read": "b"}]}]}, "calls.0: cure: one of"),
        ({"steps": [{"calls": [{}]}]}, "calls.0: cure: one of"),
        ({"steps": [{"say": "x", "wait": -1}]}, "wait"),
        ({"steps": [{"say": "x", "usage": "twice"}]}, "usage"),
    ],
)
def test_a_wrong_script_says_what_is_wrong(data: dict, wrong: str) -> None:
    with pytest.raises(BadInput, match=wrong) as error:
        parse_script(data, "mine.yaml")
    assert str(error.value).startswith("mine.yaml: ")
    assert "\n" not in str(error.value)
