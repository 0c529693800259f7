"""The loop over scripted agents under every kind of budget, against the text of PROTOCOL 4."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from frozenbench.adapters import noop
from frozenbench.adapters.contract import (
    Agent,
    Proposal,
    Turn,
    Use,
)
from frozenbench.canonical import File
from frozenbench.outcomes import METERS, End, Judgement, cap_of, decide
from frozenbench.run import meters as metering
from frozenbench.run.clock import AgentClock
from frozenbench.run.loop import POINTS, RECEIVE, Ended, Loop
from hypothesis import given, settings
from hypothesis import strategies as st

FIXTURE = {"answer.txt": File(b"start")}


@dataclass(frozen=True)
class Move:
    """One thing that an agent does when it is asked, and how long it takes."""

    change: bool = True
    tokens: int | None = 1
    seconds: int = 1
    done: bool = False
    gave_up: bool = False
    settles: bool = False
    settle_seconds: int = 0


@dataclass
class Hand:
    """The hand of the agent's clock."""

    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Scripted:
    """An agent that makes its moves in order; the last one for ever."""

    moves: list[Move]
    hand: Hand
    asked: int = 0
    turns: list[Turn] = field(default_factory=list)

    def _move(self, step: int) -> Move:
        return self.moves[min(step, len(self.moves) - 1)]

    def propose(self, turn: Turn) -> Proposal:
        move = self._move(turn.step)
        self.asked += 1
        self.turns.append(turn)
        self.hand.at += move.seconds
        now = turn.tree["answer.txt"].data.decode()
        return Proposal(
            files={"answer.txt": f"answer {turn.step}" if move.change else now},
            use=Use(total=move.tokens),
            done=move.done,
            gave_up=move.gave_up,
        )

    def settle(self, turn: Turn) -> bool:
        move = self._move(turn.step - 1)
        self.hand.at += move.settle_seconds
        return move.settles


@dataclass
class Run:
    """A run and what the agent saw of it."""

    ended: Ended
    agent: Scripted
    events: list[dict[str, Any]]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]

    @property
    def artifact(self) -> str:
        tree = self.ended.steps[-1].tree if self.ended.steps else FIXTURE
        return tree["answer.txt"].data.decode()


def run(
    moves: list[Move], caps: dict[str, float], forced: int | None = None, ticks: bool = True
) -> Run:
    """Let a scripted agent work; `ticks=False` stops the clock, as a replay on a faster machine."""
    hand = Hand()
    clock = AgentClock(hand, virtual=not ticks)
    agent, events = Scripted(moves, hand), []
    start = metering.start(frozenset(METERS), model=True)
    loop = Loop(FIXTURE, {"wall_clock": 10_000, **caps}, clock, start, events.append, forced)
    return Run(loop.run(nullcontext(agent), clock.start), agent, events)


@dataclass
class Right:
    """What PROTOCOL 4 says of a run."""

    ending: str = ""
    hits: tuple[str, ...] = ()
    calls: int = 0
    rounds: int = 0
    tokens: int | None = 0
    undelivered: int | None = 0
    asked: int = 0
    artifact: str = "start"


def by_protocol(moves: Iterable[Move], caps: dict[str, float]) -> Right:
    """Walk through the events of a run as the text of PROTOCOL 4 tells them."""
    right, seconds = Right(), 0

    def hit(**meters: bool) -> bool:
        """A cap is hit by what would pass it; two at one event stand in the fixed order."""
        order = ("tool_calls", "edit_rounds", "tokens", "wall_clock")
        right.hits = tuple(name for name in order if meters.get(name))
        right.ending = f"cap:{right.hits[0]}" if right.hits else ""
        return bool(right.hits)

    for step, move in enumerate(moves):
        # "a proposal after the last one", "a request with no tokens left", "the clock"
        if hit(
            tool_calls=right.calls == caps.get("tool_calls"),
            tokens=right.tokens is not None and right.tokens == caps.get("tokens"),
            wall_clock=seconds > caps["wall_clock"],
        ):
            break
        right.asked, seconds = right.asked + 1, seconds + move.seconds
        # "a response whose tokens do not fit"
        known = right.tokens is not None and move.tokens is not None
        total = (right.tokens or 0) + (move.tokens or 0)
        over, late = known and total > caps.get("tokens", 1e9), seconds > caps["wall_clock"]
        if hit(tokens=over, wall_clock=late):
            right.undelivered = move.tokens if over else 0
            break
        right.calls, right.tokens = right.calls + 1, total if known else None
        # "a change of the tree beyond the last edit round (not part of the artifact)"
        if move.change:
            if hit(edit_rounds=right.rounds == caps.get("edit_rounds")):
                break
            right.rounds, right.artifact = right.rounds + 1, f"answer {step}"
        if move.gave_up or move.done:
            right.ending = "gave_up" if move.gave_up else "finished"
            break
        seconds += move.settle_seconds
        if hit(wall_clock=seconds > caps["wall_clock"]):
            break
        if move.settles:
            right.ending = "finished"
            break
    return right


