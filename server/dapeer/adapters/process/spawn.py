"""The process of an adapter: its start, its pipes, its end, and all that ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio

from dapeer.adapters.definition.placeholders import UNSET, fill, fill_list
from dapeer.adapters.definition.sections import TransportTable
from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.adapters.process.tail import SECONDS_OF_LAG, OutputFilter, Tail
from dapeer.adapters.process.terminal import Terminal, command_in_terminal
from dapeer.base.errors import AdapterFailed, DapeerError, from_os_error, system_error
from dapeer.base.json_types import as_object
from dapeer.base.system import process_end
from dapeer.base.system.environment import environment_for
from dapeer.base.system.process_table import lack_of_tasks
from dapeer.base.text.tracebacks import cause
from dapeer.companions.python.dapeer_debuggee.patching import WORD

# A process that dapeer starts, with pipes. Nothing kills it but who means to.
#
# asyncio kills a process of its own as soon as the object of that is closed or forgotten, also at the end of this interpreter: a debugger
# that is killed takes the program with it that it is attached to.


class _DetachedPopen(subprocess.Popen[bytes]):
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
        self._stdout_transport: asyncio.BaseTransport | None = None
        self._end_event = anyio.Event()
        self._pidfd = process_end.open_pidfd(popen.pid)
        loop = asyncio.get_running_loop()
        if self._pidfd is not None:
            loop.add_reader(self._pidfd, self._reap)
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
        popen = _start_detached(arguments, stdin, stdout, stderr, cwd, env, outlives=outlives)
        child = cls(popen)
        await child._open(popen.stdin, popen.stdout)
        return child

    async def _open(self, stdin: IO[bytes] | None, stdout: IO[bytes] | None) -> None:
        """Set the attributes `stdin` and `stdout` to streams over this side's ends of the process's pipes.

        The arguments are these ends, as open files: dapeer writes to `stdin` and reads from `stdout`. Where one is None,
        there is no such pipe, and its attribute stays as it is. The streams use the running event loop.
        """
        loop = asyncio.get_running_loop()
        if stdin is not None:
            protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
            pipe, _ = await loop.connect_write_pipe(lambda: protocol, stdin)
            self.stdin = asyncio.StreamWriter(pipe, protocol, None, loop)
        if stdout is not None:
            reader = self.stdout = asyncio.StreamReader()
            self._stdout_transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), stdout
            )

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the negative number of the signal that has ended it; None: it lives."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        await self._end_event.wait()
        return self._popen.wait()

    def terminate(self) -> None:
        """Send it SIGTERM, unless it has ended."""
        self._popen.terminate()

    def close_pipes(self) -> None:
        """Close this process's input, and stop reading its output; who still reads gets `ClosedResourceError`.

        Input that the process has not read is dropped if it was closed before. The process is not ended.
        """
        if self.stdin is not None:
            pipe = self.stdin.transport
            if pipe.is_closing() and pipe.get_write_buffer_size():
                # It does not read.
                pipe.abort()
            pipe.close()
        if self.stdout is not None and self._stdout_transport is not None:
            self.stdout.set_exception(anyio.ClosedResourceError())
            self._stdout_transport.close()

    def _reap(self) -> None:
        """Reap the process, which has ended, and wake those who wait for its end.

        Its exit code is known then. The pidfd that was watched for the end is closed.
        """
        if self._pidfd is not None:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        self._popen.wait()
        self._end_event.set()

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait in a thread for the end of the process, where the system has no descriptors of processes.

        Then those who wait in `loop` are woken.
        """
        self._popen.wait()
        # The loop may have been closed meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end_event.set)


