"""What an adapter may raise, what it lets out by mistake, and what is kept of the run."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from frozenbench.adapters.contract import (
    Agent,
    AgentCrashed,
    AgentKilled,
    ClockFell,
    EndpointDown,
    PinDrift,
    Proposal,
    ResourceLimit,
    Served,
    StartupTimeout,
    Turn,
    Use,
)
from frozenbench.canonical import BadInput, File
from frozenbench.outcomes import METERS
from frozenbench.run import meters as metering
from frozenbench.run.clock import AgentClock
from frozenbench.run.loop import POINTS, RECEIVE, Ended, Loop

FIXTURE = {"answer.txt": File(b"start")}


class Raising:
    """An agent that answers once and then raises."""

    def __init__(self, error: Exception, where: str = "propose") -> None:
        self.error, self.where = error, where

    def propose(self, turn: Turn) -> Proposal:
        if self.where == "propose" and turn.step == 1:
            raise self.error
        served = Served("k", True, "2024-01-01", 1.0, "small-1", infra_retries=1)
        return Proposal(files={"answer.txt": "first"}, use=Use(total=4), served=served)

    def settle(self, turn: Turn) -> bool:
        if self.where == "settle":
            raise self.error
        return False


def ended_by(error: Exception, where: str = "propose") -> Ended:
    clock = AgentClock()
    start = metering.start(frozenset(METERS), model=True)
    loop = Loop(FIXTURE, {"wall_clock": 60}, clock, start, lambda event: None)
    return loop.run(nullcontext(Raising(error, where)), clock.start)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (AgentCrashed("boom"), "crashed"),
        (ResourceLimit("boom"), "resource_limit"),
        (AgentKilled("boom"), "killed"),
        (StartupTimeout("boom"), "startup_timeout"),
        (EndpointDown("boom", infra_retries=3), "endpoint_down"),
        (PinDrift("boom", observed="small-2"), "pin_drift"),
    ],
)
def test_what_an_adapter_may_raise_is_an_ending(error: Exception, ending: str) -> None:
    ended = ended_by(error)
    assert (ended.ending, ended.message, ended.hits) == (ending, "boom", ())
    assert ended.meters.tokens == 4
    assert ended.steps[-1].tree["answer.txt"].data == b"first"
    assert ended.infra_retries == (4 if ending == "endpoint_down" else 1)
    assert ended.observed_model == ("small-2" if ending == "pin_drift" else "small-1")


@pytest.mark.parametrize("where", ["propose", "settle"])
def test_an_adapter_that_fails_by_itself_is_crashed(where: str) -> None:
    ended = ended_by(KeyError("files"), where)
    assert ended.ending == "crashed"
    assert f"the adapter's {where} raised KeyError (test_endings.py:" in ended.message
    assert "/" not in ended.message, "no path of this machine"


def test_wrong_input_is_no_fault_of_the_agent() -> None:
    with pytest.raises(BadInput, match="key_env"):
        ended_by(BadInput("key_env: is not set"))


def test_an_agent_that_cannot_be_started_is_an_ending_too() -> None:
    class Broken:
        def __enter__(self) -> Agent:
            raise StartupTimeout("not ready")

        def __exit__(self, *error: object) -> None:
            pass

    started: list[bool] = []
    loop = Loop(
        FIXTURE,
        {"wall_clock": 9},
        AgentClock(),
        metering.start(frozenset(METERS), False),
        lambda event: None,
    )
    ended = loop.run(Broken(), lambda: started.append(True))
    assert (ended.ending, ended.steps, started) == ("startup_timeout", (), [])


def test_the_tree_at_the_moment_of_the_clock_s_fall_lies_inside_the_budget() -> None:
    ended = ended_by(ClockFell({"answer.txt": File(b"by then")}))
    assert (ended.ending, ended.hits) == ("cap:wall_clock", ("wall_clock",))
    assert ended.clock_event == POINTS + RECEIVE
    assert ended.steps[-1].tree["answer.txt"].data == b"by then"
    assert ended_by(ClockFell()).steps[-1].tree["answer.txt"].data == b"first"


def test_a_tree_that_grew_too_large_does_not_count_and_is_told() -> None:
    class Large:
        def propose(self, turn: Turn) -> Proposal:
            return Proposal(too_large="too many files") if turn.step else Proposal({"b": "1"})

        def settle(self, turn: Turn) -> bool:
            return turn.step == 2

    clock, events = AgentClock(), []
    start = metering.start(frozenset(METERS), False)
    loop = Loop(FIXTURE, {"wall_clock": 60}, clock, start, events.append)
    ended = loop.run(nullcontext(Large()), clock.start)
    assert (ended.ending, ended.artifact_limit) == ("finished", True)
    assert set(ended.steps[-1].tree) == {"answer.txt", "b"}
    assert [event["note"] for event in events if event["event"] == "artifact_limit"]
