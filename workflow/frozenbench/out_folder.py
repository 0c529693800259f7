"""A folder that a command writes whole, in the place of an older one of its own and of nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from frozenbench.canonical import BadInput, write_atomic

#: What Snakemake lays into each folder that it keeps.
_SNAKEMAKE = ".snakemake_timestamp"


@dataclass(frozen=True)
class Own:
    """What tells a command's own folder: nothing but `names` is in it, and one of `marks` is."""

    marks: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All that may lie in it."""
        return frozenset((*self.marks, *self.others))


def replace_folder(out: Path, files: Mapping[str, bytes], own: Own) -> None:
    """Put a folder with `files` in the place of `out`, so that a reader never sees half of it.

    The siblings have fixed names: what a killed writer left there is removed by the next.

    Raises:
        BadInput: what stands there is not the command's own; then it is left as it is.
    """
    check_own(out, own)
    partial, old = out.with_name(f".{out.name}.partial"), out.with_name(f".{out.name}.old")
    for stale in (partial, old):
        shutil.rmtree(stale, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, data in files.items():
        write_atomic(partial / name, data)
    if out.exists():
        out.rename(old)
    partial.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def remove_folder(out: Path, own: Own) -> None:
    """Remove a folder of the command's own, if there is one.

    Raises:
        BadInput: what stands there is not the command's own; then it is left as it is.
    """
    check_own(out, own)
    if out.exists():
        shutil.rmtree(out)


def check_own(out: Path, own: Own) -> None:
    """Check that `out` can be replaced: it is absent, empty, or of the command's own making.

    Raises:
        BadInput: it is not, or it is no path to a folder with a name.
    """
    cure = "cure: name a folder that is not there, or one that this command wrote"
    if out.name in ("", ".."):
        raise BadInput(f"--out: {str(out)!r} names no folder that could be replaced; {cure}")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BadInput(f"{out}: is no folder; {cure}")
    if not out.exists():
        return
    found = {item.name for item in out.iterdir()} - {_SNAKEMAKE}
    foreign = found - own.names
    if foreign:
        raise BadInput(f"{out}: holds {min(foreign)!r}, which would be removed; {cure}")
    if found and not found & set(own.marks):
        raise BadInput(f"{out}: holds {min(found)!r} and no {own.marks[0]!r}; {cure}")
