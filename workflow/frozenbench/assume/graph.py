"""Which dotted names an expression can be: the values of nodes and scopes, and how they combine.

The order of statements plays no part: a name reaches whatever any binding of it in its scope can
bring. Only what can lead to one of the wanted names is followed, so the sets are finite and small.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from itertools import islice, product

from frozenbench.assume.places import Places, absolute_names, member, module_names, relative_name
from frozenbench.assume.scopes import BASES, Dotted, Held, Holder, Key, Layout, Text, Value

Values = frozenset[Value]
NOTHING: Values = frozenset()

_TEXTS = 1000  #: string sums that are tried at most for one expression
_BUILTINS = frozenset(dir(builtins))


def prefixes(name: str) -> list[str]:
    """Return `a`, `a.b`, `a.b.c` for `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


#: Containers and objects that one name, slot or expression is followed to. Of more none is: the
#: values of N lists that hold each other are N * N.
MAX_HELD = 100


def _followed(values: Values) -> Values:
    """Return the values without containers and objects where these are too many."""
    held = {value for value in values if isinstance(value, Held)} if len(values) > MAX_HELD else ()
    return values if len(held) <= MAX_HELD else values - frozenset(held)


class Graph:
    """The values of all nodes of some laid-out files, as far as they lead to `wanted` names.

    `special` are names that matter on the way, such as `builtins.getattr`. Values only ever grow;
    `is_changed` tells that one did.
    """

    def __init__(
        self,
        layouts: Sequence[Layout],
        wanted: Iterable[str],
        special: Iterable[str],
        trees: tuple[Places, Places],
    ) -> None:
        self.wanted = frozenset(wanted)
        self._trees = trees
        self._modules = {
            name: layout.module for layout in layouts for name in module_names(layout.source.path)
        }
        targets = {*self.wanted, *special, *self._modules}
        self._leading = frozenset(part for name in targets for part in prefixes(name))
        self._texts = "\n".join(sorted(targets))
        self._values: dict[ast.AST, Values] = {}
        self.inner = {node: holder for layout in layouts for node, holder in layout.inner.items()}
        self.is_changed = False

    # ---------------------------------------------------------------- values of nodes and slots

    def values(self, node: ast.AST | None) -> Values:
        """Return what an expression can be."""
        return self._values.get(node, NOTHING) if node is not None else NOTHING

    def learn(self, node: ast.AST, values: Values) -> None:
        """Set what an expression can be."""
        values = _followed(values)
        if values and values != self._values.get(node):
            self._values[node] = values
            self.is_changed = True

    def add(self, holder: Holder, key: Key, values: Iterable[Value]) -> None:
        """Let a slot also be one of `values`."""
        slot = holder.slots.setdefault(key, set())
        before = len(slot)
        # Of a step that goes beyond the limit no container is taken: no order of a set decides.
        slot.update(_followed(frozenset(slot | set(values))))
        self.is_changed |= len(slot) != before

    def add_star(self, module: Holder, source: str) -> None:
        """Let a module import `*` from another."""
        self.is_changed |= source not in module.stars
        module.stars.add(source)

    def store(self, target: ast.AST, values: Values, scope: Holder) -> None:
        """Assign to a target; without values there is nothing to know."""
        stack = [(target, values)]
        while stack:
            target, values = stack.pop()
            if not values:
                continue
            if isinstance(target, ast.Name):
                while scope.kind == "comprehension" and target.id not in scope.slots:
                    assert scope.parent is not None
                    scope = scope.parent
                self.add(scope.owner(target.id), target.id, values)
            elif isinstance(target, ast.Attribute):
                for holder in self._objects(target.value):
                    self.add(holder, target.attr, values)
            elif isinstance(target, ast.Subscript):
                for value in self.values(target.value):
                    if isinstance(value, Held):
                        for key in self.keys(target.slice):
                            self.add(value.holder, key, values)
            elif isinstance(target, ast.Tuple | ast.List):
                stack.extend(self._unpacked(target, values))

    def _objects(self, node: ast.AST) -> Iterable[Holder]:
        """Return the classes, objects and modules of the tree that an expression can be."""
        for value in self.values(node):
            if isinstance(value, Held) and value.holder.kind in ("class", "module"):
                yield value.holder
            elif isinstance(value, Dotted) and value.name in self._modules:
                yield self._modules[value.name]

    def _unpacked(
        self, target: ast.Tuple | ast.List, values: Values
    ) -> Iterable[tuple[ast.AST, Values]]:
        count, is_after_star = len(target.elts), False
        for index, part in enumerate(target.elts):
            is_after_star |= isinstance(part, ast.Starred)
            yield part, self.items(values, {index - count if is_after_star else index})

    # ---------------------------------------------------------------- names and attributes

    def covering(self, name: str) -> str | None:
        """Return the wanted name that `name` is or lies in, or None."""
        return next((part for part in prefixes(name) if part in self.wanted), None)

    def imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias, path: str) -> set[str]:
        """Return the dotted names that one alias of an import statement means."""
        if isinstance(node, ast.Import):
            return set(self.absolute(alias.name, path))
        return {member(module, alias.name) for module in self.origins(node, path)}

    def star(self, node: ast.ImportFrom, path: str) -> set[str]:
        """Return the wanted names that `from module import *` brings."""
        return {
            name
            for module in self.origins(node, path)
            for name in self.wanted
            if self.covering(module) == name
            or (name.rpartition(".")[0] == module and not name.rpartition(".")[2].startswith("_"))
        }

    def known(self, name: str) -> Values:
        """Return `name` as a value if it leads to a wanted name or lies in one."""
        found = self.covering(name) or (name if name in self._leading else None)
        return frozenset({Dotted(found)}) if found else NOTHING

    def text(self, value: str) -> Values:
        """Return a constant string as a value if it can be a piece of a name that matters."""
        is_piece = value.replace(":", ".") in self._texts  # `pkgutil.resolve_name` reads a:b
        return frozenset({Text(value)}) if is_piece else NOTHING

    def absolute(self, name: str, path: str) -> tuple[str, ...]:
        """Return the dotted names that `import name` can mean in a file."""
        return absolute_names(name, path, *self._trees)

    def origins(self, node: ast.ImportFrom, path: str) -> tuple[str, ...]:
        """Return the dotted names of the module that `from … import` names."""
        if not node.level:
            return self.absolute(node.module or "", path)
        name = relative_name(path, node.level, node.module or "")
        return () if name is None else (name,)

    def lookup(self, scope: Holder, name: str) -> Values:
        """Return what a name can be, by Python's rules for scopes."""
        found: set[Value] = set()
        current: Holder | None = scope
        while current is not None:
            if current.outer_names.get(name):
                current = current.owner(name)
            if current.kind == "class":
                if current is scope:
                    # A class body reads the outer name until it has bound its own.
                    found |= current.slots.get(name, NOTHING)
            elif name in current.slots:
                return frozenset(found | current.slots[name])
            current = current.parent
        for star in scope.module.stars:
            found |= self.member(star, name, set())
        if name == "__builtins__":
            found |= {Dotted("builtins"), Dotted("builtins", table=True)}
        elif name in _BUILTINS:
            found |= self.known(f"builtins.{name}")
        return frozenset(found)

    def member(self, module: str, name: str, seen: set[str]) -> set[Value]:
        """Return what `module.name` can be, looking into the tree's own modules."""
        if module in seen:
            return set()
        seen.add(module)
        found = set(self.known(member(module, name)))
        if module in self._modules:
            holder = self._modules[module]
            if name in holder.slots:
                return found | holder.slots[name]
            for star in holder.stars:
                found |= self.member(star, name, seen)
        return found

    def attribute(self, values: Iterable[Value], name: str) -> Values:
        """Return what `value.name` can be."""
        found: set[Value] = set()
        seen: set[Holder] = set()
        stack = list(values)
        while stack:
            value = stack.pop()
            if isinstance(value, Dotted) and not value.table:
                if name == "__dict__":
                    found.add(Dotted(value.name, table=True))
                elif value.name in self.wanted:
                    found.add(value)
                else:
                    found |= self.member(value.name, name, set())
            elif isinstance(value, Held) and value.holder not in seen:
                holder = value.holder
                seen.add(holder)
                if name in ("__dict__", "__class__"):
                    found.add(value)
                elif holder.kind in ("class", "module"):
                    found |= holder.slots.get(name, NOTHING)
                    stack.extend(holder.slots.get(BASES, NOTHING))
        return frozenset(found)

    def items(self, values: Iterable[Value], keys: Iterable[Key]) -> Values:
        """Return what `value[key]` can be for constant keys."""
        found: set[Value] = set()
        for value in values:
            for key in keys:
                if isinstance(value, Held):
                    found |= value.holder.slots.get(key, NOTHING)
                elif isinstance(value, Dotted) and isinstance(key, str):
                    if value.name == "sys.modules":
                        found |= self.known(key)
                    elif value.table:
                        found |= self.attribute({Dotted(value.name)}, key)
        return frozenset(found)

    def each(self, values: Iterable[Value]) -> Values:
        """Return what iteration can bring."""
        boxes = [v.holder for v in values if isinstance(v, Held) and v.holder.kind == "box"]
        return frozenset(value for box in boxes for slot in box.slots.values() for value in slot)

    def keys(self, node: ast.AST | None) -> set[Key]:
        """Return the constant keys that an index expression can be."""
        keys: set[Key] = {value.value for value in self.values(node) if isinstance(value, Text)}
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, sign = node.operand, -1
        if isinstance(node, ast.Constant) and type(node.value) in (int, str):
            keys.add(sign * node.value if isinstance(node.value, int) else str(node.value))
        return keys

    def joined(self, separator: str, parts: Sequence[Values]) -> Values:
        """Return the sums of one constant string of each part."""
        texts = [sorted(value.value for value in part if isinstance(value, Text)) for part in parts]
        sums = (separator.join(chosen) for chosen in islice(product(*texts), _TEXTS))
        return frozenset().union(*(self.text(each) for each in sums))
