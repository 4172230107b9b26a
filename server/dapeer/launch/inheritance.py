"""What a new program inherits: breakpoints, filters, and earlier programs that still run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dapeer.adapters.choice.choice import can_debug
from dapeer.base.errors import RequestTimeout
from dapeer.base.sources import relative_to_project
from dapeer.base.text.fitting import quoted
from dapeer.dap.requested_breakpoints import (
    Place,
    RequestedBreakpoint,
    RequestedFunction,
    collects_at,
    place_in_file,
    spot_of,
    title_of,
)
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.broadcast import Broadcast
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.focus import Focus, list_sessions

MAX_NAMED_BREAKPOINTS = 5
"""Breakpoints that are named."""
TOOL = "dap_run with fresh=true"
HINT = "; fresh=true starts without"

Places = Collection[Place]
"""Places of breakpoints; at functions, titles or names with 0 or `STOPS` as line."""


STOPS = -1
"""Stands for the line of a function at which a program stops; 0 for that of one at which it collects."""


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The state before a program is started."""

    debugger: Debugger
    client: str
    breakpoints: Places
    """The breakpoints meant for it: those of the call, and those set since the last start."""
    keeps_filters: bool
    """Whether it has the exception filters from before."""
    own_programs: Sequence[Session] = ()
    """The programs of the client's own, which a fresh start would end."""
    ended_sessions: Sequence[Session] = ()
    """Those that were ended for it."""
    removal_broadcast: Broadcast | None = None
    """Sends other programs the removal of breakpoints."""

    async def report(self, session: Session, new: Sequence[Broadcast]) -> list[str]:
        """Return lines for the caller: what a new program inherits, what was ended for it, and problems.

        `session` is the new program's. `new` are the changes of breakpoints that were sent to other programs; this
        call waits for them, and for the removal of earlier breakpoints, and there is a line for each living session
        that has not applied one. What is inherited is one line, which also names the sessions of other programs. The
        list may be empty.
        """
        pushes = [*new, *([self.removal_broadcast] if self.removal_broadcast else ())]
        lines = [line for each in pushes for line in await each.wait_for_failures()]
        if self.ended_sessions:
            lines += [f"ended {_numbered(self.ended_sessions)}"]
        places = self._places(session)
        parts = list(self._breakpoints(places))
        known = self.debugger.breakpoints.person_places
        persons = all((path, line) in known and not column for path, line, column in places)
        persons = persons and len(parts) == bool(places)
        others = [
            each for each in self.debugger.sessions.programs if each.program is not session.program
        ]
        if others:
            left = (
                f" and {len(others) - MAX_NAMED_BREAKPOINTS} more"
                if len(others) > MAX_NAMED_BREAKPOINTS
                else ""
            )
            word = "sessions" if len(others) > 1 else "session"
            parts.append(f"{word} {list_sessions(others[-MAX_NAMED_BREAKPOINTS:])}{left}")
        # A fresh start keeps what others have set and started.
        hint = HINT if self.removal_broadcast is None and (self.own_programs or not persons) else ""
        return [*lines, f"from before: {'; '.join(parts)}{hint}"] if parts else lines

    def _places(self, session: Session) -> list[Place]:
        """Return the places (path, line, column) of the breakpoints that a new program inherits, sorted.

        `session` is the new program's; only its adapter counts. The breakpoints are those that stop or log, and
        those at which this client collects. Left out are those in `self.breakpoints` (which the start's call
        gave, or which were set since the last start), and those in files that the adapter does not debug.
        """
        debugger = self.debugger
        definition = debugger.definitions.get(session.adapter)
        return [
            place
            for place in sorted(debugger.breakpoints.places(self.client))
            if definition is None or can_debug(debugger.definitions, definition, place[0])
            if place not in self.breakpoints
        ]

    def _breakpoints(self, places: Sequence[Place]) -> Iterator[str]:
        """Yield a text for each kind of thing that a new program inherits from before.

        The kinds are breakpoints at `places` (path, line, column), function breakpoints, functions at which the
        client collects, and exception filters, in this order; a kind without any yields nothing. Functions in
        `self.breakpoints`, which are meant for this program, are left out. Filters are told only if
        `keeps_filters` is set and filters were chosen before: these may be `none`.
        """
        points = self.debugger.breakpoints
        if places:
            named = [
                f"{relative_to_project(path, self.debugger.project)}:{place_in_file((line, column))}"
                for path, line, column in places
            ]
            yield f"breakpoints {_join_names(named)}"
        if stops := [each for each in points.functions if (each, STOPS, 0) not in self.breakpoints]:
            yield f"function breakpoints {_join_names(stops)}"
        titles = [title for _, title in points.at_functions(self.client)]
        if kept := [each for each in titles if (each, 0, 0) not in self.breakpoints]:
            yield f"collecting at {_join_names(kept)}"
        if self.keeps_filters and points.exceptions is not None:
            yield f"exception filters {_join_names(points.exceptions) or 'none'}"


