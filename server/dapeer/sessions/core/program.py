"""A program: the processes of one start, each with a session of its own.

A caller waits for all processes of a program: while a parent waits for its child, the stop is in the child.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import anyio

from dapeer.adapters.process.owned_process import Processes
from dapeer.base.system.process_table import command_line, processes
from dapeer.base.system.tasks import Waiters
from dapeer.base.text.fitting import shortened
from dapeer.collecting.row_files import RowFiles, RowFolders
from dapeer.collecting.rows.collected import Collected
from dapeer.dap.messages import Message
from dapeer.mirror.failures import Failures
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import OutputIntake, OutputLog
from dapeer.sessions.inspection.arriving_output import ArrivingOutput

OutcomeKey = tuple[str, str, int, int]
"""State, path, line and column (0: none) of a breakpoint."""


@dataclass(slots=True)
class AwaitedBreakpoints:
    """The breakpoints that a caller awaits of one program; its first session has them."""

    places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that were set for this program."""
    undelivered_places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Path and line of those that this program did not get; the caller knows why."""
    reported: set[OutcomeKey] = field(default_factory=set[OutcomeKey])
    """States that the caller knows already."""
    reported_from: object = None
    """What is known of breakpoints and their states, as it was when the caller was told last."""

    def expect(self, places: Iterable[tuple[str, int]]) -> None:
        """Add breakpoints, by path and line, to those whose states the caller wants to know."""
        self.places.update(places)

    def record_undelivered(self, places: Iterable[tuple[str, int]]) -> None:
        """Add breakpoints, by path and line, that this program does not get; the caller knows why."""
        self.undelivered_places.update(places)

    def record_delivered(self, path: str) -> None:
        """Remove a file's breakpoints from `undelivered_places`: the program has got them after all."""
        self.undelivered_places = {each for each in self.undelivered_places if each[0] != path}

    def mark_reported(self, states: Iterable[OutcomeKey], known: object) -> None:
        """Record that the caller was told `states`.

        `known` is compared later: as long as it stays equal, nothing is new.
        """
        self.reported.update(states)
        self.reported_from = known

    def move(self, path: str, moves: Mapping[int, int]) -> None:
        """Change the lines of the awaited breakpoints of a file; `moves` has the new line by the old one."""
        self.places = {(at, moves.get(n, n) if at == path else n) for at, n in self.places}


SECONDS_BETWEEN_LINES = 0.5
"""Seconds between two lines of output that a waiting caller gets."""
SECONDS_TO_STEP = 0.5
"""Seconds that a step has until its caller is told where another process had stopped before."""

MAX_RESPONSE_CHARS = 1 << 20
"""Characters that are kept of what triggers have brought."""

StopIds = frozenset[tuple[int, int]]
"""Stops: numbers of sessions, and of their stops."""
NONE: StopIds = frozenset()


class Keyboard(Protocol):
    """Types text into a program's terminal."""

    async def type(self, text: str) -> None:
        """Type `text` into the terminal, as if it came from a keyboard."""
        ...


class Process(Protocol):
    """What `Program` needs of the session of each of its processes."""

    id: int
    mirror: Mirror
    runs_in_first_child: bool

    @property
    def is_over(self) -> bool:
        """Whether its connection has ended: no more output, no more responses."""
        ...

    @property
    def parent(self) -> Process | None:
        """The session whose process has started this one."""
        ...


Of = TypeVar("Of", bound=Process)


