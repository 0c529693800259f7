"""Presets: how a named agent is started, so that an agent's file need only say which, and where.

    preset: codex
    endpoint: {id: mine, base_url: http://127.0.0.1:8080, model: some-model}

A preset is a YAML file: one of the package's own, or `config/presets/<name>.yaml` of the project,
which comes first. What it says is merged into the agent's file, so that the sheet holds all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput
from frozenbench.config import read_yaml
from frozenbench.controls import NAME, STRING, STRINGS, control
from frozenbench.installed import locate
from frozenbench.schema import build, nearest

SHIPPED = Path(__file__).parent / "presets"
OWN = "config/presets"

#: A word of a preset's argv that the agent's own `flags` take the place of.
FLAGS = "{flags}"
#: Adapter of every preset.
ADAPTER = "program"

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}


@dataclass(frozen=True)
class Preset:
    """How one program is started as an agent."""

    program: str = control("the command, looked up on PATH", STRING)
    install: str = control("how to install it: told where it is missing", STRING)
    wire: str = control(
        "wire format that it speaks",
        {"enum": ["openai-chat", "openai-responses", "anthropic-messages"]},
    )
    edits: str = control("how it edits", {"enum": ["tools", "shell", "text"]})
    argv: tuple[str, ...] = control(
        "its command line; {flags} stands for the agent file's own", {**STRINGS, "minItems": 1}
    )
    variables: Mapping[str, str] | None = control("its environment", _TEXTS, default=None)
    files: Mapping[str, str] | None = control(
        "files below its home folder, by path", _TEXTS, default=None
    )
    flags: tuple[str, ...] = control("default flags", STRINGS, default=())


@dataclass(frozen=True)
class PresetChoice:
    """What an agent's file says of its preset, beside the keys of adapter `program`."""

    preset: str = control(
        "how the program is started: a preset of frozenbench, or config/presets/<name>.yaml",
        NAME,
        enters="run key, by what it says",
    )
    flags: tuple[str, ...] | None = control(
        "words of the command line, in place of the preset's own", STRINGS, default=None
    )


def preset_names(root: Path) -> tuple[str, ...]:
    """Return the names of all presets that an agent's file of this project may name."""
    found = {path.stem for folder in (SHIPPED, root / OWN) for path in folder.glob("*.yaml")}
    return tuple(sorted(found))


def read_preset(root: Path, name: str, where: str = "preset") -> Preset:
    """Read a preset by its name.

    Raises:
        BadInput: there is none of this name, or it is not of its form.
    """
    names = preset_names(root)
    if name not in names:
        raise BadInput(
            f"{where}: preset: {name!r} is unknown{nearest(name, names)}; cure: one of these"
        )
    own = root / OWN / f"{name}.yaml"
    path = own if own.is_file() else SHIPPED / f"{name}.yaml"
    at = f"{OWN}/{name}.yaml" if path is own else f"presets/{name}.yaml"
    return build(Preset, read_yaml(path, at), at)


def with_preset(data: Mapping[str, Any], root: Path, where: str) -> dict[str, Any]:
    """Return an agent's file with what its preset says; one without a preset as it is.

    The file's own `variables` and `files` are added to the preset's and replace those of the same
    name (null removes one); its `flags` take the place of the preset's.

    Raises:
        BadInput: the preset is unknown, or the file contradicts it.
    """
    if "preset" not in data:
        return dict(data)
    own = {key: data[key] for key in ("preset", "flags") if key in data}
    choice = build(PresetChoice, own, where)
    preset = read_preset(root, choice.preset, where)
    merged = {key: value for key, value in data.items() if key not in own}
    for key in ("adapter", "argv"):
        if data.get(key, ADAPTER) != ADAPTER:
            raise BadInput(
                f"{where}: {key}: stands beside a preset, which says it; cure: remove one of the "
                f"two; a preset of your own is a file {OWN}/<name>.yaml"
            )
    flags = preset.flags if choice.flags is None else choice.flags
    merged["adapter"] = ADAPTER
    merged["argv"] = [w for word in preset.argv for w in (flags if word == FLAGS else [word])]
    for key, base in (("variables", preset.variables), ("files", preset.files)):
        merged[key] = _added(dict(base or {}), data.get(key), f"{where}: {key}")
    merged["endpoint"] = _endpoint(preset, data, where)
    return merged


def _added(base: dict[str, Any], own: Any, where: str) -> dict[str, Any]:
    if own is None:
        return base
    if not isinstance(own, Mapping):
        raise BadInput(f"{where}: is {own!r}; cure: a map of names to texts")
    return {name: text for name, text in {**base, **own}.items() if text is not None}


def _endpoint(preset: Preset, data: Mapping[str, Any], where: str) -> Any:
    endpoint = data.get("endpoint")
    if not isinstance(endpoint, Mapping):
        raise BadInput(
            f"{where}: endpoint: is missing; cure: say where the model answers: id, base_url, model"
        )
    if endpoint.get("wire", preset.wire) != preset.wire:
        raise BadInput(
            f"{where}: endpoint.wire: is {endpoint['wire']!r}, and preset {data['preset']} speaks "
            f"{preset.wire} alone; cure: remove the key"
        )
    return {**endpoint, "wire": preset.wire}


def with_program(data: Mapping[str, Any], root: Path, where: str) -> dict[str, Any]:
    """Return an agent's file, merged with its preset, with the identity of its program.

    A `program` that stands in the file already is a pin: name, version or digest must agree.

    Raises:
        BadInput: the program is not installed (the message says how to), or is not the pinned one.
    """
    merged = with_preset(data, root, where)
    argv = merged.get("argv")
    if merged.get("adapter") != ADAPTER or not isinstance(argv, list) or not argv:
        return merged
    install = ""
    if "preset" in data:
        install = read_preset(root, str(data["preset"]), where).install
    try:
        identity = locate(str(argv[0]), install).identity()
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    pinned = merged.get("program") or {}
    for key, value in pinned.items() if isinstance(pinned, Mapping) else ():
        if identity.get(key) != value:
            raise BadInput(
                f"{where}: program.{key}: is {value!r}, and installed is {identity.get(key)!r}; "
                "cure: install that one, or correct the pin: a new experiment"
            )
    return {**merged, "program": identity}
