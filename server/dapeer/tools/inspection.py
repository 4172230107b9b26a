"""Tools that inspect a stopped program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from dapeer.base.errors import ArgumentError
from dapeer.base.secret_files import HIDDEN
from dapeer.base.text import tracebacks
from dapeer.base.text.fitting import fitted, is_nested, shortened, type_name
from dapeer.base.text.lines import indented, indented_after_first, lines_of
from dapeer.dap.types import ExceptionDetails, Scope, Variable
from dapeer.mirror.places import ThreadLocation
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import inspected_stop
from dapeer.sessions.inspection import children
from dapeer.sessions.inspection.inspection import MAX_LOCALS_IN_NVIM_DAP
from dapeer.tools.base import report
from dapeer.tools.base.arguments import (
    CallTarget,
    FrameId,
    SessionId,
    ThreadId,
    frame_of,
    thread_of,
)
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.evaluation import RESULT_CHARS, find_variable
from dapeer.tools.base.report import StopOptions, describe_silence, lines_of_waits, task_lines
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import show_state
from dapeer.tools.stack import frame_place
from dapeer.view import render, variables
from dapeer.view import snapshot as views
from dapeer.view.stacks import frame_line, frame_path

MAX_MARKED_THREADS = 20
"""Stopped threads of which the id of a frame is told."""
VALUE_CHARS = 300
"""Characters of a value in a list of variables."""
UNHANDLED = ("unhandled", "userUnhandled")
"""DAP's modes of a stop at an uncaught exception, or one that the user's code does not catch."""


@tool("Look at everything", section=Section.LOOK, read_only=True)
async def dap_snapshot(call: Call, session_id: SessionId = None) -> Reply:
    """Return where the program is: reason, source, stack, locals, changes, output; or how it ended."""
    return await show_state(
        call, call.focus.session_to_read(session_id), options=StopOptions(show="full")
    )


@tool("Where is it", section=Section.LOOK, read_only=True)
async def dap_current_location(
    call: Call,
    context_lines: Annotated[int, Field(ge=0, le=100)] = 5,
    session_id: SessionId = None,
) -> Reply:
    """Return file, line and function of the stop, with the source around it.

    The place is that of the frame shown: at a planned stop the innermost, unless data was written, else
    the innermost one of the user's code, if there is one. `context_lines` is the number of source lines
    before it and behind it. The data has `file`, `line`, `function` and `source`, a text that is empty if
    the source is not known, and one line that says so for a file that may hold secrets; `file` is empty if
    the frame has none. A note warns if the file is not what the frame runs, as it has changed since.

    Raises:
        NoSession: There is no such session.
        NotStopped: The session is not stopped, or the program has left the stop meanwhile.
        ArgumentError: The stopped thread has no stack.
        DapeerError: The adapter rejects the request for the stack, or does not answer.
    """
    session = call.session(session_id)
    with inspected_stop(session) as stop:
        frame = await session.inspect.fetch_shown_frame(stop)
    if frame is None:
        raise ArgumentError("The stopped thread has no stack.", "dap_threads lists the others.")
    path = frame_path(frame)
    around = session.inspect.source(path, frame["line"], context_lines, frame["name"])
    text = views.numbered(*around, frame["line"]) if around else ""
    data = {"file": path, "line": frame["line"], "function": frame["name"], "source": text}
    reply = Reply(
        lines_of([f"At {frame_line(frame, call.debugger.project)}"]) + f"\n{text}".rstrip(), data
    )
    warning = (
        session.inspect.source_versions.warning(path, frame["line"], frame["name"]) if path else ""
    )
    return with_notes(reply, [warning] if warning else [])


@tool("List threads", section=Section.LOOK, read_only=True)
async def dap_threads(call: Call, session_id: SessionId = None) -> Reply:
    """List the threads and asyncio tasks, and where each is in the user's code.

    The threads of a running program are read now, where that is possible; this takes some seconds at most. The
    data has `threads`, each with `thread_id`, `name`, `state` (`stopped`, `running`, or `blocked`: it does not
    heed a pause) and maybe `function`, `file`, `line` and, for a stopped thread, `frame_id`. Where there are
    any, it has the lists of lines `tasks`, `deadlock` (on those that wait for each other) and `waits` (on other
    waits), and a `note`, a sentence on an adapter that does not answer. The session becomes the client's
    default, unless it is of another program and no id is given.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        NotStopped: The program has ended, or dapeer has detached from it.
    """
    session = call.session(session_id)
    session.mirror.require_live()
    seen = await session.thread_locator.locate_threads()
    current = session.mirror.stop.thread_id if session.mirror.stop else 0
    ids = await _frame_ids(session, seen.threads)
    data = [_thread_data(session, each, ids.get(each.thread_id)) for each in seen.threads]
    lines = [
        f"{each.label} ({row['state']}"
        f"{', current' if row['thread_id'] == current else ''}){_place(session, each)}{_frame_mark(session, each, row)}"
        for row, each in zip(data, seen.threads, strict=True)
    ]
    listed: dict[str, Any] = {"threads": data}
    if seen.tasks:
        listed["tasks"] = task_lines(session, seen)
        lines += ["Tasks:", *(f"  {line}" for line in listed["tasks"])]
    for key, each in (await lines_of_waits(session, seen)).items():
        if each:
            listed[key] = each
            lines += [f"{key.capitalize()}:", *(f"  {line}" for line in each)]
    if seen.has_timed_out:
        listed["note"] = describe_silence(session, seen)
        lines.append(f"({listed['note']})")
    return Reply(lines_of(lines) or "No threads.", listed)


def _place(session: Session, seen: ThreadLocation) -> str:
    """Return where a thread or task is in the user's code, as text that follows its name."""
    return render.place_of_thread(seen, session.frames, session.project)


