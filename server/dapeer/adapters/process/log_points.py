"""Tells the messages of log points from other output.

Adapters send them as normal output, some through the program's own stdout, most without a location. So each
log message is sent with a marker around it, which identifies it in the output. The result is DAP's form: an
output event with `source` and `line`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dapeer.adapters.definition.quirks import category_of, error_of, is_legible
from dapeer.adapters.definition.sections import VALUE
from dapeer.base.json_types import as_array, as_object
from dapeer.collecting.rows.collected import ROW
from dapeer.collecting.rows.table import FAILED
from dapeer.dap.messages import Body, Event, Message, Request
from dapeer.dap.requested_breakpoints import Place, spot_of
from dapeer.dap.transport import MessageFilter
from dapeer.mirror.breakpoint_status import LOG_POINT
from dapeer.mirror.failures import EVENT

# Rows that log points collect: expressions in a log message, and their values in what it says.

POINT = "dapeerPoint"
"""Marks output that is rows of the collection points of these numbers."""
OWN = ("collect", "maxHits", "collectedBy", "point", "others")
"""What no adapter gets of a breakpoint."""
_FALSE = frozenset({"0", "false", "False", ".FALSE.", "0x0", "0 '\\000'", "(nil)", "null"})
_WORDS = re.compile(r"<(?!nil>)([^<>]+)>")
"""A debugger's own words in place of a value, such as `<optimized out>`: it is neither true nor false."""
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", FAILED: "\\x15"})


def value_separator(mark: str) -> str:
    """Return what stands between two values."""
    return f"{mark}|"


