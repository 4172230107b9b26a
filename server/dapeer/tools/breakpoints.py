"""Tools that say where a program shall stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dapeer import render
from dapeer.breakpoints import answered
from dapeer.dap.types import Breakpoint, SourceBreakpoint
from dapeer.debugger import Debugger
from dapeer.snapshot import relative
from dapeer.tools.arguments import (
    Filename,
    Line,
    OptionalFilename,
    SessionId,
    check_line,
    line_text,
    source_breakpoint,
    source_file,
)
from dapeer.tools.tool import Call, Reply, tool


@tool("Set a breakpoint", idempotent=True)
async def dap_set_breakpoint(
    call: Call,
    filename: Filename,
    line: Line,
    condition: str | None = None,
    hit_condition: str | None = None,
    log_message: str | None = None,
) -> Reply:
    """Set or replace the breakpoint on a line, for running and later sessions; tells the line the adapter chose.

    `log_message` prints, with {expressions}, instead of stopping.
    """
    debugger = call.debugger
    path = source_file(filename, debugger.project)
    check_line(path, line)
    wanted = source_breakpoint(line, condition, hit_condition, log_message)
    debugger.breakpoints.add(path, wanted)
    await debugger.push(path)
    return _told(debugger, path, [wanted])


@tool("Remove a breakpoint", destructive=True, idempotent=True)
async def dap_remove_breakpoint(call: Call, filename: Filename, line: Line) -> Reply:
    """Remove the breakpoint on a line; says so when there is none."""
    debugger = call.debugger
    path = source_file(filename, debugger.project)
    place = f"{relative(path, debugger.project)}:{line}"
    mirrors = [session.mirror for session in debugger.sessions.values()]
    removed = debugger.breakpoints.remove(path, line, mirrors)
    if removed is None:
        return Reply(f"No breakpoint at {place}; nothing changed.", {"removed": False})
    await debugger.push(path)
    return Reply(f"Removed the breakpoint at {place}.", {"removed": True})


@tool("Clear breakpoints", destructive=True, idempotent=True)
async def dap_clear_breakpoints(call: Call, filename: OptionalFilename = None) -> Reply:
    """Remove all breakpoints of a file, or all of them, function breakpoints included."""
    debugger = call.debugger
    path = source_file(filename, debugger.project) if filename else None
    count = sum(
        len(lines) for of, lines in debugger.breakpoints.by_path.items() if path in (None, of)
    )
    functions = 0 if path else len(debugger.breakpoints.functions)
    for cleared in debugger.breakpoints.clear(path):
        await debugger.push(cleared)
    if functions:
        await debugger.push_functions()
    return Reply(
        f"Removed {_counted(count + functions, 'breakpoint')}.", {"removed": count + functions}
    )


@tool("List breakpoints", read_only=True)
async def dap_breakpoints(call: Call) -> Reply:
    """List all breakpoints with their conditions, and what each adapter made of them."""
    debugger = call.debugger
    rows = [row for path in debugger.breakpoints.by_path for row in _rows(debugger, path)]
    functions = debugger.breakpoints.functions
    filters = list(debugger.breakpoints.exceptions or ())
    data = {
        "breakpoints": [{"filename": path, **_data(wanted, made)} for path, wanted, made in rows],
        "functions": list(functions),
        "exception_filters": filters,
    }
    lines = [
        f"{relative(path, debugger.project)}:{_line(path, wanted, made)}"
        for path, wanted, made in rows
    ]
    lines += [f"function {name}" for name in functions]
    lines += [f"exceptions: {', '.join(filters)}"] if filters else []
    return Reply("\n".join(lines) or "No breakpoints.", data)


@tool("Stop at exceptions", idempotent=True)
async def dap_set_exception_breakpoints(
    call: Call, filters: list[str], session_id: SessionId = None
) -> Reply:
    """Choose at which kinds of exceptions to stop, by the adapter's filters (debugpy: raised, uncaught, userUnhandled); [] for none."""
    debugger = call.debugger
    live = [session for session in debugger.sessions.values() if not session.mirror.ended]
    chosen = [debugger.session(session_id)] if session_id is not None else live
    for session in chosen:
        session.check_filters(filters)
    for session in chosen:
        await session.set_exception_breakpoints(filters)
    if session_id is None:
        debugger.breakpoints.exceptions = filters
    return Reply(f"Stopping at exceptions: {', '.join(filters) or 'none'}.", {"filters": filters})


@tool("Stop at functions", idempotent=True)
async def dap_set_function_breakpoints(call: Call, names: list[str]) -> Reply:
    """Stop when one of these functions is entered; replaces earlier ones, [] removes them."""
    debugger = call.debugger
    debugger.breakpoints.functions = names
    await debugger.push_functions()
    made = {
        name: made
        for s in debugger.sessions.values()
        if not s.mirror.ended
        for name, made in s.mirror.function_breakpoints
    }
    lines = [f"{name}: {render.breakpoint_state(made.get(name))}" for name in names]
    return Reply("\n".join(lines) or "No function breakpoints.", {"functions": names})


def _told(debugger: Debugger, path: str, wanted: list[SourceBreakpoint]) -> Reply:
    rows = [row for row in _rows(debugger, path) if row[1] in wanted]
    lines = [
        f"{relative(path, debugger.project)}:{_line(path, asked, made)}" for _, asked, made in rows
    ]
    return Reply("\n".join(lines), {"filename": path, **_data(rows[0][1], rows[0][2])})


def _rows(
    debugger: Debugger, path: str
) -> Iterator[tuple[str, SourceBreakpoint, Breakpoint | None]]:
    """Yield each wanted breakpoint of a file with what adapters made of it, one row per answer."""
    mirrors = [s.mirror for s in debugger.sessions.values() if not s.mirror.ended]
    for wanted in debugger.breakpoints.of(path):
        answers = [
            made for mirror in mirrors if (made := answered(mirror, path, wanted)) is not None
        ]
        for made in answers or [None]:
            yield path, wanted, made


def _line(path: str, wanted: SourceBreakpoint, made: Breakpoint | None) -> str:
    actual = made.get("line") if made and made.get("verified") else None
    return render.breakpoint_line(wanted, made, line_text(path, actual or wanted["line"]))


def _data(wanted: SourceBreakpoint, made: Breakpoint | None) -> dict[str, Any]:
    options = {
        "condition": wanted.get("condition"),
        "hit_condition": wanted.get("hitCondition"),
        "log_message": wanted.get("logMessage"),
        "actual_line": made.get("line") if made else None,
        "message": made.get("message") if made else None,
    }
    given = {key: value for key, value in options.items() if value is not None}
    return {"line": wanted["line"], "state": render.breakpoint_state(made), **given}


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