async def _frame_ids(
    session: Session, threads: Sequence[ThreadLocation]
) -> Mapping[int | None, int]:
    """Return, by thread id, the frame_id of the innermost frame of the user's code in each stopped thread.

    `threads` are all threads of the session; those that run are left out. If the program itself has listed a
    stopped thread's frames in `threads`, and it is not the stop's own thread, its frame is taken from there and
    the adapter is not asked: debugpy calls a thread stopped that runs no line. The adapter is asked for the
    stacks of the first `MAX_MARKED_THREADS` of the others. A thread without a frame of the user's, or whose
    stack does not come, is left out. The result is empty if the session is not stopped, or another stop has
    come meanwhile.
    """
    stop, reads = session.mirror.stop, session.thread_locator.reads_running
    if stop is None:
        return {}
    stopped = [one for one in threads if one.stopped and one.thread_id is not None]
    read = [one for one in stopped if reads and one.own_id and one.thread_id != stop.thread_id]
    known = {one.thread_id: report.users_frame_id(session, one) for one in read}
    asked = [one.thread_id or 0 for one in stopped if one.thread_id not in known]
    stacks = await session.thread_locator.stacks(asked[:MAX_MARKED_THREADS])
    if session.mirror.stop is not stop:
        return {}
    users = {
        thread: session.frames.innermost_users_frame(frames) for thread, frames in stacks.items()
    }
    handle = stop.presentation.handles.handle_for
    found = {thread: handle("frame_id", one["id"]) for thread, one in users.items() if one}
    return {**found, **{thread: number for thread, number in known.items() if number is not None}}


def _frame_mark(session: Session, seen: ThreadLocation, row: Mapping[str, Any]) -> str:
    """Return ` [frame_id N]` of a thread, by its `row` if it is stopped; empty: no frame is known."""
    given = row.get("frame_id")
    return f" [frame_id {given}]" if given else report.frame_id_mark(session, seen)


def _thread_data(
    session: Session, seen: ThreadLocation, frame_id: int | None = None
) -> Mapping[str, Any]:
    """Return a thread as data: `thread_id`, `name`, `state`, and place and `frame_id` if they are known.

    The state is `stopped`, `running`, or `blocked` (a pause is requested, and the thread, whose frames are known
    from outside, does not stop). The place is `function`, `file` and `line`, of the innermost frame of the user's
    code, else of the innermost frame; the keys are left out if no frame is known. `frame_id` is dapeer's id of
    the innermost frame of the user's code, and goes into the data as it is; None: the key is left out.
    """
    state = "stopped" if seen.stopped else "running"
    if not seen.stopped and session.mirror.is_pausing and seen.frames:
        state = "blocked"
    row: dict[str, Any] = {"thread_id": seen.thread_id, "name": seen.name, "state": state}
    frame = session.frames.innermost_users_frame(seen.frames) or next(iter(seen.frames), None)
    placed = row if frame is None else {**row, **frame_place(frame)}
    return placed if frame_id is None else {**placed, "frame_id": frame_id}


