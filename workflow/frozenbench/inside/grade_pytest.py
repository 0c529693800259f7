"""Runs hidden pytest tests inside the sandbox and reports each test id over its own pipe.

Started as `python -I grade_pytest.py SPEC`, SPEC = JSON {"arguments": […], "folders": […],
"packages": {…}, "hidden": […]}, in the folder of the graded tree, with a nonce on standard input
and the number of the report's descriptor in FROZENBENCH_REPORT_FD. pytest and its parts are
imported before the tree is on the module path, so that nothing in the tree can stand in for them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any


def main() -> int:
    """Run the tests once, in this process, in which the candidate is imported too."""
    descriptor = int(os.environ.pop("FROZENBENCH_REPORT_FD"))
    os.set_inheritable(descriptor, False)
    nonce = sys.stdin.readline().strip()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    import_pytest()
    return run_tests(Report(descriptor, nonce), json.loads(sys.argv[1]), beside_candidate=True)


def import_pytest(*others: str) -> None:
    """Import pytest; its objects are never garbage, and looking through them again costs time."""
    gc.disable()
    for name in ("pytest", *others):
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def run_tests(report: Report, spec: dict[str, Any], beside_candidate: bool = False) -> int:
    """Report `begin`, what was collected, each test's outcome, and `end` with pytest's status.

    `beside_candidate`: the tests import the candidate, so what they lean on is watched.
    """
    import pytest

    pytest.hookimpl(hookwrapper=True, tryfirst=True)(Reporter.pytest_runtest_call)
    sys.argv = ["pytest"]
    _put_tree_on_path(spec["folders"])
    _import_packages(spec["packages"])
    report.say(begin=True)
    # Read before anything of the candidate's runs, which could write over them.
    hidden = Sources(spec["hidden"]) if beside_candidate else None
    reporter = Reporter(report, hidden)
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
        plugins=[reporter],
    )
    report.say(end=int(status))
    reporter.flush()
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
    """The way out: one JSON line a fact, each with the nonce."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        self._pipe = os.fdopen(descriptor, "w", encoding="utf-8")
        self._nonce = nonce

    def say(self, **fact: Any) -> None:
        """Write one fact."""
        self._pipe.write(json.dumps({"nonce": self._nonce, **fact}) + "\n")
        self._pipe.flush()


