"""Read a pack folder. Every error names file, line and field, and what would be right."""

from __future__ import annotations

import json
import re
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from frozenbench.canonical import BadInput, File, is_cache, read_tree, sha256_bytes
from frozenbench.controls import ID_PATTERN
from frozenbench.named_tests import hidden_named, paths_in
from frozenbench.packs.model import Grader, Pack, PackInfo, PackLine, Task

BOM = b"\xef\xbb\xbf"
PYTHONS = ("python", "python3", "pytest")


def read_pack(folder: Path, where: str, only: str | None = None) -> Pack:
    """Read, check and identify a pack.

    Args:
        folder: the pack's folder.
        where: how errors name it (a path relative to the project).
        only: read the one task with this id (a freezing job needs no other).

    Raises:
        BadInput: anything is wrong; the message names file, line and field.
    """
    if not folder.is_dir():
        raise BadInput(f"{where}: is no folder; cure: correct pack.path")
    info = _read_info(folder, where)
    raw = _read_file(folder, "pack.jsonl", f"{where}/pack.jsonl")
    lock = _read_lock(folder, where)
    lock_sha256 = None if lock is None else sha256_bytes(lock)
    lines = [
        (number, data)
        for number, data in _lines(raw, f"{where}/pack.jsonl")
        if only is None or only in (data.get("id"), data.get("task_id"))
    ]
    tasks = [
        _Line(folder, f"{where}/pack.jsonl: line {number}", data, lock_sha256).task()
        for number, data in lines
    ]
    if not tasks and only is not None:
        raise BadInput(f"{where}/pack.jsonl: task {only!r} is not there; cure: correct the id")
    if not tasks:
        raise BadInput(f"{where}/pack.jsonl: holds no task; cure: one JSON object a line")
    _check_ids(tasks, [number for number, _ in lines], f"{where}/pack.jsonl")
    return Pack(info, tuple(tasks), sha256_bytes(raw), lock, lock_sha256)


def _read_info(folder: Path, where: str) -> PackInfo:
    from frozenbench.schema import build

    path = f"{where}/pack.json"
    data = _json(_read_file(folder, "pack.json", path).removeprefix(BOM), path)
    info = build(PackInfo, data, path)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(info.python)
    except InvalidSpecifier:
        raise BadInput(
            f"{path}: python: {info.python!r} is no version range; cure: such as '>=3.11'"
        ) from None
    return info


def _read_lock(folder: Path, where: str) -> bytes | None:
    if not (folder / "requirements.txt").exists():
        return None
    data = _read_file(folder, "requirements.txt", f"{where}/requirements.txt")
    return data.removeprefix(BOM).replace(b"\r\n", b"\n")


def _lines(raw: bytes, where: str) -> list[tuple[int, dict[str, Any]]]:
    """Split at LF or CRLF only; a BOM and blank lines are passed over."""
    found = []
    for number, line in enumerate(raw.removeprefix(BOM).split(b"\n"), start=1):
        text = line.removesuffix(b"\r")
        if text.strip(b" \t"):
            found.append((number, _json(text, f"{where}: line {number}")))
    return found


def _json(data: bytes, where: str) -> dict[str, Any]:
    from frozenbench.schema import plain_name

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(
                    f"{where}: {plain_name(name)}: the field stands twice; cure: keep one"
                )
        return dict(pairs)

    def constant(name: str) -> None:
        raise BadInput(f"{where}: {name} is no JSON number; cure: a finite number, or leave it out")

    try:
        text = data.decode("utf-8")
        text.encode("utf-8")
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: is not UTF-8 (byte {error.start}); cure: save as UTF-8") from None
    except json.JSONDecodeError as error:
        told = f"{error.msg} at character {error.pos + 1}"
        raise BadInput(f"{where}: is not JSON: {told}; cure: one whole object a line") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: is not JSON: {error}; cure: one whole object a line") from None
    if not isinstance(value, dict):
        raise BadInput(f"{where}: holds no JSON object; cure: {{...}}")
    _no_surrogates(value, where)
    return value


def _no_surrogates(value: Any, where: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput(
            f"{where}: holds half of a surrogate pair; cure: a whole character"
        ) from None


def _read_file(folder: Path, relative: str, where: str) -> bytes:
    path = safe_path(folder, relative, where)
    if not path.is_file():
        raise BadInput(f"{where}: is not there; cure: create it")
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"{where}: cannot be read ({error.strerror}); cure: make it readable"
        ) from None


