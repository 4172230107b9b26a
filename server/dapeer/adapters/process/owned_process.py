"""Processes that end with a session, with checks that they are the right ones."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from dapeer.base.system import process_end
from dapeer.base.system.folders import temporary_folder
from dapeer.base.system.process_table import (
    ancestors,
    descendants,
    has_in_environment,
    posix_session_of,
    processes,
    session_members,
    start_ticks,
)
from dapeer.companions.process.reaper import attached_line_of, line_of

# Child processes that kill what dapeer has started, if dapeer itself is killed.

_PROGRAM = Path(__file__).parents[2] / "companions" / "process" / "reaper.py"

TWINS = 2
"""Several such children, in case one is killed together with dapeer."""

SECONDS_TO_KILL = 3.0
"""Seconds for a child to kill what is still on its list."""


class Reaper:
    """Owns small child processes, each with the other end of a pipe of dapeer.

    However our process ends, SIGKILL included, the pipes end too, and each child kills what is still
    being watched. They are started at the first `watch`, which does not wait until they run; one that
    is killed is replaced.
    """

    def __init__(self) -> None:
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        """By number."""
        self._lines: dict[str, bytes] = {}
        """By process or folder: the line that adds it to a child's list."""

    def watch(self, pid: int) -> None:
        """Have the process, its process group and its POSIX session killed when dapeer dies."""
        self._add(str(pid), line_of(pid).encode())

    def watch_attached(self, pid: int, number: int) -> None:
        """Have the debugger of an attached program detach and end when dapeer dies.

        Args:
            pid: The debugger's process, which leads a POSIX session.
            number: The signal that makes it detach where the end of its input does not; 0: none does.
        """
        self._add(str(pid), attached_line_of(pid, number).encode())

    def detach(self, pid: int) -> None:
        """Have a watched debugger detach now and end, and return at once; its input must have ended.

        It is on no list any more: dapeer's own end changes nothing of it.
        """
        if self._lines.pop(str(pid), None) is not None:
            self._write_to_all(b"detach %d\n" % pid)

    def watch_folder(self, folder: str) -> None:
        """Have a folder removed when dapeer dies."""
        # The name may hold any byte.
        name = os.fsencode(folder).hex()
        self._add(name, b"folder %s\n" % name.encode())

    @contextlib.contextmanager
    def temporary_folder(self) -> Generator[Path]:
        """Make a folder for this user alone, and remove it after the body, or when dapeer dies.

        Its path is yielded.

        Raises:
            OSError: No temporary folder is writable.
        """
        with temporary_folder() as folder:
            self.watch_folder(str(folder))
            try:
                yield folder
            finally:
                self.forget_folder(str(folder))

    def forget(self, pid: int) -> None:
        """Stop watching the process: it has ended, or is to live on."""
        self._remove_from_all(str(pid))

    def forget_folder(self, folder: str) -> None:
        """Stop watching the folder: it is removed, or is to stay."""
        self._remove_from_all(os.fsencode(folder).hex())

    async def aclose(self) -> None:
        """End the child processes, which kill and remove what is still on their lists, and wait for their end.

        A child that has not ended after `SECONDS_TO_KILL` is killed. The wait is not cancelled. A later `watch`
        starts new children.
        """
        children = [*self._children.values()]
        self._children.clear()
        self._lines.clear()
        for child in children:
            _close(child)
        with anyio.CancelScope(shield=True):
            for child in children:
                await anyio.to_thread.run_sync(_wait, child)

    def _add(self, name: str, line: bytes) -> None:
        """Send a line to all child processes, and keep it under `name`; start the processes that do not run."""
        self._lines[name] = line
        if self._children:
            self._write_to_all(line)
        for number in {*range(TWINS)} - self._children.keys():
            self._start(number)

    def _remove_from_all(self, name: str) -> None:
        """Remove a name from the lists of all child processes, if it is on them."""
        if self._lines.pop(name, None) is not None:
            self._write_to_all(b"forget %s\n" % name.encode())

    def _write_to_all(self, line: bytes) -> None:
        """Write a line to all child processes that run."""
        for child in self._children.values():
            _write(child, line)

    def _start(self, number: int) -> None:
        """Start one of the reaper's child processes, send it the whole list, and start it anew when it ends.

        `number` says which one of the two child processes is meant, from 0; it becomes `_children[number]`. Once
        dapeer has gone, the child process kills the processes and removes the folders on the list. Call this
        method in dapeer's event loop, which watches the child's stdout for its end.

        Raises:
            OSError: The child process cannot be started.
        """
        # In a POSIX session of its own: no signal of a terminal, and no kill of dapeer's group, reaches it.
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(number)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            start_new_session=True,
        )
        self._children[number] = child
        _write(child, b"".join(self._lines.values()))
        if child.stdout is not None:
            # Nothing is said there: it ends with the child.
            asyncio.get_running_loop().add_reader(child.stdout, self._restart, number, child)

    def _restart(self, number: int, child: subprocess.Popen[bytes]) -> None:
        """Start a child process anew that was killed; `number` is its place among the twins.

        Where the system cannot start it, the next `watch` tries again.
        """
        _close(child)
        child.wait()
        if self._children.get(number) is child:
            del self._children[number]
            with contextlib.suppress(OSError):
                self._start(number)


