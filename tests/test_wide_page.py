"""A page of many agents, budgets and long names in a real Chromium: nothing is cut, all can be read."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from headless_chromium import Browser, browser, chromium
from small_experiment_files import Files, files_of
from small_study import ALPHA, CHAT, Study
from small_table import Rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        chromium() is None, reason="there is no Chromium here; cure: apt-get install chromium"
    ),
]

AGENTS, CAPS, TASKS = 25, (1, 2, 4, 8, 16, 32, 64, 128), 24
LONG = "an-agent-whose-name-is-as-long-as-sixty-characters-can-be-"


def many(study: Study, rows: Rows) -> None:
    """25 agents, 8 budgets, 24 tasks; names of 60 characters, ids of 100, one that nothing breaks."""
    names = [f"{LONG}{place:02d}" for place in range(AGENTS - 1)] + ["A" * 60]
    study.agents = {name: {**CHAT, "salt": name} for name in names}
    study.config["agents"] = names
    study.config["budgets"] = [
        {"name": f"at-most-{cap}-tool-calls-in-one-run", "max_tool_calls": cap, "max_seconds": 60}
        for cap in CAPS
    ]
    study.lines = [
        {**copy.deepcopy(ALPHA), "id": f"{place:03d}_" + "a_long_task_id" * 6}
        for place in range(TASKS)
    ]
    places = {name: place for place, name in enumerate(names)}
    for cell in rows.cells:
        if not cell["control"] and cell["agent"] in places and cell["task"][:3].isdigit():
            solved = places[cell["agent"]] * len(cell["budget"]) + int(cell["task"][:3])
            if solved % 7 > 3:
                cell.update(outcome="EXHAUSTED", reason="tool_calls", cap_hit="tool_calls")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_of(tmp_path_factory.mktemp("wide"), many, figures=[])


@pytest.fixture(scope="module")
def shown(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        found.look(1280, 900)
        found.open(files.page / "index.html")
        yield found


#: What stands beyond the right edge of the window and in no box that scrolls.
BEYOND = """
[...document.querySelectorAll('body *')]
  .filter((e) => !e.closest('.scroll, .skip, script, svg') || e.matches('caption span'))
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.tagName + ': ' + e.textContent.slice(0, 60))
"""


#: Cells of tables whose text runs over their edge, into the next one.
OVER = """
[...document.querySelectorAll('th, td, caption span')].filter((e) => !e.closest('.stacked thead'))
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.textContent.slice(0, 60))
"""


def settle(shown: Browser) -> None:
    """Wait until what a resize or a scroll sets off is done."""
    frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    shown.send("Runtime.evaluate", expression=frames, awaitPromise=True)


def test_it_is_small_and_quick(shown: Browser, files: Files) -> None:
    assert (files.page / "index.html").stat().st_size < 2_000_000
    start = time.monotonic()
    shown.open(files.page / "index.html")
    assert time.monotonic() - start < 5
    start = time.monotonic()
    shown.value(
        "[...document.querySelectorAll('thead button')].forEach((button) => button.click())"
    )
    assert time.monotonic() - start < 5, "every table is sorted by every column"
    shown.open(files.page / "index.html")


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window_but_what_scrolls(shown: Browser, width: int) -> None:
    shown.look(width, 800)
    settle(shown)
    assert shown.value("document.documentElement.scrollWidth") <= width
    assert shown.value(BEYOND) == []
    assert shown.value(OVER) == []
    hidden = (
        "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 2)"
    )
    assert shown.value(f"{hidden}.length") > 0
    assert shown.value(f"{hidden}.every((e) => e.parentElement.classList.contains('more'))")
    shown.value(f"{hidden}.forEach((e) => {{ e.scrollLeft = e.scrollWidth; }})")
    settle(shown)
    assert shown.value("document.querySelectorAll('.box.more').length") == 0
    shown.value("document.querySelectorAll('.scroll').forEach((e) => { e.scrollLeft = 0; })")


def test_the_name_of_a_row_stays_when_its_table_is_scrolled(shown: Browser) -> None:
    shown.look(360, 800)
    shown.value("document.querySelector('#scores .scroll').scrollLeft = 400")
    left = (
        "document.querySelector('#scores tbody th').getBoundingClientRect().left"
        " - document.querySelector('#scores .scroll').getBoundingClientRect().left"
    )
    assert abs(shown.value(left)) < 1
    share = "document.querySelector('#scores tbody th').getBoundingClientRect().width / innerWidth"
    assert shown.value(share) < 0.5, "what is scrolled keeps half of the window"
    shown.value("document.querySelector('#scores .scroll').scrollLeft = 0")


def test_a_long_table_scrolls_under_its_head(shown: Browser) -> None:
    shown.look(1280, 900)
    box = "document.querySelectorAll('#scores .scroll')[1]"
    assert shown.value(f"{box}.querySelectorAll('tbody tr').length") == AGENTS * len(CAPS)
    assert shown.value(f"{box}.clientHeight") < 900
    shown.value(f"{box}.scrollTop = 3000")
    top = f"{box}.querySelector('thead th').getBoundingClientRect().top - {box}.getBoundingClientRect().top"
    assert abs(shown.value(top)) < 1
    shown.value(f"{box}.scrollTop = 0")


def test_the_decision_table_is_read_without_scrolling_in_a_narrow_window(shown: Browser) -> None:
    shown.look(360, 800)
    box = "document.querySelector('#decisions .scroll')"
    assert shown.value(f"{box}.scrollWidth <= {box}.clientWidth")
    cells = "[...document.querySelectorAll('#decisions td')]"
    labels = f"{cells}.map((e) => getComputedStyle(e, '::before').content)"
    assert set(shown.value(labels)) == {
        '"budget to freeze"',
        '"metric to lead with"',
        '"what these data say"',
    }
    tree = shown.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node.get("ignored")]
    assert roles.count("table") == shown.value("document.querySelectorAll('table').length")


def test_nothing_is_cut_on_paper(shown: Browser) -> None:
    """A4 less its margins is 703 pixels wide."""
    shown.look(703, 1000)
    shown.send("Emulation.setEmulatedMedia", media="print")
    wide = (
        "[...document.querySelectorAll('table, pre, h1, h2, h3, p, li, summary')]"
        ".filter((e) => e.getBoundingClientRect().right > 704).map((e) => e.textContent.slice(0, 60))"
    )
    assert shown.value(wide) == []
    assert shown.value(OVER) == []
    assert shown.value("document.documentElement.scrollWidth") <= 704
    shown.send("Emulation.setEmulatedMedia", media="")


def test_headings_go_down_one_level_at_a_time(shown: Browser) -> None:
    levels = shown.value(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((e) => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_has_a_caption_and_every_head_a_scope(shown: Browser) -> None:
    assert shown.value(
        "[...document.querySelectorAll('table')].every((e) => e.caption.textContent.trim())"
    )
    assert shown.value(
        "[...document.querySelectorAll('th')].every((e) => e.scope === 'col' || e.scope === 'row')"
    )
    ids = shown.value("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert shown.value("document.documentElement.lang") == "en"
    assert shown.value("document.title").startswith("study: pass rate")


def test_nothing_moves_by_itself(shown: Browser) -> None:
    """So that there is nothing to stop for who prefers reduced motion."""
    moving = (
        "[...document.querySelectorAll('*')].map((e) => getComputedStyle(e))"
        ".filter((s) => s.animationName !== 'none' || s.transitionDuration !== '0s'"
        " || s.scrollBehavior !== 'auto').length"
    )
    assert shown.value(moving) == 0


def test_it_is_whole_without_javascript(files: Files, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as plain:
        plain.send("Emulation.setScriptExecutionDisabled", value=True)
        plain.look(1280, 900)
        plain.open(files.page / "index.html")
        assert plain.complaints == []
        tree = plain.send("Accessibility.getFullAXTree")["nodes"]
        named = [(node["role"]["value"], node["name"]["value"]) for node in tree if "name" in node]
        assert sum(role == "table" for role, _ in named) >= 8
        assert not [name for role, name in named if role == "button"], "nothing that cannot work"
        assert ("heading", "Scores") in named
