"""What an agent's file names, looked up in its `code`: that alone is in its box, and in its key.

Read, never run. What cannot be told from the source (a name that is computed, a package of the
pack's environment) is let pass; what is said here fails in every cell.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from frozenbench.agent_files import AgentFile
from frozenbench.canonical import BadInput, File

PYTHONS = ("python", "python3")
#: Programs whose first word that is no option is a script.
_READS_SCRIPTS = (*PYTHONS, "sh", "bash", "dash", "node", "perl", "ruby")
#: Options of an interpreter after which no script comes: the next word is what is run.
_NO_SCRIPT = ("-c", "-m", "-e", "-p")
#: What a walled box shows besides the agent's own code.
_SHOWN = ("/usr/", "/bin/", "/sbin/", "/opt/env/", "/agent/")


def check_code(agent: AgentFile, root: Path, walled: bool) -> None:
    """Refuse an agent that names what is not in its `code`.

    Args:
        agent: as it was read.
        root: the project.
        walled: whether its box shows nothing else of this machine.

    Raises:
        BadInput: names file, key, value and cure.
    """
    where = f"config/agents/{agent.name}.yaml"
    sheet = agent.sheet
    if sheet["adapter"] == "python":
        modules = _Modules(agent.code, agent.roots, root, where)
        modules.check(_entry(modules, agent), str(sheet["module"]))
    elif "argv" in sheet and "program" not in sheet:
        _check_argv(agent, root, walled, where)


def _entry(modules: _Modules, agent: AgentFile) -> str:
    """Return the file of a python agent's module, which must hold its function."""
    module, attribute = str(agent.sheet["module"]), str(agent.sheet["attribute"])
    found = modules.find(module)
    if found not in agent.code:
        known = modules.names()
        close = difflib.get_close_matches(module.rpartition(".")[2], known, n=1)
        aside = modules.aside(module, "")
        told = f"{aside} is not in code; cure: add it to code" if aside else ""
        hint = close[0] if close else ", ".join(known) or "none"
        raise BadInput(
            f"{modules.where}: module: {module!r} is not in code: "
            + (
                told
                or f"cure: the name of a module that is there ({hint}), or add its file to code"
            )
        )
    assert found is not None
    source = modules.source(found)
    if source is not None and not _may_bind(source, attribute):
        functions = [node.name for node in source.body if isinstance(node, ast.FunctionDef)]
        raise BadInput(
            f"{modules.where}: attribute: {attribute!r} is not in {found}; cure: the name of a "
            f"function that is there ({', '.join(functions) or 'none'})"
        )
    return found


def _may_bind(source: ast.Module, name: str) -> bool:
    """Tell whether a module could have a name: anything that only runs may tell counts as yes."""
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound = node.name in (name, "__getattr__")
        elif isinstance(node, ast.alias):
            bound = node.name == "*" or (node.asname or node.name.partition(".")[0]) == name
        elif isinstance(node, ast.Name):
            bound = node.id in ("globals", "exec", "setattr", "vars") or (
                node.id == name and isinstance(node.ctx, ast.Store)
            )
        else:
            bound = False
        if bound:
            return True
    return False