MOVES = st.builds(
    Move,
    change=st.booleans(),
    tokens=st.none() | st.integers(0, 9),
    seconds=st.integers(1, 4),
    done=st.sampled_from((False,) * 7 + (True,)),
    gave_up=st.sampled_from((False,) * 9 + (True,)),
    settles=st.sampled_from((False,) * 7 + (True,)),
    settle_seconds=st.integers(0, 3),
)
SCRIPTS = st.lists(MOVES, min_size=1, max_size=8)
CAPS = st.fixed_dictionaries(
    {"wall_clock": st.integers(1, 25)},
    optional={
        "tool_calls": st.integers(1, 8),
        "edit_rounds": st.integers(1, 6),
        "tokens": st.integers(1, 30),
    },
)


def endless(moves: list[Move]) -> Iterator[Move]:
    return itertools.chain(moves, itertools.repeat(moves[-1]))


@settings(max_examples=400)
@given(SCRIPTS, CAPS)
def test_every_run_ends_as_the_protocol_says(moves: list[Move], caps: dict[str, float]) -> None:
    seen, right = run(moves, caps), by_protocol(endless(moves), caps)
    ended, meters = seen.ended, seen.ended.meters
    assert (ended.ending, ended.hits) == (right.ending, right.hits)
    assert (meters.tool_calls, meters.edit_rounds) == (right.calls, right.rounds)
    assert (meters.tokens, meters.tokens_undelivered) == (right.tokens, right.undelivered)
    assert meters.model_calls == right.calls
    assert seen.artifact == right.artifact
    assert seen.agent.asked == right.asked, "nothing is asked of the agent after a hit"


@given(SCRIPTS, CAPS)
def test_delivered_use_never_passes_a_cap(moves: list[Move], caps: dict[str, float]) -> None:
    seen = run(moves, caps)
    for step in (*seen.ended.steps, seen.ended):
        used = step.meters.as_dict()
        for meter in ("tool_calls", "edit_rounds", "tokens"):
            assert (used[meter] or 0) <= caps.get(meter, 1e9)
    told = [event["event"] for event in seen.events]
    assert told[-1] == "end"
    assert told.count("proposal") == seen.ended.meters.tool_calls
    assert seen.agent.asked == told.count("proposal") + told.count("withheld")
    if cap_of(seen.ended.ending):
        assert seen.events[-1]["hits"] == list(seen.ended.hits), "all are in the trace"


@given(SCRIPTS, CAPS)
def test_history_is_the_agent_s_own_delivered_proposals(
    moves: list[Move], caps: dict[str, float]
) -> None:
    seen = run(moves, caps)
    for step, turn in enumerate(seen.agent.turns):
        assert turn.step == step == len(turn.history)
        assert 0 <= turn.remaining <= caps["wall_clock"]
        texts = [dict(proposal.files)["answer.txt"] for proposal in turn.history]
        changes = [text for number, text in enumerate(texts) if text == f"answer {number}"]
        assert turn.tree["answer.txt"].data.decode() == (changes[-1] if changes else "start")


@settings(max_examples=300)
@given(SCRIPTS, CAPS)
def test_a_recorded_clock_falls_at_exactly_the_same_event(
    moves: list[Move], caps: dict[str, float]
) -> None:
    """Replay on a machine on which no time passes: the same end, meters and artifact."""
    first = run(moves, caps)
    event = first.ended.clock_event
    assert (event is not None) == (first.ended.ending == "cap:wall_clock")
    if event is None:
        return
    again = run(moves, caps, forced=event, ticks=False)
    assert again.ended.ending == "cap:wall_clock"
    assert again.ended.clock_event == event
    assert again.ended.meters == first.ended.meters
    assert again.artifact == first.artifact
    assert len(again.ended.steps) == len(first.ended.steps)
    late = event % POINTS == RECEIVE
    assert again.agent.asked == first.agent.asked - late, "what came too late is not asked for"


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_used_up_and_done_is_finished(calls: int) -> None:
    moves = [Move()] * (calls - 1) + [Move(done=True)]
    caps = {"tool_calls": calls, "edit_rounds": calls, "tokens": calls, "wall_clock": calls}
    assert run(moves, caps).ended.ending == "finished"


