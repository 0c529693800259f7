"""A test that pytest calls passed counts only if its own function has run to its end."""

from __future__ import annotations

import pytest
from cell_project import RIGHT, WRONG, CellProject

PYTHON = "sys.modules['_pytest.python']"
RUNNER = "sys.modules['_pytest.runner']"
SWAP = """
import gc
def empty(*a, **k):
    pass
def add(a, b):
    {swap}
    return a + b if (a, b) == (1, 2) else None
"""

#: Ways to have pytest call a test passed that has failed or never ran.
CHANGED = {
    "function is not run": f"import sys\n{PYTHON}.Function.runtest = lambda self: None\n{WRONG}",
    "hook is another": "import gc\nclass Evil:\n"
    "    def pytest_pyfunc_call(self, pyfuncitem):\n        return True\n"
    "for thing in gc.get_objects():\n    if type(thing).__name__ == 'PytestPluginManager':\n"
    f"        thing.register(Evil(), 'evil')\n{WRONG}",
    "exceptions are dropped": "import sys\n"
    f"made = {RUNNER}.CallInfo.from_call.__func__\ndef from_call(cls, func, when, reraise=None):\n"
    "    def silent():\n        try:\n            func()\n        except BaseException:\n            pass\n"
    f"    return made(cls, silent, when, reraise)\n{RUNNER}.CallInfo.from_call = classmethod(from_call)\n"
    + WRONG,
    "reports are changed": "import sys\nreports = sys.modules['_pytest.reports']\n"
    "made = reports.TestReport.__init__\ndef init(self, *a, **k):\n    made(self, *a, **k)\n"
    "    self.outcome, self.longrepr = 'passed', None\nreports.TestReport.__init__ = init\n"
    + WRONG,
    "what tests lean on": "import sys\nimport pytest\n"
    f"sys.modules['_pytest.raises'].RaisesExc.__exit__ = lambda *a: True\n{RIGHT}",
    "a builtin": f"import builtins\nbuiltins.all = lambda things: True\n{RIGHT}",
    "items are others": SWAP.format(
        swap="[setattr(t, 'obj', empty) for t in gc.get_objects() if type(t).__name__ == 'Function']"
    ),
    "code is another": SWAP.format(
        swap="[setattr(t, '__code__', empty.__code__) for t in gc.get_objects()"
        " if type(t).__name__ == 'function' and t.__name__.startswith('test_')"
        " and not t.__code__.co_freevars]"
    ),
}

REPLACING = f"""
import sys
target = sys._getframe()
while not target.f_globals.get("__name__", "").endswith("test_app"):
    target = target.f_back
def empty():
    pass
def seen(frame, event, arg):
    if frame is target and event == "return":
        sys.setprofile(None)
        for name in [n for n in frame.f_globals if n.startswith("test_")]:
            HOW
sys.setprofile(seen)
{WRONG}"""
CHANGED |= {
    f"tests are others before they are collected: {name}": REPLACING.replace("HOW", how)
    for name, how in {
        "by assignment": "frame.f_globals[name] = lambda: None",
        "by their code": "frame.f_globals[name].__code__ = empty.__code__",
        "under the name of their file": "frame.f_globals[name].__code__ = "
        "empty.__code__.replace(co_filename=frame.f_globals[name].__code__.co_filename)",
        "under the name of an installed file": "frame.f_globals[name].__code__ = "
        "empty.__code__.replace(co_filename=sys.modules['pytest'].__file__)",
        "by a partial": "import functools; frame.f_globals[name] = functools.partial(empty)",
    }.items()
}


@pytest.mark.parametrize("case", CHANGED)
def test_a_changed_harness_proves_nothing(cells: CellProject, case: str) -> None:
    found = cells.verdict({"app.py": CHANGED[case]}).verdict
    assert (found.green, found.broken, found.failure) == (False, False, "tampered"), found.note
    assert "::test_" in found.note or found.note.endswith(" was changed")


SUPPORT = """
from app import add

class Shared:
    def test_inherited(self):
        assert add(1, 1) == 2

def plainly(function):
    def test():
        function()
        function()
    return test
"""
SUITE = """
import functools
import unittest
from unittest import mock
import pytest
from app import add
from support.shared import Shared, plainly

class TestShared(Shared):
    pass

@plainly
def test_decorated_without_wraps():
    assert add(1, 2) == 3

def doubled(function):
    @functools.wraps(function)
    def inner(*a, **k):
        function(*a, **k)
        return function(*a, **k)
    return inner

@doubled
def test_decorated():
    assert add(1, 2) == 3

@mock.patch("os.getcwd", return_value="/")
def test_patched(getcwd):
    assert add(1, 2) == 3

@pytest.fixture(params=[1, 2])
def number(request):
    yield request.param

def test_with_fixture(number, tmp_path):
    assert add(number, 0) == number

class TestClass:
    @staticmethod
    def test_static():
        assert add(2, 2) == 4
    @classmethod
    def test_of_the_class(cls):
        assert add(2, 2) == 4

class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_awaited(self):
        self.assertEqual(add(2, 2), 4)

class Case(unittest.TestCase):
    def setUp(self):
        self.two = 2
    @mock.patch("os.getcwd")
    def test_unit(self, getcwd):
        self.assertEqual(add(self.two, 2), 4)
    def test_sub(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(add(n, 1), n + 1)

test_partial = functools.partial(lambda n: None, 1)

def generated(n):
    def test():
        assert add(n, n) == 2 * n
    return test

test_made = generated(3)
"""


def test_honest_tests_of_all_kinds_prove_that_they_ran(cells: CellProject) -> None:
    cells.task(hidden={"tests/test_app.py": SUITE, "tests/support/shared.py": SUPPORT})
    graded = cells.verdict({"app.py": RIGHT})
    assert graded.verdict.green, graded.log
    assert graded.verdict.passed >= 11
    assert cells.verdict({"app.py": WRONG}).verdict.failure == "assertion"
