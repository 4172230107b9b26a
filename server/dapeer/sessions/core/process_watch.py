"""Watches the process of a session's program: some adapters never notice that it was killed."""

from __future__ import annotations

import os
from typing import Final

import anyio

from dapeer.adapters.process.adapter import Adapter
from dapeer.base.errors import NotStopped
from dapeer.base.system import process_end
from dapeer.base.system.process_table import descendants, tracer
from dapeer.base.system.tasks import BackgroundTask
from dapeer.dap.messages import Event, Message
from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session
from dapeer.view.snapshot import KILLED

SECONDS_TO_REPORT_THE_END: Final = 0.1
"""Seconds that an adapter has to report the end of a program that was killed while stopped."""
SECONDS_WITHOUT_OUTPUT: Final = 0.5
"""The same for one that was running: its last output comes before that."""
SECONDS_FOR_OTHER_ENDS: Final = 3.0
"""The same for a program that has ended by itself, or in an unknown way."""
SECONDS_TO_DIE: Final = 3.0
"""Seconds in which a process that is being killed gives its memory back."""
NEXT: Final = "dap_wait_until_paused waits for the next stop."
OUT_OF_TIME: Final = "Perhaps its parent kills a process that does not answer in time, and has an option for that time."


class ProcessWatch:
    """Notices the end of a program by its process, and the signal that killed it. Linux only."""

    def __init__(self, session: Session, adapter: Adapter, *, is_in_adapter: bool) -> None:
        """Watch nothing yet; `adapter` is the process whose descendants are searched for the program.

        `is_in_adapter`: the program runs in the adapter's own process, so nothing is searched.
        """
        self._session = session
        self._adapter = adapter
        self.pid = 0
        """The process; 0: it is not known, or not watched any more."""
        self._pidfd: int | None = None
        self._is_certain = True
        self._task: BackgroundTask[None] | None = None
        self._stop_event = anyio.Event()
        """It may have started threads since it was last looked at."""
        self._is_killed = False
        """A signal has killed it."""
        self._killer: str | None = None
        self._looks_again = False
        """It was not found, and may be at the first stop."""
        self._is_in_adapter = is_in_adapter

    def follow(self, pid: int, *, sure: bool = True) -> None:
        """Watch the process `pid` from now on, instead of any other, in a background task; return at once.

        When the process ends and the adapter does not report the end within some seconds, the program's end is
        recorded in the session; where a signal killed the process, the signal is recorded as the cause. `sure`:
        the process is surely the debuggee; otherwise only a signal that kills it counts as the program's end.
        Nothing changes, and another process stays watched, if the process `pid` is watched already or does not
        exist any more, if the session has ended, or if the system has no pidfds.
        """
        known = pid == self.pid or self._session.mirror.has_ended
        file = None if known else process_end.open_pidfd(pid)
        if file is not None:
            self.close()
            self.pid, self._pidfd, self._is_certain = pid, file, sure
            self._looks_again = False
            self._begin()

    def find_process(self) -> None:
        """Search for the program's process, and watch it if exactly one is found; else search again at a stop.

        If the adapter's terminal has a process, that one is watched, and there is no other search. Else the process is the
        only traced one below the adapter, or, if none is traced, the adapter's only child. A process found below the
        adapter is claimed, so that it is killed with the adapter; one that cannot be claimed is not watched. Nothing is
        searched if a process is watched already, the adapter's process is unknown, or the program runs inside of the
        adapter. The second search, at the next `stopped` event (`on_message`), is the last one.
        """
        adapter, terminal = self._adapter.pid, self._adapter.terminal
        if self._pidfd is not None or adapter is None or self._is_in_adapter:
            return
        if terminal is not None and terminal.pid:
            self.follow(terminal.pid, sure=False)
            return
        below = descendants(adapter)
        traced = [pid for pid in below if tracer(pid)]
        children = [pid for pid, parent in below.items() if parent == adapter]
        found = traced or children
        # Some programs lead a POSIX session of their own; they still end with dapeer.
        if len(found) == 1 and self._adapter.claim(found[0]):
            self.follow(found[0], sure=bool(traced))
        self._looks_again = self._pidfd is None and not self._looks_again

    def on_message(self, message: Message) -> None:
        """React to a `stopped` event; other messages are ignored.

        If a signal has killed the process, the program's end is recorded. Else its process is searched for again, or watched on, since it
        may have new threads.
        """
        if not isinstance(message, Event) or message.event != "stopped":
            return
        if self._record_if_killed():
            # A dead process cannot stop again.
            self._record_end()
        elif self._looks_again:
            # Helper processes of the start have ended by now.
            self.find_process()
        else:
            self._begin()

    def _record_if_killed(self) -> bool:
        """Return whether a signal has killed the process, and record which.

        A stop may arrive before that is noticed.
        """
        if not self._is_killed and self._pidfd is not None:
            self._killer = process_end.deadly_signal(self.pid, self._pidfd)
            self._is_killed = self._killer is not None
        return self._is_killed

    def close(self) -> None:
        """Stop watching, close the pidfd and set `pid` to 0."""
        if self._task is not None:
            self._task.cancel()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._task = self._pidfd = None
        self.pid = 0

    async def wait_for_cause(self, exit_code: int | None) -> None:
        """Wait until the cause of the process's end is recorded, if its exit code is negative.

        The wait takes at most `SECONDS_TO_DIE`. CodeLLDB reports -1 for a program that a signal kills: with much memory, its end takes a
        while.
        """
        if self._task is not None and exit_code is not None and exit_code < 0:
            with anyio.move_on_after(SECONDS_TO_DIE):
                await self._task.wait_for_end()

    def _begin(self) -> None:
        """Start a task that waits for the process's end, or tell the running one of possible new threads."""
        if self._task is not None and not self._task.done:
            self._stop_event.set()
            self._stop_event = anyio.Event()
        elif self._pidfd is not None:
            self._task = BackgroundTask(self._watch(self.pid, self._pidfd))

    async def _watch(self, pid: int, file: int) -> None:
        """Wait for the end of a process; record it, and its killer, if the adapter does not report the end.

        `file` is the pidfd of the process `pid`; it stays open, and `close` of this watch closes it. The adapter gets
        at most `SECONDS_FOR_OTHER_ENDS` to report the end, and less where a signal killed the process. If the adapter
        reports the end, only the killer is recorded, as the end's cause, unless a cause is known. The end of a process
        that is not surely the debuggee counts only if a signal killed the process.
        """
        session = self._session
        killer = await process_end.wait_for_end(pid, file, lambda: self._stop_event)
        if killer is None and not self._is_certain:
            return
        self._is_killed, self._killer = killer is not None, killer
        if killer is None:
            patience = SECONDS_FOR_OTHER_ENDS
        else:
            patience = (
                SECONDS_TO_REPORT_THE_END
                if session.mirror.stop is not None
                else SECONDS_WITHOUT_OUTPUT
            )
        # If the adapter has ended first, its end is the reason.
        if not await session.wait_for(lambda: session.mirror.has_ended, patience):
            self._record_end()
        elif killer is not None:
            session.ending.set_cause_if_unknown(self._end_cause())

    def _record_end(self) -> None:
        """Record in the session, as if the adapter had sent `terminated`, that the program has ended, and why."""
        self._session.record_end(self._end_cause())

    def _end_cause(self) -> str:
        """Return the cause of the end: a signal, or that the adapter did not report the end."""
        return f"{KILLED}{self._killer}" if self._killer else "the adapter did not report its end"


