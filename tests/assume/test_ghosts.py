from __future__ import annotations

import pytest
from frozenbench.assume import Environment, Finding, ghosts
from frozenbench.canonical import File

STDLIB = frozenset({"os", "sys", "json", "typing", "contextlib"})
PLAIN = Environment(STDLIB, frozenset({"pytest"}))
KNOWING = Environment(
    PLAIN.stdlib | {"xml", "concurrent"},
    PLAIN.modules,
    {
        "os": frozenset({"path", "getcwd", "name"}),
        "os.path": frozenset({"join"}),
        "json": frozenset({"loads", "decoder"}),
        "json.decoder": frozenset({"JSONDecoder"}),
        "xml": frozenset({"etree"}),
        "xml.etree": frozenset({"ElementTree"}),
        "concurrent": frozenset({"futures"}),
    },
)


def trees(files: dict[str, str]) -> dict[str, File]:
    return {path: File(text.encode()) for path, text in files.items()}


def ghost(
    code: str,
    *,
    environment: Environment = PLAIN,
    fixture: dict[str, str] | None = None,
    hidden: dict[str, str] | None = None,
    path: str = "main.py",
) -> tuple[str, int, str] | None:
    """Return reason, line and name of the first ghost in the agent's file, over the fixture."""
    given = trees(fixture or {})
    found = ghosts(given, given | trees({path: code}), trees(hidden or {}), environment)
    if found is None:
        return None
    assert found.path == path
    return found.reason, found.line, found.what


