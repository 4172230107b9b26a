"""Converts an adapter's output on a failed condition or log message to an event. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from dapeer.dap.messages import Event, Request
from dapeer.mirror.failures import EVENT

KINDS = {
    "condition": "condition",
    "hit_condition": "hitCondition",
    "log_message": "logMessage",
}
"""By key of a definition: the option of a breakpoint that fails."""

OUTPUT = ("condition", "hit_condition")
"""These patterns match the whole output; a failed log message keeps its other parts: see `log_points`."""

BEGINS = "begins"
"""A pattern: output from there on is held back until the whole failure has arrived."""
MAX_HELD_CHARS = 2000
"""Characters of output that are held back at most."""


_WORD = re.compile(r"\w+")
MAX_NAMED_BREAKPOINTS = 4
"""Breakpoints that one failure may be of, which are all named."""

MAX_MATCHED_CHARS = 65_536
"""Characters of a text that patterns are tried on; an adapter and its program print in smaller pieces."""
LEGIBLE_LINE = 4096
"""Characters of a line: a pattern may take their square of steps, or worse."""


def is_legible(text: str) -> bool:
    """Return whether patterns may be tried on a text: it, and each of its lines, is not too long."""
    return len(text) <= MAX_MATCHED_CHARS and all(
        len(line) <= LEGIBLE_LINE for line in text.split("\n")
    )


def without_lines(text: str, own: str) -> str:
    """Return a text without the lines that match the pattern `own` as a whole; an empty one removes none.

    A text that is not legible comes back as it is.
    """
    if not own or not is_legible(text):
        return text
    return re.sub(rf"(?m)^[^\S\n]*(?:{own})[^\S\n]*(?:\n|\Z)", "", text)


def category_of(body: Mapping[str, Any]) -> str:
    """Return `stdout` or `stderr`, if an `output` event's body has it as category, else `console`."""
    category = body.get("category")
    return category if category in {"stdout", "stderr"} else "console"


class Sent(dict[str, list[Mapping[str, Any]]]):
    """The breakpoints sent to an adapter, by path, over all connections: one may report another's failure."""

    _entered: object = None
    """The connection whose program has stopped at its entry; children do not stop there again."""

    def claim_first_entry(self, connection: object) -> bool:
        """Return whether this connection's program is the first that stops at its entry, and remember it.

        Later calls return True for the same connection only.
        """
        self._entered = self._entered or connection
        return self._entered is connection


@dataclass(frozen=True, slots=True)
class SentOption:
    """A breakpoint with such an option that was sent."""

    path: str
    line: int
    expression: str


class Misfires:
    """Reads output by a definition's patterns: by kind, with groups for the fields of `breakpointFailed`.

    If the adapter leaves out expression or location, they are filled in when only one breakpoint fits.
    """

    def __init__(self, patterns: Mapping[str, str], sent: Sent | None = None) -> None:
        """Keep the `patterns` of a definition, by kind; `sent` has the breakpoints of all connections."""
        self._patterns = {kind: patterns[kind] for kind in OUTPUT if kind in patterns}
        self._begins = patterns.get(BEGINS, "")
        self._held: dict[str, str] = {}
        self._sent = Sent() if sent is None else sent

    def sent(self, request: Request) -> None:
        """Record the breakpoints of a file that a `setBreakpoints` request sends; ignore others."""
        if request.command == "setBreakpoints":
            path = str(request.arguments["source"].get("path"))
            self._sent[path] = list(request.arguments.get("breakpoints") or ())

    def read(self, category: str, text: str) -> tuple[str, list[Event]]:
        """Return output without reports of failed expressions, and an event for each of them.

        The possible beginning of a report is kept until the next output of the category.
        """
        events: list[Event] = []
        text = self._held.pop(category, "") + text
        if not is_legible(text):
            return text, events
        for kind, pattern in self._patterns.items():

            def take_out(found: re.Match[str], kind: str = kind) -> str:
                events.append(self._event(kind, found.groupdict()))
                return ""

            text = re.sub(pattern, take_out, text, flags=re.MULTILINE)
        start = re.search(self._begins, text, re.MULTILINE) if self._begins else None
        if start and len(text) - start.start() < MAX_HELD_CHARS:
            self._held[category], text = text[start.start() :], text[: start.start()]
        return text, events

    def held(self) -> Iterator[Event]:
        """Yield the output that was kept back, when nothing follows it, as events; it is kept no longer."""
        for category, text in self._held.items():
            yield Event("output", {"category": category, "output": text})
        self._held = {}

    def _event(self, kind: str, groups: Mapping[str, str | None]) -> Event:
        """Return the event for a failure that a pattern of this kind has found; `groups` are the pattern's.

        Expression and location are of the one breakpoint that it may be of; several are named in the error.
        """
        error = error_of(groups)
        meant = self._meant(kind, groups, error)
        if not meant and (messages := self._meant("log_message", groups, error)):
            # js-debug compiles a log message to a condition; what is sent has marks of ours.
            kind, meant = "log_message", [replace(each, expression="") for each in messages]
        one = meant[0] if len(meant) == 1 else SentOption("", 0, groups.get("expression") or "")
        if 1 < len(meant) <= MAX_NAMED_BREAKPOINTS:
            error += (
                f" (at {' or '.join(f'{PurePath(each.path).name}:{each.line}' for each in meant)})"
            )
        body = {
            "kind": kind.replace("_", " "),
            "expression": one.expression,
            "path": one.path,
            "line": one.line,
            "error": error,
        }
        return Event(EVENT, body)

    def _meant(self, kind: str, groups: Mapping[str, str | None], error: str) -> list[SentOption]:
        """Return the breakpoints that a failure may be of: by expression, then line, then words in it.

        A line or words that no breakpoint fits are ignored. The result is empty if none has the expression.
        """
        expression, line = groups.get("expression") or None, groups.get("line")
        meant = [each for each in self._options_sent(kind) if expression in {None, each.expression}]
        if line is not None:
            meant = [each for each in meant if each.line == int(line)] or meant
        # An error often names its expression.
        named = set(_WORD.findall(error))
        return [e for e in meant if not named.isdisjoint(_WORD.findall(e.expression))] or meant

    def _options_sent(self, kind: str) -> Iterator[SentOption]:
        """Yield the breakpoints that were sent with the option of this kind, such as a condition."""
        for path, breakpoints in self._sent.items():
            for each in breakpoints:
                if KINDS[kind] in each:
                    yield SentOption(path, int(each["line"]), str(each[KINDS[kind]]))


def error_of(groups: Mapping[str, str | None]) -> str:
    """Return the error in the groups `error` or `reason` of a pattern, with its white space reduced.

    The result is empty if the pattern has neither group.
    """
    return " ".join((groups.get("error") or groups.get("reason") or "").split())
