"""The limit of all answers of debugging tools: a longer one is folded, and shown by pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, is_array
from dapeer.base.text.fitting import shortened
from dapeer.tools.base.call import Reply

MAX_ANSWER_CHARS: Final = 12_000
"""Characters of an answer; a model reads all of them."""
MAX_NOTE_CHARS: Final = 1_000
"""Characters of it that are kept for notes below it."""
MAX_LINE_CHARS: Final = 4_000
"""Characters of one line of an answer that is too long."""
MIN_ALIKE: Final = 4
"""Lines in a row, alike but for their numbers, that are folded into one."""
PAGE_ARGUMENTS: Final = ("start", "count")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


@dataclass(frozen=True, slots=True)
class Page:
    """Which lines of an answer its caller asks for: `count` of them from line `start`, counted from 0."""

    start: int = 0
    count: int | None = None
    """None: as many as there is room for."""

    @property
    def is_asked(self) -> bool:
        """Whether the caller asks for a part of the answer."""
        return self.start > 0 or self.count is not None


def taken_from(arguments: Json, properties: Json) -> tuple[dict[str, Any], Page]:
    """Return arguments without the `start` and `count` that no property is, and the page they name.

    Raises:
        ArgumentError: One of them is no number of lines.
    """
    asked = {
        name: arguments[name]
        for name in PAGE_ARGUMENTS
        if name in arguments and name not in properties
    }
    rest = {name: value for name, value in arguments.items() if name not in asked}
    for name, value in asked.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ArgumentError(f"Argument `{name}`: input should be a number of lines.")
    return rest, Page(asked.get("start", 0), asked.get("count") or None)


def limited(reply: Reply, page: Page, *, repeats: bool, folds: bool) -> Reply:
    """Return a reply of at most `MAX_ANSWER_CHARS`, or the page of it that the caller asks for.

    Args:
        reply: The answer.
        page: The lines that are asked for.
        repeats: The call can be made again for the next page: it changes nothing, and has no pages of its own.
        folds: Lines that are alike are folded.
    """
    room = MAX_ANSWER_CHARS - MAX_NOTE_CHARS
    if len(reply.text) <= room and not page.is_asked:
        return reply
    lines = [shortened(line, MAX_LINE_CHARS) for line in reply.text.split("\n")]
    below = _notes_below(lines, room // 2)
    del lines[len(lines) - len(below) :]
    room -= sum(len(each) + 1 for each in below)
    if page.is_asked:
        chosen = list(enumerate(lines))[page.start :][: page.count]
        shown, following = _fitting([(number + 1, line) for number, line in chosen], room)
        following = following or page.start
    else:
        folded = list(_folded(lines) if folds else _numbered(lines))
        shown, following = _fitting(folded, room)
    left = len(lines) - following
    notes: list[str] = []
    if left > 0:
        advice = f": start={following}" if repeats else ""
        notes.append(f"({left:,} more lines{advice})")
    facts = reply.data if reply.facts is not None else None
    return replace(
        reply,
        text="\n".join([*shown, *notes, *below]) or "No more lines.",
        facts=facts and _shortened_lists(facts, page.start, max(len(shown), 1)),
    )


def _notes_below(lines: Sequence[str], room: int) -> list[str]:
    """Return the notes that end an answer, which are shown with each page, as far as there is room."""
    notes: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if not line.startswith("(") or room < 0:
            break
        notes.insert(0, line)
    return notes


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line with the number of the next one."""
    yield from enumerate(lines, 1)


def _folded(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines, those alike but for their numbers as two, each with the number of the next one."""
    begin = 0
    while begin < len(lines):
        form, end = _NUMBER.sub("#", lines[begin]), begin + 1
        while end < len(lines) and _NUMBER.sub("#", lines[end]) == form:
            end += 1
        alike = end - begin
        if alike < MIN_ALIKE or not lines[begin].strip():
            yield from ((number + 1, lines[number]) for number in range(begin, end))
        else:
            yield begin + 1, lines[begin]
            yield end, f"  … and {alike - 1:,} lines like it (start={begin + 1})"
        begin = end


def _fitting(lines: Sequence[tuple[int, str]], room: int) -> tuple[list[str], int]:
    """Return the first lines for which there is room, and the number of the line after them."""
    shown: list[str] = []
    following = 0
    for number, line in lines:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
        following = number
    return shown, following


def _shortened_lists(facts: Json, start: int, count: int) -> Mapping[str, Any]:
    """Return data whose lists have no more elements than the text has lines."""
    return {
        key: value[start : start + count] if is_array(value) and len(value) > count else value
        for key, value in facts.items()
    }