@dataclass(frozen=True)
class _Modules:
    """The modules of an agent's code, as the interpreter in its box would find them."""

    code: Mapping[str, File]
    roots: Sequence[str]
    root: Path
    where: str

    def find(self, name: str) -> str | None:
        """Return the path of a module in the code; of a folder without `__init__.py` the folder."""
        tail = name.replace(".", "/")
        for below in self.roots:
            place = _joined(below, tail)
            for path in (f"{place}/__init__.py", f"{place}.py"):
                if path in self.code:
                    return path
            for path in self.code:  # an extension module, whatever its tag
                if path.startswith(f"{place}.") and path.endswith(".so"):
                    return path
        places = [_joined(below, tail) for below in self.roots]
        return next((p for p in places if any(c.startswith(f"{p}/") for c in self.code)), None)

    def names(self) -> list[str]:
        """Return the names of the modules that lie at the top of the code."""
        found = set()
        for path in self.code:
            pure = PurePosixPath(path)
            if pure.suffix == ".py" and pure.parent.as_posix() in self.roots:
                found.add(pure.stem)
            if pure.name == "__init__.py" and pure.parent.parent.as_posix() in self.roots:
                found.add(pure.parent.name)
        return sorted(found - {"__init__"})

    def aside(self, name: str, beside: str) -> str | None:
        """Return the project's file that would be this module if it were in the code, or None."""
        tail = name.replace(".", "/")
        # From the top of the project only what says so: `agents.mine`, and no `yaml`.
        top = ["."] if "." in name else []
        for below in dict.fromkeys([*self.roots, beside, *top]):
            place = _joined(below, tail)
            for path in (f"{place}.py", f"{place}/__init__.py"):
                if path not in self.code and (self.root / path).is_file():
                    return path
        return None

    def source(self, path: str) -> ast.Module | None:
        """Return the tree of a file of the code, or None where it has none that we can read."""
        if path not in self.code or not path.endswith(".py"):
            return None
        try:
            return ast.parse(self.code[path].data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # the pack's Python may be newer than ours

    def check(self, path: str, name: str) -> None:
        """Refuse imports, from this module on, of files of the project that are not in the code."""
        seen = {path}
        waiting = [(path, name)]
        while waiting:
            path, name = waiting.pop()
            source = self.source(path)
            package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
            for line, wanted, certain in _imports(source, package) if source is not None else ():
                found = self._resolved(path, line, wanted, certain)
                if found is not None and found not in seen:
                    seen.add(found)
                    waiting.append((found, wanted))

    def _resolved(self, path: str, line: int, wanted: str, certain: bool) -> str | None:
        """Return the file of an imported module, or None where it is none of the code.

        Raises:
            BadInput: it is a file of the project that is not in the code.
        """
        at = f"{self.where}: code: {path}, line {line}:"
        if wanted.startswith("."):
            raise BadInput(
                f"{at} imports {wanted!r} from beside it, and is no part of a package in its box; "
                f"cure: import it as {wanted.lstrip('.')!r}"
            )
        found = self.find(wanted)
        if found is not None or wanted.partition(".")[0] in sys.stdlib_module_names:
            return found
        beside = PurePosixPath(path).parent.as_posix()
        aside = self.aside(wanted, beside) if certain or self._lacks(wanted) else None
        if aside is None:
            return None
        stem = PurePosixPath(aside)
        own = stem.parent.name if stem.name == "__init__.py" else stem.stem
        cure = f"add {aside} to code"
        if own != wanted:
            cure += f", and import it as {own!r}, or name the folder that {wanted!r} starts in"
        raise BadInput(f"{at} imports {wanted!r}, which is {aside}, and not in code; cure: {cure}")

    def _lacks(self, name: str) -> bool:
        """Tell whether the last part of a name is surely none that its package binds itself."""
        package, _, own = name.rpartition(".")
        found = self.find(package) if package else None
        if found is None:
            return False
        source = self.source(found)
        return found not in self.code or (source is not None and not _may_bind(source, own))


def _joined(below: str, tail: str) -> str:
    return tail if below in ("", ".") else f"{below}/{tail}"


def _imports(source: ast.Module, package: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, module, whether it must be one) of every import that is not guarded.

    A relative one gets its whole name; where there is no package for it, it keeps its dot. What
    stands behind `from X import` may be a module or a name in one.
    """
    for node in _unguarded(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((node.lineno, name, False) for name in _packages(alias.name))
                yield node.lineno, alias.name, True
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                if node.level > len(parts):
                    yield node.lineno, f".{base or node.names[0].name}", True
                    continue
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            yield from ((node.lineno, name, False) for name in _packages(base))
            yield node.lineno, base, True
            yield from ((node.lineno, f"{base}.{alias.name}", False) for alias in node.names)


def _packages(name: str) -> Iterator[str]:
    """Yield the packages that a dotted name lies in, from the outermost."""
    parts = name.split(".")
    yield from (".".join(parts[:depth]) for depth in range(1, len(parts)))


def _unguarded(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that may fail (`try`) or that no run reaches (`TYPE_CHECKING`)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Try) and child.handlers:
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _unguarded(child)


def _check_argv(agent: AgentFile, root: Path, walled: bool, where: str) -> None:
    """Refuse a command line whose program or script is the project's and not in the code."""
    words = [str(word) for word in agent.sheet["argv"]]
    first = words[0]
    _check_program(agent, first, root, walled, where)
    roots = list(dict.fromkeys(PurePosixPath(path).parent.as_posix() for path in agent.code))
    if (
        words[1:2] == ["-m"]
        and words[2:]
        and words[2] in _Modules(agent.code, roots, root, where).names()
    ):
        raise BadInput(
            f"{where}: argv.2: {words[2]!r} is in code, where -m does not look; cure: the path of "
            "its file in place of both words"
        )
    script = _script(words)
    if script is None:
        return
    place, word = script
    path = PurePosixPath(word).as_posix()
    _check_path(agent, path, root, f"{where}: argv.{place}")
    if PurePosixPath(first).name in PYTHONS and path in agent.code:
        roots = [PurePosixPath(path).parent.as_posix()]  # where the interpreter looks
        _Modules(agent.code, roots, root, where).check(path, PurePosixPath(path).stem)


def _check_program(agent: AgentFile, word: str, root: Path, walled: bool, where: str) -> None:
    at, path = f"{where}: argv.0", PurePosixPath(word)
    if path.is_absolute():
        inside = path.is_relative_to(root.resolve())
        if inside or (walled and not word.startswith(_SHOWN)):
            raise BadInput(
                f"{at}: {word!r} is not in the agent's box; cure: a program below /usr, or a file "
                "of the project that is in code, by its relative path"
            )
        return
    _check_path(agent, path.as_posix(), root, at)
    if path.as_posix() in agent.code and not agent.code[path.as_posix()].executable:
        raise BadInput(
            f"{at}: {word!r} is not executable; cure: chmod +x {path}, or put the program that runs "
            "it before it"
        )


def _script(words: Sequence[str]) -> tuple[int, str] | None:
    """Return place and word of the script that an interpreter is given, or None."""
    if PurePosixPath(words[0]).name not in _READS_SCRIPTS:
        return None
    for place, word in enumerate(words[1:], 1):
        if word in _NO_SCRIPT:
            return None
        if not word.startswith("-"):
            return place, word
    return None


def _check_path(agent: AgentFile, path: str, root: Path, at: str) -> None:
    """Refuse a path that is the project's and not the code's, or that misses in a code's folder."""
    if path in agent.code or len(path) > 240 or ".." in PurePosixPath(path).parts:
        return
    if (root / path).is_file():
        raise BadInput(
            f"{at}: {path!r} is a file of the project, and not in code; cure: add it to code"
        )
    folder = f"{PurePosixPath(path).parent.as_posix()}/"
    beside = [name for name in agent.code if folder != "./" and name.startswith(folder)]
    if beside:
        close = difflib.get_close_matches(path, beside, n=1)
        raise BadInput(f"{at}: {path!r} is not in code; cure: {(close or sorted(beside))[0]!r}?")
