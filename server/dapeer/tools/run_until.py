"""The tool that runs a program until an expression holds, or a value changes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import anyio
from pydantic import Field

from dapeer.adapters.definition.sections import Watchpoints
from dapeer.base.errors import ArgumentError, DapeerError, Unsupported
from dapeer.base.sources import source_file
from dapeer.base.system import foreign_files
from dapeer.base.text.fitting import shortened
from dapeer.collecting.rows.collected import On, Watch, add_watch
from dapeer.collecting.text.summary import line_of
from dapeer.peers.consent_kinds import ALL, EVALUATE, RUN, VALUES, ArgumentKinds, CallKinds
from dapeer.sessions.breakpoints.watching import ScopeSpec
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.run_until.conditions import ByConditions, NoConditions, usable
from dapeer.sessions.run_until.last_write import LastWrite, call_that_stops_there, last_write
from dapeer.sessions.run_until.stepping import Driving, Stepping
from dapeer.sessions.run_until.watchpoint import AtWatchpoint
from dapeer.tools.base.arguments import MAX_EXPRESSION_CHARS, frame_of
from dapeer.tools.base.call import Call, RemainingTime, Reply
from dapeer.tools.base.report import ResumeOptions, StopOptions
from dapeer.tools.base.schema import Unlisted
from dapeer.tools.base.syntax import check_expressions, is_python
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import next_stop, resume, show_state
from dapeer.view.stacks import frame_line, frame_path
from dapeer.view.variables import one_line

MAX_SHOWN_CHARS = 80
"""Characters of an expression."""
MAX_FRAMES = 8
"""Frames of the last write that are shown."""
MAX_SHOWN_VARIABLES = 6
"""Variables of a frame of the last write."""
STEPS_SHARE = 0.9
"""Of the caller's time, what steps may take: the last one is still to be shown."""
_FUNCTION = re.compile(r"[\w.*:<>~()]+")
_Scope = Annotated[Sequence[str], Field(description="files, functions")]


@tool(
    "Run until",
    section=Section.RUN,
    kinds=CallKinds(
        RUN,
        (
            ArgumentKinds("expression", EVALUATE),
            ArgumentKinds(
                "last", ALL, "(the program is run again: what it does outside is done twice)"
            ),
            *VALUES,
        ),
    ),
    resumes=True,
)
async def dap_run_until(
    call: Call,
    expression: str,
    on: On = "true",
    scope: _Scope = (),
    every: Annotated[bool, Field(description="record all, stop at none")] = False,
    last: Annotated[bool, Unlisted()] = False,
    *,
    options: ResumeOptions,
) -> Reply:
    """Run until an expression holds or changes, or until a variable, attribute or item is written.

    With `on` "true" it stops where `expression` holds, with "change" where its value is another one within a
    call, with "write" where the variable, attribute or item is assigned. `scope` limits that to files and
    functions; without it all code but libraries counts. `every` records all such lines, and stops at none;
    dap_collected returns them. The options say what is evaluated at the next stop (`evaluate`), how much of
    the stop is shown (`show`), and whether and for how many milliseconds to wait (`wait_until_paused`,
    `timeout_ms`). The state is returned; its data has `until`, a list of sentences on the outcome, if there is
    one. `last` (with "write" alone) leaves the session at its stop, and runs the program a second time, to say
    who wrote the value last before this stop: no state is returned then, the data has `writes` (how often;
    None: not known), `same` (whether the second run came to this stop) and `told` (the lines of the text). A
    Python program mostly watches by itself; where a program cannot, as in other
    languages, watchpoints or conditions of the adapter are used, else single steps.

    Raises:
        NotStopped: The session is not stopped.
        ArgumentError: The expression is empty, too long, does not parse or cannot be watched there, `scope`
            names a file that does not exist, or an argument does not go with `last`.
        DapeerError: The adapter cannot watch the expression, the program cannot be run again for `last`, or it
            could only be stepped, in a session of nvim-dap.
    """
    session = call.session(options.session_id)
    stop = session.mirror.require_stop()
    left = RemainingTime(options.timeout_ms)
    if not expression.strip() or len(expression) > MAX_EXPRESSION_CHARS:
        raise ArgumentError(
            f"`expression` has 1 to {MAX_EXPRESSION_CHARS} characters.", "Give one."
        )
    frame = await frame_of(session, None)
    if last:
        if on != "write" or every or scope:
            raise ArgumentError(
                "`last` tells who has written a value last.", 'Give it with on="write" alone.'
            )
        seconds = left.seconds_to_wait * STEPS_SHARE
        return await _last_write(call, session, expression.strip(), frame, seconds)
    top = await session.inspect.fetch_shown_frame(stop)
    path = frame_path(top) if top else ""
    if path or session.line_breakpoints.tracers:
        python = not path or is_python(call.debugger, path)
        check_expressions([expression], python=python)
    where = _sort_scope(scope, call.debugger)
    watched = add_watch(
        session.program.collected, expression.strip(), on, call.focus.key, every=every
    )
    if not session.line_breakpoints.traces:
        return await _run_by_stops(call, session, watched, where, frame, left, options)
    await session.watching.begin(watched, where, frame)
    call.debugger.broadcast(
        "that it is over", [session], lambda each: each.watching.unwatch_at_stop()
    )
    rest = replace(options, timeout_ms=int(left.remaining_ms))
    return await resume(call, session, "continue", {"threadId": stop.thread_id}, rest)


