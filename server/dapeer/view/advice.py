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
    """Return None for any text: there is no hint."""
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
        """Keep what is known of one program; nothing is looked up yet.

        `hint` finds the adapter's hint on a text. `interpreter` is the program's, where there is a choice. `missing` returns why a
        program has done nothing, by its output, if that does not say it. `program` is its path, where it has one; `remark` is a
        note on its start. `slow` returns why the program is slow under its debugger, or an empty text: it blocks.
        """
        self.why_slow = slow
        """Returns why the program is slow under its debugger, or ""; it blocks. None: ask no more."""
        self._remark = remark
        self._hint = hint
        self._why_missing = missing
        self._program = program
        self._reported_hints: set[str] = set()
        self.facts: Mapping[str, str] = {"interpreter": interpreter} if interpreter else {}
        """The interpreter of the program, where there is a choice."""

    def with_hint(self, message: Message) -> Message:
        """Return an adapter's message with a hint in place of a breakpoint's message or of console output.

        `message` is not changed; if no hint fits, it or an equal one is returned. Only successful `setBreakpoints`
        responses, `breakpoint` events and `output` events of the categories `console` and `important` get hints; a
        breakpoint without a message gets none.
        """
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
        """Add a hint to a `RequestFailed` that the body of the `with` raises, if there is one for its message.

        `context` is the `context` of the `evaluate` request in the body; with `repl` no hint is added, since nothing more can be allowed.

        Raises:
            RequestFailed: The body's error, with a hint or unchanged.
        """
        try:
            yield
        except RequestFailed as error:
            hint = None if context == "repl" else self._hint("evaluate", error.message)
            if hint is None:
                raise
            raise RequestFailed(error.command, error.message, hint) from error

    def add_hints(self, view: Snapshot, log: OutputLog) -> Snapshot:
        """Return a snapshot with the notes and hints for the caller that were not given before; record them.

        Put into `notes` are a remark on the start, and hints on the end, the exception or on what `log`, the
        program's output, has, each once per program; into `cause`, if there is none, why an ended program did
        nothing, at each call, unless the beginning of `log` is lost. `view` is not changed; it is returned
        itself if there is nothing to add.
        """
        if self._why_missing and view["state"] == "ended" and "cause" not in view:
            # A run of no test prints little: where the beginning is lost, some test ran.
            why = None if log.start else self._why_missing(log.read().text)
            view = view if why is None else {**view, "cause": why}
        if self._remark:
            view = {**view, "notes": [*view.get("notes", ()), self._remark]}
            self._remark = ""
        hints = [
            *filter(
                None,
                map(
                    self._give_once,
                    (self._hint_at_end(view, log), self._hint_at_beginning(view, log)),
                ),
            )
        ]
        return {**view, "notes": [*view.get("notes", ()), *hints]} if hints else view

    def hint_on_killed(self, process_names: str, log: OutputLog) -> str | None:
        """Return a hint on how to keep a program from killing its stopped processes; None without one.

        `process_names` are the names of the program and of the killed process, each a line; `log` is the program's output.
        """
        return self._hint("killed", f"{process_names}\n{log.read().text[-LAST_WORDS:]}")

    def hint_on_not_hit(self, path: str, lines: Sequence[str]) -> str:
        """Return why a line may have run although its breakpoint was not hit; empty if no reason is known.

        `path` is the file, `lines` its source up to the breakpoint's line.
        """
        return self._hint("not_hit", "".join(f"{each}\n" for each in (path, *lines))) or ""

    def hint_on_unbound(self, why: str, path: str, lines: Sequence[str]) -> str:
        """Return why an adapter has truly rejected a breakpoint; empty if no more is known than `why`.

        That is the reason that it has given; `path` is the file, `lines` its source up to the breakpoint's line.
        """
        return self._hint("unbound", "".join(f"{each}\n" for each in (why, path, *lines))) or ""

    def hint_on_files_beside(self, path: str, names: Sequence[str]) -> str:
        """Return a hint on what runs in place of a source file, by the names of the files beside it; or "".

        `path` is a file whose breakpoint was not hit or bound; `names` are those of the files in its folder that begin as its own does.
        """
        return self._hint("beside", "".join(f"{each}\n" for each in (path, *names))) or ""

    def take_hint_on_conditions(self, conditions: Sequence[str]) -> str:
        """Return a hint on what conditions of breakpoints cost, at most once; empty if there is none to give."""
        return self._give_once(self._hint("slow", "\n".join(conditions)) if conditions else None)

    def forget_slowness(self) -> None:
        """Set `why_slow` to None, since it has answered."""
        self.why_slow = None

    def _give_once(self, hint: str | None) -> str:
        """Return a hint and record it as given; empty if it is None, or was given before."""
        if hint is None or hint in self._reported_hints:
            return ""
        self._reported_hints.add(hint)
        return hint

    def _hint_at_end(self, view: Snapshot, log: OutputLog) -> str | None:
        """Return the adapter's first hint on an end, a stop or an exception that fits the snapshot, or None.

        `view` is the snapshot, `log` the program's output. At an end with exit code 0 without any output, of a
        program that has a path, only hints on that count. Else looked at are, in this order: the last
        `LAST_WORDS` characters of the output of a program that has ended without exit code 0; values of locals,
        if the source is shown; notes and collected rows, which tell failed expressions; the exception (of a
        failed end without one, its new output); and the stop's description. Nothing is recorded as given.
        """
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

    def _hint_at_beginning(self, view: Snapshot, log: OutputLog) -> str | None:
        """Return the adapter's hint on the beginning of the program's output; None without one.

        A hint that the snapshot's new output already shows counts as given.
        """
        first = "".join(each.text for each in log.between(0, LAST_WORDS))
        hint = self._hint("printed", first) if first else None
        if hint and hint in view.get("output", ""):
            self._reported_hints.add(hint)
        return hint

    def _of_breakpoint(self, made: Body) -> Body:
        """Return a breakpoint of the adapter's with a hint in place of its `message`, or unchanged."""
        hint = self._hint("breakpoint", str(made["message"])) if made.get("message") else None
        return made if hint is None else {**made, "message": hint}


def _values(view: Snapshot) -> str:
    """Return the texts of all locals in a snapshot, each on a line."""
    return "\n".join(view.get("locals", {}).values())


def _saying(message: Event, text: str) -> Event:
    """Return a copy of an `output` event with another text."""
    body: dict[str, Any] = {**message.body, "output": text}
    return replace(message, body=body)
