from __future__ import annotations

import pytest
from frozenbench.assume import Finding, banned_symbol
from frozenbench.canonical import File


def trees(files: dict[str, str]) -> dict[str, File]:
    return {path: File(text.encode()) for path, text in files.items()}


def reached(code: str, *bans: str, fixture: str = "") -> int | None:
    """Return the line of the first use in an agent's main.py."""
    found = banned_symbol(trees({"main.py": fixture}), trees({"main.py": code}), bans or ("a.b",))
    if found is None:
        return None
    assert (found.reason, found.path) == ("banned_symbol", "main.py")
    return found.line


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import a.b", 1),
        ("import os, a.b as x", 1),
        ("import a.b.c", 1),
        ("from a import b", 1),
        ("from a import b as c", 1),
        ("from a import (\n  q,\n  b,\n)", 1),
        ("from a.b import *", 1),
        ("from a.b import c", 1),
        ("from a import *", 1),
        ("import a\na.b.c()", 2),
        ("import a as q\nq.b", 2),
        ("import a\nx = a\nx.b()", 3),
        ("import a\nx = y = a\ny.b()", 3),
        ("import a\nx = a\ny = x\nz = y\nz.b()", 5),
        ("import a\nx, y = 1, a\ny.b()", 3),
        ("import a\n(x, [y, *z]) = 1, [a, 2]\ny.b()", 3),
        ("import a\n*z, y = 1, 2, a\ny.b()", 3),
        ("import a\nif (x := a):\n  x.b()", 3),
        ("import a\n[x := a for _ in 'q']\nx.b()", 3),
        ("import a\nx: object = a\nx.b()", 3),
        ("import a\nx = a if q else None\nx.b()", 3),
        ("import a\nx = None or a\nx.b()", 3),
        ("import a\nfor x in (a, 1):\n  x.b()", 3),
        ("import a\n[x.b for x in [a]]", 2),
        ("import a\nclass C:\n  v = [x.b for x in [a]]", 3),
        ("import a\nx = {'k': a}\nx['k'].b()", 3),
        ("import a\nx = {'k': a}\nx.get('k').b()", 3),
        ("import a\nx = {}\nx['k'] = a\nx['k'].b()", 4),
        ("import a\nx = (1, a)\nx[1].b; x[-1].b", 3),
        ("import a\ngetattr(a, 'b')", 2),
        ("import a\ngetattr(a, 'x' 'y', a.b)", 2),
        ("import bb, a\nN = 'b'\ngetattr(a, N)()", 3),
        ("import a\ng = getattr\ng(a, '' + 'b')", 3),
        ("import builtins, a\nbuiltins.getattr(a, f'{\"b\"}')", 2),
        ("import a\na.__getattribute__('b')", 2),
        ("import a\nobject.__getattribute__(a, 'b')", 2),
        ("__import__('a').b", 1),
        ("__import__('a.b')", 1),
        ("__import__('a.b', fromlist=['c'])", 1),
        ("__builtins__['__import__']('a').b", 1),
        ("import importlib\nimportlib.import_module('a.b')", 2),
        ("import importlib as i\ni.import_module(name='a').b", 2),
        ("from importlib import import_module as load\nload('.b', 'a')", 2),
        ("from importlib import import_module\nNAME = 'a' + '.b'\nimport_module(NAME)", 3),
        ("from importlib import import_module\nn = 'a'\nn += '.b'\nimport_module(n)", 4),
        ("from importlib import import_module\nimport_module('.'.join(['a', 'b']))", 2),
        ("import pkgutil\npkgutil.resolve_name('a:b')", 2),
        ("import sys\nsys.modules['a'].b", 2),
        ("import sys\nsys.modules.get('a').b", 2),
        ("from sys import modules as m\nm['a.b']", 2),
        ("import a\na.__dict__['b']", 2),
        ("import a\na.__dict__.get('b')", 2),
        ("import a\nvars(a)['b']", 2),
        ("import a\nglobals()['a'].b", 2),
        ("import a\nglobals()['q'] = a\nq.b()", 3),
        ("def f():\n  import a\n  return a.b", 3),
        ("def f():\n  from a import b", 2),
        ("import a\ndef f():\n  return a\nf().b()", 4),
        ("import a\nf = lambda: a\nf().b()", 3),
        ("import a\ndef f(m=a):\n  m.b()", 3),
        ("import a\ndef f(*, m=a):\n  m.b()", 3),
        ("import a\ndef f(x, m):\n  m.b()\nf(1, a)", 3),
        ("import a\ndef f(m):\n  m.b()\nf(m=a)", 3),
        ("def f():\n  global x\n  x = a\nimport a\nx.b()", 5),
        ("def f():\n  x = None\n  def g():\n    nonlocal x\n    import a as x\n  x.b()", 6),
        ("try:\n  import a\nexcept ImportError:\n  a = None\nelse:\n  a.b()", 6),
        ("if False:\n  import a\n  a.b", 3),
        ("import a\nx: a.b = 1", 2),
        ("import a\na.b = 1", 2),
        ("import a\n@a.b\ndef f(): ...", 2),
        ("import a\nclass C(a.b): ...", 2),
        ("import a\nasync def f():\n  async with a.b() as x: ...", 3),
        ("import a\nmatch a:\n  case x:\n    x.b()", 4),
        ("import a\nclass C:\n  x = a\n  def f(self):\n    self.x.b()", 5),
        ("import a\nclass C:\n  def __init__(s):\n    s.x = a\n  def f(self):\n    self.x.b()", 6),
        ("import a\nclass C:\n  def __init__(s, x):\n    s.x = x\nC(a).x.b()", 5),
        ("import a\nclass C:\n  x = a\nclass D(C): ...\nD().x.b()", 5),
        ("import a\nclass C:\n  @property\n  def x(s): return a\nC().x.b()", 5),
        ("import a\nclass C:\n  @staticmethod\n  def f(m):\n    m.b()\nC.f(a)", 5),
        ("import a\nclass C:\n  a = a\nC.a.b", 4),
        ("import a\nwith a as x:\n  x.b", 3),
        ("import a\nx = (\n a\n .b\n)", 3),
        ("import a\rx = a\rx.b", 3),
        ("import a\r\n\r\nx = a\r\nx.b", 4),
        ("\ufeffimport a\na.b", 2),
        ("import a # \u00e9\na.b", 2),
        ("import a\n" + "x = " + "(" * 50 + "a" + ")" * 50 + ".b", 2),
        ("import a\nx = a" + "".join(f"\nx{n} = a" for n in range(300)) + "\nx299.b", 303),
    ],
)
def test_every_static_way_to_a_banned_name_is_found(code: str, line: int) -> None:
    assert reached(code) == line


