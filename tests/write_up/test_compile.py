"""What an article includes compiles with every LaTeX, whatever agents, packs and titles are called."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from frozenbench.write_up.tex import SIGN
from small_write_up import write_up_of_logs

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
    "агент éß",
    # Each a part of another: were `/` not told from the sign between the parts of a key, pairs of them
    # would have one name.
    *("x", "x/y", "y/z", "z"),
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
    rows = [["agent", "task", "solved", "calls"]]
    for place, name in enumerate(NAMES):
        for task in range(12):
            solved = str((task + place) % 3 > 0).lower()
            rows.append([name, f"t{task}", solved, str(task % 8 + 1)])
    return write_up_of_logs(root, rows, title=NAMES[0] + NAMES[1] + "{")


def run(folder: Path, *argv: str) -> str:
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, check=False, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


ENGINES = ("pdflatex", "lualatex", "xelatex")


@pytest.fixture(scope="module", params=ENGINES)
def latex(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A LaTeX of this machine that can set a document, as the beginning of a command."""
    folder = tmp_path_factory.mktemp(request.param)
    argv = [shutil.which(request.param) or ""]
    if request.param == "xelatex" and not argv[0]:
        argv = xelatex_of(folder)
    if not argv[0]:
        pytest.skip(f"no {request.param} on this machine; cure: apt-get install texlive")
    argv += ["-interaction=nonstopmode", "-halt-on-error"]
    text = r"\documentclass{article}\begin{document}x\end{document}"
    (folder / "try.tex").write_text(text, "utf-8")
    tried = subprocess.run([*argv, "try"], cwd=folder, capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"{request.param} is here, but sets no document: no format or no fonts")
    return argv


def xelatex_of(folder: Path) -> list[str]:
    """Make the format of XeLaTeX where the engine is here and it is not."""
    xetex = shutil.which("xetex")
    if xetex is None:
        return [""]
    make = [xetex, "-ini", "-etex", "-interaction=batchmode", "-jobname=xelatex", "xelatex.ini"]
    made = subprocess.run(make, cwd=folder, capture_output=True, check=False)
    return [xetex, "-no-pdf", f"-fmt={folder / 'xelatex'}"] if made.returncode == 0 else [""]


def test_every_macro_and_every_file_compiles_with_any_name(
    out: Path, tmp_path: Path, latex: list[str]
) -> None:
    """Nothing is refused, and no engine leaves a sign out."""
    numbers = json.loads((out / "numbers.json").read_bytes())["numbers"]
    names = len(NAMES)
    assert len(numbers) > 1000
    assert sum(key.startswith("flip/") for key in numbers) == names * (names - 1) // 2
    assert len({one["macro"] for one in numbers.values()}) == len(numbers)
    shutil.copytree(out, tmp_path / "out")
    shown = "\n\n".join(f"{place}: {one['macro']}" for place, one in enumerate(numbers.values()))
    (tmp_path / "all.tex").write_text(DOCUMENT % shown, "utf-8")
    run(tmp_path, *latex, "all")
    said = run(tmp_path, "bibtex", "all")
    assert "Warning--empty" not in said or "frozenbench-experiment" not in said
    assert not re.search(r"unbalanced|I was expecting|error message", said)
    run(tmp_path, *latex, "all")
    # What TeX leaves out it says in its log alone.
    assert "Missing character" not in (tmp_path / "all.log").read_text("utf-8", "replace")
    page = next(path for path in tmp_path.iterdir() if path.suffix in (".pdf", ".xdv"))
    assert page.stat().st_size > 20_000


#: `"` is a command here, as some languages have it, when \fbsign is made.
SIGNS = r"""\documentclass{article}
\catcode`\"=13 \def"{\errmessage{active}}
@@%
\begin{document}
\typeout{SIGNS: \fbsign{0061}{a} \fbsign{6A21}{模}.}x
\end{document}
"""


def test_a_sign_is_shown_where_the_font_has_it_and_is_a_number_where_not(
    tmp_path: Path, latex: list[str]
) -> None:
    (tmp_path / "signs.tex").write_text(SIGNS.replace("@@", SIGN), "utf-8")
    found = re.search(r"SIGNS: (.*)\.", run(tmp_path, *latex, "signs"))
    assert found is not None
    number = r"\texttt {U+0061}"
    shown = number if Path(latex[0]).name == "pdflatex" else "a"
    assert found[1] == rf"{shown} \texttt {{U+6A21}}"


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
