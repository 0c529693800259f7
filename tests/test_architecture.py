"""The architecture, checked: layers, the two halves, rules and commands, what a cell imports."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from frozenbench.agent_files import adapter_names
from frozenbench.cli.people import COMMANDS as PEOPLE
from frozenbench.cli.rules import COMMANDS as RULES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow" / "frozenbench"

#: From top to bottom; every module of the package stands in one line. `name.*` is a package with
#: all its modules, unless one of them stands elsewhere. A module imports from lower lines, and
#: from its own package in its own line.
LAYERS = """
    __main__
    cli.*
    schema_files semantics
    verify
    verify_views verify_links
    import_logs list_crossings
    replay open_cells
    check_score draw_figure write_page write_tables publish gc retry show explain record
    sandbox_report try_agent replay_cells replay_compare
    figures.* pages.page pages.html pages.markdown pages.rst score_bundle write_up.*
    pages.imported pages.controls pages.decisions pages.scores pages.flips pages.notes pages.cells
    pages.check pages.weights pages.inputs pages.story pages.better pages.ladder
    pages.blocks
    closing contrast collect_cells headline markdown_signs
    import_lines
    metrics refusals grader_attacks
    importers.*
    table
    stats.*
    run_cell grade_cell pack_check.*
    run.* freeze_expected
    grade.*
    freeze_grader freeze_agent freeze_view
    freeze_task freeze_controls freeze_names freeze_record
    jobs
    void view_jobs preflight forecast progress
    plan import_plan build_environment
    importers.caps importers.renames
    importers.documents importers.doubles importers.names
    importers.model
    agent_code
    agent_files
    adapters.* preset_files
    keys
    gateway.*
    adapters.contract installed.*
    sandbox.* assume.* scripted_endpoint.*
    config packs.* layout frozen
    schema
    import_controls
    controls seal source_files out_folder
    canonical
    outcomes process named_tests number_text dialogue.* inside.* adapters figures importers pages .
"""

#: One half of a cell reads nothing of the other; but how a snapshot is read back is one thing.
ALLOWED_UP = {("grade_cell", "run.snapshots"), ("verify", "run.snapshots")}

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib")
#: Modules that need more than the standard library as soon as they are imported.
NEEDS_HEAVY = ("table", "metrics", "contrast", "stats.", "figures.", "importers.cells")
#: What no cell command may have imported once it can start.
NOT_IN_CELLS = (*HEAVY, "yaml", "jsonschema", "urllib3", "pyflakes", "packaging", "snakemake")


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its name below the package; the package itself is `.`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__") or "."
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def named_layers() -> list[list[str]]:
    """The table, with packages spelled out."""
    lines = [line.split() for line in LAYERS.strip().splitlines()]
    single = {word for line in lines for word in line if not word.endswith(".*")}

    def spelled(word: str) -> list[str]:
        if not word.endswith(".*"):
            return [word]
        package = word.removesuffix(".*")
        below = (name for name in modules() if name == package or name.startswith(f"{package}."))
        return [name for name in below if name not in single]

    return [[name for word in line for name in spelled(word)] for line in lines]


def imports(name: str) -> set[str]:
    """The package's modules that a module imports anywhere in it, also late and for types."""
    found = set()
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level and name.startswith("inside.trusted."):
                continue  # a package of its own there, under another name
            assert node.level == 0, f"{name}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                known = inner.removeprefix("frozenbench.") in modules()
                found.add(inner if known else str(node.module))
    ours = {item for item in found if item.split(".")[0] == "frozenbench"}
    return {item.removeprefix("frozenbench.") if "." in item else "." for item in ours}


def reach(*names: str) -> set[str]:
    """Everything that modules import, directly or through others."""
    todo, found = list(names), set()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += imports(name)
    return found


def test_every_module_stands_in_the_table_once() -> None:
    listed = [name for line in named_layers() for name in line]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(modules())


def test_imports_point_down_only() -> None:
    depth = {name: place for place, line in enumerate(named_layers()) for name in line}
    wrong = []
    for name in modules():
        package = name.split(".")[0]
        for other in imports(name) - {name}:
            same = depth[other] == depth[name] and other.split(".")[0] == package
            if not (depth[other] > depth[name] or same or (name, other) in ALLOWED_UP):
                wrong.append(f"{name} -> {other}")
    assert wrong == []


def test_every_allowed_exception_is_needed() -> None:
    assert {pair for pair in ALLOWED_UP if pair[1] in imports(pair[0])} == ALLOWED_UP


@pytest.mark.parametrize(
    "start",
    ["run_cell", *(name for name in sorted(modules()) if re.match(r"(run|adapters)\.", name))],
)
def test_nothing_that_runs_an_agent_knows_what_is_hidden(start: str) -> None:
    """No way leads from an agent's side to graders, hidden files, bans or weights."""
    hidden = re.compile(r"(grade|assume|packs|plan|freeze_|collect_cells|verify)\w*(\.|$)")
    assert {name for name in reach(start) if hidden.match(name)} == set()


