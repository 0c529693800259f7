"""program: an agent of its own making, in the sandbox, whose only way out is its metered model.

It is started once. It asks its model at `{base_url}`, which is the gateway: that meters it, serves
it from the record and ends it. What it did stands in its work folder; its exit status decides
nothing. Placeholders in `argv`, `variables` and `files`:

    {prompt}       the task, with its budget where that is disclosed
    {prompt_file}  a file with the same
    {base_url}     the gateway, without a version part: http://127.0.0.1:PORT
    {model}        the pinned model name
    {seed}         the seed of the first request; 0 where none is pinned
    {home} {work}  its home and its work folder, in which it starts
"""

from __future__ import annotations

import difflib
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from frozenbench.adapters.contract import Cell, checked_endpoint
from frozenbench.adapters.python import CODE
from frozenbench.canonical import BadInput, File, tree_digest, write_tree
from frozenbench.controls import STRING, STRINGS, Agent, control
from frozenbench.gateway.seed import request_seed
from frozenbench.gateway.wires import format_of
from frozenbench.installed import Program, locate
from frozenbench.outcomes import METERS as ALL_METERS
from frozenbench.sandbox import (
    HOME,
    WORK,
    Box,
    Ended,
    Limits,
    Mount,
    Running,
    large_tree_digest,
    start,
    take_tree,
    work_folder,
)

METERS = frozenset(ALL_METERS)
#: Run behind the gateway (`open_agent`), not asked for proposals.
GATEWAY = True

FORWARD = Path(__file__).parent.parent / "inside" / "forward.py"
FORWARD_SEEN, SPEC = "/opt/frozenbench/forward.py", "/opt/frozenbench/forward.json"
SOCKET, PROMPT = "/run/gateway", "/task/prompt.md"
#: Where the gateway is seen behind walls, in every cell: it may get into requests.
PORT = 41417

#: Interpreters of JavaScript reserve far more address space than they use, and start many threads.
_LIMITS = Limits(seconds=None, memory_bytes=1 << 40, processes=512, file_bytes=1 << 30)

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_NAMES = ("prompt", "prompt_file", "base_url", "model", "seed", "home", "work")
_PLACEHOLDER = re.compile(rf"\{{({'|'.join(_NAMES)})\}}")
#: What looks like a placeholder: not ${a} of a shell, not {{a}} of a template.
_LIKE_ONE = re.compile(r"(?<![${])\{([A-Za-z][\w-]*)\}(?!\})")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Identity:
    """What an installed program is, wherever it lies."""

    name: str = control("its package", STRING)
    version: str = control("its release", STRING)
    digest: str = control("SHA-256 of all its files, caches left out", STRING)


@dataclass(frozen=True)
class Options:
    """What a program's file holds besides its sheet."""

    argv: tuple[str, ...] = control(
        "its command line, with placeholders; the first word is looked up on PATH, `python` is the "
        "pack's, and a word that names a path of `code` becomes its place in the sandbox",
        {**STRINGS, "minItems": 1},
    )
    variables: Mapping[str, str] | None = control(
        "its environment, with placeholders", _TEXTS, default=None
    )
    files: Mapping[str, str] | None = control(
        "files below its home folder: path -> text, with placeholders", _TEXTS, default=None
    )
    program: Identity | None = control(
        "what is installed: found when the file is read, and a pin where it stands there",
        {},
        default=None,
    )
    code: tuple[str, ...] = control(
        "files and folders of the agent, relative to the project",
        STRINGS,
        default=(),
        in_key=False,
        enters="run key, by the digest of its content",
    )


def check(agent: Agent, options: Options, where: str) -> None:
    """Refuse what a program cannot work with.

    Raises:
        BadInput: names file, key and cure.
    """
    checked_endpoint(agent, format_of, where)
    for name in options.variables or {}:
        if not _VARIABLE.fullmatch(name):
            raise BadInput(
                f"{where}: variables: {name!r} is no name of a variable; cure: letters, digits, _"
            )
    _check_files(list(options.files or {}), where)
    _check_texts(options, where)