@tool("List scopes", section=Section.LOOK, read_only=True)
async def dap_scopes(call: Call, frame_id: FrameId = None, session_id: SessionId = None) -> Reply:
    """List the scopes of a frame with the variables_reference of each.

    The frame is `frame_id`, by default the one shown. The data has `scopes`, each with `name` and
    `variables_reference`; it is empty if the frame has none, or the adapter gives no frame. A frame of a thread
    that runs has one scope, `Locals`, with `frame_id` instead of a reference; that frame is not checked here. A
    session given by its id becomes the client's default.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        NotStopped: The session is not stopped, or the program has left the stop meanwhile.
        StaleReference: The frame belongs to an earlier stop.
        ArgumentError: There is no such frame, or the stop has too many references already.
        DapeerError: The adapter rejects a request, or does not answer.
    """
    session = call.session(session_id)
    if frame_id is not None and await report.frame_to_read(session, frame_id):
        # What is read where it waits has no references.
        data = [{"name": "Locals", "frame_id": frame_id}]
        return Reply(indented(f"Locals: dap_variables(frame_id={frame_id})"), {"scopes": data})
    with inspected_stop(session) as stop:
        frame = await frame_of(session, frame_id)
        scopes: Sequence[Scope] = await session.inspect.scopes(frame) if frame is not None else []
    rows = [
        (
            scope["name"],
            stop.presentation.handles.handle_for(
                "variables_reference", scope["variablesReference"], frame
            ),
        )
        for scope in scopes
    ]
    data = [{"name": name, "variables_reference": handle} for name, handle in rows]
    lines = [f"{name} [variables_reference {handle}]" for name, handle in rows]
    return Reply("\n".join(map(indented, lines)) or "No scopes.", {"scopes": data})


@tool("List variables", section=Section.LOOK, read_only=True, group_state="stopped")
async def dap_variables(
    call: Call,
    variables_reference: Annotated[int | None, Field(ge=1)] = None,
    path: Annotated[str | None, Field(description="such as order.items[3].price")] = None,
    frame_id: FrameId = None,
    filter: Literal["indexed", "named"] | None = None,  # noqa: A002 - DAP's name
    start: Annotated[int, Field(ge=0)] = 0,
    count: Annotated[int, Field(ge=1, le=500)] = 50,
    *,
    target: CallTarget,
) -> Reply:
    """List the variables in a container given by reference or path; default the locals of the frame.

    The container is `variables_reference` of an answer, with which `path` and `frame_id` are ignored; else the
    value at `path`, else the frame `frame_id`, by default the one shown. `filter` leaves only `indexed` or
    `named` ones; `count` of them are returned from index `start` (from 0) on. The data has `variables`, each with
    `name`, `value`, and maybe `type` and `variables_reference`, and `more`, how many follow, if any do; with
    `path` also the fields of that value, or only these if it holds nothing. A frame of a thread that is not
    stopped can be read with some adapters: then the data has `variables` alone, without references, and the value
    at `path` is only in the text. With consent to evaluation, a getter, or a `path` that is not among the
    variables, runs code of the program.

    Raises:
        NotStopped: The session is not stopped, and its frames cannot be read.
        StaleReference: The reference or frame belongs to an earlier stop.
        ArgumentError: There is no such variable or handle, `path` is no path, its evaluation fails, or the stopped
            thread has no frames.
        ConsentNeeded: Only code of the program gives the value, and nobody has consented to run it.
        DapeerError: The adapter rejects a request, or does not answer.
    """
    session = call.session(target.session_id)
    if variables_reference is None and (running := await report.frame_to_read(session, frame_id)):
        return await report.variables_of_frame(session, running, path, filter, start, count)
    with inspected_stop(session) as stop:
        if variables_reference is not None:
            return await _list_children(
                call, session, stop, variables_reference, filter, start, count
            )
        frame = await frame_of(session, frame_id)
        if path is None:
            return await _frame_variables(session, stop, frame, filter, start, count)
        found = await find_variable(call, session, path, frame)
        # A value that is written with its members has them listed below.
        limit = (
            variables.VALUE_CHARS
            if found["variablesReference"] and is_nested(found["value"])
            else RESULT_CHARS
        )
        whole = _variable_text(stop, found, limit), _variable_data(stop, found, limit)
        if not found["variablesReference"]:
            return Reply(indented(indented_after_first(whole[0])), whole[1])
        inside = await _children(session, stop, found["variablesReference"], filter, start, count)
        return Reply(
            f"{indented(indented_after_first(whole[0]))}\n{inside.text}",
            {**whole[1], **(inside.data or {})},
        )


