"""Writes what a tool has answered: as it is into a pipe; in colour, and folded, at a terminal."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final, TextIO

    from dapeer.scripting.wire import Answer

FAILED: Final = 1
"""Exit code of a tool's error."""
INTERRUPTED: Final = 130
ENDED_WITH_AN_ERROR: Final = 3
"""Exit code if the program that was waited for has ended with an error, or a test has failed."""
STILL_RUNS: Final = 124
"""Exit code if the program still runs after the time-out, as that of timeout(1)."""
ALWAYS, NEVER, AUTO = "always", "never", "auto"
NARROWEST: Final = 20
"""Columns below which lines are not folded."""

_BOLD, _RED, _CYAN, _DIM, _OFF = "\x1b[1m", "\x1b[31m", "\x1b[36m", "\x1b[2m", "\x1b[0m"


class AnswerFormat:
    """How an answer is written."""

    def __init__(self, color: str = AUTO, *, is_data: bool = False) -> None:
        self.color, self.is_data = color, is_data


def exit_code(answer: Answer) -> int:
    """Return the exit code of a command that waited for a program, from its tool's answer.

    It is `STILL_RUNS` if the program runs, `ENDED_WITH_AN_ERROR` if it ended with another code than 0, else 0.
    """
    state = answer.data.get("state")
    if state == "running":
        return STILL_RUNS
    failed = state == "ended" and answer.data.get("exit_code") not in (0, None)
    return ENDED_WITH_AN_ERROR if failed else 0


def is_coloured(stream: TextIO, choice: str) -> bool:
    """Return whether text that is written to a stream gets colours.

    `choice` is `always`, `never` or `auto`. With `auto`, a `$NO_COLOR` that is not empty decides (no), else
    such a `$FORCE_COLOR` (yes), else whether the stream is a terminal whose `$TERM` is not `dumb`.
    """
    if choice != AUTO:
        return choice == ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def write_text(text: str, colour: str) -> None:
    """Write an answer's text and a line end to stdout; at a terminal its lines are folded to its width.

    `colour` says whether the first line, the source's current line and notes in parentheses get escape
    sequences: `always`, `never`, or `auto`, by the environment and the terminal. For a terminal narrower
    than `NARROWEST` nothing is folded.

    Raises:
        OSError: stdout cannot be written, such as a pipe that nobody reads.
    """
    lines = text.split("\n")
    if sys.stdout.isatty():
        width = columns()
        lines = [part for line in lines for part in _folded(line, width)]
    if is_coloured(sys.stdout, colour):
        lines = [_coloured(line, first=not number) for number, line in enumerate(lines)]
    _write("\n".join(lines))


def write_data(answer: Answer) -> None:
    """Write an answer's data to stdout, as JSON."""
    import json

    _write(json.dumps(answer.data, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def write_error(text: str, colour: str) -> None:
    """Write a tool's error to stderr, in red by `colour`: `always`, `never` or `auto`."""
    if is_coloured(sys.stderr, colour):
        text = f"{_RED}{text}{_OFF}"
    sys.stderr.write(f"{text}\n")


def _write(text: str) -> None:
    """Write a text and a line end to stdout, also with bytes that are no UTF-8."""
    # Names of files may be no UTF-8.
    sys.stdout.buffer.write(f"{text}\n".encode(errors="surrogateescape"))
    sys.stdout.flush()


def columns() -> int:
    """Return the width of the terminal in columns: `$COLUMNS`, else what the system says, else 80.

    `$COLUMNS` counts only if it is a whole number above 0; the system is asked for the terminal at stdout.
    """
    if (given := os.environ.get("COLUMNS", "")).isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def _folded(line: str, width: int) -> Iterator[str]:
    """Yield the parts of a line that fit into `width`, cut at spaces; further ones are indented.

    Further ones are indented by two more than the line, or half of `width` if that is less. A word that is too
    long is cut. Where `width` is less than `NARROWEST`, the line is yielded as it is.
    """
    indent = " " * min(len(line) - len(line.lstrip()) + 2, width // 2)
    while len(line) > width >= NARROWEST:
        end = line.rfind(" ", len(indent) + 1, width + 1)
        if end <= len(indent):
            end = width
        yield line[:end].rstrip()
        line = indent + line[end:].lstrip()
    yield line


def _coloured(line: str, *, first: bool) -> str:
    """Return a line of an answer with the escape sequences of its colour, or as it is.

    The `first` line of the answer is bold. Of the others, one that begins with `→` (the current line of source) is
    cyan, one that stands in parentheses (a note) is dim; for both, spaces before do not matter.
    """
    if first:
        return f"{_BOLD}{line}{_OFF}"
    begin = line.lstrip()
    if begin.startswith("→"):
        return f"{_CYAN}{line}{_OFF}"
    if begin.startswith("(") and line.endswith(")"):
        return f"{_DIM}{line}{_OFF}"
    return line
