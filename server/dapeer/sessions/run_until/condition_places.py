"""Where an expression is looked at by conditions: the lines of the files of a scope."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dapeer.adapters.definition.until import Until
from dapeer.base.errors import DapeerError
from dapeer.base.system import foreign_files
from dapeer.base.system.threads import in_thread
from dapeer.dap.sent_requests import BreakpointLocationsArguments
from dapeer.dap.types import StackFrame
from dapeer.sessions.breakpoints.watching import ScopeSpec
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.view.stacks import frame_path

MOST_FILES = 60
MOST_LINES = 600
SECONDS_TO_LIST_FILES = 2.0
"""Seconds that the program has to tell its files."""
_NOTHING = re.compile(r"\s*(#|//|\*|/\*|$)")
"""A line without code of its own."""
_LOST = frozenset({"hitCondition", "logMessage", "collect"})
"""What a breakpoint does not do any more once it has another condition."""

ConditionPlace = tuple[str, int, int]
"""Path, line, and column (0: that of the line)."""


class NoConditions(DapeerError):
    """Conditions cannot tell it here, for this reason; the program is stepped instead."""


async def places(
    session: Session, debugger: Debugger, scope: ScopeSpec, known: Until, frame: StackFrame | None
) -> list[ConditionPlace]:
    """Return path, line and column of the breakpoints whose condition is to look at an expression.

    They are the lines of the scope's `files`, or without these of the user's loaded files. With `functions` in the scope, only loaded
    files in whose text one of the names occurs count, beside `files` and the file of `frame`, the frame where the program is stopped.
    Lines that cannot have another condition are left out. `known` is the definition's `[until]` table.

    Raises:
        NoConditions: There are too many files or lines, or none.
    """
    paths = scope.get("files") or await _own(session, debugger, known.files, frame)
    if functions := scope.get("functions"):
        here = [frame_path(frame)] if frame else []
        others = await in_thread(_naming, paths, functions)
        paths = [*dict.fromkeys([*scope.get("files", ()), *here, *others])]
    if len(paths) > MOST_FILES:
        raise NoConditions(f"{len(paths):,} files are too many for conditions", "")
    found = [(path, *each) for path in paths for each in await _lines(session, path, known, frame)]
    if len(found) > MOST_LINES:
        raise NoConditions(f"{len(found):,} lines are too many for conditions", "")
    if not found:
        raise NoConditions("no lines are known for conditions", "")
    return found


async def _own(
    session: Session, debugger: Debugger, files: str, frame: StackFrame | None
) -> list[str]:
    """Return the user's files that the program has loaded, in the project, and that of `frame`.

    `files` is an expression of the definition that lists loaded files; empty: the adapter has reported them. If neither is known, files
    of the same kind below the folder of the frame's file count.
    """
    paths = [frame_path(frame)] if frame else []
    if files and frame:
        paths += (await _evaluated(session, files, frame)).splitlines()
    else:
        sources = session.mirror.loaded.sources.values()
        paths += [str(each.get("path") or "") for each in sources]
    if not (files or len(paths) > 1):
        paths += await in_thread(_beside, paths[0] if paths else "")
    project = debugger.project
    mine = (each for each in map(_real, paths) if each and _is_users(session, each))
    inside = dict.fromkeys(
        each for each in mine if Path(each).is_relative_to(project) or each in paths[:1]
    )
    return await in_thread(lambda: [each for each in inside if foreign_files.is_file(each)])


def _real(path: str) -> str:
    """Return a path if it is absolute, else an empty text."""
    return path if Path(path).is_absolute() else ""


def _beside(path: str) -> list[str]:
    """Return the files with the same suffix in a file's folder and below, `MOST_FILES` + 1 at most."""
    found = foreign_files.matching(Path(path).parent, f"**/*{Path(path).suffix}") if path else ()
    return [str(each) for each, _ in zip(found, range(MOST_FILES + 1), strict=False)]


def _is_users(session: Session, path: str) -> bool:
    """Return whether frames of a file count as the user's."""
    frame = StackFrame(id=0, name="", line=1, column=1, source={"path": path})
    return session.frames.is_users(frame)


def _naming(paths: Iterable[str], functions: Sequence[str]) -> list[str]:
    """Return those of the files in whose text the last part of one of the function names occurs."""
    names = [re.split(r"[.:#]", each)[-1].replace("*", "") for each in functions]
    texts = ((path, text_of(path)) for path in paths)
    return [path for path, text in texts if any(name in text for name in names)]


def text_of(path: str) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return foreign_files.read_text(path)
    except OSError:
        return ""


async def _evaluated(session: Session, expression: str, frame: StackFrame) -> str:
    """Evaluate an expression of the definition in a frame.

    Return the text of its result, empty: it failed.
    """
    try:
        body = await evaluate(session, expression, frame["id"], "watch", SECONDS_TO_LIST_FILES)
    except DapeerError:
        return ""
    return str(body.get("result") or "").strip("\"'").replace("\\n", "\n")


async def _lines(
    session: Session, path: str, known: Until, frame: StackFrame | None
) -> list[tuple[int, int]]:
    """Return line and column (0: none) of a file's lines that can get a breakpoint with a condition.

    The adapter, or an expression of the definition, tells which these are; else all lines with code count. Lines with a breakpoint of
    somebody's that has no room for another condition are left out.
    """
    text = (await in_thread(text_of, path)).splitlines()
    lines = [(line, 0) for line, each in enumerate(text, 1) if not _NOTHING.match(each)]
    if session.supports("breakpointLocations"):
        span: BreakpointLocationsArguments = {
            "source": {"path": path},
            "line": 1,
            "endLine": len(text) + 1,
        }
        try:
            body = await session.request("breakpointLocations", span)
            breakable = {
                (int(each["line"]), int(each.get("column") or 0))
                for each in body.get("breakpoints") or ()
            }
            lines = sorted(breakable) or lines
        except DapeerError:
            pass
    elif known.lines and frame and "'" not in path:
        breakable_lines = await _evaluated(
            session, known.filled(known.lines, {"path": path}), frame
        )
        lines = [(int(each), 0) for each in re.findall(r"\d+", breakable_lines)] or lines
    taken = unshared(session, path, known)
    return [each for each in lines if each[0] not in taken]


def unshared(session: Session, path: str, known: Until) -> set[int]:
    """Return the lines of a file with a breakpoint whose condition cannot be combined with another one."""
    placed = session.mirror.placed.breakpoints_in(path)
    return {
        int(each.get("line", sent["line"]))
        for sent, each in placed
        if not known.shared or not _LOST.isdisjoint(sent)
    }
