"""Where a process that a debuggee has started is debugged: at its parent's adapter, without delay."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from ipaddress import ip_address

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import ByteStream

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.normalized_transport import NormalizedTransport
from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.adapters.process.streams import HostAndPort, connect
from dapeer.base.errors import AdapterFailed, AdapterRequestRejected
from dapeer.base.system.ownership import processes_connected_to, sockets_connected_to
from dapeer.base.system.process_table import command_line, descendants
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.companions.python.dapeer_debuggee import patching
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.messages import Body
from dapeer.dap.transport import Transport

LAST_PORT = 65535


@asynccontextmanager
async def open_child(
    definition: Definition, configuration: Mapping[str, object], parent: Adapter, reaper: Reaper
) -> AsyncGenerator[Adapter]:
    """Connect to where a debuggee's child process is debugged, and yield the adapter of the child.

    That is the parent's server once more, where the definition's children use it; else the address that
    `configuration` names, which is what the parent's adapter gives for the child. The connection may take the seconds
    `definition.timeouts.start`. Where the definition names a relay, the child's sockets are set to send without
    delay; a failure of that raises nothing. At the exit the connection is closed, and processes of the child that its
    adapter has named are killed; one that was released lives on.

    Raises:
        AdapterFailed: Nothing accepts connections there, or not in time.
        AdapterRequestRejected: `configuration` names no port, or an address to which dapeer must not connect.
        ForeignListener: Another user of this machine listens there; nothing was sent.
    """
    again, address = _reconnector(definition, parent), None
    connector = again
    if connector is None:
        address = _address(configuration, parent)
        connector = functools.partial(connect, *address, here=parent.address is None)
    try:
        with anyio.fail_after(definition.timeouts.start):
            stream = await connector()
    except (OSError, TimeoutError) as error:
        raise AdapterFailed(
            f"{definition.title} announced a child process at a port where nothing listens.",
            "The child runs on without a debugger.",
        ) from error
    async with AsyncExitStack() as stack:
        processes = Processes(reaper, above=parent.processes)
        stack.push_async_callback(processes.aclose)
        transport: Transport = ContentLengthTransport(stream)
        if definition.quirks.changes_messages:
            transport = _normalized(transport, definition, parent)
        stack.push_async_callback(transport.aclose)
        adapter = Adapter(
            transport,
            None,
            processes,
            again,
            address=address,
            log_points=parent.log_points,
            sent=parent.sent_breakpoints,
            patch_off=await send_without_delay(definition, configuration, parent.pid),
            patch_mark=parent.patch_mark,
        )
        stack.callback(adapter.close)
        yield adapter


def _normalized(transport: Transport, definition: Definition, parent: Adapter) -> Transport:
    """Return a transport that applies the definition's quirks to the messages of a child process.

    `transport` is the connection to the child's adapter; a task begins to receive from it at once. The result
    shares with the `parent` the breakpoints that were sent, and the mark by which patches that are off are
    told. A first stop of the child is skipped if the quirks say so.
    """
    settle = anyio.lowlevel.checkpoint
    return NormalizedTransport(
        transport,
        definition.quirks,
        {},
        stop_on_entry=False,
        settle=settle,
        sent=parent.sent_breakpoints,
        patch_mark=parent.patch_mark,
    )


def _reconnector(
    definition: Definition, parent: Adapter
) -> Callable[[], Awaitable[ByteStream]] | None:
    """Return a function that connects to the parent's server, if children are debugged there; else None."""
    table = definition.children
    return parent.connect_again if table is not None and table.connect == "server" else None


def _address(configuration: Mapping[str, object], parent: Adapter) -> HostAndPort:
    """Return host and port at which a child is debugged, from the adapter's `configuration` for it.

    For a parent that dapeer has started, it is a port of this machine, which the adapter chooses. For one at
    another process's adapter, it is that adapter's own address: who is only attached to does not choose to whom
    dapeer connects.

    Raises:
        AdapterRequestRejected: The configuration names another address, or no port.
    """
    host, port = _address_of(configuration)
    if parent.address is None and _is_loopback(host):
        return LOOPBACK, port
    if parent.address is not None and port == parent.address[1]:
        theirs = parent.address[0]
        if host == theirs or (_is_loopback(host) and _is_loopback(theirs)):
            return parent.address
    here = ":".join(map(str, parent.address)) if parent.address else "a port of this machine"
    raise AdapterRequestRejected(
        f"The adapter announced a child process at {host}:{port}, and dapeer connects only to {here}.",
        "The child runs on without a debugger.",
    )


def _address_of(configuration: Mapping[str, object]) -> HostAndPort:
    """Return host and port that a child's configuration names in `connect`; without a host, the loopback.

    Raises:
        AdapterRequestRejected: It names no valid port.
    """
    match configuration.get("connect"):
        case {"host": str(host), "port": int(port)} if 0 < port <= LAST_PORT:
            return host, port
        case {"port": int(port)} if 0 < port <= LAST_PORT:
            return LOOPBACK, port
        case _:
            raise AdapterRequestRejected(
                "The adapter announced a child process without its port.",
                "The child runs on without a debugger.",
            )


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine's loopback."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# Makes TCP connections of other processes send small messages at once. Linux 5.6 and later.
#
# A small message otherwise waits until the other end has acknowledged the one before it, which takes that end up
# to 40 ms (Nagle's algorithm and delayed acknowledgements: RFC 896, RFC 1122 section 4.2.3.2).

