"""A session whose adapter is ours: facts about its program, and its end; `start_up` has its beginning."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio

from dapeer.adapters.choice.choice import can_debug
from dapeer.adapters.definition.quirks import deadly_signal
from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.log_points import LogPointReader
from dapeer.adapters.process.terminal import Terminal
from dapeer.base.errors import (
    AdapterRequestRejected,
    ChannelClosed,
    ChannelError,
    DapeerError,
    RequestFailed,
    RequestTimeout,
    Unsupported,
)
from dapeer.base.system import foreign_files, process_end
from dapeer.base.system.ownership import listening_processes
from dapeer.base.system.process_table import is_held, is_running, pending_signals, tracer
from dapeer.base.system.tasks import Answer, BackgroundTask, Mailbox
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.base.text.fitting import MAX_QUOTED_CHARS, shortened
from dapeer.dap.empty_lines import MAX_LINES_AHEAD, EmptyLineFilter, line_with_code
from dapeer.dap.mapped import PathFilter, PathNames
from dapeer.dap.messages import Body, Event, Message, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.sessions.breakpoints.moved_files import MovedFiles
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.process_watch import ProcessWatch
from dapeer.sessions.core.program import DetachedProcesses
from dapeer.sessions.core.session import SECONDS_TO_END_ITSELF, Session, SessionContext
from dapeer.sessions.inspection.arriving_output import SECONDS_WITHOUT_OUTPUT
from dapeer.sessions.traits import Deadlines, Traits
from dapeer.view.snapshot import KILLED

# What becomes of a program that a debugger was attached to, read from its process.

RUNS_ON: Final = "the program runs on"
UNKNOWN: Final = "dapeer does not know what became of the program"
"""Its process is not known, and its debugger has not left it in order."""
SECONDS_BETWEEN_LOOKS = 0.02
"""Nothing tells that a process has taken a signal; so it is looked at now and then."""
_STOPS = 1 << (signal.SIGTRAP - 1)
"""By what some debuggers stop a program, in a mask of signals."""


def attached_pid(plan: Plan) -> int | None:
    """Return the pid of the process that an attach plan debugs; None: it is not known.

    It is the plan's `pid` input, or the one process that listens at its `port`, where the adapter's definition
    has `port_in`: without that, what listens need not be the program. It is also not known if the plan launches
    a program, if the adapter itself is what listens at the port (transport `connect`), or if not exactly one
    process listens there, as far as the system lets dapeer see. Resolving the plan's `host` may block.
    """
    pid, port = plan.inputs.get("pid"), plan.inputs.get("port")
    way = plan.definition.attach.get("tcp")
    if plan.request != "attach" or isinstance(pid, int) or port is None or way is None:
        return pid if plan.request == "attach" and isinstance(pid, int) else None
    connects = plan.definition.transport_of(plan.request, plan.inputs).kind == "connect"
    if connects or not way.port_in or not str(port).isdecimal():
        return None
    host = str(plan.inputs.get("host") or LOOPBACK)
    found = listening_processes(host, int(str(port))) or []
    return found[0] if len(found) == 1 else None


class AttachedProgram:
    """A process of this machine that was attached to, and runs on when its debugger leaves it."""

    def __init__(self, pid: int) -> None:
        """Open a pidfd of the process `pid`, to tell it from a later process with the same number.

        The process need not exist any more.
        """
        self.pid = pid
        # A descriptor tells the process from another one that gets its number.
        self._pidfd = process_end.open_pidfd(pid)

    def close(self) -> None:
        """Close the pidfd; from then on the methods see only whether some process has this number."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait at most `seconds` for the process to end; return whether it has ended by then."""
        if self._pidfd is not None:
            with anyio.move_on_after(seconds):
                await process_end.wait_for_end(self.pid, self._pidfd)
        return self._has_ended()

    async def wait_for_stop_signal(self, seconds: float) -> None:
        """Wait at most `seconds` until the process has no pending SIGTRAP, or has ended; nothing is returned.

        Some debuggers stop a program by SIGTRAP. Where the signal is still pending when the debugger detaches, it kills the program, so a
        caller waits before it lets the adapter go.
        """
        with anyio.move_on_after(seconds):
            while True:
                if self._has_ended() or not pending_signals(self.pid) & _STOPS:
                    return
                await anyio.sleep(SECONDS_BETWEEN_LOOKS)

    def fate(self) -> str:
        """Return a clause on the state of the process now, such as "the program runs on".

        It says whether the process has ended (and by which signal, if that is known), is still traced by a
        debugger, is in state T, or runs (`RUNS_ON`).
        """
        if self._has_ended():
            number = process_end.deadly_signal(self.pid, self._pidfd) if self._pidfd else None
            return f"the program has ended{(number and f', killed by {number}') or ''}"
        if tracer(self.pid):
            return "the debugger has not let go of the program yet, and dapeer has it do so as soon as it can"
        if is_held(self.pid):
            return f"the program is stopped (state T): `kill -CONT {self.pid}` continues it"
        return RUNS_ON

    def _has_ended(self) -> bool:
        """Return whether the process has ended, by its pidfd, or without one, by its number."""
        if self._pidfd is None:
            return not is_running(self.pid)
        with contextlib.suppress(OSError):
            return bool(select.select([self._pidfd], [], [], 0)[0]) or not is_running(self.pid)
        return True


