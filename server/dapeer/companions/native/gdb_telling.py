"""Reports patches of GDB that are off to dapeer, by an event.

GDB takes what its process prints for the program's output.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

patching: Any = importlib.import_module("dapeer_debuggee.patching")
gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""


def hear(patch: Any, event: Any, handler: Callable[[Any], None]) -> None:
    """Connect `handler` to an event of GDB's until the row is undone.

    `patch` is the `patching.Row` that is switched off if the handler raises; `event` is GDB's registry of listeners, such as
    `gdb.events.new_objfile`; the handler gets what GDB emits.
    """
    listener = patch.guard(handler, lambda _event: None)  # pyright: ignore[reportUnknownLambdaType]
    event.connect(listener)
    patch.and_undo(lambda: event.disconnect(listener))


def report_by_dap() -> None:
    """Report patches that are off by DAP events from now on; a second call does nothing.

    GDB's DAP does not run yet while its scripts are sourced, so earlier reports are sent when a program's file is loaded.
    """
    patching.versions["GDB"] = lambda: gdb.VERSION
    if patching.reporters != [send]:
        patching.reporters[:] = [send]
        gdb.events.new_objfile.connect(report_pending)


def report_pending(_event: Any) -> None:
    """Send the reports of patches that could not be sent before; a listener of GDB's `new_objfile`."""
    patching.report_off_rows()


def send(body: dict[str, str]) -> bool:
    """Send the event `dapeerPatchOff` with this body (`name`, `lost`, `why`).

    Always return True: it is sent.
    """
    importlib.import_module("gdb.dap.server").send_event(patching.EVENT, body)
    return True
