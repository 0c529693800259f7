"""freeze_names: ask a pack environment which modules and names it has, for telling ghosts."""

from __future__ import annotations

import json
from pathlib import Path

from frozenbench.assume import Environment, environment_from_probe, probe_source
from frozenbench.canonical import BadInput, Failed, canonical_json, read_json, write_json
from frozenbench.sandbox import Box, Limits, run, work_folder
from frozenbench.seal import SEAL, read_sealed, sealed

#: The probe imports the standard library; it needs about a second.
PROBE_SECONDS = 120.0
PROBE_OUTPUT = 8 * 1024 * 1024


def freeze_names(environment: Path, isolation: str, out: Path) -> None:
    """Run the probe inside the sandbox and write what it printed, sealed.

    Raises:
        Failed: the probe did not print what it should.
    """
    with work_folder() as work:
        limits = Limits(seconds=PROBE_SECONDS, output_bytes=PROBE_OUTPUT)
        box = Box(level=isolation, work=work, environment=environment, limits=limits)
        ended = run(box, [box.python, "-I", "-c", probe_source()])
    try:
        environment_from_probe(ended.output)
    except BadInput as error:
        text = ended.output[-500:].decode("utf-8", "replace")
        raise Failed(f"freeze_names: {error}; the probe printed: {text}") from None
    write_json(out, sealed(json.loads(ended.output)))


def read_names(path: Path) -> Environment:
    """Read what `freeze_names` wrote.

    Raises:
        BadInput: it is not as it was written.
    """
    document = read_json(path)
    if isinstance(document, dict) and SEAL in document:  # older files have none
        read_sealed(path, "remove the file, it is found again")
    return environment_from_probe(canonical_json(document))