# Answers the requests that an adapter sends.
#
# dapeer runs programs only for adapters that it has started, for a program that it launches. An attached
# program may be in a container, on another machine, or another user's.


@dataclass(frozen=True, slots=True, eq=False)
class OfferedChild:
    """A process that a debuggee has started, and that is to be debugged in a session of its own."""

    arguments: Body
    """How its adapter wants that done: `configuration`, and perhaps `request`."""
    _answer: Answer[None] = field(default_factory=Answer[None])

    async def wait_until_accepted(self) -> None:
        """Wait until the holder of the session calls `accept` or `refuse`.

        Raises:
            DapeerError: The offer was refused with this error: the process is not wanted, or cannot be reached, and runs on
                undebugged.
        """
        await self._answer.wait()

    def accept(self) -> None:
        """Tell the waiting `wait_until_accepted` that a session for the process has begun."""
        self._answer.give(None)

    def refuse(self, error: DapeerError) -> None:
        """Have the waiting `wait_until_accepted` raise `error`: there is no session for the process."""
        self._answer.fail(error)


def run_in_terminal(
    adapter: Adapter, arguments: Body, *, launched: bool, screen: bool = False
) -> Terminal:
    """Start the command of a `runInTerminal` request in a new terminal; return the terminal.

    `arguments` are the request's: `args`, `cwd` (absent: the current folder) and `env`, which is added to
    dapeer's; a variable that is None is removed. The process belongs to `adapter`, and is killed with it. A
    program that is missing raises nothing: the terminal shows that. `launched`: dapeer has launched the debuggee;
    `screen`: the program may draw on the whole screen.

    Raises:
        KeyError: `args` is missing.
        AdapterRequestRejected: The debuggee was attached to, or dapeer has not started the adapter; nothing was
            started.
        AdapterFailed: The folder is not there, or no process can be started; the terminal is closed then.
        SystemUnsupported: The system has no terminal to give.
    """
    command = [str(word) for word in arguments["args"]]
    if not launched or adapter.address is not None:
        words = shortened(" ".join(command), MAX_QUOTED_CHARS)
        raise AdapterRequestRejected(
            f"The adapter asked dapeer to run `{words}`, which is done only for a program that dapeer launches under "
            "an adapter that it has started."
        )
    terminal = adapter.open_terminal()
    requested: Mapping[str, str | None] = arguments.get("env") or {}
    environment = {**requested, **adapter.processes.mark}
    adapter.add_process(terminal.run(command, arguments.get("cwd"), environment, screen=screen))
    return terminal


SECONDS_FOR_LAST_WORDS = 1.0
"""Seconds that an adapter has after `disconnect` to send its last messages and exit."""
CRASHES = {"SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"}
"""Signals that end a process because of a fault of its own."""
MAX_EXPRESSION_CHARS = 100
"""Characters of an expression in the cause of an end."""
SECONDS_TO_DETACH = 2.0
"""Seconds for which an answer waits until an adapter has detached that did not answer."""
SECONDS_TO_TAKE_STOP = 3.0
"""Seconds in which a program that was resumed takes the signal by which its debugger has stopped it."""
SECONDS_TO_LOSE = 1.0
"""Seconds in which a program meets what a killed debugger has left in it, in most cases."""
MAX_QUOTED_STDERR_CHARS = 800
"""Characters of an adapter's output in an error."""


