"""index.html in a real headless Chromium, and what no text of a pack, agent or model can do to it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from frozenbench.draw_figure import draw_figure
from frozenbench.number_text import p_value
from frozenbench.pages.blocks import (
    Code,
    Item,
    Items,
    Lines,
    Page,
    Paragraph,
    Picture,
    Rate,
    Section,
    Step,
    Stories,
    Story,
    Subheading,
    code,
    plain,
    spans,
    table,
)
from frozenbench.pages.html import html
from frozenbench.pages.markdown import markdown
from frozenbench.pages.rst import landing
from frozenbench.write_page import write_page
from headless_chromium import Browser, browser, chromium
from hypothesis import given, settings
from hypothesis import strategies as st
from small_experiment_files import Files, files_of

HOSTILE = (
    "</script></style></pre><script>window.hostile = 1</script>"
    "<img src=http://x.test/ onerror=hostile()>"
)


def page_of(text: str) -> Page:
    """A page that holds `text` wherever something from outside can stand."""
    story = Story(text, f"PASS ({text})", ((text, text),), text, (Step(text, text, (text,)),), text)
    closed = Story(text, text, ((text, text),), None, (), None, text)
    blocks = (
        Paragraph(text),
        Subheading(text),
        Items((Item(text, (text,)), Item(text, (text,), run_on=True))),
        table(text, [text, "rate", "n"], [[text, Rate(0.5, 0.25, 0.75), 3], [text, Rate(None), 2]]),
        table(text, [text, "lines"], [[text, Lines((text, "x", text))]], stacked=True),
        Picture("budget_curves", text),
        Code((text,)),
        Stories((story, closed)),
    )
    return Page(text, (Paragraph(text),), (Section("scores", text, blocks),))


class Tags(HTMLParser):
    """The tags of a page with the names of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # What is a number or an outcome has a class and a key of its own.
        kept = [name for name, _ in attrs if name not in ("class", "data-key")]
        self.found.append((tag, tuple(kept)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


#: No marks of ours: they become tags on purpose.
TEXTS = st.text(st.characters(exclude_characters="`*", exclude_categories=["Cs"]), min_size=1)


@given(text=TEXTS | st.sampled_from([HOSTILE, "{{ 7 * 7 }}", "{% raw %}", "\x00<!--", "&lt;b>"]))
@settings(max_examples=150, deadline=None)
def test_no_text_can_become_markup(text: str) -> None:
    svg = {"budget_curves": b"<svg/>"}
    assert Tags(html(page_of(text), svg)).found == Tags(html(page_of("x"), svg)).found


def test_hostile_text_is_shown_as_it_is() -> None:
    page = html(page_of(HOSTILE), {})
    assert "".join(Tags(page).texts).count("window.hostile = 1") >= 12
    assert page.count("<script") == 1
    told = markdown(page_of(HOSTILE))
    outside_code = re.sub(r"^ {4}.*$|`[^`]*`", "", told, flags=re.MULTILINE)
    assert "<script" not in outside_code
    assert "<img" not in outside_code


@pytest.mark.parametrize("p", [1.0, 0.5, 0.049999, 0.05, 0.0312, 4e-5, 2.0**-29, 2.0**-1000])
def test_a_p_however_small_is_sorted_as_the_number_it_is(p: float) -> None:
    page = html(
        Page("p", (), (Section("s", "s", (table("t", ["p"], [[p_value(p)], ["1"]]),)),)), {}
    )
    assert f'data-key="{p_value(p)}"' in page


@given(text=TEXTS | st.sampled_from([".. include:: /etc/passwd", "{{ config }}", "x_ `a`_ |b|"]))
@settings(max_examples=60, deadline=None)
def test_the_landing_page_of_a_report_shows_text_as_text(text: str) -> None:
    """What Snakemake does with it: a Jinja template, then docutils."""
    from docutils.core import publish_parts
    from jinja2 import Template

    told = landing(page_of(text), ("scores",))
    quiet = {"report_level": 2, "halt_level": 2, "file_insertion_enabled": True}
    body = publish_parts(Template(told).render(), writer="html", settings_overrides=quiet)["body"]
    assert "<a " not in body
    assert body.count('<div class="line">') == 3, "each line of a cell stands on one of its own"
    assert "root:" not in body


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cn"])))
@settings(max_examples=200, deadline=None)
def test_no_name_is_taken_for_marks(text: str) -> None:
    """Whatever agents and tasks are called, the page shows it sign by sign."""
    assert "".join(span.text for span in spans(plain(text))) == text
    assert {span.kind for span in spans(plain(text))} <= {"plain"}
    assert {(span.kind, span.text) for span in spans(code(text))} <= {("code", text)}
    assert "".join(span.text for span in spans(f"**{plain(text)}** x")).replace("**", "") in (
        f"{text} x",
        f"{text} x".replace("**", ""),
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (plain("a_b%c#d~^\\{}"), r"a_b%c#d\~^\\{}"),
        (plain("*x* `y` $z$"), r"\*x\* \`y\` \$z\$"),
        (plain("__init__ _x"), r"\__init_\_ \_x"),
        (code("a`b"), "`` a`b ``"),
        (plain("[a](http://x)"), r"[a]\(http://x)"),
        ("**strong** and `code`", "**strong** and `code`"),
    ],
)
def test_markdown_shows_a_name_as_it_is(text: str, written: str) -> None:
    told = markdown(Page("t", (Paragraph(text),), ()))
    assert told.splitlines()[2] == written


def test_a_name_that_begins_with_digits_is_no_number() -> None:
    rows = [["007_bond", "1 (1 to 3)", "−4.5"], ["12-factor", "2 (1 to 3)", "+12.5"]]
    page = html(Page("t", (table("t", ["task", "rank", "points"], rows),), ()), {})
    assert re.findall(r'data-key="([^"]*)"', page) == ["1", "-4.5", "2", "+12.5"[1:]]


def test_a_rate_is_told_in_words_beside_its_picture() -> None:
    page = html(page_of("x"), {})
    assert "<strong>50.0 %</strong> [25, 75]" in page
    assert 'aria-hidden="true"' in page


def test_the_policy_names_the_pages_own_style_and_script_alone() -> None:
    page = html(page_of(HOSTILE), {"budget_curves": b"<svg/>"})
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    policy = policy.replace("&#39;", "'")
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r'\s(on\w+|style)="', page), "an attribute that would run or draw"


