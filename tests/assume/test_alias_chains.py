"""Properties of the search for banned names: what is found, what not, and that nothing breaks."""

from __future__ import annotations

import builtins
import keyword
from itertools import pairwise

import pytest
from frozenbench.assume import Environment, banned_symbol, ghosts
from frozenbench.canonical import File
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = st.from_regex(r"[a-z]{2,6}", fullmatch=True).filter(
    lambda name: (
        not keyword.iskeyword(name)
        and not hasattr(builtins, name)
        and name not in {"shop", "cart", "other", "rest", "load", "sys", "it", "use"}
    )
)

#: Statements that bind {m} to the banned package `shop.cart`'s parent `shop`.
IMPORTS = [
    "import shop as {m}",
    "import shop; {m} = shop",
    "import shop.other; {m} = shop",
    "{m} = __import__('shop')",
    "import importlib; {m} = importlib.import_module('shop')",
    "import importlib as load; NAME = 'sh' + 'op'; {m} = load.import_module(NAME)",
    "import sys; {m} = sys.modules['shop']",
    "try:\n    import shop as {m}\nexcept ImportError:\n    {m} = None",
]
#: Statements that make {n} another name for {m}.
ALIASES = [
    "{n} = {m}",
    "{n} = other = {m}",
    "{n}, other = {m}, 1",
    "other, ({n}, *rest) = 1, ({m}, 2)",
    "{n}: object = {m}",
    "({n} := {m})",
    "{n} = {m} if other else None",
    "{n} = {m} or None",
    "for {n} in [{m}]: pass",
    "{n} = {{'k': {m}}}['k']",
    "{n} = ({m}, 0)[0]",
    "def make_{n}(): return {m}\n{n} = make_{n}()",
    "make_{n} = lambda: {m}\n{n} = make_{n}()",
    "class Of_{n}: it = {m}\n{n} = Of_{n}.it",
    "class Of_{n}:\n    def __init__(self, it):\n        self.it = it\n{n} = Of_{n}({m}).it",
    "def pass_{n}(it): return it\n{n} = pass_{n}({m})",
    "def set_{n}():\n    global {n}\n    {n} = {m}",
    "{n} = globals()['{m}']",
]
#: Statements that reach shop.cart.
USES = [
    "{m}.cart",
    "{m}.cart.add(1)",
    "getattr({m}, 'cart')",
    "vars({m})['cart']",
    "{m}.__dict__['cart']",
    "{m}.__dict__.get('cart')",
    "KEY = 'ca'\ngetattr({m}, KEY + 'rt')",
    "print([{m}.cart for _ in 'xy'])",
    "def use(): return {m}.cart",
    "def use(it={m}): return it.cart",
    "class Use({m}.cart): pass",
    "@{m}.cart\ndef use(): pass",
    "try:\n    {m}.cart\nexcept Exception:\n    pass",
]
#: Uses of things with the same names that have nothing to do with it.
UNRELATED = [
    "import other as {m}\n{m}.cart",
    "from other import cart\ncart()",
    "from .shop import cart\ncart.add()",
    "class Own:\n    cart = 1\n{m} = Own()\n{m}.cart",
    "{m} = {{'cart': 1}}\n{m}['cart']; {m}.get('cart')",
    "import shop\ndef use(shop): return shop.cart",
    "import shop\ndef use():\n    shop = 1\n    return shop.cart",
    "import shop\nshop.checkout('cart')",
    "import shop\n{m} = shop.other\n{m}.cart",
    "def use(self): return self.shop.cart",
    "text = 'shop.cart'  # shop.cart",
    "import shopping.cart",
    "shop = cart = 1",
]


