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


def hear(row: Any, event: Any, handler: Callable[[Any], None]) -> None:
    """Call a function of a row at each event of GDB's, until the row is undone."""
    listener = row.guard(handler, lambda _event: None)  # pyright: ignore[reportUnknownLambdaType]
    event.connect(listener)
    row.and_undo(lambda: event.disconnect(listener))


def report_by_dap() -> None:
    """Report them from now on, and earlier ones once a program is loaded.

    GDB's DAP does not run yet while its scripts are sourced.
    """
    patching.versions["GDB"] = lambda: gdb.VERSION
    if patching.reporters != [send]:
        patching.reporters[:] = [send]
        gdb.events.new_objfile.connect(report_pending)


def report_pending(_event: Any) -> None:
    """Tell what could not be told yet."""
    patching.report_news()


def send(body: dict[str, str]) -> bool:
    """Send the event."""
    importlib.import_module("gdb.dap.server").send_event(patching.EVENT, body)
    return True
