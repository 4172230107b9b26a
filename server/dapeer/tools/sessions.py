"""Tools that list, restart and end debug sessions. Those that start them are in `starting`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.choice.interpreter import find_python
from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import ArgumentError
from dapeer.base.sources import relative_to_project
from dapeer.base.system.environment import environment_for
from dapeer.base.system.tasks import all_of
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.base.text.lines import indented_after_first, lines_of
from dapeer.launch.inheritance import follow_edits
from dapeer.peers import Peer
from dapeer.peers.consent_kinds import RUN, RUNS, THEN, VALUES, CallKinds
from dapeer.sessions import outcomes
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.views import summary, view_of, wait_for_place
from dapeer.tools.base.arguments import CallTarget, SessionId, thread_of
from dapeer.tools.base.call import Call, Reply, neovim_note, with_notes
from dapeer.tools.base.groups import group_line
from dapeer.tools.base.report import ResumeOptions, detached_processes_note
from dapeer.tools.base.schema import Narrows, Needs, Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import UnlistedTriggers, next_stop
from dapeer.view import render
from dapeer.view.snapshot import Summary

MAX_EXPRESSION_CHARS = 100
"""Characters of an expression that is being evaluated, in a row."""
LISTED_ENDED = 5
"""Programs that have ended, of those that are listed."""
OURS = "dapeer"
"""How the names of capabilities begin that dapeer has added to an adapter."""
SECONDS_FOR_PLACE = 0.3
"""Seconds for a new stop to get its location."""


class StatusRow(Summary):
    """A session, with what its adapter can."""

    thread_id: NotRequired[int]
    """The thread that has stopped."""
    evaluating: NotRequired[str]
    """The expression that the adapter evaluates now; a function of the program may run for it."""
    pid: NotRequired[int]
    """The process of the program, where it is known to be on this machine."""
    capabilities: NotRequired[dict[str, Any]]
    """What the adapter of a running program supports, as it says (DAP: `Capabilities`)."""


class Status(TypedDict):
    """The sessions, and the client's default."""

    sessions: list[StatusRow]
    older: NotRequired[int]
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


@tool("Status", section=Section.START, read_only=True, output=Status)
async def dap_status(call: Call, session_id: Annotated[SessionId, Unlisted()] = None) -> Reply:
    """List the debug sessions: state, place, exit code, and which one is the default.

    `session_id` shows that one alone; an id of no session gives an empty list and no error. Without an id the
    sessions of living programs, of the default's, and of the last `LISTED_ENDED` programs that ended are
    listed; older ones are only counted. If no program lives, Neovims are searched for, and attached, unless
    only named ones are to be; each client is told of a new Neovim once. For the place of a session that has
    just stopped, the call waits `SECONDS_FOR_PLACE` at most. The data has `sessions` (a list of objects, see
    `StatusRow`), `breakpoints` (the number of those on lines, of all clients), and maybe `older` (the number of
    those left out) and `focused`, the id of the default session. Groups that live are only in the text.
    """
    debugger = call.debugger
    if not any(each.program.living_sessions for each in debugger.sessions.programs):
        # A Neovim without the plugin does not announce itself.
        await call.peers.search.attach_running_neovims()
    focused = call.focus.default
    everyone = list(debugger.sessions.values())
    if session_id is None:
        shown = _worth_listing(everyone, focused)
    else:
        shown = everyone = [each for each in everyone if each.id == session_id]
    await all_of(wait_for_place(session, SECONDS_FOR_PLACE) for session in shown)
    stale = await call.peers.outdated_sessions()
    rows = [_row(call, session, stale) for session in shown]
    count = sum(len(debugger.breakpoints.in_file(path)) for path in debugger.breakpoints.paths)
    default = focused.id if focused else None
    lines = [_status_line(row, default, debugger.project) for row in rows]
    older = len(everyone) - len(shown)
    lines += [f"… and {older} that ended earlier"] * bool(older)
    lines += [group_line(each) for each in debugger.groups.all if each.lives]
    none = f"There is no session {session_id}." if session_id else "No debug sessions."
    text = lines_of(lines) or f"{none} Start one with dap_run."
    came = call.peers.take_new_peers(call.focus)
    text = "\n".join([text, *(f"New: {_came_line(peer)}" for peer in came)])
    data: dict[str, Any] = {"sessions": rows, "breakpoints": count}
    data |= {"older": older} if older else {}
    if default is not None:
        data["focused"] = default
    return Reply(f"{text}\nBreakpoints: {count}.", data)


