"""What is collected, checked before it is, and told afterwards, to the client that has asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dapeer.collecting.rows.collection import Collection
from dapeer.collecting.text.summary import section
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction
from dapeer.sessions.core.session import Session
from dapeer.tools.base.arguments import BreakpointArgument
from dapeer.tools.base.call import Call
from dapeer.tools.base.syntax import check_breakpoint, check_condition, check_expressions, is_python

LOST = "{:,} row{} lost: the program could not write what it collected{}"


def mine(
    call: Call, requested: Sequence[tuple[str, RequestedBreakpoint]], adapter: str = ""
) -> Sequence[tuple[str, RequestedBreakpoint]]:
    """Return an adapter's breakpoints (with path); those that collect are marked as their client's.

    Raises:
        ArgumentError: An expression does not parse; nothing has happened.
    """
    for path, each in requested:
        check_breakpoint(call.debugger, path, each, adapter)
        if "collect" in each:
            each["collectedBy"] = call.focus.key
    return requested


def is_of_another(call: Call, requested: RequestedBreakpoint) -> bool:
    """Whether a breakpoint collects for another client."""
    return requested.get("collectedBy", call.focus.key) != call.focus.key


def of_caller(
    call: Call, breakpoints: Sequence[BreakpointArgument], program: str
) -> tuple[list[tuple[str, RequestedBreakpoint]], list[RequestedFunction]]:
    """Return a caller's breakpoints with their files, and the functions at which to collect.

    Raises:
        ArgumentError: One cannot be; nothing has happened.
    """
    every = [each.requested() for each in breakpoints]
    functions = [each for each in every if not isinstance(each, tuple)]
    check_at(call, functions, program)
    return [each for each in every if isinstance(each, tuple)], functions


def check_at(call: Call, requested: Sequence[RequestedFunction], program: str = "") -> None:
    """Look whether what is collected at functions parses, and note who has asked for it.

    Args:
        call: Who asks.
        requested: The functions.
        program: What is started; empty: it is not known.

    Raises:
        ArgumentError: An expression does not parse; nothing has happened.
    """
    live = [each for each in call.debugger.sessions.values() if not each.mirror.ended]
    traced = all(each.lines.tracers for each in live)
    for each in requested:
        # Only Python's programs tell calls.
        named = is_python(call.debugger, program) if program else traced and ":" not in each["name"]
        python = each["calls"] or named
        check_expressions(each["collect"], python=python)
        check_condition(each.get("condition") or "True", python=python)
        each["collectedBy"] = call.focus.key


def visible(call: Call, session: Session) -> list[Collection]:
    """Return what a client has collected in a program, those of its collections that have rows."""
    collections = session.program.collected.collections.values()
    clients = {"", call.focus.key}
    return [each for each in collections if each.point.client in clients and not each.point.aside]


@dataclass(frozen=True, slots=True)
class CollectedNews:
    """What was collected since a client's last answer."""

    lines: Sequence[str]
    until: Sequence[str]
    """What became of runs until something."""
    came_about: bool
    """One of these has come about."""


def news(call: Call, session: Session) -> CollectedNews:
    """Return what was collected since the client's last answer; it counts as reported now."""
    # The program's end is shown by its first session.
    others = [each for each in session.program.sessions if each is not session]
    shown = [session, *(each for each in others if session.over and each.over)]
    ends = [end for each in shown for end in each.watching.news(each.project)]
    # The line that has stopped it is in what became of the run.
    stopping = [watch.point for watch, _, _ in ends if not watch.every]
    found = [each for each in visible(call, session) if each.is_news(call.focus.key)]
    rest = [each for each in found if not any(each.point is point for point in stopping)]
    lines = [*section(rest, session.project, call.focus.key), *_lost(call, session)]
    for each in found:
        each.mark_reported(call.focus.key)
    return CollectedNews(lines, [text for _, text, _ in ends], any(done for *_, done in ends))


def _lost(call: Call, session: Session) -> Iterator[str]:
    """Yield how many rows the program could not write, where the client does not know that."""
    collected = session.program.collected
    mine = any(each.client in {"", call.focus.key} for each in collected.points.values())
    if mine and (lost := collected.newly_lost(call.focus.key)):
        why = f" ({collected.lost_for})" if collected.lost_for else ""
        yield LOST.format(lost, "" if lost == 1 else "s", why)
