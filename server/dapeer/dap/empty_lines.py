"""Moves a breakpoint on a line without code to the next line, where the adapter does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dapeer.base.json_types import as_array, as_object
from dapeer.dap.messages import Message, Request, Response
from dapeer.dap.transport import MessageFilter

# Which line of a text a breakpoint on a line without code means. Pure.

MAX_LINES_AHEAD = 50
"""Lines in which the next one with code is looked for."""
CLOSERS = re.compile(r"\s*[)\]}]")
"""How a line begins that ends what is around it."""


def line_with_code(lines: Sequence[str], line: int, empty: str) -> int:
    r"""Return the number of the line with code where a breakpoint on `line` belongs.

    `lines` are the file's lines, and numbers begin at 1. `empty` is a regular expression that a line without code
    matches completely. The result is `line` itself if it has code or is outside of the file, else the next line
    with code within `MAX_LINES_AHEAD` lines, or `line` if there is none, or that line is no longer in the function
    of the code above. The latter is so if the nearest code above `line` is indented, and the line that was found
    begins at the margin, with no closing bracket.

    >>> line_with_code(["def f():", "    a = 1", "", "    # then", "    b = 2"], 3, r"\s*(#.*)?")
    5
    >>> line_with_code(["def f():", "    a = 1", "", "f()"], 3, r"\s*(#.*)?")
    3
    """
    if not 0 < line <= len(lines) or not re.fullmatch(empty, lines[line - 1]):
        return line
    above = next(
        (each for each in reversed(lines[: line - 1]) if not re.fullmatch(empty, each)), ""
    )
    ahead = range(line + 1, min(len(lines), line + MAX_LINES_AHEAD) + 1)
    found = next((each for each in ahead if not re.fullmatch(empty, lines[each - 1])), line)
    text = lines[found - 1]
    leaves = above[:1].isspace() and not text[:1].isspace() and not CLOSERS.match(text)
    return line if leaves else found


LineWithCode = Callable[[str, int], int]
"""Returns the line to ask for in a file, for one that a client asks for."""


class EmptyLineFilter(MessageFilter):
    """Moves the lines of breakpoints; the answers tell where these are."""

    def __init__(self, line_with_code: LineWithCode) -> None:
        """Keep `line_with_code`, which returns the line to request for a file's path and line."""
        self._line_with_code = line_with_code
        self._sent_breakpoints: dict[int, Sequence[Mapping[str, Any]]] = {}
        """By number of a request that was not answered yet: the breakpoints as they were sent."""

    def adapt(self, message: Message) -> Message:
        """Return a message; the breakpoints of a `setBreakpoints` request are moved to lines that have code.

        The message that is given is not changed; any other message is itself returned. A breakpoint without a line
        stays as it is, and so does a request without `breakpoints`, such as one that has only DAP's old `lines`. The
        breakpoints as they are in the result are kept by the request's number until its response arrives.
        """
        if (
            isinstance(message, Request)
            and message.command == "setBreakpoints"
            and "breakpoints" in message.arguments
        ):
            path = str(as_object(message.arguments.get("source")).get("path") or "")
            moved = [
                self._moved_to_code(path, each)
                for each in as_array(message.arguments.get("breakpoints"))
            ]
            message = replace(message, arguments={**message.arguments, "breakpoints": moved})
            self._sent_breakpoints[message.seq] = moved
        return message

    def _moved_to_code(self, path: str, requested: dict[str, Any]) -> dict[str, Any]:
        """Return a DAP `SourceBreakpoint` moved to a line with code, or as it is if it has no line.

        `requested` is the breakpoint as the client sends it, `path` its file. `requested` is not edited: if it has a
        line, the result is a copy, whose `line` is what the function that was given to `EmptyLineFilter` returns,
        perhaps the same.
        """
        line = requested.get("line")
        return (
            {**requested, "line": self._line_with_code(path, line)}
            if isinstance(line, int)
            else requested
        )

    def normalize(self, message: Message) -> Iterable[Message]:
        """Return the adapter's message; a response to `setBreakpoints` gets the lines that it leaves out.

        A breakpoint without a `line` in that response gets the moved line that was requested, if one was. If the numbers of breakpoints differ, the
        response is returned as it is. What `adapt` kept of the request is dropped; the result always has one message.
        """
        if not isinstance(message, Response):
            return (message,)
        sent = self._sent_breakpoints.pop(message.request_seq, ())
        made = as_array(message.body.get("breakpoints"))
        if not sent or len(made) != len(sent):
            return (message,)
        placed = [
            {**({"line": one["line"]} if "line" in one else {}), **as_object(each)}
            for one, each in zip(sent, made, strict=True)
        ]
        return (replace(message, body={**message.body, "breakpoints": placed}),)
