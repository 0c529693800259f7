"""No way leads from a box to the network or to services of the host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from endurance import PLACES
from frozenbench.sandbox import work_folder
from host_state import new_mark
from ways_out import host, tried, ways_in

#: What the probe reaches without a box: were it not so, its refusals would prove nothing.
REACHED_OUTSIDE = ("host loopback, IPv4", "abstract Unix socket", "Unix socket of the host")


@pytest.mark.slow
@pytest.mark.usefixtures("environment")
def test_the_probe_finds_a_way_where_there_is_one(tmp_path: Path) -> None:
    with work_folder() as folder, host(folder, new_mark()) as outside:
        probe = outside.script(*REACHED_OUTSIDE)
        told = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
        assert ways_in(told.stdout.decode()) == dict.fromkeys(REACHED_OUTSIDE, "REACHED")
        assert outside.visitors() == len(REACHED_OUTSIDE)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_every_way_out_is_refused(place: str, environment: Path) -> None:
    with work_folder() as folder, host(folder, new_mark()) as outside:
        assert outside.visit() >= 5, "the listeners are reached from outside any box"
        ways = tried(place, environment, outside)
        assert len(ways) >= 30
        assert {name: way for name, way in ways.items() if way.startswith("REACHED")} == {}
        assert outside.visitors() == 0
