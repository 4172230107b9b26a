"""Why a program may have come to a breakpoint though nothing has told so. Pure."""

from __future__ import annotations

from dapeer.collecting.points import LATE
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.mirror.failures import TRACING
from dapeer.sessions.core.session import Session

HELD = " (its condition never held, or could not be evaluated: the adapter does not report which)"
STARTED = " (or in a process that it started: {} follows none)"
UNSEEN = " (or not seen: tracing failed)"


def doubt(first: Session, path: str, requested: RequestedBreakpoint, *, mute: bool) -> str:
    """Return a doubt about a breakpoint without a hit; a `mute` adapter reports no failed conditions."""
    if mute and "condition" in requested:
        return HELD
    late = first.inspect.editions.is_late(path, requested["line"])
    _, lines = first.inspect.editions.window(path, 1, requested["line"] - 1) or (1, [])
    hint = first.advice.of_not_hit(path, lines)
    known = unseen(first) or (LATE if late else "") or (f" ({hint})" if hint else "")
    # That reads all libraries of a compiled program.
    return known or (STARTED.format(first.adapter) if first.may_run_elsewhere(path) else "")


def unseen(first: Session) -> str:
    """Return a doubt about all that was not seen of a program that has ended its debugger's tracing."""
    return UNSEEN if any(each.kind == TRACING for each in first.program.failures) else ""
