"""What the page says of an import: where the runs come from, and every mark by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from frozenbench.import_lines import TRUNCATED, axis_words, not_stated
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Item,
    Items,
    Paragraph,
    Section,
    Table,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs
from frozenbench.pages.notes import error_notes, sample_notes

#: Marks whose names all stand on the page; of others the first few.
_ALL_NAMES = ("contradiction", "no_rows", "left_out", "counting_rules", "duplicate")
_FEW = 5


def source_sections(controls: Mapping[str, Any], view: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return the sections that stand above every score of an import."""
    source = controls["source"]
    rows: list[list[Cell]] = [
        ["experiment", f"`{controls['experiment']['digest']}`"],
        ["runs", f"imported from {plain(', '.join(source['formats']))}, not run here"],
        ["files", f"{source['file_count']:,}, {source['bytes']:,} bytes"],
        ["files SHA-256", f"`{source['material']['files_sha256']}`"],
        ["budget", plain(axis_words(source))],
        [
            "tasks",
            f"{len(controls['tasks']):,}, SHA-256 of their ids `{controls['pack']['digest']}`",
        ],
        ["repeats", controls["repeats"]],
        ["metric", f"`{controls['metric']}`"],
    ]
    blocks: list[Block] = [
        table("What the logs state", ["control", "value"], rows, sortable=False),
        Paragraph(f"**{_not_stated(source)}.**"),
        *_files(source),
        _agents(controls, view),
    ]
    return (
        Section("controls", "Controls", tuple(blocks)),
        Section("named", "Named in these logs", (_marks(source),)),
    )


def _not_stated(source: Mapping[str, Any]) -> str:
    told = plain(not_stated(source))
    return told[0].upper() + told[1:]


def _files(source: Mapping[str, Any]) -> Iterator[Block]:
    shown = source["files"][:10]
    rows = [
        [plain(file["name"]), file["format"] or "not read", f"`{file['sha256'][:12]}`"]
        for file in shown
    ]
    yield table("Files that were read", ["file", "format", "SHA-256"], rows)
    more = source["file_count"] - len(shown)
    if more:
        yield Paragraph(f"… and {more} more; controls.json names them.")


def _agents(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Table:
    rows = []
    for name in view["agents"]:
        stated = controls["agents"][name]["sheet"]["stated"]
        told = "; ".join(f"{key}: {value}" for key, value in stated.items())
        rows.append([plain(name), plain(told) or "nothing"])
    return table("Agents", ["agent", "what its logs state"], rows)


def _marks(source: Mapping[str, Any]) -> Block:
    if not source["notices"]:
        return Paragraph("Nothing.")
    items = []
    for notice in source["notices"]:
        subjects = notice["subjects"]
        shown = subjects if notice["kind"] in _ALL_NAMES else subjects[:_FEW]
        below = [plain(subject) for subject in shown]
        if notice["count"] > len(shown) and len(subjects) > len(shown):
            below.append(f"… and more; controls.json names {len(subjects)}")
        items.append(Item(plain(f"{notice['count']:,} {notice['meaning']}"), tuple(below)))
    return Items(tuple(items))


def import_notes(inputs: PageInputs) -> Iterator[str]:
    """Yield what a reader needs to distrust the numbers of an import, one note each."""
    source = inputs.controls["source"]
    if source["axis"] is not None:
        yield (
            f"No budget was enforced: each curve is {TRUNCATED}, a lower bound for what the agent "
            "would do under that cap."
        )
    yield from sample_notes(inputs)
    yield from error_notes(inputs)
    yield "What a log cannot tell is null: whether an agent invented names, among others."
    yield "The grader is not ours: a verdict is what the log says."
    yield _not_stated(source) + "."
