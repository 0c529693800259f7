"""What an agent assumed: banned strings, banned names and ghosts in its lines (PROTOCOL 6).

Pure functions over trees in memory; `frozenbench.assume` decides no outcome. Only the agent's
lines count (`agent_lines`), and only Python files (`*.py`, or a `#!` line with `python`) are read
as code. A file that the running Python does not parse cannot run, and is passed over by all but
`banned_string`; so is one nested too deeply to compile.

**A banned name is reached** on an agent's line by `import a.b`, `import a.b as x`,
`from a import b`, `from a import *`, `a.b`, `getattr(a, "b")`, `a.__dict__["b"]`, `vars(a)["b"]`,
`sys.modules["a"].b`, `__import__("a").b`, `importlib.import_module("a.b")`, `globals()["x"]`, with
constant strings (also sums, f-strings and joins of constants, and names bound to them), and under
every alias of these on the way: assignment (chained, unpacked, annotated, walrus, conditional),
loop and `with` targets, container literals under constant keys, attributes of classes, of objects
of the same tree and of its modules, base classes, defaults, arguments and return values of the
tree's own functions, and imports of one file of the tree from another. The alias may stand on the
fixture's lines if the use is the agent's. Guarded uses, type annotations, assignments to the name
and uses in dead code count: a ban is a ban. Comments and strings do not; those are
`must_not_contain`'s.

*Scopes*: parameters and local names hide an alias outside. Within one scope order plays no part: a
name that is bound to a banned thing anywhere in a scope reaches it everywhere in that scope.

*Files of the tree with a banned module's name*: one that the agent added changes nothing, for a ban
is on a name, which of the two is imported depends on the run, and else an empty file would lift any
ban. One of the fixture stands in front of the environment's: the ban is then about the fixture's
module if that defines the banned name, and out of reach if it does not. A file beside the importing
one counts where it is the fixture's. Relative imports never mean the environment.

**Static limits.** Not followed: code in strings (`eval`, `exec`, `compile`, a child process),
strings that are computed otherwise (slices, `replace`, `chr`, `%`, `format`, input), `setattr`,
`operator.attrgetter`, `functools.partial(getattr, …)`, values through the environment's own
functions (`next(iter([a]))`, `copy`), through `yield`, star arguments or container methods such as
`append`, subscripts whose key is no constant, modules loaded by path or through a spec or a loader,
aliases that chain against the order of the lines more than 50 times, the containers in a name or slot
that could be more than 100 of them. A function that a package
offers under two names has two names: ban both, or the package (`requests.get`,
`requests.api.get`). Files are parsed by the Python that runs frozenbench.

**A ghost** is certain or it is none: see `ghosts`. Not judged: names inside installed packages
(unless `Environment.names` holds them), attributes of anything but an imported module, imports by a
function call, the existence of a name at the time of its use; files that use `globals`, `locals`,
`exec` or `builtins` have no undefined names. A guard that returns early (`if sys.platform != "x":
return`) is not seen as one, and so code behind it is judged.
"""

from __future__ import annotations

from frozenbench.assume.environment import Environment, environment_from_probe, probe_source
from frozenbench.assume.finding import Finding, Reason
from frozenbench.assume.ghosts import ghosts
from frozenbench.assume.lines import agent_lines, banned_string
from frozenbench.assume.symbols import banned_symbol

__all__ = [
    "Environment",
    "Finding",
    "Reason",
    "agent_lines",
    "banned_string",
    "banned_symbol",
    "environment_from_probe",
    "ghosts",
    "probe_source",
]