def point_numbers(requested: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the collection points of a breakpoint, its `others` included.

    The result is empty for a breakpoint that does not collect.
    """
    return tuple(int(each["point"]) for each in _with_others(requested) if each.get("point"))


def as_log_point(
    requested: Mapping[str, Any], mark: str, value: str, *, conditions: bool
) -> dict[str, Any]:
    """Return a breakpoint that collects as one that logs: its expressions become a `logMessage`.

    `requested` is the breakpoint in DAP's terms, with the expressions as `collect` and other keys of dapeer's
    own; these are left out of the result. `requested` itself stays unchanged. `value` is the form of an
    expression in a log message, with `${expression}` in its place. `mark` and a sign separate the values, and
    the rows of several clients that collect there (`others`). If `conditions` is False (the adapter does not
    heed them at log points), or if there are `others`, the result has no `condition`: its value comes first
    in each client's part of the message instead.
    """
    whole = conditions and not requested.get("others")
    message = row_separator(mark).join(
        _message(each, mark, value, whole=whole) for each in _with_others(requested)
    )
    own = OWN if whole else (*OWN, "condition")
    return {key: value for key, value in requested.items() if key not in own} | {
        "logMessage": message
    }


def _with_others(requested: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a breakpoint and its `others`: those of other clients that collect at the same place."""
    return [requested, *(requested.get("others") or ())]


def _message(requested: Mapping[str, Any], mark: str, value: str, *, whole: bool) -> str:
    """Return the part of the log message for one client's expressions.

    Its condition's value comes first, unless `whole`: then the adapter heeds the condition.
    """
    message = value_separator(mark).join(
        value.replace("${expression}", each) for each in requested["collect"]
    )
    return message if whole else with_condition(requested, mark, message)


def with_condition(point: Mapping[str, Any], mark: str, message: str) -> str:
    """Return a message with the condition of its breakpoint as the first value, if it has one."""
    if "condition" not in point:
        return message
    return f"{{{point['condition']}}}{condition_separator(mark)}{message}"


def as_rows(
    numbers: Sequence[int], text: str, mark: str, error_pattern: re.Pattern[str] | None
) -> Iterator[Event]:
    """Yield an event for each row whose condition holds, and for each condition that is an error.

    A row is what a collection point has recorded at one hit; one without a condition is always yielded.
    `numbers` are those of the collection points, in the order of their parts in `text`, which the log point
    has printed; parts without a number, and numbers without a part, are left out. `mark` is the secret in
    the log point's separators. `error_pattern` is the pattern of the debugger's errors in place of a value;
    None: it has none. A row is an `output` event whose body has under `ROW` an object of `point`, the
    number, and `cells`, the values as escaped text, an error after `FAILED`; an error is an event of
    `failures.EVENT` with `error`.
    """
    parts = text.removesuffix("\n").split(row_separator(mark))
    for point, part in zip(numbers, parts, strict=False):
        condition, decided, values = part.rpartition(condition_separator(mark))
        if error := condition_error(condition, error_pattern) if decided else "":
            yield Event(EVENT, {"error": error})
        elif not decided or is_true(condition):
            cells = [_cell(each, error_pattern) for each in values.split(value_separator(mark))]
            yield Event("output", {ROW: {"point": point, "cells": cells}})


def condition_error(condition: str, error_pattern: re.Pattern[str] | None) -> str:
    """Return why a condition has no value, by what is shown in place of it; empty: it has one."""
    words = _WORDS.fullmatch(condition.strip())
    return failure_text(condition, error_pattern) or (words[1] if words else "")


def is_true(condition: str) -> bool:
    """Whether a condition holds, by how its value is shown."""
    return condition.strip() not in _FALSE


def row_separator(mark: str) -> str:
    """Return what stands between the rows of two collection points."""
    return f"{mark};"


def condition_separator(mark: str) -> str:
    """Return what stands behind a condition."""
    return f"{mark}?"


def _cell(text: str, error_pattern: re.Pattern[str] | None) -> str:
    """Return a value as a cell of a row: escaped, and after `FAILED` if it is an error."""
    text = text.removesuffix("\r")
    error = failure_text(text, error_pattern)
    return f"{FAILED}{error.translate(_ESCAPES)}" if error else text.translate(_ESCAPES)


def failure_text(text: str, failed: re.Pattern[str] | None) -> str:
    """Return the error that stands in place of a value, by the pattern `failed`; empty: it is a value."""
    found = failed.search(text) if failed is not None and is_legible(text) else None
    return "" if found is None else error_of(found.groupdict())


_SETS = frozenset({"setBreakpoints", "setFunctionBreakpoints"})
_SPEAKS = frozenset({"logMessage", "collect"})
MAX_HELD_CHARS = 65_536
"""Characters of a message whose end is awaited."""
MAX_NUMBER_DIGITS = 8
"""Digits of a log point's number, at most."""


@dataclass(slots=True)
class _UnheededOptions:
    """What an adapter does not heed where a breakpoint prints."""

    hits: str
    """The hit condition."""
    passing: int
    """How many hits are still to pass."""
    condition: str = ""


class LogPoints:
    """The log points of one program, with a mark of their own, which no program prints by chance."""

    def __init__(self, failed: str = "", *, conditions: bool = True, value: str = VALUE) -> None:
        """Begin with a new secret mark, and without log points.

        `failed` is a pattern of the text that the adapter prints for an expression that failed; empty: none is known.
        `conditions`: the adapter heeds conditions where a breakpoint prints. `value` is the form of an expression in a log
        message, with a placeholder for the expression that is collected.
        """
        self._value = value
        self._conditions = conditions
        self.mark = f"@{secrets.token_hex(2)}"
        self._failure_pattern = re.compile(failed, re.MULTILINE) if failed else None
        self._places: list[tuple[Place, tuple[int, ...]]] = []
        """Place, and the numbers of its collection points."""
        self._unheeded_options: dict[Place, _UnheededOptions] = {}

    @property
    def has_had_any(self) -> bool:
        """Whether the program has ever had a log point."""
        return bool(self._places)

    def with_marks(self, request: Request) -> Request:
        """Return a request for the adapter, with marks around the log messages of its breakpoints.

        In `setBreakpoints` and `setFunctionBreakpoints`, breakpoints that collect become log points. Each log
        point gets a number in its mark, and its place is kept, which `location_of` returns for the number.
        Where the adapter heeds no conditions of log points, `condition` and, if it does not collect, a
        `hitCondition` that is a plain number are left out of the result, and applied by dapeer. Any other request, or
        one without log points, comes back as it is; `request` is never changed.
        """
        requested = as_array(request.arguments.get("breakpoints"))
        if request.command not in _SETS or not any(map(_SPEAKS.intersection, requested)):
            return request
        path = str(as_object(request.arguments.get("source")).get("path"))
        sent = [
            self._with_mark(path, each) if _SPEAKS & each.keys() else each for each in requested
        ]
        return replace(request, arguments={**request.arguments, "breakpoints": sent})

    def _with_mark(self, path: str, requested: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of a log point whose message has marks and a number; its place is kept by the number.

        The message begins with a mark and the number, and ends with a mark; the same place and collection
        points have the same number. `path` is the source file, `requested` the breakpoint in DAP's terms, with
        a `logMessage` or `collect`; one that collects becomes one that logs. Where the adapter does not heed
        conditions, the copy has no `condition` nor, unless it collects, a `hitCondition` that is a plain
        number: dapeer applies what is left out. Where several clients collect, `condition` is left out in any
        case.
        """
        place = (path, *spot_of(requested)), point_numbers(requested)
        if "collect" in requested:
            requested = as_log_point(requested, self.mark, self._value, conditions=self._conditions)
        if place not in self._places:
            self._places.append(place)
        number = self._places.index(place)
        if not self._conditions and not place[1]:
            requested = self._without_unheeded_options(place[0], requested)
        return {
            **requested,
            "logMessage": f"{self.mark}.{number}@{requested['logMessage']}{self.mark}@",
        }

    def _without_unheeded_options(self, place: Place, point: dict[str, Any]) -> dict[str, Any]:
        """Return a log point without the conditions that the adapter would not heed; keep them by place.

        `point` is the log point in DAP's terms, and stays unchanged. If it has a `condition`, the message of the
        copy begins with its value, by which dapeer decides whether to print. A `hitCondition` that is a plain number
        is left out, and dapeer counts the hits itself, to print from that hit on; any other stays in the copy for
        the adapter. The conditions are kept by `place`; a count that has begun there goes on unless the
        `hitCondition` has changed.
        """
        own = {"condition"}
        hits = str(point.get("hitCondition") or "").strip()
        if hits.isdecimal():
            own.add("hitCondition")
        if place not in self._unheeded_options or self._unheeded_options[place].hits != hits:
            self._unheeded_options[place] = _UnheededOptions(
                hits, int(hits) - 1 if hits.isdecimal() else 0
            )
        self._unheeded_options[place].condition = str(point.get("condition") or "")
        message = with_condition(point, self.mark, str(point["logMessage"]))
        rest = {key: value for key, value in point.items() if key not in own}
        return {**rest, "logMessage": message}

    def location_of(self, number: int) -> Body:
        """Return what to add to the body of an output event that a log point has caused.

        `number` is the log point's, from the marks around its message; the result is empty if no log point has
        that number. Its keys are `source` (with `path`), `line`, `LOG_POINT` (True), `column` if the log point has
        one, and `POINT`, the numbers of its collection points, if it has any.
        """
        if number >= len(self._places):
            return {}
        (path, line, column), points = self._places[number]
        location = {"source": {"path": path}, "line": line, LOG_POINT: True}
        if column:
            location["column"] = column
        return {**location, POINT: points} if points else location

    def events_of(self, body: Body) -> Iterator[Event]:
        """Yield the events for an output event's body: the output itself, collected rows, and failures.

        `body` is that of an `output` event, as `LogPointReader` yields it; output of no log point becomes an
        event unchanged. A row is an `output` event whose body has `ROW`, an object of `point` and `cells`; an
        expression that failed in it is a cell that begins with `FAILED`. The message of a log point that does
        not collect is an `output` event, without the value of the condition, and with the error in braces in
        place of an expression that failed; an event of `failures.EVENT` follows for each of these. A condition
        that failed yields only such an event. A log point whose condition does not hold yields nothing; nor
        does one that has hits to pass, which this counts down, so each body is given once.
        """
        text = str(body.get("output") or "")
        if points := body.get(POINT):
            for each in as_rows(points, text, self.mark, self._failure_pattern):
                failed = each.event == EVENT
                yield self._failure("condition", "", body, each.body["error"]) if failed else each
        elif body.get(LOG_POINT):
            yield from self._message(body, text)
        else:
            yield Event("output", body)

    def _message(self, body: Body, text: str) -> Iterator[Event]:
        """Yield the `output` event of a log point's message, if it is to be printed, and events of failures.

        Nothing is yielded if the condition is false, or if the hit is one of those to be passed, which is counted
        down here. If the condition fails, only an event that says so is yielded. Conditions and hits are looked
        at only where dapeer does that in place of the adapter. In the text, an expression that failed is replaced
        by its error in braces; an event for each such failure follows the message's. `body` is that of an
        `output` event with the log point's location (`source` and `line`). `text` is the output in it, maybe with
        the condition's value in front.
        """
        heeded = self._unheeded_options.get((body["source"]["path"], *spot_of(body)))
        condition, decided, rest = text.partition(condition_separator(self.mark))
        if heeded is not None and decided:
            if error := condition_error(condition, self._failure_pattern):
                yield self._failure("condition", heeded.condition, body, error)
                return
            if not is_true(condition):
                return
            text = rest
        if heeded is not None and heeded.passing:
            heeded.passing -= 1
            return
        events: list[Event] = []

        def replaced(found: re.Match[str]) -> str:
            """Record the failure of an expression, and return the text in place of it."""
            groups = found.groupdict()
            error, expression = error_of(groups), groups.get("expression") or ""
            events.append(self._failure("log message", expression, body, error))
            return f"{{{error}}}"

        if self._failure_pattern is not None and is_legible(text):
            text = self._failure_pattern.sub(replaced, text)
        yield Event("output", {**body, "output": text})
        yield from events

    @staticmethod
    def _failure(kind: str, expression: str, body: Body, error: str) -> Event:
        """Return the event for a failed expression of the log point that `body` names; `kind` is what it was."""
        place = {"path": body["source"]["path"], "line": body["line"]}
        return Event(EVENT, {"kind": kind, "expression": expression, **place, "error": error})


class LogPointReader:
    """Finds messages of log points in one stream of output; the possible start of one is held back."""

    def __init__(self, points: LogPoints) -> None:
        self._points = points
        self._begin = re.compile(rf"{points.mark}\.(\d{{1,{MAX_NUMBER_DIGITS}}})@")
        self._end_mark = f"{points.mark}@"
        self._unfinished_output: dict[str, str] = {}
        self._categories_after_message: set[str] = set()
        """Categories whose last output was a message, whose line end may follow."""

    def read(self, body: Body) -> Iterator[Body]:
        """Yield the bodies that replace the body of an output event, in order.

        `body` is that event's. Each message of a log point becomes one body, without the marks around it (by which
        dapeer finds it) and with the log point's location; other output comes in between, without the line end behind a
        message. What may be the beginning of a message is kept for the next call, so there may be no body. As long as
        the program had no log point, and for an empty output, `body` itself is yielded. Where the adapter names the
        location itself (`line` of `body`), output in which a message begins counts as the log point's as a whole: a log
        point that collects gives one body for each message, and what stands between them is dropped; any other gives a
        single body.
        """
        category, text = category_of(body), str(body.get("output") or "")
        found = self._begin.search(text) if body.get("line") else None
        if not self._points.has_had_any or not text:
            yield body
        elif found:
            # The adapter names the location itself, for all of it.
            place = self._points.location_of(int(found[1]))
            rest = self._begin.split(text)[2::2] if POINT in place else ()
            for message in rest:
                yield {**body, "output": message.partition(self._end_mark)[0], **place}
            if not rest:
                text = self._begin.sub("", text).replace(self._end_mark, "")
                yield {**body, "output": text, **place}
        else:
            for part, place in self._parts(category, text):
                yield {**body, "output": part, **place}

    def listener(self, printed: Callable[[Body], None]) -> Callable[[str], None]:
        """Return a function that takes a terminal's text and calls `printed` with bodies of output events."""

        def listen(text: str) -> None:
            for body in self.read({"category": "stdout", "output": text}):
                printed(body)

        return listen

    def take_held(self) -> Iterator[Body]:
        """Yield bodies of the output that was held back, when nothing follows it; it is held no longer."""
        for category, text in self._unfinished_output.items():
            yield {"category": category, "output": text}
        self._unfinished_output = {}

    def _parts(self, category: str, text: str) -> Iterator[tuple[str, Body]]:
        """Yield the output of a category in parts: each a text, and where the log point is that wrote it.

        The place has the keys that the log point adds to an `output` event (`source`, `line`, see `location_of`);
        it is an empty dict for other output. `category` is that of `output` events, `text` the newest output of it.
        What may be the beginning of a message stays in `_unfinished_output` until the next call, so the result has
        to be read to its end.
        """
        text, at = (
            self._unfinished_output.pop(category, "") + self._past_line_end(category, text),
            0,
        )
        while (start := self._begin.search(text, at)) is not None:
            if start.start() > at:
                yield text[at : start.start()], {}
            at = start.start()
            end = text.find(self._end_mark, start.end())
            if end < 0:
                break
            yield text[start.end() : end], self._points.location_of(int(start[1]))
            self._categories_after_message.add(category)
            text, at = self._past_line_end(category, text[end + len(self._end_mark) :]), 0
        rest = text[at:]
        whole = len(rest) - self._unfinished(rest)
        if rest[whole:]:
            self._unfinished_output[category] = rest[whole:]
        if rest[:whole]:
            yield rest[:whole], {}

    def _past_line_end(self, category: str, text: str) -> str:
        """Return `text` without the line end with which it begins, if it follows a log point's message.

        It does if the last output of this `category` was such a message, which is forgotten once anything but a CR has followed it: a CR
        and its LF may come in two texts.
        """
        if category not in self._categories_after_message or not text:
            return text
        rest = text.removeprefix("\r")
        if rest:
            self._categories_after_message.discard(category)
        return rest.removeprefix("\n")

    def _unfinished(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a log point's message.

        0: none. A mark with its number is looked for only where `text` begins; else an unfinished mark or
        number from the last `@` on counts. A beginning that is longer than `MAX_HELD_CHARS`, or has more than
        `MAX_NUMBER_DIGITS` digits, counts as none.
        """
        if self._begin.match(text) and len(text) <= MAX_HELD_CHARS:
            return len(text)
        at = text.rfind("@")
        tail, mark = text[at:], f"{self._points.mark}."
        digits = tail.removeprefix(mark)
        is_started = mark.startswith(tail) or (digits != tail and digits.isdigit())
        return len(tail) if at >= 0 and is_started and len(digits) <= MAX_NUMBER_DIGITS else 0


class LogPointFilter(MessageFilter):
    """Marks log messages that the adapter is sent, and makes events of them in its output."""

    def __init__(self, points: LogPoints) -> None:
        self._points = points
        self._reader = LogPointReader(points)

    def adapt(self, message: Message) -> Message:
        """Return a message with marks around the log messages in it."""
        return self._points.with_marks(message) if isinstance(message, Request) else message

    def normalize(self, message: Message) -> Iterator[Message]:
        """Yield the events of `LogPoints.events_of` for an output event; any other message as it is."""
        if isinstance(message, Event) and message.event == "output":
            for each in self._reader.read(message.body):
                yield from self._points.events_of(each)
        else:
            yield message

    def take_held(self) -> Iterator[Message]:
        """Yield the events of the output that was held back; it is held no longer."""
        for each in self._reader.take_held():
            yield from self._points.events_of(each)
