"""Read config/agents/<name>.yaml into a sheet (in the key) and a connection (in no key)."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from frozenbench import adapters
from frozenbench.adapters.program import brings_its_code
from frozenbench.canonical import BadInput, File, digest, is_cache, read_tree, tree_digest
from frozenbench.config import read_yaml
from frozenbench.controls import RESERVED_AGENTS, Agent, Endpoint, key_fields
from frozenbench.gateway.wires import format_of
from frozenbench.packs.reader import safe_path
from frozenbench.preset_files import with_program
from frozenbench.schema import build, nearest, schema_of

#: Modules of the package that are no adapters.
NOT_ADAPTERS = ("contract", "proposals")
#: Parameters of an address whose value is a secret.
_SECRET = re.compile(r"key|token|secret|passw|signature|^sig$", re.I)


@dataclass(frozen=True)
class AgentFile:
    """One agent as its file gives it.

    Attributes:
        name: the label.
        adapter: the adapter's module.
        sheet: what enters run keys, with the digest of its code.
        connection: how its endpoint is reached and what it costs; in no key.
        code: path -> file of the agent's own code.
        roots: folders inside `code` that go on the module path.
    """

    name: str
    adapter: ModuleType
    sheet: Mapping[str, Any]
    connection: Mapping[str, Any]
    code: Mapping[str, File]
    roots: tuple[str, ...] = ()

    @cached_property
    def sheet_digest(self) -> str:
        """Identity of the sheet."""
        return digest(self.sheet)

    @cached_property
    def frozen_digest(self) -> str:
        """Identity of what is frozen: sheet and connection."""
        return digest({"sheet": self.sheet, "connection": self.connection, "roots": self.roots})

    @property
    def unpinned(self) -> tuple[str, ...]:
        """Controls of a model that the file leaves open; printed beside the sheet."""
        if "endpoint" not in self.sheet:
            return ()
        lacks = format_of(self.sheet["endpoint"]["wire"]).LACKS
        pins = ("temperature", "seed")
        found = [name for name in pins if name not in self.sheet or name in lacks]
        if "weights_sha256" not in self.sheet["endpoint"]:
            found.append("weights")
        return tuple(found)


def adapter_names() -> tuple[str, ...]:
    """Return the names of all adapters: the modules of frozenbench.adapters."""
    names = (module.name for module in pkgutil.iter_modules(adapters.__path__))
    return tuple(sorted(name for name in names if name not in NOT_ADAPTERS))


def free_adapters() -> tuple[str, ...]:
    """Return the names of the adapters that an agent's file may name."""
    return tuple(name for name in adapter_names() if name not in RESERVED_AGENTS)


def adapter_module(name: str, where: str) -> ModuleType:
    """Return the module of an adapter that an agent's file may name.

    Raises:
        BadInput: no adapter has this name, or every experiment runs it by itself.
    """
    if name in RESERVED_AGENTS:
        raise BadInput(
            f"{where}: adapter: {name!r} is reserved, every experiment runs it by itself; cure: one "
            f"of {', '.join(free_adapters())}"
        )
    if name not in free_adapters():
        raise BadInput(
            f"{where}: adapter: {name!r} is unknown{nearest(name, free_adapters())}; cure: one of these"
        )
    return importlib.import_module(f"frozenbench.adapters.{name}")


def agent_schema(adapter: ModuleType) -> dict[str, Any]:
    """Return the schema of an agent's file for one adapter: the sheet and the adapter's options."""
    base, own = schema_of(Agent), schema_of(adapter.Options)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": base["properties"] | own["properties"],
        "required": base["required"] + own.get("required", []),
    }


