"""What figures are drawn from: the tables and control sheets of one view, read and checked once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from frozenbench.canonical import BadInput, read_json, sha256_file
from frozenbench.figures import style
from frozenbench.figures.task_cells import TaskCells, read_task_cells
from frozenbench.stats.flips import CAPS, axis_value, ladders
from frozenbench.stats.grid import equal_weights

Row = Mapping[str, Any]

_SUMMARY = (
    *("slice", "agent", "budget", "n", "pass_rate", "fail_test_rate", "assume_rate", "error_rate"),
    *("effective_n", "weighted_pass_rate", "weighted_low", "weighted_high"),
    *("exhaust_rate", "exhaust_low", "exhaust_high"),
    *("total_tokens", "tokens_n", "tokens_missing", "rank", "rank_low", "rank_high"),
)
_CONTRASTS = ("slice", "agent_a", "agent_b", "budget", "rejected")
_FLIPS = (
    *("slice", "agent_a", "agent_b", "ladder", "budget_from", "budget_to", "kind"),
    *("confirmed_from", "confirmed_to", "old_leader", "new_leader", "lead"),
)
_CELLS = ("agent", "budget", "control", "split", "network")
#: Figures that show single tasks.
_BY_TASK = ("task_grid",)


@dataclass(frozen=True)
class Sheet:
    """A JSON file of controls that says by name what is missing in it."""

    file: str
    data: Mapping[str, Any]

    def need(self, *keys: str, null: bool = False) -> Any:
        """Return the value at `keys`.

        Raises:
            BadInput: it is not there, or is null and `null` does not allow that.
        """
        found: Any = self.data
        for key in keys:
            if not isinstance(found, Mapping) or key not in found:
                raise self._missing(keys)
            found = found[key]
        if found is None and not null:
            raise self._missing(keys)
        return found

    def get(self, *keys: str) -> Any:
        """Return the value at `keys`, None where it is absent."""
        found: Any = self.data
        for key in keys:
            if not isinstance(found, Mapping):
                return None
            found = found.get(key)
        return found

    def _missing(self, keys: Sequence[str]) -> BadInput:
        return BadInput(
            f"{self.file}: {'.'.join(keys)}: is missing; no figure is drawn without its controls; "
            "cure: make the file again"
        )


@dataclass(frozen=True)
class Rung:
    """One budget on the axis: its name and its cap there, None where it has none."""

    name: str
    cap: float | None

    @property
    def label(self) -> str:
        """The cap as a plain number."""
        return "no cap" if self.cap is None else plain(self.cap)


@dataclass(frozen=True)
class Inputs:
    """All that a figure may show.

    Attributes:
        figure: the figure's name.
        controls, view: the sheets.
        facts: the headline numbers of the slice (statistics.json).
        responses: what is known of the model responses (measured.parquet).
        slice: the slice that is drawn; `other_slices` are in the tables alone.
        agents: names in the config's order.
        rungs: the budgets of the ladder that is drawn, the cap on the axis rising.
        left_out: budgets of other ladders, which are in the tables alone.
        points: (agent, budget) -> row of `summary`.
        flips: rows of `flips` of the ladder that is drawn.
        rejected: (agent, other, budget) of the rejected contrasts of the ladder that is drawn, each
            in both orders.
        cells, cells_expected: number of rows in the slice, and what the controls make it.
        cells_sha256: digest of cells.parquet.
        task_cells: every cell of the slice by task, where the figure shows tasks; else None.
    """

    figure: str
    controls: Sheet
    view: Sheet
    facts: Sheet
    responses: Mapping[str, Any]
    slice: str
    other_slices: tuple[str, ...]
    agents: tuple[str, ...]
    rungs: tuple[Rung, ...]
    left_out: tuple[str, ...]
    points: Mapping[tuple[str, str], Row]
    flips: tuple[Row, ...]
    rejected: frozenset[tuple[str, str, str]]
    cells: int
    cells_expected: int
    cells_sha256: str
    task_cells: TaskCells | None = None

    @property
    def axis(self) -> str:
        """The cap on the axis, such as `max_tool_calls`."""
        return str(self.view.need("budget_axis"))

    @property
    def about(self) -> str:
        """What the picture is of, by digests in full."""
        need = self.controls.need
        return (
            f"figure {self.figure}: experiment sha256 {need('experiment', 'digest')}; "
            f"pack sha256 {need('pack', 'digest')}; cells.parquet sha256 {self.cells_sha256}; "
            "controls: controls.json"
        )

    @property
    def imported(self) -> bool:
        """Whether the curves are cut out of finished runs that were made elsewhere."""
        return self.controls.get("source") is not None

    @property
    def tasks(self) -> dict[str, Mapping[str, Any]]:
        """The tasks of the slice whose network is blocked."""
        return _tasks(self.controls, self.slice)

    @property
    def equal_weights(self) -> bool:
        """Whether all tasks of the slice weigh the same."""
        return equal_weights(task.get("weight", 0) for task in self.tasks.values())

    @property
    def resolved_pairs(self) -> int:
        """Pairs with a rejected contrast on the ladder that is drawn."""
        return len({frozenset((agent, other)) for agent, other, _ in self.rejected})

    def leaders(self, rung: Rung) -> tuple[str, ...]:
        """Return the agents of rank 1 under a budget, in the config's order."""
        return tuple(name for name in self.agents if self.points[name, rung.name]["rank"] == 1)

    @property
    def focus(self) -> tuple[str, ...]:
        """Who has a colour where there are more agents than colours.

        As `focus` of the config says. Without it a rule that is fixed before any result: those that
        lead under some budget of the ladder, from the largest budget down, then the first of the
        config.
        """
        given = self.view.get("focus")
        if given is not None:
            return tuple(given)
        found = [name for rung in reversed(self.rungs) for name in self.leaders(rung)]
        return tuple(dict.fromkeys((*found, *self.agents)))[: style.FOCUSED]

    def series(self, agent: str, column: str) -> list[float | None]:
        """Return one column of an agent, by rung; None where it is not known."""
        found = [self.points[agent, rung.name][column] for rung in self.rungs]
        return [None if value is None else float(value) for value in found]


