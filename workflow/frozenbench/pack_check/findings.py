"""From the trials of a task to what is wrong with it, as pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from frozenbench.freeze_expected import static_ids
from frozenbench.pack_check.finding import Finding
from frozenbench.pack_check.trials import Trial, Tried, frozen

#: How many times the slowest reference run must fit into the grader's clock.
RESERVE = 10
#: How often the flaky test fails of which the report says how likely it stays unseen.
FLAKE_RATE = 0.2
MAX_IDS = 20
MAX_LOG_LINES = 12
#: How Python tells of a top-level module that is not there.
_MISSING = re.compile(r"No module named '(\w+)")


def findings_of(tried: Tried) -> list[Finding]:
    """Return all findings on one task, the worst first."""
    return [finding for look in _LOOKS for finding in look(tried)]


def unseen_share(repeats: int) -> float:
    """Return how likely `repeats` runs show nothing of a test that fails one time in five."""
    return (1 - FLAKE_RATE) ** repeats


def _reference_fails(tried: Tried) -> Iterator[Finding]:
    runs = tried.reference
    if not runs or any(run.passed for run in runs) or _has_no_ids(tried):
        return
    yield Finding(
        tried.task.id,
        "reference_fails",
        f"the reference solution is {_told(runs[0])} in {len(runs)} of {len(runs)} runs",
        _cure_of_split(tried) or f"correct solutions/{tried.task.id}/ or the hidden tests",
        _tail(runs[0]),
    )


def _cure_of_split(tried: Tried) -> str | None:
    """Return what mends tests that import the candidate where it is not, or None."""
    grader = tried.task.grader
    if grader.trust != "split":
        return None
    missing = _MISSING.search(tried.reference[0].log)
    solution = {**tried.task.fixture, **(grader.solution or {})}
    if missing is None or not {f"{missing[1]}.py", f"{missing[1]}/__init__.py"} & set(solution):
        return None
    return (
        f"under split {missing[1]} is not where the tests are: "
        "`frozenbench_candidate.load(path)` in place of the import, or grader_trust in-process"
    )


def _start_passes(tried: Tried) -> Iterator[Finding]:
    if tried.start.passed:
        yield Finding(
            tried.task.id,
            "start_passes",
            "the starting tree passes, so that an agent which does nothing would too",
            "a hidden test that fails on the fixture, or a fixture without the answer",
        )


def _known_wrong_passes(tried: Tried) -> Iterator[Finding]:
    if tried.known_wrong is not None and tried.known_wrong.passed:
        yield Finding(
            tried.task.id,
            "known_wrong_passes",
            "the known wrong solution passes",
            "a hidden test that fails on it, or, if it is right after all, remove "
            f"known_wrong/{tried.task.id}/",
        )


def _grader_broken(tried: Tried) -> Iterator[Finding]:
    if any(run.reason == "grader_broken" for run in tried.reference):
        return  # that is told of the reference
    for name, trial in (("starting tree", tried.start), ("known wrong", tried.known_wrong)):
        if trial is not None and trial.reason == "grader_broken":
            yield Finding(
                tried.task.id,
                "grader_broken",
                f"the grader itself fails on the {name}: {trial.note}",
                "a command in 'grade' that starts, and arguments that it knows",
                _tail(trial),
            )
            return


def _flaky_tests(tried: Tried) -> Iterator[Finding]:
    """Some runs of the reference pass and some fail, or they pass other tests."""
    runs = tried.reference
    passed = sum(run.passed for run in runs)
    flapping = _flapping(runs)
    if not passed or (passed == len(runs) and not flapping):
        return
    failing = [run for run in runs if not run.passed]
    # A run in which an expected id is absent and no test failed is called `tampered`.
    by_failure = any(run.reason not in ("tampered", "no_tests_ran") for run in failing)
    found = f"the reference passes in {passed} of {len(runs)} runs"
    if failing:
        found += f"; else it is {_told(failing[0])}"
    if flapping:
        told = [f"{name} passes in {count} of {len(runs)}" for name, count in flapping[:MAX_IDS]]
        more = len(flapping) - len(told)
        found += f"; {'; '.join(told)}" + (f"; and {more} more" if more > 0 else "")
    if by_failure:
        yield Finding(
            tried.task.id,
            "flaky_tests",
            found,
            "tests that rest on no clock, random number, thread or order; then check again with "
            "--repeats 20",
            _tail(failing[0]),
        )
        return
    yield Finding(
        tried.task.id,
        "ids_differ",
        found,
        "fixed ids for parametrised tests, and no test that is skipped by chance",
    )


def _no_expected_ids(tried: Tried) -> Iterator[Finding]:
    if _has_no_ids(tried):
        solved = tried.task.grader.solution is not None
        origin = "the reference solution" if solved else "a static reading of the hidden files"
        yield Finding(
            tried.task.id,
            "no_expected_ids",
            f"{origin} gives no test id, so that nothing can pass",
            "functions called test_… or classes called Test… in the file that 'grade' names",
            _tail(tried.reference[0]) if tried.reference else (),
        )


def _files_without_test(tried: Tried) -> Iterator[Finding]:
    grader = tried.task.grader
    if grader.trust == "exit-status":
        return
    seen = {name.split("::", 1)[0] for run in tried.reference for name in run.ids}
    passed = any(run.passed for run in tried.reference)
    for path in sorted(grader.hidden):
        if path in seen or not _is_test_file(path, grader.tests):
            continue
        held = static_ids(replace(frozen(grader), tests=(path,)))
        named = any(path == word or path.startswith(f"{word}/") for word in grader.tests)
        if held and named and not passed:
            continue  # its tests failed, or there is no solution that could pass them
        found = f"{path} holds no test"
        if held:
            why = "passed in any run of the reference" if named else "is run by the command"
            found = f"{path} holds {len(held)} tests, and none of them {why}"
        yield Finding(
            tried.task.id,
            "file_without_test",
            found,
            "add the tests, name the file in 'grade', or remove it from the hidden files",
        )


def _slow_grader(tried: Tried) -> Iterator[Finding]:
    if not any(run.passed for run in tried.reference):
        return
    slowest = max(run.seconds for run in tried.reference)
    clock = tried.task.grader.timeout_s
    if slowest * RESERVE > clock:
        yield Finding(
            tried.task.id,
            "slow_grader",
            f"the slowest run of the reference took {slowest:.2f} s of grade_timeout_s {clock:g}: "
            f"a {clock / slowest:.1f}-fold reserve, {RESERVE}-fold is due",
            f"grade_timeout_s of at least {math.ceil(slowest * RESERVE)}, or faster tests; if the "
            "machine was busy, check again",
        )


def _weak_trust(tried: Tried) -> Iterator[Finding]:
    if tried.task.grader.trust == "exit-status":
        yield Finding(
            tried.task.id,
            "weak_trust",
            "grader_trust is exit-status: a candidate can fake green",
            "pytest and grader_trust split or in-process",
        )


def _unqualified(tried: Tried) -> Iterator[Finding]:
    if tried.task.grader.solution is None:
        yield Finding(
            tried.task.id,
            "unqualified",
            "there is no reference solution, so that nothing shows that the task can be solved",
            f"a solution in solutions/{tried.task.id}/",
        )


#: The worst first.
_LOOKS: tuple[Callable[[Tried], Iterator[Finding]], ...] = (
    _reference_fails,
    _start_passes,
    _known_wrong_passes,
    _grader_broken,
    _flaky_tests,
    _no_expected_ids,
    _files_without_test,
    _slow_grader,
    _weak_trust,
    _unqualified,
)


def _has_no_ids(tried: Tried) -> bool:
    """Tell whether no test was ever collected, which is not the same as none that passed."""
    unrun = all(run.reason == "no_tests_ran" for run in tried.reference)
    return tried.expected == () and unrun


def _flapping(runs: Sequence[Trial]) -> list[tuple[str, int]]:
    """Return (id, in how many runs it passed) of ids that passed in some and not in all."""
    counts = Counter(name for run in runs for name in set(run.ids))
    some = [(name, count) for name, count in counts.items() if count < len(runs)]
    return sorted(some, key=lambda item: (item[1], item[0]))


def _is_test_file(path: str, tests: Sequence[str]) -> bool:
    name = PurePosixPath(path).name
    by_name = name.startswith("test_") or name.endswith("_test.py")
    return name.endswith(".py") and (by_name or path in tests)


def _told(trial: Trial) -> str:
    note = f" ({trial.note})" if trial.note else ""
    return f"{trial.outcome} {trial.reason}{note}"


def _tail(trial: Trial) -> tuple[str, ...]:
    lines = [line.rstrip() for line in trial.log.splitlines() if line.strip()]
    return tuple(lines[-MAX_LOG_LINES:])