class Reporter:
    """The pytest plug-in that tells what was collected and how each test ended.

    A test that pytest calls passed counts only if its own function, with the code that was
    collected, has run to its end: whoever changes pytest makes it say passed, not that. And what
    the test leaned on must be what it was. `hidden`: the sources of which the tests' code must be,
    where the candidate is imported beside them.
    """

    def __init__(self, report: Report, hidden: Sources | None) -> None:
        self._say = report.say
        self._hidden = hidden
        self._worst: dict[str, str] = {}
        self._collected: dict[str, Any] = {}
        self._returned: set[str] = set()
        self._parts: list[Part] = []
        # pytest's own words go out by a stream of their own: a candidate may close its output.
        self._stdout = sys.stdout
        self._own = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        sys.stdout = self._own

    def flush(self) -> None:
        """Hand out what pytest has said: the process may end without ado."""
        for stream in (self._own, sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()

    def pytest_sessionstart(self) -> None:
        """Give the tests their output, now that pytest has taken its own.

        The command line was understood: what ends pytest from now on is the tree, and is told so.
        """
        sys.stdout = self._stdout
        self._parts = [] if self._hidden is None else list(parts())
        self._say(started=True)

    def pytest_collectreport(self, report: Any) -> None:
        """Tell of a file that could not be imported."""
        if report.failed:
            self._say(collect_error=report.nodeid)

    def pytest_collection_finish(self, session: Any) -> None:
        """Tell which tests there are."""
        self._collected = {item.nodeid: _code(getattr(item, "obj", None)) for item in session.items}
        if self._hidden is not None:
            for item in session.items:
                code = self._collected[item.nodeid]
                has_none = getattr(item, "obj", None) is None
                if not has_none and not self._hidden.hold(code, session.config):
                    self._say(tampered=f"{item.nodeid} runs code that is not of the hidden tests")
        self._say(collected=[item.nodeid for item in session.items])

    def pytest_runtest_call(self, item: Any) -> Generator[None]:
        """Have the test's function tell that it has returned."""
        function = getattr(item, "obj", None)
        if _code(function) is not self._collected.get(item.nodeid):
            self._say(tampered=f"{item.nodeid} is no longer the test that was collected")
        if function is None:
            self._returned.add(item.nodeid)
            yield
            return
        item.obj = _telling(function, lambda: self._returned.add(item.nodeid))
        if type(item).__name__ == "TestCaseFunction":
            setattr(item.instance, item.name, item.obj)  # an asynchronous one is taken from there
        yield
        item.obj = function

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell how a test ended once its teardown is through: the worst of its three phases."""
        with contextlib.suppress(OSError, ValueError):
            self._stdout.flush()  # so that its prints stand in order, and are there if it is ended
        order = ("passed", "skipped", "failed")
        before = self._worst.get(report.nodeid, "passed")
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        self._worst[report.nodeid] = max(before, outcome, key=order.index)
        if report.when == "teardown":
            if self._worst[report.nodeid] == "passed" and report.nodeid not in self._returned:
                self._say(tampered=f"{report.nodeid} was called passed and had not run to its end")
            if (name := changed(self._parts)) is not None:
                self._say(tampered=f"{name} was changed")
                self._parts = []  # once is enough
            self._say(test=report.nodeid, outcome=self._worst.pop(report.nodeid))


class Sources:
    """The hidden tests' own sources, and what code there is in them.

    A code object tells of a file name and may lie: it must be equal to one that is made of that
    file, as Python compiles it or as pytest rewrites its assertions.
    """

    def __init__(self, paths: list[str]) -> None:
        self._sources: dict[str, bytes] = {}
        for path in (os.path.join(os.getcwd(), path) for path in paths):
            with open(path, "rb") as file:
                self._sources[path] = file.read()
        self._known: dict[str, list[CodeType]] = {}

    def hold(self, code: CodeType | None, config: Any) -> bool:
        """Tell whether code is of a hidden file, or of a package that tests inherit from."""
        if code is None:
            return False
        path = code.co_filename
        if path not in self._known:
            self._known[path] = list(self._made_of(path, config))
        return any(code == known for known in self._known[path])

    def _made_of(self, path: str, config: Any) -> Iterator[CodeType]:
        from _pytest.assertion.rewrite import rewrite_asserts

        source = self._sources.get(path)
        if source is None and path.startswith(f"{sys.prefix}{os.sep}"):  # nobody can write there
            with contextlib.suppress(OSError), open(path, "rb") as file:
                source = file.read()
        if source is None:
            return
        with contextlib.suppress(SyntaxError, ValueError):
            yield from _nested(compile(source, path, "exec", dont_inherit=True))
            tree = ast.parse(source, filename=path)
            rewrite_asserts(tree, source, path, config)
            yield from _nested(compile(tree, path, "exec", dont_inherit=True))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _nested(item)


#: Where a function or class stands, its name there, itself, and its code.
Part = tuple[Mapping[str, Any], str, Any, CodeType | None]

#: Builtins that programs replace for reasons of their own.
REPLACED = ("print", "open", "input", "help", "exit", "quit", "breakpoint", "__import__", "_")


def parts() -> Iterator[Part]:
    """Yield what tests lean on: functions and classes of pytest with their methods, and builtins."""
    for name, thing in vars(builtins).items():
        if callable(thing) and name not in REPLACED:
            yield vars(builtins), name, thing, None
    for module in [m for n, m in sys.modules.items() if n.split(".")[0] in ("pytest", "_pytest")]:
        for name, thing in vars(module).items():
            if not isinstance(thing, (FunctionType, type)) or "pytest" not in thing.__module__:
                continue
            yield vars(module), name, thing, getattr(thing, "__code__", None)
            if isinstance(thing, type) and thing.__module__ == module.__name__:
                for inner, member in vars(thing).items():
                    if isinstance(member, (FunctionType, classmethod)):
                        yield vars(thing), inner, member, getattr(member, "__code__", None)


def changed(known: list[Part]) -> str | None:
    """Return the name of a part that is another one than it was, or has other code."""
    for space, name, thing, code in known:
        now: Any = space.get(name)
        if now is not thing or (code is not None and now.__code__ is not code):
            return f"{getattr(thing, '__module__', 'pytest')}.{name}"
    return None


def _code(function: Any) -> Any:
    """Return the code that a test's function runs: wrappers lead to what they wrap."""
    function = inspect.unwrap(function)
    while isinstance(function, (functools.partial, functools.partialmethod)):
        function = inspect.unwrap(function.func)
    inner = getattr(getattr(function, "hypothesis", None), "inner_test", None)
    return getattr(function if inner is None else inner, "__code__", None)


def _telling(function: Any, returned: Callable[[], None]) -> Any:
    """Return the function, telling when it has returned without an exception."""

    @functools.wraps(function)
    def plain(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        returned()
        return result

    @functools.wraps(function)
    async def awaited(*arguments: Any, **named: Any) -> Any:
        result = await function(*arguments, **named)
        returned()
        return result

    return awaited if inspect.iscoroutinefunction(function) else plain


if __name__ == "__main__":
    # Nothing of the candidate's decides any more, and tearing pytest down takes time.
    os._exit(main())
