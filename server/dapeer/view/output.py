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
    """Return the last lines between two cursors (None: now), and a note on what is left out."""
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
    """Return the last lines for which there is room, whole but for one that is longer than that."""
    *_, last = text.splitlines(keepends=True)[-OUTPUT_LINES:] or [""]
    cut = text[-OUTPUT_CHARS:]
    starts_within = (
        len(text) > OUTPUT_CHARS and text[-OUTPUT_CHARS - 1] != "\n" and len(last) < OUTPUT_CHARS
    )
    whole = cut.partition("\n")[2] if starts_within else cut
    return "".join(whole.splitlines(keepends=True)[-OUTPUT_LINES:])


def _whose(session_id: int) -> str:
    """Return the session argument of a hint, if there are several sessions."""
    return f" session_id={session_id}" if session_id > 1 else ""


def logged(
    session_id: int, mirror: Mirror, project: Path, since: int, until: int | None, notes: list[str]
) -> list[str]:
    """Return the last log messages between two cursors (None: now), and note how many are left out."""
    end = mirror.output.end if until is None else until
    if end <= since:
        return []
    messages, left = mirror.printed.logged.last(since, end, OUTPUT_LINES)
    if left:
        more = f"dap_program_output category=log since={max(since, mirror.output.start)}"
        notes.append(f"{left} more messages of log points: {more}{_whose(session_id)}")
    return list(_messages(messages, project))


def _messages(messages: Sequence[LogMessage], project: Path) -> Iterator[str]:
    """Yield a line for each message; the location is repeated only when it changes."""
    for place, group in itertools.groupby(messages, lambda each: (each.path, each.line)):
        texts = [f"#{each.number} {one_line(each.text)}" for each in group]
        yield f"{relative(place[0], project)}:{place[1]} {texts[0]}"
        yield from texts[1:]


def failed(failures: Sequence[Failure], project: Path) -> list[str]:
    """Return a line for each failed expression; of many, the first ones, and how many there are more."""
    left = len(failures) - FAILURES
    lines = [_failure(each, project) for each in failures[:FAILURES]]
    return [*lines, f"{left:,} more expressions of breakpoints failed"] if left > 0 else lines


def _failure(failure: Failure, project: Path) -> str:
    """Return a failed expression with its count, location and error, as one line."""
    if failure.kind == PATCH:
        return (
            f"dapeer's patch `{failure.expression}` is off: {shortened(failure.error, PATCH_OFF)}"
        )
    times = "" if failure.count == 1 else f" {failure.count} times"
    place = f" at {relative(failure.path, project)}:{failure.line}" if failure.path else ""
    named = f" `{shortened(failure.expression, VALUE_CHARS)}`" if failure.expression else ""
    return f"{failure.kind}{named} failed{times}{place}: {shortened(failure.error, VALUE_CHARS)}"
