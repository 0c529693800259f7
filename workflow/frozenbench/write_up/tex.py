"""Plain text for TeX: whatever agents, tasks and titles are called, it compiles and reads the same."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # Not as \{ and \}: BibTeX counts braces, escaped ones too.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    **{sign: rf"\ensuremath{{{sign}}}" for sign in "<>|"},
    **{"ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}"},
    **{"ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "\u00a0": "~", "§": r"\S{}"},
    **{"–": "--", "—": "---", "…": r"\dots{}", "‘": "`", "’": "'", "“": "``", "”": "''"},
    **{"×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "−": r"\ensuremath{-}"},
    **{"·": r"\ensuremath{\cdot}", "°": r"\ensuremath{^\circ}", "µ": r"\ensuremath{\mu}"},
    **{"≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}", "→": r"\ensuremath{\to}"},
}
#: Combining accent -> TeX's accent over a letter.
_ACCENTS = {
    **{"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u"},
    **{"\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c"},
}
#: Between these TeX would set one sign for two.
_LIGATURES = re.compile(r"(?<=[-`'])(?=[-`'])|(?<=[?!])(?=`)")
_APART, _BREAK = "\0", "\1"
_LONG_WORD = re.compile(r"\S{16}(?=\S)")
#: A text of numbers alone, such as an interval; a power of ten in it, and a minus sign.
_NUMBERS = re.compile(r"[-+\d.,\[\] ]+|\d+(\.\d+)?e-\d+", re.ASCII)
_POWER = re.compile(r"(\d+(?:\.\d+)?)e-0*(\d+)")
_MINUS = re.compile(r"(?<![\w.{^-])-(?=\d)")
#: What must stand above a sign that pdfTeX cannot set: XeTeX and LuaTeX show it where the font has it
#: (they would drop it in silence where not), else its number stands there, as it does in pdfTeX. Babel
#: may have made `"` a command; \string takes it as it is.
SIGN = (
    r"\providecommand{\fbsign}[2]{\ifcsname Umathcode\endcsname"
    r'\iffontchar\font\string"#1 #2\else\texttt{U+#1}\fi\else\texttt{U+#1}\fi}'
)


def tex(text: str) -> str:
    """Return plain text for TeX: special signs escaped, and what stands in a number set as math.

    A text that is no number keeps its hyphens. Any sign that pdfTeX cannot set becomes
    `\\fbsign{number}{sign}`, which needs `SIGN` above it.
    """
    if _NUMBERS.fullmatch(text):
        powers = _POWER.sub(r"\\ensuremath{\1\\times10^{-\2}}", text)
        return _MINUS.sub(r"\\ensuremath{-}", powers)
    return _escaped(text)


def _escaped(text: str) -> str:
    plain = _LIGATURES.sub(_APART, unicodedata.normalize("NFC", text))
    return "".join(map(_sign, plain))


def _sign(sign: str) -> str:
    if sign in (_APART, _BREAK):
        return "{}" if sign == _APART else r"\allowbreak{}"
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    if sign.isascii():
        return sign if sign.isprintable() else " "
    letters = unicodedata.normalize("NFD", sign)
    base, accents = letters[0], letters[1:]
    if base.isascii() and base.isalpha() and accents in _ACCENTS:
        return f"\\{_ACCENTS[accents]}{{{base}}}"
    return f"\\fbsign{{{ord(sign):04X}}}{{{sign if sign.isprintable() else ' '}}}"


def narrow(name: str) -> str:
    """Return a name for a narrow column of TeX: it may be broken after every sixteen signs of a word."""
    return _escaped(_LONG_WORD.sub(rf"\g<0>{_BREAK}", name))


def with_signs(text: str) -> str:
    """Return a TeX file with what it needs above it, where it holds a sign that pdfTeX cannot set."""
    return f"{SIGN}%\n{text}" if r"\fbsign{" in text else text


def breakable(hexadecimal: str) -> str:
    """Return a digest for TeX that may be broken after every eight digits."""
    parts = [hexadecimal[start : start + 8] for start in range(0, len(hexadecimal), 8)]
    return r"\texttt{" + r"\allowbreak ".join(parts) + "}"