def _check_files(paths: Sequence[str], where: str) -> None:
    """Refuse paths that no home folder can hold."""
    for path in paths:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise BadInput(
                f"{where}: files: {path!r} leaves the home folder; cure: a path below it"
            )
        if "\0" in path or max(len(part.encode()) for part in pure.parts) > 255:
            raise BadInput(f"{where}: files: {path[:80]!r} is no path; cure: a shorter one")
        for other in paths:
            if pure in PurePosixPath(other).parents:
                raise BadInput(
                    f"{where}: files: {path!r} is a file, and {other!r} wants it to be a folder; "
                    "cure: rename one of them"
                )


def _check_texts(options: Options, where: str) -> None:
    """Refuse texts that no process can be given, and placeholders that nothing fills.

    A file may hold anything in braces: there only what nearly is a placeholder is refused.
    """
    texts = [(f"argv.{place}", word) for place, word in enumerate(options.argv)]
    texts += [(f"variables.{name}", text) for name, text in (options.variables or {}).items()]
    files = [(f"files.{name}", text) for name, text in (options.files or {}).items()]
    for key, text in (*texts, *files):
        if "\0" in text:
            raise BadInput(f"{where}: {key}: holds a NUL character; cure: remove it")
        for name in _LIKE_ONE.findall(text):
            close = difflib.get_close_matches(name.lower(), _NAMES, n=1, cutoff=0.8)
            if name in _NAMES or (key.startswith("files.") and not close):
                continue
            hint = f"did you mean {{{close[0]}}}? " if close else ""
            known = ", ".join(f"{{{known}}}" for known in _NAMES)
            raise BadInput(
                f"{where}: {key}: {{{name}}} is no placeholder; cure: {hint}one of {known}"
            )


def brings_its_code(data: Mapping[str, Any]) -> bool:
    """Tell whether an agent's file runs code of its own, so that no installed program is meant."""
    argv = data.get("argv")
    if not isinstance(argv, list) or not argv or "preset" in data:
        return False
    code = data.get("code")
    return argv[0] in ("python", "python3") or (isinstance(code, list) and argv[0] in code)