class Program(Generic[Of]):
    """The processes of one program, and what they share."""

    def __init__(self) -> None:
        """Begin a program without sessions; `add` adds the first one, which stands for the program."""
        self.sessions: Sequence[Of] = ()
        """The first process's first, each behind its parent."""
        self.output_intake = OutputIntake()
        """The output of all its processes, and the messages of its log points."""
        self.responses = OutputLog(MAX_RESPONSE_CHARS)
        """What triggers have brought, whole."""
        self.failures = Failures()
        """Conditions and log messages that could not be evaluated."""
        self.collected = Collected()
        """The rows of its breakpoints that collect."""
        self.row_files: RowFiles | None = None
        """Where its processes write rows; None: they have not collected by themselves."""
        self.waiters = Waiters()
        self.arriving_output = ArrivingOutput(self.output_intake.output, self.waiters)
        self._keyboard: Keyboard | None = None
        self.awaited_breakpoints = AwaitedBreakpoints()
        """Its breakpoints, and what was reported about them."""
        self.reported_killed_ids: set[int] = set()
        """The sessions that a signal has ended, as its caller was told."""
        self._listeners: list[Callable[[Of, Message], None]] = []
        self._undebugged: list[str] = []
        self._noted_pids: set[int] = set()

    # -- its rows

    def ensure_row_folder(self, folders: RowFolders) -> Path:
        """Return the folder into which the program's processes write rows.

        The first call makes it in `folders`.
        """
        self.row_files = self.row_files or folders.create_files(self.collected)
        return self.row_files.folder

    async def read_rows(self) -> None:
        """Read the rows that the program's processes have written since the last call into `collected`.

        Nothing is done before `ensure_row_folder` was called.
        """
        if self.row_files is not None:
            await self.row_files.read()

    # -- its terminal

    @property
    def keyboard(self) -> Keyboard | None:
        """What types into the terminal that the program runs in.

        None: it runs in no terminal that dapeer can type into.
        """
        return self._keyboard

    def set_keyboard(self, terminal: Keyboard) -> None:
        """Set the `keyboard` by which text reaches the program's terminal."""
        self._keyboard = terminal

    # -- its processes

    def add(self, session: Of) -> None:
        """Add a session to `sessions`, behind its parent."""
        self._set_sessions([*self.sessions, session])

    def remove(self, session: Of) -> None:
        """Remove a session from `sessions`, which has ended; the first session of the program stays."""
        if session is not self.first:
            self._set_sessions([each for each in self.sessions if each is not session])

    def _set_sessions(self, sessions: Sequence[Of]) -> None:
        """Set `sessions`, ordered so that each stands behind its parent; the first one stays the first."""
        self.sessions = sessions
        self.sessions = (self.first, *self.descendants(self.first))

    @property
    def output(self) -> OutputLog:
        """The log into which all its processes print."""
        return self.output_intake.output

    @property
    def first(self) -> Of:
        """The session of the process that was started first."""
        return self.sessions[0]

    @property
    def living_sessions(self) -> list[Of]:
        """The sessions that have not ended."""
        return [each for each in self.sessions if not each.is_over]

    @property
    def is_alive(self) -> bool:
        """Whether any of the program's processes has not ended; an adapter may still be there when none has."""
        return any(not each.mirror.has_ended for each in self.sessions)

    @property
    def stopped_sessions(self) -> list[Of]:
        """The sessions that are stopped."""
        return [each for each in self.sessions if each.mirror.stop is not None]

    @property
    def debugged(self) -> list[Of]:
        """The sessions that have a process of their own, without those whose program is their first child."""
        return [s for s in self.sessions if not (s.runs_in_first_child and self.children(s))]

    def children(self, parent: Of) -> list[Of]:
        """Return the sessions whose parent is `parent`, in order of their start."""
        return [each for each in self.sessions if each.parent is parent]

    def descendants(self, session: Of) -> list[Of]:
        """Return all sessions below `session`: its children, each followed by its own children."""
        children: dict[Process | None, list[Of]] = {}
        for each in self.sessions:
            children.setdefault(each.parent, []).append(each)

        def under(parent: Of) -> list[Of]:
            """Return the sessions below `parent`, each followed by those below it."""
            return [each for child in children.get(parent, ()) for each in (child, *under(child))]

        return under(session)

    def child_runs(self, parent: Of) -> bool:
        """Return whether a child session of `parent` has started its program."""
        return any(each.mirror.has_started for each in self.children(parent))

    def session_for_tool(self, session: Of, *, exactly: bool) -> Of:
        """Return the session on which a tool works when the caller has named `session`.

        A session that delegates is replaced by its first child. Unless `exactly`, a session that runs is replaced by one of the program
        that is stopped (the last in order), if there is any: a caller can look only at that.
        """
        while session.runs_in_first_child and (children := self.children(session)):
            session = children[0]
        if exactly or session.mirror.stop is not None:
            return session
        return next(reversed(self.stopped_sessions), session)

    def living_session_for(self, session: Of) -> Of:
        """Return `session` if it has not ended, else another that has not, else the program's first session."""
        return session if not session.is_over else next(iter(self.living_sessions), self.first)

    def notes_on_others(self, session: Of) -> list[str]:
        """Return a note on each other session that is stopped, and, if `session` has ended, on each that runs."""
        others = [each for each in self.debugged if each is not session and not each.is_over]
        notes = [f"session {each.id} is stopped, too" for each in others if each.mirror.stop]
        if session.is_over:
            notes += [f"session {each.id} runs on" for each in others if not each.mirror.stop]
        return notes

    def add_undebugged(self, pid: int, note: str) -> None:
        """Keep a note on a process of the program that runs without a debugger, until it is told.

        A process on which there was a note before gets no other one.
        """
        if pid not in self._noted_pids:
            self._noted_pids.add(pid)
            self._undebugged.append(note)
            self.waiters.wake()

    def take_undebugged(self) -> list[str]:
        """Return the notes of `add_undebugged` that were not returned before; many are counted."""
        notes, self._undebugged = self._undebugged, []
        more = len(notes) - MAX_NAMED_PROCESSES
        return [*notes[:MAX_NAMED_PROCESSES], *([f"{more} more ran undebugged"] * (more > 0))]

    # -- what happens

    def subscribe(self, listener: Callable[[Of, Message], None]) -> None:
        """Register `listener` for good: `publish` calls it with the session and each message.

        It must not block.
        """
        self._listeners.append(listener)

    def publish(self, session: Of, message: Message) -> None:
        """Wake those who wait, and call all listeners, for a message that the session's mirror has applied."""
        self.waiters.wake()
        for listener in self._listeners:
            listener(session, message)

    # -- waiting

    def unseen_stops(self, session: Of) -> StopIds:
        """Return the other sessions' stops that no caller was shown, as (session id, stop number)."""
        stops = ((each, each.mirror.stop) for each in self.sessions if each is not session)
        return frozenset(
            (s.id, stop.number)
            for s, stop in stops
            if stop and stop.presentation.output_shown is None
        )

    def stop_or_end(self, session: Of, epoch: int, old: StopIds = NONE) -> Of | None:
        """Return the session to show to a caller that waits for a stop of `session`; None: keep waiting.

        That is `session` if its present stop has a greater number than `epoch`. Else it is another session
        whose stop nobody was shown, and which is not in `old` (pairs as `unseen_stops` returns them); of
        several, the one with the lowest id. Else, when `session` has ended, it is the first that is
        stopped, though its stop was shown, or else the one that shows how the program has ended, if it has.
        """
        stop = session.mirror.stop
        if stop is not None and stop.number > epoch:
            return session
        new = self.unseen_stops(session) - old
        if new or not session.is_over:
            first = min(new, default=(0, 0))[0]
            return next((each for each in self.sessions if each.id == first), None)
        return next(iter(self.stopped_sessions), None) or self._ended()

    def _ended(self) -> Of | None:
        """Return the session that shows how the program has ended; None if it has not ended."""
        first = self.first
        # A process that has replaced itself ends without an exit code, and continues as its own child.
        replaced = first.is_over and first.mirror.exit_code is not None
        return first if not self.living_sessions or replaced else None

    async def next_stop(
        self,
        session: Of,
        epoch: int,
        seconds: float,
        old: StopIds = NONE,
        report: Callable[[str], Awaitable[None]] | None = None,
    ) -> Of | None:
        """Wait at most `seconds` for a stop of a process of the program, or for its end.

        Return the session to show: `session`, if it has stopped after the stop number `epoch`, which was its last one
        before it was resumed; else another session whose stop nobody was shown; else, if `session` has ended, one that
        is stopped, or one that shows how the program has ended. None: none of these came in time.

        `old` are stops of other sessions that were there before: they are returned only if nothing else comes within
        `SECONDS_TO_STEP`. `report` is awaited with the newest line of output, at most once in `SECONDS_BETWEEN_LINES`;
        None: nothing is reported.
        """
        clock = anyio.current_time
        end = clock() + seconds
        if old:
            soon = min(seconds, SECONDS_TO_STEP)
            await self.wait_until(
                lambda: self.stop_or_end(session, epoch, old) is not None, soon, report
            )
            found = self.stop_or_end(session, epoch, old)
            if found is not None:
                return found
        await self.wait_until(
            lambda: self.stop_or_end(session, epoch) is not None, end - clock(), report
        )
        return self.stop_or_end(session, epoch)

    async def wait_until(
        self,
        happened: Callable[[], bool],
        seconds: float,
        report: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """Wait until `happened()` is true, or `seconds` have passed; the caller has to check which.

        `happened` is called at once and after each message, so it must be cheap. `report` is awaited with the newest
        line of output when there is new output, not sooner than `SECONDS_BETWEEN_LINES` after the beginning or the last
        report; output of the end of the wait may go unreported. What `report` raises leaves this call.
        """
        clock = anyio.current_time
        end = clock() + seconds
        output = self.output
        seen_until, due = output.end, clock() + SECONDS_BETWEEN_LINES

        def woken() -> bool:
            """Return whether to wake: `happened()` is true, or a new line of output is due to be reported."""
            printed = report is not None and output.end > seen_until and clock() >= due
            return happened() or printed

        while await self.waiters.wait_for(woken, end - clock()) and not happened():
            seen_until, due = output.end, clock() + SECONDS_BETWEEN_LINES
            if report is not None:
                await report(output.last_line())


# A program's processes that have left its POSIX session: daemons, servers, terminal multiplexers.
#
# They run on where the program runs without a debugger, too, and others may use them. So they are left alone and named once, until
# somebody asks for their end.


COMMAND_CHARS = 80
"""Characters of a command line that are shown."""
MAX_NAMED_PROCESSES = 5
"""Processes that are named; more are counted."""


class DetachedProcesses:
    """The processes of one program that have left its POSIX session, and may run on after its end."""

    def __init__(self, processes: Processes, program: Program[Any], relay: str) -> None:
        """Keep what belongs to one program.

        `relay` is a regular expression for command lines of the debugger's own processes. Processes that match `relay` end by themselves
        and are not reported; an empty `relay` matches none.
        """
        self._processes = processes
        self._program = program
        self._relay = relay
        self._reported_pids: set[int] = set()

    def record_processes(self) -> None:
        """Record which processes have left the POSIX session.

        That can be seen only while the program lives.
        """
        self._processes.find_detached()

    def unreported(self) -> list[str]:
        """Return at most one note: the processes that `take_unreported` finds, and the call that ends them.

        The list is empty while the program runs, and where there is no process that was not reported before. What the note names counts
        as reported.
        """
        new = self.take_unreported()
        if not new:
            return []
        way = "dap_terminate(detached=true) ends what has left the program's POSIX session"
        return [f"still running: {named(new)}; {way}"]

    def take_unreported(self) -> dict[int, str]:
        """Return the processes that outlived the program as command lines by pid, and record them as reported.

        They are those that have left its POSIX session. Each is returned only once. Left out are processes that a session
        still debugs, those of the debugger itself, and those that have ended. The dict is empty while the program runs,
        if a process of it was released, and where the system tells no processes. A command line is one line, shortened to
        `COMMAND_CHARS`.
        """
        if self._program.is_alive:
            return {}
        debugged = {
            each.mirror.process.get("systemProcessId") for each in self._program.living_sessions
        }
        new = {
            pid: command
            for pid in self._processes.find_detached()
            if pid not in self._reported_pids | debugged and (command := self._command(pid))
        }
        self._reported_pids |= new.keys()
        return new

    async def kill_all(self) -> str:
        """Kill the processes that have left the program's POSIX session; return a sentence on them.

        The sentence names the killed processes, or says that there was none, or that this system cannot list processes.
        The killed ones are recorded as reported, so that no later answer names them as left running.
        """
        commands = {pid: self._command(pid) for pid in self._processes.find_detached()}
        ended = {pid: commands.get(pid, "") for pid in await self._processes.kill_detached()}
        self._reported_pids |= ended.keys()
        if not ended and not processes():
            return "This system does not tell which processes there are, so none was looked for."
        return f"Ended, too: {named(ended)}." if ended else "Nothing has left its POSIX session."

    def _command(self, pid: int) -> str:
        """Return the command line of a process on one line, shortened to `COMMAND_CHARS`.

        Empty: the process has ended, or is one of the debugger's own.
        """
        command = " ".join(command_line(pid).split())
        own = self._relay and re.search(self._relay, command)
        return "" if own else shortened(command, COMMAND_CHARS)


def named(commands: Mapping[int, str]) -> str:
    """Return "pid (command), …" for at most `MAX_NAMED_PROCESSES` processes, and "N more" for the others.

    `commands` has each process's command line by its pid.
    """
    named = [f"{pid} ({command})" for pid, command in commands.items()]
    more = [f"{len(named) - MAX_NAMED_PROCESSES} more"] if len(named) > MAX_NAMED_PROCESSES else []
    return ", ".join([*named[:MAX_NAMED_PROCESSES], *more])