async def _list_children(
    call: Call, session: Session, stop: Stop, handle: int, kind: str | None, start: int, count: int
) -> Reply:
    """Return the variables in a container that a caller names by its handle, as a reply.

    They are requested from the adapter; the getter that the handle may stand for is run if there is consent.
    `handle` is the `variables_reference` of an answer. `kind` is `indexed`, `named` or None for both; at most
    `count` of them are returned, from index `start` (from 0) on.

    Raises:
        StaleReference: The handle belongs to an earlier stop.
        ArgumentError: There is no such handle.
        ConsentNeeded: It is a getter, whose value only the program's code gives, and nobody has consented.
        DapeerError: The program runs, or a request failed.
    """
    reference = stop.presentation.handles.resolve("variables_reference", handle)
    if (owner := stop.presentation.handles.frame_of_scope(handle)) is not None:
        # The adapter may use the reference for the scope of another frame by now.
        await session.inspect.scopes(owner)
    if reference in stop.values.lazy_references:
        call.require_consent(
            "evaluate",
            "A getter has a value only once it runs, which executes code of the program.",
            "The other variables of its container can be shown.",
        )
    return await _children(session, stop, reference, kind, start, count)


async def _frame_variables(
    session: Session, stop: Stop, frame: int | None, kind: str | None, start: int, count: int
) -> Reply:
    """Return the local variables of a frame as a reply; definitions of functions and classes come last.

    Scopes and variables are requested from the adapter if the mirror does not have them. `stop` is the current
    stop, `frame` the adapter's id of one of its frames. `kind` is `indexed` (elements), `named` (others) or None
    for both; at most `count` of these are returned, from the index `start` (from 0) on. The data has `variables`,
    and `more`, how many follow, if any do.

    Raises:
        ArgumentError: `frame` is None: the stopped thread has no frames.
        NotStopped: The program runs on.
        DapeerError: A request fails.
    """
    if frame is None:
        raise ArgumentError("The stopped thread has no frames.", "dap_threads lists the others.")
    await session.inspect.scopes(frame)
    for scope in stop.values.local_scopes(frame):
        await session.inspect.variables(scope["variablesReference"])
    data, definitions = variables.parted(stop.locals(frame))
    return await _page_reply(
        session, stop, children.cut(children.of_kind(data + definitions, kind), start, count), start
    )


async def _children(
    session: Session, stop: Stop, reference: int, kind: str | None, start: int, count: int
) -> Reply:
    """Return a part of the variables in a container with an adapter's reference, as a reply.

    These are `count` from index `start`. `kind` is `indexed`, `named` or None for both.
    """
    page = await children.page_of(session.inspect, stop, reference, kind, start, count)
    return await _page_reply(session, stop, page, start)


async def _page_reply(session: Session, stop: Stop, page: children.Page, start: int) -> Reply:
    """Return a page of variables as a reply, with the number of those that follow it.

    Where the program stays unpatched, as in nvim-dap, the first `MAX_LOCALS_IN_NVIM_DAP` values of the page
    that the adapter shows folded are requested first, so that their elements can be shown; further ones, and
    those whose request fails, stay folded. `start` is the index of the page's first variable in its container.
    `stop` is the stop at which the variables were fetched: it knows their types and gives them handles. The
    data has `variables` (see `_variable_data`), and `more`, the number of those that follow, if any are known.
    Where the page is `open`, there may be more than that; only the text says so ("at least").

    Raises:
        ArgumentError: A new handle is needed, and the stop has as many as it may have.
    """
    shown = page.rows
    if session.inspect.omission_pattern is not None:
        for variable in [*filter(session.inspect.is_folded, shown)][:MAX_LOCALS_IN_NVIM_DAP]:
            await session.inspect.fetch_members(variable)
    lines = [
        indented(indented_after_first(_variable_text(stop, variable, VALUE_CHARS)))
        for variable in shown
    ]
    left = page.total - start - len(shown)
    if left > 0:
        least = "at least " * page.open
        lines.append(f"({least}{left} more: start={start + len(shown)})")
    elif start and not shown and not page.by_number:
        lines.append(
            f"No variables from {start} on: the adapter lists no elements of this value. If it has some,"
            f" dap_evaluate shows them by a slice, such as [{start}:{start + MAX_LOCALS_IN_NVIM_DAP}] behind its path in Python."
        )
    elif page.total and not shown:
        lines.append(f"No variables from {start} on: there are {page.total}.")
    more = {"more": left} if left > 0 else {}

    def facts() -> dict[str, Any]:
        return {"variables": [_variable_data(stop, each, VALUE_CHARS) for each in shown], **more}

    return Reply("\n".join(lines) or "No variables.", facts)


