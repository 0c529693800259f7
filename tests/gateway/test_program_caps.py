"""PROTOCOL 4, "Caps" and "Ending", of an agent behind the gateway: real boxes, real sockets."""

from __future__ import annotations

import time

import pytest
from cell_project import RIGHT, CellProject, processes_with
from program_cells import events, program, used
from wire_endpoint import MODEL, NOTHING, WIRES, Says, sleeps, wire_endpoint, writes

pytestmark = pytest.mark.slow
kinds = pytest.mark.parametrize(
    ("wire", "stream"), [(wire, stream) for wire in WIRES for stream in ("", "stream")]
)
wires = pytest.mark.parametrize("wire", WIRES)


@kinds
def test_used_up_and_done_is_finished(cells: CellProject, wire: str, stream: str) -> None:
    cells.budget(max_tool_calls=2, max_tokens=45, max_edit_rounds=1)
    with wire_endpoint(wire, Says((writes(),)), Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert cell.run["hits"] == []
    assert used(cell, "tool_calls", "edit_rounds", "tokens") == (2, 1, 45)
    assert used(cell, "model_calls", "tokens_undelivered") == (3, 0)
    assert cell.changed() == {"app.py": "x = 1\n"}


@kinds
def test_a_response_with_more_tool_calls_than_remain_is_withheld_whole(
    cells: CellProject, wire: str, stream: str
) -> None:
    cells.budget(max_tool_calls=2)
    two = Says((writes("a.py"), writes("b.py")), usage=(20, 7))
    with wire_endpoint(wire, Says((NOTHING,)), two) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert cell.run["ending"] == "cap:tool_calls"
    assert used(cell, "tool_calls", "tokens", "tokens_undelivered") == (1, 15, 27)
    assert "told of the end" in cell.log
    (withheld,) = events(cell, "withheld")
    assert withheld["tool_calls"] == 2
    (hit,) = events(cell, "hit")
    assert hit["measured"]["tool_calls"] == 1
    assert len(endpoint.asked) == 2
    assert not [step for step in cell.run["steps"] if step["snapshot"]]


@kinds
def test_parallel_tool_calls_count_each(cells: CellProject, wire: str, stream: str) -> None:
    cells.budget(max_tool_calls=3)
    three = Says((writes("a.py"), writes("b.py"), NOTHING))
    with wire_endpoint(wire, three) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert used(cell, "tool_calls", "model_calls") == (3, 2)


@kinds
def test_tokens_that_do_not_fit_are_withheld(cells: CellProject, wire: str, stream: str) -> None:
    cells.budget(max_tokens=100)
    reply = Says((NOTHING,), usage=(80, 10))
    with wire_endpoint(wire, reply, reply) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert cell.run["ending"] == "cap:tokens"
    assert used(cell, "tokens", "tokens_undelivered", "tool_calls") == (90, 90, 1)


@wires
def test_a_request_with_no_tokens_left_is_not_forwarded(cells: CellProject, wire: str) -> None:
    cells.budget(max_tokens=15)
    with wire_endpoint(wire, Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:tokens"
    assert used(cell, "tokens", "tokens_undelivered") == (15, 0)
    assert len(endpoint.asked) == 1


@kinds
def test_soft_stop_once_then_400_then_the_end(cells: CellProject, wire: str, stream: str) -> None:
    cells.budget(max_tool_calls=1)
    with wire_endpoint(wire, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root, stream, "stubborn", "linger")
        cell = cells.run()
    assert cell.run["ending"] == "cap:tool_calls"
    assert cell.events.count("soft_stop") == 1
    assert cell.log.count("told of the end") == 1
    # It took the soft stop for an answer without tool calls, and lingered until it was ended.
    assert cell.seconds < 9
    assert len(endpoint.asked) == 2
    assert processes_with("agents/agent.py") == []


@wires
def test_who_asks_on_is_refused_without_a_retry(cells: CellProject, wire: str) -> None:
    cells.budget(max_tool_calls=1)
    with wire_endpoint(wire, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root, "many=3", "stubborn")
        cell = cells.run()
    assert cell.run["ending"] == "cap:tool_calls"
    assert cell.events.count("soft_stop") == 1
    assert cell.run["gateway"]["refused"] > 3
    assert "refused 400 false" in cell.log
    assert used(cell, "tool_calls") == (1,)
    assert len(endpoint.asked) == 2


@wires
def test_hit_and_ended_within_five_seconds(cells: CellProject, wire: str) -> None:
    cells.budget(max_tool_calls=1)
    with wire_endpoint(wire, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root, "linger")
        begun = time.monotonic()
        cell = cells.run()
        took = time.monotonic() - begun
    assert 3.9 < took < 8
    (hit,), (end,) = events(cell, "hit"), events(cell, "end")
    assert cell.run["measured"]["seconds"] - hit["seconds"] < 5.0
    assert end["ending"] == "cap:tool_calls"


@wires
def test_a_change_beyond_the_last_edit_round_is_left_out(cells: CellProject, wire: str) -> None:
    cells.budget(max_edit_rounds=1)
    script = Says((writes("a.py", "1\n"),)), Says((writes("a.py", "2\n"),))
    with wire_endpoint(wire, *script, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:edit_rounds"
    assert used(cell, "edit_rounds", "tool_calls") == (1, 2)
    assert cell.changed() == {"a.py": "1\n"}
    assert len(endpoint.asked) == 2


@wires
def test_the_last_change_is_looked_at_when_the_agent_has_ended(
    cells: CellProject, wire: str
) -> None:
    cells.budget(max_edit_rounds=1)
    both = Says((writes("a.py", "1\n"),)), Says((writes("a.py", "2\n"), ("exit", {})))
    with wire_endpoint(wire, *both) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:edit_rounds"
    assert cell.changed() == {"a.py": "1\n"}


HIDES = """
import http.client, json, os, sys
connection = http.client.HTTPConnection(sys.argv[1].removeprefix("http://"), timeout=30)
for place in range(2001):
    open(f"heap{place}", "w").close()
for number in range(6):
    open("app.py", "w").write(f"x = {number}")
    body = json.dumps({"messages": [{"role": "user", "content": str(number)}]})
    connection.request("POST", "/v1/chat/completions", body)
    print("got", connection.getresponse().read()[:80], flush=True)
for place in range(2001):
    os.unlink(f"heap{place}")
"""


def test_a_heap_of_files_hides_no_edits(cells: CellProject) -> None:
    cells.budget(max_edit_rounds=3, max_seconds=60)
    with wire_endpoint(WIRES[0]) as endpoint:
        cells.agent(
            HIDES,
            adapter="program",
            argv=["python", "agents/agent.py", "{base_url}"],
            endpoint={"id": "e", "wire": WIRES[0], "model": MODEL, "base_url": endpoint.root},
        )
        cell = cells.run()
    assert cell.run["ending"] == "cap:edit_rounds"
    assert used(cell, "edit_rounds", "model_calls") == (3, 3)
    assert len(endpoint.asked) == 3
    assert cell.run["artifact_limit"]


BUILDS = """
import http.client, json, mmap, os, shutil, sys
connection = http.client.HTTPConnection(sys.argv[1].removeprefix("http://"), timeout=30)

def ask(said):
    body = json.dumps({"messages": [{"role": "user", "content": said}]})
    connection.request("POST", "/v1/chat/completions", body)
    print("got", connection.getresponse().read()[:80], flush=True)

ask("hello")
for place in range(60):
    os.makedirs(f"third_party/{place}")
    for part in range(50):
        open(f"third_party/{place}/{part}", "w").close()
open("app.py", "w").write("x = 1\\n")
file = open("app.py", "r+b")
shown = mmap.mmap(file.fileno(), 6)
ask("built")
for number in range(4):
    ask(f"nothing done: {number}")
MORE
shutil.rmtree("third_party")
"""


def builder(cells: CellProject, root: str, more: str = "") -> None:
    cells.agent(
        BUILDS.replace("MORE", more),
        adapter="program",
        argv=["python", "agents/agent.py", "{base_url}"],
        endpoint={"id": "e", "wire": WIRES[0], "model": MODEL, "base_url": root},
    )


def test_a_large_folder_that_does_not_change_is_no_edit(cells: CellProject) -> None:
    cells.budget(max_edit_rounds=2, max_seconds=60)
    with wire_endpoint(WIRES[0]) as endpoint:
        builder(cells, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert used(cell, "edit_rounds", "model_calls") == (2, 6)
    assert cell.changed() == {"app.py": "x = 1\n"}
    told = [event["changed"] for event in events(cell, "artifact_limit")]
    assert told == [True, False, False, False, False]


MAPPED = """
for number in range(2, 5):
    shown[4:5] = str(number).encode()
    os.utime("app.py", ns=(0, 0))
    ask(f"edited {number}")
"""


def test_an_edit_that_changes_no_time_stamp_counts(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        builder(cells, endpoint.root, MAPPED)
        cell = cells.run()
    assert used(cell, "edit_rounds", "model_calls") == (5, 9)
    assert cell.changed() == {"app.py": "x = 4\n"}


@wires
def test_caches_are_no_edit(cells: CellProject, wire: str) -> None:
    cells.budget(max_edit_rounds=1)
    script = [
        Says((writes("app.pyc"),)),
        Says((writes("app.py", RIGHT),)),
        Says((writes("x.pyc"),)),
    ]
    with wire_endpoint(wire, *script) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert used(cell, "edit_rounds") == (1,)
    assert cell.changed() == {"app.py": RIGHT}


@wires
def test_the_clock_falls_while_the_agent_works(cells: CellProject, wire: str) -> None:
    cells.budget(max_seconds=1.5)
    script = Says((writes("a.py"),)), Says((writes("b.py"), sleeps(30)))
    with wire_endpoint(wire, *script) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:wall_clock"
    assert cell.changed() == {"a.py": "x = 1\n"}  # the step that it cut is not part of the artifact
    assert cell.seconds < 12
    (hit,) = events(cell, "hit")
    assert 1.5 < hit["measured"]["seconds"] < 2.2


@wires
def test_the_clock_falls_while_the_endpoint_answers(cells: CellProject, wire: str) -> None:
    cells.budget(max_seconds=1)
    with wire_endpoint(wire, Says((NOTHING,)), Says((NOTHING,), seconds=20)) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:wall_clock"
    assert used(cell, "tool_calls", "tokens", "tokens_undelivered") == (1, 15, 0)
    assert 0.9 < cell.run["measured"]["seconds"] < 2


@wires
def test_the_clock_starts_at_the_first_request(cells: CellProject, wire: str) -> None:
    cells.budget(max_seconds=1)
    with wire_endpoint(wire) as endpoint:
        program(cells, wire, endpoint.root, variables={"WAIT": "1.5"})
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert cell.run["measured"]["startup_seconds"] > 1.5
    assert cell.run["measured"]["seconds"] < 1


def test_an_agent_that_never_asks_times_out(cells: CellProject) -> None:
    program(cells, WIRES[0], "http://127.0.0.1:1", variables={"WAIT": "60"})
    cell = cells.run(startup_timeout_s=1.0)
    assert cell.run["ending"] == "startup_timeout"
    assert cell.seconds < 8


def test_an_agent_that_ends_without_a_response_crashed(cells: CellProject) -> None:
    cells.agent(
        adapter="program",
        argv=["python", "-c", "open('app.py', 'w').write('x')"],
        endpoint={"id": "e", "wire": WIRES[0], "model": "m", "base_url": "http://127.0.0.1:1"},
    )
    assert cells.run().run["ending"] == "crashed"


@wires
def test_two_caps_at_one_event_are_ordered(cells: CellProject, wire: str) -> None:
    cells.budget(max_tool_calls=1, max_tokens=20)
    with wire_endpoint(wire, Says((NOTHING,)), Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "cap:tool_calls"
    assert cell.run["hits"] == ["tool_calls", "tokens"]


def test_what_the_agent_does_before_it_asks_is_a_change(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        program(cells, WIRES[0], endpoint.root, "early")
        cell = cells.run()
    assert used(cell, "edit_rounds") == (1,)
    assert cell.changed() == {"early.txt": "early"}