def plain(number: float) -> str:
    """Write a cap as people do: no exponent, no needless decimals."""
    return str(int(number)) if number == int(number) else str(number)


def read_inputs(
    figure: str, statistics: Path, controls: Path, view: Path, measured: Path, cells: Path
) -> Inputs:
    """Read the files of one view; arguments as `draw_figure`.

    Raises:
        BadInput: a file, column or control is missing, or a table belongs to other controls.
    """
    sheet = Sheet("controls.json", read_json(controls))
    seen = Sheet("view.json", read_json(view))
    digest = str(sheet.need("experiment", "digest"))
    summary = _read_rows(statistics / "summary.parquet", _SUMMARY, digest)
    slices = sorted(
        {str(row["slice"]) for row in summary}, key=lambda name: (name != "public", name)
    )
    if not slices:
        raise BadInput("summary.parquet: holds no row; cure: make the statistics again")
    drawn, agents = slices[0], tuple(seen.need("agents"))
    rungs, ladder, left_out = _rungs(sheet, seen)
    names = {rung.name for rung in rungs}
    contrasts = _read_rows(statistics / "contrasts.parquet", _CONTRASTS, digest)
    flips = _read_rows(statistics / "flips.parquet", _FLIPS, digest)
    budgets = tuple(seen.need("budgets"))
    held = _count(_read_rows(cells, _CELLS, digest), drawn, agents, budgets)
    size = len(agents) * len(budgets) * int(sheet.need("repeats"))
    expected = size * len(_tasks(sheet, drawn))
    if held > expected:
        raise BadInput(
            f"cells.parquet: holds {held} cells of the slice {drawn}, the controls make {expected}"
            "; cure: make the table again"
        )
    return Inputs(
        figure=figure,
        controls=sheet,
        view=seen,
        facts=_facts(statistics / "statistics.json", drawn),
        responses=_responses(measured, digest),
        slice=drawn,
        other_slices=tuple(slices[1:]),
        agents=agents,
        rungs=rungs,
        left_out=left_out,
        points=_points(summary, drawn, agents, budgets),
        flips=tuple(row for row in flips if row["slice"] == drawn and row["ladder"] == ladder),
        rejected=frozenset(
            (*pair, row["budget"])
            for row in contrasts
            if row["slice"] == drawn and row["budget"] in names and row["rejected"]
            for pair in permutations((row["agent_a"], row["agent_b"]))
        ),
        cells=held,
        cells_expected=expected,
        cells_sha256=sha256_file(cells),
        task_cells=read_task_cells(
            cells, list(_tasks(sheet, drawn)), agents, [rung.name for rung in rungs]
        )
        if figure in _BY_TASK
        else None,
    )