def _join_names(names: Sequence[str]) -> str:
    """Return the first `MAX_NAMED_BREAKPOINTS` names, separated by commas, and how many more there are.

    Each name is shortened by `quoted`. The text is as `a, b and 3 more`; it is empty without names.
    """
    more = (
        f" and {len(names) - MAX_NAMED_BREAKPOINTS} more"
        if len(names) > MAX_NAMED_BREAKPOINTS
        else ""
    )
    return ", ".join(map(quoted, names[:MAX_NAMED_BREAKPOINTS])) + more


def places(
    requested: Iterable[tuple[str, RequestedBreakpoint]], functions: Iterable[RequestedFunction]
) -> list[tuple[str, int]]:
    """Return path and line of breakpoints, and title and 0 of functions at which a program collects.

    `requested` are breakpoints with their files. Functions at which a program stops are left out.
    """
    lines = [(path, each["line"]) for path, each in requested]
    return [*lines, *((title_of(each), 0) for each in functions if collects_at(each))]


def inheritance_of(
    debugger: Debugger,
    focus: Focus,
    requested: Sequence[tuple[str, RequestedBreakpoint]],
    functions: Sequence[RequestedFunction],
    filters: Sequence[str] | None,
) -> Inheritance:
    """Return what a new program inherits, besides what its call requests; nothing is changed or ended.

    Args:
        debugger: Has the breakpoints and programs from before.
        focus: The focus of the client that starts the program.
        requested: The breakpoints of the call, by path.
        functions: The functions at which the call stops or collects.
        filters: The exception filters of the call; None: it has none, so those from before count.
    """
    own = {*_requested_places(requested, functions), *debugger.breakpoints.places_for_next_start}
    return Inheritance(debugger, focus.key, own, filters is None, focus.own_programs)


async def end_earlier_programs(
    debugger: Debugger,
    focus: Focus,
    requested: Sequence[tuple[str, RequestedBreakpoint]],
    functions: Sequence[RequestedFunction],
    filters: Sequence[str] | None,
) -> Inheritance:
    """End the programs that the client has started, and forget what tools have set, before a fresh start.

    Programs that were launched end; attached ones run on without a debugger. Forgotten are the breakpoints that
    any client's tools have set, all function breakpoints, what this client collects, and the exception filters.
    A person's breakpoints on whole lines, what other clients collect, and the breakpoints and collecting in
    `requested`, and the collecting in `functions`, stay. Other programs are sent the removals: those at
    functions are awaited, and those in files are only begun; one that fails raises nothing. Return what the new
    program inherits, with the programs that were ended.

    Args:
        debugger: Has the breakpoints and programs from before.
        focus: The focus of the client that starts the program; its `own_programs` are ended.
        requested: The breakpoints of the call, by path.
        functions: The functions at which the call stops or collects.
        filters: The exception filters of the call, which are not set here; None: the call has none, and the
            report names those chosen by then.

    Raises:
        RequestTimeout: A program neither ends nor can be killed; nothing is forgotten then.
        DapeerError: An adapter rejects the request to end a program, or cannot detach; nothing is forgotten
            then.
    """
    ended = focus.own_programs
    for program in ended:
        await _end_program(debugger, program)
    stops = bool(debugger.breakpoints.functions)
    collecting = bool(debugger.breakpoints.function_points)
    kept = {(path, *spot_of(each)) for path, each in requested if "collect" not in each}
    collected = {(path, *spot_of(each)) for path, each in requested if "collect" in each}
    titles = {title_of(each) for each in functions if collects_at(each)}
    paths = debugger.breakpoints.remove_for_new_start(kept, collected, titles, focus.key)
    if stops:
        await debugger.push_functions().wait_for_failures()
    if collecting:
        await debugger.push_collecting().wait_for_failures()
    push = debugger.push_breakpoints(*paths)
    own = _requested_places(requested, functions)
    return Inheritance(debugger, focus.key, own, filters is None, (), ended, push)


