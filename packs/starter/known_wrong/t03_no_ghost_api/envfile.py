"""Settings from a .env file."""

import os
import re

try:
    from dotenv import load_dotenv as load
except ImportError:
    load = None

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_env(path: str) -> dict[str, str]:
    """Return the settings of the file at `path`."""
    if load is not None:
        load(path)
        return dict(os.environ)
    settings = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            entry = line.strip()
            if not entry or entry.startswith("#"):
                continue
            name, equals, value = (part.strip() for part in entry.partition("="))
            if not equals or not NAME.fullmatch(name):
                raise ValueError(f"line {number}: {entry!r} is not NAME=VALUE")
            if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            settings[name] = value
    return settings