async def _run_by_stops(
    call: Call,
    session: Session,
    watch: Watch,
    scope: ScopeSpec,
    frame: int | None,
    remaining: RemainingTime,
    options: StopOptions,
) -> Reply:
    """Run a program by stops until a watch comes about, and return the stop as a reply.

    This is for a program that cannot watch by itself. Watchpoints, conditions of breakpoints or single steps are
    used, whichever the adapter has. If watching by the chosen one cannot begin, single steps are used, except for
    `on="write"` and in a session of nvim-dap. If what is waited for is there already, the program is not resumed,
    and its present state is returned. Otherwise the program runs in the background: the call waits for the time
    `remaining` at most, and returns the state then. The run itself gets `STEPS_SHARE` of that time, after which the
    program is not resumed again; with conditions, or a watchpoint without `watch.every`, it has no limit, and goes
    on after the call until a stop ends it. Errors of the adapter during the run raise nothing.

    Args:
        call: The call of the tool.
        session: The session to run.
        watch: What is waited for; its cost and way are noted on it.
        scope: The files and functions where it counts.
        frame: The adapter's id of the frame in which the expression is meant; None: there is none.
        remaining: The remaining time of the call.
        options: What to evaluate and show at the stop.

    Raises:
        Unsupported: The session is nvim-dap's, and could only be stepped.
        NotStopped: The program runs.
        DapeerError: The expression cannot be watched.
    """
    epoch = session.mirror.epoch
    seconds = remaining.seconds_to_wait * STEPS_SHARE
    drive = _choose_driver(call.debugger, session, watch, scope, seconds)
    try:
        await drive.begin(frame)
    except DapeerError as error:
        # A variable that does not exist yet, and a sum, have no place that can be watched.
        if watch.on == "write" or session.feed is not None:
            raise
        drive = Stepping(session, watch, scope, seconds)
        await drive.begin(frame)
        if isinstance(error, NoConditions):
            watch.explain_method(error.problem)
    if watch.holds_already:
        drive.set_cost()
        return await show_state(call, session, remaining=remaining, options=options)
    sending = call.debugger.broadcast("that it is over", [session], lambda _: drive.run())
    with anyio.move_on_after(remaining.seconds_to_wait):
        await sending.wait_for_failures()
    return await next_stop(call, session, epoch, remaining.remaining_ms, options=options)


async def _last_write(
    call: Call, session: Session, expression: str, frame: int | None, seconds: float
) -> Reply:
    """Run the program once more up to this stop, and return who wrote a value last before.

    The second run has all effects of the program. It is a session of its own, which is ended and dropped
    afterwards; `session` does not move. `seconds` is the time that it may take, in native programs once
    to the entry and once from there; `frame` is the adapter's id of the frame in which the expression is
    meant, None: no frame. The reply has the last write, or else
    where the value was first seen, and the call that stops there, as far as they are known. The data has
    `writes` (their number; None: it is not known), `same` (whether the second run came to this stop) and
    `told` (the lines of the text).

    Raises:
        DapeerError: The program cannot be run again, or the expression cannot be watched.
    """
    debugger, client = call.debugger, call.focus.key
    last = await last_write(debugger, session, expression, frame, client, seconds)
    name = f"`{shortened(expression, MAX_SHOWN_CHARS)}`"
    before = " before this stop" if last.is_same_stop else ""
    count = last.count
    if count is None:
        lines = [f"Who wrote {name} last is not known."]
    elif count:
        times = f"{count:,} time{'' if count == 1 else 's'}"
        lines = [f"{name} was written {times}{before}, in a second run"]
    else:
        lines = [f"{name} was not written{before}, in a second run"]
    if not last.is_same_stop:
        lines.append(
            "The second run did not come to this stop: it went another way, or took too long."
        )
    function, file, line = last.place
    if file:
        change = f"{shortened(last.before, MAX_SHOWN_CHARS)} → " if last.count else ""
        head = "The last one" if last.count else "It has had this value since it was first seen"
        place = line_of(function, file, line, debugger.project)
        doubt = f" (or {last.doubt})" if last.doubt else ""
        lines.append(f"{head}: {place}{doubt}: {change}{shortened(last.after, MAX_SHOWN_CHARS)}")
        lines += _frame_lines(session, last, debugger.project)
    if file and last.breakpoint:
        also = "" if "hit_condition" in last.breakpoint else ", or where the value is the same"
        lines.append(
            f"It stops there{also}: {call_that_stops_there(last, session, debugger.project)}"
        )
    facts = {"writes": last.count, "same": last.is_same_stop, "told": lines}
    return Reply("\n".join(lines), facts)


