"""What a module's source defines and imports at its top level."""

import ast
from pathlib import Path


def tree_of(module):
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def definitions(module):
    """Names of the functions and classes that the module defines at its top level."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree_of(module).body if isinstance(node, kinds)}


def assignments(module):
    """Names that the module assigns at its top level."""
    names = set()
    for node in tree_of(module).body:
        if isinstance(node, ast.Assign):
            names.update(
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            )
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def imported_modules(module):
    """Top names of the modules that the module imports, wherever in its source."""
    found = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found
