"""Peculiarities of adapters, as definitions name them; `process/normalizer` evens them out. Pure."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

from dapeer.adapters.definition.table import DefinitionTable, Regex
from dapeer.base.json_types import as_object
from dapeer.dap.messages import Event, Request
from dapeer.dap.requests import NEEDS, OPTIONS
from dapeer.mirror.failures import EVENT

# Converts an adapter's output on a failed condition or log message to an event. Pure.

KINDS = {
    "condition": "condition",
    "hit_condition": "hitCondition",
    "log_message": "logMessage",
}
"""By key of a definition: the option of a breakpoint that fails."""

OUTPUT = ("condition", "hit_condition")
"""These patterns match the whole output; a failed log message keeps its other parts: see `LogPoints`."""

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


def without_lines(text: str, pattern: str) -> str:
    """Return a text without the lines that match `pattern` as a whole; an empty one removes none.

    A text that is not legible comes back as it is.
    """
    if not pattern or not is_legible(text):
        return text
    return re.sub(rf"(?m)^[^\S\n]*(?:{pattern})[^\S\n]*(?:\n|\Z)", "", text)


def category_of(body: Mapping[str, Any]) -> str:
    """Return `stdout` or `stderr`, if an `output` event's body has it as category, else `console`."""
    category = body.get("category")
    return category if category in {"stdout", "stderr"} else "console"


class SentBreakpoints(dict[str, list[Mapping[str, Any]]]):
    """The breakpoints sent to an adapter, by path, over all connections: one may report another's failure."""

    _entry_connection: object = None
    """The connection whose program has stopped at its entry; children do not stop there again."""

    def claim_first_entry(self, connection: object) -> bool:
        """Return whether this connection's program is the first that stops at its entry, and remember it.

        Later calls return True for the same connection only.
        """
        self._entry_connection = self._entry_connection or connection
        return self._entry_connection is connection


@dataclass(frozen=True, slots=True)
class SentOption:
    """A breakpoint with such an option that was sent."""

    path: str
    line: int
    expression: str


