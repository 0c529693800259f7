"""Runs a candidate's code in a box of its own and answers requests for it: one JSON line each.

Started as `python -I candidate_child.py` in the folder of the artifact. The first request names a
file to import or a script to run; then objects are asked for attributes, called, and so on. What
cannot cross as a plain value stays here, and the other side gets its number. Nothing here is
trusted: the code that it runs can do all that this file can.
"""

from __future__ import annotations

# The candidate may change builtins; the functions below keep those of the start.
__builtins__ = dict(vars(__import__("builtins")))  # type: ignore[assignment]

import _operator as operator
import os
import sys
from _json import encode_basestring_ascii as quoted
from _json import make_scanner

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from frozenbench.inside.candidate_codec import Grammar, Reader, Table, Unplain, Writer, text_of
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from candidate_codec import Grammar, Reader, Table, Unplain, Writer, text_of

    # The artifact may have a file of that name.
    del sys.path[0], sys.modules["candidate_codec"]

#: Bytes that are kept of each stream of a script.
MAX_STREAM = 5 << 19


def snapshot(value: Any) -> Any:
    """Return what tells later whether a mutable object was changed."""
    if type(value) is bytearray:
        return bytes(value)
    return list(dict.items(value)) if type(value) is dict else list(value)


def is_changed(value: Any, before: Any) -> bool:
    """Tell whether a mutable object holds other objects, or in another order, than before."""
    now = snapshot(value)
    if len(now) != len(before):
        return True
    if type(value) is bytearray:
        return bool(now != before)
    if type(value) is dict:
        return any(a is not c or b is not d for (a, b), (c, d) in zip(now, before))  # noqa: B905
    return not all(map(operator.is_, now, before))


def next_of(value: Any) -> Any:
    """Return the next value, as the only one of a list; an empty list at the end."""
    try:
        return (next(value),)
    except StopIteration:
        return ()


def attribute(value: Any, name: str) -> Any:
    """Return an attribute, of a package also a submodule that is not imported yet."""
    try:
        return getattr(value, name)
    except AttributeError:
        if type(value) is not type(sys) or not hasattr(value, "__path__") or name[:1] == "_":
            raise
        inner = f"{value.__name__}.{name}"
        try:
            __import__(inner)
        except ModuleNotFoundError as error:
            if error.name != inner:
                raise
        return getattr(value, name)


def enter(value: Any) -> Any:
    """Enter a context."""
    return type(value).__enter__(value)


def leave(value: Any, name: str | None, error: Any) -> bool:
    """Leave a context, with an exception (an object, or a builtin's name and its text)."""
    if name is not None:
        error = getattr(sys.modules["builtins"], name)(error)
    return bool(type(value).__exit__(value, type(error) if error else None, error, None))


def write_file(root: str, path: str, data: bytes) -> None:
    """Write a file of the tree."""
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as handle:
        handle.write(data)


def read_file(root: str, path: str) -> bytes:
    """Read a file of the tree."""
    with open(os.path.join(root, path), "rb") as handle:
        return handle.read()


def yes_or_no(ask: Callable[..., Any]) -> Callable[..., bool]:
    """Return the same question, whose answer is one of the two."""
    return lambda *words: bool(ask(*words))


#: What an object can be asked for beside attributes and calls.
DEEDS: dict[str, Callable[..., Any]] = {
    "set": setattr,
    "del": delattr,
    "len": len,
    "iter": iter,
    "next": next_of,
    "str": str,
    "repr": repr,
    "format": format,
    "int": int,
    "float": float,
    "round": round,
    "enter": enter,
    "leave": leave,
    "isinstance": isinstance,
    "issubclass": issubclass,
    "write": write_file,
    "read": read_file,
    "divmod": divmod,
    "bool": bool,
    **{
        name: getattr(operator, name)
        for name in (
            *("getitem", "setitem", "delitem", "neg", "pos", "abs", "invert"),
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_"),
            *("xor", "lshift", "rshift"),
        )
    },
    **{
        name: yes_or_no(getattr(operator, name))
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "contains")
    },
}


