"""What an article includes compiles with pdflatex, whatever agents, packs and titles are called."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from frozenbench.contrast import contrast
from frozenbench.freeze_view import freeze_view
from frozenbench.import_logs import import_logs
from frozenbench.import_plan import load_import_plan
from frozenbench.write_tables import write_tables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("pdflatex") is None or shutil.which("bibtex") is None,
        reason="no pdflatex on this machine; cure: apt-get install texlive-latex-base",
    ),
]

NAMES = (
    r"a_b%c#d~^\{}",
    "Ünï é $x$ & <b> ß",
    "模型 Ω α → ≥ ×",
    "`ticks` ''quotes'' --dashes-- ?`!`",
    "{ unbalanced",
    "} too",
    "A" * 60,
    r"\input{/etc/passwd} \relax^^M",
    "1e-05 -3",
)
DOCUMENT = r"""\documentclass{article}
\input{out/numbers}
\begin{document}
%s
\input{out/controls}
\input{out/tables/summary}

\input{out/tables/contrasts}

\input{out/tables/flips}

\input{out/tables/areas}

\nocite{*}
\bibliographystyle{plain}
\bibliography{out/cite}
\end{document}
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The write-up of an import, whose agents are called as they like."""
    root = tmp_path_factory.mktemp("names")
    (root / "logs").mkdir()
    with (root / "logs" / "runs.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["agent", "task", "solved", "calls"])
        for place, name in enumerate(NAMES):
            for task in range(12):
                rows.writerow([name, f"t{task}", str((task + place) % 3 > 0).lower(), task % 8 + 1])
    config = {
        "experiment": {"name": "made_up"},
        "title": NAMES[0] + NAMES[1] + "{",
        "source": {"format": "auto", "paths": ["logs"], "axis": "calls"},
        "statistics": {"resamples": 200},
    }
    (root / "import.yaml").write_text(yaml.safe_dump(config), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        plan = load_import_plan("import.yaml")
        folder, view = plan.folder, plan.view_folder
        import_logs(plan, folder, jobs=1)
        freeze_view(plan, view / "view.json")
        files = {name: folder / f"{name}.parquet" for name in ("cells", "measured")}
        sheets = {"controls": folder / "controls.json", "view": view / "view.json"}
        statistics = view / "statistics"
        contrast(**files, **sheets, refusals=folder / "refusals.json", out=statistics)
        write_tables(statistics, **sheets, **files, out=root / "out")
    return root / "out"


def run(folder: Path, *argv: str) -> str:
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, check=False, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_every_macro_and_every_file_compiles_with_any_name(out: Path, tmp_path: Path) -> None:
    numbers = json.loads((out / "numbers.json").read_bytes())["numbers"]
    assert len(numbers) > 1000
    shutil.copytree(out, tmp_path / "out")
    shown = "\n\n".join(f"{place}: {one['macro']}" for place, one in enumerate(numbers.values()))
    (tmp_path / "all.tex").write_text(DOCUMENT % shown, "utf-8")
    latex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all")
    run(tmp_path, *latex)
    said = run(tmp_path, "bibtex", "all")
    assert "Warning--empty" not in said or "frozenbench-experiment" not in said
    assert not re.search(r"unbalanced|I was expecting|error message", said)
    told = run(tmp_path, *latex)
    assert "Missing character" not in told
    assert (tmp_path / "all.pdf").stat().st_size > 20_000


def test_names_are_set_as_they_are(out: Path, tmp_path: Path) -> None:
    """In the text of the PDF each name stands as it was logged, but for signs that pdfTeX lacks."""
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext on this machine; cure: apt-get install poppler-utils")
    shutil.copytree(out, tmp_path / "out")
    body = DOCUMENT.split("%s")[0] + r"\input{out/controls}\end{document}"
    (tmp_path / "all.tex").write_text(body, "utf-8")
    run(tmp_path, "pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all")
    text = " ".join(run(tmp_path, "pdftotext", "-layout", "all.pdf", "-").split())
    for name in (r"b%c#d", "unbalanced", "--dashes--", r"\input{/etc", "U+6A21", "1e-05 -3"):
        assert name.replace(" ", "") in text.replace(" ", ""), name
