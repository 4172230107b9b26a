"""Starting a debug adapter, and ending it with all that belongs to it."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import ByteStream, SocketAttribute

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import Definition, Inputs, RequestName
from dapeer.adapters.definition.quirks import SentBreakpoints
from dapeer.adapters.definition.sections import TransportTable
from dapeer.adapters.process.log_points import LogPointFilter, LogPoints
from dapeer.adapters.process.normalized_transport import NormalizedTransport
from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.adapters.process.spawn import SECONDS_TO_END, Command, Spawned, start
from dapeer.adapters.process.streams import (
    HostAndPort,
    connect_to,
    connector,
    free_port,
    has_loopback,
    lacking_loopback,
    stream_of,
)
from dapeer.adapters.process.terminal import Terminal, check_terminal
from dapeer.base.errors import (
    AdapterFailed,
    AdapterMissing,
    ChannelClosed,
    SystemUnsupported,
    from_os_error,
)
from dapeer.base.json_types import as_object
from dapeer.base.system.process_table import descendants
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.base.system.threads import in_thread
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.messages import Body, Message, Request
from dapeer.dap.transport import FilteredTransport, Transport

# Tells the debugger of an attached program, if dapeer is killed, to remove its breakpoints first.

_PROGRAM = Path(__file__).parents[2] / "companions" / "process" / "last_words.py"


class LastWords:
    """Owns a small process that holds the connection, too, and speaks there once dapeer has gone."""

    def __init__(self, stream: ByteStream, pid: int) -> None:
        """Start a process that removes the breakpoints of an attached program if dapeer is killed.

        Args:
            stream: The connection to the adapter, a socket; the process inherits it.
            pid: The program.
        """
        self._removals: dict[tuple[str, str], Body] = {}
        """By command and source file: the arguments that remove what was set there."""
        descriptor = stream.extra(SocketAttribute.raw_socket).fileno()  # noqa: S610 - this is no database
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(descriptor), str(pid)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            pass_fds=[descriptor],
            start_new_session=True,
        )

    def record_breakpoints(self, message: Message) -> None:
        """Record how the breakpoints that a message sets are removed, and send all records to a companion.

        The companion is the small process that sends these requests to the adapter if dapeer is killed. A request without breakpoints needs
        no removal any more. Other messages than `setBreakpoints` and `setFunctionBreakpoints` change nothing.
        """
        match message:
            case Request(command="setBreakpoints" | "setFunctionBreakpoints" as command):
                source = as_object(message.arguments.get("source"))
                kept: Body = {"source": source} if source else {}
                key = command, str(source.get("path") or "")
                if message.arguments.get("breakpoints"):
                    self._removals[key] = {**kept, "breakpoints": []}
                else:
                    self._removals.pop(key, None)
                self._write()
            case _:
                pass

    async def aclose(self) -> None:
        """Have the companion process end without sending anything to the adapter, and wait for its end.

        It is called after the session's proper end. The wait has no limit, and is not cancelled.
        """
        self._removals.clear()
        self._write()
        if self._child.stdin is not None:
            self._child.stdin.close()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._child.wait)

    def _write(self) -> None:
        """Send the process the requests that it is to send once dapeer has gone; they replace those before."""
        requests = [(command, body) for (command, _), body in self._removals.items()]
        # It may have been killed just now; debugging continues without it.
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.write(json.dumps(requests).encode() + b"\n")


class NotedTransport(Transport):
    """Messages of an adapter, of which last words are made."""

    def __init__(self, transport: Transport, words: LastWords) -> None:
        self._transport = transport
        self._last_words = words

    async def send(self, message: Message) -> None:
        """Note the breakpoints of a message for the last words, and send the message."""
        self._last_words.record_breakpoints(message)
        await self._transport.send(message)

    async def receive(self) -> Message:
        """Wait for the adapter's next message and return it."""
        return await self._transport.receive()

    async def send_eof(self) -> None:
        """Tell the adapter that nothing more will be sent."""
        await self._transport.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        await self._transport.aclose()


