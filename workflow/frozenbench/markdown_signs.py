"""Names and other texts from outside in Markdown: shown as they are."""

from __future__ import annotations

import re

#: What Markdown would take for its own: signs of marks, an underscore at the edge of a word, and the
#: bracket that would make a link of the one before it.
_OWN = re.compile(r"[\\`*~$]|(?<!\w)_|_(?!\w)|(?<=\])\(")


def markdown_plain(text: str) -> str:
    """Return plain text so that Markdown shows it as it is, on one line and without HTML of its own."""
    escaped = _OWN.sub(r"\\\g<0>", " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")
