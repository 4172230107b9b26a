"""The life of one call: its executed lines with their changes; loops are folded, odd turns show. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dapeer.base.sources import line_text
from dapeer.base.text.fitting import fitted
from dapeer.collecting.rows.table import FAILED, CollectedRow
from dapeer.collecting.text.call_lines import RESULT, RepeatedPart, repeats
from dapeer.collecting.text.columns import kind

FIRST_LINES, LAST_LINES = 40, 15
"""Lines that are shown of a long life, from its begin and before its end."""
MAX_ODD_LINES = 8
"""Lines between these that are shown since they came once only."""
VALUE_CHARS = 60
"""Characters of a value that has changed."""
SOURCE_CHARS = 70
"""Characters of a source line."""


@dataclass(frozen=True, slots=True)
class LifeStep:
    """A line that was executed."""

    file: str
    line: int
    changes: Sequence[tuple[str, str, str]]
    """Name, value before (empty: there was none), value now."""

    @property
    def shape(self) -> object:
        """A key that is equal for steps of one line whose changes are of the same variables and kinds."""
        return self.line, tuple((_place(name), kind(now)) for name, _, now in self.changes)

    @property
    def changed(self) -> str:
        """The changes of variables as text; empty: there are none."""
        return ", ".join(_change(*each) for each in self.changes)


def _place(name: str) -> tuple[str, str]:
    """Return the variable in a name such as `seen[3]`, and the kind of the key in it."""
    variable, _, key = name.partition("[")
    return variable, kind(key.removesuffix("]"))


def _change(name: str, before: str, now: str) -> str:
    """Return a change of a variable as text, by its value `before` and `now`.

    `now` is empty: the variable is gone; `before` is empty: it is new. Both are equal: something within the value has changed.
    """
    if not now:
        return f"{name} is gone"
    if before == now:
        return f"{name} changed within, {fitted(now, VALUE_CHARS)}"
    if before:
        return f"{name} {fitted(before, VALUE_CHARS)} → {fitted(now, VALUE_CHARS)}"
    return f"{name} = {fitted(now, VALUE_CHARS)}"


def step_of_row(row: CollectedRow) -> LifeStep:
    """Return the executed line that a row tells of.

    The row's cells are file, line and changes, the latter as JSON. If a process has spoilt what it wrote, there are no changes, or the line
    is 0.
    """
    file, line, changed = row.cells
    try:
        found: list[Any] = json.loads(changed)
        changes = [(str(name), str(before), str(now)) for name, before, now in found]
    except (ValueError, TypeError):
        changes = []
    return LifeStep(file, int(line) if line.isascii() and line.isdigit() else 0, changes)


def executed_lines(rows: Sequence[CollectedRow], call: CollectedRow | None) -> list[str]:
    """Return the executed lines of a call as text, each with its source and what it has changed.

    `rows` are in the order of execution. The source is read from the files as they are now, so it blocks. Loops are folded, and of long
    lives the first and last lines are returned, with a count of the rest. `call` is the row of the call, which says whether it has
    raised; None: it has not ended.
    """
    steps = [step_of_row(row) for row in rows]
    known: dict[object, int] = {}
    shapes = [known.setdefault(each.shape, len(known)) for each in steps]
    sources = _sources(steps)
    lines = list(_folded(steps, shapes, sources))
    if lines and call is not None and call.cells[RESULT].startswith(FAILED):
        text, shape = lines[-1]
        lines[-1] = f"{text}  ← raises", shape
    return list(_first_and_last_lines(lines, Counter(shapes)))


def _sources(steps: Sequence[LifeStep]) -> dict[int, str]:
    """Read the source lines of the steps.

    Return each with its number, by number, without common indentation.
    """
    files = {each.line: each.file for each in steps}
    texts = {line: line_text(file, line).expandtabs() for line, file in files.items()}
    cut = min((len(each) - len(each.lstrip()) for each in texts.values() if each), default=0)
    wide = len(str(max(texts, default=0)))
    return {
        line: f"{line:>{wide}} {text[cut:][:SOURCE_CHARS]}".rstrip() for line, text in texts.items()
    }


def _folded(
    steps: Sequence[LifeStep], shapes: Sequence[int], sources: Mapping[int, str]
) -> Iterator[tuple[str, int]]:
    """Yield the lines of the steps, each with the shape of its step (-1: of several); loops are folded.

    `shapes` has a number for each step, equal for steps that are alike; `sources` the text of each source line by its number. Of a loop's
    turns that are alike the first one is shown, then a line with their count and the last one's changes.
    """
    shown: set[tuple[int, ...]] = set()
    for start, period, times in _align_turns(repeats(shapes), shapes):
        turn = tuple(shapes[start : start + period])
        if turn not in shown or (times == 1 and period == 1):
            for number in range(start, start + period):
                changed = steps[number].changed
                yield sources[steps[number].line] + f"   {changed}" * bool(changed), shapes[number]
        more = times if turn in shown else times - 1
        shown.add(turn)
        if more and (times > 1 or period > 1):
            end = start + period * times
            last = ", ".join(filter(None, (each.changed for each in steps[end - period : end])))
            alike = f"… {_turns(more, steps[start:end])} alike"
            yield alike + f"; the last: {last}" * bool(last), -1


def _align_turns(parts: Iterable[RepeatedPart], shapes: Sequence[int]) -> Iterator[RepeatedPart]:
    """Yield the parts (start, period, how often it repeats) so that a loop's turns begin with one line.

    After an odd turn another line may seem to begin them. Such a part is shifted, so that its turns are like those of an earlier part; it
    then repeats once less, and each step before and behind it is yielded as a part of its own, with period 1. So all steps of `parts` are
    covered still. `shapes` has a number for each step, equal for steps that are alike.
    """
    known: set[tuple[int, ...]] = set()
    for start, period, times in parts:
        turns = [tuple(shapes[at : at + period]) for at in range(start, start + period)]
        first = next((number for number, turn in enumerate(turns) if turn in known), 0)
        if times == 1 or not first:
            known.add(turns[0])
            yield RepeatedPart(start, period, times)
            continue
        end = start + period * times
        yield from (RepeatedPart(at, 1, 1) for at in range(start, start + first))
        yield RepeatedPart(start + first, period, times - 1)
        yield from (RepeatedPart(at, 1, 1) for at in range(end - period + first, end))


def _turns(count: int, steps: Sequence[LifeStep]) -> str:
    """Return "N more turns of" and the lines of a loop."""
    lines = sorted({each.line for each in steps})
    where = f"{lines[0]}-{lines[-1]}" if len(lines) > 1 else f"{lines[0]}"
    return f"{count:,} more turn{'' if count == 1 else 's'} of {where}"


def _first_and_last_lines(
    lines: Sequence[tuple[str, int]], counts: Mapping[int, int]
) -> Iterator[str]:
    """Yield the first and the last lines of a long life, and of those between them what came once only.

    `lines` are pairs of text and shape of the step (-1: of several), `counts` has how often each shape comes. A line says how many were
    left out.
    """
    middle = range(FIRST_LINES, len(lines) - LAST_LINES)
    once = [number for number in middle if counts.get(lines[number][1]) == 1][:MAX_ODD_LINES]
    left_out = 0
    for number, (text, _) in enumerate(lines):
        if number in middle and number not in once:
            left_out += 1
            continue
        if left_out:
            yield f"… {left_out:,} more line{'' if left_out == 1 else 's'}"
            left_out = 0
        yield text
