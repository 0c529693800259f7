"""The plan of a config with `source`: logs of other harnesses in place of pack, agents and budgets.

The digest is over the files and what is chosen of them, so that changed logs, or a changed choice,
make another experiment. What the logs hold is read by the rule `import_logs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from frozenbench import __version__, layout
from frozenbench.canonical import BadInput, digest
from frozenbench.config import read_yaml
from frozenbench.controls import IMPORT_SEMANTICS, VIEW_SEMANTICS
from frozenbench.figures import figure_names
from frozenbench.import_controls import ImportConfig
from frozenbench.importers import FORMATS
from frozenbench.importers.caps import POWERS, check_caps, check_chosen, own_limits
from frozenbench.importers.renames import Renames
from frozenbench.schema import build, nearest
from frozenbench.source_files import digest_of, files_sha256, find_files

#: Keys of an experiment that runs here: with `source` they have no meaning.
_IN_PLACE_OF = ("pack", "agents", "budgets", "budget_axis", "repeats", "tasks")


@dataclass(frozen=True)
class ImportPlan:
    """One import, planned: what the rules table, statistics, figures and page need of a plan."""

    where: str
    config: ImportConfig
    files_sha256: str

    @cached_property
    def material(self) -> dict[str, Any]:
        """What the experiment digest is over."""
        source = self.config.source
        choice = {k: v for k, v in asdict(source).items() if k != "paths" and v is not None}
        choice = {k: list(v) if isinstance(v, tuple) else v for k, v in choice.items()}
        return {
            "import_semantics": IMPORT_SEMANTICS,
            "files_sha256": self.files_sha256,
            "source": choice,
        }

    @cached_property
    def limits(self) -> dict[str, Decimal]:
        """The harness's own limits by axis, exact.

        Raises:
            BadInput: a limit is no number of its kind, or of no axis.
        """
        given = (self.config.source.limits or {}).items()
        return own_limits(
            [(axis, str(text)) for axis, text in given], f"{self.where}: source.limits"
        )

    @property
    def renames(self) -> Renames:
        """What agents are called."""
        given = (self.config.source.names or {}).items()
        # YAML reads the name 5 as a number.
        return Renames({str(old): new for old, new in given}, f"{self.where}: source.names")

    @property
    def caps(self) -> tuple[str, ...]:
        """The caps as written, or the word in place of them."""
        caps = self.config.source.caps
        return (POWERS,) if caps is None else tuple(map(str, caps))

    def check(self) -> None:
        """Check what can be told of limits, caps, agents and names before a log is read.

        Raises:
            BadInput: one of them cannot be, whatever the logs hold.
        """
        source, where = self.config.source, f"{self.where}: source."
        caps = check_caps(self.caps, source.axis, self.limits, f"{where}caps")
        if caps == (0,):
            raise BadInput(f"{where}caps: hold 0 alone; cure: a cap above 0")
        check_chosen(source.agents, where)
        self.renames.check()

    @cached_property
    def digest(self) -> str:
        """The experiment digest."""
        return digest(self.material)

    @property
    def name(self) -> str:
        """The folder under results/: the common tasks alone are compared under another name."""
        common = "-common-tasks" if self.config.source.tasks == "common" else ""
        return self.config.experiment.name + common

    @cached_property
    def view(self) -> dict[str, Any]:
        """The view's settings; its agents and budgets follow from the logs."""
        config = self.config
        return {
            "title": config.title,
            "question": config.experiment.question,
            "figures": list(config.figures),
            "focus": None if config.focus is None else list(config.focus),
            "statistics": asdict(config.statistics),
            "drawn_by": {
                "frozenbench": __version__,
                "view_semantics": VIEW_SEMANTICS,
                "matplotlib": version("matplotlib"),
                "numpy": version("numpy"),
                "scipy": version("scipy"),
                "jinja2": version("jinja2"),
            },
        }

    @cached_property
    def view_digest(self) -> str:
        """The view digest."""
        return digest(self.view)

    @property
    def folder(self) -> Path:
        """The experiment's folder."""
        return layout.experiment(self.name, self.digest)

    @property
    def view_folder(self) -> Path:
        """The view's folder."""
        return layout.view(self.name, self.digest, self.view_digest)

    def forecast(self) -> Iterator[str]:
        """Yield what would be read: an import pays nothing."""
        source = self.config.source
        yield f"import {self.name} {self.digest[:12]} at {self.folder}"
        yield f"{source.format}: {', '.join(source.paths)}; nothing runs and nothing is paid"
        yield f"next: snakemake --cores 2 --configfile {self.where}"


def is_import(where: str, root: Path = Path()) -> bool:
    """Tell whether a config reads logs in place of running agents."""
    return "source" in read_yaml(root / where, where)


def load_import_plan(where: str, root: Path = Path()) -> ImportPlan:
    """Plan the import of a config file: read-only, and every file is hashed.

    Raises:
        BadInput: the config is wrong, or a path is not there.
    """
    data = read_yaml(root / where, where)
    for key in _IN_PLACE_OF:
        if key in data:
            raise BadInput(
                f"{where}: {key}: stands beside source, which is in place of it; cure: keep one"
            )
    config = build(ImportConfig, data, where)
    if config.experiment.name.casefold() in layout.TAKEN_NAMES:
        raise BadInput(
            f"{where}: experiment.name: {config.experiment.name!r} is a folder of the store; cure: "
            "another name"
        )
    for key, value, known in (
        ("source.format", config.source.format, ("auto", *FORMATS)),
        *(("figures", name, figure_names()) for name in config.figures),
    ):
        if value not in known:
            raise BadInput(f"{where}: {key}: {value!r} is unknown{nearest(value, known)}")
    ImportPlan(where, config, "").check()
    try:
        files = find_files(config.source.paths, root)
    except BadInput as error:
        raise BadInput(f"{where}: source.paths: {error}") from None
    hashes = [(name, digest_of(path)) for path, name in files]
    return ImportPlan(where, config, files_sha256(hashes))
