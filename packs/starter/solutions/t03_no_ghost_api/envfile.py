"""Settings from a .env file."""

import re

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_env(path: str) -> dict[str, str]:
    """Return the settings of the file at `path`."""
    settings = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            entry = line.strip()
            if not entry or entry.startswith("#"):
                continue
            name, equals, value = (part.strip() for part in entry.partition("="))
            if not equals or not NAME.fullmatch(name):
                raise ValueError(f"line {number}: {entry!r} is not NAME=VALUE")
            settings[name] = unquoted(value)
    return settings


def unquoted(value: str) -> str:
    """Return `value` without the one pair of quotes around it, if there is one."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
