"""What belongs to exceptions: members of a group, the worker process, chained tracebacks in order."""

from __future__ import annotations

import itertools
import linecache
import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

MAX_MEMBERS = 8
"""Members of an exception group that are shown."""
MAX_FRAMES = 50
"""Frames of one traceback that are shown."""
STOPS_THERE = 'exception_filters=["userUnhandled"] stops there'
remarks: dict[int, str] = {}
"""What is said of an exception, by its id, while it is shown."""
OF_DEBUGGER = re.compile(r"[/\\](debugpy|dapeer_debuggee)[/\\]|^_pydevd")
"""Substrings of the paths of the debugger's files."""
REMOTE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
"""A frame in a traceback that a worker process has sent as text."""
LIBRARIES = (
    # Where it has arrived as text, this module has no file.
    *([str(Path(__file__).parents[2]) + os.sep] if os.path.isabs(__file__) else ()),
    *(path + os.sep for name, path in sysconfig.get_paths().items() if name.endswith("lib")),
)
"""Folders without code of the user: dapeer's companions, and Python's libraries."""
CHAINED = {
    True: "\nThe above exception was the direct cause of the following exception:\n\n",
    False: "\nDuring handling of the above exception, another exception occurred:\n\n",
}


def text_of(error: BaseException) -> str:
    """Return the message of an exception; empty if it has none, or if making it raises another one."""
    try:
        return str(error)
    except Exception:
        return ""


def error_text(error: BaseException) -> str:
    """Return type and message of an exception, as `TYPE: MESSAGE`; the type alone if there is no message."""
    text = text_of(error)
    name = type(error).__qualname__
    return f"{name}: {text}" if text else name


def is_users(path: str) -> bool:
    """Whether a file is the user's: not part of Python or of a library."""
    return not path.startswith(("<", *LIBRARIES)) and "site-packages" not in path


def relative(path: str) -> str:
    """Return a path relative to the working directory if it is inside of it, else unchanged."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)


def frames_of(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """Return file, line and function of a traceback's frames, the outermost first.

    These are the user's; if there are none, those of libraries. It is empty for None.
    """
    frames = all_frames_of(trace)
    return [frame for frame in frames if is_users(frame[0])] or frames


def all_frames_of(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """Return file, line and function of all frames of a traceback but the debugger's, outermost first.

    Each is a tuple in this order; the file is as the code object names it. The list is empty for None.
    """
    frames: list[tuple[str, int, str]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not OF_DEBUGGER.search(code.co_filename):
            frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return frames


def is_programs(path: str) -> bool:
    """Whether a file is the program's: the user's, or the text of `-c`."""
    return path == "<string>" or is_users(path)


def is_in_program(trace: TracebackType | None) -> bool:
    """Return whether a traceback has a frame of the program's code."""
    return any(is_programs(file) for file, *_ in frames_of(trace))


def place(frames: list[tuple[str, int, str]]) -> str:
    """Return the location of the last of `frames` (file, line, function), as ` at FILE:LINE in FUNCTION`.

    It is empty if there are none.
    """
    if not frames:
        return ""
    path, line, function = frames[-1]
    return f" at {relative(path)}:{line} in {function}"


def frames_text(frames: list[tuple[str, int, str]]) -> str:
    """Return frames (file, line, function) as text in a traceback's form, in the given order.

    Frames that follow each other and are equal are written once, with a line `[Previous line repeated N more
    times]`. Of these runs only the last `MAX_FRAMES` are written; a first line `[N more lines]` then says how many
    runs were left out. The source lines are read from the files, and left out where they cannot be read. A headline
    is not written.
    """
    runs = [(frame, len(list(same))) for frame, same in itertools.groupby(frames)]
    lines = [f"  [{len(runs) - MAX_FRAMES} more lines]\n"] if len(runs) > MAX_FRAMES else []
    for (path, line, function), times in runs[-MAX_FRAMES:]:
        lines.append(f'  File "{path}", line {line}, in {function}\n')
        text = linecache.getline(path, line).strip()
        lines += [f"    {text}\n"] if text else []
        more = f"{times - 1} more time{'s' if times > 2 else ''}"
        lines += [f"  [Previous line repeated {more}]\n"] if times > 1 else []
    return "".join(lines)