class DirectSession(Session):
    """A session with an adapter that dapeer has started."""

    owns_adapter = True

    def __init__(
        self,
        context: SessionContext,
        plan: Plan,
        adapter: Adapter,
        parent: DirectSession | None = None,
    ) -> None:
        """Make the session around a running `adapter`.

        `context` has what the sessions of one server share, and the new id; `plan` is what is debugged, and how. Nothing is sent, and no
        message is received before `run`. `parent` is the session whose debuggee has started this one's; its program and hints are shared.
        If the adapter has a terminal already, the session takes that terminal's output.
        """
        self.plan = plan
        self.adapter_process = adapter
        """The process of its adapter."""
        self.launched: bool = (
            parent.launched if parent and plan.waiting_process is None else plan.launched
        )
        """Whether dapeer has started the debuggee, so that it ends with its session.

        A process of it that has waited for another adapter ends with it, but not by that adapter.
        """
        self.attached_program = _attached_program(plan, parent)
        """The program, where it was running before and its process is known."""
        self.adapters: tuple[Adapter, ...] = (adapter, *(parent.adapters if parent else ()))
        """Its own, and those of the sessions above it, whose processes it may share."""
        self.offered_children = Mailbox[OfferedChild]()
        """Processes that the debuggee has started; whoever holds the session gives them sessions of their own."""
        self._definitions = context.definitions
        self._is_disconnecting = False
        """`disconnect` has been sent; a second one would confuse the adapter."""
        names = PathNames(plan.mappings, foreign_files.exists)
        adapter.transport.add_filter(PathFilter(names))
        if plan.definition.quirks.empty_line:
            adapter.transport.add_filter(EmptyLineFilter(self._line_with_code))
        super().__init__(
            context, plan.title(), plan.definition.id, adapter.transport, _traits(plan), parent
        )
        adapter.on_patch_off(self.mirror.record_patch_off)
        self._requested: dict[str, Sequence[RequestedBreakpoint]] = {}
        """By path of a source file, its breakpoints."""
        self._moved_files = MovedFiles(names, plan.definition.sources, self.mirror, self.request)
        self.post_mortem = plan.post_mortem
        self.advice = parent.advice if parent and plan.waiting_process is None else plan.advice
        self.runs_in_first_child = plan.runs_in_first_child
        # A program that is debugged in its parent's first child was started by the parent's adapter.
        starter = parent.adapter_process if parent and parent.runs_in_first_child else adapter
        if self.launched and parent is None:
            self.detached_processes = DetachedProcesses(adapter.processes, self.program, plan.relay)
        inside = plan.definition.quirks.program_inside
        self.watch = ProcessWatch(self, starter, is_in_adapter=inside)
        # All observers are notified, so the state must be complete.
        if adapter.terminal is not None:
            self._enter(adapter.terminal)

    def why_untested(self, printed: str) -> str | None:
        """Return why the program, which was to run tests, has run none; `printed` is all that it has printed.

        None: it has run some, it was not to run any, or that is not known.
        """
        return self.plan.why_untested(printed)

    # -- what its adapter says

    def on_message(self, message: Message) -> None:
        """React to events: note the debuggee's process, offer its children, watch for its death.

        A local `process` event of a launched program has the pid claimed, so that it is killed with the session,
        and, if that succeeds, watched. The definition's event for child processes puts an `OfferedChild` into
        `offered_children`; that for a process which waits lets it go on. At a newly loaded source, breakpoints of
        files that may be this one by another name are sent again in the background. All other messages go to
        `watch`, which looks for the debuggee's process, or its death, at `stopped` events.
        """
        children, waiting = self.plan.definition.children, self.plan.waiting_process
        match message:
            case Event(event="process", body={"systemProcessId": int(pid), **more}):
                local = more.get("isLocalProcess") is not False
                if self.launched and local and self.adapter_process.claim(pid):
                    self.watch.follow(pid)
            case Event(event="loadedSource", body={"reason": "new", "source": {"path": str(path)}}):
                for each in self._moved_files.files_like(path):
                    BackgroundTask(self._send_under_program_name(each))
            case Event(event=str(name), body=reported) if waiting and name == waiting.event:
                waiting.become({}, reported)
            case Event(event=str(name), body=offered) if children and name == children.event:
                self.offered_children.put(OfferedChild({"configuration": offered}))
            case _:
                self.watch.on_message(message)

    async def answer(self, request: Request) -> Body:
        """Carry out `startDebugging` or `runInTerminal` for the adapter; return the response's body.

        `startDebugging` puts an `OfferedChild` into `offered_children` and waits, without a limit, until the holder
        of the session accepts or refuses the offer; the body is empty. `runInTerminal` starts the command in a new
        terminal of dapeer's; the body has its `processId`. If the plan has a process that waits
        (`plan.waiting_process`), the command (`args`) is ignored: that process goes on as its own program, with the
        request's `env`, and the body has its id.

        Raises:
            RequestFailed: The request is another one, has no `args`, or the offer was refused; or the command
                cannot be started, there is no terminal, or the adapter may not run programs (which is also recorded
                as the channel's fault).
        """
        arguments = request.arguments
        try:
            match request.command:
                case "startDebugging":
                    offer = OfferedChild(arguments)
                    self.offered_children.put(offer)
                    await offer.wait_until_accepted()
                    return {}
                case "runInTerminal" if self.plan.waiting_process is not None:
                    self.plan.waiting_process.become(arguments.get("env") or {})
                    return {"processId": self.plan.waiting_process.pid}
                case "runInTerminal" if arguments.get("args"):
                    screen = self.plan.definition.quirks.screen
                    terminal = run_in_terminal(
                        self.adapter_process, arguments, launched=self.launched, screen=screen
                    )
                    self._enter(terminal)
                    return {"processId": terminal.pid}
                case _:
                    raise Unsupported(f"dapeer does not support `{request.command}`.", "")
        except DapeerError as error:
            if isinstance(error, AdapterRequestRejected):
                self.channel.record_fault(error.problem)
            raise RequestFailed(request.command, str(error)) from error

    def _enter(self, terminal: Terminal) -> None:
        """Have the session take a terminal's output, with log points read out of it, and typed input go there."""
        terminal.listen(
            LogPointReader(self.adapter_process.log_points).listener(self.print_in_terminal)
        )
        self.set_terminal(terminal)

    def watched_pid(self) -> int:
        """Return the pid that `watch` watches, or 0 if it watches none."""
        return self.watch.pid

    def accepts_breakpoints_in(self, path: str) -> bool:
        """Return whether breakpoints of `path` may be sent to the adapter: it debugs the file's language.

        False in any session that looks at a core dump.
        """
        return self.plan.core is None and can_debug(self._definitions, self.plan.definition, path)

    def may_run_elsewhere(self, path: str) -> bool:
        """Return whether `path`, a source file, may run in a process that the adapter does not debug.

        The answer comes from the plan and the modules that the adapter has reported.
        """
        paths = (each.get("path") for each in self.mirror.loaded_sources.modules.values())
        loaded = (str(each) for each in paths if each)
        return self.plan.may_run_elsewhere(path, loaded)

    def follows_children(self) -> bool:
        """Return whether the adapter's definition says how child processes are debugged."""
        return self.plan.definition.children is not None

    def awaits_children_of(self, path: str) -> bool:
        """Return whether stand-ins of the program wait for an adapter of the file's language."""
        return Path(path).suffix.lower() in self.plan.child_extensions

    def _line_with_code(self, path: str, line: int) -> int:
        """Return the line to which the adapter moves a breakpoint on `line`, a line that may have no code.

        `path` is the source file; lines count from 1. It is the next line with code within `MAX_LINES_AHEAD`
        lines, in the same function; `line` itself if it has code, if there is no such line, or if the source
        cannot be read. What counts as a line without code is the definition's quirk `empty_line`. The text is the
        one that the program has loaded, if known, else the file's present one, which `source_versions` then keeps.
        """
        around = self.inspect.source_versions.window(path, line, MAX_LINES_AHEAD)
        if around is None:
            return line
        first, lines = around
        moved = line_with_code(lines, line - first + 1, self.plan.definition.quirks.empty_line)
        return moved + first - 1

    async def ensure_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Send `requested` as all breakpoints of the source file `path`, as `set_breakpoints` does."""
        await self.set_breakpoints(path, requested)

    async def set_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Send `requested` as all breakpoints of the source file `path`; an empty sequence removes them.

        If none is verified and the program has the file under another name that can be found, they are removed, and sent again under that
        name.
        """
        await super().set_breakpoints(path, requested)
        self._requested[path] = requested
        await self._send_under_program_name(path)

    async def _send_under_program_name(self, path: str) -> None:
        """Send a file's breakpoints again under the program's name of it, if that can be found."""
        if name := await self._moved_files.find_name(path):
            requested = self._requested[path]
            await super().set_breakpoints(path, [])
            await self._moved_files.start_translating(path, name)
            await super().set_breakpoints(path, requested)

    @property
    def pid(self) -> int:
        """The debuggee's process, 0 when it is not known."""
        reported_pid = int(self.mirror.process.get("systemProcessId") or 0)
        children = self.plan.definition.children
        offered = children.pid_of(self.plan.config) if children and self.parent else 0
        waiting = self.plan.waiting_process.pid if self.plan.waiting_process else 0
        return self.watch.pid or reported_pid or offered or waiting

    async def run(self) -> None:
        """Receive messages until the adapter's connection ends, then record the end by `finish`.

        `finish` is called also when this is cancelled. Where no message has reported the program's end, this first
        waits for the adapter to exit, for a limited time, and sets `adapter_lost` unless dapeer has ended or detached
        from the program, or a signal that is no crash has killed an adapter that the program runs inside. If the
        program was attached to and dapeer did not detach from it, it also waits at most `SECONDS_TO_LOSE` for the
        program's end, and records what became of it.
        """
        try:
            await self.channel.run()
            if not self.mirror.has_ended:
                # Nobody has told that it would go.
                await self.adapter_process.settle()
                killed = (
                    self.adapter_process.killer is not None
                    and self.adapter_process.killer not in CRASHES
                )
                inside = self.plan.definition.quirks.program_inside
                self.adapter_lost = not (
                    self._is_disconnecting or self.is_ended_by_tool or (inside and killed)
                )
                if self.attached_program is not None and not self._is_disconnecting:
                    await self.attached_program.wait_for_end(SECONDS_TO_LOSE)
                    self._record_fate()
        finally:
            self.finish()

    def why_over(self) -> str:
        """Return a clause on the adapter's end, such as `the adapter ended unexpectedly`; it is never empty.

        The clause also names, where they are known, what killed the adapter, the first request that it was
        answering, what became of a program that was attached to, and the end of its stderr, of
        `MAX_QUOTED_STDERR_CHARS` characters at most. If the adapter runs inside of the program, a signal that
        killed it has killed the program: then the clause says only that. That the adapter has ended is not checked.
        """
        killer = self.adapter_process.killer
        if killer is not None and self.plan.definition.quirks.program_inside:
            return f"{KILLED}{killer}"
        quirks = self.plan.definition.quirks
        words = quirks.without_own(self.adapter_process.stderr_tail()).strip()[
            -MAX_QUOTED_STDERR_CHARS:
        ]
        said = f"; it said: {words}" if words else ""
        fate = f"; {self.detach_outcome}" if self.attached_program is not None else ""
        meanwhile = "".join(map(_doing, self.channel.unanswered_at_close[:1]))
        if killer in CRASHES:
            return f"the adapter {self.adapter} crashed ({killer}){meanwhile}{fate}{said}"
        by = "" if killer is None else f", killed by {killer}"
        return f"the adapter ended unexpectedly{by}{fate}{meanwhile}{said}"

    # -- end

    async def wait_and_end_adapter(self) -> None:
        """Wait for the debuggee's end and last output, then end the adapter.

        For the debuggee's end it waits without a limit, for each of the other steps a moment. The process of a
        child session whose end has no known cause is released: it is not killed with the adapter. A cause that
        shows in the exit code (a signal) is recorded. If the adapter is still connected and nobody else
        disconnects, it gets `disconnect` (which ends the program only if dapeer has launched it), and is killed if
        it stays. Last it waits for the session to be over, `SECONDS_FOR_LAST_WORDS` at most; it may return before.
        """
        mirror = self.mirror
        await self.wait_for(lambda: mirror.has_ended or mirror.exit_code is not None, None)
        if self.parent is not None and self.cause is None:
            # It may have replaced itself by another program, which is not debugged and ends with its parent.
            self.adapter_process.release(self.pid)
        await self.wait_for(lambda: self.mirror.has_ended, SECONDS_FOR_LAST_WORDS)
        # Some adapters send the end before the last output, and drop that when the connection closes.
        await self.program.arriving_output.wait_for_silence()
        if signal := deadly_signal(self.plan.definition.quirks.exit_code, mirror.exit_code or 0):
            self.ending.set_cause_if_unknown(f"probably killed by {signal}")
        await self.watch.wait_for_cause(mirror.exit_code)
        if self.adapter_process.terminal is not None:
            await self.adapter_process.terminal.wait_until_drained(SECONDS_WITHOUT_OUTPUT)
        if not self.is_over and not self._is_disconnecting:
            await self.send_disconnect(SECONDS_FOR_LAST_WORDS, terminate=self.launched)
            await self.close()
        await self.wait_for(lambda: self.is_over, SECONDS_FOR_LAST_WORDS)

    async def leave_at_server_end(self, seconds: float) -> None:
        """Leave at the end of dapeer's server: end a launched program, detach from an attached one.

        The adapter gets `disconnect`, which it may take `seconds` to answer; no error is raised if it does not. Neither connection nor
        process is ended here.
        """
        with contextlib.suppress(DapeerError):
            await self._release_program(ending=self.launched)
        await self.send_disconnect(seconds, terminate=self.launched)

    async def _release_program(self, *, ending: bool) -> None:
        """Remove breakpoints and resume the program, if `disconnect` would leave it stopped.

        If the session has attached to its program, the adapters' processes get SIGCONT first, in case somebody
        has suspended them. That is all if `ending` (the program is to end), for a core dump, and without the
        quirk `leaves_stopped`. Otherwise the breakpoints in files and at functions are removed, the
        thread of the latest stop is continued, and the call waits, at most `SECONDS_TO_TAKE_STOP`, until an
        attached program has taken the debugger's stop signal.

        Raises:
            DapeerError: The adapter rejects a request, or does not answer it in time.
        """
        if not self.launched:
            for each in self.adapters:
                each.wake()
        if ending or not self.plan.definition.quirks.leaves_stopped or self.plan.core is not None:
            return
        for path in list(self.mirror.breakpoints):
            await self.set_breakpoints(path, ())
        if self.mirror.breakpoint_statuses.functions:
            await self.request("setFunctionBreakpoints", {"breakpoints": []})
        if (stop := self.mirror.stop) is not None:
            await self.resume("continue", {"threadId": stop.thread_id})
        if self.attached_program is not None:
            await self.attached_program.wait_for_stop_signal(SECONDS_TO_TAKE_STOP)

    async def send_disconnect(self, seconds: float, *, terminate: bool) -> None:
        """Send `disconnect` and wait at most `seconds` for the response.

        A missing or failed one raises nothing. `terminate` says whether the debuggee ends, too. The process is not watched any more.
        """
        self._is_disconnecting = True
        self.watch.close()
        with contextlib.suppress(ChannelError):
            arguments = {"terminateDebuggee": terminate}
            await self.channel.request("disconnect", arguments, seconds=seconds)

    async def close(self) -> None:
        """Close the sending side of the connection, wait for the session to be over, else kill the adapter."""
        await self.channel.finish()
        if not await self.wait_for(lambda: self.is_over, SECONDS_FOR_LAST_WORDS):
            await self.kill_adapter()

    async def kill_adapter(self) -> None:
        """Kill the adapter with all that it has started, or have it detach from an attached program; `finish`.

        For an attached program, wait for the detach, and note what became of the program in `fate`.
        """
        await self.adapter_process.kill()
        if not self.launched:
            await self.adapter_process.settle(SECONDS_TO_DETACH)
            self._record_fate(UNKNOWN)
        self.finish()

    async def kill_and_record_cause(self, cause: str) -> str:
        """Force the end of a session whose adapter did not answer a request to end.

        Record `cause` with the outcome. Return a clause on what became of the program: that it was killed together with the adapter, or,
        if it was attached to, its state.
        """
        if self.launched:
            return await super().kill_and_record_cause(cause)
        await self.kill_adapter()
        self.ending.replace_cause(f"{cause}, and is to detach; {self.detach_outcome}", by_us=False)
        return f"and is to detach; {self.detach_outcome}"

    def _record_fate(self, unknown: str = "") -> None:
        """Set `fate` to the state of an attached program's process.

        A cause of the end that begins "detached;" is replaced by one with the new `fate`.

        Args:
            unknown: The clause to set if the process is not known; empty: `fate` stays as it was.
        """
        known = self.attached_program.fate() if self.attached_program is not None else ""
        self.detach_outcome = known or unknown or self.detach_outcome
        if (self.ending.cause or "").startswith("detached;"):
            self.ending.replace_cause(f"detached; {self.detach_outcome}", by_us=False)

    async def kill_if_end_would_resume(self, tool: str) -> None:
        """Kill the launched program, or its adapter, as the definition's quirk `killed_first` says.

        An adapter with this quirk would resume a stopped program when it is asked to end. The quirk is "adapter" (the
        adapter is killed with all that it has started, and the session is over), "program" (the program's process is
        killed with its descendants, and the adapter stays), or empty. Nothing happens if it is empty, or if the program
        was attached to. `tool` is the name of the tool that is recorded as what has ended the program, unless that has
        ended already.
        """
        first = self.plan.definition.quirks.killed_first
        if not first or not self.launched:
            return
        self.expect_end(ending=True, tool=tool)
        if first == "adapter":
            await self.kill_adapter()
        else:
            self.adapter_process.kill_program(self.pid)

    async def terminate(self) -> None:
        """End the debuggee and the session: `terminate` first, `disconnect` if that fails, and last a kill.

        `terminate` is left out if the adapter does not support it; its errors are ignored.
        """
        if not await self.ask_to_end(SECONDS_TO_END_ITSELF):
            await self.send_disconnect(SECONDS_TO_END_ITSELF, terminate=True)
        await self.close()

    def check_leave(self, *, terminate: bool | None) -> None:
        """Check that the session can end as `terminate` says; nothing is sent.

        False: the program is to run on. True (the program is to end) and None (the session's default) always pass, as
        does False after an attach.

        Raises:
            Unsupported: `terminate` is False, and the adapter cannot detach from a program that it launched.
        """
        plan = self.plan
        if plan.launched and terminate is False and not plan.definition.quirks.detach_launched:
            raise Unsupported(
                f"The adapter {plan.definition.id} cannot leave a program running that it launched.",
                "End it with dap_terminate, or start it yourself and attach.",
            )

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """Send `disconnect` and end the session; return whether the debuggee was ended with it.

        `terminate` says whether to end the debuggee; None: only if it was launched. A debuggee that is not ended is
        released first, so that the end of dapeer does not kill it; where the adapter would leave it stopped,
        breakpoints are removed and it is resumed. After an error the session is not closed here, and such a
        debuggee stays released.

        Raises:
            Unsupported: The adapter cannot detach from a program that it launched; nothing has happened.
            RequestTimeout: The adapter did not answer in time. If it is dapeer's own, it was forced to end: a launched
                program that was to end was killed with it, and an attached one is to be detached from.
            DapeerError: The adapter rejected a request; nothing was killed.
        """
        ending = self.launched if terminate is None else terminate
        self.check_leave(terminate=ending)
        self.expect_end(ending=ending)
        if not ending:
            self.adapter_process.release(self.pid)
            self.watch.close()
        with contextlib.suppress(RequestTimeout):
            await self._release_program(ending=ending)
        self._is_disconnecting = True
        # The end of a child may end its parent meanwhile.
        with contextlib.suppress(ChannelClosed):
            await self.request("disconnect", {"terminateDebuggee": ending})
        await self.close()
        if not ending:
            self._record_fate()
        return ending