def _requested_places(
    requested: Sequence[tuple[str, RequestedBreakpoint]], functions: Sequence[RequestedFunction]
) -> set[Place]:
    """Return the keys of a call's breakpoints and functions, as `Inheritance.breakpoints` has them."""
    at_functions = {
        (title_of(each), 0, 0) if collects_at(each) else (each["name"], STOPS, 0)
        for each in functions
    }
    return {*((path, *spot_of(each)) for path, each in requested), *at_functions}


async def _end_program(debugger: Debugger, program: Session) -> None:
    """Disconnect from an earlier program, and record `TOOL` as what ended its sessions.

    `program` is any session of the program. A program that dapeer or nvim-dap has launched ends by this; one
    that was attached to runs on. If that session is over already, it and its children are terminated in the
    debugger instead, so that they are gone. The record goes to those of the sessions that lived when this was
    called which a tool has ended, not detached from; after an error nothing is recorded. It waits for the
    adapter's answer.

    Raises:
        RequestTimeout: The adapter does not answer, and the session is not over.
        DapeerError: The adapter rejects the request, or cannot detach; a Neovim that controls a session does not
            end it.
    """
    living = program.program.living_sessions
    if program.is_over:
        await debugger.terminate(program)
    else:
        try:
            await debugger.disconnect(program, terminate=None)
        except RequestTimeout:
            if not program.is_over:
                raise
    for each in living:
        each.ending.set_ending_tool(TOOL)


def _numbered(programs: Sequence[Session]) -> str:
    numbers = ", ".join(str(each.id) for each in programs)
    return f"session{'s' if len(programs) > 1 else ''} {numbers}"


def follow_edits(breakpoints: Breakpoints, before: Session) -> Iterator[str]:
    """Move the breakpoints of files that were edited since `before` started to where their lines are now.

    Only breakpoints that the earlier program, of which `before` is a session, had got from dapeer are moved, and
    none that could not be delivered to it. It changes `breakpoints` and what the earlier program still waits for.
    It yields a line of text for each breakpoint that has moved, and for each whose line was itself changed; the
    latter stays at its number. Nothing is yielded for a file that is unchanged, or whose old text is not known. It
    does its work while it is iterated. Nothing is sent.
    """
    refused, sessions = (
        before.program.awaited_breakpoints.undelivered_places,
        before.program.sessions,
    )
    for path in breakpoints.paths:
        changes = (each.inspect.source_versions.known_change(path) for each in sessions)
        # Each process has its own session, and its breakpoints are those of all: they move once.
        change = next(
            (each for each in changes if each is not None and each.old_lines is not None), None
        )
        if change is None:
            continue
        had = {
            sent["line"]
            for each in sessions
            for sent, _ in each.mirror.breakpoint_statuses.breakpoints_in(path)
        }
        lines = {each["line"] for each in breakpoints.in_file(path)} & had
        moves, gone = change.moved(n for n in sorted(lines) if (path, n) not in refused)
        breakpoints.move(path, moves)
        before.program.awaited_breakpoints.move(path, moves)
        name = relative_to_project(path, before.project)
        yield from (f"breakpoint {name}:{n} → {to}: its line has moved" for n, to in moves.items())
        yield from (f"breakpoint {name}:{n}: this line was changed" for n in gone)