class Adapter:
    """A running debug adapter, or the port of one that another process has started."""

    def __init__(
        self,
        transport: Transport,
        spawned: Spawned | None,
        processes: Processes,
        connect_again: Callable[[], Awaitable[ByteStream]] | None,
        terminal: Terminal | None = None,
        address: HostAndPort | None = None,
        log_points: LogPoints | None = None,
        sent: SentBreakpoints | None = None,
        patch_off: Body | None = None,
        patch_mark: str = "",
    ) -> None:
        self.log_points = log_points or LogPoints()
        """Those of its program, in all processes."""
        self.sent_breakpoints = SentBreakpoints() if sent is None else sent
        """The breakpoints that it has got, in all processes."""
        self.transport = FilteredTransport(transport, LogPointFilter(self.log_points))
        self.patch_mark = patch_mark or (spawned.stderr_tail.patch_mark if spawned else "")
        """By which its process, and rows in the program, tell of patches that are off."""
        self.address = address
        """The address of another process's adapter; None: dapeer has started it, or its server."""
        self.terminal = terminal
        """The one that the program runs in."""
        self.connect_again = connect_again
        """Connects once more to the adapter's server, which has a session for each connection."""
        self._spawned = spawned
        self._patch_off = patch_off
        """A patch of ours that is off in this process, as it concerns the adapter."""
        self.processes = processes
        """Cleanups that run at its end."""

    @property
    def pid(self) -> int | None:
        """The adapter's process; None if dapeer has not started it."""
        return self._spawned.process.pid if self._spawned else None

    def close(self) -> None:
        """Close the terminal of the program, if dapeer has opened one."""
        if self.terminal is not None:
            self.terminal.close()

    async def settle(self, seconds: float = SECONDS_TO_END) -> None:
        """Wait for the end of the adapter's process, whose connection has just ended, at most `seconds`."""
        if self._spawned is not None:
            with anyio.move_on_after(seconds):
                await self._spawned.process.wait()

    @property
    def killer(self) -> str | None:
        """The name of the signal that has ended the adapter, such as `SIGSEGV`; None if there is none.

        None too while it runs, and if dapeer has not started it.
        """
        code = self._spawned.process.returncode if self._spawned else None
        with contextlib.suppress(ValueError):
            return signal.Signals(-(code or 0)).name
        return None

    def stderr_tail(self) -> str:
        """Return the end of the adapter's stderr; empty if dapeer has not started it."""
        return self._spawned.stderr_tail.text() if self._spawned else ""

    def on_patch_off(self, listener: Callable[[Body], None]) -> None:
        """Call `listener` with each patch of ours that is off in the adapter's process, or here.

        The body has `name`, `lost` and `why`.
        """
        if self._patch_off is not None:
            listener(self._patch_off)
        if self._spawned is not None:
            self._spawned.stderr_tail.on_patch_off(listener)

    def open_terminal(self) -> Terminal:
        """Open a terminal for its program, keep it in `terminal`, and return it.

        Raises:
            SystemUnsupported: The system has none to give.
        """
        self.terminal = Terminal()
        return self.terminal

    def add_process(self, pid: int) -> None:
        """Have a program that dapeer has started end with the adapter, with the process group that it leads."""
        self.processes.add(pid)

    def claim(self, pid: int) -> bool:
        """Have a debuggee that the adapter names end with it.

        Return whether it descends from the session's processes. One that does not is left alone.
        """
        return self.processes.claim(pid)

    def release(self, pid: int) -> None:
        """Let a debuggee that was detached live on."""
        self.processes.release(pid)

    def kill_program(self, pid: int) -> None:
        """Kill the program, its descendants, and a process of it that another adapter has named.

        The adapter, and what has left its POSIX session, stay.
        """
        below = descendants(self.pid or 0)
        for each in (*(below.keys() - {*self.processes.find_detached()}), pid):
            self.processes.claim(each)
        self.processes.kill_all_but(self.pid)

    def wake(self) -> None:
        """Send SIGCONT to the adapter's processes, in case somebody has stopped them."""
        self.processes.wake()

    async def kill(self) -> None:
        """Kill the adapter and what it owns, and wait for their end, for some seconds at most.

        One that is attached gets the end of its input instead, and is left to the reaper until it has detached.
        """
        if self.processes.are_attached:
            await self.transport.aclose()
            if self._spawned is not None:
                self._spawned.process.close_pipes()
        await self.processes.kill()


