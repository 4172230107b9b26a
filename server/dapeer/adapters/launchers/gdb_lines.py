"""Sourced by a GDB that speaks its machine interface (MI): a container shows its elements in one line.

MI shows `{...}` for a container, and its children are the library's internal fields. Where a pretty-printer
knows the container, this shows the same line as `gdb_values`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

gdb: Any = sys.modules.get("gdb")
"""GDB's own module, inside of GDB."""

busy: list[bool] = []
"""Not empty while a container is printed: GDB's own printers print its elements."""


class Line:
    """A pretty-printer that shows a container in one line."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def to_string(self) -> str:
        """Return the line, or the reason why the value is unreadable."""
        text = importlib.import_module("gdb_text")
        busy.append(True)
        try:
            return text.line_of(self._value) or self._value.format_string()
        except (gdb.error, RuntimeError) as error:
            return str(text.why(error))
        finally:
            busy.pop()


def look_up(value: Any) -> Line | None:
    """Return a printer for a value that another pretty-printer knows; None for all others."""
    if busy:
        return None
    busy.append(True)
    try:
        return Line(value) if gdb.default_visualizer(value) is not None else None
    finally:
        busy.pop()


def stay_first(_: Any) -> None:
    """Stay in front of the printers that a program brings: GDB asks those before the global ones."""
    for each in gdb.objfiles():
        if each.pretty_printers and look_up not in each.pretty_printers:
            each.pretty_printers.insert(0, look_up)


if gdb is not None:
    sys.path.append(str(Path(__file__).parent))
    # It also loads the printers for Rust.
    importlib.import_module("gdb_values")
    gdb.pretty_printers.insert(0, look_up)
    gdb.events.stop.connect(stay_first)
