"""Tools that resume a program, forwards or back, and show its next stop."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import anyio
from pydantic import Field

from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.sources import source_file
from dapeer.base.text.fitting import shortened
from dapeer.dap.messages import Body
from dapeer.dap.sent_requests import ResumingCommand, StepInTargetsArguments
from dapeer.dap.types import Source
from dapeer.mirror.stops import Stop
from dapeer.peers.consent_kinds import RESUMES_PROGRAM, RUN, THEN, VALUES, CallKinds
from dapeer.sessions.core.session import Session
from dapeer.sessions.leaving_calls import CallingFrame, calling_frame, leave_calls
from dapeer.tools.base.arguments import (
    FrameId,
    GroupName,
    Line,
    Milliseconds,
    ThreadId,
    frame_of,
    thread_of,
)
from dapeer.tools.base.call import Call, RemainingTime, Reply, with_notes
from dapeer.tools.base.report import GroupOptions, ResumeOptions, Show, StopOptions, WaitOptions
from dapeer.tools.base.schema import Needs, Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import LaterTriggers, next_stop, resume, wait_for_pause

Granularity = Annotated[Literal["statement", "line", "instruction"] | None, Needs("granularity")]
TargetCall = Annotated[
    str | None, Needs("stepInTargets"), Field(description="which of the line's calls, by name")
]


SECONDS_TO_NAME = 1.0
"""Seconds in which the names of two threads are looked up."""
SECONDS_TO_PAUSE = 2.0
"""Seconds that an adapter has to answer a `pause`."""
LABEL_CHARS = 60
"""Characters of a call that is offered as a target."""
_TOOLS: Mapping[str, str] = {
    "next": "dap_step_over",
    "stepIn": "dap_step_into",
    "stepOut": "dap_step_out",
}
"""The tool of a step."""


@tool(
    "Continue",
    section=Section.RUN,
    kinds=CallKinds(RUN, (*VALUES, *THEN)),
    resumes=True,
    is_lean=True,
    group_state="stopped",
)
async def dap_continue(
    call: Call, thread_id: ThreadId = None, *, triggers: LaterTriggers, options: GroupOptions
) -> Reply:
    """Run to the next stop or the end.

    The thread is `thread_id`, by default that of the stop; most debuggers resume all threads. `then` lists
    what is sent once the program runs and is ready, as `ready` says (it listens at a port, or has printed a
    pattern); if the program runs already, it is not resumed, and `then` is sent. The options say what is
    evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how
    many milliseconds to wait (`wait_until_paused`, `timeout_ms`). With `group` all of its sessions that are
    stopped are resumed. The next stop, or the state when the time is over, is returned.

    Raises:
        NoSession: There is no such session.
        NotStopped: The session is not stopped, and there is no `then`; or it has ended.
        DapeerError: The adapter rejects the request, or an argument is invalid.
    """
    triggers.check()
    if triggers.then and (running := _running_session(call, options.session_id)) is not None:
        epoch, old = running.mirror.epoch, running.program.unseen_stops(running)
        triggers.begin(call, running)
        return await next_stop(call, running, epoch, options.timeout_ms, old, options=options)
    session, arguments = stepping_arguments(call, options.session_id, thread_id)
    triggers.begin(call, session)
    return await resume(call, session, "continue", arguments, options)


def _running_session(call: Call, session_id: int | None) -> Session | None:
    """Return the session that is meant if its program runs; None: it is stopped or has ended."""
    session = call.session(session_id)
    return session if session.mirror.state.is_running else None


@tool("Step over", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True, is_lean=True)
async def dap_step_over(
    call: Call,
    thread_id: ThreadId = None,
    granularity: Granularity = None,
    *,
    options: ResumeOptions,
) -> Reply:
    """Run the line, calls included.

    The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that still runs, that call runs to
    its end first. `granularity` is DAP's; None: the adapter's default. The options say what is evaluated at the next stop (`evaluate`), how
    much of the stop is shown (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next
    stop, or the state when the time is over, is returned; notes say if the step was not done.

    Raises:
        NotStopped: The session is not stopped.
        Unsupported: The adapter does not support `granularity`.
    """
    session, arguments = stepping_arguments(call, options.session_id, thread_id, granularity)
    return await _step(call, session, "next", arguments, options)


@tool("Step into", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True)
async def dap_step_into(
    call: Call,
    thread_id: ThreadId = None,
    target: TargetCall = None,
    granularity: Granularity = None,
    *,
    options: ResumeOptions,
) -> Reply:
    """Enter the function called on the current line.

    The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that
    still runs, that call runs to its end first, if this call waits and neither `target` nor `granularity` is
    given; if it does not end in time, the step is not made. Where another thread's stop has interrupted an
    earlier step into, and the debugger goes on with that step by itself, the program is continued instead.
    `target` is a part of the text of the call to enter, where the line has several; None: the first that is
    called. `granularity` is DAP's; None: the adapter's default. The options say what is evaluated at the next
    stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
    (`wait_until_paused`, `timeout_ms`). The program's next stop, be it of another thread or process, or the
    state when the time is over, is returned; notes say if the step was not done.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        NotStopped: The session is not stopped.
        ArgumentError: The line has no such call, or there is no such thread.
        Unsupported: The adapter does not support `target` or `granularity`.
        DapeerError: The adapter rejects a request.
    """
    session, arguments = stepping_arguments(call, options.session_id, thread_id, granularity)
    if target is not None:
        arguments = {
            **arguments,
            "targetId": await _request_step_target(session, arguments["threadId"], target),
        }
    return await _step(call, session, "stepIn", arguments, options)


async def _request_step_target(session: Session, thread: int, name: str) -> int:
    """Request the calls of the line where a thread is stopped; return the adapter's id of one of them.

    `name` is a part of the call's text; of several calls the first that begins with `name` is taken, else the
    first. `thread` is the adapter's id of the thread.

    Raises:
        ArgumentError: There is no such call; the error lists the calls.
        Unsupported: The adapter cannot list calls.
        NotStopped: The thread runs.
        DapeerError: The adapter rejects a request, or does not answer.
    """
    session.require("stepInTargets")
    frames = await session.inspect.stack_trace(thread)
    arguments = StepInTargetsArguments(frameId=frames[0]["id"] if frames else 0)
    body = await session.request("stepInTargets", arguments)
    targets = body.get("targets") or []
    named = [each for each in targets if name in each["label"]]
    if not named:
        calls = ", ".join(shortened(each["label"], LABEL_CHARS) for each in targets) or "none"
        raise ArgumentError(f"`target`: this line has no call {name!r}.", f"Calls: {calls}.")
    # `price` is rather the call price(order) than total(price(order)).
    named.sort(key=lambda each: not each["label"].startswith(name))
    return named[0]["id"]


@tool("Step out", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True)
async def dap_step_out(
    call: Call,
    thread_id: ThreadId = None,
    granularity: Granularity = None,
    *,
    options: ResumeOptions,
) -> Reply:
    """Run until the current function has returned.

    The thread is `thread_id`, by default that of the stop. Where the frame shown has called a library that still runs, that call runs to
    its end first. `granularity` is DAP's. The options say what is evaluated at the next stop (`evaluate`), how much of the stop is shown
    (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next stop, or the state when the
    time is over, is returned.

    Raises:
        NotStopped: The session is not stopped.
        Unsupported: The adapter does not support `granularity`.
    """
    session, arguments = stepping_arguments(call, options.session_id, thread_id, granularity)
    return await _step(call, session, "stepOut", arguments, options)


async def _step(
    call: Call, session: Session, command: ResumingCommand, arguments: Body, options: StopOptions
) -> Reply:
    """Step a thread by a DAP request, and return the next stop as a reply.

    Where the frame that is shown has called something (such as a library) that still runs, that runs to its end
    first; this is left out if `arguments` have more than `threadId`, or `options` do not wait for the stop. If
    another thread's stop has interrupted an earlier step of this thread by the same `command`, and the debugger
    goes on with such a step by itself, the program is continued instead. If no stop comes in time, the reply
    has the state of the running program, and the step may not have begun. Notes say whether the step is not
    done, or was made in another frame.

    Args:
        call: The call of the tool.
        session: The session to step.
        command: The request: `next`, `stepIn` or `stepOut`.
        arguments: The request's arguments, with `threadId`, the adapter's id of the thread.
        options: What to evaluate and show at the stop, and how long to wait.

    Raises:
        NotStopped: The program runs, or has ended.
        DapeerError: The adapter rejects a request.
    """
    before, thread = session.mirror.require_stop(), arguments["threadId"]
    keeps = _keeps_step(call, session)
    begun = session.mirror.history.interrupted_step(thread)
    if keeps and begun is not None and begun.resumed_with == command:
        reply = await resume(call, session, "continue", arguments, options)
    elif set(arguments) == {"threadId"} and options.wait_until_paused and options.timeout_ms:
        reply = await _step_where_shown(call, session, command, thread, options)
    else:
        reply = await resume(call, session, command, arguments, options)
    interrupted = await _interrupted_step_note(session, thread, command, keeps=keeps)
    return with_notes(reply, [*interrupted, *_stepped_elsewhere_note(session, before)])


async def _step_where_shown(
    call: Call, session: Session, command: ResumingCommand, thread: int, options: StopOptions
) -> Reply:
    """Let the calls that the shown frame has made run to their ends, then step the thread in that frame.

    `command` is the step's request; without such calls, or where a call has raised an exception (which never
    returns), it is sent at once. In a thread without a stop of its own, the frame is that of its interrupted step,
    or the innermost of the user's code. The request is not sent if a call does not end within the timeout, if
    something else stops the program, or if the end of the calls has made the step already; then the next stop is
    shown, and a note is added if the program still runs. If the adapter rejects stepping out of a call, the step is
    made where the thread is. `options` say what to evaluate and show at the stop, and how long to wait for both
    together. `thread` is the adapter's id of the thread.

    Raises:
        NotStopped: The thread runs, or leaves the new stop before the first expression of `options` was
            evaluated.
        DapeerError: The thread's stack cannot be fetched, or the adapter rejects the step.
    """
    left = RemainingTime(options.timeout_ms)
    epoch, old = session.mirror.epoch, session.program.unseen_stops(session)
    calling = await calling_frame(session, thread)
    if calling and not await leave_calls(session, calling, command, left.remaining_ms / 1000):
        reply = await next_stop(call, session, epoch, left.remaining_ms, old, options=options)
        return with_notes(reply, _unbegun_step_note(session, calling))
    rest = replace(options, timeout_ms=int(left.remaining_ms))
    return await resume(call, session, command, {"threadId": thread}, rest)


def _unbegun_step_note(session: Session, calling: CallingFrame) -> list[str]:
    """Return a note that a step has not begun, since the program still runs a call of the shown frame.

    The list has this one text, or is empty if the program does not run. Only that is looked at: whether the step
    has begun is the caller's to know. `calling` is the shown frame.
    """
    if not session.mirror.state.is_running:
        return []
    name = calling.frame["name"]
    return [
        f"the step in {name} has not begun, for the call that it has made still runs; "
        f"if the program then stops in that call, dap_run_to with a line of {name} leads there"
    ]


def _keeps_step(call: Call, session: Session) -> bool:
    """Whether the debugger goes on with a step that another thread's stop has interrupted.

    The adapter's definition says so.
    """
    definition = call.debugger.definitions.get(session.adapter)
    return definition is not None and definition.quirks.keeps_step


async def _interrupted_step_note(
    session: Session, thread: int, command: ResumingCommand, *, keeps: bool
) -> list[str]:
    """Return a note if another thread has stopped before the step of `thread` was done; empty if not.

    The result is a list of one text or none. It is empty also if the program runs, and if the other thread
    has stopped for a step of its own. The threads' names are requested from the adapter, for
    `SECONDS_TO_NAME` at most; without an answer the note has ids. `thread` is the adapter's id of the thread,
    `command` the request of the step; `keeps`: the debugger can begin no other step before this one is done.
    """
    stop = session.mirror.stop
    if stop is None or stop.thread_id == thread or stop.reason == "step":
        return []
    names: Mapping[int, str] = {}
    with contextlib.suppress(DapeerError), anyio.move_on_after(SECONDS_TO_NAME):
        names = await session.inspect.threads()
    stepped, first = (_thread_name(each, names) for each in (thread, stop.thread_id))
    rest = "no other step can begin before" if keeps else f"without thread_id {first} steps"
    return [
        f"the step of {stepped} is not done, for {first} stopped before; "
        f"{_TOOLS[command]}(thread_id={thread}) goes on with it, {rest}"
    ]


def _thread_name(thread: int, names: Mapping[int, str]) -> str:
    """Return what a thread is called: `thread 519 (main)`."""
    name = names.get(thread, "")
    return f"thread {thread}" if name in ("", f"thread {thread}") else f"thread {thread} ({name})"


def _stepped_elsewhere_note(session: Session, before: Stop) -> list[str]:
    """Return a note if a step that was meant for the user's frame has ended in a library's; empty if not.

    `before` is the stop at which the step began. Some debuggers can step in the innermost frame only.
    """
    stop = session.mirror.stop
    if not before.stack.default_index or stop is None or stop.reason != "step":
        return []
    owner = session.frames.owner(stop.default_frame) if stop.default_frame is not None else ""
    if not owner:
        return []
    return [
        f"the step was made in {owner}, where the program was; dap_run_to with a line of the frame that was shown leads there"
    ]


def stepping_arguments(
    call: Call, session_id: int | None, thread_id: int | None, granularity: str | None = None
) -> tuple[Session, Body]:
    """Return the session to resume, and the arguments that every resuming DAP request has.

    The arguments are `threadId`, by default that of the current stop, and `granularity` if it is given.
    `session_id` and `thread_id` are the ones that the caller has given, or None for the default. A given thread is
    only checked where the adapter has listed threads, and may run. Nothing is sent. The session becomes the
    client's default, unless it is of another program and no id is given.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        ArgumentError: There is no such thread.
        NotStopped: No thread is named, and the session is not stopped; or a signal has killed its process at a
            stop.
        Unsupported: `granularity` is given, but the adapter does not support it, or the session is on a core dump.
    """
    session = call.session(session_id)
    arguments: Body = {"threadId": thread_of(session, thread_id)}
    if granularity is not None:
        session.require("granularity")
        arguments = {**arguments, "granularity": granularity}
    return session, arguments


@tool("Run to a line", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True)
async def dap_run_to(call: Call, filename: str, line: Line, *, options: ResumeOptions) -> Reply:
    """Run on to a line, or to a stop before it.

    A breakpoint that lasts until the next stop is set on `line` (from 1) of `filename`, in place of any that is there, and the program is
    continued. The options say what is evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for
    how many milliseconds to wait (`wait_until_paused`, `timeout_ms`). The next stop, which may be another one, or the state when the time
    is over, is returned.

    Raises:
        NotStopped: The session is not stopped.
        ArgumentError: The file does not exist.
    """
    session = call.session(options.session_id)
    stop = session.mirror.require_stop()
    path = source_file(filename, call.debugger.project)
    await call.debugger.send_temporary_breakpoint(session, path, line)
    return await resume(call, session, "continue", {"threadId": stop.thread_id}, options)


@dataclass(frozen=True, slots=True)
class _GotoOptions(WaitOptions):
    evaluate: Annotated[Sequence[str], Unlisted()] = ()
    show: Annotated[Show, Unlisted()] = None
    timeout_ms: int = field(default=10_000, init=False)


@tool(
    "Jump to a line",
    section=Section.RUN,
    kinds=CallKinds(("run", "write"), VALUES, "it can skip code"),
)
async def dap_goto(
    call: Call,
    line: Line,
    filename: str | None = None,
    thread_id: ThreadId = None,
    *,
    options: _GotoOptions,
) -> Reply:
    """Move execution to a line without running what lies between.

    The program stays stopped. `line` is a 1-based line of `filename`, by default the file of the thread's top frame;
    `thread_id` is by default the thread of the stop. The session becomes the client's default, unless it is of another
    program and no id is given. If the adapter offers several targets on the line, the first is taken. The new place is
    waited for, for 10 s at most, and returned as a snapshot: `evaluate` of `options` lists expressions that are
    evaluated there, and `show` says how much of it is shown; what is shown counts as shown.

    Raises:
        ArgumentError: The adapter cannot move execution to that line, or there is no such file or thread.
        NotStopped: The session is not stopped, or the thread runs.
        DapeerError: There is no such session, or the adapter rejects the request, or does not support it.
    """
    session = call.session(options.session_id)
    thread = thread_of(session, thread_id)
    frames = await session.inspect.stack_trace(thread)
    path = filename or (frames[0].get("source", {}).get("path", "") if frames else "")
    source: Source = {"path": source_file(path, call.debugger.project)}
    body = await session.request("gotoTargets", {"source": source, "line": line})
    targets = body.get("targets") or []
    if not targets:
        raise ArgumentError(
            f"Execution cannot be moved to line {line}.",
            "Choose a line with code in the same function.",
        )
    target = {"threadId": thread, "targetId": targets[0]["id"]}
    return await resume(call, session, "goto", target, options)


@dataclass(frozen=True, slots=True)
class _PauseOptions(WaitOptions):
    timeout_ms: Milliseconds = 10_000
    group: GroupName = None


@tool(
    "Pause",
    section=Section.RUN,
    kinds=RESUMES_PROGRAM,
    is_lean=True,
    idempotent=True,
    group_state="running",
)
async def dap_pause(call: Call, thread_id: ThreadId = None, *, options: _PauseOptions) -> Reply:
    """Stop the program, or show where it is blocked.

    It waits at most `timeout_ms` for the stop; where threads of a running program can be seen, and none stops
    soon, it returns where each of them is blocked. `thread_id` is the thread to pause; None: the first one.
    Most debuggers pause all threads with it. If any thread is stopped already, its stop is only shown, and
    `thread_id` is not paused. With `group` all of its sessions that run are paused. `evaluate` and `show` are
    for the stop.

    Raises:
        DapeerError: The session has ended, or the adapter rejects the request.
    """
    session = call.session(options.session_id)
    if session.mirror.stop is not None:
        return await next_stop(call, session, -1, options.timeout_ms, options=options)
    epoch = session.mirror.epoch
    left = RemainingTime(options.timeout_ms)
    answered = await session.pause(thread_id, min(SECONDS_TO_PAUSE, left.seconds_to_wait))
    return await wait_for_pause(call, session, epoch, left, wait=answered, options=options)


def _living_programs_note(call: Call) -> list[str]:
    """Return a note on the living programs, for a caller who waits for one that has ended.

    It is a list of one text, with the call that waits for them. Empty: no program lives.
    """
    match [str(each.id) for each in call.debugger.sessions.programs]:
        case []:
            return []
        case [one]:
            return [f"session {one} lives: dap_wait_until_paused(session_id={one}) waits for it"]
        case several:
            listed = ", ".join(several)
            return [f"sessions {listed} live: dap_wait_until_paused(session_id=…) waits for one"]


@tool("Wait for a stop", section=Section.RUN, is_lean=True, read_only=True)
async def dap_wait_until_paused(call: Call, options: WaitOptions) -> Reply:
    """Wait for the next stop or the end.

    It waits at most `timeout_ms`; after that the reply shows the program running, which is no error. A session
    that is stopped, or whose program has ended, is shown at once. Nothing is resumed. `evaluate` and `show` are
    for the stop, which may be in another process of the program, or in another program that triggers (`then`)
    have reached. If `session_id` is left out and the whole program of the client's session has ended, a note
    names the programs that live, if any.

    Raises:
        ConsentNeeded: `evaluate` is given, and nobody has consented.
        NoSession: There is no such session, or none at all.
        NotStopped: The program left the stop before the first expression of `evaluate` was evaluated.
    """
    if options.evaluate:
        call.require_consent(
            "evaluate", "Evaluating may run code of the program.", "Leave `evaluate` out."
        )
    session = call.focus.session_to_read(options.session_id)
    others = [] if options.session_id or session.program.is_alive else _living_programs_note(call)
    reply = await next_stop(call, session, -1, options.timeout_ms, options=options)
    return with_notes(reply, others)


# Tools that go back: to an earlier moment of the program, or to the start of a function.


@tool("Step back", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True, needs=["stepBack"])
async def dap_step_back(
    call: Call,
    to_breakpoint: bool = False,
    thread_id: ThreadId = None,
    granularity: Granularity = None,
    *,
    options: ResumeOptions,
) -> Reply:
    """Run backwards by one line, or to the previous breakpoint, and return the snapshot.

    The thread is `thread_id`, by default that of the stop. With `to_breakpoint` `granularity` (DAP's) does not count. The options say what
    is evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
    (`wait_until_paused`, `timeout_ms`).

    Raises:
        NotStopped: The session is not stopped.
        DapeerError: The adapter rejects the request, or does not support `granularity`.
    """
    command = "reverseContinue" if to_breakpoint else "stepBack"
    granularity = None if to_breakpoint else granularity
    session, arguments = stepping_arguments(call, options.session_id, thread_id, granularity)
    return await resume(call, session, command, arguments, options)


@tool("Restart a frame", section=Section.RUN, kinds=RESUMES_PROGRAM, needs=["restartFrame"])
async def dap_restart_frame(call: Call, frame_id: FrameId = None, *, options: WaitOptions) -> Reply:
    """Restart a function call with its current arguments, and return the snapshot there.

    The frame is `frame_id`, by default the one shown. In `options`, `session_id` names the session (None: the
    default one, or a stopped one of its program), and `evaluate` and `show` are for the stop in the restarted
    call, for which this call waits `timeout_ms` milliseconds at most; at the timeout the reply is the state then.
    The code of the program runs, and what the reply tells counts as shown.

    Raises:
        ArgumentError: There is no frame with this `frame_id`, or the stopped thread has no frames.
        StaleReference: `frame_id` belongs to an earlier stop.
        Unsupported: The adapter cannot restart frames.
        NotStopped: The session is not stopped.
        NoSession: There is no such session, or without an id it is not clear which one is meant.
        DapeerError: The adapter rejects the request, or the program left the new stop before the first of
            `evaluate` was evaluated.
    """
    session = call.session(options.session_id)
    session.require("restartFrame")
    frame = await frame_of(session, frame_id)
    if frame is None:
        raise ArgumentError("The stopped thread has no frames.", "dap_threads lists the others.")
    return await resume(call, session, "restartFrame", {"frameId": frame}, options)