@st.composite
def chains(draw: st.DrawFn) -> tuple[str, str, str]:
    """Return an import with a chain of aliases, a use of the last of them, and its name."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    parts = [draw(st.sampled_from(IMPORTS)).format(m=names[0])]
    for before, after in pairwise(names):
        parts.append(draw(st.sampled_from(ALIASES)).format(m=before, n=after))
    return "\n".join(parts), draw(st.sampled_from(USES)).format(m=names[-1]), names[-1]


@settings(deadline=None)  # a busy machine is no failure
@given(chains(), st.booleans())
def test_a_use_at_the_end_of_any_chain_of_aliases_is_found(
    chain: tuple[str, str, str], is_in_fixture: bool
) -> None:
    aliases, use, _ = chain
    fixture = {"m.py": File(aliases.encode() if is_in_fixture else b"")}
    artifact = {"m.py": File(f"{aliases}\n{use}\n".encode())}
    found = banned_symbol(fixture, artifact, ["shop.cart"])
    assert found is not None
    assert found.what == "shop.cart"
    assert found.line > aliases.count("\n") + 1
    assert banned_symbol(artifact, artifact, ["shop.cart"]) is None


@settings(deadline=None)  # a busy machine is no failure
@given(chains(), st.integers(1, 3))
def test_a_chain_may_run_through_several_files(chain: tuple[str, str, str], hops: int) -> None:
    aliases, use, last = chain
    files = {"m0.py": File(aliases.encode())}
    for hop in range(1, hops + 1):
        files[f"m{hop}.py"] = File(f"from m{hop - 1} import {last}\n".encode())
    files["use.py"] = File(f"from m{hops} import {last}\n{use}\n".encode())
    found = banned_symbol({}, files, ["shop.cart"])
    assert found is not None
    assert found.path == "use.py"


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.tuples(st.sampled_from(UNRELATED), NAMES), max_size=5, unique_by=lambda p: p[1]))
def test_unrelated_code_is_never_found(parts: list[tuple[str, str]]) -> None:
    bodies = [
        f"def part_{number}():\n"
        + "\n".join(f"    {line}" for line in text.format(m=name).split("\n"))
        for number, (text, name) in enumerate(parts)
    ]
    code = "\n".join(bodies)
    compile(code, "m.py", "exec")
    artifact = {"m.py": File(code.encode())}
    assert banned_symbol({"m.py": File(b"")}, artifact, ["shop.cart"]) is None


ENVIRONMENT = Environment(frozenset({"os", "json"}), frozenset({"pytest"}))
CODE = st.lists(
    st.sampled_from([*IMPORTS, *ALIASES, *USES, *UNRELATED]).map(
        lambda t: t.format(m="aa", n="bb")
    ),
    max_size=6,
).map(lambda parts: "\n".join(parts).encode())
# fmt: off
WORDS = [
    "import", "from", "as", "*", ".", ",", "a", "b.c", "def", "class", "(", ")", ":", "=", ":=",
    "if", "else", "try", "except", "lambda", "[", "]", "{", "}", "match", "case", "_", "global",
    "nonlocal", "async", "await", "with", "for", "in", "'", "\"", "\\", "#", "f'{", "@", "yield",
    "return", "del", "print", "0", "x", "y", "\\u000a", "-*-coding:utf-7-*-",
    "-*-coding:unicode_escape-*-",
]
# fmt: on
SOUP = st.lists(st.sampled_from([*WORDS, "\n", "\r", "\t", "\0", "\xff"])).map(
    lambda parts: " ".join(parts).encode("latin-1")
)
CONTENT = st.binary(max_size=80) | CODE | SOUP
TREES = st.dictionaries(
    st.sampled_from(["a.py", "b/__init__.py", "b/c.py", "src/d.py", "shop.py", "run", "x.txt"]),
    CONTENT.map(File),
    max_size=4,
)


@settings(max_examples=200, deadline=None)  # a busy machine is no failure
@given(TREES, TREES, TREES)
def test_nothing_breaks_on_any_bytes_and_the_fixture_alone_has_no_finding(
    fixture: dict[str, File], artifact: dict[str, File], hidden: dict[str, File]
) -> None:
    banned_symbol(fixture, artifact, ["shop.cart", "eval", "a"])
    ghosts(fixture, artifact, hidden, ENVIRONMENT)
    assert banned_symbol(artifact, artifact, ["shop.cart", "eval", "a"]) is None
    assert ghosts(artifact, artifact, hidden, ENVIRONMENT) is None


@pytest.mark.parametrize(
    "code",
    [
        "x = a" + ".b" * 2500,
        "x = " + "(" * 150 + "a" + ")" * 150,
        "x = " + "-" * 5000 + "1",
        "x = " + "+".join(["1"] * 5000),
        "if x: pass\n" + "elif x: pass\n" * 3000,
        "[" * 90 + "]" * 90,
        "# coding: no-such-encoding\nimport a",
        "# coding: hex\nimport a",
        "# coding: rot13\nvzcbeg n",
        "# coding: undefined\nimport a",
        "x = 1\n# coding: hex\nimport a",
        "x = " + "9" * 5000,
        "def f(" + ",".join(f"a{n}" for n in range(3000)) + "): ...",
        "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(1000)),
        "x = 'a'\n" + "x += x\n" * 200,
        "class A(B): ...\nclass B(A): ...\nB.x.y",
        "from m import *\nfrom b import *\nq.z",
        "while x: x = x.b",
        "global x\nx = 1",
    ],
)
def test_nothing_breaks_on_deep_long_and_circular_code(code: str) -> None:
    artifact = {"m.py": File(code.encode()), "b.py": File(b"from m import *\nfrom b import *")}
    assert banned_symbol({}, artifact, ["shop.cart"]) is None
    ghosts({}, artifact, {}, ENVIRONMENT)


def test_a_deep_attribute_is_still_seen() -> None:
    artifact = {"m.py": File(("import shop\nx = shop.cart" + ".b" * 2500).encode())}
    assert banned_symbol({}, artifact, ["shop.cart"]) is not None
