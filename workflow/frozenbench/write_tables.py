"""write_tables: what a write-up includes of one view, or a file that stops it if there is no score."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from frozenbench.canonical import Refused, canonical_json, read_json, sha256_file
from frozenbench.out_folder import Own, replace_folder
from frozenbench.table import RESPONSES_KEY, metadata_of, read_table
from frozenbench.write_up.control_sheet import controls_tex
from frozenbench.write_up.inputs import Inputs
from frozenbench.write_up.numbers import numbers, numbers_document, numbers_tex
from frozenbench.write_up.references import cite_bib
from frozenbench.write_up.text_tables import latex, markdown, text_tables

#: What a write-up's folder is known by.
OWN = Own(("numbers.tex",), ("numbers.json", "controls.tex", "cite.bib", "tables"))


def write_tables(
    statistics: Path, controls: Path, view: Path, measured: Path, cells: Path, out: Path
) -> None:
    """Write the folder `out`: numbers.tex and .json, controls.tex, cite.bib and tables/*.{md,tex}.

    Equal input gives equal bytes. Where the score is refused there is numbers.tex alone, which
    stops TeX with the reason: a text never prints the numbers of an older score.

    Raises:
        BadInput: a file is absent or is not what it should be, or `out` is a folder of another kind.
        Refused: a control is missing.
    """
    if (statistics / "refused.json").exists():
        refusals = read_json(statistics / "refused.json")["refusals"]
        replace_folder(out, {"numbers.tex": _refused_tex(refusals).encode()}, OWN)
        return
    seen = read_table(measured)
    inputs = Inputs(
        controls=read_json(controls),
        view=read_json(view),
        responses=metadata_of(seen, RESPONSES_KEY),
        **{
            name: read_table(statistics / f"{name}.parquet").to_pylist()
            for name in ("summary", "contrasts", "flips", "areas")
        },
        statistics=read_json(statistics / "statistics.json"),
        cells_sha256=sha256_file(cells),
        measured=seen.select(["agent", "budget", "task", "seconds"]).to_pylist(),
    )
    replace_folder(out, write_up_files(inputs), OWN)


def write_up_files(inputs: Inputs) -> dict[str, bytes]:
    """Return name -> bytes of everything in the folder.

    Raises:
        Refused: a control is missing.
    """
    try:
        return _files(inputs)
    except KeyError as error:
        raise Refused(
            f"controls.json: {error.args[0]}: is missing there, in view.json or in the statistics; no "
            "score is printed without its controls; cure: make the files again"
        ) from None


def _files(inputs: Inputs) -> dict[str, bytes]:
    found = numbers(inputs)
    files = {
        "numbers.tex": numbers_tex(inputs, found),
        "controls.tex": controls_tex(inputs),
        "cite.bib": cite_bib(inputs),
    }
    for table in text_tables(inputs):
        files[f"tables/{table.name}.md"] = markdown(inputs, table)
        files[f"tables/{table.name}.tex"] = latex(inputs, table)
    coded = {name: text.encode() for name, text in files.items()}
    return coded | {"numbers.json": canonical_json(numbers_document(inputs, found)) + b"\n"}


def _refused_tex(refusals: list[dict[str, Any]]) -> str:
    first = refusals[0]
    told = f"{first['control']}: {first['message']}; cure: {first['cure']}"
    told = re.sub(r"[^\w .,:;()/=<>-]", " ", told)  # what TeX reads as it stands
    return (
        f"% No score is printed; {len(refusals)} thing(s) refuse it.\n"
        f"\\errmessage{{frozenbench: no score is printed: \\detokenize{{{told}}}}}\n"
    )