class FailedBreakpointReader:
    """Reads output by a definition's patterns: by kind, with groups for the fields of `breakpointFailed`.

    If the adapter leaves out expression or location, they are filled in when only one breakpoint fits.
    """

    def __init__(self, patterns: Mapping[str, str], sent: SentBreakpoints | None = None) -> None:
        """Keep the `patterns` of a definition, by kind; `sent` has the breakpoints of all connections."""
        self._patterns = {kind: patterns[kind] for kind in OUTPUT if kind in patterns}
        self._begins = patterns.get(BEGINS, "")
        self._unfinished_output: dict[str, str] = {}
        self._sent_breakpoints = SentBreakpoints() if sent is None else sent

    def record_sent(self, request: Request) -> None:
        """Record the breakpoints of a file that a `setBreakpoints` request sends; ignore others."""
        if request.command == "setBreakpoints":
            path = str(as_object(request.arguments.get("source")).get("path"))
            self._sent_breakpoints[path] = list(request.arguments.get("breakpoints") or ())

    def read(self, category: str, text: str) -> tuple[str, list[Event]]:
        """Return output without reports of failed expressions, and an event for each of them.

        `category` and `text` are those of an `output` event. From the possible beginning of a report on, output
        of less than `MAX_HELD_CHARS` characters is kept, and precedes the next output of its category; after
        the last output the caller gets the kept text by `take_held`. Text that is too long for patterns
        (`is_legible`) is returned with what was kept, without events. The events are dapeer's own, of `EVENT`.
        """
        events: list[Event] = []
        text = self._unfinished_output.pop(category, "") + text
        if not is_legible(text):
            return text, events
        for kind, pattern in self._patterns.items():

            def take_out(found: re.Match[str], kind: str = kind) -> str:
                events.append(self._event(kind, found.groupdict()))
                return ""

            text = re.sub(pattern, take_out, text, flags=re.MULTILINE)
        start = re.search(self._begins, text, re.MULTILINE) if self._begins else None
        if start and len(text) - start.start() < MAX_HELD_CHARS:
            self._unfinished_output[category], text = text[start.start() :], text[: start.start()]
        return text, events

    def take_held(self) -> Iterator[Event]:
        """Yield the output that was kept back, when nothing follows it, as events; it is kept no longer."""
        for category, text in self._unfinished_output.items():
            yield Event("output", {"category": category, "output": text})
        self._unfinished_output = {}

    def _event(self, kind: str, groups: Mapping[str, str | None]) -> Event:
        """Return the event `breakpointFailed` for a failure that a pattern of this kind has found.

        `kind` is the pattern's key in the definition; `groups` are the pattern's named groups. The event's body has
        `kind` (in words: `log message`), `error` (that of the pattern) and `expression`, `path` and `line` of the one
        breakpoint that the failure may be of. If several or none fit, the path is empty, the line 0, and the expression
        that of the pattern, or empty; `error` names the breakpoints if they are two to `MAX_NAMED_BREAKPOINTS`. If no
        breakpoint with such an option fits, but log messages do, it is reported as one of a log message, since
        js-debug compiles log messages to conditions; the expression of the one breakpoint is then empty.
        """
        error = error_of(groups)
        meant = self._failed_breakpoints(kind, groups, error)
        if not meant and (messages := self._failed_breakpoints("log_message", groups, error)):
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

    def _failed_breakpoints(
        self, kind: str, groups: Mapping[str, str | None], error: str
    ) -> list[SentOption]:
        """Return the breakpoints that a failure may be of: by expression, then line, then words of the error.

        `kind` is a key of the definition (`condition`, `hit_condition`, `log_message`): only breakpoints that were sent
        with that option count. `groups` are those of its pattern, of which `expression` (None or empty: any) and `line` are
        used; `error` is the text of the error, whose words are looked for in the breakpoints' expressions. A line or words
        that no breakpoint fits are ignored. The result is empty if none has the expression.
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
        for path, breakpoints in self._sent_breakpoints.items():
            for each in breakpoints:
                if KINDS[kind] in each:
                    yield SentOption(path, int(each["line"]), str(each[KINDS[kind]]))


def error_of(groups: Mapping[str, str | None]) -> str:
    """Return the error in the groups `error` or `reason` of a pattern, with its white space reduced.

    The result is empty if the pattern has neither group.
    """
    return " ".join((groups.get("error") or groups.get("reason") or "").split())


ExitCode: TypeAlias = Literal["plain", "256-signal", "signal"]


ANY_FILE = "*"


@dataclass(frozen=True, slots=True)
class Quirks:
    """The `[quirks]` table of a definition."""

    exit_code: ExitCode = "plain"
    """How `exited.exitCode` encodes a deadly signal: not at all, as 256 - signal, or as the signal."""
    exit_code_in_output: Regex = ""
    """A regular expression: output whose first group is the exit code, if `exited` is missing."""
    also_runs: tuple[str, ...] = ()
    """Keys of its launch that say what runs, where there is no program."""
    added: tuple[str, ...] = ()
    """Keys of its launch whose lists a variant, and the caller's configuration, add to."""
    detach_launched: bool = True
    """False: a launched program cannot be left running; `disconnect` would hang."""
    killed_first: Literal["", "program", "adapter"] = ""
    """What is killed when a program that is stopped is to end, for the adapter would let it run on: the
    program, or the adapter, in whose process it runs."""
    detach_signal: Literal["", "SIGINT", "SIGTERM", "SIGHUP"] = ""
    """The signal that makes it detach where the end of its input does not.

    It may wait for a call in the program. Empty: the end of its input always does.
    """
    launch_request: Literal["launch", "attach"] = "launch"
    """The request of a launch: `attach` if the adapter's command has already started the program."""
    skip_first_stop: str = ""
    """The reason of an unrequested stop before the first line."""
    pause_reads: Regex = ""
    """A regular expression: the description of an `exception` that is the answer to a pause."""
    write_reads: Regex = ""
    """A regular expression: the description of a `breakpoint` that is a data breakpoint."""
    unasked_step: str = ""
    """The real reason of a `step` that no client has requested: `exception`."""
    keeps_step: bool = False
    """An interrupted step goes on at `continue`, and no other step can begin before."""
    screen: bool = False
    """A program in a terminal may draw on it.

    To others it is a plain one, where Node.js and others would edit what is typed by line themselves.
    """
    terminal_output: bool = False
    """The program's output has passed a terminal, which ends lines with CR LF."""
    own_words: Regex = ""
    """A regular expression: lines of output that are the adapter's, who greets, and says what its
    events say."""
    own_console: Regex = ""
    """The same, of output in the category `console` only, where a program may print such lines, too."""
    error_text: Regex = ""
    """A regular expression: a failed request's message, with a group `error` for the error in it."""
    assignment: str = ""
    """A statement of its console that assigns `${value}` to `${path}`.

    It is for an adapter whose `setVariable` does not say why it has not assigned.
    """
    value_tail: Regex = ""
    """A regular expression: the end of a value that says it once more."""
    thread_mark: Regex = ""
    """A regular expression: what stands before the name of a thread that is selected."""
    runs_meanwhile: Regex = ""
    """A regular expression: output that says that other threads run until the adapter can answer; the
    `continued` and `stopped` that tell of it are no news."""
    last_words_of_adapter: bool = False
    """Output after `terminated`, except on stdout, is the adapter's own crash report."""
    crash_report: Regex = ""
    """A regular expression: output from there on, except on stdout, is the adapter's own crash report."""
    refuses: tuple[str, ...] = ()
    """Requests, and options of requests, that it advertises, but does not know."""

    whole_values: bool = False
    """`evaluate` gives whole values where its `format` has the key `dapeerWhole`: our companion does."""
    columns: bool = False
    """It tells places of one line apart by the `column` of a breakpoint."""
    hit_conditions: Regex = ""
    """A regular expression: all of a hit condition that it understands; empty: not known."""
    empty_line: Regex = ""
    """A regular expression: a whole line without code, from which a breakpoint is to move to the next one.

    Empty: the adapter does that itself.
    """
    verifies_functions: bool = True
    """False: it calls a function breakpoint of any name verified, also where there is no such function."""
    passes_hits: bool = False
    """A number as hit condition is the hits to pass by; others stop at the hit of that number."""
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    """By part of a breakpoint: a regular expression of output that says that this part failed."""
    harmful: Mapping[str, str] = field(default_factory=dict[str, str])
    """Requests that are never sent, since they end the program or worse; each with what to do instead."""

    misread: Mapping[str, str] = field(default_factory=dict[str, str])
    """Regular expressions of what an expression may not contain; each with a sentence.

    It would mean something of the adapter's own.
    """

    quoted: Regex = ""
    """A regular expression: expressions that the adapter would split into words; it gets them quoted."""

    private: str = ""
    """A regular expression for a member in an expression that only code of its own class can name.

    The adapter cannot compile it elsewhere, nor set it as a child of a variable.
    """
    private_inside: str = ""
    """What compiles such an expression only where the program is; `${text}` stands for it, as a text."""

    unfollowed: tuple[str, ...] = ()
    """Functions that go on in a process of its own, which the adapter does not follow.

    `*`: any file but the program's may run in one.
    """
    starts_others: Regex = ""
    """A regular expression for sources that start processes which the adapter does not follow.

    It is looked for in the source of a program, its file or its folder's.
    """

    def why_refused(self, request: Request) -> str:
        """Return why a request must not be sent to this adapter, as a sentence; empty: it may be sent.

        What must not be sent is an `evaluate` whose expression matches a pattern of those that the adapter misreads, and
        every request that the definition calls harmful. Expressions that are too long for patterns (`is_legible`) are not
        checked against them.
        """
        expression = str(request.arguments.get("expression") or "")
        if request.command == "evaluate" and is_legible(expression):
            for pattern, why in self.misread.items():
                if re.search(pattern, expression):
                    return why
        return self.harmful.get(request.command, "")

    def without_own(self, text: str) -> str:
        """Return a text of the adapter's output without the lines of `own_words` and its crash report."""
        return without_lines(self.before_crash(text), self.own_words)

    def before_crash(self, text: str) -> str:
        """Return a text of the adapter's output up to its crash report; the same object if it has none."""
        if not self.crash_report or not is_legible(text):
            return text
        found = re.search(self.crash_report, text, re.MULTILINE)
        return text[: found.start()] if found else text

    def error_in(self, message: str) -> str:
        """Return the error in the message of a failed request; the whole message where no pattern finds one."""
        if not self.error_text or not is_legible(message):
            return message
        found = re.search(self.error_text, message)
        return found["error"].strip() if found else message

    def names_private(self, expression: str) -> bool:
        """Return whether an expression names a member that only code of its own class can name."""
        return bool(self.private) and bool(re.search(self.private, expression[:LEGIBLE_LINE]))

    def compilable_expression(self, expression: str) -> str:
        """Return an expression in a form that the adapter can compile anywhere; most come back as they are.

        Only one that names a private member is changed.
        """
        before = self.private_inside.partition("${text}")[0]
        if not self.names_private(expression) or before in expression:
            return expression
        return self.private_inside.replace("${text}", json.dumps(expression))

    def detaches_at(self, request: Literal["launch", "attach"]) -> int | None:
        """Return the number of the signal that makes the adapter detach from an attached program.

        0: none does. The result is None for a launch: the adapter ends its program.
        """
        if request == "launch":
            return None
        return signal.Signals[self.detach_signal] if self.detach_signal else 0

    @property
    def program_inside(self) -> bool:
        """Whether the program runs in the adapter's own process."""
        return self.killed_first == "adapter"

    @property
    def changes_messages(self) -> bool:
        """Whether a quirk is set for which the `Normalizer` changes messages to or from the adapter.

        Quirks that only say how dapeer starts, steps or ends do not count.
        """
        return bool(
            self.exit_code_in_output
            or self.skip_first_stop
            or self.pause_reads
            or self.write_reads
            or self.unasked_step
            or self.terminal_output
            or self.own_words
            or self.own_console
            or self.error_text
            or self.value_tail
            or self.thread_mark
            or self.runs_meanwhile
            or self.last_words_of_adapter
            or self.crash_report
            or self.refuses
            or self.passes_hits
            or self.private
            or self.failed
            or self.harmful
            or self.misread
            or self.quoted
            or not self.verifies_functions
        )

    stack_levels: int = 20
    """Frames to ask for at a stop."""
    leaves_stopped: bool = False
    """`disconnect` leaves a program that it does not end stopped, and its breakpoints in it.

    So these are removed before, also where dapeer is killed (`process/last_words`).
    """
    map_overrides: str = ""
    """The key of a configuration for where the sources of source maps are; empty: there is none."""
    maps_paths: bool = False
    """It knows `pathMappings` itself; for others dapeer translates the paths on the wire."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Quirks:
        """Return the quirks of an adapter from `table`, which is the `[quirks]` table of its definition.

        Within it, `[quirks.failed]` has a regular expression by kind of failure, and `[quirks.private]` has `named` (a
        regular expression) and `inside` (a text). A key that is absent gets its default.

        Raises:
            DefinitionError: A key is unknown, or a value has a wrong type, or is no valid regular expression.
        """
        failed, private = table.table("failed"), table.table("private")
        quirks = table.read(
            cls,
            refuses=table.some_of("refuses", (*NEEDS, *OPTIONS)),
            failed={kind: failed.pattern(kind) for kind in (*KINDS, BEGINS) if kind in failed},
            private=private.pattern("named"),
            private_inside=private.get("inside", str, ""),
        )
        failed.check_all_read()
        private.check_all_read()
        return quirks


def deadly_signal(style: ExitCode, exit_code: int) -> str | None:
    """Return the name of the signal that an exit code encodes, or None.

    A program can exit with such a code by itself, so say "probably".

    >>> deadly_signal("256-signal", 245)
    'SIGSEGV'
    >>> deadly_signal("256-signal", 3)
    """
    number = {"256-signal": 256 - exit_code, "signal": exit_code}.get(style, 0)
    return signal.Signals(number).name if number in _DEADLY else None


# A small exit code like 1 or 2 is far more often the program's own than SIGHUP or SIGINT.
_DEADLY = {
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGPIPE,
    signal.SIGTERM,
}