def _frame_lines(session: Session, last: LastWrite, project: Path) -> list[str]:
    """Return a line for each frame of the user's code at the last write, with its known variables.

    At most `MAX_FRAMES` are listed, innermost first, and a line with the number of the rest follows. A line has at
    most `MAX_SHOWN_VARIABLES` variables, each cut to `MAX_SHOWN_CHARS`, and none if they were not read. `session`
    tells which frames are the user's; paths are relative to `project`.
    """
    users = [each for each in last.stack if session.frames.is_users(each)]
    lines: list[str] = []
    for frame, variables in itertools.zip_longest(users[:MAX_FRAMES], last.variables[:MAX_FRAMES]):
        shown = [*(variables or {}).items()][:MAX_SHOWN_VARIABLES]
        texts = [f"{name} = {shortened(one_line(each), MAX_SHOWN_CHARS)}" for name, each in shown]
        lines.append("  " + ": ".join(filter(None, [frame_line(frame, project), "; ".join(texts)])))
    more = len(users) - MAX_FRAMES
    return lines + [f"  ({more} more frames)"] * (more > 0)


def _choose_driver(
    debugger: Debugger, session: Session, watch: Watch, scope: ScopeSpec, seconds: float
) -> Driving:
    """Return the object that runs the program by stops: watchpoints, conditions or steps.

    The choice depends on what the adapter supports, and on its definition: a watchpoint for writes, or for
    changes without a scope, where the adapter has them; else conditional breakpoints, where they can tell; else
    steps. `watch` is what is waited for, `scope` the files and functions where it counts, `seconds` the time
    that it may take. Nothing is begun.

    Raises:
        Unsupported: The session is nvim-dap's, in which a person works, and no watchpoint can be used;
            conditions are not tried there.
    """
    definition = debugger.definitions.get(session.adapter)
    known = definition.watchpoints if definition is not None else Watchpoints()
    can_watch = session.supports("setDataBreakpoints") or (known.set and session.feed is None)
    if can_watch and (watch.on == "write" or (watch.on == "change" and not any(scope.values()))):
        return AtWatchpoint(session, watch, scope, seconds, known)
    if session.feed is not None:
        raise Unsupported(
            f"{session.adapter} could only be stepped until then, and the person in Neovim would see each step.",
            "Set a breakpoint with a condition, or debug it in a session of your own.",
        )
    conditions = usable(definition, watch, session)
    if conditions is not None:
        return ByConditions(session, watch, scope, seconds, conditions, debugger)
    return Stepping(session, watch, scope, seconds)


def _sort_scope(given: Sequence[str], debugger: Debugger) -> ScopeSpec:
    """Sort a caller's scope into `files`, as absolute paths, and `functions`, as names.

    `given` are the entries of the caller's argument `scope`; paths in it are relative to the project. An
    entry is a file if there is such a file, or if it ends as sources of any adapter's language do. Otherwise
    it is a function if it has the form of a function's name; an entry that is neither counts as a file.

    Raises:
        ArgumentError: There is no such file, or it is no regular file; the text may name
            `filename`, not `scope`.
    """
    scope: dict[str, list[str]] = {"files": [], "functions": []}
    known = {end for each in debugger.definitions.values() for end in each.extensions}
    for each in given:
        is_file = foreign_files.is_file(debugger.project / each) or Path(each).suffix in known
        if not is_file and _FUNCTION.fullmatch(each):
            scope["functions"].append(each)
        else:
            scope["files"].append(source_file(each, debugger.project))
    return scope
