"""The command line: one subcommand a rule, and those for people.

Exit status: 0 all well, 1 differs or failed, 2 bad input, 3 refused, 4 signature, 5 incomplete.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from frozenbench import __version__
from frozenbench.canonical import FrozenbenchError

EXIT_STATUS = (
    "Exit status: 0 all well, 1 differs or failed, 2 bad input, 3 refused, 4 signature, "
    "5 incomplete."
)


#: The variable that brings back where an error that is not ours comes from.
TRACEBACK = "FROZENBENCH_TRACEBACK"


@dataclass(frozen=True)
class Command:
    """One subcommand.

    Attributes:
        summary: its line in the list.
        declare: adds its arguments to a parser.
        run: does it; returns the exit status.
        example: one or more lines for --help.
        rule: whether it is a rule of the workflow.
    """

    summary: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    example: str
    rule: bool = False


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; the messages of our own errors go to standard error, one each."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    commands = _commands()
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview(commands))
        return 0 if words else 2
    if words[0] == "--version":
        print(f"frozenbench {__version__}")
        return 0
    if words[0] not in commands:
        from frozenbench.schema import nearest

        print(f"frozenbench: {words[0]!r} is unknown{nearest(words[0], commands)}", file=sys.stderr)
        return 2
    return _run(words[0], commands[words[0]], words[1:])


def _never_fail(stream: TextIO) -> None:
    """Let a stream write escapes for what its coding lacks: a name in a log can be of any script."""
    if isinstance(stream, io.TextIOWrapper) and (
        stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8"
    ):
        stream.reconfigure(errors="backslashreplace")


def _commands() -> dict[str, Command]:
    from frozenbench.cli.people import COMMANDS as PEOPLE
    from frozenbench.cli.rules import COMMANDS as RULES

    return {**PEOPLE, **RULES}


def _run(name: str, command: Command, words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog=f"frozenbench {name}",
        description=command.summary,
        epilog=f"example:\n  {command.example}\n\n{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.declare(parser)
    arguments = parser.parse_args(words)
    try:
        return command.run(arguments)
    except FrozenbenchError as error:
        print(f"frozenbench {name}: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:  # `frozenbench show | head`
        sys.stderr.close()
        return 0
    except OSError as error:  # a full disk, a folder that may not be written
        at = f"{error.filename}: " if error.filename else ""
        print(f"frozenbench {name}: {at}{error.strerror or error}", file=sys.stderr)
        return 1
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if os.environ.get(TRACEBACK):
            raise
        print(f"frozenbench {name}: {_misread(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"frozenbench {name}: interrupted", file=sys.stderr)
        return 1


def _misread(error: Exception) -> str:
    """Return what to do where no message of ours fits: seldom anything but an edited file."""
    import traceback

    frames = [f for f in traceback.extract_tb(error.__traceback__) if "frozenbench" in f.filename]
    return (
        f"a file that it reads is not as the workflow writes it ({type(error).__name__}: {error}; "
        f"{Path(frames[-1].filename).name}:{frames[-1].lineno}); cure: `frozenbench verify` names "
        f"what was edited; if it names nothing, report this with what {TRACEBACK}=1 prints"
    )


def _overview(commands: dict[str, Command]) -> str:
    width = max(map(len, commands)) + 2
    people = [f"  {n:<{width}}{c.summary}" for n, c in commands.items() if not c.rule]
    rules = [f"  {n:<{width}}{c.summary}" for n, c in commands.items() if c.rule]
    return "\n".join(
        [
            "usage: frozenbench COMMAND [options]     (frozenbench COMMAND --help: with examples)",
            "",
            "for people:",
            *people,
            "",
            "rules of the workflow (Snakemake calls them; each can be pasted into a terminal):",
            *rules,
            "",
            EXIT_STATUS,
        ]
    )