class BoxedProgram:
    """One agent's process, from its start to its end, and its work folder."""

    def __init__(self, cell: Cell, work: Path, home: Path, place: Path) -> None:
        self.cell, self.work, self.home, self.place = cell, work, home, place
        self.socket = place / "gateway"
        self._running: Running | None = None

    def start(self) -> None:
        """Start it; the gateway must be listening by now."""
        box, words, search = self._box()
        port = PORT if box.walled and box.network == "blocked" else _free_port()
        texts = self._texts(box, port)
        variables = {
            name: _filled(text, texts)
            for name, text in (self.cell.sheet.get("variables") or {}).items()
        }
        if search:
            own = [*search, *box.variables_inside()["PATH"].split(":")]
            variables.setdefault("PATH", ":".join(own))
        variables["HOME"] = texts["home"]
        for name, text in (self.cell.sheet.get("files") or {}).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(text, texts), encoding="utf-8")
        argv = [*words, *(_filled(word, texts) for word in self._arguments(box))]
        spec = {"socket": box.seen(SOCKET), "port": port, "argv": argv}
        (self.place / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        driver = [box.python, "-I", "-S", box.seen(FORWARD_SEEN), box.seen(SPEC)]
        self._running = start(replace(box, variables=variables), driver)

    def wait(self, seconds: float) -> Ended | None:
        """Wait for its end; None where it has not come within `seconds`."""
        assert self._running is not None
        return self._running.wait(time.monotonic() + seconds)

    def end(self) -> Ended:
        """End its whole process tree, and tell how it ended."""
        assert self._running is not None
        self._running.kill()
        ended = self._running.ended
        assert ended is not None
        return ended

    def close(self) -> None:
        """End what still runs, and keep what it printed."""
        if self._running is not None:
            self.cell.log(self.end().output.decode("utf-8", "replace"))

    def take(self) -> tuple[dict[str, File], str | None, str | None]:
        """Return the work tree, the limit of an artifact that it passes, and the tree's digest.

        With a limit the tree is a part, and the digest that of the whole, or None if unknown.
        """
        tree, _, limit = take_tree(self.work)
        digest = tree_digest(tree) if limit is None else large_tree_digest(self.work)
        return tree, limit, digest

    def _box(self) -> tuple[Box, list[str], tuple[str, ...]]:
        """Return the box, the words that start the program in it, and folders for its PATH."""
        cell = self.cell
        prompt, spec = self.place / "prompt.md", self.place / "spec.json"
        prompt.write_text(self._prompt(), encoding="utf-8")
        spec.touch()  # filled in once it is known where things are seen
        for path in (prompt, spec):
            path.chmod(0o644)
        mounts = [
            Mount(self.home, HOME, writable=True),
            Mount(FORWARD, FORWARD_SEEN),
            Mount(self.socket, SOCKET),
            Mount(prompt, PROMPT),
            Mount(spec, SPEC),
        ]
        if cell.code is not None:
            mounts.append(Mount(cell.code, CODE))

        def box(mounts: list[Mount]) -> Box:
            return Box(
                level=cell.isolation,
                work=self.work,
                mounts=tuple(mounts),
                environment=cell.environment,
                limits=_LIMITS,
                network=cell.network,
            )

        if "program" not in cell.sheet:
            first = cell.sheet["argv"][0]
            found = box(mounts)
            if first in ("python", "python3"):
                return found, [found.python], ()
            return found, [self._code_word(found, first)], ()
        program = self._installed()
        mounts += [Mount(source, target) for source, target in program.mounts]
        found = box(mounts)
        return found, list(program.words(walled=found.walled)), tuple(program.search)

    def _installed(self) -> Program:
        """Return the installed program, which must be the one in the sheet."""
        sheet = self.cell.sheet
        program = locate(sheet["argv"][0])
        if program.identity() != sheet["program"]:
            raise BadInput(
                f"program: {program.identity()} is installed, and the frozen agent is "
                f"{sheet['program']}; cure: install that one again, or plan anew"
            )
        return program

    def _arguments(self, box: Box) -> list[str]:
        return [self._code_word(box, word) for word in self.cell.sheet["argv"][1:]]

    def _code_word(self, box: Box, word: str) -> str:
        """Return a word, or, where it names a path of the agent's code, its place in the box."""
        code = self.cell.code
        path = PurePosixPath(word)
        if code is None or path.is_absolute() or ".." in path.parts or len(word) > 240:
            return word
        return box.seen(f"{CODE}/{path}") if path.parts and (code / path).exists() else word

    def _texts(self, box: Box, port: int) -> dict[str, str]:
        """Return what the placeholders stand for."""
        sheet = self.cell.sheet
        seed = sheet.get("seed")
        return {
            "prompt": self._prompt(),
            "prompt_file": box.seen(PROMPT),
            "base_url": f"http://127.0.0.1:{port}",
            "model": sheet["endpoint"]["model"],
            "seed": str(0 if seed is None else request_seed(seed, self.cell.repeat, 0)),
            "home": box.seen(HOME),
            "work": box.seen(WORK),
        }

    def _prompt(self) -> str:
        if not self.cell.budget_disclosed:
            return self.cell.prompt
        names = {
            "tool_calls": "tool calls",
            "edit_rounds": "changes of the files",
            "tokens": "tokens in all",
            "wall_clock": "seconds",
        }
        caps = [f"{self.cell.caps[m]:g} {name}" for m, name in names.items() if m in self.cell.caps]
        return f"{self.cell.prompt}\n\nYour budget: at most {', '.join(caps)}."


def _filled(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled, once: what fills one is not looked through."""
    return _PLACEHOLDER.sub(lambda found: texts[found[1]], text)


def _free_port() -> int:
    """Return a port that is free now: outside walls the loopback is the machine's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def open_agent(cell: Cell) -> Iterator[BoxedProgram]:
    """Prepare the folders; nothing of the agent is left when the block ends."""
    with work_folder() as work, work_folder() as home, work_folder() as place:
        place.chmod(0o755)
        write_tree(cell.fixture, work)
        program = BoxedProgram(cell, work, home, place)
        try:
            yield program
        finally:
            program.close()
