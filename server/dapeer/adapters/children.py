"""Where a process that a debuggee has started is debugged: at the adapter that its parent has."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream

from dapeer.adapters.definition import LOOPBACK, Definition
from dapeer.adapters.owned import Processes
from dapeer.adapters.process import Adapter
from dapeer.adapters.reaper import Reaper
from dapeer.adapters.tamed import Tamed
from dapeer.adapters.wire import connect
from dapeer.dap.transport import ContentLengthTransport, Transport
from dapeer.errors import AdapterFailed


@asynccontextmanager
async def open_child(
    definition: Definition, configuration: Mapping[str, object], parent: Adapter, reaper: Reaper
) -> AsyncGenerator[Adapter]:
    """Connect to where the child of a debuggee is debugged; at exit the child ends, unless it was released.

    Raises:
        AdapterFailed: Nothing accepts connections there.
    """
    try:
        with anyio.fail_after(definition.timeouts.start):
            stream = await _connect(definition, configuration, parent)
    except (OSError, TimeoutError) as error:
        raise AdapterFailed(
            f"{definition.title} offers a child process where nothing accepts connections.",
            "It runs on without a debugger.",
        ) from error
    async with AsyncExitStack() as stack:
        processes = Processes(reaper)
        stack.push_async_callback(processes.aclose)
        transport: Transport = ContentLengthTransport(stream)
        if definition.quirks.on_the_wire:
            settle = anyio.lowlevel.checkpoint
            transport = Tamed(transport, definition.quirks, {}, stop_on_entry=False, settle=settle)
        stack.push_async_callback(transport.aclose)
        adapter = Adapter(transport, None, processes, parent.connect_again)
        stack.callback(adapter.close)
        yield adapter


async def _connect(
    definition: Definition, configuration: Mapping[str, object], parent: Adapter
) -> ByteStream:
    table = definition.children
    if parent.connect_again is not None and table is not None and table.connect == "server":
        return await parent.connect_again()
    where = cast("Mapping[str, Any]", configuration.get("connect") or {})
    return await connect(str(where.get("host") or LOOPBACK), int(where.get("port") or 0))
