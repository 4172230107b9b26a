"""Tools that show the code of a program: its sources and modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from dapeer.base.errors import ArgumentError, NoSession, NotStopped
from dapeer.base.sources import MAX_READ_BYTES, read_part, relative_to_project, source_file
from dapeer.base.system.threads import in_thread
from dapeer.base.text.lines import escaped, indented, indented_after_first
from dapeer.dap.messages import Body
from dapeer.dap.types import Source
from dapeer.sessions.core.session import Session
from dapeer.sessions.inspection.fetching import ignore_failure
from dapeer.sessions.inspection.source_versions import RESTART
from dapeer.tools.base.arguments import Line, SessionId
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.tool import Section, tool
from dapeer.view import snapshot as views


@tool("Read source", section=Section.LOOK, read_only=True)
async def dap_source(
    call: Call,
    filename: str | None = None,
    source_reference: Annotated[int | None, Field(ge=1)] = None,
    line: Line | None = None,
    count: Annotated[int, Field(ge=1, le=500)] = 50,
    column: Annotated[int | None, Field(ge=1), Unlisted()] = None,
    session_id: SessionId = None,
) -> Reply:
    """Return numbered source lines of a file, default around the stop.

    The source is the file `filename`, or the adapter's own one with the number `source_reference`, which counts
    if both are given; by default the one where the program has stopped. `count` lines are returned from `line`
    (from 1) on; without it, those around the place of the stop in that source, or the first ones. An arrow
    marks the place of the stop; with `column` it marks the first line instead, of which, if it is long, the
    part around that column is shown. A line behind them says from which line there are more. Notes name
    sessions that run an earlier edition of the file. The only data are `notes`. A session that is found becomes
    the client's default, unless it is of another program and no id is given.

    Raises:
        ArgumentError: There is no such source or line, or the file may hold secrets, or cannot be read.
        NotStopped: No source is named, and the session is not stopped.
        NoSession: No file is named, and there is no such session, or it is not clear which one is meant.
        ConsentNeeded: The file has nothing to do with the project and its programs, and nobody has consented.
        DapeerError: The adapter rejects a request for the source or the stack, or does not answer.
    """
    if filename is None and source_reference is None:
        current = await _current_source(call, session_id)
        filename, source_reference = current.get("path"), current.get("sourceReference")
    # > If the value is > 0, the contents of the source must be retrieved through the request.
    if source_reference:
        name = f"source {source_reference}"
        place = await _line_of_program(call, session_id, source_reference)
        line = line or _first_line_around(place, count)
        _check_secret(call, call.debugger.files.path_of(source_reference))
        lines = await _source_of_adapter(call.session(session_id), source_reference)
        shown, total = lines[line - 1 : line - 1 + count], len(lines)
        notes: list[str] = []
    else:
        name = _readable_path(call, filename or "")
        place = await _line_of_program(call, session_id, name)
        line = line or _first_line_around(place, count)
        shown, total = await _read_lines_of_file(name, line, count)
        notes = _outdated(call, name)
    if not shown:
        has = (
            f"{total} lines"
            if total is not None
            else f"no such line in its first {MAX_READ_BYTES >> 20} MiB"
        )
        raise ArgumentError(f"`line`: {name} has only {has}.", "Give a line in that range.")
    text = views.numbered(
        line, shown, line if column else place, column or _column(call, session_id, place)
    )
    following = line + len(shown)
    rest = "" if total is None else str(total - following + 1)
    more = f"\n({rest or 'maybe'} more lines: line={following})" if rest != "0" else ""
    heading = indented_after_first(escaped(relative_to_project(name, call.debugger.project)))
    return with_notes(Reply(f"{heading}\n{text}{more}", raw=True), notes)


def _column(call: Call, session_id: int | None, place: int | None) -> int:
    """Return the 1-based column of the stop on the line `place`; 0: it is unknown, or on another line."""
    if place is None:
        return 0
    stop = call.session(session_id).mirror.stop
    top = stop.default_frame if stop else None
    return top.get("column", 0) if top is not None and top["line"] == place else 0


async def _line_of_program(call: Call, session_id: int | None, source: str | int) -> int | None:
    """Return the line where the stopped program is in a source, from the frame that is shown outwards.

    `source` is a file's path, or the number of an adapter's own source. The stack is requested from the
    adapter, whose errors are ignored. `session_id` is the one that the caller has given, or None for the
    client's default; a session that is found becomes the default, unless it is of another program and no id is
    given. None: no frame from the shown one outwards is in the source, there is no session, or it is not
    stopped.
    """
    try:
        session = call.session(session_id)
    except (NoSession, NotStopped):
        return None
    stop = session.mirror.stop
    if stop is None:
        return None
    await ignore_failure(session.inspect.whole_stack(stop.thread_id))
    frames = stop.stack.frames.get(stop.thread_id, [])
    key = "path" if isinstance(source, str) else "sourceReference"
    seen = (each for each in frames[stop.stack.default_index or 0 :] if each["line"] > 0)
    return next((each["line"] for each in seen if each.get("source", {}).get(key) == source), None)


def _first_line_around(place: int | None, count: int) -> int:
    """Return the first of `count` lines that have the line `place` in their middle; 1 for None."""
    return max(1, (place or 1) - count // 2)


def _outdated(call: Call, path: str) -> list[str]:
    """Return a note for each living session whose program still runs an earlier edition of a file.

    `path` is the file's.
    """
    return [
        f"session {each.id} ({each.name}) runs this file as it was before it changed; {RESTART}"
        for each in call.debugger.sessions.live
        if (change := each.inspect.source_versions.known_change(path)) and change.old_lines
    ]


def _readable_path(call: Call, filename: str) -> str:
    """Return the absolute path of a file whose text the tool may show.

    `filename` is as the caller gave it: absolute, with `~`, or relative to the project's folder; a file in a
    zip archive counts, too.

    Raises:
        ArgumentError: There is no such file, it is no regular file, or it may hold secrets.
        ConsentNeeded: The file has nothing to do with the project and its programs, and nobody has consented.
    """
    path = source_file(filename, call.debugger.project)
    _check_secret(call, path)
    if not call.debugger.files.allows(path):
        call.require_consent(
            "read",
            f"{path} is neither in the project nor in the stack or the libraries of a session.",
            "To allow it, the person starts dapeer with `--readable FOLDER`, or attaches their Neovim, which asks them.",
        )
    return path


def _check_secret(call: Call, path: str) -> None:
    """Raise `ArgumentError` if the file may hold secrets; nothing happens for an empty path."""
    if path and call.debugger.files.secret.hides(path):
        raise ArgumentError(
            f"{path} may hold secrets, so no tool shows it.",
            "The person can change `secrets` in setup() of their Neovim.",
        )


async def _read_lines_of_file(path: str, line: int, count: int) -> tuple[Sequence[str], int | None]:
    """Read up to `count` lines from 1-based `line`; return them and the file's number of lines.

    The file is read in another thread. The number is None if the file is too large to be read whole. Raises `ArgumentError` if it cannot be
    read.
    """
    try:
        return await in_thread(read_part, path, line, count)
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}.") from error


async def _current_source(call: Call, session_id: int | None) -> Source:
    """Return the source of the frame where the session is stopped, as DAP's `Source`.

    It is empty without a frame.
    """
    session = call.session(session_id)
    frame = await session.inspect.fetch_shown_frame(session.mirror.require_stop())
    return frame.get("source", Source()) if frame else Source()


async def _source_of_adapter(session: Session, reference: int) -> Sequence[str]:
    """Request a source from the adapter by its `source_reference`, and return its lines without line ends.

    `reference` is that number, as frames and loaded sources have it.

    Raises:
        ArgumentError: The adapter has returned an empty source.
        DapeerError: The adapter rejects the request, or does not answer, or the session has ended.
    """
    lines, _kind = await session.inspect.source_of_adapter(reference)
    if lines:
        return lines
    raise ArgumentError(
        f"The adapter has no source with source_reference {reference}.",
        "dap_stacktrace lists those of frames.",
    )


@tool(
    "Modules, loaded sources",
    section=Section.LOOK,
    read_only=True,
    needs=["modules", "loadedSources"],
)
async def dap_modules(
    call: Call,
    kind: Literal["modules", "sources"] | None = None,
    matching: Annotated[str | None, Field(description="part of name or path")] = None,
    start: Annotated[int, Field(ge=0)] = 0,
    count: Annotated[int, Field(ge=1, le=500)] = 50,
    session_id: SessionId = None,
) -> Reply:
    """List what the program has loaded: modules (libraries), or sources with their source_reference for dap_source.

    `kind` is by default `modules`, or `sources` if the adapter supports only these. `matching` leaves only
    those whose name or path contains the text, without regard to case; `count` of these are returned from index
    `start` (from 0) on. They are requested from the adapter, unless it has no such request and has sent them as
    events. The data has a list under `modules` or `sources`: objects with `name`, `path`, and of a module
    `version`, `address_range` and `symbols`, of a source `source_reference`, each as far as it is known; and if
    some follow, `more`, the number of them.

    Raises:
        DapeerError: The session has ended, the adapter supports no such request and has sent no event, or the
            request failed.
    """
    session = call.session(session_id)
    session.mirror.require_live()
    only_sources = session.supports("loadedSources") and not session.supports("modules")
    kind = kind or ("sources" if only_sources else "modules")
    rows = await (_modules(session) if kind == "modules" else _sources(session))
    chosen = [row for row in rows if not matching or matching.lower() in _where(row).lower()]
    shown = chosen[start : start + count]
    left = len(chosen) - start - len(shown)
    lines = [indented(indented_after_first(_line(row))) for row in shown] or [f"No {kind}."]
    data: dict[str, Any] = {kind: shown}
    if left > 0:
        lines.append(f"({left} more: start={start + len(shown)})")
        data["more"] = left
    return Reply("\n".join(lines), data)


CodeFacts = Mapping[str, Any]

MODULE_FIELDS = {
    "name": "name",
    "path": "path",
    "version": "version",
    "address_range": "addressRange",
    "symbols": "symbolStatus",
}

SOURCE_FIELDS = {"name": "name", "path": "path", "source_reference": "sourceReference"}


async def _modules(session: Session) -> Sequence[CodeFacts]:
    """Return the modules of the program as rows with the keys of `MODULE_FIELDS`.

    They are requested from the adapter, unless it only sends events of them and has sent some.
    """
    known = session.mirror.loaded_sources
    # An adapter without the request may have sent events.
    if session.supports("modules") or not known.modules:
        await session.request("modules", {})
    return [_facts(module, MODULE_FIELDS) for module in known.modules.values()]


async def _sources(session: Session) -> Sequence[CodeFacts]:
    """Return the sources that the program has loaded as rows with the keys of `SOURCE_FIELDS`.

    The keys are `name`, `path` and `source_reference`; one whose value is missing or empty is left out of a
    row. The sources are requested by `loadedSources`, unless the adapter lacks this request and has sent
    events of sources: then those of the events are returned. The list is empty if no source is known.

    Raises:
        DapeerError: The adapter lacks `loadedSources` and has sent no event of a source, or the request
            failed.
    """
    known = session.mirror.loaded_sources
    if session.supports("loadedSources") or not known.sources:
        await session.request("loadedSources", {})
    return [
        {name: fact for name, fact in _facts(cast("Body", source), SOURCE_FIELDS).items() if fact}
        for source in known.sources.values()
    ]


def _facts(body: Body, fields: Mapping[str, str]) -> CodeFacts:
    """Return the values of a DAP object under our names, without those that are missing.

    `fields` has DAP's name of a value by ours.
    """
    return {ours: body[theirs] for ours, theirs in fields.items() if body.get(theirs) is not None}


def _where(row: CodeFacts) -> str:
    return f"{row.get('name', '')} {row.get('path', '')}".strip()


def _line(row: CodeFacts) -> str:
    """Return a module or source as one line: path or name, version, addresses, symbols, reference."""
    name, path = str(row.get("name", "")), str(row.get("path", ""))
    parts = [path if path and path.endswith(name) else _where(row)]
    parts += [str(row[key]) for key in ("version", "address_range", "symbols") if row.get(key)]
    reference = row.get("source_reference")
    return " ".join([*parts, f"[source_reference {reference}]"] if reference else parts)