def test_nothing_that_grades_knows_an_agent_or_its_model() -> None:
    foreign = re.compile(r"(run_cell|run\.(loop|meters|clock)|adapters\.(?!contract)\w|plan|packs)")
    assert {name for name in reach("grade_cell") if foreign.match(name)} == set()
    model = reach("grade_cell") & {name for name in modules() if name.startswith("gateway.")}
    assert model <= {"gateway.machine"}


@pytest.mark.parametrize("name", sorted(modules()))
def test_heavy_packages_are_imported_where_tables_and_figures_are_made(name: str) -> None:
    top = [node for node in modules()[name].body if isinstance(node, ast.Import | ast.ImportFrom)]
    top = [node for node in top if not getattr(node, "level", 0)]  # of its own package
    found = set()
    for node in top:
        words = (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
        found |= {word.split(".")[0] for word in words}
    if not name.startswith(NEEDS_HEAVY):
        assert not found & set(HEAVY)
    if name.split(".")[0] in ("inside",):
        beside = {path.stem for path in (PACKAGE / "inside").glob("*.py")}
        assert found <= {*sys.stdlib_module_names, *beside}, "it runs in the pack's own Python"


CELL = """
import json, sys
from frozenbench.cli import _commands
_commands()
import frozenbench.run_cell, frozenbench.grade_cell, frozenbench.freeze_expected
from importlib import import_module
for name in sys.argv[1:]:
    import_module(f"frozenbench.adapters.{name}")
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def test_a_cell_command_starts_with_the_standard_library_alone() -> None:
    argv = [sys.executable, "-c", CELL, *adapter_names()]
    loaded = json.loads(subprocess.run(argv, capture_output=True, check=True, text=True).stdout)
    assert "frozenbench" in loaded
    assert sorted(set(loaded) & set(NOT_IN_CELLS)) == []


# Rules and commands


@cache
def rules() -> dict[str, str]:
    """Every rule of the workflow by its name."""
    found = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        parts = re.split(r"^rule (\w+):$", path.read_text("utf-8"), flags=re.MULTILINE)
        found |= dict(zip(parts[1::2], parts[2::2], strict=True))
    return found


def test_a_rule_is_a_subcommand_is_a_module() -> None:
    assert set(rules()) == set(RULES), "rules and their subcommands"
    for name in rules():
        assert name in modules()
        functions = {n.name for n in modules()[name].body if isinstance(n, ast.FunctionDef)}
        assert name in functions, f"{name}.{name} is what it does"
    assert all(command.rule for command in RULES.values())
    assert not any(command.rule for command in PEOPLE.values())
    assert not set(PEOPLE) & set(RULES)


@pytest.mark.parametrize("name", sorted(rules()))
def test_a_rule_calls_its_command_logs_and_says_what_it_does(name: str) -> None:
    text = rules()[name]
    for directive in ("output:", "log:", "message:", "shell:"):
        assert f"    {directive}\n" in text, f"{name}: {directive}"
    command = text.split("shell:")[1]
    assert re.search(rf'"\{{[\w.]*frozenbench\}} {name} ', command, re.IGNORECASE)
    assert f"logs/{name}/" in text.split("log:")[1].split("\n    ")[0] + text.split("log:")[1][:120]
    assert "2> {log:q}" in command


@pytest.mark.parametrize("path", [*sorted((ROOT / "workflow").rglob("*.smk")), ROOT / "Snakefile"])
def test_rules_stay_rules(path: Path) -> None:
    text = re.sub(r"#.*", "", path.read_text("utf-8"))
    assert not re.search(r"^\s*(script|run|notebook|wrapper):", text, re.MULTILINE)
    assert not re.search(r"\bsnakemake\.(input|output|params|wildcards)\b", text)
    assert not re.search(r"\bcheckpoint\b", text)


def test_every_rule_file_is_included_and_the_default_target_comes_first() -> None:
    text = (ROOT / "Snakefile").read_text("utf-8")
    included = re.findall(r'^ *include: "(.*)"$', text, re.MULTILINE)
    there = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "workflow").rglob("*.smk"))
    assert sorted(included) == there
    assert text.index("rule all:") < text.index("include:"), "else it is never the default"


# Names and sizes


VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core", "tools", "lib"}


@pytest.mark.parametrize("folder", ["workflow", "tests"])
def test_no_file_has_a_name_that_says_nothing(folder: str) -> None:
    names = {path.stem for path in (ROOT / folder).rglob("*.py")}
    names |= {path.stem for path in (ROOT / folder).rglob("*.smk")}
    assert not names & VAGUE


def test_no_file_of_the_package_is_longer_than_one_can_read() -> None:
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "workflow").rglob("*.smk"), ROOT / "Snakefile"]
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


@pytest.mark.parametrize("name", sorted(set(modules()) - {"."}))
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert (ast.get_docstring(modules()[name]) or "").strip(), name


def test_the_workflow_folder_is_no_package() -> None:
    """`import workflow` would rebind Snakemake's own object."""
    assert not (ROOT / "workflow" / "__init__.py").exists()


def test_no_two_test_files_share_a_name() -> None:
    """pytest imports them by their names alone."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
