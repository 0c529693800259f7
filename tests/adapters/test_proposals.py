"""The form of a proposal, for whatever JSON an agent sends."""

from __future__ import annotations

import json
from typing import Any

from frozenbench.adapters.contract import AgentCrashed
from frozenbench.adapters.proposals import parse_proposal, told
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
#: Text as JSON can say it: halves of surrogate pairs too.
TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "files": st.dictionaries(TEXT, st.none() | TEXT | JSON, max_size=3) | JSON,
        "tool_name": TEXT | JSON,
        "tokens": st.integers(-1, 2 * 10**12) | JSON,
        "done": st.booleans() | JSON,
        "gave_up": st.booleans() | JSON,
    },
)


@given(NEARLY | JSON)
def test_any_json_is_a_proposal_or_a_crash(value: Any) -> None:
    """What gets through can be told to the agent again, and written in UTF-8."""
    try:
        proposal = parse_proposal(value)
    except AgentCrashed as error:
        str(error).encode("utf-8")
        return
    told_again = told(proposal)
    assert parse_proposal(told_again) == proposal
    assert {name: told_again[name] for name in value if value[name] is not None} == {
        name: item for name, item in value.items() if item is not None
    }
    assert proposal.use.total is None or 0 <= proposal.use.total <= 10**12
    json.dumps([sorted(proposal.files), proposal.tool_name], ensure_ascii=False).encode("utf-8")
