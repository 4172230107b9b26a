"""Tools that start, list and end debug sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from anyio import to_thread
from pydantic import Field
from typing_extensions import TypedDict

from dapeer import render
from dapeer.adapters.choice import choose
from dapeer.adapters.definition import Definition, names_in
from dapeer.adapters.detection import detect
from dapeer.adapters.interpreter import find_python
from dapeer.adapters.running import choose_for_process, is_running
from dapeer.dap.types import SourceBreakpoint
from dapeer.debugger import Debugger
from dapeer.errors import ArgumentError
from dapeer.live import Plan
from dapeer.snapshot import Summary
from dapeer.tools.arguments import (
    BreakpointArgument,
    Milliseconds,
    SessionId,
    check_line,
    source_file,
)
from dapeer.tools.tool import Call, Reply, tool
from dapeer.tools.waiting import next_stop

NOTHING_TO_WAIT_FOR = 1000
"""Milliseconds to wait for a stop after an attach that nothing is going to stop."""


class Status(TypedDict):
    """The sessions, and which one is meant by default."""

    sessions: list[Summary]
    focused: NotRequired[int]
    breakpoints: int


class AdapterFacts(TypedDict):
    """A debug adapter, and whether it is ready."""

    type: str
    languages: list[str]
    ready: bool
    version: NotRequired[str]
    missing: NotRequired[str]
    install: NotRequired[str]


class Adapters(TypedDict):
    """The adapters that are known."""

    adapters: list[AdapterFacts]


@tool("Status", read_only=True, output=Status)
async def dap_status(call: Call) -> Reply:
    """List the debug sessions: state, place, exit code, and which one is meant by default."""
    debugger = call.debugger
    rows = [session.summary() for session in debugger.sessions.values()]
    focused = debugger.focused.id if debugger.focused else None
    count = sum(map(len, debugger.breakpoints.by_path.values()))
    lines = [_status_line(row, focused, debugger.project) for row in rows]
    text = "\n".join(lines) or "No debug sessions. Start one with dap_run."
    data: dict[str, Any] = {"sessions": rows, "breakpoints": count}
    if focused is not None:
        data["focused"] = focused
    return Reply(f"{text}\nBreakpoints: {count}.", data)


def _status_line(row: Mapping[str, Any], focused: int | None, project: Path) -> str:
    place = render.location(row.get("file", ""), row.get("line"), row.get("function", ""), project)
    reason = f" ({row['reason']})" if "reason" in row else ""
    code = f", exit code {row['exit_code']}" if "exit_code" in row else ""
    cause = f": {row['cause']}" if "cause" in row else ""
    mark = " [default]" if row["session_id"] == focused else ""
    head = f"{row['session_id']} {row['name']} ({row['type']}) {row['state']}"
    return f"{head}{reason}{place}{code}{cause}{mark}"


@tool("Debug adapters", read_only=True, output=Adapters)
async def dap_adapters(call: Call) -> Reply:
    """List the debug adapters: what they debug, whether they are ready, how to install what is missing."""
    python = find_python(None, call.debugger.project, os.environ)
    definitions = call.debugger.definitions.values()
    # Asking a program for its version blocks.
    rows = await to_thread.run_sync(lambda: [_adapter_row(each, python) for each in definitions])
    return Reply("\n".join(_adapter_line(row) for row in rows), {"adapters": rows})


def _adapter_row(definition: Definition, python: str) -> dict[str, Any]:
    found = detect(definition, python=python)
    row: dict[str, Any] = {
        "type": definition.id,
        "languages": list(definition.languages),
        "ready": found.ready,
    }
    details = (
        {"version": found.version}
        if found.ready
        else {"missing": found.missing, "install": found.install}
    )
    return row | {key: value for key, value in details.items() if value}


def _adapter_line(row: Mapping[str, Any]) -> str:
    state = (
        f"ready {row.get('version', '')}".strip()
        if row["ready"]
        else f"missing: {row.get('missing', '')}"
    )
    install = f"; install: {row['install']}" if "install" in row else ""
    return f"{row['type']} ({', '.join(row['languages'])}) {state}{install}"


@tool("Run or attach", action="run")
async def dap_run(
    call: Call,
    program: str | None = None,
    module: str | None = None,
    code: str | None = None,
    type: Annotated[str | None, Field(description="adapter; guessed from the program")] = None,  # noqa: A002
    request: Literal["launch", "attach"] = "launch",
    pid: Annotated[int | None, Field(ge=1)] = None,
    host: str | None = None,
    port: Annotated[int | None, Field(ge=1, le=65535)] = None,
    name: str | None = None,
    args: Sequence[str] = (),
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    python: Annotated[str | None, Field(description="interpreter of the program")] = None,
    breakpoints: Sequence[BreakpointArgument] = (),
    exception_filters: list[str] | None = None,
    stop_on_entry: bool = False,
    config: Annotated[Mapping[str, Any] | None, Field(description="adapter-specific keys")] = None,
    wait_until_paused: bool = True,
    timeout_ms: Milliseconds = 30_000,
) -> Reply:
    """Start a program under the debugger, or attach to one, and return the snapshot of its first stop or its end.

    Give `program`, `module` or `code`, and breakpoints: one call shows stack, locals and source where it stops.
    """
    debugger = call.debugger
    where = _folder(cwd, debugger.project)
    path = _program(program, where, debugger.project) if request == "launch" else program
    inputs: dict[str, object] = {"program": path, "module": module, "code": code}
    inputs |= {"args": list(args), "cwd": str(where), "env": dict(env) if env else None}
    inputs |= {"pid": pid, "host": host, "port": port, "stop_on_entry": stop_on_entry}
    if request == "attach" and not config:
        _check_attach(pid, port)
    definition = _definition(debugger, type, request, inputs)
    if "python" in names_in(definition.launch, definition.transport):
        inputs["python"] = find_python(python, where, os.environ)
    plan = Plan(definition, request, inputs, config or {}, name or "", exception_filters)
    session = await debugger.start(plan, _wanted(breakpoints, where, debugger.project))
    can_stop = plan.launched or stop_on_entry or debugger.breakpoints.by_path
    limit = timeout_ms if can_stop else min(timeout_ms, NOTHING_TO_WAIT_FOR)
    return await next_stop(call, session, 0, limit if wait_until_paused else 0)


def _folder(cwd: str | None, project: Path) -> Path:
    folder = (project / Path(cwd).expanduser()).absolute() if cwd else project
    if not folder.is_dir():
        raise ArgumentError(f"`cwd`: {folder} is no directory.", "Give an existing one.")
    return folder


def _program(program: str | None, cwd: Path, project: Path) -> str | None:
    """Return the absolute path of a program, given absolute or relative to `cwd` or the project."""
    if program is None:
        return None
    tried = [(base / Path(program).expanduser()).absolute() for base in (cwd, project)]
    for path in tried:
        if path.is_file() or (path / "__main__.py").is_file():
            return str(path)
    if any(path.is_dir() for path in tried):
        raise ArgumentError(f"`program`: {tried[0]} is a directory.", "Give the file to run in it.")
    raise ArgumentError(f"`program`: {tried[0]} does not exist.", "Give an existing file.")


def _check_attach(pid: int | None, port: int | None) -> None:
    """Refuse what cannot be attached to; adapters often do not answer at all then."""
    if pid is None and port is None:
        raise ArgumentError("There is nothing to attach to.", "Give `pid`, or `port` and `host`.")
    if pid is not None and not is_running(pid):
        raise ArgumentError(f"`pid`: there is no process {pid}.", "Give the id of a running one.")


def _definition(
    debugger: Debugger, kind: str | None, request: str, inputs: Mapping[str, Any]
) -> Definition:
    targets = {name: inputs[name] for name in ("program", "module", "code")}
    if request == "attach" and kind is None and not any(targets.values()):
        return choose_for_process(debugger.definitions, pid=inputs["pid"])
    return choose(debugger.definitions, type=kind, **targets)


def _wanted(
    breakpoints: Sequence[BreakpointArgument], cwd: Path, project: Path
) -> list[tuple[str, SourceBreakpoint]]:
    """Return the breakpoints with the absolute paths of their files, all of them checked."""
    wanted = [
        (_breakpoint_file(each.filename, cwd, project), each.wanted()) for each in breakpoints
    ]
    for path, each in wanted:
        check_line(path, each["line"])
    return wanted


def _breakpoint_file(filename: str, cwd: Path, project: Path) -> str:
    return source_file(filename, cwd if (cwd / filename).is_file() else project)


@tool("Restart", destructive=True, action="run")
async def dap_restart(
    call: Call,
    wait_until_paused: bool = True,
    timeout_ms: Milliseconds = 30_000,
    session_id: SessionId = None,
) -> Reply:
    """End the program, start it again with the same arguments as a new session, and return its first stop."""
    session = await call.debugger.restart(call.debugger.session(session_id))
    return await next_stop(call, session, 0, timeout_ms if wait_until_paused else 0)


@tool("Terminate", destructive=True, idempotent=True, action="run")
async def dap_terminate(call: Call, session_id: SessionId = None) -> Reply:
    """End the program and its session; output and history stay readable."""
    session = call.debugger.session(session_id)
    already = session.over
    await call.debugger.terminate(session)
    text = "had ended already" if already else "ended"
    return Reply(
        f"Session {session.id} {text}.{_exit(session.mirror.exit_code)}", session.summary()
    )


@tool("Disconnect", destructive=True, action="run")
async def dap_disconnect(
    call: Call, terminate_debuggee: bool | None = None, session_id: SessionId = None
) -> Reply:
    """End the session; a program that was attached to runs on, a launched one ends, unless `terminate_debuggee` says otherwise."""
    session = call.debugger.session(session_id)
    ended = await call.debugger.disconnect(session, terminate=terminate_debuggee)
    text = "The program was ended." if ended else "The program runs on."
    return Reply(f"Disconnected from session {session.id}. {text}", session.summary())


def _exit(code: int | None) -> str:
    return "" if code is None else f" Exit code {code}."


TOOLS = (dap_status, dap_adapters, dap_run, dap_restart, dap_terminate, dap_disconnect)
