"""Tracebacks, as short as a reader wants them. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import INDENT, indented

MAX_LINES = 60
"""Lines of a traceback that is shown whole."""
LINE_CHARS = 500
"""Characters of a line."""
MAX_REPEATED_LINES = 8
"""Lines that may repeat as one: those of two functions that call each other, with their source."""
_ENTRY = re.compile(r"""\s*File "(.*)", line \d+""")
"""A frame in a traceback of Python's; the line of source follows."""
_ERROR = re.compile(r"^ *((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b(?::.*)?)$", re.MULTILINE)
"""The line below the frames, which names the error."""
MAX_UNCOUNTED = 3
"""Times that something may be there without being counted."""


def formatted(
    trace: str, exception: str, project: Path, instead: Callable[[str], str] = lambda _: ""
) -> str:
    r"""Return the lines of a traceback, indented, shortened, and without `exception` at its end, if there.

    Paths in `project` are made relative, repeated entries are counted, and of more than `MAX_LINES` lines
    the middle is left out. `instead` returns for a file's path the text to show in place of its source
    lines, such as for files that may hold secrets; empty: the lines are shown.

    >>> entry = '  File "/p/a.py", line 2, in down\n    down(n + 1)'
    >>> print(formatted("\n".join([entry] * 500 + ["RecursionError: too deep"]), "RecursionError: too deep", Path("/p")))
      File "a.py", line 2, in down
        down(n + 1)
      … (499 more times)
    """
    trace = (
        _with_replaced_sources(trace, instead)
        .replace(f"{project}{os.sep}", "")
        .rstrip()
        .lstrip("\n")
    )
    lines = trace.removesuffix(exception).rstrip().splitlines()
    shown = (shortened(line, LINE_CHARS) for line in _without_middle(_fold_repeated_lines(lines)))
    # The lines of Python's are indented; those of others, and those of a message, are not.
    return "\n".join(line if line.startswith(INDENT) else indented(line) for line in shown)


def cause(text: str) -> str:
    r"""Return why a process ended, from what it printed: a Python traceback's error line, else all text.

    >>> cause('bind: in use'), cause('  File "/a.py", line 2, in down\n    down(n)\nOSError: too many\n')
    ('bind: in use', 'OSError: too many')
    """
    errors = _ERROR.findall(text) if any(map(_ENTRY.match, text.splitlines())) else ()
    return errors[-1] if errors else text.strip()


def _with_replaced_sources(trace: str, instead: Callable[[str], str]) -> str:
    """Return a traceback in which one line replaces the source lines of each entry.

    An entry is a line `File "PATH", line N` of `trace`; the lines indented by four spaces or more between it
    and the next line that is neither blank nor so indented are its source lines. `instead` gets the entry's
    path and returns the new line, which is indented by four spaces here and added also to an entry without
    source lines. If `instead` returns an empty text, the entry's source lines stay as they are.
    """
    lines: list[str] = []
    hidden = ""
    for line in trace.split("\n"):
        if entry := _ENTRY.match(line):
            hidden = instead(entry[1])
            lines += [line, f"    {hidden}"] if hidden else [line]
        elif not (hidden and line.startswith("    ")):
            hidden = "" if line.strip() else hidden
            lines.append(line)
    return "\n".join(lines)


def _fold_repeated_lines(lines: Sequence[str]) -> list[str]:
    """Return lines in which blocks that follow each other more than `MAX_UNCOUNTED` times are shown once.

    A block has up to `MAX_REPEATED_LINES` lines; a line behind it says how many more times it came. Where several blocks repeat, the one
    that covers most lines counts. `lines` stays as it is.
    """
    counted: list[str] = []
    at = 0
    while at < len(lines):
        size, times = max(
            ((size, _times(lines, at, size)) for size in range(1, MAX_REPEATED_LINES + 1)),
            key=lambda found: found[0] * found[1] if found[1] > MAX_UNCOUNTED else 0,
        )
        if times > MAX_UNCOUNTED:
            counted += [*lines[at : at + size], f"  … ({times - 1} more times)"]
            at += size * times
        else:
            counted.append(lines[at])
            at += 1
    return counted


def _times(lines: Sequence[str], index: int, size: int) -> int:
    """Return how often the block of `size` lines at `index` comes in a row; at least 1."""
    times = 1
    while lines[index : index + size] == lines[index + times * size : index + (times + 1) * size]:
        times += 1
    return times


def _without_middle(lines: Sequence[str]) -> list[str]:
    """Return the lines without the middle ones beyond `MAX_LINES`: either end may be the innermost call."""
    left_out = len(lines) - MAX_LINES
    if left_out <= 0:
        return list(lines)
    return [*lines[: MAX_LINES // 2], f"  … ({left_out} lines)", *lines[-MAX_LINES // 2 :]]
