"""Give runs the verdicts that stand in reports beside them: each verdict is of one run.

Whose a report is, is told by what it says of itself, by its name, and by the folder that it lies
in: the nearest report above a run counts. What could be of several runs is given to none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from frozenbench.importers.documents import place_of, stem
from frozenbench.importers.model import OTHERS, Part, Remark, Row, Verdict

#: What a run is told by: its agent, and its folder or file.
RunKey = tuple[str, str]
#: Folders of a run in which its reports lie: what is in them stands beside its trajectories.
_REPORTS = {"results", "reports", "eval", "evals", "evaluation", "sb-cli-reports"}
#: Folders that hold one report for each task, and so the folders above them, too.
_LOGS = {"logs", "eval_outputs"}
#: What the harness of SWE-bench writes into: `logs/run_evaluation/RUN/MODEL`.
_EVALUATIONS = "run_evaluation"


#: What verdicts that contradict each other say.
SOLVED_AND_NOT = "solved, and not solved"


def contradict(told: Iterable[bool | None]) -> bool:
    """Tell whether verdicts on one run contradict each other.

    Lists of what the grader said of runs that are not solved overlap in reports.
    """
    kinds = set(told)
    return True in kinds and len(kinds) > 1


def run_key(row: Row) -> RunKey:
    """Return what the run of a row is told by."""
    return row.agent, row.run or row.file


def names_of(run: RunKey) -> set[str]:
    """Return what a run can be called: after its agent, its folder or its file."""
    agent, place = run[0], PurePosixPath(run[1])
    own = {name for name in (agent, place.name, stem(place.name)) if name}
    return own | {_coded(name) for name in own}


def _coded(name: str) -> str:
    """Return a name as SWE-bench writes it into the name of a file."""
    return name.replace("/", "__")


def spoken_of(folder: PurePosixPath, inner: Collection[str] = _REPORTS) -> PurePosixPath:
    """Return the folder that a report in a folder speaks of: the one above the run's own folders."""
    while folder.name.lower() in inner:
        folder = folder.parent
    return folder