class TestImports:
    @pytest.mark.parametrize(
        ("code", "line", "what"),
        [
            ("import dotenv", 1, "dotenv"),
            ("import os, dotenv", 1, "dotenv"),
            ("import os\nfrom dotenv import load_dotenv", 2, "dotenv"),
            ("from dotenv.main import (\n  x,\n)", 1, "dotenv.main"),
            ("from dotenv import *", 1, "dotenv"),
            ("def f():\n  import boto3.session as b", 2, "boto3.session"),
            ("try:\n  import dotenv\nexcept ValueError:\n  pass", 2, "dotenv"),
            ("try:\n  pass\nexcept ImportError:\n  pass\nelse:\n  import dotenv", 6, "dotenv"),
            ("try:\n  import os\nfinally:\n  import dotenv", 4, "dotenv"),
            ("if x:\n  import dotenv", 2, "dotenv"),
            ("from .nosuch import x", 1, ".nosuch"),
        ],
    )
    def test_a_module_that_nothing_has_is_a_ghost(self, code: str, line: int, what: str) -> None:
        assert ghost(code) == ("ghost_import", line, what)

    @pytest.mark.parametrize(
        "code",
        [
            "import os, sys, json.decoder",
            "import pytest\nfrom pytest import raises",
            "from __main__ import x",
            "try:\n  import dotenv\nexcept ImportError:\n  dotenv = None",
            "try:\n  import dotenv\nexcept (ValueError, ModuleNotFoundError):\n  dotenv = None",
            "try:\n  import dotenv\nexcept Exception:\n  dotenv = None",
            "try:\n  import dotenv\nexcept:\n  dotenv = None",
            "try:\n  import json\nexcept ImportError:\n  import simplejson as json",
            "try:\n  if 1:\n    import dotenv\nexcept ImportError:\n  pass",
            "import contextlib\nwith contextlib.suppress(ImportError):\n  import dotenv",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import dotenv",
            "import typing\nif typing.TYPE_CHECKING:\n  import dotenv",
            "import sys\nif sys.version_info < (3, 11):\n  import tomli",
            "import sys\nif sys.platform == 'win32':\n  import win32api",
            "import os\nif os.name == 'nt':\n  import win32api",
            "if 0:\n  import dotenv",
            "# import dotenv\n'import dotenv'",
            "import dotenv(",
        ],
    )
    def test_what_is_there_or_guarded_is_none(self, code: str) -> None:
        assert ghost(code) is None

    def test_the_fixture_the_artifact_and_the_hidden_files_provide_modules(self) -> None:
        code = "import helper\nfrom helper import x\nimport pkg.sub\nfrom pkg import sub"
        files = {"helper.py": "x = 1", "pkg/sub.py": ""}
        assert ghost(code) == ("ghost_import", 1, "helper")
        assert ghost(code, fixture=files) is None
        assert ghost(code, hidden=files) is None
        assert ghosts({}, trees({"main.py": code} | files), {}, PLAIN) is None

    @pytest.mark.parametrize(
        ("path", "module", "is_there"),
        [
            ("main.py", "helper.py", True),
            ("tests/test_x.py", "helper.py", True),
            ("tests/test_x.py", "src/helper.py", True),
            ("tests/test_x.py", "tests/helper.py", True),
            ("main.py", "helper/__init__.py", True),
            ("main.py", "helper/data.csv", True),
            ("main.py", "helper.cpython-311-x86_64-linux-gnu.so", True),
            ("main.py", "lib/helper.py", False),
            ("main.py", "helper.txt", False),
            ("main.py", "tests/helper.py", False),
        ],
    )
    def test_modules_are_looked_for_at_the_root_in_src_and_beside_the_file(
        self, path: str, module: str, is_there: bool
    ) -> None:
        found = ghost("import helper", path=path, fixture={module: ""})
        assert (found is None) == is_there

    def test_a_tree_that_moves_its_paths_provides_modules_of_any_folder(self) -> None:
        files = {"lib/helper.py": "", "conftest.py": "import sys\nsys.path.insert(0, 'lib')"}
        assert ghost("import helper", fixture=files) is None
        assert ghost("import nosuch", fixture=files) == ("ghost_import", 1, "nosuch")
        files = {"lib/helper.py": "", "pyproject.toml": "pythonpath = ['lib']"}
        assert ghost("import helper", fixture=files) is None

    def test_submodules_of_the_tree(self) -> None:
        files = {"pkg/__init__.py": "", "pkg/a.py": "", "helper.py": "", "ns/deep/b.py": ""}
        assert ghost("import pkg.a, ns.deep.b", fixture=files) is None
        assert ghost("import pkg.nosuch", fixture=files) == ("ghost_import", 1, "pkg.nosuch")
        assert ghost("import helper.x", fixture=files) == ("ghost_import", 1, "helper.x")
        assert ghost("import ns.deep.c", fixture=files) == ("ghost_import", 1, "ns.deep.c")
        code = "from . import a\nfrom .a import *\nfrom .. import pkg\nfrom ... import x"
        assert ghost(code, fixture=files, path="pkg/m.py") is None
        found = ghost("from .b import q", fixture=files, path="pkg/m.py")
        assert found == ("ghost_import", 1, ".b")

    def test_a_package_that_makes_its_submodules_is_left_alone(self) -> None:
        files = {"pkg/__init__.py": "import sys\nsys.modules['pkg.a'] = sys"}
        assert ghost("import pkg.a\nfrom pkg.a import b", fixture=files) is None

    def test_submodules_of_the_standard_library(self) -> None:
        code = "import json.decoder, os.path, xml.etree.ElementTree, concurrent.futures.thread"
        assert ghost(code, environment=KNOWING) is None
        found = ("ghost_import", 1, "json.nosuch")
        assert ghost("import json.nosuch", environment=KNOWING) == found
        assert ghost("from json.nosuch import x", environment=KNOWING) == found
        assert ghost("import json.nosuch") is None