@asynccontextmanager
async def open_adapter(
    definition: Definition, request: RequestName, inputs: Inputs, reaper: Reaper
) -> AsyncGenerator[Adapter]:
    """Start an adapter, or connect to one, and yield it; at exit a started one ends, with its processes.

    At exit the connection is closed; an adapter that was started has a moment to end by itself, and is then
    killed, but that of an attached program is left to `reaper` until it has detached. The definition's
    transport for `request` (`launch` or `attach`) tells whether it is started or connected to. `inputs` are
    the values for the definition's placeholders, such as `pid`, `port`, `terminal`. `reaper` kills the
    processes, and removes their folder, if dapeer is killed. No DAP request is sent.

    Raises:
        AdapterMissing: It is not installed, or something that it needs is missing.
        AdapterFailed: It did not start, a placeholder of its command has no value, nothing accepts the
            connection or its port is not known, or in the body it ended without having said anything.
        ForeignListener: Another user of this machine listens at the port to attach to.
        SystemUnsupported: There is no loopback, terminal or folder for it.
        OSError: No port is free, or a helper process cannot be started.
    """
    table = definition.transport_of(request, inputs)
    _check_system(definition, table, wants_terminal=bool(inputs.get("terminal")))
    async with AsyncExitStack() as stack:
        # The folder is removed once no process can write there.
        folder = "" if table.kind == "connect" else _create_folder(stack, reaper)
        if table.kind == "connect":
            processes = Processes(reaper)
            stack.push_async_callback(processes.aclose)
            if not str(port := inputs.get("port")).isdecimal():
                raise AdapterFailed(
                    f"It is not known at which port {definition.title} listens.", "Give `port`."
                )
            address = str(inputs.get("host") or LOOPBACK), int(str(port))
            spawned, stream = None, await connect_to(address, definition.timeouts.start)
            again, own, terminal = None, {}, None
        else:
            address, own = None, _address(table, folder)
            terminal = _open_terminal(definition, request, inputs, stack)
            own |= {} if terminal is None else {"tty": terminal.path}
            values = {**await _values(definition, request, inputs), **own}
            inside = terminal if table.stdin == "program" else None
            command = Command.filled_from(definition.title, table, values)
            started = await start(command, reaper, inside, definition.quirks.detaches_at(request))
            stack.push_async_callback(started.end)
            if inside is not None:
                inside.close_program_end()
            spawned, processes = started.spawned, started.processes
            own["word"] = spawned.stderr_tail.patch_mark
            again = connector(table, values)
            stream = await stream_of(spawned, again, definition.timeouts.start)
        sent, wire = SentBreakpoints(), ContentLengthTransport(stream)
        transport = _transport(definition, wire, spawned, inputs, own, sent)
        stack.push_async_callback(transport.aclose)
        transport = _with_last_words(definition, processes, stack, transport, stream, inputs)
        points = _log_points(definition)
        adapter = Adapter(transport, spawned, processes, again, terminal, address, points, sent)
        stack.callback(adapter.close)
        try:
            yield adapter
        except ChannelClosed as error:
            if spawned is None or stream.has_received:
                raise
            raise await spawned.early_end_error() from error


def _log_points(definition: Definition) -> LogPoints:
    """Return the log points of a new program, as the adapter's definition describes its log messages."""
    failed = definition.quirks.failed.get("log_message", "")
    collect = definition.collect
    return LogPoints(failed, conditions=collect.conditions, value=collect.value)


def _check_system(definition: Definition, table: TransportTable, *, wants_terminal: bool) -> None:
    """Raise if the system lacks what the adapter needs: the loopback, or a terminal.

    `definition` is the adapter's; the error names its title. `table` is the transport that will be used: if it is
    TCP, or needs the loopback, 127.0.0.1 is tried. With `wants_terminal` the program is to run in a terminal, so a
    pseudo-terminal is opened and closed again.

    Raises:
        SystemUnsupported: The system cannot reach 127.0.0.1, or gives no pseudo-terminal.
    """
    if (table.loopback or table.kind == "tcp") and not has_loopback():
        what, way = lacking_loopback()
        raise SystemUnsupported(
            f"{definition.title} needs {what}", f"{way}, or start dapeer where it is there."
        )
    if wants_terminal:
        check_terminal()


def _create_folder(stack: AsyncExitStack, reaper: Reaper) -> str:
    """Create the folder of a session, and return its path; it is removed with `stack`, or by the reaper.

    Raises:
        SystemUnsupported: No temporary folder is writable, or there are too few file descriptors.
    """
    try:
        return str(stack.enter_context(reaper.temporary_folder()))
    except OSError as error:
        # A lack of file descriptors says nothing of the folder.
        if error.errno in {errno.EMFILE, errno.ENFILE}:
            raise from_os_error(error) from error
        raise SystemUnsupported(
            f"No temporary folder is writable: {error.strerror}.",
            "Start dapeer with $TMPDIR set to a writable folder.",
        ) from error


