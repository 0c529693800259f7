"""The controls of an import: each one field of a frozen dataclass, as in `controls`."""

from __future__ import annotations

from dataclasses import dataclass

from frozenbench.controls import COUNT, STRING, STRINGS, Experiment, Statistics, control


@dataclass(frozen=True)
class Source:
    """Logs of other harnesses, in place of pack, agents and budgets."""

    format: str = control(
        "a format that can be imported, or auto: each file is recognised by itself",
        STRING,
        enters="experiment digest",
    )
    paths: tuple[str, ...] = control(
        "log files and folders of them, relative to the project",
        {"type": "array", "items": STRING, "minItems": 1},
        enters="experiment digest",
    )
    axis: str | None = control(
        "the use that caps are laid on; absent: the first that every run tells",
        {"enum": ["calls", "steps", "edit_rounds", "tokens", "cost", "seconds", None]},
        default=None,
        enters="experiment digest",
    )
    caps: tuple[float | str, ...] | None = control(
        "the caps that are compared; or [powers]: of two up to the log's own limit, as where it is "
        "absent; or [all]: every use at which a pass count changes",
        {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "minItems": 1,
        },
        default=None,
        enters="experiment digest",
    )
    limits: dict[str, float | str] | None = control(
        "the harness's own limits by axis, where its logs do not state them",
        {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
        default=None,
        enters="experiment digest",
    )
    agents: tuple[str, ...] | None = control(
        "the agents to compare, in the order of their colours; absent: all, as the logs have them",
        STRINGS,
        default=None,
        enters="experiment digest",
    )
    agents_by: str | None = control(
        "what tells agents apart. log: what their logs state, and the same settings twice are "
        "repeats; name: their names alone, and all else is repeats; run: each folder or file of logs",
        {"enum": ["log", "name", "run", None]},
        default=None,
        enters="experiment digest",
    )
    names: dict[str, str] | None = control(
        "other names for agents, by the names that they have once they are told apart; everything "
        "else in a config, `agents` and `focus` too, goes by the new ones",
        {"type": "object", "additionalProperties": STRING},
        default=None,
        enters="experiment digest",
    )
    tasks: str = control(
        "same: agents that ran different tasks are refused; common: the tasks that all ran, under "
        "another name; all: a missing task is ERROR",
        {"enum": ["same", "common", "all"]},
        default="same",
        enters="experiment digest",
    )
    repeats: int | None = control(
        "the first so many repeats of each task; absent: all",
        COUNT,
        default=None,
        enters="experiment digest",
    )


@dataclass(frozen=True)
class ImportConfig:
    """An experiment whose runs were made elsewhere, as it stands in config/*.yaml."""

    experiment: Experiment = control("name and question", {})
    source: Source = control("the logs", {})
    figures: tuple[str, ...] = control(
        "figures to draw", STRINGS, default=("budget_curves",), enters="view digest"
    )
    focus: tuple[str, ...] | None = control(
        "agents drawn in colour where there are more than six; without it those that lead somewhere",
        STRINGS,
        default=None,
        enters="view digest",
    )
    statistics: Statistics = control("statistics", {}, default=Statistics())
    title: str | None = control("the figure's title", STRING, default=None, enters="view digest")
