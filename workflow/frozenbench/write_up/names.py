"""How a number is found: its key in numbers.json and its macro in numbers.tex, one for each."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from frozenbench.canonical import Refused, sha256_bytes

#: Sign in a name -> what stands for it in a key: `/` parts a key, `%` begins an escape, and braces end
#: the mark of a Markdown text.
_ESCAPES = {"%": "%25", "/": "%2F", "{": "%7B", "}": "%7D"}
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
#: Letters of a digest that part names which come out alike; again so many where these do too.
_APART = 8


def key(*parts: str) -> str:
    """Return the key of a number: its parts escaped and joined by `/`, another one for other parts."""
    escaped = ("".join(_ESCAPES.get(sign, sign) for sign in part) for part in parts)
    return "/".join(escaped)


def parts_of(name: str) -> list[str]:
    """Return the parts that `key` made a key of."""
    found = name.split("/")
    for sign, escape in reversed(_ESCAPES.items()):  # `%` last
        found = [part.replace(escape, sign) for part in found]
    return found


def letters(name: str) -> str:
    """Return a name in letters alone: `calls-16` is CallsOneSix, `pass_rate` PassRate."""
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z]+|[0-9]", bare)
    return "".join(
        _DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:] for word in words
    )


def macro_names(keys: Sequence[str], prefix: str) -> Mapping[str, str]:
    """Return key -> name of its macro, in letters, different for different keys.

    A name depends on its key alone, unless two keys come out alike (`a-b` and `a.b`): then each of
    them ends with eight letters of its own digest, or more where these come out alike too.

    Raises:
        Refused: a key is there twice, or digests do not tell two keys apart.
    """
    _require_different(keys)
    plain = {name: prefix + "".join(map(letters, parts_of(name))) for name in keys}
    found, added = dict(plain), dict.fromkeys(plain, 0)
    while alike := _alike(found):
        for name in alike:
            added[name] += _APART
            end = _digest_letters(name)
            if added[name] > len(end):
                raise Refused(_two(name))
            found[name] = plain[name] + end[: added[name]]
    return found


def _require_different(keys: Sequence[str]) -> None:
    """Without this one of two numbers would be lost, and a text would print the other one."""
    for name, count in Counter(keys).items():
        if count > 1:
            raise Refused(_two(name))


def _two(name: str) -> str:
    return (
        f"numbers.json: {name}: two numbers would have this name; "
        "cure: rename an agent or a budget in it"
    )


def _alike(names: Mapping[str, str]) -> list[str]:
    counts = Counter(names.values())
    return [key for key, name in names.items() if counts[name] > 1]


def _digest_letters(name: str) -> str:
    return "".join(chr(ord("a") + int(digit, 16)) for digit in sha256_bytes(name.encode()))
