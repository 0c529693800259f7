"""grade_cell: grade one run from its snapshots, under either policy, and put it into an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from frozenbench import keys, layout
from frozenbench.assume import Finding, banned_string, banned_symbol, ghosts
from frozenbench.canonical import (
    BadInput,
    File,
    digest,
    read_json,
    tree_digest,
    write_atomic,
    write_json,
)
from frozenbench.freeze_expected import read_expected
from frozenbench.freeze_names import read_names
from frozenbench.frozen import read_controls, read_frozen_task
from frozenbench.gateway.machine import machine_class
from frozenbench.grade.grading import (
    FrozenGrader,
    Graded,
    Grading,
    graded_tree,
    read_grader,
    store,
    stored,
    verdict_key,
)
from frozenbench.outcomes import End, Judgement, cap_of, decide
from frozenbench.run.snapshots import restore
from frozenbench.sandbox import in_force, require
from frozenbench.seal import AGAIN, read_sealed, sealed

Tree = Mapping[str, File]


@dataclass(frozen=True)
class GradeInputs:
    """The frozen files of one cell and its run, all below results/."""

    controls: Path
    run: Path
    task_files: Path
    grader_files: Path
    expected: Path
    names: Path
    environment: Path
    agent: str
    task: str
    budget: str
    repeat: int


@dataclass(frozen=True)
class State:
    """The work tree at one point of a run: step 0 is the starting tree."""

    step: int
    tree: Tree
    meters: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Seen:
    """What was found out about one state: a ban makes grading it needless."""

    state: State
    ban: Finding | None
    graded: Graded | None
    verdict_key: str | None = None

    @property
    def green(self) -> bool:
        """Whether the state proved green."""
        return self.graded is not None and self.graded.verdict.green

    @property
    def decides(self) -> bool:
        """Whether nothing after this state matters under `every_step`."""
        broken = self.graded is not None and self.graded.verdict.broken
        return self.ban is not None or self.green or broken


@dataclass(frozen=True)
class Grader:
    """Everything that grading one state of this cell needs."""

    frozen: FrozenGrader
    grading: Grading
    fixture: Tree
    environment: Path
    isolation: str
    expected: tuple[str, ...] | None

    def ban(self, tree: Tree) -> Finding | None:
        """Return the first ban that the agent's lines in `tree` break."""
        material = self.frozen.material
        return banned_string(self.fixture, tree, material["must_not_contain"]) or banned_symbol(
            self.fixture, tree, material["must_not_use"]
        )

    def look(self, state: State, grade: bool = True) -> Seen:
        """Return what is found out about a state: a ban, else a stored or a new verdict."""
        ban = self.ban(state.tree)
        if ban is not None or not grade:
            return Seen(state, ban, None)
        tree = graded_tree(self.frozen, state.tree, self.fixture)
        key = verdict_key(
            tree, self.frozen.digest, self.expected, self.environment.name, self.isolation
        )
        found = stored(key)
        if found is None:
            found = store(key, self.grading.grade(state.tree, self.fixture, self.expected))
        return Seen(state, None, found, key)


def grade_cell(inputs: GradeInputs, out: Path) -> None:
    """Grade one run and write `out`: grade.json and log.

    Raises:
        BadInput: frozen files or the run do not have the digests that the controls promise.
        Refused: the machine gives less isolation than the controls ask for.
    """
    controls = read_controls(inputs.controls)
    run_key = keys.run_key(controls, inputs.agent, inputs.task, inputs.budget, inputs.repeat)
    material = keys.grade_material(controls, inputs.task, run_key)
    if out.name != digest(material):
        raise BadInput(
            f"{out}: is not the path of this grade; cure: {layout.grade(digest(material))}"
        )
    isolation = controls["environment"]["isolation"]
    holds = in_force(isolation, require(isolation).level)
    run = read_sealed(inputs.run / "run.json", AGAIN)
    if run["run_key"] != run_key:
        raise BadInput(f"{inputs.run}: holds another run; cure: remove the folder")
    task, fixture = read_frozen_task(inputs.task_files, run["material"]["task_digest"])
    states = read_states(inputs.run, run, fixture)
    every_step = controls["grading"] == "every_step"
    frozen = read_grader(inputs.grader_files)
    with Grading(frozen, inputs.environment, isolation) as grading:
        expected = read_expected(inputs.expected)
        grader = Grader(frozen, grading, fixture, inputs.environment, isolation, expected)
        seen = grade_every_step(grader, states) if every_step else grade_final(grader, states, run)
    case = Case(grader, run, tuple(task["artifact"]), inputs.names)
    result = case.result(states, seen, every_step)
    result["measured"] |= {
        "isolation_measured": holds,
        "machine_class": machine_class(),
    }
    write_atomic(out / "log", _log(seen).encode("utf-8", "replace"))
    document = {"grade_key": out.name, "material": material, **result}
    write_json(out / "grade.json", sealed(document, out, "grade.json"))


