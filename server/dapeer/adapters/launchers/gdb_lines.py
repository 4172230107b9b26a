"""Sourced by a GDB that is asked by its machine interface: a container is told in one line, with what is in it.

The machine interface says `{...}` of a container, and lets one open how the library has built it. A pretty-printer
that knows the container tells what is in it; here it is told as `gdb_values` tells it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

busy: list[bool] = []
"""Not empty while a container is printed: what is in it is printed by the printers that GDB has."""


class Line:
    """A pretty-printer that tells a container in one line."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def to_string(self) -> str:
        """Return the line; why it cannot be read, where it cannot."""
        values = importlib.import_module("gdb_values")
        busy.append(True)
        try:
            return values.line_of(self._value) or self._value.format_string()
        except (gdb.error, RuntimeError) as error:
            return str(values.why(error))
        finally:
            busy.pop()


def look_up(value: Any) -> Line | None:
    """Return a printer for what another pretty-printer knows."""
    if busy:
        return None
    busy.append(True)
    try:
        return Line(value) if gdb.default_visualizer(value) is not None else None
    finally:
        busy.pop()


def stay_first(_: Any) -> None:
    """Stay before the printers that come with a program: GDB asks a program's own first."""
    for each in gdb.objfiles():
        if each.pretty_printers and look_up not in each.pretty_printers:
            each.pretty_printers.insert(0, look_up)


if gdb is not None:
    sys.path.append(str(Path(__file__).parent))
    # It teaches GDB the printers of Rust, too.
    importlib.import_module("gdb_values")
    gdb.pretty_printers.insert(0, look_up)
    gdb.events.stop.connect(stay_first)