def _write(child: subprocess.Popen[bytes], line: bytes) -> None:
    """Write a line to a child process; one that has ended gets none."""
    # A child may have been killed just now; debugging continues without it.
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.write(line)


def _wait(child: subprocess.Popen[bytes]) -> None:
    """Wait until a child has ended; kill a stopped one."""
    try:
        child.wait(SECONDS_TO_KILL)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _close(child: subprocess.Popen[bytes]) -> None:
    """Close the pipes of a child process, which ends it."""
    if child.stdout is not None and not child.stdout.closed:
        asyncio.get_running_loop().remove_reader(child.stdout)
        child.stdout.close()
    if child.stdin is not None:
        child.stdin.close()


SECONDS_TO_BE_GONE = 2.0
"""Seconds for killed processes to end; the kernel needs a moment for a large one."""
MARK: Final = "DAPEER_STARTED"
"""A variable that descendants of a session's processes inherit, even outside its POSIX session."""


class Processes:
    """All processes of one debug session, which end together."""

    def __init__(
        self, reaper: Reaper, above: Processes | None = None, *, attached: int | None = None
    ) -> None:
        """Begin without processes; `add` and `claim` put them under this object's control.

        Args:
            reaper: It ends them if dapeer is killed.
            above: Those of the session whose program has started this one's.
            attached: They are the debugger of an attached program, which is never killed while it traces that: the signal that makes
                it detach where the end of its input does not, 0 where none does. None: dapeer starts the program.
        """
        self._reaper = reaper
        self._parent = above
        self._attached = attached
        self._by_pid: dict[int, OwnedProcess] = {}
        self.mark: Mapping[str, str] = above.mark if above else {MARK: secrets.token_hex(8)}
        """A variable for the environment of every process of the session."""
        self._has_released = False
        """A process was released, so not everything that the adapter has started ends with it."""
        self._posix_sessions: set[int] = set()
        """The POSIX sessions of these, whose other members end with them."""
        self._detached: dict[int, int] = {}
        """Processes that have left those, each with the time of its start."""

    def add(self, pid: int) -> None:
        """Have a process that dapeer started end with the others, and be watched by the reaper.

        dapeer itself and the system's first process are never added.
        """
        if pid > 1 and pid != os.getpid() and pid not in self._by_pid:
            self._take_ownership(OwnedProcess(pid))

    def claim(self, pid: int) -> bool:
        """Have a process that an adapter names end with the session, if the session has started it.

        Return whether it does: True also if it was claimed or added before, False for dapeer itself and for a `pid`
        of 1 or less. `pid` is the process that the adapter names. The number alone says nothing, as it may be one
        of a container or of another machine, so a process that neither the session nor the debug session above it
        has started (`has_started`) is left alone. One that is claimed is also watched by the reaper, the child
        process that ends what is left if dapeer is killed.
        """
        if pid in self._by_pid or pid <= 1 or pid == os.getpid():
            return pid in self._by_pid
        # The pidfd is opened before the check, so the checked process is the one that is killed.
        process = OwnedProcess(pid)
        if self.has_started(pid):
            self._take_ownership(process)
        else:
            process.close()
        return pid in self._by_pid

    def has_started(self, pid: int) -> bool:
        """Return whether a process of this session has started the process `pid`, itself or through others.

        That is so if `pid` is in the POSIX session that one of them leads, is a descendant of one, or has `mark`
        in its environment, as it still has when its parents have ended. What the debug session above has started
        counts, too. Where the system tells neither parents nor environments, the POSIX session alone counts.
        """
        living = {own.pid for own in self._by_pid.values() if not own.is_number_reused()}
        return (
            posix_session_of(pid) in living
            or not living.isdisjoint(ancestors(pid))
            or any(has_in_environment(pid, f"{name}={value}") for name, value in self.mark.items())
            or (self._parent is not None and self._parent.has_started(pid))
        )

    def _take_ownership(self, process: OwnedProcess) -> None:
        """Own a process from now on: dapeer ends it with the others of this debug session.

        If dapeer is killed, the reaper kills the process, or has the debugger detach if the program was attached to. The
        POSIX session of the process is noted as one of this debug session's, unless it is dapeer's own.
        """
        self._by_pid[process.pid] = process
        session = posix_session_of(process.pid)
        if session is not None and session != os.getsid(0):
            self._posix_sessions.add(session)
        if self._attached is None:
            self._reaper.watch(process.pid)
        else:
            self._reaper.watch_attached(process.pid, self._attached)

    def discard(self, pid: int) -> None:
        """Own a process no more: it lives on, and the reaper forgets it. An unknown one changes nothing."""
        owned = self._by_pid.pop(pid, None)
        if owned is not None:
            owned.close()
            self._reaper.forget(pid)

    def release(self, pid: int) -> None:
        """Let a debuggee live on, with its descendants: `find_detached` finds none from now on."""
        self._has_released = True
        self.discard(pid)

    def find_detached(self) -> list[int]:
        """Find living processes that have left this session's POSIX sessions, and return their ids.

        They are daemons and servers that this session's processes have started: their environment has `mark`, or they are
        descendants of an owned process now, or were so outside of the POSIX sessions at an earlier call. Each call
        records what it finds. The owned processes themselves are left out. The list is empty where the system tells no
        processes, or if a process was released, as what that has started may be wanted.
        """
        if self._has_released:
            return []
        below = {each for pid in self._by_pid for each in descendants(pid)}
        marks = [f"{name}={value}" for name, value in self.mark.items()]
        for pid in processes():
            if posix_session_of(pid) in {None, *self._posix_sessions} or pid in self._by_pid:
                continue
            if pid in below or any(has_in_environment(pid, each) for each in marks):
                self._detached[pid] = start_ticks(pid)
        self._detached = {
            pid: at for pid, at in self._detached.items() if at and start_ticks(pid) == at
        }
        return list(self._detached)

    async def kill_detached(self) -> list[int]:
        """Kill what `find_detached` finds until that is nothing, wait for its end; return the pids.

        It gives up if killed processes have not ended within `SECONDS_TO_BE_GONE`; their ids are returned, too.
        """
        killed: list[OwnedProcess] = []
        # A process may have started another one before it was killed.
        while found := [OwnedProcess(pid) for pid in self.find_detached()]:
            killed += found
            # The pidfd was opened before this, so the process that is looked at is the one that is killed.
            _kill([each for each in found if start_ticks(each.pid) == self._detached[each.pid]])
            with anyio.move_on_after(SECONDS_TO_BE_GONE, shield=True) as scope:
                for each in found:
                    await each.wait_for_end()
            if scope.cancelled_caught:
                break
        for each in killed:
            each.close()
        return [each.pid for each in killed]

    def kill_all_but(self, pid: int | None) -> None:
        """Kill all processes but the one with this id (None: all), and return at once."""
        _kill([process for process in self._by_pid.values() if process.pid != pid])

    @property
    def are_attached(self) -> bool:
        """Whether they are the debugger of a program that dapeer has not started."""
        return self._attached is not None

    def wake(self) -> None:
        """Continue those that somebody has stopped (SIGCONT)."""
        for process in self._by_pid.values():
            process.wake()

    def detach(self) -> None:
        """Leave the debugger of an attached program to the reaper, which has it detach and end.

        Its input must have ended. The processes are owned no more.
        """
        for pid in [*self._by_pid]:
            self._reaper.detach(pid)
            self.discard(pid)

    async def kill(self) -> None:
        """Kill the processes and the rest of their POSIX sessions, and wait for their end.

        The wait takes at most `SECONDS_TO_BE_GONE`, also when it is cancelled. The processes stay owned. After a
        `release` the rest of the sessions is spared, since the released program may be part of one. Where they are the
        debugger of an attached program, whose input must have ended, they are left to the reaper instead (`detach`):
        none is killed, waited for, or owned any more.

        The rest of a session is killed since some adapters leave a debuggee behind, in a process group of its own that
        nobody has told us of; but most stay in the session that an adapter leads.
        """
        if self._attached is not None:
            self.detach()
            return
        owned = list(self._by_pid.values())
        _kill(owned)
        left = (
            []
            if self._has_released
            else [each for process in owned for each in process.kill_rest_of_session()]
        )
        try:
            with anyio.move_on_after(SECONDS_TO_BE_GONE, shield=True):
                for process in owned + left:
                    await process.wait_for_end()
        finally:
            # The caller may not wait for the end.
            for process in left:
                process.close()

    async def aclose(self) -> None:
        """Kill the processes as `kill` does, then own them no more."""
        try:
            await self.kill()
        finally:
            for pid in list(self._by_pid):
                self.discard(pid)