class TestWhoseLine:
    def test_a_line_of_the_fixture_is_no_ghost(self) -> None:
        fixture = {"main.py": "import dotenv\n", "other.py": "  nosuch()  # x\n"}
        assert ghost("x = 1\nimport dotenv", fixture=fixture) is None
        assert ghost("x = 1\nif x:\n    nosuch()  # x", fixture=fixture) is None
        found = ghost("import dotenv\nimport dotenv as d", fixture=fixture)
        assert found == ("ghost_import", 2, "dotenv")

    def test_a_name_that_is_added_to_an_import_of_the_fixture(self) -> None:
        fixture = {"main.py": "from json import (\n  loads,\n)\n"}
        code = "from json import (\n  loads,\n  parse,\n)\n"
        found = ghost(code, fixture=fixture, environment=KNOWING)
        assert found == ("ghost_name", 3, "json.parse")

    def test_only_files_that_parse_are_judged(self) -> None:
        artifact = trees({"a.txt": "import x", "b.py": "import x(", "c.py": "import y"})
        assert ghosts({}, artifact, {}, PLAIN) == Finding("ghost_import", "c.py", 1, "y")

    def test_ghost_imports_come_before_ghost_names(self) -> None:
        artifact = trees({"a.py": "nosuch()", "b.py": "nosuch()\nimport x"})
        assert ghosts({}, artifact, {}, PLAIN) == Finding("ghost_import", "b.py", 2, "x")
        del artifact["b.py"]
        assert ghosts({}, artifact, {}, PLAIN) == Finding("ghost_name", "a.py", 1, "nosuch")


class TestImportedNames:
    def test_a_name_that_a_module_of_the_standard_library_does_not_have(self) -> None:
        found = ("ghost_name", 1, "json.parse")
        assert ghost("from json import parse", environment=KNOWING) == found
        assert ghost("from json import loads as parse", environment=KNOWING) is None
        assert ghost("from json import decoder, __doc__", environment=KNOWING) is None
        assert ghost("from json import parse") is None
        assert ghost("from typing import Nosuch", environment=KNOWING) is None

    def test_a_guarded_name_is_none(self) -> None:
        code = "try:\n  from json import parse\nexcept ImportError:\n  parse = None"
        assert ghost(code, environment=KNOWING) is None

    @pytest.mark.parametrize(
        ("helper", "is_ghost"),
        [
            ("", True),
            ("def other(): ...", True),
            ("class A:\n  x = 1", True),
            ("def f():\n  x = 1", True),
            ("x = 1", False),
            ("def x(): ...", False),
            ("if q:\n  import x", False),
            ("for x in q: pass", False),
            ("try: pass\nexcept E as x: pass", False),
            ("def f():\n  global x\n  x = 1", False),
            ("(x := 1)", False),
            ("from q import *", False),
            ("def __getattr__(name): ...", False),
            ("globals()['x'] = 1", False),
            ("x = (", False),
        ],
    )
    def test_a_name_that_a_module_of_the_tree_does_not_bind(
        self, helper: str, is_ghost: bool
    ) -> None:
        found = ghost("from helper import x", fixture={"helper.py": helper})
        assert found == (("ghost_name", 1, "helper.x") if is_ghost else None)

    def test_a_name_that_any_version_of_a_module_binds_is_none(self) -> None:
        code = "from helper import x"
        files = {"main.py": code, "helper.py": "y = 2"}
        assert ghosts({}, trees(files), trees({"helper.py": "x = 1"}), PLAIN) is None
        assert ghosts(trees({"helper.py": "x = 1"}), trees(files), {}, PLAIN) is None
        assert ghosts({}, trees(files), {}, PLAIN) is not None

    def test_names_of_packages(self) -> None:
        files = {"pkg/__init__.py": "from .a import y", "pkg/a.py": "y = 1"}
        assert ghost("from pkg import y, a\nfrom pkg.a import y", fixture=files) is None
        assert ghost("from pkg import z", fixture=files) == ("ghost_name", 1, "pkg.z")
        found = ghost("from . import z", fixture=files, path="pkg/m.py")
        assert found == ("ghost_name", 1, ".z")
        found = ghost("from .a import z", fixture=files, path="pkg/m.py")
        assert found == ("ghost_name", 1, ".a.z")


