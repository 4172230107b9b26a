"""A tool that compares runs that have collected the same."""

from __future__ import annotations

from collections.abc import Sequence

from dapeer.base.errors import ArgumentError, NoSession
from dapeer.base.sources import relative_to_project
from dapeer.base.system.threads import in_thread
from dapeer.base.text.lines import lines_of
from dapeer.collecting.divergence import (
    ComparisonReport,
    RunComparison,
    compare_runs,
    pair_points,
    rows_of_run,
)
from dapeer.collecting.rows.collected import Collected, Point
from dapeer.sessions.core.session import Session
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import Section, tool

MAX_NAMED_POINTS = 5
"""Points of a run that are named."""


@tool("Compare runs", section=Section.LOOK, read_only=True)
async def dap_compare(call: Call, a: int, b: int) -> Reply:
    """Tell where two runs (session ids) that `collect` the same part: control flow or values, and the rows before.

    `a` and `b` are ids of sessions of two programs, also ended ones, whose rows are kept. Rows that the
    programs have written by now are read first. Rows are compared thread by thread, at points (places that
    collect) that both runs have; what was not compared is named in the text. The data has `a`, `b`, counts
    (`rows` of both, `alike`, `changed`, `only_a`, `only_b`), and if the runs differ, `kind` (`data` or
    `flow`) and `parting`, the rows of both at the first difference.

    Raises:
        NoSession: One of them is not there any more, or never was.
        ArgumentError: Both are sessions of one program, one has no rows or its rows were given up for later
            runs, or they have no point in common.
    """
    runs = [_session_of_run(call, each) for each in (a, b)]
    if runs[0].program is runs[1].program:
        raise ArgumentError("`a` and `b` are one run.", "Name another one.")
    for each in runs:
        await each.program.read_rows()
    points = [_points(call, each) for each in runs]
    common = pair_points(*points)
    if not common:
        shown = "; ".join(
            f"{each.id} at {_name_points(of, call)}" for each, of in zip(runs, points, strict=True)
        )
        raise ArgumentError(
            f"The two runs collect at different points: session {shown}.",
            "Run one again with the breakpoints of the other.",
        )
    mine, other = (
        rows_of_run(
            session.program.collected, {pair[which].number: n for n, pair in enumerate(common)}
        )
        for which, session in enumerate(runs)
    )
    found = await in_thread(compare_runs, mine, other)
    shown = ComparisonReport(found, common, call.debugger.project)
    lines = [_title(found, a, b), *shown.lines(), *_lines_on_uncompared(runs, points, common, call)]
    return Reply(lines_of(lines), {"a": a, "b": b, **shown.data()})


def _session_of_run(call: Call, number: int) -> Session:
    """Return the session with the id `number`, live or ended, also if its program's rows were given up.

    Raises:
        NoSession: No session has had this id, or the one that had it is not kept any longer.
    """
    sessions = call.debugger.sessions
    if 0 < number < max(sessions, default=0) and number not in sessions:
        kept = ", ".join(map(str, sessions))
        raise NoSession(
            f"Session {number} is not kept any longer.", f"Run it again, or compare {kept}."
        )
    return call.debugger.sessions.require_session(number)


def _points(call: Call, session: Session) -> list[Point]:
    """Return the points at which the client of `call` has collected in a run, without those of watches.

    Points that nobody in particular has asked for are among them, and points without a row, as long as one of all has rows.

    Raises:
        ArgumentError: There are no points, none of them has rows, or the rows were given up for those of later runs.
    """
    collected = session.program.collected
    if collected.has_dropped_rows:
        raise ArgumentError(
            f"The rows of session {session.id} were given up for those of later runs.",
            "Run it again.",
        )
    clients = {"", call.focus.key}
    points = collected.points.values()
    found = [each for each in points if each.client in clients and not each.watch]
    numbers = {each.number for each in found}
    if not any(
        number in numbers and len(each.table) for (_, number), each in collected.collections.items()
    ):
        where = f" at {_name_points(found, call)}" if found else ""
        raise ArgumentError(
            f"Session {session.id} has collected nothing{where}.",
            "Its breakpoints need `collect`, and to be reached.",
        )
    return found


def _name_points(points: Sequence[Point], call: Call) -> str:
    """Return some points as text, each with its place and its expressions.

    The text reads `src/a.py:7 (x, y), load (n), 2 more`: the place is the function's name, or the path
    relative to the project of `call`, and the line. At most `MAX_NAMED_POINTS` are named, and others counted.
    Without points the text is empty.
    """
    named = [
        f"{each.function or f'{relative_to_project(each.path, call.debugger.project)}:{each.line}'} ({', '.join(each.expressions)})"
        for each in points
    ]
    left = len(named) - MAX_NAMED_POINTS
    return ", ".join([*named[:MAX_NAMED_POINTS], *([f"{left} more"] if left > 0 else [])])


def _title(found: RunComparison, a: int, b: int) -> str:
    """Return a line on which sessions are compared, with how many rows."""
    return f"a: session {a}, {len(found.run_a):,} rows; b: session {b}, {len(found.run_b):,} rows"


def _lines_on_uncompared(
    runs: Sequence[Session],
    points: Sequence[Sequence[Point]],
    common: Sequence[tuple[Point, Point]],
    call: Call,
) -> list[str]:
    """Return lines on what was not compared: other points, rows dropped at common ones; empty: all was.

    `runs` are the two sessions, `points` the points of each, and `common` the pairs of points that both
    have.
    """
    lines: list[str] = []
    for which, (session, of) in enumerate(zip(runs, points, strict=True)):
        name, shared = "ab"[which], [pair[which] for pair in common]
        if other := [each for each in of if each not in shared]:
            lines.append(f"(only {name} collects at {_name_points(other, call)}: not compared)")
        if dropped := _dropped(session.program.collected, shared):
            lines.append(f"({name} has dropped {dropped:,} rows, which are not compared)")
    return lines


def _dropped(collected: Collected, points: Sequence[Point]) -> int:
    """Return how many rows of these points were dropped in all processes."""
    return sum(each.dropped for each in collected.collections.values() if each.point in points)
