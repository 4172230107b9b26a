"""Whether arguments that name files, folders, programs and functions can be such names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import anyio

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import is_array, is_object
from dapeer.base.sources import expanded
from dapeer.base.system.foreign_files import exists
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import quoted
from dapeer.base.text.lines import continued, escaped

PATHS: Final = frozenset({"filename", "program", "cwd", "core", "python", "directory"})
NAMES: Final = PATHS | {"module", "names", "target", "function", "calls"}

MAX_PATH_BYTES: Final = 4096
"""Bytes of a path; Linux has no longer ones."""
LONGEST_PART: Final = 255
"""Bytes of a file's name."""
SECONDS_TO_ANSWER: Final = 3.0
"""Seconds that a file system has to say whether a file exists."""


def check_names(arguments: Mapping[str, Any]) -> None:
    """Check that files, programs and functions among a call's arguments can have such names.

    Breakpoints among the arguments are checked, too. Nothing is looked up on the disk.

    Raises:
        ArgumentError: A name is empty, too long, or contains what no name of the system can have.
    """
    for argument, name in _named(arguments):
        _check(argument, name, is_path=_is_path(argument))


async def check_file_systems(arguments: Mapping[str, Any], project: Path) -> None:
    """Ask the file system, in another thread, whether the files exist that a call's arguments name.

    The answers are not used: a call that names a file on a stalled mount shall fail here, and not block the event loop later. `project` is
    the folder to which relative paths belong, as is the argument `cwd`.

    Raises:
        ArgumentError: A file system does not answer within `SECONDS_TO_ANSWER`.
    """
    places = list(_places(arguments, project))
    looking = ["", ""]

    def look_for_all() -> None:
        """Ask for each place whether it exists; `looking` holds the one that is asked for now."""
        for place in places:
            looking[:] = place
            exists(place[1])

    with anyio.move_on_after(SECONDS_TO_ANSWER) as limit:
        if places:
            await in_thread(look_for_all)
    if limit.cancelled_caught:
        raise ArgumentError(
            f"`{looking[0]}`: the file system of {looking[1]} does not answer.",
            "Call again once it does; a stalled network mount is a usual cause.",
        )


def _places(arguments: Mapping[str, Any], project: Path) -> Iterator[tuple[str, str]]:
    """Yield (argument, path) for each argument that is a path.

    There is one path below the project, and another below the argument `cwd` if that is given.
    """
    folders = {project, project / expanded(str(arguments.get("cwd") or ""))}
    for argument, name in _named(arguments):
        if _is_path(argument):
            yield from ((argument, str(folder / expanded(name))) for folder in folders)


def _named(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (argument, value) for each argument that is a name.

    Within a breakpoint that is (`breakpoints.filename`, `a.py`). A list yields each of its texts. `prefix` is put before the names of
    arguments.
    """
    for key, value in arguments.items():
        for one in value if is_array(value) else [value]:
            if is_object(one) and key == "breakpoints":
                yield from _named(one, f"{key}.")
            elif isinstance(one, str) and key in NAMES:
                yield f"{prefix}{key}", one


def _is_path(argument: str) -> bool:
    return argument.rpartition(".")[2] in PATHS


def _check(argument: str, name: str, *, is_path: bool) -> None:
    """Raise `ArgumentError` if an argument cannot be the name of a file, program or function.

    It is empty, contains a NUL or half of a surrogate pair, or has too many bytes. `argument` is the argument that has it, for the error;
    `is_path`: each part between slashes has a limit of its own.
    """
    size = len(name.encode("utf-8", "surrogatepass"))
    parts = name.split("/") if is_path else ()
    longest = max((len(part.encode("utf-8", "surrogatepass")) for part in parts), default=0)
    if not name:
        raise ArgumentError(f"`{argument}` is empty.", "Give it a value, or leave it out.")
    if "\0" in name:
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} contains a NUL character.", "Remove it."
        )
    if not _can_be_encoded(name):
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} contains half of a surrogate pair, which no name can have.",
            "Give the whole character.",
        )
    if size > MAX_PATH_BYTES or longest > LONGEST_PART:
        raise ArgumentError(
            f"`{argument}`: {quoted_name(name)} is too long for a name: {size} bytes.",
            f"A path has at most {MAX_PATH_BYTES} bytes, and each part of it {LONGEST_PART}.",
        )


def _can_be_encoded(name: str) -> bool:
    """Whether the file system's encoding has bytes for a name; it has none for half of a surrogate pair."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def quoted_name(name: str) -> str:
    """Return a name as an error message repeats it: quoted, shortened, and on one line."""
    return continued(escaped(quoted(name)))