def _variable_text(stop: Stop, variable: Variable, limit: int) -> str:
    """Return a variable as text: name, type, value, and its handle if it has members.

    The text is `NAME: TYPE = VALUE [variables_reference N]`; a type that is not known is left out. The value is
    cut to about `limit` characters, where its brackets allow it. The handle N, a `variables_reference` of the
    stop, is made here if there is none yet.

    Raises:
        ArgumentError: The stop has as many handles as it may have, and a new one would be needed.
    """
    reference = variable["variablesReference"]
    known = _type_of(stop, variable)
    kind = f": {known}" if known else ""
    more = (
        f" [variables_reference {stop.presentation.handles.handle_for('variables_reference', reference)}]"
        if reference
        else ""
    )
    return f"{variable['name']}{kind} = {fitted(stop.values.shown(variable), limit)}{more}"


def _type_of(stop: Stop, variable: Variable) -> str:
    """Return the type of a variable's value; empty for a getter.

    An adapter gives the type of the getter's function.
    """
    return "" if stop.values.is_getter(variable) else type_name(variable.get("type") or "")


def _variable_data(stop: Stop, variable: Variable, limit: int) -> dict[str, Any]:
    """Return a variable as data: `name`, `value`, and `type` and `variables_reference` if it has them.

    The value is cut to about `limit` characters. `variables_reference` is dapeer's handle for the children
    of the variable, not the adapter's number; it is made here if the stop has none yet.

    Raises:
        ArgumentError: It would be a new handle, and the stop has as many as it can have.
    """
    data: dict[str, Any] = {
        "name": variable["name"],
        "value": fitted(stop.values.shown(variable), limit),
    }
    if known := _type_of(stop, variable):
        data["type"] = known
    if variable["variablesReference"]:
        data["variables_reference"] = stop.presentation.handles.handle_for(
            "variables_reference", variable["variablesReference"]
        )
    return data


@tool("Exception details", section=Section.LOOK, read_only=True)
async def dap_exception_info(
    call: Call, thread_id: ThreadId = None, session_id: SessionId = None
) -> Reply:
    """Return type, message and traceback of the exception.

    The thread is `thread_id`, by default that of the stop. The data has `exception` (type and message as one
    text, shortened), `break_mode` (DAP's; None: the adapter gives none) and `traceback` (a text; empty: the
    adapter gives none), in which lines of secret files are hidden.

    Raises:
        ArgumentError: The thread did not stop at an exception, or there is no such thread.
        NoSession: There is no such session, or without an id it is not clear which one is meant.
        NotStopped: The session or the thread is not stopped.
        Unsupported: The adapter does not tell exceptions, and nothing is known of this one.
        DapeerError: The request failed.
    """
    session = call.session(session_id)
    thread = thread_of(session, thread_id)
    stop = session.mirror.require_stop(thread)
    if thread != stop.thread_id:
        raise ArgumentError(
            f"The stop is that of thread {stop.thread_id}, not of thread {thread}.",
            f"dap_stacktrace(thread_id={thread}) shows where that is.",
        )
    if stop.reason != "exception" and stop.exception is None:
        raise ArgumentError(
            f"The program did not stop at an exception; the reason is {stop.reason}.",
            "dap_snapshot shows where it is.",
        )
    with inspected_stop(session, thread):
        info = stop.exception or await session.inspect.exception_info(thread)
    details: ExceptionDetails = info.get("details") or {}
    exception = shortened(views.exception_text(stop), RESULT_CHARS)
    data = {
        "exception": exception,
        "break_mode": info.get("breakMode"),
        "traceback": tracebacks.formatted(
            str(details.get("stackTrace") or ""),
            views.exception_text(stop),
            call.debugger.project,
            lambda path: HIDDEN if call.debugger.files.secret.hides(path) else "",
        ),
    }
    unhandled = " (unhandled)" if data["break_mode"] in UNHANDLED else ""
    return Reply(f"{indented(exception + unhandled)}\n{data['traceback']}".rstrip(), data)