def require_unkilled(session: Session, then: str) -> None:
    """Raise `NotStopped` if a signal killed the session's process while it was stopped; else do nothing.

    Signals that dapeer's tools have sent do not count. `then` is a sentence on what to do, which ends the error's
    hint if other processes of the program go on; if none does, the hint tells how to start again. The session's id
    is added to `program.reported_killed_ids`, but the error is raised at each call.

    Raises:
        NotStopped: A signal killed the process while it was stopped; the error says what else of the program runs.
    """
    if not _is_killed(session) or not _was_stopped(session):
        return
    program, parent = session.program, session.parent
    program.reported_killed_ids.add(session.id)
    what = f"Session {session.id} was {session.cause} while it was stopped"
    if not program.living_sessions:
        raise NotStopped(
            f"{what}.", "dap_program_output shows its last words; dap_run starts it again."
        )
    if parent is None or parent.mirror.has_ended:
        raise NotStopped(f"{what}; session {program.living_sessions[0].id} runs on.", then)
    hint = _hint(session) or OUT_OF_TIME
    raise NotStopped(f"{what}; its parent, session {parent.id}, is still there.", f"{hint} {then}")


def take_unreported_kills(program: Program[Session]) -> list[str]:
    """Return notes on processes that a signal killed while their program goes on; each is noted once.

    Signals that a tool of dapeer has sent do not count. A note names the sessions with the same cause, and the
    signal, and perhaps gives a hint. SIGTERM of a running process is not noted, because parents end their workers by
    it. All killed sessions, also those not noted, are added to `program.reported_killed_ids`. The list is empty if
    there is nothing new, or if the program has ended.
    """
    dead = [each for each in program.sessions if _is_killed(each) and program.is_alive]
    killed = [each for each in dead if each.id not in program.reported_killed_ids]
    killed = [each for each in killed if _was_stopped(each) or each.cause != f"{KILLED}SIGTERM"]
    program.reported_killed_ids.update(each.id for each in dead)
    reported: dict[str, list[str]] = {}
    for each in killed:
        stopped = " while it was stopped" * _was_stopped(each)
        hint = _hint(each)
        reported.setdefault(f"{each.cause}{stopped}{hint and f'. {hint}'}", []).append(str(each.id))
    return [
        f"session{'s' * (len(ids) > 1)} {', '.join(ids)} {'were' if len(ids) > 1 else 'was'} {how}"
        for how, ids in reported.items()
    ]


def _is_killed(session: Session) -> bool:
    """Return whether a signal that no tool of dapeer's has sent ended the session's process."""
    return (session.cause or "").startswith(KILLED) and not session.is_ended_by_tool


def _was_stopped(session: Session) -> bool:
    """Return whether the session's last stop was not ended by a resume."""
    last = session.mirror.history.latest
    return last is not None and not last.resumed_with


def _hint(session: Session) -> str:
    """Return a hint on how to keep the parent of a process killed by SIGKILL from killing it.

    Empty: none is known.
    """
    named = f"{session.program.first.name}\n{session.name}"
    known = session.cause == f"{KILLED}SIGKILL"
    return (known and session.advice.hint_on_killed(named, session.program.output)) or ""
