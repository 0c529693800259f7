"""What a pack environment's Python can import, as far as it can be told without running a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from frozenbench.canonical import BadInput


@dataclass(frozen=True)
class Environment:
    """The importable modules of a pack environment."""

    stdlib: frozenset[str]  #: `sys.stdlib_module_names`
    modules: frozenset[str]  #: top-level names of the installed packages
    #: Dotted module -> its names, submodules among them. A module that is absent here is one of
    #: which nothing is known: no name in it is ever a ghost.
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)


def probe_source() -> str:
    """Return a script that prints what `Environment` needs as one line of JSON.

    Run it with the pack environment's own interpreter, isolated (`python -I -c SCRIPT` or `-I` and
    a file), and give what it printed to `environment_from_probe`. It imports the public modules of
    the standard library, and no installed package; it needs a second and no network.
    """
    return _PROBE


def environment_from_probe(printed: str | bytes) -> Environment:
    """Read what the script of `probe_source` printed.

    Raises:
        BadInput: it is not that script's JSON.
    """
    try:
        found = json.loads(printed)
        lists = [found["stdlib"], found["modules"], *found["names"].values()]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(
            f"environment probe: its output is not the expected JSON ({error})"
        ) from None
    if not all(isinstance(each, list) and all(isinstance(n, str) for n in each) for each in lists):
        raise BadInput("environment probe: its output holds something else than lists of names")
    names = {module: frozenset(known) for module, known in found["names"].items()}
    return Environment(frozenset(found["stdlib"]), frozenset(found["modules"]), names)


_PROBE = """\
import contextlib, importlib, importlib.metadata, io, json, pkgutil, sys, warnings

# What opens a window or a browser, prints, prompts, or is no part of a program's imports.
SKIPPED = {"antigravity", "this", "idlelib", "turtledemo", "turtle", "tkinter", "test", "lib2to3",
           "ensurepip", "distutils", "pydoc_data"}
names = {}


def look(name, depth):
    try:
        module = importlib.import_module(name)
    except BaseException:
        return
    known = set(dir(module))
    for part in pkgutil.iter_modules(getattr(module, "__path__", [])):
        known.add(part.name)
        if depth and not part.name.startswith("_") and part.name not in ("test", "tests"):
            look(name + "." + part.name, depth - 1)
    # A module that makes names when they are asked for has more than it lists.
    if not hasattr(module, "__getattr__"):
        names[name] = sorted(known)


def installed():
    import sysconfig
    own = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    folders = [folder for folder in sys.path
               if folder and folder not in own and not folder.endswith("lib-dynload")]
    found = {part.name for part in pkgutil.iter_modules(folders)}
    try:
        found.update(importlib.metadata.packages_distributions())
    except Exception:
        pass
    return {name for name in found if name.isidentifier()}


printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
    warnings.simplefilter("ignore")
    modules = installed()
    for name in sorted(sys.stdlib_module_names - SKIPPED):
        if not name.startswith("_") or name == "__future__":
            look(name, 2)
    import os
    names["os.path"] = sorted(dir(os.path))
stdlib = sys.stdlib_module_names
result = {"stdlib": sorted(stdlib), "modules": sorted(modules - stdlib), "names": names}
print(json.dumps(result, sort_keys=True, separators=(",", ":")))
"""
