"""Read config files: strict YAML, schema, frozen dataclasses. The edge where text becomes controls."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from frozenbench.canonical import BadInput
from frozenbench.controls import RESERVED_AGENTS, Budget, Config
from frozenbench.schema import build, nearest, plain_name


class _StrictLoader(yaml.SafeLoader):
    """YAML that refuses a key written twice, where PyYAML would silently keep the last."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise BadInput(f"line {line}: a key is no plain text; cure: `key: value` lines")
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise BadInput(
                f"line {line}: {plain_name(key)}: the key stands twice; cure: keep one of them"
            )
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)

#: What PyYAML lets out for a value that looks like a date, a number or a truth value and is none.
_CONSTRUCTORS_RAISE = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def read_yaml(path: Path, where: str) -> dict[str, Any]:
    """Read one YAML mapping.

    Raises:
        BadInput: the file is absent, is not YAML, holds a key twice or no mapping.
    """
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except FileNotFoundError:
        raise BadInput(f"{where}: is not there; cure: create it or correct the name") from None
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    except (yaml.YAMLError, OSError, RecursionError, *_CONSTRUCTORS_RAISE) as error:
        text = " ".join(str(error).split())
        raise BadInput(f"{where}: is not readable YAML: {text}; cure: `key: value` lines") from None
    if not isinstance(data, dict):
        raise BadInput(f"{where}: holds no mapping; cure: `key: value` lines")
    return data


def parse_config(data: Mapping[str, Any], where: str) -> Config:
    """Make a Config of a mapping and check what a schema cannot say.

    Raises:
        BadInput: names file, key, value and cure.
    """
    config = build(Config, data, where)
    _check_names(config, where)
    if all(_axis_value(config, budget) is None for budget in config.budgets):
        raise BadInput(
            f"{where}: budget_axis: is {config.budget_axis!r}, which no budget caps; cure: name a "
            "cap that the budgets set"
        )
    return config


def _axis_value(config: Config, budget: Budget) -> float | None:
    value: float | None = getattr(budget, config.budget_axis)
    return value


def _check_names(config: Config, where: str) -> None:
    for key, names in (
        ("agents", list(config.agents)),
        ("budgets", [budget.name for budget in config.budgets]),
        ("figures", list(config.figures)),
        ("tasks", list(config.tasks or ())),
    ):
        folded = [name.casefold() for name in names]
        for name in names:
            if folded.count(name.casefold()) > 1:
                raise BadInput(
                    f"{where}: {key}: {name!r} stands twice (capitals do not count); cure: keep one"
                )
    for name in config.agents:
        if name.casefold() in RESERVED_AGENTS:
            raise BadInput(
                f"{where}: agents: {name!r} is reserved; cure: leave it out, every experiment "
                "runs noop and reference by itself"
            )
    for key in ("focus", "accept_unmetered", "accept_unsandboxed"):
        for name in getattr(config, key) or ():
            if name not in config.agents:
                raise BadInput(
                    f"{where}: {key}: {name!r} is none of the agents{nearest(name, config.agents)}; "
                    "cure: name an agent"
                )
    caps = [tuple(sorted(budget.caps().items())) for budget in config.budgets]
    for position, cap in enumerate(caps):
        if cap in caps[:position]:
            twin = config.budgets[caps.index(cap)].name
            raise BadInput(
                f"{where}: budgets.{position}: {config.budgets[position].name!r} has the same caps "
                f"as {twin!r}; cure: remove one"
            )