def _doing(request: Request) -> str:
    """Return a clause on the request that an adapter left unanswered, with the expression if it has one.

    >>> _doing(Request(1, "evaluate", {"expression": "some->count"})), _doing(Request(2, "variables"))
    (' while it evaluated `some->count`', ' while it answered `variables`')
    """
    if expression := str(request.arguments.get("expression") or ""):
        return f" while it evaluated `{shortened(expression, MAX_EXPRESSION_CHARS)}`"
    return f" while it answered `{request.command}`"


def _attached_program(plan: Plan, parent: DirectSession | None) -> AttachedProgram | None:
    """Return the process that a new session attaches to; None: it starts one, or its process is unknown.

    A child of `parent` has none of its own, but for that of a parent which hands its work on (`runs_in_first_child`).
    """
    if parent is not None:
        return parent.attached_program if parent.runs_in_first_child else None
    pid = attached_pid(plan)
    return AttachedProgram(pid) if pid is not None else None


def _traits(plan: Plan) -> Traits:
    """Return the deadlines, stop settings and other differences of the plan's adapter, for `Session`."""
    of, quirks = plan.definition, plan.definition.quirks
    deadlines = Deadlines(of.timeouts.request, of.timeouts.control)
    facts = deadlines, of.stopping, of.sight, of.collect, quirks.columns, quirks.stack_levels
    return Traits(*facts, plan.functions, plan.conditions)