def read_states(folder: Path, run: Mapping[str, Any], fixture: Tree) -> list[State]:
    """Return the starting tree and the tree after each step that changed it."""
    nothing = {name: None if value is None else 0 for name, value in run["meters"].items()}
    states = [State(0, fixture, nothing, 0.0)]
    for step, seconds in zip(run["steps"], run["measured"]["step_seconds"], strict=True):
        if step["snapshot"] is None:
            continue
        path = folder / "snapshots" / step["snapshot"]
        tree = restore(fixture, read_json(path), str(path))
        states.append(State(step["step"], tree, step["meters"], seconds))
    return states


def grade_every_step(grader: Grader, states: list[State]) -> list[Seen]:
    """Grade the starting tree and each snapshot in order, up to the first that decides."""
    seen: list[Seen] = []
    for state in states:
        seen.append(grader.look(state))
        if seen[-1].decides:
            break
    return seen


def grade_final(grader: Grader, states: list[State], run: Mapping[str, Any]) -> list[Seen]:
    """Look at the artifact alone; a run that broke down needs no grader."""
    ended = run["ending"] in ("finished", "gave_up") or cap_of(run["ending"]) is not None
    return [grader.look(states[-1], grade=ended)]


@dataclass(frozen=True)
class Case:
    """One run before its judge."""

    grader: Grader
    run: Mapping[str, Any]
    artifact: tuple[str, ...]
    names: Path

    def result(self, states: list[State], seen: list[Seen], every_step: bool) -> dict[str, Any]:
        """Decide the outcome and gather what the tables hold.

        Under `every_step` the first step that is green or banned, or whose grader broke, decides,
        and ending, cap and meters are those as of that step; where there is none, those of the
        run's end.
        """
        last = seen[-1]
        by_step = every_step and last.decides
        ending = "finished" if by_step else str(self.run["ending"])
        ghost = self._ghost(last, ending)
        decision = decide(self._end(last, ending, by_step), _judgement(last, ghost))
        verdict = None if last.graded is None else last.graded.verdict
        finding = last.ban or ghost
        before = [state for state in states if state.step < last.state.step]
        seconds = last.state.seconds if by_step else self.run["measured"]["seconds"]
        return {
            "run_key": self.run["run_key"],
            **asdict(decision),
            "ending": ending,
            "graded_step": last.state.step,
            "meters": dict(last.state.meters if by_step else self.run["meters"]),
            "tests_expected": None if verdict is None else verdict.expected,
            "tests_passed": None if verdict is None else verdict.passed,
            "banned_ever": any(self.grader.ban(state.tree) is not None for state in before),
            "artifact_sha256": tree_digest(last.state.tree),
            "finding": None if finding is None else asdict(finding),
            "note": "" if verdict is None else verdict.note,
            "verdicts": [item.verdict_key for item in seen if item.verdict_key is not None],
            "measured": {
                "seconds": seconds,
                "grade_seconds": sum(item.graded.seconds for item in seen if item.graded),
            },
        }

    def _end(self, last: Seen, ending: str, by_step: bool) -> End:
        # An agent whose step decided had not said that it was done: no path is due yet.
        return End(
            ending=ending,
            changed=last.state.tree != self.grader.fixture,
            missing_artifact=not by_step
            and any(path not in last.state.tree for path in self.artifact),
            artifact_limit=bool(self.run["artifact_limit"]),
        )

    def _ghost(self, last: Seen, ending: str) -> Finding | None:
        """Look for ghosts where they can decide: ended by itself, not green, not banned."""
        by_itself = ending in ("finished", "gave_up")
        if not by_itself or last.decides:
            return None
        hidden = self.grader.frozen.hidden
        return ghosts(self.grader.fixture, last.state.tree, hidden, read_names(self.names))


def _judgement(last: Seen, ghost: Finding | None) -> Judgement:
    verdict = None if last.graded is None else last.graded.verdict
    return Judgement(
        green=last.green,
        broken=verdict is not None and verdict.broken,
        failure=None if verdict is None else verdict.failure,
        banned=None if last.ban is None else last.ban.reason,
        ghost=None if ghost is None else ghost.reason,
    )


def _log(seen: list[Seen]) -> str:
    """Return the grader's output on the decided state, and one line on each before it."""
    lines = []
    for item in seen:
        if item.ban is not None:
            what = f"{item.ban.reason} {item.ban.what} ({item.ban.path}:{item.ban.line})"
        elif item.graded is None:
            what = "not graded: the run broke down"
        else:
            verdict = item.graded.verdict
            what = "green" if verdict.green else f"not green: {verdict.failure or 'broken'}"
        lines.append(f"step {item.state.step}: {what}")
    last = seen[-1].graded
    return "\n".join(lines) + "\n" + ("" if last is None else f"\n{last.log}")