def _open_terminal(
    definition: Definition, request: RequestName, inputs: Inputs, stack: AsyncExitStack
) -> Terminal | None:
    """Open a terminal for the program, where one is asked for and the adapter opens none itself.

    The result is None otherwise. It is closed with `stack`.
    """
    if not (request == "launch" and inputs.get("terminal") and definition.needs_terminal):
        return None
    terminal = Terminal(definition.transport.hide)
    stack.callback(terminal.close)
    return terminal


def _transport(
    definition: Definition,
    wire: Transport,
    spawned: Spawned | None,
    inputs: Inputs,
    placeholders: Mapping[str, object],
    sent: SentBreakpoints,
) -> Transport:
    """Return a transport that normalizes the adapter's messages, if `definition` needs that; else `wire`.

    In the second case no other argument is used. `spawned` is the adapter's process, None if dapeer has not
    started it; the program's output in its pipes becomes events of the returned transport. `inputs` say
    whether the first stop is wanted: by a true `stop_on_entry` or `core`. `placeholders` are values that
    are known only now, by placeholder. In `sent` the transport records the breakpoints that it sends.
    """
    if not definition.needs_normalizing:
        return wire
    settle = spawned.settle if spawned else anyio.lowlevel.checkpoint
    # A core dump has no other stop.
    entry = bool(inputs.get("stop_on_entry") or inputs.get("core"))
    word = spawned.stderr_tail.patch_mark if spawned else ""
    tamed = NormalizedTransport(
        wire,
        definition.quirks,
        placeholders,
        stop_on_entry=entry,
        settle=settle,
        sent=sent,
        patch_mark=word,
    )
    if spawned is not None:
        spawned.listen(tamed.queue_output)
    return tamed


def _with_last_words(
    definition: Definition,
    processes: Processes,
    stack: AsyncExitStack,
    transport: Transport,
    stream: ByteStream,
    inputs: Inputs,
) -> Transport:
    """Return a transport by which breakpoints are removed if dapeer is killed, where that is needed.

    It is needed where dapeer has attached to the `pid` of `inputs`, and the quirks of `definition` say that the program would stop at
    breakpoints for ever; else `transport` itself is returned. A small process that is started here, and also holds `stream`, a socket,
    removes them; it ends with `stack`.

    Raises:
        OSError: The process cannot be started.
    """
    pid, leaves = inputs.get("pid"), definition.quirks.leaves_stopped
    if not (isinstance(pid, int) and leaves and processes.are_attached):
        return transport
    words = LastWords(stream, pid)
    stack.push_async_callback(words.aclose)
    return NotedTransport(transport, words)


async def _values(
    definition: Definition, request: RequestName, inputs: Inputs
) -> dict[str, object]:
    """Return the values of the placeholders in the adapter's command, looking for the installed adapter.

    The values are by the name of the placeholder: those of the definition for `inputs`, `python` (of `inputs`,
    else dapeer's own interpreter), `cwd`, which is `.` unless the definition or `inputs` have it, and for a
    `launch` request `trusted`. What the search has found of the adapter, such as its path, comes before all
    others. The search may run programs, in a thread, each for `SECONDS_FOR_VERSION` at most.

    Raises:
        AdapterMissing: The adapter is not installed, or something that it needs is missing.
    """
    python = inputs.get("python") or sys.executable
    look = functools.partial(detect, definition, python=str(python))
    detection = await in_thread(look)
    if not detection.ready:
        raise AdapterMissing(
            f"{definition.title} is not ready: {detection.missing}.",
            f"Install it with: {detection.install}" if detection.install else "",
        )
    # A program that is started does what it likes; who looks at one that crashed, or runs, has started nothing.
    trusted = {"trusted": os.sep} if request == "launch" else {}
    return {"python": python, "cwd": ".", **trusted, **definition.values(inputs), **detection.found}


def _address(table: TransportTable, tmpdir: str) -> dict[str, object]:
    """Return the values of `tmpdir`, `socket`, and for a server over TCP `host` and a free `port`.

    They are where a server is to listen, not the `host` and `port` that the user attaches to.
    """
    own: dict[str, object] = {"tmpdir": tmpdir, "socket": str(Path(tmpdir) / "socket")}
    return own | ({"host": LOOPBACK, "port": free_port(LOOPBACK)} if table.kind == "tcp" else {})
