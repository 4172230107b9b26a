"""Calls as lines of text: what each was given, gave back and changed, and the life of one. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dapeer.base.sources import line_text
from dapeer.base.text.fitting import MAX_READ_CHARS, fitted, parse_brackets
from dapeer.collecting.rows.collected import OF_CALLS
from dapeer.collecting.rows.table import FAILED, CollectedRow, Table
from dapeer.collecting.text.columns import kind

# What repeats in a sequence, so that it need be told once only. Pure.

MAX_PERIOD_ELEMENTS = 12
"""Elements of what repeats, at most."""


class RepeatedPart(NamedTuple):
    """A part of a sequence: `period` elements from `start` on, so many `times`."""

    start: int
    period: int
    times: int

    @property
    def end(self) -> int:
        """The index behind the last element of the part."""
        return self.start + self.period * self.times


def repeats(sequence: Sequence[int]) -> Iterator[RepeatedPart]:
    """Yield the parts of a sequence in order, without gaps, as (start, period, times).

    In a part the `period` elements from the index `start` on stand `times` times in a row. At each place the
    repetition that reaches furthest is taken, of those that reach equally far the one with the shortest period;
    a period has at most `MAX_PERIOD_ELEMENTS` elements. An element that does not repeat is a part (start, 1,
    1).

    >>> [tuple(each) for each in repeats([7, 1, 2, 1, 2, 1, 2, 5, 5, 5])]
    [(0, 1, 1), (1, 2, 3), (7, 1, 3)]
    """
    start = 0
    while start < len(sequence):
        found = max(
            (_part_at(sequence, start, period) for period in range(1, MAX_PERIOD_ELEMENTS + 1)),
            key=lambda each: (each.end if each.times > 1 else 0, -each.period),
        )
        found = found if found.times > 1 else RepeatedPart(start, 1, 1)
        yield found
        start = found.end


def _part_at(sequence: Sequence[int], start: int, period: int) -> RepeatedPart:
    """Return the `period` elements from `start` on as a part, with how often they follow each other.

    `times` counts the first occurrence, too: it is 1 if the elements do not repeat. Near the end, `period`
    may be more than is left of the sequence; `times` is 1 then. `start` must be an index of the sequence, and
    `period` at least 1.
    """
    first = sequence[start]
    if start + period >= len(sequence) or sequence[start + period] != first:
        return RepeatedPart(start, period, 1)
    pattern = sequence[start : start + period]
    times = 1
    at = start + period
    while sequence[at : at + period] == pattern:
        times += 1
        at += period
    return RepeatedPart(start, period, times)


FUNCTION, DEPTH, TOOK, ARGUMENTS, RESULT, CHANGED, WITHIN = range(len(OF_CALLS))
MAX_ARGUMENTS_CHARS = 100
"""Characters of arguments, and of what was changed."""
RESULT_CHARS = 60
"""Characters of a result."""
MAX_VALUES = 4
"""Values of an argument that are told of calls that are alike but for it."""
LEFT_OUT = "…, …"
"""In a value that is cut inside."""
MAX_DIFFERENT_CHARS = 24
"""Characters of each of them."""
MIN_ARGUMENT_CHARS = 14
"""Characters of an argument at least."""
MIN_SHOWN_NANOSECONDS = 1_000_000
"""Nanoseconds from which on it is told how long a call has taken."""


def nanoseconds(text: str) -> int:
    """Return the nanoseconds in a field such as "1500e-9"; 0 if a process has spoilt what it wrote.

    >>> nanoseconds("1500e-9"), nanoseconds("x")
    (1500, 0)
    """
    digits = text.removesuffix("e-9")
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def duration(ns: float) -> str:
    """Return a time in nanoseconds as text, in ms or s.

    >>> duration(1_500_000), duration(2e9)
    ('1.5 ms', '2 s')
    """
    return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms"


@dataclass(frozen=True, slots=True)
class CallLines:
    """Writes the calls of a table."""

    table: Table
    expressions: Sequence[str]

    def function(self, index: int) -> str:
        """Return the name of the function of the call in row `index`."""
        return self.table.cells[FUNCTION][index]

    def depth(self, index: int) -> int:
        """Return how many collected calls are around the call in row `index`."""
        text = self.table.cells[DEPTH][index]
        return int(text) if text.isascii() and text.isdigit() else 0

    def took(self, index: int) -> int:
        """Return how many nanoseconds the call in row `index` has taken."""
        return nanoseconds(self.table.cells[TOOK][index])

    def has_changed(self, index: int) -> bool:
        """Return whether the call in row `index` has changed one of its arguments."""
        return bool(self.table.cells[CHANGED][index])

    def outcome(self, index: int) -> str:
        """Return the kind of the result of the call in row `index`, as `kinds.kind` names it."""
        return kind(self.table.cells[RESULT][index])

    def line(self, index: int, around: str | None = None) -> str:
        """Return the call in row `index` as a line: number, function, arguments, result, changes, caller.

        `around` is the function of the call that it is within. The caller is named unless it is that function, or `around` is empty.
        """
        cells = [column[index] for column in self.table.cells]
        text = call_text(cells, self.expressions, timed=self.took(index) >= MIN_SHOWN_NANOSECONDS)
        return f"#{self.table.hits[index]} {text}{self._caller_text(index, around)}"

    def within(self, index: int) -> str:
        """Return the number of the call around the call in row `index`, as text; empty: none, or not known."""
        return self.table.cells[WITHIN][index]

    def lane(self, index: int) -> tuple[str, str]:
        """Return thread and task of the call in row `index`."""
        return self.table.threads[index], self.table.tasks[index]

    def recursion_line(self, calls: Sequence[int]) -> str:
        """Return a recursion as one line: hits, functions, arguments, results and the number of calls.

        `calls` are the indices of the calls' rows in `table`, at least one, each call within the one before.
        Hits, arguments and results are those of the first and the last call; if either of these has raised, only
        what the first returned or raised is told.
        """
        first, last = calls[0], calls[-1]
        names = dict.fromkeys(map(self.function, calls))
        given = [
            dict(map(_parted, arguments(self.table.cells[ARGUMENTS][each])))
            for each in (first, last)
        ]
        values = ", ".join(
            f"{name}={_first_and_last(text, given[1].get(name, text))}"
            for name, text in given[0].items()
        )
        results = [self.table.cells[RESULT][each] for each in (first, last)]
        fails = [each.startswith(FAILED) for each in results]
        gives = gave(results[0]) if any(fails) else f" → {_first_and_last(*results)}"
        hits = f"#{self.table.hits[first]}…{self.table.hits[last]}"
        text = f"{', '.join(names)}({fitted(values, MAX_ARGUMENTS_CHARS)})"
        return f"{hits} {text}{gives}, each within the one before ({len(calls):,})"

    def differing_arguments(self, indices: Sequence[int]) -> str:
        """Return the names of arguments that differ among calls, with some of their values.

        The text is such as `n=2, 3, key`, where the names without values come last. Empty: none differs. `indices` are the
        calls' rows, at least one, all of one function. The values are those from the second call on, and are left out if
        they would not show the difference.
        """
        differences: dict[str, str] = {}
        for name, texts in self.different(indices).items():
            several = _join_different(texts[1:])
            # A text that is cut may not show how it differs.
            alone = len({*texts[1:]}) == 1 and several.endswith(("items)", "…)"))
            cut = not several or LEFT_OUT in several or alone
            differences[name] = name if cut else f"{name}={several}"
        return ", ".join(sorted(differences.values(), key=lambda each: each in differences))

    def different(self, indices: Sequence[int]) -> dict[str, list[str]]:
        """Return the arguments that differ among the calls `indices`: a text for each call, by name."""
        calls = [
            dict(map(_parted, arguments(self.table.cells[ARGUMENTS][each]))) for each in indices
        ]
        of = {name: [each.get(name, "") for each in calls] for name in calls[0]}
        return {name: texts for name, texts in of.items() if len(set(texts)) > 1}

    def _caller_text(self, index: int, around: str | None) -> str:
        """Return `  from CALLER` for the call in row `index`, or an empty text to leave the caller out.

        `around` is the function of the call within which the line is shown: its name is compared by the part behind the
        last dot, and a caller of this name is left out. None: no function is known, so any known caller is named; an
        empty text: no caller is named. The result is also empty if the caller is unknown.
        """
        caller = self.table.callers[index]
        if not caller or around == "":
            return ""
        name = caller.partition(" ")[0].rpartition(".")[2]
        if around is not None and around.rpartition(".")[2] == name:
            return ""
        return f"  from {caller}"


def arguments(text: str) -> list[str]:
    """Return the arguments in a cell, each as "name=value".

    A cell that is too long, or closes more brackets than it opens, gives one text.

    >>> arguments("a=[1, 2], b='x, y'"), arguments("a=:), b=1")
    (['a=[1, 2]', "b='x, y'"], ['a=:), b=1'])
    """
    if len(text) > MAX_READ_CHARS:
        return [text]
    group = parse_brackets(f"({text})").groups[0]
    return [each.text for each in group.items] if group.end == len(f"({text})") else [text]


def _parted(argument: str) -> tuple[str, str]:
    """Return name and value of an argument such as "a=1"."""
    name, _, text = argument.partition("=")
    return name, text


def _first_and_last(first: str, last: str) -> str:
    """Return the first and the last of some values as text, or one if they are equal."""
    if first == last:
        return fitted(first, MAX_DIFFERENT_CHARS)
    return f"{fitted(first, MAX_DIFFERENT_CHARS)} … {fitted(last, MAX_DIFFERENT_CHARS)}"


def _join_different(texts: Sequence[str]) -> str:
    """Return the different values among `texts`, each cut, in their order, with commas between them.

    Each is cut to `MAX_DIFFERENT_CHARS`, and those that are alike then count as one. Of more than
    `MAX_VALUES` the first ones, `…` and the last are given. Empty: there are no texts, or more than two of
    them, which are all alike once they are cut.
    """
    different = list(dict.fromkeys(fitted(each, MAX_DIFFERENT_CHARS) for each in texts))
    if len(different) < 2 < len(texts):
        # Cut, they are alike.
        return ""
    return ", ".join(
        different
        if len(different) <= MAX_VALUES
        else [*different[: MAX_VALUES - 1], "…", different[-1]]
    )


def fit_arguments(text: str, limit: int) -> str:
    """Return arguments in about `limit` characters: each is cut to its share, and short ones are whole.

    A share is at least `MIN_ARGUMENT_CHARS`, so many arguments take more than `limit`. A text that fits is
    returned as it is.

    >>> fit_arguments("conn=Conn(name='" + "x" * 90 + "', count=1), statement='SELECT a'", 60)
    "conn=Conn(name='xxxx…, count=1), statement='SELECT a'"
    """
    if len(text) <= limit:
        return text
    each = arguments(text)
    cut = list(each)
    left = limit
    for number, index in enumerate(sorted(range(len(each)), key=lambda one: len(each[one]))):
        share = max(left // (len(each) - number) - len(", "), MIN_ARGUMENT_CHARS)
        cut[index] = fitted(each[index], share)
        left -= len(cut[index]) + len(", ")
    return ", ".join(cut)


def call_text(cells: Sequence[str], expressions: Sequence[str], *, timed: bool = False) -> str:
    """Return a call as text: its function, arguments and outcome, what it changed, and further values.

    `cells` are those of a row of calls: first the columns `OF_CALLS`, then a value for each of `expressions`.
    With `timed`, how long the call took stands behind the outcome. Long parts are shortened; what it changed is
    left out if that cell is empty.

    Raises:
        ValueError: There are more or fewer values than `expressions`.
    """
    return "".join(
        [
            f"{cells[FUNCTION]}({fit_arguments(cells[ARGUMENTS], MAX_ARGUMENTS_CHARS)}){gave(cells[RESULT])}",
            f", {duration(nanoseconds(cells[TOOK]))}" if timed else "",
            f"; changes {fitted(changes(cells[ARGUMENTS], cells[CHANGED]), MAX_ARGUMENTS_CHARS)}"
            if cells[CHANGED]
            else "",
            *(
                f"; {name} = {value_of(text)}"
                for name, text in zip(expressions, cells[len(OF_CALLS) :], strict=True)
            ),
        ]
    )


def changes(arguments: str, changed: str) -> str:
    """Return what a call has changed, without the old value if that is among its arguments.

    >>> changes("n=1, seen={1}", "seen: {1} → {1, 2}")
    'seen to {1, 2}'
    """
    name, _, values = changed.partition(": ")
    given = f", {arguments}".partition(f", {name}=")[2]
    before, arrow, after = values.partition(" → ")
    return f"{name} to {after}" if arrow and given.startswith(before) else changed


def gave(result: str) -> str:
    """Return the result of a call, or the exception that it has raised, as the end of its line."""
    if result.startswith(FAILED):
        return f" raises {fitted(result[1:], RESULT_CHARS)}"
    return f" → {fitted(result, RESULT_CHARS)}"


def value_of(text: str) -> str:
    """Return the value of an expression, shortened, or its error in brackets."""
    if text.startswith(FAILED):
        return f"({fitted(text[1:].strip() or 'failed', RESULT_CHARS)})"
    return fitted(text, RESULT_CHARS) if text else "''"


# The life of one call: its executed lines with their changes; loops are folded, odd turns show.


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
        return self.line, tuple(
            (_variable_and_kind(name), kind(now)) for name, _, now in self.changes
        )

    @property
    def changed(self) -> str:
        """The changes of variables as text; empty: there are none."""
        return ", ".join(_change_text(*each) for each in self.changes)


def _variable_and_kind(name: str) -> tuple[str, str]:
    """Return the variable in a name such as `seen[3]`, and the kind of the key in it."""
    variable, _, key = name.partition("[")
    return variable, kind(key.removesuffix("]"))


def _change_text(name: str, before: str, now: str) -> str:
    """Return a change of a variable as text, by its value `before` and `now`.

    `now` is empty: the variable is gone; else `before` is empty: it is new. Both are equal: something within
    the value has changed. Each value is cut to `VALUE_CHARS`.
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

    The row's cells are file, line, and changes, a JSON list of [name, value before, value now]. If a process has
    spoilt what it wrote, the result has no changes, or 0 as its line.

    Raises:
        ValueError: The row does not have three cells.
    """
    file, line, changed = row.cells
    try:
        found: list[Any] = json.loads(changed)
        changes = [(str(name), str(before), str(now)) for name, before, now in found]
    except (ValueError, TypeError, RecursionError):
        changes = []
    number = int(line) if re.fullmatch(r"[0-9]{1,9}", line) else 0
    return LifeStep(file, number, changes)


def executed_lines(rows: Sequence[CollectedRow], call: CollectedRow | None) -> list[str]:
    """Return the executed lines of a call as text, each with its source and what it has changed.

    `rows` are the rows of the executed lines (cells: file, line, and changes as JSON), in the order of
    execution; without any the list is empty. The source is read from the files as they are now, so the call
    blocks; a line that cannot be read is shown by its number. Loops are folded. Of many lines the first and
    last ones are returned, with a few between that came once, and how many were left out. `call` is the row
    of the call; if it has raised, the last line ends with `← raises`. None: the call has not ended.
    """
    steps = [step_of_row(row) for row in rows]
    known: dict[object, int] = {}
    shapes = [known.setdefault(each.shape, len(known)) for each in steps]
    sources = _numbered_source_lines(steps)
    lines = list(_fold_loops(steps, shapes, sources))
    if lines and call is not None and call.cells[RESULT].startswith(FAILED):
        text, shape = lines[-1]
        lines[-1] = f"{text}  ← raises", shape
    return list(_first_and_last_lines(lines, Counter(shapes)))


def _numbered_source_lines(steps: Sequence[LifeStep]) -> dict[int, str]:
    """Read the source lines of the steps, and return them by line number, each with its number in front.

    A text is the number, padded to the longest one, a space, and the line without the indentation that all of them
    share, cut to `SOURCE_CHARS`. A line that cannot be read is the number alone. All steps should be in one file: of
    two files with the same number, only the last step's line is kept.
    """
    files = {each.line: each.file for each in steps}
    texts = {line: line_text(file, line).expandtabs() for line, file in files.items()}
    cut = min((len(each) - len(each.lstrip()) for each in texts.values() if each), default=0)
    wide = len(str(max(texts, default=0)))
    return {
        line: f"{line:>{wide}} {text[cut:][:SOURCE_CHARS]}".rstrip() for line, text in texts.items()
    }


def _fold_loops(
    steps: Sequence[LifeStep], shapes: Sequence[int], sources: Mapping[int, str]
) -> Iterator[tuple[str, int]]:
    """Yield the lines of the steps, each with the shape of its step (-1: of several); loops are folded.

    `shapes` has a number for each step, equal for steps that are alike; `sources` the text of each source
    line by its number. Of a loop's turns that are alike the first one is shown, then a line with the count
    of the others and the last one's changes. A turn of which the like stands above already is only counted;
    a single step outside of loops is always shown.
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
            alike = f"… {_turns_text(more, steps[start:end])} alike"
            yield alike + f"; the last: {last}" * bool(last), -1