@pytest.mark.parametrize(
    "code",
    [
        "import a",
        "import a as b\nb.c()",
        "import a.c\na.c.b()",
        "import a.bc",
        "from a import bb as b",
        "from a import c as b\nb()",
        "from . import a\na.b()",
        "from .a import b",
        "from .a import *\nb()",
        "# a.b\nx = 'a.b'\n'''import a.b'''",
        "b()",
        "a.b()",
        "self.a.b()",
        "d = {}\nd.b()",
        "import a\nd = a.get('b')",
        "import a\ndef f(a):\n  a.b()",
        "import a\ndef f():\n  a = thing()\n  a.b()",
        "import a\ndef f():\n  for a in q: a.b()",
        "import a\n[a.b for a in q]",
        "import a\nf = lambda a: a.b",
        "import a\ndef f(*a, **k): a.b",
        "import a\nclass C:\n  def a(self): self.b()",
        "import a\nclass C:\n  a = q\n  def f(self): self.a.b",
        "def f():\n  import a\ndef g(a):\n  a.b",
        "import a\nx = {'k': a, 'l': q}\nx['l'].b; x[q].b",
        "import a\nx, y = a, q\ny.b",
        "import a\ngetattr(a, name)",
        "import a\ngetattr(q, 'b')",
        "import a\nvars(a).get('c')",
        "import a\ndef getattr(*q): ...\ngetattr(a, 'b')",
        "from importlib import import_module\nimport_module('.b', 'q')",
        "import a\ndef f():\n  try: q()\n  except E as a: a.b",
        "import a\ndef f(q):\n  match q:\n    case [a, *_]: a.b",
        "import a\ndef f(q):\n  return a(q).b",
        "import a\na.b(",
        "import a\nif True:\na.b",
        "import a\0\na.b",
    ],
)
def test_what_does_not_reach_the_name_is_not_found(code: str) -> None:
    assert reached(code) is None


def test_a_ban_on_a_module_is_hit_by_every_use_and_on_a_function_by_that_alone() -> None:
    assert reached("import requests", "requests") == 1
    assert reached("from requests.sessions import Session", "requests") == 1
    assert reached("import requests\nrequests.post(u)", "requests.get") is None
    assert reached("import requests\nrequests.get(u)", "requests.get") == 2
    assert reached("from requests import *", "requests.get") == 1
    assert reached("from requests import *", "requests.sessions.get") is None
    assert reached("from requests import *\nsessions.get", "requests.sessions.get") == 2
    assert reached("from requests import *", "requests._private") is None


