"""Runs hidden pytest tests inside the sandbox and reports each test id over its own pipe.

Started as `python -I grade_pytest.py SPEC`, SPEC = JSON {"arguments": […], "folders": […],
"packages": {…}}, in the folder of the graded tree, with a nonce on standard input and the number of
the report's descriptor in FROZENBENCH_REPORT_FD. pytest and its parts are imported before the tree
is on the module path, so that nothing in the tree can stand in for them.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from typing import Any


def main() -> int:
    """Report `begin`, what was collected, each test's outcome, and `end` with pytest's status."""
    report = Report()
    import pytest

    spec = json.loads(sys.argv[1])
    sys.argv = ["pytest"]
    _put_tree_on_path(spec["folders"])
    _import_packages(spec["packages"])
    report.say(begin=True)
    status = pytest.main(
        [
            *spec["arguments"],
            "-c",
            os.devnull,
            f"--rootdir={os.getcwd()}",
            f"--confcutdir={os.getcwd()}",
            "--import-mode=importlib",
            # Kept for a report of ours, a flood of prints would fill the disk and fail the test.
            "--capture=no",
            "-p",
            "no:cacheprovider",
        ],
        plugins=[Reporter(report)],
    )
    report.say(end=int(status))
    return int(status)


def _put_tree_on_path(folders: list[str]) -> None:
    """Put the tree behind the standard library and before the installed packages."""
    # The tests' own folders first: what lies beside them is hidden, and no file of the agent's.
    work = [*(os.path.join(os.getcwd(), folder) for folder in folders), os.getcwd()]
    site = [number for number, path in enumerate(sys.path) if path.endswith("site-packages")]
    at = site[0] if site else len(sys.path)
    sys.path[at:at] = list(dict.fromkeys(work))


def _import_packages(packages: dict[str, str]) -> None:
    """Import the hidden packages that have no __init__.py, before anything else of their name."""
    for name, folder in packages.items():
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(os.getcwd(), folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)


class Report:
    """The pipe that leads out: one JSON line a fact, each with the nonce."""

    def __init__(self) -> None:
        descriptor = int(os.environ.pop("FROZENBENCH_REPORT_FD"))
        os.set_inheritable(descriptor, False)
        self._pipe = os.fdopen(descriptor, "w", encoding="utf-8")
        self._nonce = sys.stdin.readline().strip()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def say(self, **fact: Any) -> None:
        """Write one fact."""
        self._pipe.write(json.dumps({"nonce": self._nonce, **fact}) + "\n")
        self._pipe.flush()


class Reporter:
    """The pytest plug-in that tells what was collected and how each test ended."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._worst: dict[str, str] = {}
        # pytest's own words go out by a stream of their own: a candidate may close its output.
        self._stdout = sys.stdout
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")

    def pytest_sessionstart(self) -> None:
        """Give the tests their output, now that pytest has taken its own.

        The command line was understood: what ends pytest from now on is the tree, and is told so.
        """
        sys.stdout = self._stdout
        self._report.say(started=True)

    def pytest_collectreport(self, report: Any) -> None:
        """Tell of a file that could not be imported."""
        if report.failed:
            self._report.say(collect_error=report.nodeid)

    def pytest_collection_finish(self, session: Any) -> None:
        """Tell which tests there are."""
        self._report.say(collected=[item.nodeid for item in session.items])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell how a test ended once its teardown is through: the worst of its three phases."""
        with contextlib.suppress(OSError, ValueError):
            self._stdout.flush()  # so that its prints stand in order, and are there if it is ended
        order = ("passed", "skipped", "failed")
        before = self._worst.get(report.nodeid, "passed")
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        self._worst[report.nodeid] = max(before, outcome, key=order.index)
        if report.when == "teardown":
            self._report.say(test=report.nodeid, outcome=self._worst.pop(report.nodeid))


if __name__ == "__main__":
    sys.exit(main())