def _align_turns(parts: Iterable[RepeatedPart], shapes: Sequence[int]) -> Iterator[RepeatedPart]:
    """Yield the parts (start, period, number of turns) so that a loop's turns begin with the same line.

    A part whose turns are unlike those of any earlier part, but like those of one if begun at a later
    step, is shifted: it begins at that step and repeats once less, and each step before and behind it
    is yielded as a part of its own, with period 1. Any other part stays as it is, and so does one that
    does not repeat. So all steps of `parts` are covered still. `shapes` has a number for each step,
    equal for steps that are alike.
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


def _turns_text(count: int, steps: Sequence[LifeStep]) -> str:
    """Return "N more turns of" and the lines of a loop."""
    lines = sorted({each.line for each in steps})
    where = f"{lines[0]}-{lines[-1]}" if len(lines) > 1 else f"{lines[0]}"
    return f"{count:,} more turn{'' if count == 1 else 's'} of {where}"


def _first_and_last_lines(
    lines: Sequence[tuple[str, int]], counts: Mapping[int, int]
) -> Iterator[str]:
    """Yield the first and last lines of a long life, and the first few between them that came once only.

    `lines` are pairs of a text and the shape of its step; `counts` says how often each shape comes. A shape
    that `counts` lacks, such as -1 for a line of several steps, does not count as having come once. In place of
    lines that were left out, one line says how many they were. At most `FIRST_LINES`, `LAST_LINES` and
    `MAX_ODD_LINES` are shown; a life that is no longer than the first two is yielded whole.
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
