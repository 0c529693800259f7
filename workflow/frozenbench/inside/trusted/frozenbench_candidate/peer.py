"""One candidate seen from the tests: its requests, and the objects that stand for its own."""

from __future__ import annotations

from weakref import WeakValueDictionary

from . import raised
from .codec import Answer, Arguments, bring_up_to_date
from .errors import CandidateDied, Malformed, NotPlain
from .link import Link
from .objects import Class, Handle
from .raised import ErrorClass
from .values import Tuple

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any


class Peer:
    """One child. What it sends is decoded here; whatever is wrong with it ends the child."""

    def __init__(self, head: dict[str, Any]) -> None:
        """Start it by a first request. Raises as Link does."""
        self.link = Link(head)
        self._handles: WeakValueDictionary[int, Handle] = WeakValueDictionary()
        self._dropped: list[int] = []
        self.error_classes: dict[int, type] = {}
        self._records: dict[tuple[str, ...], type] = {}

    def module(self) -> Any:
        """Return the module that the first request asked for.

        Raises:
            ImportError: it cannot be imported.
            CandidateDied: the child is gone.
        """
        reply = self.link.first()
        for name in ("absent", "import"):
            if type(reply.get(name)) is str:
                self.link.close("the candidate cannot be imported")
                raise ImportError(reply[name])
        return self._checked(lambda: Answer(self).value(reply["v"]))

    def ask(self, what: str, *words: Any) -> Any:
        """Let the candidate do one thing with values, and return what it answers.

        Raises:
            NotPlain: a value cannot cross.
            CandidateDied: the child is gone, now or before.
            Exception: what the candidate raised.
        """
        return self.call(what, words, {})

    def call(self, what: str, words: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Do the same with named values too."""
        arguments = Arguments(self)
        nodes = [arguments.node(word) for word in words]
        pairs = [[name, arguments.node(word)] for name, word in named.items()]
        freed, self._dropped = self._dropped, []
        reply = self.link.ask({"op": what, "v": nodes, "k": pairs, "free": freed})
        told = reply.get("not")
        if type(told) is str:
            raise NotPlain(f"the candidate gave {told[:1000]}: it cannot cross")
        changes = reply.get("m")
        error = self._checked(lambda: self._error(reply, arguments, changes))
        if error is not None:
            raise error
        return self._checked(lambda: Answer(self).value(reply["v"]))

    def _error(self, reply: dict[str, Any], arguments: Arguments, changes: Any) -> Any:
        error = raised.made(self, reply["e"]) if "e" in reply else None
        if changes is not None:
            bring_up_to_date(self, arguments.mutable, changes)
        return error

    def _checked(self, decode: Any) -> Any:
        """Decode a part of a reply; one that makes no sense ends the child."""
        try:
            return decode()
        except NotPlain:
            raise
        except Exception as error:
            why = f"the candidate's process sent what is no value ({type(error).__name__})"
            self.link.close(why)
            raise CandidateDied(why) from None

    def number_of(self, value: Any) -> int | None:
        """Return the number of an object of this candidate; None for any other value.

        Raises:
            NotPlain: it is an object of another child.
        """
        kind = type(value)
        handle: Any = value
        if not issubclass(kind, Handle):
            # A named tuple or an exception, or the class of exceptions.
            known = hasattr(kind, "_frozenbench") or isinstance(value, ErrorClass)
            handle = value.__dict__.get("_frozenbench") if known else None
        if handle is None:
            return None
        peer, number, name = handle._frozenbench
        if peer is not self:
            raise NotPlain(f"a {name} of another candidate's process cannot cross to this one")
        return int(number)

    def drop(self, number: int) -> None:
        """Note that nothing here holds an object any more."""
        self._dropped.append(number)

    def object_of(self, content: Any, kind: type[Handle] = Handle) -> Handle:
        """Return what stands for an object: the same as long as it is held."""
        number, name = content[0], content[1]
        if type(number) is not int or type(name) is not str:
            raise Malformed("no object")
        handle = self._handles.get(number)
        if handle is None:
            handle = kind(self, number, name)
            self._handles[number] = handle
            if number in self._dropped:
                self._dropped.remove(number)
        return handle

    def class_of(self, content: Any) -> Any:
        """Return what stands for a class: for an exception a class, else an object."""
        if content[2] is None:
            return self.object_of(content, Class)
        return raised.class_of(self, content[2])

    def record_of(self, content: Any, values: list[Any]) -> Any:
        """Return a named tuple: its values, and behind them the object itself."""
        handle = self.object_of(content)
        name, fields = content[1], content[2]
        if [type(field) for field in fields] != [str] * len(values) or type(fields) is not list:
            raise Malformed("no named tuple")
        key = (name, *fields)
        if key not in self._records:
            self._records[key] = _record(name, fields)
        record = self._records[key](values)
        record.__dict__["_frozenbench"] = handle
        return record

    def error_of(self, content: Any) -> Any:
        """Return an exception that is a value."""
        return raised.made(self, content)


def _record(name: str, fields: list[str]) -> type:
    def field(number: int) -> property:
        return property(lambda self: self[number])

    def other(self: Any, attribute: str) -> Any:
        return getattr(self.__dict__["_frozenbench"], attribute)

    def shown(self: Any) -> str:
        inner = ", ".join(f"{key}={value!r}" for key, value in zip(fields, self))  # noqa: B905
        return f"{name}({inner})"

    places = {key: field(number) for number, key in enumerate(fields) if key[:1] != "_"}
    more = {
        "_frozenbench": None,
        "_fields": Tuple(fields),
        "_asdict": lambda self: dict(zip(fields, self)),  # noqa: B905
        "__getattr__": other,
        "__repr__": shown,
    }
    return type(name, (Tuple,), {**places, **more})
