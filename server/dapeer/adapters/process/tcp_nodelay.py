"""Makes a program send its debugger's messages at once, where they pass through TCP."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping

import anyio.to_thread

from dapeer.adapters.definition.definition import Definition
from dapeer.base.connections.ownership import processes_connected_to
from dapeer.base.connections.promptness import send_at_once
from dapeer.base.system.process_table import command_line, descendants
from dapeer.companions.python.dapeer_debuggee import patching
from dapeer.dap.messages import Body

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

    `configuration` is the one that the adapter gives for the child, and `adapter` the adapter's process, None if unknown.
    None comes back where nothing is to be done or all went well. If it fails in any way, each message may take 40 ms longer,
    and nothing else is different: then a report of the patch comes back, with `name`, `lost` and `why`. Another program is
    tried again, since the system allows or refuses this for each process by itself.
    """
    table = definition.children
    if table is None or not table.relay:
        return None
    if not HASTENED.apply():
        return HASTENED.off_note
    pid = table.pid_of(configuration)
    try:
        await anyio.to_thread.run_sync(_hasten, pid, table.relay, adapter)
    except Exception as error:  # noqa: BLE001 - it is told
        return dict(HASTENED.note(error))
    return None


def _hasten(pid: int, relay: str, adapter: int | None) -> None:
    """Turn off the delay of connections between `pid` and its descendants whose commands match `relay`.

    A `pid` of 0 means the connections between the `adapter` and every process that is connected to it.
    """
    if pid:
        relays = [each for each in descendants(pid) if re.search(relay, command_line(each))]
        pairs = [(pid, relays)]
    else:
        pairs = [(each, [adapter]) for each in processes_connected_to(adapter)] if adapter else []
    for process, others in pairs:
        # One that has ended needs it no more.
        with contextlib.suppress(ProcessLookupError):
            send_at_once(process, others)