def read_agent(root: Path, name: str) -> AgentFile:
    """Read one agent's file below config/agents/.

    Raises:
        BadInput: names file, key, value and cure.
    """
    where = f"config/agents/{name}.yaml"
    path = root / where
    if not path.is_file():
        known = sorted(item.stem for item in path.parent.glob("*.yaml"))
        raise BadInput(
            f"config: agents: {name!r} has no file {where}{nearest(name, known)}; cure: create it"
        )
    data = read_yaml(path, where)
    if not brings_its_code(data):
        data = with_program(data, root, where)
    if "adapter" not in data:
        names = ", ".join(free_adapters())
        raise BadInput(f"{where}: adapter: is missing; cure: one of {names}, or a preset")
    adapter = adapter_module(str(data["adapter"]), where)
    from frozenbench.schema import check

    check(agent_schema(adapter), data, where)
    own = {field.name for field in dataclasses.fields(adapter.Options)}
    agent = build(Agent, {k: v for k, v in data.items() if k not in own}, where)
    options = build(adapter.Options, {k: v for k, v in data.items() if k in own}, where)
    adapter.check(agent, options, where)
    if agent.endpoint is not None and agent.endpoint.base_url is not None:
        _check_address(agent.endpoint, f"{where}: endpoint.base_url")
    code, roots = _read_code(root, getattr(options, "code", ()), where)
    sheet = key_fields(agent) | key_fields(options)
    if code:
        sheet["code_sha256"] = tree_digest(code)
    if len(roots) > 1:  # which of two modules of one name is imported
        sheet["code_roots"] = list(roots)
    return AgentFile(name, adapter, sheet, _connection(agent, options), code, roots)


def _check_address(endpoint: Endpoint, where: str) -> None:
    """Refuse an address that none is, or that holds a secret: it is written into results.

    Raises:
        BadInput: names file, key and cure; of a secret it shows nothing.
    """
    address = endpoint.base_url or ""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise BadInput(f"{where}: is no address; cure: http://host:port or https://host") from None
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if "@" in parts.netloc or any(_SECRET.search(name) for name in names):
        raise BadInput(
            f"{where}: holds a password or key, which would be written into results; cure: leave "
            "it out, and name the environment variable that holds it as key_env"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadInput(f"{where}: is {address!r}; cure: http://host:port or https://host")
    path = format_of(endpoint.wire).PATH
    if parts.path.rstrip("/").endswith(path):
        raise BadInput(f"{where}: ends with {path}, which is added to it; cure: leave that out")


def _connection(agent: Agent, options: Any) -> dict[str, Any]:
    """Return the fields that are in no key, as plain JSON."""
    found: dict[str, Any] = {}
    free = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if not field.metadata["in_key"] and field.name != "code"
    }
    if own := {name: value for name, value in free.items() if value is not None}:
        found["options"] = own
    if agent.endpoint is not None:
        found["endpoint"] = {
            key: value
            for key, value in dataclasses.asdict(agent.endpoint).items()
            if value is not None and key in ("base_url", "key_env", "server", "max_concurrency")
        }
    if agent.prices is not None:
        prices = dataclasses.asdict(agent.prices)
        found["prices"] = {name: value for name, value in prices.items() if value is not None}
    return found


def _read_code(
    root: Path, paths: tuple[str, ...], where: str
) -> tuple[dict[str, File], tuple[str, ...]]:
    """Return the agent's code by its path in the project, and the folders to import from."""
    code: dict[str, File] = {}
    roots: list[str] = []
    for name in paths:
        path = safe_path(root, name, f"{where}: code", "project")
        if path.is_file():
            code[Path(name).as_posix()] = File(path.read_bytes(), bool(path.stat().st_mode & 0o100))
            roots.append(Path(name).parent.as_posix())
        elif path.is_dir():
            try:
                tree = read_tree(path)
            except BadInput as error:
                raise BadInput(f"{where}: code: {error}") from None
            for item, file in tree.items():
                if not is_cache(item):
                    code[f"{Path(name).as_posix()}/{item}"] = file
            roots.append(Path(name).as_posix())
        else:
            raise BadInput(f"{where}: code: {name!r} is not there; cure: correct the path")
    return code, tuple(dict.fromkeys(roots))
