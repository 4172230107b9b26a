"""Hints on messages of an adapter and its program. Pure."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dapeer.base.errors import RequestFailed
from dapeer.dap.messages import Body, Event, Message, Response
from dapeer.mirror.output import OutputLog
from dapeer.view.snapshot import Snapshot

Hint = Callable[[str, str], str | None]
"""Returns the hint on a text, by the place of the text."""


def no_hint(_at: str, _text: str) -> str | None:
    """Know nothing to do about anything."""
    return None


class Advice:
    """The hints for one program."""

    def __init__(
        self,
        hint: Hint = no_hint,
        interpreter: str | None = None,
        missing: Callable[[str], str | None] | None = None,
        program: str = "",
    ) -> None:
        """`missing` returns why a program has done nothing, if its output does not say it.

        `program` is its path, where it has one.
        """
        self._hint = hint
        self._missing = missing
        self._program = program
        self._told: set[str] = set()
        self.facts: Mapping[str, str] = {"interpreter": interpreter} if interpreter else {}
        """The interpreter of the program, where there is a choice."""

    def explained(self, message: Message) -> Message:
        """Return a hint in place of a message on a breakpoint or in the output."""
        match message:
            case Response(command="setBreakpoints", success=True, body={"breakpoints": list()}):
                explained = [self._of_breakpoint(each) for each in message.body["breakpoints"]]
                return replace(message, body={**message.body, "breakpoints": explained})
            case Event(event="breakpoint", body={"breakpoint": dict()}):
                explained = self._of_breakpoint(message.body["breakpoint"])
                return replace(message, body={**message.body, "breakpoint": explained})
            case Event(event="output", body={"category": "console" | "important"}):
                said = self._hint("output", str(message.body.get("output")))
                return message if said is None else _saying(message, f"{said}\n")
            case _:
                return message

    @contextmanager
    def on_failure(self, context: str) -> Generator[None]:
        """Add a hint to the error when an evaluation in the body fails; in `repl` all is allowed already."""
        try:
            yield
        except RequestFailed as error:
            hint = None if context == "repl" else self._hint("evaluate", error.message)
            if hint is None:
                raise
            raise RequestFailed(error.command, error.message, hint) from error

    def noted(self, view: Snapshot, log: OutputLog) -> Snapshot:
        """Return a look at the program with a hint on the exception that it has stopped at, or ended with; once."""
        if self._missing and view["state"] == "ended" and "cause" not in view:
            why = self._missing(log.read().text)
            view = view if why is None else {**view, "cause": why}
        hint = self._of_end(view, log)
        if hint is None or hint in self._told:
            return view
        self._told.add(hint)
        return {**view, "notes": [*view.get("notes", ()), hint]}

    def _of_end(self, view: Snapshot, log: OutputLog) -> str | None:
        if view.get("exit_code") == 0 and not log.end and self._program:
            return self._hint("silence", self._program)
        printed = view.get("output", "") if view.get("exit_code") else ""
        return self._hint("exception", view.get("exception", "") or printed)

    def _of_breakpoint(self, made: Body) -> Body:
        said = self._hint("breakpoint", str(made["message"])) if made.get("message") else None
        return made if said is None else {**made, "message": said}


def _saying(message: Event, text: str) -> Event:
    body: dict[str, Any] = {**message.body, "output": text}
    return replace(message, body=body)