def _row(call: Call, session: Session, stale: Mapping[int, str]) -> StatusRow:
    """Return a session as a row of `dap_status`: its summary, and what is known beside.

    These are `thread_id` of a stop, `evaluating` (an expression that the adapter has not answered), `pid`,
    `capabilities` (without dapeer's own keys) of a session that has not ended, `stale`, and `neovim_id` of the
    Neovim that has it, if several are attached. `stale` as argument has a reason by session id for each session
    whose state may be out of date.
    """
    row = StatusRow(**summary(session))
    if stop := session.mirror.stop:
        row["thread_id"] = stop.thread_id
    if (asked := session.unanswered_evaluation()) is not None:
        row["evaluating"] = shortened(str(asked.arguments.get("expression")), MAX_EXPRESSION_CHARS)
    if pid := session.watched_pid():
        row["pid"] = pid
    if not session.is_over:
        known = session.mirror.capabilities.items()
        row["capabilities"] = {k: v for k, v in known if not k.startswith(OURS)}
    if session.id in stale:
        row["stale"] = stale[session.id]
    if peer := call.peers.peer_of_session(session):
        row["neovim_id"] = peer.id
    return row


def _came_line(peer: Peer) -> str:
    return f"Neovim {peer.id} (pid {peer.pid}, in {peer.place}) is now attached; its sessions are shared."


def _worth_listing(sessions: Sequence[Session], focused: Session | None) -> list[Session]:
    """Return those of some sessions that are listed, in the same order.

    These are those of living programs, of the default's program, and of the `LISTED_ENDED` programs that ended last.
    """
    programs = dict.fromkeys(each.program for each in sessions)
    ended = [each for each in programs if not each.living_sessions][-LISTED_ENDED:]
    living = [each for each in programs if each.living_sessions]
    kept = {*ended, *living, *([focused.program] if focused else ())}
    return [each for each in sessions if each.program in kept]


def _status_line(row: Mapping[str, Any], focused: int | None, project: Path) -> str:
    """Return a row of `dap_status` as one line; `focused` is the id of the default session, or None.

    The default session's line ends with `[default]`; paths are relative to `project`. If a tool has ended the
    program (its `cause` begins with `ended by dap_`), the cause takes the place of the state, and the exit code
    is left out. An ended session is shown without its interpreter.
    """
    place = render.location(row.get("file", ""), row.get("line"), row.get("function", ""), project)
    reason = f" ({row['reason']})" if "reason" in row else ""
    # The exit code of a program that a tool has ended means nothing.
    by_us = row.get("cause", "").startswith("ended by dap_")
    code = f", exit code {row['exit_code']}" if "exit_code" in row and not by_us else ""
    state = row["cause"] if by_us else row["state"]
    cause = f": {row['cause']}" if "cause" in row and not by_us else ""
    evaluates = f" (evaluates `{row['evaluating']}`)" if "evaluating" in row else ""
    stale = f" (may be out of date: {row['stale']})" if "stale" in row else ""
    stale += f" ({row['problem']})" if "problem" in row else ""
    mark = " [default]" if row["session_id"] == focused else ""
    which = f" {row['neovim_id']}" if "neovim_id" in row else ""
    where = f", in Neovim{which}, by {row['feed']}" if "feed" in row else ""
    known = "interpreter" in row and row["state"] != "ended"
    where += f", {relative_to_project(row['interpreter'], project)}" if known else ""
    where += f", child of {row['parent']}" if "parent" in row else ""
    head = f"{row['session_id']} {row['name']} ({row['type']}{where}) {state}"
    return f"{head}{reason}{evaluates}{place}{code}{cause}{stale}{mark}"


@tool("Debug adapters", section=Section.START, read_only=True, output=Adapters, starts=True)
async def dap_adapters(call: Call) -> Reply:
    """List the debug adapters: what they debug, whether they are ready, how to install them.

    Programs are started to ask for their versions, side by side, unless these are known already. The data has
    `adapters`, each with `type`, `languages`, `ready`, and maybe `version` (if ready), or `missing` and
    `install` (if not).

    Raises:
        ArgumentError: No Python interpreter is found for the project.
    """
    project = call.debugger.project
    python = find_python(None, project, environment_for(project))
    definitions = call.debugger.definitions.values()
    # Asking a program for its version blocks, and takes as long as the program likes.
    rows = await all_of(in_thread(_adapter_row, each, python) for each in definitions)
    return Reply(lines_of(_adapter_line(row) for row in rows), {"adapters": rows})