class OwnedProcess:
    """A process, and the process group if it leads one.

    On Linux a descriptor of the process stands for it, not the number: a number may be reused when
    the process is gone, and a descriptor can be waited for.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._pidfd = process_end.open_pidfd(pid)
        self._leads_group = _group(pid) == pid != os.getpgrp()
        self._leads_session = posix_session_of(pid) == pid != os.getsid(0)

    def suspend(self) -> None:
        """SIGSTOP the process and its group: it does nothing more until it is killed."""
        self._send(signal.SIGSTOP)

    def wake(self) -> None:
        """SIGCONT the process and its group, which changes nothing where nobody has stopped them."""
        self._send(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL the process and its group; a process that has its number by now is spared."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        """Send a signal to the process group that the process leads, or else to the process.

        `number` is the signal. A group gets it also when its leader has ended, unless the descriptor of the
        leader shows that another process has its number by now. A process that leads no group gets none if it has
        ended, or its descriptor is closed; only on a system without such descriptors, a process that has its
        number by now would get it. Errors of the system are ignored.
        """
        with contextlib.suppress(OSError):
            if self._leads_group and not self.is_number_reused():
                os.killpg(self.pid, number)
            elif self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, number)
            elif not hasattr(os, "pidfd_open"):
                os.kill(self.pid, number)

    def kill_rest_of_session(self) -> list[OwnedProcess]:
        """Kill the living members of the POSIX session that this process leads, and return them.

        This process is one of them if it still lives, as another object. The search is repeated until it finds no
        member that was not found before. Each is killed (SIGKILL) with the group that it leads; one that has left the
        session since it was listed is spared, but returned, too. Their end is not waited for; the caller closes the
        returned processes. The result is empty if this process leads no session, or another process has its number
        by now.
        """
        left: list[OwnedProcess] = []
        # A process may have started another one before it was killed.
        while self._leads_session and not self.is_number_reused():
            found = [
                OwnedProcess(pid)
                for pid in session_members(self.pid)
                if pid not in {o.pid for o in left}
            ]
            for other in found:
                # The number may have been given to another process since it was listed.
                if posix_session_of(other.pid) == self.pid:
                    other.kill()
            if not found:
                break
            left += found
        return left

    async def wait_for_end(self) -> None:
        """Wait until the process has ended; return at once where that cannot be waited for."""
        if self._pidfd is None:
            return
        await process_end.wait_for_end(self.pid, self._pidfd)

    def close(self) -> None:
        """Close the descriptor of the process, which itself goes on; a second call does nothing."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def is_number_reused(self) -> bool:
        """Return whether the process has ended and another one has its number.

        A group outlives its leader, and keeps its number from being used again; so when nobody has the number,
        the group is still ours. False where no descriptor of the process could be opened: it had ended, or the
        system has none.
        """
        if self._pidfd is None:
            return False
        try:
            signal.pidfd_send_signal(self._pidfd, 0)
        except ProcessLookupError:
            return _group(self.pid) is not None
        except PermissionError:
            # It lives, as another user.
            return False
        return False


def _kill(processes: Sequence[OwnedProcess]) -> None:
    """Stop all processes, then kill them, so that none runs on because another one has gone."""
    for process in processes:
        process.suspend()
    for process in processes:
        process.kill()


def _group(pid: int) -> int | None:
    """Return the process group of a process; None if there is no such process."""
    with contextlib.suppress(OSError):
        return os.getpgid(pid)
    return None
