"""Whether arguments that name files, folders, programs and functions can be names at all, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import is_array, is_object

PATHS: Final = frozenset({"filename", "program", "cwd", "core", "python", "directory"})
NAMES: Final = PATHS | {"module", "names", "target", "function", "calls"}

LONGEST: Final = 4096
"""Bytes of a path; Linux has no longer ones."""
LONGEST_PART: Final = 255
"""Bytes of a file's name."""


def check(arguments: Mapping[str, Any], prefix: str = "") -> None:
    """Check all names among arguments, also within breakpoints.

    Raises:
        ArgumentError: One is empty, too long, or holds a NUL.
    """
    for key, value in arguments.items():
        values = value if is_array(value) else [value]
        for one in values:
            if is_object(one) and key == "breakpoints":
                check(one, f"{key}.")
            elif isinstance(one, str) and key in NAMES:
                _check(f"{prefix}{key}", one, is_path=key in PATHS)


def _check(argument: str, name: str, *, is_path: bool) -> None:
    size = len(name.encode("utf-8", "surrogatepass"))
    parts = name.split("/") if is_path else ()
    longest = max((len(part.encode("utf-8", "surrogatepass")) for part in parts), default=0)
    if not name:
        raise ArgumentError(f"`{argument}` is empty.", "Give it a value, or leave it out.")
    if "\0" in name:
        raise ArgumentError(f"`{argument}` contains a NUL character.", "Remove it.")
    if size > LONGEST or longest > LONGEST_PART:
        raise ArgumentError(
            f"`{argument}` is too long for a name: {size} bytes.",
            f"A path has at most {LONGEST} bytes, and each part of it {LONGEST_PART}.",
        )
