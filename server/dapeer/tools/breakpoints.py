"""Tools that say where a program shall stop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dapeer.base.errors import ArgumentError
from dapeer.dap.types import Breakpoint
from dapeer.dap.wanted import WantedBreakpoint
from dapeer.sessions.breakpoints import answered, unsupported
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.outcomes import as_loaded
from dapeer.sessions.session import Session
from dapeer.tools import data_breakpoints
from dapeer.tools.base.arguments import (
    Collect,
    Filename,
    Line,
    MaxHits,
    OptionalFilename,
    SessionId,
    collecting,
    source_breakpoint,
)
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.collecting import mine
from dapeer.tools.base.notes import noted
from dapeer.tools.base.tool import tool
from dapeer.view import render
from dapeer.view.sources import check_line, line_text, source_file
from dapeer.view.stacks import relative


@tool("Set a breakpoint", idempotent=True)
async def dap_set_breakpoint(
    call: Call,
    filename: Filename,
    line: Line,
    condition: str | None = None,
    hit_condition: str | None = None,
    log_message: str | None = None,
    collect: Collect = (),
    max_hits: MaxHits = None,
) -> Reply:
    """Set or replace the breakpoint on a line, for running and later sessions.

    `log_message` prints, with {expressions}, instead of stopping.
    """
    debugger = call.debugger
    path = source_file(filename, debugger.project)
    check_line(path, line)
    plain = source_breakpoint(line, condition, hit_condition, log_message)
    wanted = collecting(plain, collect, max_hits)
    mine(call, [(path, wanted)])
    replaced = debugger.breakpoints.add(path, wanted)
    await call.peers.shown()
    try:
        call.peers.check_saved(path, line)
    except ArgumentError:
        debugger.breakpoints.restore(path, line, replaced)
        raise
    debugger.expect_now(path, line)
    untaken = await debugger.push(path).untaken()
    rows = [row for row in _rows(call, path) if row.wanted == wanted]
    if not rows:
        return Reply(
            f"Set, and changed by another client since: {relative(path, debugger.project)}:{line}."
        )
    text = "\n".join(row.text(debugger) for row in rows)
    return noted(Reply(text, rows[0].data()), untaken)


@tool("Remove a breakpoint", destructive=True, idempotent=True)
async def dap_remove_breakpoint(call: Call, filename: Filename, line: Line) -> Reply:
    """Remove the breakpoint on a line, if there is one."""
    debugger = call.debugger
    path = source_file(filename, debugger.project)
    place = f"{relative(path, debugger.project)}:{line}"
    mirrors = [session.mirror for session in debugger.sessions.values()]
    removed = debugger.breakpoints.remove(path, line, mirrors)
    if removed is None:
        return Reply(f"No breakpoint at {place}; nothing changed.", {"removed": False})
    await call.peers.shown()
    untaken = await debugger.push(path).untaken()
    return noted(Reply(f"Removed the breakpoint at {place}.", {"removed": True}), untaken)


@tool("Clear breakpoints", destructive=True, idempotent=True)
async def dap_clear_breakpoints(call: Call, filename: OptionalFilename = None) -> Reply:
    """Remove all breakpoints of a file, or of all files; exception filters stay."""
    debugger = call.debugger
    path = source_file(filename, debugger.project) if filename else None
    count = sum(
        len(lines) for of, lines in debugger.breakpoints.by_path.items() if path in (None, of)
    )
    functions = 0 if path else len(debugger.breakpoints.functions)
    cleared = debugger.breakpoints.clear(path)
    await call.peers.shown()
    pushes = [debugger.push(*cleared)]
    if functions:
        pushes.append(debugger.push_functions())
    if path is None:
        count += functions + len(data_breakpoints.rows_of(debugger))
        pushes.append(data_breakpoints.clear(debugger))
    lines = await asyncio.gather(*(each.untaken() for each in pushes))
    removed = Reply(f"Removed {_counted(count, 'breakpoint')}.", {"removed": count})
    return noted(removed, [line for each in lines for line in each])


@tool("List breakpoints", read_only=True)
async def dap_breakpoints(call: Call) -> Reply:
    """List all breakpoints with their conditions, and their state in each adapter."""
    debugger = call.debugger
    rows = [row for path in debugger.breakpoints.by_path for row in _rows(call, path)]
    functions = debugger.breakpoints.functions
    filters = list(debugger.breakpoints.exceptions or ())
    in_memory = data_breakpoints.rows_of(debugger)
    data: dict[str, Any] = {
        "breakpoints": [row.data() for row in rows],
        "functions": list(functions),
        "exception_filters": filters,
    }
    if in_memory:
        data["in_memory"] = [row.data() for row in in_memory]
    lines = [row.text(debugger) for row in rows]
    lines += [row.text() for row in in_memory]
    lines += [f"function {name}" for name in functions]
    lines += [f"exceptions: {', '.join(filters)}"] if filters else []
    return Reply("\n".join(lines) or "No breakpoints.", data)


@tool("Stop at exceptions", idempotent=True)
async def dap_set_exception_breakpoints(
    call: Call, filters: list[str], session_id: SessionId = None
) -> Reply:
    """Choose the exceptions to stop at, by the adapter's filters (debugpy: raised, uncaught, userUnhandled); [] for none."""
    debugger = call.debugger
    live = [session for session in debugger.sessions.values() if not session.mirror.ended]
    chosen = [call.focus.session(session_id)] if session_id is not None else live
    unable = _check_filters(chosen, filters)

    async def tell(session: Session) -> None:
        stops_at = session.stops_at
        await stops_at.exceptions(stops_at.standing(filters) or ())

    push = debugger.tell("the filters", chosen, tell)
    if session_id is None:
        debugger.breakpoints.exceptions = filters
    stopping = f"Stopping at exceptions: {', '.join(filters) or 'none'}."
    return noted(Reply(stopping, {"filters": filters}), [*unable, *await push.untaken()])