# In a browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A small experiment with its figure, whose title is hostile."""
    found = files_of(tmp_path_factory.mktemp("page"), title=HOSTILE, figures=["budget_curves"])
    inputs: dict[str, Any] = {
        "statistics": found.statistics,
        "controls": found.experiment / "controls.json",
        "view": found.view / "view.json",
        "measured": found.experiment / "measured.parquet",
        "cells": found.experiment / "cells.parquet",
    }
    figures = found.view / "figures"
    draw_figure("budget_curves", out=figures / "budget_curves", **inputs)
    write_page(out=found.page, figures=figures, **inputs)
    first = (found.page / "index.html").read_bytes()
    write_page(out=found.page, figures=figures, **inputs)
    assert (found.page / "index.html").read_bytes() == first, "equal input, equal bytes"
    return found


@pytest.fixture(scope="module")
def shown(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("there is no Chromium here; cure: apt-get install chromium")
    with browser(tmp_path_factory.mktemp("profile")) as found:
        found.look(1280, 900)
        found.open(files.page / "index.html")
        yield found


def tab_to(shown: Browser, expression: str) -> None:
    """Press Tab until the focused element `e` satisfies a JavaScript expression."""
    for _ in range(200):
        shown.press("Tab")
        if shown.value(f"((e) => {expression})(document.activeElement)"):
            return
    raise AssertionError(f"Tab never comes to {expression}")


COLUMN = """
[...document.querySelectorAll('#scores table')[1].tBodies[0].rows].map(
    (row) => [row.cells[0].textContent.trim(), parseFloat(row.cells[3].textContent)])
"""
HEAD = "document.querySelectorAll('#scores table')[1].tHead.rows[0].cells[3]"


@pytest.mark.slow
class TestInChromium:
    def test_nothing_is_asked_for_and_nothing_complains(self, shown: Browser) -> None:
        asked = [url.split(":")[0] for url in shown.requests]
        assert asked.count("file") == 1
        assert set(asked) == {"file", "data"}
        assert shown.complaints == []
        assert shown.value("typeof window.hostile") == "undefined"
        assert shown.value("document.querySelector('figure img').naturalWidth") > 0

    def test_a_table_is_sorted_by_keyboard_alone(self, shown: Browser) -> None:
        before = shown.value(COLUMN)
        tab_to(shown, "e.closest('#scores') && e.textContent === 'weighted pass'")
        assert shown.value("document.activeElement.matches(':focus-visible')")
        assert shown.value(f"{HEAD}.getAttribute('aria-sort')") == "none"
        shown.press("Enter")
        rising = shown.value(COLUMN)
        assert [rate for _, rate in rising] == sorted(rate for _, rate in before)
        assert shown.value(f"{HEAD}.getAttribute('aria-sort')") == "ascending"
        shown.press(" ")
        falling = shown.value(COLUMN)
        assert [rate for _, rate in falling] == sorted((rate for _, rate in before), reverse=True)
        assert shown.value(f"{HEAD}.getAttribute('aria-sort')") == "descending"
        told = shown.value("document.getElementById('said').textContent")
        assert told.startswith("All rates: n = 2 tasks, effective n 1.8: sorted by weighted pass")
        assert told.endswith(", descending")
        assert sorted(map(tuple, falling)) == sorted(map(tuple, before)), "no row is lost"
        heads = f"[...{HEAD}.parentElement.cells].map((cell) => cell.getAttribute('aria-sort'))"
        assert sorted(set(shown.value(heads))) == ["descending", "none"]
        assert shown.value(heads).count("descending") == 1

    def test_the_first_stop_skips_to_the_results(self, shown: Browser, files: Files) -> None:
        shown.open(files.page / "index.html")
        shown.press("Tab")
        assert shown.value("document.activeElement.className") == "skip"
        assert shown.value("document.activeElement.getBoundingClientRect().left") >= 0
        shown.press("Enter")
        assert shown.value("document.activeElement.id") == "main"

    def test_landmarks_headings_and_tables_have_names(self, shown: Browser) -> None:
        tree = shown.send("Accessibility.getFullAXTree")["nodes"]
        named = {(node["role"]["value"], node["name"]["value"]) for node in tree if "name" in node}
        roles = {role for role, _ in named}
        assert {"banner", "main", "contentinfo"} <= roles
        assert ("navigation", "Sections") in named
        for title in ("Frozen controls", "Scores", "Ranking flips", "Check it and replay it"):
            assert ("region", title) in named
        tables = [name for role, name in named if role == "table"]
        assert "Ranking flips" not in tables, "there is none"
        assert "Contrasts: first minus second, in points" in tables
        assert "" not in tables
        assert {"columnheader", "rowheader"} <= roles
        assert all(name for role, name in named if role in ("image", "button"))

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_text_stands_out_from_its_ground(self, shown: Browser, dark: bool) -> None:
        shown.look(1280, 900, dark=dark)
        shown.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        found = shown.value(CONTRASTS)
        assert len(found) > 100
        assert [item for item in found if item[0] < 4.5] == []
        ground = shown.value("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") is not dark

    @pytest.mark.parametrize("width", [320, 360, 400, 1280])
    def test_a_narrow_window_scrolls_tables_and_not_the_page(
        self, shown: Browser, width: int
    ) -> None:
        shown.look(width, 800)
        assert shown.value("document.documentElement.scrollWidth") <= width
        cells = (
            "[...document.querySelectorAll('th, td')].filter((e) => !e.closest('.stacked thead'))"
        )
        over = f"{cells}.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"
        assert shown.value(over) == [], "no cell runs into the next"
        assert shown.value(
            "[...document.querySelectorAll('.scroll')].every((e) => e.tabIndex === 0)"
        )

    @pytest.mark.parametrize("width", [360, 1280])
    def test_a_word_of_any_length_stays_inside(
        self, shown: Browser, files: Files, tmp_path: Path, width: int
    ) -> None:
        """In titles, captions, heads and cells, lists, code and stories."""
        (tmp_path / "long.html").write_text(html(page_of("A" * 300), {}), "utf-8")
        shown.look(width, 800)
        shown.open(tmp_path / "long.html")
        shown.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert shown.value("document.documentElement.scrollWidth") <= width
        over = (
            "[...document.querySelectorAll('h1, h2, h3, p, li, pre, dd, summary, th, td, caption span')]"
            ".filter((e) => !e.closest('.stacked thead, .unseen'))"
            ".filter((e) => e.scrollWidth > e.clientWidth + 1)"
            ".map((e) => e.tagName + e.className)"
        )
        found = shown.value(over)
        shown.open(files.page / "index.html")
        assert found == []

    def test_it_prints(self, shown: Browser, tmp_path: Path) -> None:
        shown.look(1280, 900)
        shown.pdf(tmp_path / "page.pdf")
        data = (tmp_path / "page.pdf").read_bytes()
        assert data.startswith(b"%PDF-")
        assert data.count(b"/Type /Page\n") >= 2
        assert shown.complaints == []


#: (ratio, text) of every element with text of its own, by the formula of WCAG 2.
CONTRASTS = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map(
      (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  return [...document.body.querySelectorAll('*')]
    .filter((e) => !e.closest('script, svg, .unseen') && [...e.childNodes].some(
      (n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()))
    .map((e) => {
      const [one, other] = [light(parts(getComputedStyle(e).color)), light(ground(e))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      return [ratio, e.textContent.slice(0, 40)];
    });
})()
"""
