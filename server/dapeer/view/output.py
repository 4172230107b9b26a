"""A program's output, log messages and failures since the last answer, as limited text. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dapeer.base.sources import relative
from dapeer.base.text.fitting import shortened
from dapeer.mirror.failures import PATCH, Failure
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import squeezed
from dapeer.mirror.printed import LogMessage
from dapeer.view.variables import VALUE_CHARS, one_line

OUTPUT_LINES = 10
OUTPUT_CHARS = 600
"""Characters of new output."""
FAILURES = 20
PATCH_OFF = 600
"""Characters of what is lost without a patch of ours, and why."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""A model needs no colours; `dap_program_output(raw=true)` returns the output unchanged."""


def new_output(
    session_id: int, mirror: Mirror, since: int, until: int | None, notes: list[str]
) -> str:
    """Return the last lines that a session printed between two cursors, without colours; empty if none.

    `until` None stands for the end of the output. What exceeds `OUTPUT_LINES` and `OUTPUT_CHARS` is left out, and a note on how to
    read it is appended to `notes`. Messages of log points are not contained.
    """
    log = mirror.output
    end = log.end if until is None else until
    if end <= since:
        return ""
    pieces = [each for each in log.between(since, end) if each.category != "log"]
    # A loop may have printed millions of characters: only the end of them is looked at.
    shown = last_lines("".join(each.text for each in pieces[-OUTPUT_CHARS:]))
    left = sum(len(each.text) for each in pieces) - len(shown)
    if left > 0:
        more = f"dap_program_output since={max(since, log.start)}{_whose(session_id)}"
        notes.append(f"{left} more characters of output: {more}")
    return squeezed(_COLOUR.sub("", shown))


def last_lines(text: str) -> str:
    """Return the last lines of a text, at most `OUTPUT_LINES` and `OUTPUT_CHARS`.

    The first of them is whole unless the last line alone is longer than that; then its end is returned.
    """
    *_, last = text.splitlines(keepends=True)[-OUTPUT_LINES:] or [""]
    cut = text[-OUTPUT_CHARS:]
    starts_within = (
        len(text) > OUTPUT_CHARS and text[-OUTPUT_CHARS - 1] != "\n" and len(last) < OUTPUT_CHARS
    )
    whole = cut.partition("\n")[2] if starts_within else cut
    return "".join(whole.splitlines(keepends=True)[-OUTPUT_LINES:])


def _whose(session_id: int) -> str:
    """Return ` session_id=N` for a call in a hint; empty for the first session."""
    return f" session_id={session_id}" if session_id > 1 else ""


def log_point_lines(
    session_id: int, mirror: Mirror, project: Path, since: int, until: int | None, notes: list[str]
) -> list[str]:
    """Return the last messages of log points between two cursors, at most `OUTPUT_LINES`, each a line.

    `until` None stands for the end of the output. If there are more, a note on how to read them is appended to `notes`. Paths are
    shown relative to `project`.
    """
    end = mirror.output.end if until is None else until
    if end <= since:
        return []
    messages, left = mirror.printed.logged.last(since, end, OUTPUT_LINES)
    if left:
        more = f"dap_program_output category=log since={max(since, mirror.output.start)}"
        notes.append(f"{left} more messages of log points: {more}{_whose(session_id)}")
    return list(_messages(messages, project))


def _messages(messages: Sequence[LogMessage], project: Path) -> Iterator[str]:
    """Yield a line for each message of a log point; of several from one place only the first names it."""
    for place, group in itertools.groupby(messages, lambda each: (each.path, each.line)):
        texts = [f"#{each.number} {one_line(each.text)}" for each in group]
        yield f"{relative(place[0], project)}:{place[1]} {texts[0]}"
        yield from texts[1:]


def failure_lines(failures: Sequence[Failure], project: Path) -> list[str]:
    """Return a line for each failed expression of a breakpoint, at most `FAILURES`, and a count of others."""
    left = len(failures) - FAILURES
    lines = [_failure(each, project) for each in failures[:FAILURES]]
    return [*lines, f"{left:,} more expressions of breakpoints failed"] if left > 0 else lines


def _failure(failure: Failure, project: Path) -> str:
    """Return one line: the kind of failure, its expression, how often, where, and the error.

    A patch of dapeer's that is off gets a sentence of its own.
    """
    if failure.kind == PATCH:
        return (
            f"dapeer's patch `{failure.expression}` is off: {shortened(failure.error, PATCH_OFF)}"
        )
    times = "" if failure.count == 1 else f" {failure.count} times"
    place = f" at {relative(failure.path, project)}:{failure.line}" if failure.path else ""
    named = f" `{shortened(failure.expression, VALUE_CHARS)}`" if failure.expression else ""
    return f"{failure.kind}{named} failed{times}{place}: {shortened(failure.error, VALUE_CHARS)}"