def _check_filters(sessions: Sequence[Session], filters: Sequence[str]) -> list[str]:
    """Return a line for each session whose adapter cannot stop at some of these.

    Raises:
        ArgumentError: No adapter can.
    """
    unable: dict[int, ArgumentError] = {}
    for session in sessions:
        try:
            session.stops_at.check(filters)
        except ArgumentError as error:
            unable[session.id] = error
    if unable and len(unable) == len(sessions):
        raise next(iter(unable.values()))
    return [
        f"session {each.id} ({each.name}) stops only at some of them: {unable[each.id]}"
        for each in sessions
        if each.id in unable
    ]


@tool("Stop at functions", idempotent=True)
async def dap_set_function_breakpoints(call: Call, names: list[str]) -> Reply:
    """Stop when one of these functions is entered; replaces earlier ones, [] removes them."""
    debugger = call.debugger
    debugger.breakpoints.functions = names
    untaken = await debugger.push_functions().untaken()
    made = {
        name: made
        for s in debugger.sessions.values()
        if not s.mirror.ended
        for name, made in s.mirror.placed.functions
    }
    lines = [f"{name}: {render.breakpoint_state(made.get(name))}" for name in names]
    text = "\n".join(lines) or "No function breakpoints."
    return noted(Reply(text, {"functions": names}), untaken)


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
            "sign_line": self.sign,
        }
        state = render.breakpoint_state(self.made)
        given = {key: value for key, value in facts.items() if value is not None}
        return {"filename": self.path, "line": self.wanted["line"], "state": state, **given}


def _rows(call: Call, path: str) -> Iterator[Row]:
    """Yield each breakpoint of a file with its states in all adapters."""
    debugger = call.debugger
    told = [s for s in debugger.sessions.values() if not s.mirror.ended]
    # A session that leaves its program to a child never stops, and knows no line.
    stopping = [each for each in told if each in each.program.debugged]
    for wanted in debugger.breakpoints.of(path):
        rows = {
            session.id: Row(
                path,
                wanted,
                made,
                unsupported(session.mirror, wanted),
                edition=_edition(session, path),
                sign=call.peers.sign(path, wanted["line"]),
            )
            for session in stopping
            if (made := _made(session, path, wanted)) is not None
        }
        facts = [row.data() for row in rows.values()]
        if all(each == facts[0] for each in facts):
            # Adapters mostly agree, but for numbers of their own.
            sign = call.peers.sign(path, wanted["line"])
            yield next(iter(rows.values()), Row(path, wanted, sign=sign))
        else:
            yield from (replace(row, session=number) for number, row in rows.items())


def _made(session: Session, path: str, wanted: WantedBreakpoint) -> Breakpoint | None:
    return answered(session.mirror, path, as_loaded(session, path, wanted))


def _edition(session: Session, path: str) -> Sequence[str] | None:
    change = session.inspect.editions.known(path)
    return change.then if change else None


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


TOOLS = (
    dap_set_breakpoint,
    dap_remove_breakpoint,
    dap_clear_breakpoints,
    dap_breakpoints,
    dap_set_exception_breakpoints,
    dap_set_function_breakpoints,
)
