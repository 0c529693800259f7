"""JSON schemas generated from the control dataclasses, and the way from a mapping back to one.

The files in workflow/schemas/ are written by `python -m frozenbench.schema_files`; a test asserts
that they agree with the dataclasses.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from frozenbench.canonical import BadInput

T = TypeVar("T")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache  # a pack has a thousand lines and one schema
def schema_of(cls: type) -> dict[str, Any]:
    """Return the JSON schema of a control dataclass; unknown keys are errors."""
    hints = _hints(cls)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field in _fields(cls):
        properties[field.name] = _property(field, hints[field.name])
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _fields(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls)


def _property(field: dataclasses.Field[Any], hint: Any) -> dict[str, Any]:
    inner = dataclass_in(hint)
    unit = field.metadata["unit"]
    doc = field.metadata["doc"] + (f" [{unit}]" if unit else "")
    schema = dict(field.metadata["schema"])
    if inner is not None:
        nested = schema_of(inner)
        schema = schema | {"items": nested} if schema.get("type") == "array" else nested
    return {"description": doc, **schema}


def dataclass_in(hint: Any) -> type | None:
    """Return the dataclass inside `X`, `X | None` or `tuple[X, ...]`, else None."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint
    if typing.get_origin(hint) in (tuple, typing.Union, types.UnionType):
        for argument in typing.get_args(hint):
            if isinstance(argument, type) and dataclasses.is_dataclass(argument):
                return argument
    return None


def build(cls: type[T], data: Mapping[str, Any], where: str) -> T:
    """Check `data` against the schema of `cls` and make the dataclass.

    Args:
        cls: a control dataclass.
        data: what a config file holds.
        where: how an error names the file.

    Raises:
        BadInput: names file, key, value and what would be right.
    """
    kind: type = cls  # for the type checker, which takes type[T] for unhashable
    check(schema_of(kind), data, where)
    return _make(cls, data)


def _make(cls: type[T], data: Mapping[str, Any]) -> T:
    kind: type = cls
    hints = _hints(kind)
    values: dict[str, Any] = {}
    for field in _fields(cls):
        if field.name not in data:
            continue
        inner, value = dataclass_in(hints[field.name]), data[field.name]
        if isinstance(value, list):
            values[field.name] = tuple(_make(inner, item) if inner else item for item in value)
        elif inner is not None and value is not None:
            values[field.name] = _make(inner, value)
        else:
            values[field.name] = _plain(value)
    return cls(**values)


def _plain(value: Any) -> Any:
    """Give a whole number one spelling: 300 and 300.0 are one control and must be one key."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check(schema: Mapping[str, Any], data: Any, where: str) -> None:
    """Raise BadInput for the first thing in `data` that the schema does not allow."""
    if not isinstance(data, Mapping):
        raise BadInput(f"{where}: holds {_shown(data)}; cure: a mapping of keys to values")
    validator = _strict_validator()(dict(schema))
    try:
        error = min(
            validator.iter_errors(data),
            key=lambda error: (error.validator != "additionalProperties", [*map(str, error.path)]),
            default=None,
        )
        told = None if error is None else _explain(error)
    except RecursionError:
        told = "is nested too deeply; cure: keys and values as in the docs"
    if told is not None:
        raise BadInput(f"{where}: {told}")


@cache
def _strict_validator() -> Any:
    """Strict types: true is no number, nor is NaN; tuples are arrays; `$` is the text's very end."""
    import jsonschema  # heavy: only where configs are read, never in a cell

    base = jsonschema.Draft202012Validator
    checker = base.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "number": lambda _, value: _is_number(value),
            "array": lambda _, value: isinstance(value, list | tuple),
            "object": lambda _, value: isinstance(value, Mapping),
        }
    )
    extend: Callable[..., Any] = jsonschema.validators.extend
    return extend(base, {"pattern": _pattern}, type_checker=checker)


def _is_number(value: Any) -> bool:
    """Tell whether a value is a finite number; canonical JSON knows no other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    """Match as JSON Schema means it: in Python, `$` would also stand before a last line end."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _explain(error: Any) -> str:
    key = ".".join(map(str, error.absolute_path))
    at = f"{key}: " if key else ""
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(str(name) for name in error.instance if name not in known)[0]
        told = f"{at}{plain_name(unknown)}: unknown key{nearest(unknown, known)}"
        return f"{told}; cure: one of these, or remove it"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        doc = error.schema["properties"].get(missing, {}).get("description", "")
        return f"{at}{missing}: is missing; cure: give {doc}"
    return f"{at}is {_shown(error.instance)}; cure: {_cure(error)}"


def _cure(error: Any) -> str:
    wanted = error.validator_value
    doc = error.schema.get("description", "")
    texts = {
        "enum": "one of {}",
        "type": "a value of type {}",
        "minimum": "a value of at least {}",
        "maximum": "a value of at most {}",
        "exclusiveMinimum": "a value above {}",
        "exclusiveMaximum": "a value below {}",
        "pattern": "text that matches {}",
        "minItems": "at least {} item(s)",
        "minLength": "a text that is not empty",
    }
    if wanted == "number":
        wanted = "number (finite)"
    if isinstance(wanted, list):
        wanted = " or ".join("null" if item is None else str(item) for item in wanted)
    if error.validator not in texts:
        return str(doc) or "a value as in the docs"
    return texts[error.validator].format(wanted) + (f" ({doc})" if doc else "")


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def plain_name(name: object) -> str:
    """Return a key as an error shows it: as it is written, unless that would break the line."""
    text = str(name)
    return text if text and text.isprintable() else ascii(text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X? known: …" for an unknown name."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{hint} known: {', '.join(names)}"