def _adapter_row(definition: Definition, python: str) -> dict[str, Any]:
    """Return an adapter as data: `type`, `languages`, `ready`, and its version or what it lacks.

    Where it is ready, `version` is its version; else `missing` is what is missing, and `install` how to get it.
    Of these three, those that are not known are left out. Programs may be started to find the version, so it
    blocks. `python` is the value of `${python}` in the command that finds the version.
    """
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
    """Return an adapter's data, as `_adapter_row` makes it, as one line.

    `row` has `type`, `languages` and `ready`, and maybe `version`, `missing` (what is missing) and `install` (how
    to get it). The line is such as `debugpy (python) ready 1.8.0`, or `TYPE (LANGUAGES) not ready: MISSING;
    install: INSTALL`.
    """
    state = (
        f"ready {row.get('version', '')}".strip()
        if row["ready"]
        else f"not ready: {row.get('missing', '')}"
    )
    install = f"; install: {row['install']}" if "install" in row else ""
    return f"{row['type']} ({', '.join(row['languages'])}) {state}{install}"


@tool(
    "Restart",
    section=Section.START,
    kinds=CallKinds(RUN, (*VALUES, *THEN), "as it was started"),
    destructive=True,
    starts=True,
)
async def dap_restart(call: Call, triggers: UnlistedTriggers, options: ResumeOptions) -> Reply:
    """End the program and start it again as it was, as a new session.

    A program that has ended is started again, too. Breakpoints in files that were edited move with their
    lines; notes say so. In `triggers`, `then` lists what is sent once the program is ready, as `ready` says.
    In `options`, `session_id` names the program (None: the default one), `evaluate` what is evaluated at the
    next stop, `show` how much of the stop is shown, and `wait_until_paused` and `timeout_ms` whether and for
    how many milliseconds to wait. The reply is the state of the new session, or of another one (a process
    of it, or what `then` has reached) that stops first, at that stop, the end or the timeout; without waiting,
    right after the start. The session that is shown becomes the default.

    Raises:
        ArgumentError: `then` or `ready` is invalid; the program was not ended.
        NoSession: There is no such session, or it is not clear which program is meant.
        Unsupported: Nothing is known that could start the program again, and it was not ended; or `then`
            types something, and the program, which has been started, does not run in a terminal.
        DapeerError: The program does not end, or cannot be started again, or does not start; or the new
            program left its stop before the first of `evaluate` was evaluated.
    """
    triggers.check()
    before = call.focus.program_to_end(options.session_id, also_ended=True)
    edited = [*follow_edits(call.debugger.breakpoints, before)]
    session = await call.debugger.restart(before)
    call.focus.record_start(session)
    triggers.begin(call, session)
    reply = await next_stop(call, session, 0, options.timeout_ms, options=options)
    return with_notes(
        reply, [*detached_processes_note(before), *edited, *neovim_note(call, session)]
    )


ThreadIds = Annotated[
    list[int] | None,
    Needs("terminateThreads"),
    Narrows(),
    Field(description="end only these", min_length=1),
]