def test_a_banned_builtin_may_be_written_without_its_module() -> None:
    assert reached("x = 1\neval('x')", "eval") == 2
    assert reached("import builtins as b\nb.eval('x')", "eval") == 2
    assert reached("f = open\nf('x')", "open") == 1
    assert reached("dict.fromkeys('x')", "dict.fromkeys") == 1
    assert reached("eval('x')", "builtins.eval") == 1
    assert reached("def eval(x): ...\neval('x')\nself.eval()", "eval") is None


def test_the_finding_names_the_ban_as_it_was_written() -> None:
    found = banned_symbol({}, trees({"m.py": "import os\nos.system('x')"}), ["eval", "os.system"])
    assert found == Finding("banned_symbol", "m.py", 2, "os.system")
    found = banned_symbol({}, trees({"m.py": "print(eval('1'))"}), ["eval"])
    assert found == Finding("banned_symbol", "m.py", 1, "eval")


def test_the_first_finding_is_by_path_then_line() -> None:
    artifact = trees({"z.py": "import q", "b.py": "\n\nimport q", "c.py": "import q"})
    assert banned_symbol({}, artifact, ["q"]) == Finding("banned_symbol", "b.py", 3, "q")


class TestWhoseLine:
    def test_an_alias_of_the_fixture_counts_with_a_use_of_the_agent(self) -> None:
        fixture = "import a\nx = a\n"
        assert reached(fixture + "x.b()\n", fixture=fixture) == 3

    def test_a_use_on_a_line_of_the_fixture_does_not_count(self) -> None:
        fixture = "from a import b\nb()\n"
        assert reached("y = 1\n" + fixture, fixture=fixture) is None
        assert reached(fixture + "b(1)\n", fixture=fixture) == 3

    def test_a_changed_argument_does_not_make_the_callee_the_agents(self) -> None:
        fixture = "import a\na.b(\n  1,\n)\n"
        assert reached(fixture.replace("1", "2"), fixture=fixture) is None
        fixture = "import a\ndef f(q): return a.b\nx = f(\n  1,\n)\n"
        assert reached(fixture.replace("1", "2"), fixture=fixture) is None

    def test_a_name_added_to_an_import_of_the_fixture_is_the_agents(self) -> None:
        fixture = "from a import (\n  c,\n)\n"
        assert reached(fixture.replace("c,", "c,\n  b,"), fixture=fixture) == 3

    def test_code_behind_a_line_end_that_only_the_encoding_shows_is_the_agents(self) -> None:
        odd = b"# \x80\n# coding: unicode_escape\n# \\u000aimport a.b\n"
        for code in (odd, odd.partition(b"\n")[2]):
            artifact = {"main.py": File(code)}
            assert banned_symbol({}, artifact, ["a.b"]) is not None
            assert banned_symbol(artifact, artifact, ["a.b"]) is None

    def test_an_encoding_that_keeps_the_lines_changes_nothing(self) -> None:
        code = "# coding: latin-1\nimport a.b\n# \u00e9".encode("latin-1")
        fixture = {"main.py": File(code)}
        artifact = {"main.py": File(b"# -*- coding: latin-1 -*-" + code[17:])}
        assert banned_symbol(fixture, artifact, ["a.b"]) is None