def _tasks(controls: Sheet, drawn: str) -> dict[str, Mapping[str, Any]]:
    subset = controls.get("task_subset")
    found: dict[str, Mapping[str, Any]] = {}
    for name in controls.need("tasks"):
        blocked = controls.need("tasks", name, "network") != "open"
        in_slice = controls.need("tasks", name, "split") == drawn
        if blocked and in_slice and (subset is None or name in subset):
            found[name] = controls.need("tasks", name)
    return found


def _rungs(controls: Sheet, view: Sheet) -> tuple[tuple[Rung, ...], str, tuple[str, ...]]:
    """Return the longest ladder (the first of equals), its name, and the budgets outside it."""
    axis = view.need("budget_axis")
    if axis not in CAPS:
        raise BadInput(f"view.json: budget_axis: {axis!r} is none of {', '.join(CAPS)}")
    held = {name: controls.need("budgets", name) for name in view.need("budgets")}
    for name in held if controls.get("source") is None else ():
        controls.need("budgets", name, "max_seconds")
    found = ladders(held, axis)
    chosen = max(found, key=lambda ladder: len(ladder.budgets))
    rungs = tuple(Rung(name, axis_value(held[name], axis)) for name in chosen.budgets)
    if len({rung.cap for rung in rungs}) < len(rungs):
        raise BadInput(
            f"controls.json: budgets: two of {', '.join(chosen.budgets)} have the same caps, so "
            "they have one place on the axis; cure: keep one of them"
        )
    return rungs, chosen.name, tuple(name for name in held if name not in chosen.budgets)


def _points(
    summary: Iterable[Row], drawn: str, agents: Sequence[str], budgets: Sequence[str]
) -> dict[tuple[str, str], Row]:
    found = {(row["agent"], row["budget"]): row for row in summary if row["slice"] == drawn}
    for agent in agents:
        for budget in budgets:
            if (agent, budget) not in found:
                raise BadInput(
                    f"summary.parquet: {agent} under {budget} is missing in the slice {drawn}; "
                    "cure: make the statistics again"
                )
    return found


def _count(cells: Iterable[Row], drawn: str, agents: Sequence[str], budgets: Sequence[str]) -> int:
    wanted = {(agent, budget) for agent in agents for budget in budgets}
    return sum(
        (row["agent"], row["budget"]) in wanted
        and not row["control"]
        and row["split"] == drawn
        and row["network"] != "open"
        for row in cells
    )


def _facts(path: Path, drawn: str) -> Sheet:
    """Return the facts of the slice: below `slices`, or on top where the file has one slice."""
    data = read_json(path)
    if drawn in data.get("slices", {}):
        data = {**data, **data["slices"][drawn]}
    return Sheet(path.name, data)


def _responses(measured: Path, digest: str) -> Mapping[str, Any]:
    metadata = _open(measured, digest).schema_arrow.metadata
    sheet = Sheet(
        f"{measured.name}: metadata",
        {"frozenbench.responses": json.loads(metadata.get(b"frozenbench.responses", b"null"))},
    )
    for key in ("distinct", "recorded"):
        sheet.need("frozenbench.responses", key)
    found: Mapping[str, Any] = sheet.need("frozenbench.responses")
    return found


def _open(path: Path, digest: str) -> pq.ParquetFile:
    """Open a Parquet table and check whose it is."""
    try:
        table = pq.ParquetFile(path)
    except FileNotFoundError:
        raise BadInput(f"{path.name}: is not there; cure: make it again") from None
    except (OSError, pa.ArrowException) as error:
        text = " ".join(str(error).split())
        raise BadInput(
            f"{path.name}: is no readable Parquet ({text}); cure: make it again"
        ) from None
    metadata = table.schema_arrow.metadata or {}
    try:
        named = json.loads(metadata[b"frozenbench.controls"])["experiment"]["digest"]
    except (KeyError, TypeError, ValueError):
        named = None
    if named != digest:
        raise BadInput(
            f"{path.name}: frozenbench.controls: names the experiment {named}, not {digest}; a "
            "figure is never drawn under other controls; cure: make the table again"
        )
    return table


def _read_rows(path: Path, columns: Sequence[str], digest: str) -> list[Row]:
    table = _open(path, digest)
    held = set(table.schema_arrow.names)
    for name in columns:
        if name not in held:
            raise BadInput(
                f"{path.name}: {name}: the column is missing; cure: make the table again"
            )
    rows: list[Row] = table.read(columns=list(columns)).to_pylist()
    return rows