def safe_path(folder: Path, relative: str, where: str, what: str = "pack") -> Path:
    """Return folder/relative if it stays inside by name and by link; `what` names the folder.

    Raises:
        BadInput: it is absolute, holds `..`, a back-slash or NUL, or passes a link.
    """
    pure = PurePosixPath(relative)
    if (
        pure.is_absolute()
        or ".." in pure.parts
        or "\\" in relative
        or "\0" in relative
        or not pure.parts
    ):
        raise BadInput(f"{where}: {relative!r} leaves the {what}; cure: a path inside it")
    path = folder
    for part in pure.parts:
        path = path / part
        try:
            if stat.S_ISLNK(path.lstat().st_mode):
                raise BadInput(f"{where}: {relative!r} passes a link; cure: a real file or folder")
        except (FileNotFoundError, NotADirectoryError):
            break
        except (OSError, ValueError):
            raise BadInput(
                f"{where}: {relative[:80]!r} is no usable path; cure: a shorter, plain name"
            ) from None
    return folder / pure


def _check_ids(tasks: list[Task], numbers: list[int], where: str) -> None:
    seen: dict[str, tuple[str, int]] = {}
    for task, number in zip(tasks, numbers, strict=True):
        folded = task.id.casefold()
        if folded in seen:
            other, line = seen[folded]
            raise BadInput(
                f"{where}: line {number}: id: {task.id!r} stands twice (beside {other!r} in line "
                f"{line}; capitals do not count); cure: rename one"
            )
        seen[folded] = task.id, number


