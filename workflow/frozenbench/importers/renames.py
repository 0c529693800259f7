"""Call agents of imported logs by other names: what a picture cannot show, a config can rename."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from frozenbench.canonical import BadInput
from frozenbench.importers.model import Part, Remark
from frozenbench.schema import nearest

_Held = TypeVar("_Held")


@dataclass(frozen=True)
class Renames:
    """What a config or a command calls agents by.

    Attributes:
        names: the name that an agent has once agents are told apart -> its new one.
        where: what stands before a message: the file and key, or the option.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    where: str = "names"

    def check(self) -> None:
        """Check what can be told without a log.

        Raises:
            BadInput: a new name is none, or two agents get the same.
        """
        seen: dict[str, str] = {}
        for old, new in self.names.items():
            if not new.strip() or new != new.strip() or not new.isprintable():
                told = f"{old!r} to {new!r}: is no name that can be shown"
                raise BadInput(f"{self.where}: {told}; cure: letters without a space around them")
            other = seen.setdefault(new, old)
            if other != old:
                told = f"{other!r} and {old!r} would both be {new!r}"
                raise BadInput(f"{self.where}: {told}; cure: a name for each")

    def of(self, parts: Sequence[Part]) -> tuple[list[Part], list[Remark]]:
        """Return the parts under the new names, and which agents are renamed.

        Raises:
            BadInput: a name is of no agent here, or its new one is that of another agent.
        """
        if not self.names:
            return list(parts), []
        known = _agents(parts)
        for old, new in self.names.items():
            if old not in known:
                near = nearest(old, set(known))
                raise BadInput(f"{self.where}: {old!r} is in no log{near}; cure: one of these")
            if new != old and new in known and new not in self.names:
                told = f"{old!r} to {new!r}: another agent has that name"
                cure = f"a name that no other has; there are {', '.join(known)}"
                raise BadInput(f"{self.where}: {told}; cure: {cure}")
        remarks = [
            Remark("renamed", f"{old}: {new} here") for old, new in self.names.items() if old != new
        ]
        return [self._part(part) for part in parts], remarks

    def name(self, agent: str) -> str:
        """Return what an agent is called."""
        return self.names.get(agent, agent)

    def _part(self, part: Part) -> Part:
        return replace(
            part,
            rows=tuple(replace(row, agent=self.name(row.agent)) for row in part.rows),
            published=tuple(replace(one, agent=self.name(one.agent)) for one in part.published),
            stated=self._keys(part.stated),
            limits=self._keys(part.limits),
            expected=tuple((self.name(agent), task) for agent, task in part.expected),
            facts=self._keys(part.facts),
        )

    def _keys(self, held: Mapping[str, _Held]) -> dict[str, _Held]:
        return {self.name(agent): value for agent, value in held.items()}


def _agents(parts: Sequence[Part]) -> list[str]:
    """Return whoever has a run, or only one that is missing, or of rates without rows a rate."""
    held = [row.agent for part in parts for row in part.rows]
    held += [agent for part in parts for agent, _ in part.expected]
    return list(dict.fromkeys(held or [one.agent for part in parts for one in part.published]))


def renames_of(texts: Sequence[str], where: str) -> Renames:
    """Return what `OLD=NEW` texts say; OLD may hold a `=`, NEW does not.

    Raises:
        BadInput: one is no such text, or an agent is named twice.
    """
    names: dict[str, str] = {}
    for text in texts:
        old, mark, new = text.rpartition("=")
        if not mark or not old:
            raise BadInput(f"{where}: {text!r} is no new name; cure: OLD=NEW")
        if old in names:
            raise BadInput(f"{where}: {old!r} is given twice; cure: keep one")
        names[old] = new
    found = Renames(names, where)
    found.check()
    return found
