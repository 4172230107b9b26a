"""The states of a program's breakpoints that its caller should know. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dapeer.base.sources import relative
from dapeer.base.text.fitting import quoted, shortened
from dapeer.collecting.rows.collection import TRACER
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.requests import can
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.breakpoints.awaited import Awaited
from dapeer.sessions.breakpoints.breakpoints import OPTIONS, Breakpoints, answered, unsupported
from dapeer.sessions.core.session import Session
from dapeer.sessions.outcomes.at_functions import REASON_CHARS, State, at_functions, doubt, reason
from dapeer.view.render import breakpoint_state
from dapeer.view.snapshot import KILLED

MAX_LISTED_BREAKPOINTS = 10
"""Breakpoints of one state."""
UNMET = "has reported no code of it"
UNFOLLOWED = ", and follows no other program that this one starts"
UNPROVEN: Collection[State] = {"not hit", "never called", "never ended"}
"""What only an adapter that sees the whole program can tell."""
NO_SUCH_FILES = "debugs no such files; debug the program that they are of by itself"
NAMES = {"condition": "conditions", "hitCondition": "hit conditions", "logMessage": "log points"}
"""Names of the options of breakpoints."""


@dataclass(frozen=True, slots=True)
class BreakpointOutcome:
    """The state of one breakpoint."""

    state: State
    path: str
    line: int
    detail: str = ""
    requested: RequestedBreakpoint | None = field(default=None, compare=False)
    """The breakpoint, where there may be a doubt whether the program came to it.

    To find out takes long, so it is done only for those that are listed.
    """

    @property
    def key(self) -> tuple[str, str, int]:
        """Identifies a state that is reported once."""
        return self.state, self.path, self.line


@dataclass(frozen=True, slots=True)
class BreakpointOutcomes:
    """The outcomes that a caller does not know yet, as text by state."""

    by_state: Mapping[str, list[str]]
    _keys: Collection[tuple[str, str, int]]
    _known: object
    _awaited: Awaited

    def mark_reported(self) -> None:
        """Take note that the caller knows them."""
        self._awaited.mark_reported(self._keys, self._known)


def unreported(
    session: Session,
    breakpoints: Breakpoints,
    *,
    mute: bool = False,
    hits: str = "",
    cut_short: bool = False,
) -> BreakpointOutcomes:
    """Return the breakpoints that did not work as requested, as far as the caller does not know it.

    Those of the program that are meant: that were set for it, or in files that it has loaded. At its
    end all are named that it never had, or never came to; the latter also where an exception is about to
    end it. An adapter that is `mute` takes a condition that it cannot evaluate for one that does not hold;
    one of whose hit conditions `hits` is the pattern takes no notice of others. Of a program that is `cut_short` those are named that it has not come to by then.
    """
    program = session.program
    first, sessions, ended = program.first, program.debugged, not program.runs
    # If a tool has ended the program or detached, the breakpoint might still have been hit.
    lost = any(each.adapter_lost for each in (first, *sessions))
    own = lost or cut_short or first.cause is None or KILLED in first.cause
    final = own and (ended or any(map(_ends_it, sessions)))
    awaited, known = first.program.awaited, _known(first, sessions, breakpoints)
    if known == awaited.reported_from and not (ended or final):
        return BreakpointOutcomes({}, (), known, awaited)
    found = dict.fromkeys(_outcomes(first, sessions, breakpoints, ended=ended, final=final))
    found |= dict.fromkeys(
        BreakpointOutcome(state, name, 0, why)
        for state, name, why in at_functions(first, sessions, breakpoints, final=final)
    )
    found |= {} if ended else dict.fromkeys(_ignored(first, sessions, breakpoints, hits))
    if lost and not cut_short:
        found = dict.fromkeys(_unproven(first, each) for each in found)
    new = found if ended else [each for each in found if each.key not in awaited.reported]
    texts = _texts(first, new, mute=mute)
    return BreakpointOutcomes(texts, [each.key for each in new], known, awaited)


def _unproven(first: Session, outcome: BreakpointOutcome) -> BreakpointOutcome:
    """Return an outcome as what it is where the adapter ended first: perhaps at this very breakpoint."""
    if outcome.state not in UNPROVEN and UNMET not in outcome.detail:
        return outcome
    why = f" ({first.adapter} ended before it could tell)"
    return replace(outcome, state="not known", detail=why, requested=None)


def _texts(first: Session, new: Iterable[BreakpointOutcome], *, mute: bool) -> dict[str, list[str]]:
    by_state: dict[str, list[BreakpointOutcome]] = {}
    for each in new:
        by_state.setdefault(each.state, []).append(each)
    return {state: [*_bounded(first, every, mute=mute)] for state, every in by_state.items()}


def _bounded(first: Session, outcomes: Sequence[BreakpointOutcome], *, mute: bool) -> Iterator[str]:
    """Yield the first outcomes of one state, and how many more there are."""
    for each in outcomes[:MAX_LISTED_BREAKPOINTS]:
        yield _text(first, each, mute=mute)
    if (left := len(outcomes) - MAX_LISTED_BREAKPOINTS) > 0:
        yield f"{left} more: dap_breakpoints"


def _text(first: Session, outcome: BreakpointOutcome, *, mute: bool) -> str:
    """Return a place, and the reason where it was not reported yet."""
    path, line, reported = outcome.path, outcome.line, first.program.awaited.reported
    at = f"{relative(path, first.project)}:{line}" if line else quoted(path)
    if reported & {outcome.key, ("rejected", path, line)}:
        return at
    unsure = outcome.requested and doubt(first, path, outcome.requested, mute=mute)
    return f"{at}{outcome.detail}{unsure or ''}"


def _known(first: Session, sessions: Sequence[Session], breakpoints: Breakpoints) -> object:
    """Return something that differs when something else may be told while the program goes on.

    That the program has come to a breakpoint is not part of it: then there is less to tell.
    """
    awaited = first.program.awaited
    mirrors = [
        (
            each.id,
            each.mirror.placed.news,
            each.mirror.loaded.news,
            each.mirror.process.get("name"),
            [can(each.mirror.capabilities, one) for one in (*OPTIONS, "setFunctionBreakpoints")],
            each.lines.road,
        )
        for each in sessions
    ]
    return breakpoints.news, len(awaited.places), len(awaited.kept_from), mirrors


def as_loaded(session: Session, path: str, requested: RequestedBreakpoint) -> RequestedBreakpoint:
    """Return a breakpoint as its adapter has it: on the line that it had before the file changed."""
    change = session.inspect.editions.known(path)
    if change is None:
        return requested
    then = change.line_then(requested["line"])
    lines = {sent["line"] for sent, _ in session.mirror.breakpoints.get(path, ())}
    return {**requested, "line": then} if then is not None and then in lines else requested


def _outcomes(
    first: Session,
    sessions: Sequence[Session],
    breakpoints: Breakpoints,
    *,
    ended: bool,
    final: bool,
) -> Iterator[BreakpointOutcome]:
    mirrors = [each.mirror for each in sessions]
    loaded = _loaded(mirrors)
    failed = {(of.path, of.line) for each in mirrors for of in each.failures}
    for path in breakpoints.paths:
        changed = [each for each in sessions if each.inspect.editions.known(path) is not None]
        for each in breakpoints.of(path):
            place = path, each["line"]
            if place in first.program.awaited.kept_from:
                continue
            if place in first.program.awaited.places or path in loaded:
                if why := _why_not_collected(first, sessions, breakpoints, path, each):
                    yield BreakpointOutcome("not collected", path, each["line"], f" ({why})")
                    continue
                then = (as_loaded(session, path, each) for session in changed)
                sent = next((one for one in then if one is not each), each)
                # Where a part of it has failed, the program has come there, though the adapter may not have told that it is bound.
                tried = (path, sent["line"]) in failed
                for found in _outcome(
                    first, mirrors, path, sent, ended=ended, final=final, tried=tried
                ):
                    doubtful = each if found.state == "not hit" else None
                    yield replace(found, line=each["line"], requested=doubtful)


def _why_not_collected(
    first: Session,
    sessions: Sequence[Session],
    breakpoints: Breakpoints,
    path: str,
    requested: RequestedBreakpoint,
) -> str:
    """Say why nothing is collected at a breakpoint that should; empty: it is."""
    roads = {session.lines.road for session in sessions} - {""}
    if "collect" not in requested or TRACER in roads:
        return ""
    if roads:
        stops, _ = breakpoints.on(path, requested["line"])
        return f"{first.adapter} cannot collect where a breakpoint stops" if stops else ""
    if not first.lines.sees_output:
        return f"{first.adapter} cannot in a session of Neovim"
    return f"{first.adapter} has no log points"


def _ignored(
    first: Session, sessions: Sequence[Session], breakpoints: Breakpoints, hits: str
) -> Iterator[BreakpointOutcome]:
    """Yield the breakpoints of a program with options that its adapter ignores."""
    places = first.program.awaited.places
    for path in dict.fromkeys(path for path, _ in places):
        for each in breakpoints.of(path):
            line = each["line"]
            if (path, line) not in places or not any(option in each for option in OPTIONS):
                continue
            answers = [s for s in sessions if answered(s.mirror, path, each) is not None]
            lacking = [NAMES[option] for s in answers[:1] for option in unsupported(s.mirror, each)]
            count = str(each.get("hitCondition") or "")
            if not answers:
                continue
            if lacking:
                why = f" ({first.adapter} has no {' and no '.join(lacking)})"
                yield BreakpointOutcome("stops anyway", path, line, why)
            elif count and hits and not re.fullmatch(hits, count.strip()):
                why = f" ({first.adapter} does not understand the hit condition `{shortened(count, REASON_CHARS)}`)"
                yield BreakpointOutcome("stops anyway", path, line, why)


def _outcome(
    first: Session,
    mirrors: Sequence[Mirror],
    path: str,
    requested: RequestedBreakpoint,
    *,
    ended: bool,
    final: bool,
    tried: bool,
) -> Iterator[BreakpointOutcome]:
    """Yield what to report of one breakpoint: nothing, if the program has hit it."""
    line = requested["line"]
    # Log messages of breakpoints that an editor has set cannot be told from the program's output.
    printed = first.feed is not None and _may_have_printed(first, requested.get("logMessage", ""))
    made = [each for m in mirrors if (each := answered(m, path, requested)) is not None]
    states = {breakpoint_state(each) for each in made}
    reached = any(_reached(mirror, path, line) for mirror in mirrors)
    if reached or tried or "verified" in states:
        at = next((each.get("line", line) for each in made if each.get("verified")), line)
        moved = f" → {at}" if at != line else ""
        if moved and ("collect" in requested or not (ended and reached)):
            yield BreakpointOutcome(
                "not hit" if ended and not reached else "moved", path, line, moved
            )
        elif final and not reached and not printed:
            yield BreakpointOutcome("not hit", path, line)
    elif not made:
        errors = (each.placed.unanswered.get(path) for each in mirrors)
        unasked = "had not begun to debug" if first.takes(path) else NO_SUCH_FILES
        error = next(filter(None, errors), unasked)
        why = f" ({first.adapter} {shortened(' '.join(error.split()), REASON_CHARS)})"
        yield BreakpointOutcome("never bound" if ended else "rejected", path, line, why)
    else:
        pending = "pending" in states
        alone = "" if first.follows_children() else UNFOLLOWED
        unmet = f" ({first.adapter} {UNMET}{alone})" if ended else ""
        why = unmet if pending else reason(str(each.get("message") or "") for each in made)
        yield BreakpointOutcome(
            "never bound" if ended else "pending" if pending else "rejected", path, line, why
        )


def _may_have_printed(first: Session, message: str) -> bool:
    """Whether a log message may be in a program's output, judged by its literal parts."""
    parts = [part for part in re.split(r"\{[^{}]*\}", message) if part.strip()]
    log = first.program.output.read()
    return bool(message) and (log.dropped > 0 or all(part in log.text for part in parts))


def _ends_it(session: Session) -> bool:
    """Whether the first thread of a process has stopped at an uncaught exception."""
    stop = session.mirror.stop
    first = next(iter(session.mirror.threads), None)
    if stop is None or stop.exception is None or stop.thread_id != first:
        return False
    return stop.exception.get("breakMode") == "unhandled"


def _reached(mirror: Mirror, path: str, line: int) -> bool:
    """Whether a program was seen at a breakpoint, or its log message."""
    logged = (path, line) in mirror.printed.logged.points
    return logged or (path, line) in mirror.placed.reached or mirror.gathered.reached(path, line)


def _loaded(mirrors: Iterable[Mirror]) -> set[str]:
    """Return the files that adapters have reported, and those of the programs themselves."""
    paths: set[str] = set()
    for mirror in mirrors:
        paths |= mirror.loaded.sources.keys()
        paths.add(os.path.normpath(str(mirror.process.get("name") or "")))
    return paths
