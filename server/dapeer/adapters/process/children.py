"""Where a process that a debuggee has started is debugged: at the adapter that its parent has."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.normalized_transport import NormalizedTransport
from dapeer.adapters.process.owned_process import Processes, Reaper
from dapeer.adapters.process.streams import HostAndPort, connect
from dapeer.adapters.process.tcp_nodelay import send_without_delay
from dapeer.base.errors import AdapterFailed, AdapterRequestRejected
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.transport import Transport

LAST_PORT = 65535


@asynccontextmanager
async def open_child(
    definition: Definition, configuration: Mapping[str, object], parent: Adapter, reaper: Reaper
) -> AsyncGenerator[Adapter]:
    """Connect to where a debuggee's child process is debugged, and yield the adapter of the child.

    That is the parent's server once more, where the definition's children use it; else the address that `configuration` names, which is
    what the parent's adapter gives for the child. Where the definition names a relay, the child's sockets are set to send without delay. At
    the exit the connection is closed, and processes of the child that its adapter has named are killed; one that was released lives on.

    Raises:
        AdapterFailed: Nothing accepts connections there.
        AdapterRequestRejected: It names an address to which dapeer must not connect.
        ForeignListener: Another user of this machine accepts them.
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

    It shares with the `parent` the breakpoints that were sent, and the mark of patches; a first stop of the child is skipped if the quirks
    say so.
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

    For a parent that dapeer has started, it is a port of this machine, which the adapter chooses. For one at another process's
    adapter, it is that adapter's own address: who is only attached to does not choose to whom dapeer connects.

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