class Served:
    """The objects of one candidate, and what they are asked."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._table = Table()

    def load(self, path: str) -> str:
        """Import a file of the tree; return the reply."""
        try:
            module = imported(self._root, path)
        except BaseException as error:
            text = f"{type(error).__name__}: {text_of(error)}{place_of(error, self._root)}"
            return f'"import":{quoted(text)}'
        return f'"v":{Writer(self._table).text(module)}'

    def answer(self, request: dict[str, Any]) -> str:
        """Do what a request asks; return the reply: a value or an error, and what has changed."""
        for number in request["free"]:
            self._table.free(number)
        reader = Reader(self._table)
        try:
            words = [reader.value(node) for node in request["v"]]
            named = {name: reader.value(node) for name, node in request["k"]}
        except BaseException as error:
            return f'"e":{Writer(self._table).error(error)}'
        before = [snapshot(value) for value in reader.mutable]
        try:
            reply = self._value(request["op"], words, named)
        except Unplain as error:
            reply = f'"not":{quoted(str(error))}'
        except BaseException as error:
            reply = f'"e":{Writer(self._table).error(error)}'
        try:
            return f'{reply},"m":[{self._changes(reader.mutable, before)}]'
        except Unplain as error:
            return f'"not":{quoted(str(error))}'

    def _value(self, what: str, words: list[Any], named: dict[str, Any]) -> str:
        if what == "call":
            found = words[0](*words[1:], **named)
        elif what == "get":
            found = attribute(*words)
        elif what in ("read", "write"):
            found = DEEDS[what](self._root, *words)
        else:
            found = DEEDS[what](*words)
        return f'"v":{Writer(self._table).text(found)}'

    def _changes(self, mutable: list[Any], before: list[Any]) -> str:
        known = {id(value): number for number, value in enumerate(mutable)}
        found = []
        for number, value in enumerate(mutable):
            if is_changed(value, before[number]):
                # The object itself is known, its content is what is told.
                writer = Writer(self._table, known)
                kind = type(value)
                if kind is dict:
                    content = writer.pairs(value, 1)
                elif kind is bytearray:
                    content = writer.text(bytes(value))
                else:
                    content = writer.items(value, 1)
                found.append(f"[{number},{content}]")
        return ",".join(found)


def imported(root: str, path: str) -> Any:
    """Import a file of the tree under its dotted name, or by its path where that is another's."""
    whole = os.path.join(root, path)
    name = path[: -len(".py")].replace("/", ".")
    name = name[: -len(".__init__")] if name.endswith(".__init__") else name
    if all(part.isidentifier() for part in name.split(".")):
        top = name.split(".")[0]
        if top == name or os.path.exists(os.path.join(root, top)):
            module = _by_name(name, whole)
            if module is not None:
                return module
    util = __import__("importlib.util").util
    spec = util.spec_from_file_location(name, whole)
    module = util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _by_name(name: str, whole: str) -> Any:
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        # Such as a folder of a module's name in the standard library.
        if not name.startswith(f"{error.name}."):
            raise
        return None
    module = sys.modules[name]
    file = getattr(module, "__file__", None)
    return module if file is not None and os.path.abspath(file) == whole else None


def place_of(error: BaseException, root: str) -> str:
    """Return where in the tree an exception was raised, as ` (file:line)`, or nothing."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(root + os.sep):
            found = f" ({file[len(root) + 1 :]}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found


def run_script(head: dict[str, Any]) -> str:
    """Run a script of the tree to its end; return the reply: status and both streams."""
    reader = Reader(Table())
    streams = [_scratch() for _ in range(3)]
    os.write(streams[0], reader.value(head["stdin"]))
    os.lseek(streams[0], 0, os.SEEK_SET)
    actions = [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)]
    argv = [sys.executable, head["path"], *head["args"]]
    process = os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    writer = Writer(Table())
    out, err = (writer.text(os.pread(stream, MAX_STREAM, 0)) for stream in streams[1:])
    cut = any(os.fstat(stream).st_size > MAX_STREAM for stream in streams[1:])
    os.write(2, os.pread(streams[2], 1 << 13, 0))
    return f'"status":{status},"out":{out},"err":{err},"cut":{"true" if cut else "false"}'


def _scratch() -> int:
    """Return a descriptor of a nameless file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stream")
    tempfile: Any = __import__("tempfile")
    return os.dup(tempfile.TemporaryFile().fileno())


def take_channel() -> tuple[int, int]:
    """Make standard input and output private; an empty input and the log take their places."""
    channel = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def put_tree_on_path(root: str) -> None:
    """Put the tree behind the standard library and before the installed packages."""
    site = [number for number, path in enumerate(sys.path) if path.endswith("site-packages")]
    sys.path.insert(site[0] if site else len(sys.path), root)


def main() -> None:
    """Serve the first request, then, for a module, all that follow."""
    requests, answers = take_channel()
    root = os.getcwd()
    # What the candidate forks has no part in the exchange.
    os.register_at_fork(after_in_child=lambda: close(requests, answers))
    scan = make_scanner(Grammar())  # type: ignore[arg-type]
    put_tree_on_path(root)
    sys.dont_write_bytecode = True  # -I has hidden the variable that says so
    # Not this file: the candidate's children, started anew, would import it.
    kept = sys.modules["__main__"]
    sys.modules["__main__"] = type(sys)("__main__")
    lines = lines_of(requests)
    head = scan(next(lines), 0)[0]
    sys.argv = [head["path"]]
    process = os.getpid()
    served = Served(root)
    reply = run_script(head) if head["op"] == "run" else served.load(head["path"])
    number = 0
    while True:
        if os.getpid() != process:
            os._exit(0)
        flush()
        send(answers, f'{{"n":{number},{reply}}}\n'.encode("ascii"))
        line = next(lines, None)
        if line is None:
            break
        request = scan(line, 0)[0]
        number, reply = request["n"], served.answer(request)
    del kept


def lines_of(descriptor: int) -> Any:
    """Yield the lines that come, as text."""
    pending = bytearray()
    while True:
        data = os.read(descriptor, 1 << 16)
        if not data:
            return
        pending += data
        while (end := pending.find(b"\n")) >= 0:
            yield pending[:end].decode("ascii")
            del pending[: end + 1]


def send(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def close(*descriptors: int) -> None:
    """Close them."""
    for descriptor in descriptors:
        os.close(descriptor)


def flush() -> None:
    """Write what was printed, so that it is there if the process is ended."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            continue


if __name__ == "__main__":
    main()