_PIDFD_GETFD = 438
"""The number of a system call that Python lacks; the same on each architecture of CPython."""


def set_nodelay_between(pid: int, others: Iterable[int]) -> int:
    """Set `TCP_NODELAY` on a process's TCP connections to the processes `others`, and return their number.

    Raises:
        OSError: The system has no such call, or does not allow it.
    """
    return sum(_set_no_delay(pid, *each) for each in sockets_connected_to(pid, others).items())


def _set_no_delay(pid: int, inode: int, number: int) -> bool:
    """Set `TCP_NODELAY` on the socket that is a process's descriptor `number`; return whether it was set.

    It is not set if the process has closed that socket meanwhile, so that the descriptor no longer has this
    `inode`.

    Raises:
        OSError: The system has no such call, or does not allow it; or the process has ended, or the socket is
            not of TCP.
    """
    try:
        with duplicated(pid, number) as file:
            if os.fstat(file).st_ino != inode:
                return False
            with socket.socket(fileno=os.dup(file)) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return False
    return True


def why_not_allowed() -> str:
    """Return why the system does not let dapeer change connections of processes that it started.

    Empty: it does. To find out, this starts a short-lived Python process, duplicates a descriptor of it, and
    waits for its end. The reason is the system's text of the error.

    Raises:
        OSError: The process cannot be started.
    """
    command = [sys.executable, "-I", "-S", "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            with duplicated(child.pid, 0):
                return ""
        except OSError as error:
            return str(error.strerror)


@contextmanager
def duplicated(pid: int, number: int) -> Generator[int]:
    """Yield a duplicate, in dapeer, of the descriptor `number` of a process; close it after the body.

    `pid` is the id of the process. The duplicate shares the open file, so also its position, with the process.

    Raises:
        OSError: The system has no such call, or does not allow it, or there is no such process or descriptor.
    """
    if not hasattr(os, "pidfd_open"):
        raise OSError(0, "this system has no pidfd_getfd")
    process = os.pidfd_open(pid)
    try:
        file = _duplicate(process, number)
    finally:
        os.close(process)
    try:
        yield file
    finally:
        os.close(file)


def _duplicate(process: int, number: int) -> int:
    """Return a duplicate, in dapeer, of a descriptor of another process; see pidfd_getfd(2).

    `process` is that process's pidfd, `number` the descriptor there. The caller closes the duplicate.

    Raises:
        OSError: The system does not allow it, or has no such call.
    """
    # Only a debuggee of Node.js needs it.
    import ctypes  # noqa: PLC0415

    system = ctypes.CDLL(None, use_errno=True)
    file: int = system.syscall(
        ctypes.c_long(_PIDFD_GETFD), ctypes.c_long(process), ctypes.c_long(number), ctypes.c_long(0)
    )
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return file


HASTENED = patching.Row(
    "js-prompt-messages",
    "Linux",
    "Each stop and each answer of a JavaScript program takes 40 ms longer or more.",
    adds=True,
)


async def send_without_delay(
    definition: Definition, configuration: Mapping[str, object], adapter: int | None
) -> Body | None:
    """Make a debuggee's child process send without delay to the definition's relay, or to the adapter.

    For that TCP_NODELAY is set on sockets of other processes, in a thread. `configuration` is the one that the
    adapter gives for the child, and `adapter` the id of the adapter's process, None if unknown. None: nothing
    is to be done, all went well, or the user has switched this patch off. If it fails in any way, each message
    may take 40 ms longer, and nothing else is different: then the report of a patch that is off is returned,
    with `name`, `lost` and `why`. Nothing is raised. After a failure it is tried again for the next child,
    since the system allows or refuses this for each process by itself.
    """
    table = definition.children
    if table is None or not table.relay:
        return None
    if not HASTENED.apply():
        return HASTENED.off_note
    pid = table.pid_of(configuration)
    try:
        await anyio.to_thread.run_sync(_set_tcp_nodelay, pid, table.relay, adapter)
    except Exception as error:  # noqa: BLE001 - it is told
        return dict(HASTENED.note(error))
    return None


def _set_tcp_nodelay(pid: int, relay: str, adapter: int | None) -> None:
    """Set TCP_NODELAY on connections between the process `pid` and those of its descendants that relay.

    The command line of a relay matches the regular expression `relay` somewhere. A `pid` of 0 means the connections
    between the process with the id `adapter` and every process that is connected to it; nothing is done if that is
    None, too. Processes that have ended are passed over. Without such connections nothing happens.

    Raises:
        OSError: The system has no such call, or does not allow it.
    """
    if pid:
        relays = [each for each in descendants(pid) if re.search(relay, command_line(each))]
        pairs = [(pid, relays)]
    else:
        pairs = [(each, [adapter]) for each in processes_connected_to(adapter)] if adapter else []
    for process, others in pairs:
        # One that has ended needs it no more.
        with contextlib.suppress(ProcessLookupError):
            set_nodelay_between(process, others)
