"""Makes a program send its debugger's messages at once, where they pass through TCP."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

import anyio.to_thread

from dapeer.adapters.definition.definition import Definition
from dapeer.base.system.ownership import neighbours
from dapeer.base.system.process_table import command_line, descendants
from dapeer.base.system.promptness import send_at_once

log = logging.getLogger(__name__)


async def hasten(
    definition: Definition, configuration: Mapping[str, object], adapter: int | None
) -> None:
    """Make a child of a debuggee send to the relay that the definition names, or directly to the adapter's process, without delay.

    If the system does not allow it, each message may take 40 ms longer.
    """
    table = definition.children
    if table is not None and table.relay:
        pid = table.pid_of(configuration)
        await anyio.to_thread.run_sync(_hasten, pid, table.relay, adapter)


def _hasten(pid: int, relay: str, adapter: int | None) -> None:
    if pid:
        relays = [each for each in descendants(pid) if re.search(relay, command_line(each))]
        pairs = [(pid, relays)]
    else:
        pairs = [(each, [adapter]) for each in neighbours(adapter)] if adapter else []
    for process, others in pairs:
        try:
            send_at_once(process, others)
        except OSError as error:
            log.info("messages of process %s are delayed: %s", process, error.strerror)
