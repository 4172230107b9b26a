"""Imported by LLDB: containers show their elements in one line; a Rust program gets Rust's own formatters."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

ELEMENTS = 20
"""Elements of a container that are shown."""
ROOM = 300
"""Characters of all shown elements together, about."""
DEPTH = 3
"""Levels of nested values that are shown."""

CONTAINERS = "vector|list|forward_list|deque|set|multiset|map|multimap|unordered_(multi)?(set|map)"

RUST = (
    r"^(alloc::([a-z_]+::)+)(Vec|VecDeque)<.+>$",
    r"^(std::collections::([a-z_]+::)+)Hash(Map|Set)<.+>$",
    r"^&(mut )?\\[.+\\]$",
)


def __lldb_init_module(  # pyright: ignore[reportUnusedFunction] - LLDB calls it
    debugger: Any,
    names: Any,
) -> None:
    """Register the summary of containers, and the command `dapeer_values`."""
    kind = f"^std::(__[a-z0-9_]+::)?({CONTAINERS})<.+>$"
    debugger.HandleCommand(f'type summary add -e -x "{kind}" -F {__name__}.contents')
    debugger.HandleCommand(f"command script add -o -f {__name__}.for_program dapeer_values")


def for_program(debugger: Any, program: str, result: Any, names: Any) -> None:
    """Load Rust's own formatters for a Rust program."""
    folder = importlib.import_module("rust_formatters").folder_for(program.strip().strip("'"))
    if folder is not None:
        debugger.HandleCommand(f"command script import '{folder}/lldb_lookup.py'")
        debugger.HandleCommand(f"command source -s 1 '{folder}/lldb_commands'")
        for kind in RUST:
            summary = f'type summary add -w dapeer -e -x "{kind}" -F {__name__}.contents'
            debugger.HandleCommand(summary)
        debugger.HandleCommand("type category enable dapeer")


def contents(value: Any, names: Any) -> str:
    """Return how many elements a container has, and the first of them."""
    return _contents(value.GetSyntheticValue() if not value.IsSynthetic() else value, DEPTH)


def _contents(value: Any, depth: int) -> str:
    count = value.GetNumChildren()
    shown = _listed(value, count, depth, names=False)
    return f"size={count} {shown}" if count else "size=0"


def _listed(value: Any, count: int, depth: int, *, names: bool) -> str:
    parts: list[str] = []
    length = 0
    for index in range(min(count, ELEMENTS)):
        child = value.GetChildAtIndex(index)
        name = f"{child.GetName()}:" if names else ""
        parts.append(f"{name}{_line(child, depth - 1)}")
        length += len(parts[-1])
        if length > ROOM:
            break
    return f"{{{', '.join(parts)}{', …' * (len(parts) < count)}}}"


def _line(value: Any, depth: int) -> str:
    """Return a value in one line."""
    said = value.GetSummary() or value.GetValue()
    if said:
        return str(said)
    count = value.GetNumChildren()
    return _listed(value, count, depth, names=True) if count and depth > 0 else "{…}"
