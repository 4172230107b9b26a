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


def split_page_arguments(arguments: Json, properties: Json) -> tuple[dict[str, Any], Page]:
    """Split a call's arguments into the tool's own ones, and the page that `start` and `count` name.

    `properties` are the properties of the tool's input schema, by name: a `start` or `count` among them is an argument of the tool's own,
    and stays. Without them, or with a `count` of 0, the page is the default one: from line 0, as many lines as there is room for.

    Raises:
        ArgumentError: A `start` or `count` is not an integer of at least 0.
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


def limit_reply(reply: Reply, page: Page, *, repeats: bool, folds: bool) -> Reply:
    """Return a reply with at most `MAX_ANSWER_CHARS` of text, or the page of it that the caller asks for.

    A reply that is short enough, and of which no page is asked for, is returned unchanged. Otherwise long lines are cut; the notes (lines
    in parentheses) at the end of the text are kept below each page; a note counts the lines that are left; and lists in the reply's data
    are cut to as many elements as lines are shown.

    Args:
        reply: The whole answer of the tool.
        page: The lines that the caller asks for.
        repeats: Whether the same call can be made for the next page, since the tool changes nothing: the note then gives its `start`.
        folds: Whether rows of lines that differ in numbers only are folded into one; not done where the caller asks for a page.
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
    """Return the lines in parentheses that end an answer, in order, as many of the last as fit in `room`.

    `room` is a number of characters. Empty: the last line is no note, or does not fit.
    """
    notes: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if not line.startswith("(") or room < 0:
            break
        notes.insert(0, line)
    return notes


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line as (number of the line after it, line), numbers counted from 0."""
    yield from enumerate(lines, 1)


def _folded(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines to show as (number of the line after them, line), numbers counted from 0.

    `MIN_ALIKE` or more lines in a row that differ in numbers only become two: the first one, and one that counts the others and names the
    `start` that shows them. Empty lines are not folded.
    """
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
    """Return the first of some numbered lines that fit in `room` characters, and the number to go on with.

    The number is that of the line after the last returned one. Each of `lines` is (number of the line after it, line). At least one line is
    returned, whatever its length. Without lines the number is 0.
    """
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
    """Return a copy of a reply's data whose long lists have only the elements that belong to shown lines.

    A list that has more than `count` elements keeps `count` of them from index `start`; only lists that are direct values of `facts` are
    cut.
    """
    return {
        key: value[start : start + count] if is_array(value) and len(value) > count else value
        for key, value in facts.items()
    }