def group_of(error: BaseException) -> tuple[BaseException, ...]:
    """Return the members of an exception group; empty for other exceptions."""
    inside: Any = getattr(error, "exceptions", ())
    return inside if isinstance(inside, tuple) and hasattr(error, "derive") else ()  # pyright: ignore[reportUnknownVariableType]


def members(error: BaseException, depth: int = 1) -> Iterator[str]:
    """Yield a line for each member of an exception group, with its location, also of nested groups.

    It yields nothing if `error` is no group. `depth` is how deep it is indented; of more than `MAX_MEMBERS` members of one group a last
    line has the number of the others.
    """
    inside = group_of(error)
    for member in inside[:MAX_MEMBERS]:
        yield "  " * depth + error_text(member) + place(frames_of(member.__traceback__))
        yield from members(member, depth + 1)
    if len(inside) > MAX_MEMBERS:
        yield "  " * depth + f"and {len(inside) - MAX_MEMBERS} more"


def remote_of(error: BaseException) -> str:
    """Return the traceback that a worker process has sent with an exception; empty if there is none."""
    cause = error.__cause__
    return str(cause).strip('"\n ') if type(cause).__name__.endswith("RemoteTraceback") else ""


def worker_place(error: BaseException) -> str:
    """Return a line about where in a worker process an exception was raised.

    It is empty if it was not raised in one.
    """
    found = [(path, int(line), name) for path, line, name in REMOTE.findall(remote_of(error))]
    users = [frame for frame in found if is_users(frame[0])]
    return f"  raised in a worker process{place(users or found)}; {STOPS_THERE}" if found else ""


def library_place(error: BaseException) -> str:
    """Return a line about where in a library an exception was raised; empty if it was not raised in one.

    The line is `  raised in FILE:LINE FUNCTION`, of the innermost frame; FILE is the path below the one of
    `LIBRARIES` that it is in, or the whole path. It is empty also for assertions, exception groups, exceptions
    that a worker process has sent, code without a file, and where no frame is the user's.
    """
    frames = all_frames_of(error.__traceback__)
    users = any(is_users(path) for path, _, _ in frames)
    if not users or isinstance(error, AssertionError) or group_of(error) or remote_of(error):
        return ""
    path, line, function = frames[-1]
    if is_users(path) or path.startswith("<"):
        return ""
    folder = max((each for each in LIBRARIES if path.startswith(each)), key=len, default="")
    return f"  raised in {path[len(folder) :]}:{line} {function}"


def message(error: BaseException, known: str) -> str:
    """Return an exception's message with lines about its group, its worker process and its remark.

    `known` is the message itself.
    """
    remark = remarks.get(id(error))
    more = [*members(error), worker_place(error), f"  {remark}" if remark else ""]
    return "\n".join(filter(None, [known, *more]))


def traceback_text(error: BaseException, seen: frozenset[int] = frozenset()) -> str:
    """Return the tracebacks of an exception, its causes and its group's members in nearly Python's form.

    Each has frames (the user's only, if there are any; at most `MAX_FRAMES`) and the error, without the line
    `Traceback …`. Causes come first, or the exception that was being handled, as Python shows it; the first
    `MAX_MEMBERS` members of a group follow its own error, each after `In the group:`. An exception of a worker
    process has that process's traceback before its own, and neither causes nor members. `seen` has ids of
    exceptions that are written already; callers leave `seen` out.
    """
    seen |= {id(error)}
    text = frames_text(frames_of(error.__traceback__)) + error_text(error) + "\n"
    remote = remote_of(error)
    if remote:
        return remote + "\n" + CHAINED[True] + text
    for member in group_of(error)[:MAX_MEMBERS]:
        text += "\nIn the group:\n" + traceback_text(member, seen)
    cause = error.__cause__
    before = cause or (None if error.__suppress_context__ else error.__context__)
    if before is None or id(before) in seen:
        return text
    return traceback_text(before, seen) + CHAINED[cause is not None] + text