class _Line:
    """One line on its way to a Task: `where` names file and line in every error."""

    def __init__(
        self, folder: Path, where: str, data: Mapping[str, Any], lock_sha256: str | None
    ) -> None:
        from frozenbench.schema import build

        self.folder, self.where, self.lock_sha256 = folder, where, lock_sha256
        self.line = build(PackLine, data, where)

    def task(self) -> Task:
        identifier = self._one_of("id", "task_id")
        if not re.fullmatch(ID_PATTERN, identifier):
            raise BadInput(
                f"{self.where}: id: {identifier!r} is not allowed; cure: letters, digits, '.', '_' "
                "and '-', a letter or digit first, at most 100"
            )
        solution = self._tree_if_there(f"solutions/{identifier}", "solution")
        line = self.line
        return Task(
            id=identifier,
            prompt=self._prompt(),
            fixture=self._fixture(),
            budget_s=line.budget_s,
            artifact=tuple(self._inside_tree(path, "artifact") for path in line.artifact),
            network=line.network,
            weight=line.weight,
            split=line.split,
            grader=self._grader(solution),
            known_wrong=self._tree_if_there(f"known_wrong/{identifier}", "known_wrong"),
        )

    def _one_of(self, first: str, second: str) -> Any:
        values = {name: getattr(self.line, name) for name in (first, second)}
        given = [name for name, value in values.items() if value is not None]
        if len(given) != 1:
            what = "both stand" if given else "is missing"
            raise BadInput(
                f"{self.where}: {first} (or {second}): {what}; cure: give exactly one of the two"
            )
        return values[given[0]]

    def _prompt(self) -> str:
        self._one_of("prompt_file", "prompt")
        if self.line.prompt is not None:
            text = self.line.prompt
        else:
            name = str(self.line.prompt_file)
            data = _read_file(self.folder, name, f"{self.where}: prompt_file: {name}")
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(
                    f"{self.where}: prompt_file: {name} is not UTF-8 (byte {error.start}); cure: "
                    "save as UTF-8"
                ) from None
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        if not text.strip():
            raise BadInput(f"{self.where}: prompt: is empty; cure: say what is to be done")
        return text

    def _fixture(self) -> Mapping[str, File]:
        name = self.line.fixture_dir
        return {} if name is None else self._tree(name, "fixture_dir")

    def _tree(self, name: str, field: str) -> Mapping[str, File]:
        path = safe_path(self.folder, name, f"{self.where}: {field}")
        if not path.is_dir():
            raise BadInput(f"{self.where}: {field}: {name!r} is no folder; cure: create it")
        try:
            tree = read_tree(path)
        except BadInput as error:
            raise BadInput(f"{self.where}: {field}: {error}") from None
        for item in [*tree, *(p.relative_to(path).as_posix() for p in path.rglob(".git"))]:
            if ".git" in PurePosixPath(item).parts:
                raise BadInput(
                    f"{self.where}: {field}: {name}/{item}: a .git may hold the answer; cure: remove it"
                )
        return {item: file for item, file in tree.items() if not is_cache(item)}

    def _tree_if_there(self, name: str, field: str) -> Mapping[str, File] | None:
        path = safe_path(self.folder, name, f"{self.where}: {field}")
        return self._tree(name, field) if path.is_dir() else None

    def _inside_tree(self, path: str, field: str) -> str:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or "\0" in path or not pure.parts:
            raise BadInput(
                f"{self.where}: {field}: {path!r} leaves the tree; cure: a relative path"
            )
        return pure.as_posix()

    def _argv(self) -> tuple[str, ...]:
        self._one_of("grade", "test_cmd")
        if self.line.grade is not None:
            return self.line.grade
        try:
            words = tuple(shlex.split(str(self.line.test_cmd)))
        except ValueError as error:
            raise BadInput(f"{self.where}: test_cmd: {error}; cure: close the quotes") from None
        if not words:
            raise BadInput(f"{self.where}: test_cmd: holds no word; cure: the grading command")
        return words

    def _grader(self, solution: Mapping[str, File] | None) -> Grader:
        argv = self._argv()
        sources = self._hidden_sources(paths_in(argv))
        hidden: dict[str, File] = {}
        folders: list[str] = []
        for target, source in sources.items():
            self._add_hidden(target, source, hidden, folders)
        self._check_hidden(hidden)
        trust = self.line.grader_trust
        if not hidden and trust != "exit-status":
            raise BadInput(
                f"{self.where}: hidden: the command {shlex.join(argv)!r} names no file of the pack; "
                "cure: name the hidden tests in `hidden`"
            )
        if trust != "exit-status":
            self._check_harness(argv)
        return Grader(
            argv=argv,
            hidden=hidden,
            folders=tuple(sorted(folders)),
            tests=hidden_named(argv, hidden),
            timeout_s=self.line.grade_timeout_s,
            must_not_contain=self.line.must_not_contain,
            must_not_use=self.line.must_not_use,
            trust=trust,
            solution=solution,
            lock_sha256=self.lock_sha256,
        )

    def _check_hidden(self, hidden: Mapping[str, File]) -> None:
        for path in hidden:
            for parent in PurePosixPath(path).parents:
                if parent.as_posix() in hidden:
                    raise BadInput(
                        f"{self.where}: hidden: {parent} would be a file and a folder (for {path}); "
                        "cure: another path in the tree for one of them"
                    )

    def _check_harness(self, argv: tuple[str, ...]) -> None:
        if argv[0] != "pytest" and not (argv[0] in PYTHONS and argv[1:3] == ("-m", "pytest")):
            raise BadInput(
                f"{self.where}: grade: {shlex.join(argv)!r} reports no test ids; cure: pytest, or "
                "grader_trust exit-status"
            )
        if self.lock_sha256 is None:
            raise BadInput(
                f"{self.where}: grade: runs pytest, and the pack has no requirements.txt; cure: a "
                "hash-pinned lock that holds pytest"
            )

    def _hidden_sources(self, named: list[str]) -> dict[str, str]:
        given = self.line.hidden
        if isinstance(given, Mapping):
            return {self._inside_tree(k, "hidden"): v for k, v in given.items()}
        if given is not None:
            return {self._inside_tree(path, "hidden"): path for path in given}
        sources = {}
        for name in named:
            if ".." in PurePosixPath(name).parts or not self._is_there(name):
                continue
            sources[name] = name
            beside = PurePosixPath(name).parent
            if not (self.folder / name).is_dir():
                for extra in ("conftest.py", "support"):
                    if (self.folder / beside / extra).exists():
                        sources[(beside / extra).as_posix()] = (beside / extra).as_posix()
        return sources

    def _is_there(self, name: str) -> bool:
        """Tell whether a word names something in the pack; a script in a word is no path."""
        try:
            return (self.folder / name).exists()
        except (OSError, ValueError):
            return False

    def _add_hidden(
        self, target: str, source: str, hidden: dict[str, File], folders: list[str]
    ) -> None:
        path = safe_path(self.folder, source, f"{self.where}: hidden")
        if path.is_dir():
            tree = self._tree(source, "hidden")
            folders += [target] if tree else []  # caches that a test run left are no folder
            for name, file in tree.items():
                hidden[f"{target}/{name}"] = file
        elif path.is_file():
            executable = bool(path.lstat().st_mode & stat.S_IXUSR)
            hidden[target] = File(
                _read_file(self.folder, source, f"{self.where}: hidden"), executable
            )
        else:
            raise BadInput(f"{self.where}: hidden: {source!r} is not there; cure: create it")
