"""Functions at which a program does not stop or collect, and doubts about what was not hit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dapeer.base.sources import names_beside
from dapeer.collecting.points import LATE, without_calls
from dapeer.collecting.rows.collection import TRACER
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, function_breakpoint
from dapeer.mirror.breakpoint_status import Placed
from dapeer.mirror.failures import TRACING
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.session import Session
from dapeer.sessions.outcomes.verdicts import State, quoted_reason
from dapeer.view.render import breakpoint_state

NO_FUNCTIONS = "has no function breakpoints: set one on a line of it"
NEVER_HELD = " (or its condition never held)"
OF_LIBRARY = " (a library's function needs its module: `json.dumps`)"
"""Said behind the last of those without a module: they are of the program's own code."""
HELD = " (its condition never held, or could not be evaluated: the adapter does not report which)"
STARTED = " (or in a process that it started: {} follows none)"
UNSEEN = " (or not seen: tracing failed)"


def at_functions(
    first: Session, sessions: Sequence[Session], breakpoints: Breakpoints, *, final: bool
) -> Iterator[tuple[State, str, str]]:
    """Yield state, name and reason of each function where the program does not stop or collect.

    `first` is the program's first session, `sessions` are those with a process. With `final` (the program comes to no more breakpoints)
    also those that were not hit, or never called. Only functions that this program awaits are judged.
    """
    yield from _with_hint(first, _not_stopping(first, sessions, breakpoints, final=final))
    yield from _with_hint(first, _not_collecting(first, sessions, breakpoints, final=final))


def _not_stopping(
    first: Session, sessions: Sequence[Session], breakpoints: Breakpoints, *, final: bool
) -> Iterator[tuple[State, str, str]]:
    """Yield state, name and reason of each function breakpoint that is rejected, pending, or was not hit."""
    able = [each for each in sessions if each.supports("setFunctionBreakpoints")]
    for text in breakpoints.functions:
        name = function_breakpoint(text)["name"]
        if sessions and not able:
            yield "rejected", text, f" ({first.adapter} {NO_FUNCTIONS})"
        if not able or (text, 0) not in first.program.awaited.places:
            continue
        placed = [each.mirror.placed for each in able]
        if not final:
            yield from _unverified(text, name, placed)
            continue
        sent = any(name == known for each in placed for known, _ in each.functions)
        if sent and not any(each.reaches_function(name) for each in placed):
            yield "not hit", text, NEVER_HELD if name != text else unseen(first)


def _unverified(text: str, name: str, placed: Sequence[Placed]) -> Iterator[tuple[State, str, str]]:
    """Yield a function breakpoint that no adapter has confirmed, if the program was not seen at it.

    It is yielded at most once, as state ("pending" or "rejected"), text and reason. `text` is what the user gave, `name` the function's
    name in it, `placed` the breakpoints of each adapter.
    """
    made = [each for one in placed for known, each in one.functions if known == name]
    seen = any(each.reaches_function(name) for each in placed)
    states = {breakpoint_state(each) for each in made}
    if made and not seen and "verified" not in states:
        why = quoted_reason(str(each.get("message") or "") for each in made)
        yield "pending" if "pending" in states else "rejected", text, why


def _not_collecting(
    first: Session, sessions: Sequence[Session], breakpoints: Breakpoints, *, final: bool
) -> Iterator[tuple[State, str, str]]:
    """Yield state, name and reason of each function where the program should collect and does not."""
    for (_, title), point in breakpoints.collecting.items():
        if (title, 0) not in first.program.awaited.places:
            continue
        why = [each.lines.why_not_at(point, first.adapter) for each in sessions]
        made = [m for each in sessions if (m := each.mirror.placed.collecting_at.get(title))]
        if all(why) and why:
            yield "not collected", title, f" ({why[0]})"
        elif made and not any(each.get("verified") or "reason" in each for each in made):
            yield "rejected", title, quoted_reason(str(m.get("message") or "") for m in made)
        elif final:
            never = without_calls(first.program.collected, point["name"], calls=point["calls"])
            held = NEVER_HELD if "condition" in point else unseen(first)
            for state, each, late in never:
                yield state, each, held or late


def _with_hint(
    first: Session, found: Iterable[tuple[State, str, str]]
) -> Iterator[tuple[State, str, str]]:
    """Yield each of `found`; the last Python function without a module gets a hint on library functions.

    The hint is added only to one that was not hit or called, and that has no reason yet.
    """
    every = list(found)
    bare = [
        each
        for each in every
        if each[0] in {"not hit", "never called"} and "." not in each[1] and not each[2]
    ]
    for each in every:
        hinted = bare and each is bare[-1] and first.lines.road == TRACER
        yield (each[0], each[1], OF_LIBRARY) if hinted else each


def doubt(first: Session, path: str, requested: RequestedBreakpoint, *, mute: bool) -> str:
    """Return why a breakpoint may have had no hit though the program came to it; empty: no doubt.

    The text is in brackets, to stand behind the place. A `mute` adapter does not report conditions that could not be evaluated.
    """
    if mute and "condition" in requested:
        return HELD
    late = first.inspect.editions.is_late(path, requested["line"])
    _, lines = first.inspect.editions.window(path, 1, requested["line"] - 1) or (1, [])
    hint = replaced_by(first, path) or first.advice.of_not_hit(path, lines)
    known = unseen(first) or (LATE if late else "") or (f" ({hint})" if hint else "")
    # That reads all libraries of a compiled program.
    return known or (STARTED.format(first.adapter) if first.may_run_elsewhere(path) else "")


def replaced_by(first: Session, path: str) -> str:
    """Return a clause on what runs in place of a file, such as a compiled module beside it.

    Empty: nothing is known.
    """
    return first.advice.of_beside(path, names_beside(path))


def why_unbound(first: Session, path: str, line: int, why: str) -> str:
    """Return why a breakpoint on a line of a file is not bound; empty if no more is known than `why`.

    That is the adapter's own reason.
    """
    _, lines = first.inspect.editions.window(path, 1, line - 1) or (1, [])
    return first.advice.of_unbound(why, path, lines)


def unseen(first: Session) -> str:
    """Return a doubt in brackets if tracing has failed in the program, so that hits were missed; else ""."""
    return UNSEEN if any(each.kind == TRACING for each in first.program.failures) else ""
