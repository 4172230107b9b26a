"""Child processes that kill what dapeer has started, if dapeer itself is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread

from dapeer.companions.process.reaper import attached_line_of, line_of

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

    def forget(self, pid: int) -> None:
        """Stop watching the process: it has ended, or is to live on."""
        self._forget(str(pid))

    def forget_folder(self, folder: str) -> None:
        """Stop watching the folder: it is removed, or is to stay."""
        self._forget(os.fsencode(folder).hex())

    async def aclose(self) -> None:
        """End the child processes, which kill and remove what is still on their lists, and wait for their end.

        A later `watch` starts new ones.
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

    def _forget(self, name: str) -> None:
        """Remove a name from the lists of all child processes, if it is on them."""
        if self._lines.pop(name, None) is not None:
            self._write_to_all(b"forget %s\n" % name.encode())

    def _write_to_all(self, line: bytes) -> None:
        """Write a line to all child processes that run."""
        for child in self._children.values():
            _write(child, line)

    def _start(self, number: int) -> None:
        """Start a child process with the whole list, and watch for its end."""
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
            asyncio.get_running_loop().add_reader(child.stdout, self._ended, number, child)

    def _ended(self, number: int, child: subprocess.Popen[bytes]) -> None:
        """Start a child process anew that was killed; `number` is its place among the twins."""
        _close(child)
        child.wait()
        if self._children.get(number) is child:
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
