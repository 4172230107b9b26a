"""Hints on messages of an adapter and its program. Pure."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dapeer.base.errors import RequestFailed
from dapeer.dap.messages import Body, Event, Message, Response
from dapeer.mirror.output import OutputLog
from dapeer.view.snapshot import Snapshot

FindHint = Callable[[str, str], str | None]
"""Returns the hint on a text, by the place of the text."""


LAST_WORDS = 16_000
"""Characters at the output's end, and at its start, in which hints on a program's end are looked for."""


def no_hint(_at: str, _text: str) -> str | None:
    """Know nothing to do about anything."""
    return None


class Advice:
    """The hints for one program."""

    def __init__(
        self,
        hint: FindHint = no_hint,
        interpreter: str | None = None,
        missing: Callable[[str], str | None] | None = None,
        program: str = "",
        remark: str = "",
        slow: Callable[[], str] | None = None,
    ) -> None:
        """`missing` returns why a program has done nothing, if its output does not say it.

        `program` is its path, where it has one; `remark` is on its start, and `slow` returns
        why it is slow under its debugger: it blocks.
        """
        self._slow = slow
        self._remark = remark
        self._hint = hint
        self._missing = missing
        self._program = program
        self._reported: set[str] = set()
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
                hint = self._hint("output", str(message.body.get("output")))
                return message if hint is None else _saying(message, f"{hint}\n")
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
        """Return a look with, once, a remark on the start and a hint on the exception of the stop or end."""
        if self._missing and view["state"] == "ended" and "cause" not in view:
            # A run of no test prints little: where the beginning is lost, some test ran.
            why = None if log.start else self._missing(log.read().text)
            view = view if why is None else {**view, "cause": why}
        if self._remark:
            view = {**view, "notes": [*view.get("notes", ()), self._remark]}
            self._remark = ""
        hints = [
            *filter(None, map(self._once, (self._of_end(view, log), self._of_first(view, log))))
        ]
        return {**view, "notes": [*view.get("notes", ()), *hints]} if hints else view

    def of_killed(self, named: str, log: OutputLog) -> str | None:
        """Return what keeps a program from killing its stopped processes, where that is known."""
        return self._hint("killed", f"{named}\n{log.read().text[-LAST_WORDS:]}")

    def of_not_hit(self, path: str, lines: Sequence[str]) -> str:
        """Return why the last of some lines may have run though no breakpoint was hit; empty: no known reason."""
        return self._hint("not_hit", "".join(f"{each}\n" for each in (path, *lines))) or ""

    def of_beside(self, path: str, names: Sequence[str]) -> str:
        """Return what runs in place of a file, by the names of those beside it; empty: nothing is known."""
        return self._hint("beside", "".join(f"{each}\n" for each in (path, *names))) or ""

    def of_conditions(self, conditions: Sequence[str]) -> str:
        """Return what conditions of breakpoints cost, once; empty if there are none, or it is not known."""
        return self._once(self._hint("slow", "\n".join(conditions)) if conditions else None)

    def of_slow(self) -> str:
        """Return why the program is slow, once; empty if no reason is known. It blocks."""
        hint = self._slow() if self._slow else ""
        self._slow = None
        return hint

    def _once(self, hint: str | None) -> str:
        """Return a hint that was not told yet; else nothing."""
        if hint is None or hint in self._reported:
            return ""
        self._reported.add(hint)
        return hint

    def _of_end(self, view: Snapshot, log: OutputLog) -> str | None:
        if view.get("exit_code") == 0 and not log.end and self._program:
            return self._hint("silence", self._program)
        ended = view["state"] == "ended" and view.get("exit_code") != 0
        if ended and (hint := self._hint("end", log.read().text[-LAST_WORDS:])):
            return hint
        printed = view.get("output", "") if view.get("exit_code") else ""
        if view.get("source") and (found := self._hint("locals", _values(view))):
            return found
        failed = "\n".join([*view.get("notes", ()), *view.get("collected", ())])
        if failed and (found := self._hint("failed", failed)):
            return found
        exception = view.get("exception", "") or printed
        kind = view.get("description", "")
        return self._hint("exception", exception) or (
            self._hint("exception", kind) if kind else None
        )

    def _of_first(self, view: Snapshot, log: OutputLog) -> str | None:
        first = "".join(each.text for each in log.between(0, LAST_WORDS))
        hint = self._hint("printed", first) if first else None
        if hint and hint in view.get("output", ""):
            self._reported.add(hint)
        return hint

    def _of_breakpoint(self, made: Body) -> Body:
        hint = self._hint("breakpoint", str(made["message"])) if made.get("message") else None
        return made if hint is None else {**made, "message": hint}


def _values(view: Snapshot) -> str:
    return "\n".join(view.get("locals", {}).values())


def _saying(message: Event, text: str) -> Event:
    body: dict[str, Any] = {**message.body, "output": text}
    return replace(message, body=body)
