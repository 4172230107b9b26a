"""Breakpoints as they are told: each with its state in the adapters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dapeer.dap.types import Breakpoint
from dapeer.dap.wanted import WantedBreakpoint
from dapeer.sessions.breakpoints import answered, unsupported
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.outcomes import as_loaded
from dapeer.sessions.session import Session
from dapeer.tools.base.call import Call
from dapeer.tools.base.collecting import is_of_another
from dapeer.view import render
from dapeer.view.sources import line_text
from dapeer.view.stacks import relative


@dataclass(frozen=True, slots=True)
class Row:
    """A breakpoint of the set, and its state in one adapter."""

    path: str
    wanted: WantedBreakpoint
    made: Breakpoint | None = None
    """None if no adapter has got it."""
    ignored: Sequence[str] = ()
    """Its options that the adapter does not heed."""
    session: int | None = None
    """The adapter of this state, if states differ."""
    edition: Sequence[str] | None = None
    """The lines that the program has loaded, where the file has other ones now."""
    sign: int | None = None
    """The line of its sign in a Neovim whose buffer has unsaved changes."""
    another: bool = False
    """Another client collects there."""

    def text(self, debugger: Debugger) -> str:
        """Return it as one line."""
        line = self.wanted["line"]
        actual = self.made.get("line") if self.made and self.made.get("verified") else None
        text = self._source(actual or line) if debugger.files.shows(self.path) else ""
        shown = render.breakpoint_line(self.wanted, self.made, text)
        note = f" (this adapter does not support {', '.join(self.ignored)})" if self.ignored else ""
        where = f" (session {self.session})" if self.session is not None else ""
        where += " (of the source that the program has loaded)" if self.edition else ""
        where += f" (its sign is on line {self.sign} of the unsaved buffer)" if self.sign else ""
        where += " (of another assistant)" if self.another else ""
        return f"{relative(self.path, debugger.project)}:{shown}{note}{where}"

    def _source(self, line: int) -> str:
        if self.edition is None:
            return line_text(self.path, line)
        return self.edition[line - 1] if line <= len(self.edition) else ""

    def data(self) -> dict[str, Any]:
        """Return it as facts."""
        facts = {
            "condition": self.wanted.get("condition"),
            "hit_condition": self.wanted.get("hitCondition"),
            "log_message": self.wanted.get("logMessage"),
            "collect": self.wanted.get("collect"),
            "max_hits": self.wanted.get("maxHits"),
            "actual_line": self.made.get("line") if self.made else None,
            "message": self.made.get("message") if self.made else None,
            "not_supported": list(self.ignored) or None,
            "session": self.session,
            "of_another": self.another or None,
            "sign_line": self.sign,
        }
        state = render.breakpoint_state(self.made)
        given = {key: value for key, value in facts.items() if value is not None}
        return {"filename": self.path, "line": self.wanted["line"], "state": state, **given}


def rows_of(call: Call, path: str) -> Iterator[Row]:
    """Yield each breakpoint of a file with its states in all adapters."""
    debugger = call.debugger
    told = [s for s in debugger.sessions.values() if not s.mirror.ended]
    # A session that leaves its program to a child never stops, and knows no line.
    stopping = [each for each in told if each in each.program.debugged]
    for wanted in debugger.breakpoints.of(path):
        sign = call.peers.sign(path, wanted["line"])
        plain = Row(path, wanted, sign=sign, another=is_of_another(call, wanted))
        rows = {
            session.id: replace(
                plain,
                made=made,
                ignored=unsupported(session.mirror, wanted),
                edition=_edition(session, path),
            )
            for session in stopping
            if (made := _made(session, path, wanted)) is not None
        }
        facts = [row.data() for row in rows.values()]
        if all(each == facts[0] for each in facts):
            # Adapters mostly agree, but for numbers of their own.
            yield next(iter(rows.values()), plain)
        else:
            yield from (replace(row, session=number) for number, row in rows.items())


def _made(session: Session, path: str, wanted: WantedBreakpoint) -> Breakpoint | None:
    return answered(session.mirror, path, as_loaded(session, path, wanted))


def _edition(session: Session, path: str) -> Sequence[str] | None:
    change = session.inspect.editions.known(path)
    return change.then if change else None
