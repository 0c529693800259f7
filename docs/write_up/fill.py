"""Fill a Markdown text with the numbers and tables of a run.

    python fill.py article.md ../../results/default > filled.md

`{{key}}` becomes the text of that key of numbers.json, `{{table NAME}}` the whole of tables/NAME.md. A
key that is not there ends it with status 2: better than an old number.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from pathlib import Path

MARK = re.compile(r"\{\{([^{}]+)\}\}")


def filled(text: str, results: Path) -> str:
    """Return the text with every mark filled.

    Raises:
        SystemExit: `results` holds no score, or no such number or table; names the line.
    """
    numbers_path = results / "numbers.json"
    if not numbers_path.is_file():
        raise SystemExit(f"{numbers_path}: is not there: no run, or its score is refused")
    numbers = json.loads(numbers_path.read_text("utf-8"))["numbers"]

    def value(mark: re.Match[str]) -> str:
        key = mark[1].strip()
        table = results / "tables" / f"{key.removeprefix('table ')}.md"
        if key.startswith("table ") and table.is_file():
            return table.read_text("utf-8").rstrip("\n")
        if key in numbers:
            return str(numbers[key]["text"])
        line = text.count("\n", 0, mark.start()) + 1
        near = difflib.get_close_matches(key, numbers, 1)
        told = f"; the nearest is {near[0]}" if near else ""
        raise SystemExit(f"line {line}: {key}: is no number and no table of {results}{told}")

    return MARK.sub(value, text)


def main() -> int:
    """Fill the text named first from the folder named second, to standard output."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        told = filled(Path(sys.argv[1]).read_text("utf-8"), Path(sys.argv[2]))
    except (SystemExit, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.write(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