@dataclass(frozen=True)
class _Report:
    """The verdicts of one file, or of a folder with one file for each task.

    Attributes:
        place: the file or the folder, as it is called to people.
        path: where that is, from the root on: what lies below it does not hang on the folder that
            is open.
        agents: whom its verdicts name.
        solved: task -> its verdict; None: it has none, or the grader broke.
        torn: the tasks of which it holds several verdicts that contradict each other.
        whole: whether it lists what is solved alone: all others of its run are not.
        files: task -> the file that its verdict stands in.
        many: whether it is a folder.
        run: the run that it is of, where that is known already.
    """

    place: str
    path: PurePosixPath
    agents: frozenset[str]
    solved: Mapping[str, bool | None]
    whole: bool
    files: Mapping[str, str]
    many: bool = False
    run: RunKey | None = None
    torn: frozenset[str] = frozenset()

    def verdicts_on(self, task: str) -> tuple[bool | None, ...]:
        """Return what it says of a task; what it does not name is not solved."""
        return (True, False) if task in self.torn else (self.solved.get(task, False),)

    @cached_property
    def folder(self) -> PurePosixPath:
        """The folder that it speaks of."""
        place = self.path
        if not self.many:
            return spoken_of(place.parent)
        of_harness = place.parent.parent.name == _EVALUATIONS
        return spoken_of(place.parents[2] if of_harness else place, _REPORTS | _LOGS)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What it is called: its own name, or those of its folder and of the one above."""
        place = self.path
        return (place.name, place.parent.name) if self.many else (stem(place.name),)

    def names(self, run: RunKey) -> int:
        """Return how often the report names a run: in what it says, and in its own name."""
        names = names_of(run)
        coded = {_coded(name) for name in names}
        titled = sum(_titled(title, name) for title in self.titles for name in coded)
        return bool(self.agents & names) + titled

    def owners(self, runs: Iterable[RunKey]) -> set[RunKey]:
        """Return the runs that it names best; none where it names none of them."""
        if self.run is not None:
            return {self.run}
        counts = {run: self.names(run) for run in runs}
        most = max(counts.values(), default=0)
        return {run for run, count in counts.items() if count == most} if most else set()


def _titled(title: str, name: str) -> bool:
    """Tell whether a report is called after a run: `MODEL.RUN.json`, `SUBSET__SPLIT__RUN.json`."""
    return (
        title == name or title.startswith(f"{name}.") or title.endswith((f".{name}", f"__{name}"))
    )


def _reports(verdicts: Iterable[Verdict], places: Mapping[str, Path]) -> Iterator[_Report]:
    """Yield the reports that verdicts stand in.

    Of several verdicts on one task the last counts; where they contradict each other none does.
    """
    held: dict[tuple[str, str, RunKey | None], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        held[verdict.folder, _own_file(verdict), verdict.run].append(verdict)
    for (folder, file, run), inside in held.items():
        named = frozenset(verdict.agent for verdict in inside if verdict.agent is not None)
        told: dict[str, list[bool | None]] = defaultdict(list)
        for verdict in inside:
            told[verdict.task].append(verdict.solved)
        whole = told.pop(OTHERS, None) is not None
        torn = frozenset(task for task, held in told.items() if contradict(held))
        solved = {task: None if task in torn else held[-1] for task, held in told.items()}
        files = {verdict.task: verdict.file for verdict in inside}
        path = _path(inside[0], places)
        yield _Report(folder or file, path, named, solved, whole, files, bool(folder), run, torn)


def _path(verdict: Verdict, places: Mapping[str, Path]) -> PurePosixPath:
    """Return where the report of a verdict is: its file, or the folder of one file for each task."""
    file = _place(verdict.file, places)
    if not verdict.folder:
        return file
    return file.parent if stem(file.name) == verdict.task else file.parent.parent


def _place(name: str, places: Mapping[str, Path]) -> PurePosixPath:
    """Return where a file lies; what was read by no path of its own is told by its name."""
    return PurePosixPath(place_of(places[name])) if name in places else PurePosixPath(name)


def _own_file(verdict: Verdict) -> str:
    """Return what tells a report from others of its folder: `ID/report.json` from `ID/other.json`."""
    if not verdict.folder:
        return verdict.file
    name = PurePosixPath(verdict.file).name
    return "" if stem(name) == verdict.task else name


@dataclass(frozen=True)
class _Runs:
    """The rows that wait for a verdict, and the runs that they are of.

    Attributes:
        rows: all rows.
        waiting: task -> the places of the rows that hold no verdict of their own.
        keys: the runs of these.
        tasks: agent -> the tasks that it has a log of.
        places: file -> where it is.
    """

    rows: tuple[Row, ...]
    waiting: Mapping[str, Sequence[int]]
    keys: frozenset[RunKey]
    tasks: Mapping[str, set[str]]
    places: Mapping[str, Path]

    @classmethod
    def of(cls, parts: Sequence[Part], places: Mapping[str, Path]) -> _Runs:
        """Return the rows of parts, in their order."""
        rows = tuple(row for part in parts for row in part.rows)
        waiting: dict[str, list[int]] = defaultdict(list)
        tasks: dict[str, set[str]] = defaultdict(set)
        for place, row in enumerate(rows):
            tasks[row.agent].add(row.task)
            if row.solved is None:
                waiting[row.task].append(place)
        keys = frozenset(run_key(rows[place]) for places in waiting.values() for place in places)
        return cls(rows, waiting, keys, tasks, places)

    @cached_property
    def _above(self) -> dict[str, frozenset[PurePosixPath]]:
        """File -> the folders above it; of many rows of one file found once."""
        return {}

    def depth(self, report: _Report, row: Row) -> int | None:
        """Return how deep the report's folder is if the run lies below it, else None."""
        if row.file not in self._above:
            self._above[row.file] = frozenset(_place(row.file, self.places).parents)
        return len(report.folder.parts) if report.folder in self._above[row.file] else None


def judged(
    parts: Sequence[Part], places: Mapping[str, Path]
) -> tuple[list[Part], list[Row], list[Remark]]:
    """Return the parts with verdicts given, rows for verdicts without a log, and what is not used.

    A run that holds its own verdict keeps it. Reports that disagree on a run leave it without one.

    Args:
        parts: what the files gave.
        places: file -> where it is.
    """
    reports = list(_reports((verdict for part in parts for verdict in part.verdicts), places))
    runs = _Runs.of(parts, places)
    if not reports or not runs.rows:
        return list(parts), [], []
    found: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    lone: list[Row] = []
    remarks: list[Remark] = []
    for report in reports:
        owners = report.owners(runs.keys)
        given, unclear = _given(report, owners, runs)
        others = list(_others(report, owners, runs))
        given += others
        for place in given:
            row = runs.rows[place]
            near = runs.depth(report, row) or 0
            found[place] += [(near, verdict) for verdict in report.verdicts_on(row.task)]
        used = {run_key(runs.rows[place]) for place in given}
        more, unused = _without_log(report, used, runs)
        lone += more
        remarks += _remarks(report, owners, used, unclear, unused)
        if others:
            told = f"{report.place}: {len(others)} runs that it does not name"
            remarks.append(Remark("others_not_solved", told))
    return _with_verdicts(parts, found), lone, remarks