@tool(
    "Terminate",
    section=Section.START,
    kinds=RUNS,
    is_lean=True,
    destructive=True,
    idempotent=True,
    group_state="living",
)
async def dap_terminate(
    call: Call,
    thread_ids: ThreadIds = None,
    # The answer that names such processes names it.
    detached: Annotated[
        bool, Field(description="end processes that left its POSIX session, too"), Unlisted()
    ] = False,
    *,
    target: CallTarget,
) -> Reply:
    """End the program; output and history stay.

    With `thread_ids`, the adapter's, only these threads are asked to end, and their end is not awaited; the data has
    these ids. `detached` ends processes, too, that left the program's POSIX session;
    without it the reply notes those that run on. With `group` all of its programs are ended. A program that has
    ended already is no error, except with `thread_ids`, or where without an id another program could be meant.
    After `SECONDS_TO_END` the end is forced; an attached program is then detached from. The data has the session's
    summary, and `breakpoints` that did not work as requested, which count as reported from then on.

    Raises:
        NoSession: There is no such session, or it is not clear which program is meant.
        ArgumentError: There is no such thread, `detached` is given with `thread_ids`, or for a program that dapeer did
            not start.
        NotStopped: `thread_ids` are given, and the program has ended, or dapeer has detached from it.
        Unsupported: The adapter cannot end single threads.
        ToolTimeout: The program has not ended, and another client controls its adapter.
        NeovimError: The session is reached only through a Neovim, which has not taken the request.
        DapeerError: `thread_ids` are given, and the adapter rejects the request, or does not answer it.
    """
    session_id = target.session_id
    if thread_ids is not None and detached:
        raise ArgumentError(
            "`detached` ends processes of a whole program, and `thread_ids` threads alone.",
            "Give one of them.",
        )
    if thread_ids is not None:
        return await _terminate_threads(call.session(session_id), thread_ids)
    session = call.focus.program_to_end(session_id)
    if detached and session.detached_processes is None:
        raise ArgumentError(
            f"`detached`: dapeer has not started the program of session {session.id}, so its processes are unknown.",
            "Leave it out.",
        )
    already = not session.program.living_sessions
    await call.debugger.terminate(session)
    if already:
        text = indented_after_first(f"Session {session.id} had ended already.{_exit(session)}")
        reply = Reply(text, {**summary(session)})
        return await _end_or_note_detached(reply, session, ending=detached)
    unmet = outcomes.unreported_outcomes(session, call.debugger.breakpoints, cut_short=True)
    unmet.mark_reported()
    text = lines_of([f"Session {session.id} ended.", *render.outcomes(unmet.by_state)])
    data = {**summary(session), **({"breakpoints": unmet.by_state} if unmet.by_state else {})}
    return await _end_or_note_detached(Reply(text, data), session, ending=detached)


async def _end_or_note_detached(reply: Reply, session: Session, *, ending: bool) -> Reply:
    """Return a reply with a note on processes that have left the program's POSIX session.

    With `ending` they are ended now; otherwise the note says which run on, if that was not noted before.
    """
    if not ending or session.detached_processes is None:
        return with_notes(reply, detached_processes_note(session))
    return with_notes(reply, [await session.detached_processes.kill_all()])


async def _terminate_threads(session: Session, thread_ids: list[int]) -> Reply:
    """Send the adapter `terminateThreads`, and return a reply; the threads may take a while to end.

    `thread_ids` are the adapter's, of threads to end. They are checked only if the adapter has listed its
    threads. The reply's data has them as `thread_ids`.

    Raises:
        ArgumentError: The program has no such thread.
        NotStopped: The program has ended, or dapeer has detached from it.
        Unsupported: The adapter cannot end single threads.
        DapeerError: The adapter rejects the request, or does not answer.
    """
    session.mirror.require_live()
    for thread_id in thread_ids:
        thread_of(session, thread_id)
    await session.request("terminateThreads", {"threadIds": thread_ids})
    named = ", ".join(map(str, thread_ids))
    return Reply(f"Asked the program to end thread {named}.", {"thread_ids": thread_ids})


@tool("Disconnect", section=Section.START, kinds=RUNS, destructive=True)
async def dap_disconnect(
    call: Call, terminate_debuggee: bool | None = None, session_id: SessionId = None
) -> Reply:
    """End the session; an attached program runs on, a launched one ends.

    `terminate_debuggee` says whether the program is to end; None: as above. The session's child sessions are
    disconnected first. With `session_id` None the program that the client used last is meant; it is its first
    session that ends. The reply says whether the program was ended or what became of it, and notes processes that
    it has left running; the data is the session's summary. A request that is not answered in time forces dapeer's
    own adapter to end.

    Raises:
        NoSession: There is no such session, it has ended already, or it is not clear which program is meant.
        Unsupported: The adapter cannot detach from a program that it launched; nothing has happened.
        DapeerError: The adapter rejects the request, or does not answer it in time.
    """
    session = call.focus.program_to_end(session_id)
    ended = await call.debugger.disconnect(session, terminate=terminate_debuggee)
    text = (
        "The program was ended."
        if ended
        else f"{session.detach_outcome[0].upper()}{session.detach_outcome[1:]}."
    )
    reply = Reply(f"Disconnected from session {session.id}. {text}", {**summary(session)})
    return with_notes(reply, detached_processes_note(session) if ended else [])


def _exit(session: Session) -> str:
    """Return how a program has ended, as a sentence that begins with a space.

    If dapeer has ended it, that is said, and not the exit code, which means nothing then. Otherwise it is empty if the exit code is
    unknown.
    """
    view = view_of(session)
    code = f" Exit code {view['exit_code']}." if "exit_code" in view else ""
    return f" {session.cause}.".replace(" ended", " Ended", 1) if session.is_ended_by_tool else code