class TestFiles:
    def test_only_python_files_are_read(self) -> None:
        code = "import a.b"
        assert banned_symbol({}, trees({"x.txt": code, "x": code, "x.pyc": code}), ["a.b"]) is None
        script = trees({"run": "#!/usr/bin/env python3\n" + code})
        assert banned_symbol({}, script, ["a.b"]) == Finding("banned_symbol", "run", 2, "a.b")
        assert banned_symbol({}, trees({"run": "#!/bin/sh\n" + code}), ["a.b"]) is None

    def test_an_alias_in_another_file_of_the_tree_counts(self) -> None:
        fixture = trees({"compat.py": "import a as http\n"})
        for use in (
            "from compat import http\nhttp.b()",
            "import compat\ncompat.http.b()",
            "from compat import *\nhttp.b()",
        ):
            found = banned_symbol(fixture, fixture | trees({"m.py": use}), ["a.b"])
            assert found == Finding("banned_symbol", "m.py", 2, "a.b"), use

    def test_packages_and_relative_imports_are_followed(self) -> None:
        files = {"src/p/__init__.py": "", "src/p/net.py": "import a\n", "src/p/use.py": ""}
        fixture = trees(files)
        for use in (
            "from .net import a\na.b",
            "from . import net\nnet.a.b",
            "import p.net\np.net.a.b",
        ):
            found = banned_symbol(fixture, trees(files | {"src/p/use.py": use}), ["a.b"])
            assert found == Finding("banned_symbol", "src/p/use.py", 2, "a.b"), use

    def test_a_relative_import_at_the_root_means_the_tree(self) -> None:
        files = {"net.py": "import a\n", "use.py": "from .net import a\na.b"}
        found = banned_symbol({}, trees(files), ["a.b"])
        assert found == Finding("banned_symbol", "use.py", 2, "a.b")

    def test_an_assignment_into_a_module_of_the_tree_is_followed(self) -> None:
        files = {
            "net.py": "",
            "set.py": "import net, a\nnet.x = a",
            "use.py": "import net\nnet.x.b",
        }
        found = banned_symbol({}, trees(files), ["a.b"])
        assert found == Finding("banned_symbol", "use.py", 2, "a.b")

    def test_a_stand_in_that_the_agent_adds_lifts_no_ban(self) -> None:
        files = {
            "m.py": "import dotenv\ndotenv.load_dotenv()",
            "dotenv.py": "def load_dotenv(): ...",
        }
        found = banned_symbol({}, trees(files), ["dotenv.load_dotenv"])
        assert found == Finding("banned_symbol", "m.py", 2, "dotenv.load_dotenv")

    def test_a_module_of_the_fixture_that_lacks_the_name_stands_in_front(self) -> None:
        files = {"dotenv.py": "def parse(): ...\n", "m.py": ""}
        used = trees(files | {"m.py": "import dotenv\ndotenv.load_dotenv()"})
        assert banned_symbol(trees(files), used, ["dotenv.load_dotenv"]) is None
        del used["dotenv.py"]
        assert banned_symbol(trees(files), used, ["dotenv.load_dotenv"]) is not None

    def test_a_name_that_the_fixture_defines_can_be_banned(self) -> None:
        files = {"legacy.py": "def parse(): ...\n", "pkg/old.py": "", "m.py": ""}
        used = trees(files | {"m.py": "from legacy import parse\nimport pkg.old"})
        for ban, line in (("legacy.parse", 1), ("legacy", 1), ("pkg.old", 2)):
            found = banned_symbol(trees(files), used, [ban])
            assert found == Finding("banned_symbol", "m.py", line, ban)

    def test_a_module_beside_the_importing_file(self) -> None:
        files = {"pkg/dotenv.py": "def load(): ...\n", "pkg/m.py": ""}
        used = trees(files | {"pkg/m.py": "import dotenv\ndotenv.load()"})
        assert banned_symbol(trees(files), used, ["dotenv"]) is None
        assert banned_symbol(trees(files), used, ["pkg.dotenv"]) is not None
        added = banned_symbol(trees({"pkg/m.py": ""}), used, ["dotenv"])
        assert added == Finding("banned_symbol", "pkg/m.py", 1, "dotenv")

    def test_a_wrapper_with_the_name_of_what_it_wraps_is_no_stand_in_for_itself(self) -> None:
        files = {"pkg/dotenv.py": "x = 1\n"}
        used = trees({"pkg/dotenv.py": "x = 1\nimport dotenv\n"})
        assert banned_symbol(trees(files), used, ["dotenv"]) is not None


def test_aliases_may_chain_against_the_order_of_the_lines_up_to_a_limit() -> None:
    def chain(count: int) -> str:
        return "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(count))

    assert reached(f"{chain(40)}\ndef f40(): return __import__('a')\nf0().b") == 42
    assert reached(f"{chain(80)}\ndef f80(): return __import__('a')\nf0().b") is None


def test_no_ban_and_an_empty_ban_are_never_reached() -> None:
    code = trees({"main.py": "from .x import y\nimport a.b"})
    assert banned_symbol({}, code, []) is None
    assert banned_symbol({}, code, [""]) is None


@pytest.mark.parametrize(
    "code",
    [
        "eval('a.b')",
        "import a\nsetattr(q, 'x', a)\nq.x.b",
        "from operator import attrgetter\nimport a\nattrgetter('b')(a)",
        "import a\nx = []\nx.append(a)\nx[0].b",
        "import a\nnext(iter([a])).b",
        "import a\ngetattr(a, 'B'.lower())",
        "import a\ndef f():\n  yield a\nfor x in f(): x.b",
    ],
)
def test_the_stated_limits_are_the_limits(code: str) -> None:
    assert reached(code) is None