def _given(
    report: _Report, owners: set[RunKey], runs: _Runs
) -> tuple[list[int], dict[str, set[RunKey]]]:
    """Return the places of the rows that a report is of, and task -> the runs it could be of.

    Where it names no run, it is of those below its folder; and where there is one run alone, every
    report is its own, wherever it lies.
    """
    given: list[int] = []
    unclear: dict[str, set[RunKey]] = {}
    for task in report.solved:
        places = list(runs.waiting.get(task, ()))
        if len(runs.keys) > 1:
            below = [p for p in places if runs.depth(report, runs.rows[p]) is not None]
            named = [p for p in places if run_key(runs.rows[p]) in owners]
            near = [p for p in named if p in below]
            places = (near or named) if owners else below
        whose = {run_key(runs.rows[place]) for place in places}
        if len(whose) > 1:
            unclear[task] = whose
        else:
            given += places
    return given, unclear


def _others(report: _Report, owners: set[RunKey], runs: _Runs) -> Iterator[int]:
    """Yield the places of the rows that a report of what is solved does not name, if it is of one run."""
    if not report.whole:
        return
    of_run: dict[RunKey, list[int]] = defaultdict(list)
    for place in (place for places in runs.waiting.values() for place in places):
        row = runs.rows[place]
        near = runs.depth(report, row) is not None
        if len(runs.keys) == 1 or (run_key(row) in owners if owners else near):
            of_run[run_key(row)].append(place)
    if len(of_run) == 1:
        (places,) = of_run.values()
        yield from (place for place in places if runs.rows[place].task not in report.solved)


def _with_verdicts(
    parts: Sequence[Part], found: Mapping[int, list[tuple[int, bool | None]]]
) -> list[Part]:
    place = 0
    given = []
    for part in parts:
        rows = []
        for row in part.rows:
            held = found.get(place)
            rows.append(row if held is None else _settled(row, held))
            place += 1
        given.append(replace(part, rows=tuple(rows)))
    return given


def _settled(row: Row, held: Sequence[tuple[int, bool | None]]) -> Row:
    """Return a row with the verdict of the nearest report."""
    nearest = max(near for near, _ in held)
    verdicts = {solved for near, solved in held if near == nearest}
    if len(verdicts) > 1:
        return replace(row, error="reports_disagree")
    (solved,) = verdicts
    return replace(row, solved=solved, error="grader_broken" if solved is None else row.error)


def _without_log(
    report: _Report, used: set[RunKey], runs: _Runs
) -> tuple[list[Row], dict[str, bool | None]]:
    """Return an ERROR row for each verdict on a run without a log, and the verdicts of no run.

    A task without a log that the report calls incomplete was not run, as far as anybody tells.
    """
    agents = {agent for agent, _ in used}
    every = set().union(*runs.tasks.values())
    there = runs.tasks[next(iter(agents))] if len(agents) == 1 else every
    lone = {task: solved for task, solved in report.solved.items() if task not in there}
    if len(used) != 1:
        return [], lone
    ((agent, run),) = used
    rows = [
        Row(agent, task, solved, run=run, error="missing_log", file=report.files[task])
        for task, solved in lone.items()
        if solved is not None or task in report.torn
    ]
    named = {row.task for row in rows}
    return rows, {task: solved for task, solved in lone.items() if task not in named}


def _remarks(
    report: _Report,
    owners: set[RunKey],
    used: set[RunKey],
    unclear: Mapping[str, set[RunKey]],
    unused: Mapping[str, bool | None],
) -> Iterator[Remark]:
    whole = len(report.solved)
    for task in sorted(report.torn):
        yield Remark("verdicts_disagree", f"{report.place}: {task}: {SOLVED_AND_NOT}")
    if report.agents and used and not owners:
        named, taken = sorted(report.agents)[0], sorted({agent for agent, _ in used})[0]
        told = f"{report.place}: names {named}, and is taken for {taken} by its place"
        yield Remark("report_by_place", told)
    if unclear:
        runs = sorted({run for whose in unclear.values() for run in whose})
        told = ", ".join(f"{agent} in {run}" for agent, run in runs[:3])
        more = f" and {len(runs) - 3} more" * (len(runs) > 3)
        yield Remark(
            "verdict_not_used",
            f"{report.place}: {len(unclear)} of {whole} verdicts could be of {told}{more}; cure: put "
            "the report into the run's folder, or name its agent in model_name_or_path",
        )
    if unused:
        yield Remark(
            "verdict_not_used",
            f"{report.place}: {len(unused)} of {whole} verdicts are on tasks without a log here",
        )