def _start_detached(
    arguments: Sequence[str],
    stdin: int,
    stdout: int,
    stderr: int,
    cwd: str | None,
    env: Mapping[str, str],
    *,
    outlives: bool,
) -> subprocess.Popen[bytes]:
    """Start a process in a POSIX session of its own, and return it; `outlives`: it ignores SIGPIPE.

    `stdin`, `stdout` and `stderr` are descriptors or constants of `subprocess`; `env` are all of its variables; `cwd` None is the current
    folder. Without `outlives` SIGPIPE ends it, although dapeer ignores that.

    Raises:
        OSError: It cannot be started.
    """
    return _DetachedPopen(
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


MAX_ERROR_CHARS = 800
"""Characters of a process's last output in an error."""
SECONDS_TO_END = 0.5
"""Seconds that an adapter has to end by itself when its wire is closed."""


@dataclass(frozen=True, slots=True)
class Command:
    """How an adapter's process is started."""

    title: str
    transport: TransportTable
    arguments: tuple[str, ...]
    folder: str | None
    environment: Mapping[str, str]
    stdin: str = ""
    """The file that the program reads as its standard input, which it inherits; empty: none."""

    @classmethod
    def filled_from(
        cls, title: str, transport: TransportTable, values: Mapping[str, object]
    ) -> Command:
        """Return the command of an adapter, with `values` for the placeholders of its definition.

        Left out without a value are parts of the command for what is not always there (a terminal, a process
        id), and a variable or the working folder of the definition. `title` is the adapter's name for errors.
        The environment is that for programs in the folder `cwd` of the values, else in the current one; the
        definition's variables replace its own.

        Raises:
            AdapterFailed: Another part of the command has a placeholder without a value.
        """
        filled = fill_list(transport.command, values)
        folder = fill(transport.cwd, values) if transport.cwd else UNSET
        additions = as_object(fill(transport.env, values))
        ours = environment_for(Path(str(values.get("cwd") or ".")))
        return cls(
            title,
            transport,
            tuple(_text(part, value) for part, value in filled if not _is_left_out(part, value)),
            None if folder is UNSET else str(folder),
            {**ours, **{name: str(value) for name, value in additions.items()}},
            str(values.get("stdin") or "") if transport.stdin == "program" else "",
        )


class Spawned:
    """A process that dapeer has started, in a POSIX session of its own, with the end of its stderr."""

    def __init__(self, process: ChildProcess, command: Command, pipes: Pipes) -> None:
        self.process = process
        self.command = command
        self._pipes = pipes
        self.stderr_tail = pipes.stderr
        """The end of its stderr, and of a server's stdout."""

    def listen(self, listener: Callable[[str, str], None]) -> None:
        """Call `listener` with the program's output on the server's pipes: `stdout` or `stderr`, and text.

        It gets the output from its beginning. A transport whose `output` is `log` has none.
        """
        for category, words in self._pipes.output_filter.items():
            words.listen(lambda text, category=category: listener(category, text))

    def failure_error(self, what: str) -> AdapterFailed:
        """Return an error with `what` the adapter did and its last output, which often has the reason."""
        words = cause(self.stderr_tail.text())[-MAX_ERROR_CHARS:]
        last_words = f" It said: {words.rstrip('.')}." if words else ""
        hint = lack_of_tasks() or "`dapeer doctor` checks the adapter."
        return AdapterFailed(f"{self.command.title} {what}.{last_words}", hint)

    async def early_end_error(self) -> AdapterFailed:
        """Return, not raise, the error for an adapter's process that has ended too early.

        The error quotes the process's last output and its exit code, for each of which the call waits up to
        `SECONDS_OF_LAG`. If the exit code is still unknown then, the error says that the adapter closed its
        output. The process is not killed.
        """
        await self.settle()
        # Its pipes close a moment before its exit code is known, or it continues without them.
        with anyio.move_on_after(SECONDS_OF_LAG):
            await self.process.wait()
        code = self.process.returncode
        if code is None:
            return self.failure_error("closed its output without a message")
        return self.failure_error(f"ended at once, with exit code {code}")

    async def settle(self) -> None:
        """Wait for the last output of a process that has ended, at most `SECONDS_OF_LAG`; it may be late."""
        with anyio.move_on_after(SECONDS_OF_LAG):
            for tail in self._pipes.tails:
                await tail.settle()

    async def end(self, *, by_signal: bool) -> None:
        """Ask the adapter to end, and wait for its end without a timeout.

        Its input is closed; with `by_signal` a server gets SIGTERM, too.
        """
        if by_signal and self.command.transport.kind != "stdio":
            self.process.terminate()
        self.process.close_pipes()
        await self.process.wait()

    def close(self) -> None:
        """Stop reading its stderr, and a server's stdout."""
        self._pipes.close()


class Pipes:
    """Pipes of a process besides its DAP connection: its stderr, and a server's stdout."""

    def __init__(
        self, stderr: Tail, tails: tuple[Tail, ...], words: Mapping[str, OutputFilter]
    ) -> None:
        self.stderr = stderr
        self.tails = tails
        self.output_filter = words
        """By category of output, where these pipes are the program's, too."""

    @classmethod
    async def open(
        cls, transport: TransportTable, descriptors: ExitStack
    ) -> tuple[Pipes, int, int]:
        """Open the pipes by which an adapter's output is read; return them and the child's ends of them.

        These are descriptors for the child's stderr and stdout, in this order: the same one where the
        transport's output is a log. `descriptors` closes both in this process when it is closed.

        Raises:
            OSError: The system has no more descriptors.
        """
        if transport.output == "log":
            tail, stderr = await Tail.open()
            descriptors.callback(os.close, stderr)
            return cls(tail, (tail,), {}), stderr, stderr
        words = {category: OutputFilter(transport.hide) for category in ("stderr", "stdout")}
        tail, stderr = await Tail.open(words["stderr"])
        descriptors.callback(os.close, stderr)
        printed, stdout = await Tail.open(words["stdout"])
        descriptors.callback(os.close, stdout)
        return cls(tail, (tail, printed), words), stderr, stdout

    def close(self) -> None:
        """Stop reading the pipes."""
        for tail in self.tails:
            tail.close()


async def spawn(
    command: Command,
    mark: Mapping[str, str],
    terminal: Terminal | None = None,
    *,
    outlives: bool = False,
) -> Spawned:
    """Start the adapter's process, and return it with its pipes.

    Over stdio its stdin and stdout carry DAP. On a server's stdin nothing comes, or the program's file of
    input; its stdout is kept with its stderr, or is the program's. `mark` has variables that are added to its
    environment. With a `terminal`, stdin and stderr are that, and stdout unless it carries DAP. With
    `outlives`, SIGPIPE does not end it: it may have to detach from a program when dapeer has gone. The caller
    ends the process and closes the pipes; after an error the pipes are closed.

    Raises:
        AdapterFailed: The program, or the folder to start it in, is not there or not usable, or the file of
            input cannot be read.
        SystemUnsupported: The system has no process or descriptor to give.
    """
    transport, arguments = command.transport, list(command.arguments)
    stdio = transport.kind == "stdio"
    with ExitStack() as descriptors, ExitStack() as after_error:
        stdin = subprocess.PIPE if stdio or transport.stdin == "open" else subprocess.DEVNULL
        if command.stdin:
            stdin = _open_stdin_file(command.stdin)
            descriptors.callback(os.close, stdin)
        try:
            if terminal is None:
                pipes, stderr, stdout = await Pipes.open(transport, descriptors)
            else:
                pipes = Pipes(terminal.tail, (terminal.tail,), {})
                stdin = stdout = stderr = terminal.descriptor
                arguments = command_in_terminal(arguments)
            after_error.callback(pipes.close)
            process = await ChildProcess.start(
                arguments,
                stdin=stdin,
                stdout=subprocess.PIPE if stdio else stdout,
                stderr=stderr,
                cwd=command.folder,
                env={**command.environment, **mark, WORD: pipes.stderr.patch_mark},
                outlives=outlives,
            )
            after_error.pop_all()
        except OSError as error:
            if (refused := system_error(error)) is not None:
                raise refused from error
            where = f": {error.filename}" if error.filename is not None else ""
            raise AdapterFailed(
                f"{command.title} could not be started: {error.strerror}{where}.",
                "`dapeer adapters` shows what is installed, and how to install the rest.",
            ) from error
    return Spawned(process, command, pipes)


def _open_stdin_file(path: str) -> int:
    """Open a file or folder for reading, and return its descriptor, which the caller closes.

    Raises:
        AdapterFailed: The file cannot be opened, as when it is missing; the error is about the argument `stdin`.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise AdapterFailed(
            f"`stdin`: {path} cannot be read: {error.strerror}.", "Give a file that can be read."
        ) from error


def _is_left_out(template: str, value: object) -> bool:
    """Return whether to leave out a part of a command, since an optional placeholder in it has no value.

    `value` is what the part was filled in to, `UNSET` if its placeholder has no value. The program may be left out in an
    option: an attach by process id needs none.
    """
    own = ("tty", "trusted", "pid", "stdin", *(["program"] if template != "${program}" else ()))
    return value is UNSET and any(f"${{{name}}}" in template for name in own)


def _text(template: str, value: object) -> str:
    """Return a filled part of a command as text; `template` is the part before.

    Raises:
        AdapterFailed: It has no value.
    """
    if value is UNSET:
        raise AdapterFailed(
            f"`{template}` in the adapter's command has no value.", "Give it as an argument."
        )
    return str(value)


@dataclass(frozen=True, slots=True)
class Started:
    """An adapter's process, and what belongs to it."""

    spawned: Spawned
    processes: Processes
    """It, and its debuggees."""
    attached: bool = False
    """Its program was not started by dapeer, and lives on."""

    async def end(self) -> None:
        """End the adapter: it has `SECONDS_TO_END` to end by itself, then it and what it owns are killed.

        The debugger of an attached program gets no signal, and is left to the reaper until it has detached.
        """
        with anyio.move_on_after(SECONDS_TO_END, shield=True):
            # A debugger that a signal ends in a call of its program takes that with it.
            await self.spawned.end(by_signal=not self.attached)
        self.spawned.close()
        await self.processes.aclose()


async def start(
    command: Command,
    reaper: Reaper,
    terminal: Terminal | None = None,
    attached: int | None = None,
) -> Started:
    """Start an adapter's process, which the reaper ends if dapeer is killed, and return it.

    A start that is cancelled, or fails, ends the process, too.

    Args:
        command: How it is started.
        reaper: It ends the process if dapeer is killed.
        terminal: Where it runs; None: in none.
        attached: Where the program lives on: the signal that makes the adapter detach, or 0 (see `Processes`).
            None: it is launched.

    Raises:
        AdapterFailed: The program, or the folder to start it in, is not there or not usable, or the file of input
            cannot be read.
        SystemUnsupported: The system has no process or descriptor to give.
    """
    processes = Processes(reaper, attached=attached)
    spawning = asyncio.create_task(
        spawn(command, processes.mark, terminal, outlives=processes.are_attached)
    )
    try:
        spawned = await asyncio.shield(spawning)
    except asyncio.CancelledError:
        # asyncio would kill that process alone, and wait for the end of what it has started by then.
        with anyio.CancelScope(shield=True), contextlib.suppress(DapeerError):
            spawned = await spawning
            processes.add(spawned.process.pid)
            await Started(spawned, processes, attached is not None).end()
        raise
    started = Started(spawned, processes, attached is not None)
    try:
        processes.add(spawned.process.pid)
    except OSError as error:
        # The system has no process left for the reaper.
        await started.end()
        raise from_os_error(error) from error
    return started
