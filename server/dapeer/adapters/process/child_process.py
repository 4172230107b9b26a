"""A process that dapeer starts, with pipes. Nothing kills it but who means to.

asyncio kills a process of its own as soon as the object of that is closed or forgotten, also at the end of this interpreter: a debugger
that is killed takes the program with it that it is attached to.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

import anyio

from dapeer.base.system import process_end


class _Outliving(subprocess.Popen[bytes]):
    """A process that may live on when nobody needs its object any more, which is no fault here."""

    def __del__(self) -> None:
        """Take the exit code if it has ended; a plain `Popen` would warn of one that lives."""
        if getattr(self, "_child_created", False):
            self.poll()


class ChildProcess:
    """A process that leads a POSIX session of its own."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        """Watch a process that has been started, in the running event loop.

        Its exit code is read when it ends, so that it is no zombie.
        """
        self.pid = popen.pid
        self.stdin: asyncio.StreamWriter | None = None
        """What it reads; None: it has no such pipe."""
        self.stdout: asyncio.StreamReader | None = None
        """What it prints; None: it has no such pipe."""
        self._popen = popen
        self._printed: asyncio.BaseTransport | None = None
        self._ended = anyio.Event()
        self._file = process_end.opened(popen.pid)
        loop = asyncio.get_running_loop()
        if self._file is not None:
            loop.add_reader(self._file, self._bury)
        else:
            threading.Thread(target=self._wait, args=(loop,), daemon=True).start()

    @classmethod
    async def start(
        cls,
        arguments: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: int,
        cwd: str | None,
        env: Mapping[str, str],
        outlives: bool = False,
    ) -> ChildProcess:
        """Start a process in a POSIX session of its own, and return it.

        `stdin`, `stdout` and `stderr` are descriptors or constants of `subprocess`; pipes are opened as streams for `PIPE`.
        With `outlives`, SIGPIPE does not end it: it may print when nobody reads that any more.

        Raises:
            OSError: The program, or the folder to start it in, is not there or not usable.
        """
        popen = _started(arguments, stdin, stdout, stderr, cwd, env, outlives=outlives)
        child = cls(popen)
        await child._open(popen.stdin, popen.stdout)
        return child

    async def _open(self, stdin: IO[bytes] | None, stdout: IO[bytes] | None) -> None:
        """Set `stdin` and `stdout` to streams over the process's pipes; None: it has no such pipe."""
        loop = asyncio.get_running_loop()
        if stdin is not None:
            protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
            pipe, _ = await loop.connect_write_pipe(lambda: protocol, stdin)
            self.stdin = asyncio.StreamWriter(pipe, protocol, None, loop)
        if stdout is not None:
            reader = self.stdout = asyncio.StreamReader()
            self._printed, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), stdout
            )

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the negative number of the signal that has ended it; None: it lives."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        await self._ended.wait()
        return self._popen.wait()

    def terminate(self) -> None:
        """Send it SIGTERM, unless it has ended."""
        self._popen.terminate()

    def close_pipes(self) -> None:
        """Close its input, and stop reading its output; whoever still reads gets `ClosedResourceError`.

        Input that it has not read when this is called a second time is dropped.
        """
        if self.stdin is not None:
            pipe = self.stdin.transport
            if pipe.is_closing() and pipe.get_write_buffer_size():
                # It does not read.
                pipe.abort()
            pipe.close()
        if self.stdout is not None and self._printed is not None:
            self.stdout.set_exception(anyio.ClosedResourceError())
            self._printed.close()

    def _bury(self) -> None:
        """Take the exit code of the process, which has ended, and wake those who wait for that."""
        if self._file is not None:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
            self._file = None
        self._popen.wait()
        self._ended.set()

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait in a thread for the end of the process, where the system has no descriptors of processes.

        Then those who wait in `loop` are woken.
        """
        self._popen.wait()
        # The loop may have been closed meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._ended.set)


def _started(
    arguments: Sequence[str],
    stdin: int,
    stdout: int,
    stderr: int,
    cwd: str | None,
    env: Mapping[str, str],
    *,
    outlives: bool,
) -> subprocess.Popen[bytes]:
    """Start a process in a POSIX session of its own; `outlives`: it ignores SIGPIPE, as dapeer does."""
    return _Outliving(
        arguments,
        bufsize=0,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=env,
        # Python ignores SIGPIPE, and has what it starts do so, unless it restores the signals.
        restore_signals=not outlives,
        start_new_session=True,
    )
