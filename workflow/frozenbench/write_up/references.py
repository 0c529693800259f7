"""cite.bib: the experiment, the software, and the sources of every formula that it uses."""

from __future__ import annotations

from frozenbench import __version__
from frozenbench.write_up.inputs import Inputs
from frozenbench.write_up.tex import SIGN, breakable, tex

#: Key -> type and fields. The keys never change, so that a text can cite them.
_METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "frozenbench-wilson": (
        "article",
        {
            "author": "Wilson, Edwin B.",
            "title": "Probable Inference, the Law of Succession, and Statistical Inference",
            "journal": "Journal of the American Statistical Association",
            "volume": "22",
            "pages": "209--212",
            "year": "1927",
        },
    ),
    "frozenbench-kish": (
        "book",
        {
            "author": "Kish, Leslie",
            "title": "Survey Sampling",
            "publisher": "Wiley",
            "year": "1965",
        },
    ),
    "frozenbench-mcnemar": (
        "article",
        {
            "author": "McNemar, Quinn",
            "title": "Note on the Sampling Error of the Difference Between Correlated Proportions "
            "or Percentages",
            "journal": "Psychometrika",
            "volume": "12",
            "pages": "153--157",
            "year": "1947",
        },
    ),
    "frozenbench-pagano": (
        "article",
        {
            "author": "Pagano, Marcello and Tritchler, David",
            "title": "On Obtaining Permutation Distributions in Polynomial Time",
            "journal": "Journal of the American Statistical Association",
            "volume": "78",
            "pages": "435--440",
            "year": "1983",
        },
    ),
    "frozenbench-holm": (
        "article",
        {
            "author": "Holm, Sture",
            "title": "A Simple Sequentially Rejective Multiple Test Procedure",
            "journal": "Scandinavian Journal of Statistics",
            "volume": "6",
            "pages": "65--70",
            "year": "1979",
        },
    ),
    "frozenbench-tango": (
        "article",
        {
            "author": "Tango, Toshiro",
            "title": "Equivalence Test and Confidence Interval for the Difference in Proportions "
            "for the Paired-Sample Design",
            "journal": "Statistics in Medicine",
            "volume": "17",
            "pages": "891--908",
            "year": "1998",
        },
    ),
    "frozenbench-rao": (
        "article",
        {
            "author": "Rao, J. N. K. and Scott, A. J.",
            "title": "On Simple Adjustments to Chi-Square Tests with Sample Survey Data",
            "journal": "Annals of Statistics",
            "volume": "15",
            "pages": "385--397",
            "year": "1987",
        },
    ),
    "frozenbench-efron": (
        "article",
        {
            "author": "Efron, Bradley",
            "title": "Bootstrap Methods: Another Look at the Jackknife",
            "journal": "Annals of Statistics",
            "volume": "7",
            "pages": "1--26",
            "year": "1979",
        },
    ),
    "frozenbench-hall": (
        "article",
        {
            "author": "Hall, Peter and Miller, Hugh",
            "title": "Using the Bootstrap to Quantify the Authority of an Empirical Ranking",
            "journal": "Annals of Statistics",
            "volume": "37",
            "pages": "3929--3959",
            "year": "2009",
        },
    ),
    "frozenbench-connor": (
        "article",
        {
            "author": "Connor, Robert J.",
            "title": "Sample Size for Testing Differences in Proportions for the Paired-Sample "
            "Design",
            "journal": "Biometrics",
            "volume": "43",
            "pages": "207--211",
            "year": "1987",
        },
    ),
}


def cite_bib(inputs: Inputs) -> str:
    """Return the references; the experiment's entry names its digests, its key only its name."""
    controls, pack = inputs.controls, inputs.view["pack"]
    experiment = {
        "key": tex(inputs.name),
        "title": "{" + tex(inputs.view["title"] or f"{inputs.name}: pass rate by budget") + "}",
        "howpublished": f"frozenbench {__version__}",
        "note": f"experiment {breakable(controls['experiment']['digest'])}, pack "
        f"{tex(pack['name'])} {breakable(controls['pack']['digest'])}",
    }
    if inputs.responses["last_date"] is not None:
        experiment["year"] = str(inputs.responses["last_date"])[:4]
    software = {
        "author": "{The frozenbench authors}",
        "title": "{frozenbench: coding agents ranked under frozen controls}",
        "note": f"Version {__version__}",
    }
    entries = {
        f"frozenbench-experiment-{inputs.name}": ("misc", experiment),
        "frozenbench": ("misc", software),
        **_METHODS,
    }
    texts = [_entry(kind, key, fields) for key, (kind, fields) in entries.items()]
    if any(r"\fbsign{" in text for text in texts):
        texts = [f'@preamble{{"{SIGN}"}}\n', *texts]
    return "\n".join([f"% {inputs.origin}", *texts])


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])