class TestAttributes:
    @pytest.mark.parametrize(
        ("code", "line", "what"),
        [
            ("import json\njson.parse('x')", 2, "json.parse"),
            ("import json as j\nx = [\n  j\n  .parse]", 4, "json.parse"),
            ("import os\nos.path.joined()", 2, "os.path.joined"),
            ("import os.path as p\np.joined()", 2, "os.path.joined"),
            ("from os import path\npath.joined()", 2, "os.path.joined"),
            ("def f():\n  import json\n  json.parse()", 3, "json.parse"),
            ("import json\ntry:\n  json.parse()\nexcept KeyError: pass", 3, "json.parse"),
        ],
    )
    def test_a_name_that_is_taken_from_a_module_without_it(
        self, code: str, line: int, what: str
    ) -> None:
        assert ghost(code, environment=KNOWING) == ("ghost_name", line, what)
        assert ghost(code) is None

    @pytest.mark.parametrize(
        "code",
        [
            "import json\njson.loads('x').parse",
            "import json\njson.__doc__",
            "import xml.etree.ElementTree\nxml.etree.ElementTree.nosuch",
            "import json\ndef f(json): json.parse()",
            "import json\njson = 1\njson.parse",
            "import json\nfor json in []: json.parse",
            "import json\nclass json: ...\njson.parse",
            "try:\n  import ujson as json\nexcept ImportError:\n  import json\njson.parse()",
            "import json\njson.parse = 1\njson.parse()",
            "import json\ntry:\n  json.parse()\nexcept AttributeError: pass",
            "import json\nif hasattr(json, 'parse'): json.parse()",
            "import json\nx = json.parse if hasattr(json, 'parse') else None",
            "import json\nhasattr(json, 'parse') and json.parse()",
            "import os\nif os.name == 'nt': os.startfile()",
            "import sys\nsys.nosuch",
            "import json\ndef f(x: json.Any) -> json.Any:\n  y: json.Any = x",
            "import json\nif platform() == 'nt': json.parse()\ndef platform(): ...",
        ],
    )
    def test_what_is_not_certain_is_none(self, code: str) -> None:
        assert ghost(code, environment=KNOWING) is None

    def test_a_module_of_the_tree_with_the_same_name_is_left_alone(self) -> None:
        code = "import json\njson.parse()\nfrom json import parse"
        assert ghost(code, environment=KNOWING, fixture={"json.py": "parse = 1"}) is None


class TestUndefinedNames:
    @pytest.mark.parametrize(
        ("code", "line", "what"),
        [
            ("load_env()", 1, "load_env"),
            ("def f():\n  return parse_env(x=1)", 2, "parse_env"),
            ("try:\n  nosuch()\nexcept ValueError: pass", 2, "nosuch"),
            ("x: Nosuch = 1", 1, "Nosuch"),
            ("class C:\n  a = 1\n  def f(self): return a", 3, "a"),
            ("print(unicode)", 1, "unicode"),
        ],
    )
    def test_a_name_that_nothing_defines(self, code: str, line: int, what: str) -> None:
        assert ghost(code) == ("ghost_name", line, what)

    @pytest.mark.parametrize(
        "code",
        [
            "print(__name__, __file__, WindowsError)",
            "from os import *\nnosuch()",
            "try:\n  nosuch\nexcept NameError:\n  nosuch = 1",
            "def f():\n  global made\n  made = 1\ndef g(): return made",
            "globals()['made'] = 1\nmade",
            "exec('made = 1')\nmade",
            "__all__ = ['f']\ndef f(): ...",
            "made()\ndef made(): ...",
            "def made(): ...\ndef f(): made()\ndel made",
            "def f(): return later()\ndef later(): ...",
            "[x for x in 'ab']",
            "if (n := 1): n",
            "match 1:\n  case x: x",
        ],
    )
    def test_a_name_that_something_may_define(self, code: str) -> None:
        assert ghost(code) is None

    def test_builtins_of_the_environment_are_defined(self) -> None:
        newer = Environment(PLAIN.stdlib, PLAIN.modules, {"builtins": frozenset({"brandnew"})})
        assert ghost("brandnew()") == ("ghost_name", 1, "brandnew")
        assert ghost("brandnew()", environment=newer) is None

    def test_a_definition_that_the_agent_deleted_makes_only_its_own_uses_ghosts(self) -> None:
        fixture = {"main.py": "def f(): ...\nf()\n"}
        assert ghost("f()\n", fixture=fixture) is None
        assert ghost("f()\nf(1)\n", fixture=fixture) == ("ghost_name", 2, "f")