def test_a_token_overshoot_is_withheld_whole() -> None:
    """C17: one reply that costs 90 % of the cap, twice."""
    seen = run([Move(tokens=90)], {"tokens": 100})
    assert (seen.ended.ending, seen.ended.meters.tokens) == ("cap:tokens", 90)
    assert seen.ended.meters.tokens_undelivered == 90
    assert seen.artifact == "answer 0"
    assert [event["use"]["total"] for event in seen.named("withheld")] == [90]
    not_green = Judgement(green=False, failure="assertion")
    assert decide(End(seen.ended.ending), not_green).outcome == "EXHAUSTED"
    assert decide(End(seen.ended.ending), Judgement(green=True)).reason == "green_at_cap"


def test_a_response_that_fits_exactly_is_delivered() -> None:
    seen = run([Move(tokens=50)], {"tokens": 100})
    assert seen.ended.meters.tokens == 100
    assert seen.ended.meters.tokens_undelivered == 0
    assert seen.agent.asked == 2, "no request is made with no tokens left"


def test_the_right_artifact_stays_where_the_agent_loops_on_to_its_cap() -> None:
    """C16: what was written before the cap is the artifact."""
    seen = run([Move(), Move(change=False)], {"tool_calls": 6})
    assert seen.ended.hits == ("tool_calls",)
    assert seen.artifact == "answer 0"
    assert [step.changed for step in seen.ended.steps] == [True, False, False, False, False, False]


def test_a_change_beyond_the_last_edit_round_is_not_part_of_the_artifact() -> None:
    seen = run([Move(done=False)] * 3 + [Move(done=True)], {"edit_rounds": 2})
    assert seen.ended.hits == ("edit_rounds",)
    assert seen.artifact == "answer 1"
    assert (seen.ended.meters.tool_calls, seen.ended.meters.edit_rounds) == (3, 2)
    assert len(seen.named("change_left_out")) == 1


def test_a_proposal_that_changes_nothing_is_no_edit_round() -> None:
    seen = run([Move(change=False)] * 5 + [Move(change=False, done=True)], {"edit_rounds": 1})
    assert (seen.ended.ending, seen.ended.meters.edit_rounds) == ("finished", 0)


def test_usage_that_is_missing_once_leaves_the_tokens_unknown() -> None:
    """C18: unknown is null; the run goes on, and its token cap can no longer be hit."""
    moves = [Move(tokens=9), Move(tokens=None), Move(tokens=900), Move(done=True)]
    seen = run(moves, {"tokens": 10})
    assert seen.ended.ending == "finished"
    assert seen.ended.meters.tokens is None
    assert seen.ended.meters.tool_calls == 4


def test_two_caps_at_one_event_take_the_order_and_both_are_told() -> None:
    asked = run([Move(tokens=5, seconds=1, settle_seconds=0)], {"tool_calls": 2, "tokens": 10})
    assert asked.ended.hits == ("tool_calls", "tokens")
    late = run([Move(tokens=5, seconds=20)], {"tokens": 4, "wall_clock": 10})
    assert late.ended.hits == ("tokens", "wall_clock")
    assert late.ended.clock_event is None, "the clock did not decide"


def subsets() -> Iterator[dict[str, float]]:
    """Every combination of caps that a budget can have; the clock is mandatory."""
    optional = ("tool_calls", "edit_rounds", "tokens")
    yield {"wall_clock": 0.5}
    for size, value in itertools.product((1, 2, 3), (1, 8, 100_000)):
        for names in itertools.combinations(optional, size):
            yield {**dict.fromkeys(names, value), "wall_clock": 0.5}


@pytest.mark.parametrize("caps", [*subsets()], ids=str)
def test_noop_is_exhausted_under_every_budget(caps: dict[str, float]) -> None:
    clock = AgentClock(virtual=noop.VIRTUAL_CLOCK)
    events: list[dict[str, Any]] = []
    loop = Loop(FIXTURE, caps, clock, metering.start(noop.METERS, False), events.append)

    class Cell:
        def __init__(self, caps: dict[str, float]) -> None:
            self.caps = caps

    opened: AbstractContextManager[Agent] = noop.open_agent(Cell(caps))  # type: ignore[arg-type]
    ended = loop.run(opened, clock.start)
    decision = decide(
        End(ended.ending, changed=bool(ended.steps)), Judgement(green=False, failure="assertion")
    )
    assert decision.outcome == "EXHAUSTED"
    assert decision.cap_hit == ("tool_calls" if "tool_calls" in caps else "wall_clock")
    assert ended.meters.tool_calls == caps.get("tool_calls", 0)
    assert (ended.steps, ended.seconds) == ((), 0.0)
