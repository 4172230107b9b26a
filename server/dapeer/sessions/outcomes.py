"""The states of a program's breakpoints that its caller should know. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dapeer.base.sources import names_beside, relative_to_project
from dapeer.base.text.fitting import quoted, shortened
from dapeer.collecting.points import LATE, functions_without_rows
from dapeer.collecting.rows.collected import TRACER
from dapeer.dap.requested_breakpoints import (
    RequestedBreakpoint,
    function_breakpoint,
    place_in_file,
    spot_of,
)
from dapeer.dap.requests import is_supported
from dapeer.mirror.breakpoint_status import BreakpointStatuses
from dapeer.mirror.failures import TRACING
from dapeer.mirror.mirror import Mirror
from dapeer.sessions.breakpoints.breakpoints import (
    OPTIONS,
    Breakpoints,
    adapter_answer,
    unsupported,
)
from dapeer.sessions.core.program import AwaitedBreakpoints, OutcomeKey
from dapeer.sessions.core.session import Session
from dapeer.view.render import answered_state, breakpoint_state
from dapeer.view.snapshot import KILLED

# What became of one breakpoint of a program: a pure function of the facts that are known of it.

State = Literal[
    "rejected", "moved", "pending", "stops anyway", "not collected", "never bound", "not hit", "never called",
    "never ended", "not known", "renamed",
]  # fmt: skip
REASON_CHARS = 160
"""Characters of an adapter's reason."""
UNMET = "has reported no code of it"
UNFOLLOWED = ", and follows no other program that this one starts"
NO_SUCH_FILES = "debugs no such files; debug the program that they are of by itself"
NO_CHILD = "no child of that language was debugged"
NO_CHILD_YET = "no child of that language is debugged yet"
NOT_BEGUN = "had not begun to debug"


class Verdict(NamedTuple):
    """A state that the caller should know."""

    state: State
    detail: str = ""
    """Follows the place: ` (a reason)`, or ` → line`; empty if there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakpointAnswer:
    """What the adapter of one process has answered for a breakpoint."""

    state: Literal["verified", "pending", "rejected"]
    line: int
    """Where it is; the requested line if the adapter names none."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakpointFacts:
    """What is known of one breakpoint on a line."""

    adapter: str
    line: int
    """The line that was sent to the adapter."""
    answers: tuple[BreakpointAnswer, ...] = ()
    """One for each process whose adapter has got it."""
    is_reached: bool = False
    """A process was seen there: it stopped, printed the log message or collected a row."""
    has_failed: bool = False
    """A condition or expression of it has failed, so a process has been there."""
    may_have_printed: bool = False
    """Its log message may be among the output, where that cannot be told apart."""
    collects: bool = False
    not_collected: str = ""
    """Why nothing is collected there; empty: it is, or need not be."""
    is_over: bool = False
    """The program has ended."""
    is_final: bool = False
    """It has ended by itself or is about to, so it comes to no more breakpoints."""
    adapter_ended_first: bool = False
    """The adapter ended before the program, perhaps at this very breakpoint."""
    refusal: str = ""
    """What the adapter said of a request for this file's breakpoints that failed; empty: nothing."""
    rejection_reason: str = ""
    """Why the adapter has rejected the breakpoint, if more is known than it says; empty: it is not."""
    runs_instead: str = ""
    """What the program runs in place of the file, where the adapter has not got the breakpoint."""
    name_in_program: str = ""
    """What is known of the program's own name of the file, where that differs; empty: nothing."""
    debugs_such_files: bool = True
    awaits_children: bool = False
    """Programs of the file's language that this one starts are debugged."""
    follows_children: bool = True
    ignored_options: tuple[str, ...] = ()
    """Plural names of the breakpoint's options that the adapter lacks: `log points`."""
    unknown_hit_condition: str = ""
    """Its hit condition, if the adapter does not understand it."""


def verdicts_of(facts: BreakpointFacts) -> Iterator[Verdict]:
    """Yield what the caller should know of a breakpoint; nothing if all of it works, or has worked.

    `facts` is what is known of the breakpoint. The first verdict, if any, is about its place, or is "not
    collected" instead. While the program goes on, and once an adapter has answered, two more may follow:
    "stops anyway" (the adapter ignores an option, or does not understand the hit condition) and, if a process
    has the breakpoint bound, "renamed" (the program has its own name of the file). If the adapter has ended
    before the program, "not known" replaces a verdict that the program never came there.
    """
    if facts.not_collected:
        yield Verdict("not collected", f" ({facts.not_collected})")
    else:
        verdict = _verdict_on_place(facts)
        if verdict is not None:
            unproven = facts.adapter_ended_first and _is_unproven(verdict)
            yield unknown_verdict(facts.adapter) if unproven else verdict
    if facts.answers and not facts.is_over:
        yield from _verdicts_on_options(facts)
        if facts.name_in_program and any(each.state == "verified" for each in facts.answers):
            yield Verdict("renamed", f" ({facts.name_in_program})")


def unknown_verdict(adapter: str) -> Verdict:
    """Return the verdict "not known", for an adapter that has ended before it could tell."""
    return Verdict("not known", f" ({adapter} ended before it could tell)")


def quoted_reason(messages: Iterable[str]) -> str:
    """Return the first message that says something, shortened and in brackets; empty if none does."""
    message = next(filter(None, (" ".join(message.split()) for message in messages)), "")
    return f" ({shortened(message, REASON_CHARS)})" if message else ""


def _is_unproven(verdict: Verdict) -> bool:
    """Return whether a verdict would be wrong if the adapter has missed something."""
    return verdict.state == "not hit" or UNMET in verdict.detail


def _verdict_on_place(facts: BreakpointFacts) -> Verdict | None:
    """Return the verdict on a breakpoint's place; None: there is nothing to tell of its place.

    A breakpoint that no adapter has verified, that the program has not reached, and of which no evaluation has
    failed, is "rejected" or "pending" while the program goes on, and "never bound" once it has ended. Any other
    breakpoint is "moved" or "not hit", or None if all is well, as `_verdict_on_bound` decides. The verdict's
    detail is the line to which it was moved (` → 12`), or the reason in brackets, if there is one; "not hit" of a
    breakpoint on its own line has none.
    """
    states = {each.state for each in facts.answers}
    if facts.is_reached or facts.has_failed or "verified" in states:
        return _verdict_on_bound(facts)
    if not facts.answers and facts.awaits_children:
        if facts.is_over:
            return Verdict("never bound", f" ({NO_CHILD})")
        return Verdict("pending", f" ({NO_CHILD_YET})")
    if not facts.answers:
        unasked = NOT_BEGUN if facts.debugs_such_files else NO_SUCH_FILES
        reason = shortened(" ".join((facts.refusal or unasked).split()), REASON_CHARS)
        state = "never bound" if facts.is_over else "rejected"
        return Verdict(state, f" ({facts.runs_instead or f'{facts.adapter} {reason}'})")
    if facts.name_in_program:
        state = "never bound" if facts.is_over else "pending" if "pending" in states else "rejected"
        return Verdict(state, f" ({facts.name_in_program})")
    if "pending" in states:
        alone = "" if facts.follows_children else UNFOLLOWED
        if not facts.is_over:
            return Verdict("pending", f" ({facts.adapter} {UNMET} yet)")
        return Verdict("never bound", f" ({facts.adapter} {UNMET}{alone})")
    why = (
        f" ({facts.rejection_reason})"
        if facts.rejection_reason
        else quoted_reason(each.message for each in facts.answers)
    )
    return Verdict("never bound" if facts.is_over else "rejected", why)


def _verdict_on_bound(facts: BreakpointFacts) -> Verdict | None:
    """Return "moved" or "not hit" for a breakpoint that is bound or was reached; None: nothing to tell.

    If the first adapter that has bound it did so on another line than was sent, the verdict is "moved", with the
    detail ` → LINE`. Once the program has ended, it is "not hit" with this detail if the program was not seen
    there, and None if it was, unless the breakpoint collects: then it stays "moved". A breakpoint on its own line
    is "not hit", without a detail, once the program comes to no more breakpoints (`is_final`), if it was not seen
    there, nor may have printed the log message. Until then the result is None for it.
    """
    bound = next((each for each in facts.answers if each.state == "verified"), None)
    has_moved = bound is not None and bound.line != facts.line
    is_hit = facts.is_over and facts.is_reached
    if bound is not None and has_moved:
        # Rows name their own line, so the caller is told of the move also at the end.
        if is_hit and not facts.collects:
            return None
        missed = facts.is_over and not facts.is_reached
        return Verdict("not hit" if missed else "moved", f" → {bound.line}")
    if facts.is_final and not facts.is_reached and not facts.may_have_printed:
        return Verdict("not hit")
    return None


def _verdicts_on_options(facts: BreakpointFacts) -> Iterator[Verdict]:
    """Yield one verdict if the program stops anyway, because the adapter ignores an option; else nothing.

    Its state is `stops anyway`, and its detail says, in parentheses, which options of the breakpoint the
    adapter lacks, or, if it lacks none, which hit condition it does not understand. `facts` are those of the
    breakpoint.
    """
    if facts.ignored_options:
        names = " and no ".join(facts.ignored_options)
        yield Verdict("stops anyway", f" ({facts.adapter} has no {names})")
    elif facts.unknown_hit_condition:
        condition = shortened(facts.unknown_hit_condition, REASON_CHARS)
        yield Verdict(
            "stops anyway",
            f" ({facts.adapter} does not understand the hit condition `{condition}`)",
        )


# Functions at which a program does not stop or collect, and doubts about what was not hit. Pure.

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
    """Yield each function breakpoint that is rejected, pending, or was not hit: state, name, reason.

    The name is as the user gave it in `breakpoints`. `first` is the program's first session, `sessions` are
    those with a process. The reason is in brackets with a blank before, or empty. "not hit" comes only with
    `final`: the program comes to no more breakpoints; "pending" and "rejected" only without it. But if
    `sessions` are not empty, and none of their adapters has function breakpoints, each is "rejected" in
    either case. Apart from that, a breakpoint that this program does not await (`awaited_breakpoints`), or
    that no adapter was sent, is left out.
    """
    able = [each for each in sessions if each.supports("setFunctionBreakpoints")]
    for text in breakpoints.functions:
        name = function_breakpoint(text)["name"]
        if sessions and not able:
            yield "rejected", text, f" ({first.adapter} {NO_FUNCTIONS})"
        if not able or (text, 0) not in first.program.awaited_breakpoints.places:
            continue
        placed = [each.mirror.breakpoint_statuses for each in able]
        if not final:
            yield from _unverified(text, name, placed)
            continue
        sent = any(name == known for each in placed for known, _ in each.functions)
        if sent and not any(each.reaches_function(name) for each in placed):
            yield "not hit", text, NEVER_HELD if name != text else doubt_about_tracing(first)


def _unverified(
    text: str, name: str, placed: Sequence[BreakpointStatuses]
) -> Iterator[tuple[State, str, str]]:
    """Yield a function breakpoint that no adapter has confirmed, if the program was not seen at it.

    It is yielded at most once, as state ("pending" or "rejected"), text and reason; not if no adapter was
    sent it. `text` is what the user gave, `name` the function's name in that text, `placed` the breakpoints
    of each adapter. The reason is an adapter's message in brackets, with a space before; empty if there is
    none.
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
    """Yield state, title and reason of each function where the program should collect and does not.

    Only functions are looked at whose hits this program is to have (`awaited_breakpoints` of `first.program`).
    The states are "not collected" (none of `sessions` can; the reason is the first one's), "rejected" (by all),
    and with `final`, when the program comes to no more, "never called" or "never ended"; these two have a
    function's name as title (all of the point's names if it does not collect calls), and are not yielded where
    rows were lost or dropped. `first` is the program's first session, `sessions` are those with a process. The
    reason is a text in brackets that begins with a space, or empty.
    """
    for (_, title), point in breakpoints.function_points.items():
        if (title, 0) not in first.program.awaited_breakpoints.places:
            continue
        why = [each.line_breakpoints.why_not_at(point, first.adapter) for each in sessions]
        made = [
            m
            for each in sessions
            if (m := each.mirror.breakpoint_statuses.collecting_functions.get(title))
        ]
        if all(why) and why:
            yield "not collected", title, f" ({why[0]})"
        elif made and not any(each.get("verified") or "reason" in each for each in made):
            yield "rejected", title, quoted_reason(str(m.get("message") or "") for m in made)
        elif final:
            never = functions_without_rows(
                first.program.collected, point["name"], calls=point["calls"]
            )
            held = NEVER_HELD if "condition" in point else doubt_about_tracing(first)
            for state, each, late in never:
                yield state, each, held or late


def _with_hint(
    first: Session, found: Iterable[tuple[State, str, str]]
) -> Iterator[tuple[State, str, str]]:
    """Yield each of `found`, of which at most one gets a hint on functions of libraries as its reason.

    `found` are triples of state, function name and reason, and so is each result; they are read to their end first.
    The hint goes to the last one with the state "not hit" or "never called", no reason yet, and a name without a module
    (no dot), and only if `first`, the program's first session, collects by Python's tracer.
    """
    every = list(found)
    bare = [
        each
        for each in every
        if each[0] in {"not hit", "never called"} and "." not in each[1] and not each[2]
    ]
    for each in every:
        hinted = bare and each is bare[-1] and first.line_breakpoints.collecting_way == TRACER
        yield (each[0], each[1], OF_LIBRARY) if hinted else each


def doubt_about_hits(
    first: Session, path: str, requested: RequestedBreakpoint, *, hides_condition_errors: bool
) -> str:
    """Return why a breakpoint may have had no hit though the program came to it; empty: no doubt.

    The text is a space and a reason in brackets, to be appended to the place. `first` is the program's first
    session, and the breakpoint `requested` is in the file `path`. With `hides_condition_errors` the adapter does
    not report conditions that could not be evaluated. Files beside `path` and libraries of the program may be read,
    so it may take long.
    """
    if hides_condition_errors and "condition" in requested:
        return HELD
    late = first.inspect.source_versions.is_late(path, requested["line"])
    _, lines = first.inspect.source_versions.window(path, 1, requested["line"] - 1) or (1, [])
    hint = replaced_by(first, path) or first.advice.hint_on_not_hit(path, lines)
    known = doubt_about_tracing(first) or (LATE if late else "") or (f" ({hint})" if hint else "")
    # That reads all libraries of a compiled program.
    return known or (STARTED.format(first.adapter) if first.may_run_elsewhere(path) else "")


def replaced_by(first: Session, path: str) -> str:
    """Return a clause on what runs in place of a file, such as a compiled module beside it.

    Empty: nothing is known.
    """
    return first.advice.hint_on_files_beside(path, names_beside(path))


def why_unbound(first: Session, path: str, line: int, why: str) -> str:
    """Return why a breakpoint on a line of a file is not bound; empty if no more is known than `why`.

    That is the adapter's own reason.
    """
    _, lines = first.inspect.source_versions.window(path, 1, line - 1) or (1, [])
    return first.advice.hint_on_unbound(why, path, lines)


def doubt_about_tracing(first: Session) -> str:
    """Return a doubt in brackets if tracing has failed in the program, so that hits were missed; else ""."""
    return UNSEEN if any(each.kind == TRACING for each in first.program.failures) else ""


MAX_LISTED_BREAKPOINTS = 10
"""Breakpoints of one state."""
UNPROVEN: Collection[State] = {"not hit", "never called", "never ended"}
"""What of a function only an adapter that sees the whole program can tell."""
NAMES = {"condition": "conditions", "hitCondition": "hit conditions", "logMessage": "log points"}
"""Names of the options of breakpoints."""


@dataclass(frozen=True, slots=True)
class BreakpointOutcome:
    """The state of one breakpoint."""

    state: State
    path: str
    line: int
    detail: str = ""
    column: int = 0
    """0: it has none."""
    requested: RequestedBreakpoint | None = field(default=None, compare=False)
    """The breakpoint, where there may be a doubt whether the program came to it.

    To find out takes long, so it is done only for those that are listed.
    """

    @property
    def key(self) -> OutcomeKey:
        """State and place, by which an outcome is reported only once."""
        return self.state, self.path, self.line, self.column


@dataclass(frozen=True, slots=True)
class BreakpointOutcomes:
    """The outcomes that a caller does not know yet, as text by state."""

    by_state: Mapping[str, list[str]]
    _keys: Collection[OutcomeKey]
    _known: object
    _awaited: AwaitedBreakpoints

    def mark_reported(self) -> None:
        """Record in the program's `awaited` that the caller was told these outcomes.

        They are not new again then.
        """
        self._awaited.mark_reported(self._keys, self._known)


def unreported_outcomes(
    session: Session,
    breakpoints: Breakpoints,
    *,
    hides_condition_errors: bool = False,
    hits: str = "",
    cut_short: bool = False,
) -> BreakpointOutcomes:
    """Return the breakpoints that did not work as requested, and that the caller was not told of yet.

    Judged are those that were set for this program, or lie in files that it has loaded. After the program's
    end all are returned again, those that were reported with their place alone. When it has ended, or ends
    by an uncaught exception, those that it never came to are added, unless a tool has ended it. Nothing is
    marked as reported here: the caller does so by the result's `mark_reported`. Files may be read for the
    reasons, so it may take long.

    Args:
        session: Any session of the program.
        breakpoints: The shared set.
        hides_condition_errors: The adapter does not report conditions that it cannot evaluate.
        hits: The pattern of hit conditions that the adapter understands; empty: all.
        cut_short: An end by a tool counts like an end of its own.
    """
    program = session.program
    first, sessions, ended = program.first, program.debugged, not program.is_alive
    # If a tool has ended the program or detached, the breakpoint might still have been hit.
    lost = any(each.adapter_lost for each in (first, *sessions))
    own = lost or cut_short or first.cause is None or KILLED in first.cause
    final = own and (ended or any(map(_is_ending, sessions)))
    awaited, known = first.program.awaited_breakpoints, _outcome_state(first, sessions, breakpoints)
    if known == awaited.reported_from and not (ended or final):
        return BreakpointOutcomes({}, (), known, awaited)
    situation = _JudgedProgram(
        first, sessions, breakpoints, hits, ended, final, lost and not cut_short
    )
    found = dict.fromkeys([*_at_lines(situation), *_at_functions(situation)])
    new = found if ended else [each for each in found if each.key not in awaited.reported]
    texts = _texts(first, new, hides_condition_errors=hides_condition_errors)
    return BreakpointOutcomes(texts, [each.key for each in new], known, awaited)


@dataclass(frozen=True, slots=True)
class _JudgedProgram:
    """A program whose breakpoints are judged."""

    first: Session
    sessions: Sequence[Session]
    breakpoints: Breakpoints
    hits: str
    """The pattern of the hit conditions that the adapter understands; empty: of all."""
    is_over: bool
    is_final: bool
    adapter_ended_first: bool


def _at_functions(situation: _JudgedProgram) -> Iterator[BreakpointOutcome]:
    """Yield the outcome of each function breakpoint, and each function to collect at, that did not work.

    `situation` is the judged program, with its sessions and the shared breakpoints. The `path` of an outcome is the function's name, its
    `line` 0. If the adapter ended before the program, states that it cannot know become "not known".
    """
    first = situation.first
    found = at_functions(first, situation.sessions, situation.breakpoints, final=situation.is_final)
    for state, name, why in found:
        unproven = situation.adapter_ended_first and state in UNPROVEN
        verdict = unknown_verdict(first.adapter) if unproven else Verdict(state, why)
        yield BreakpointOutcome(verdict.state, name, 0, verdict.detail)


def _texts(
    first: Session, new: Iterable[BreakpointOutcome], *, hides_condition_errors: bool
) -> dict[str, list[str]]:
    """Return the lines to show for breakpoints' outcomes, as a list for each state that occurs.

    `first` is the program's first session; a place of `new` whose state was reported before gets no reason.
    There is a line for each of the first `MAX_LISTED_BREAKPOINTS` of a state, and one that counts the others.
    With `hides_condition_errors` the adapter does not report conditions that could not be evaluated. Files may
    be read for the reasons, so it may take long.
    """
    by_state: dict[str, list[BreakpointOutcome]] = {}
    for each in new:
        by_state.setdefault(each.state, []).append(each)
    return {
        state: [*_bounded(first, every, hides_condition_errors=hides_condition_errors)]
        for state, every in by_state.items()
    }


def _bounded(
    first: Session, outcomes: Sequence[BreakpointOutcome], *, hides_condition_errors: bool
) -> Iterator[str]:
    """Yield a line for each of the first outcomes of one state, and one on how many more there are."""
    for each in outcomes[:MAX_LISTED_BREAKPOINTS]:
        yield _text(first, each, hides_condition_errors=hides_condition_errors)
    if (left := len(outcomes) - MAX_LISTED_BREAKPOINTS) > 0:
        yield f"{left} more: dap_breakpoints"


def _text(first: Session, outcome: BreakpointOutcome, *, hides_condition_errors: bool) -> str:
    """Return an outcome's place as text, with its reason and doubts unless the state was reported before.

    The place is a path, as seen from the project, with line and column, or a function's name. The text is the
    place alone if this state, or "rejected", was reported of the place before; nothing is recorded as reported
    here. `first` is the program's first session. With `hides_condition_errors` the adapter does not report
    conditions that it could not evaluate, which gives a doubt. Files and libraries of the program may be read
    for doubts, so it may take long.
    """
    path, line, reported = outcome.path, outcome.line, first.program.awaited_breakpoints.reported
    where = place_in_file((line, outcome.column))
    at = f"{relative_to_project(path, first.project)}:{where}" if line else quoted(path)
    if reported & {outcome.key, ("rejected", *outcome.key[1:])}:
        return at
    unsure = outcome.requested and doubt_about_hits(
        first, path, outcome.requested, hides_condition_errors=hides_condition_errors
    )
    return f"{at}{outcome.detail}{unsure or ''}"


def _outcome_state(first: Session, sessions: Sequence[Session], breakpoints: Breakpoints) -> object:
    """Return a value to compare: as long as it stays equal, no new outcome can have come up.

    It is made of what the outcomes depend on: `breakpoints`, the breakpoints awaited by the program of `first`
    (its first session), and what the adapters of `sessions` (all that are debugged of it) have told. The value
    is reliable while the program runs, but not at its end. A hit of a breakpoint leaves the value equal: it
    only removes outcomes to tell.
    """
    awaited = first.program.awaited_breakpoints
    mirrors = [
        (
            each.id,
            each.mirror.breakpoint_statuses.change_count,
            each.mirror.loaded_sources.change_count,
            each.mirror.process.get("name"),
            [
                is_supported(each.mirror.capabilities, one)
                for one in (*OPTIONS, "setFunctionBreakpoints")
            ],
            each.line_breakpoints.collecting_way,
        )
        for each in sessions
    ]
    return breakpoints.change_count, len(awaited.places), len(awaited.undelivered_places), mirrors


def on_loaded_line(
    session: Session, path: str, requested: RequestedBreakpoint
) -> RequestedBreakpoint:
    """Return a breakpoint on the line that it had before the file changed, if the adapter has it there.

    It is a copy of `requested` with that `line`. `requested` itself is returned if the file has not changed, the
    line was nowhere in the loaded text, or the adapter has no breakpoint on that line.
    """
    change = session.inspect.source_versions.known_change(path)
    if change is None:
        return requested
    then = change.line_then(requested["line"])
    lines = {sent["line"] for sent, _ in session.mirror.breakpoints.get(path, ())}
    return {**requested, "line": then} if then is not None and then in lines else requested


def _at_lines(situation: _JudgedProgram) -> Iterator[BreakpointOutcome]:
    """Yield the outcome of each breakpoint on a line that did not work.

    `situation` is the judged program, with its sessions and the shared breakpoints. Those in question were set for this program, or lie in
    files that it has loaded; those that were kept from it, since its file has changed, are left out. A breakpoint may have several
    outcomes.
    """
    awaited = situation.first.program.awaited_breakpoints
    loaded = _loaded(each.mirror for each in situation.sessions)
    for path in situation.breakpoints.paths:
        for each in situation.breakpoints.in_file(path):
            place = path, each["line"]
            if place in awaited.undelivered_places:
                continue
            if place not in awaited.places and path not in loaded:
                continue
            for verdict in verdicts_of(_facts_of(situation, path, each)):
                doubtful = each if verdict.state == "not hit" else None
                yield BreakpointOutcome(
                    verdict.state,
                    path,
                    each["line"],
                    verdict.detail,
                    spot_of(each)[1],
                    requested=doubtful,
                )


def _facts_of(
    situation: _JudgedProgram, path: str, requested: RequestedBreakpoint
) -> BreakpointFacts:
    """Return what the sessions' mirrors know of one breakpoint, as facts for `verdicts_of`.

    `situation` is the judged program, with its sessions; `requested` is the breakpoint as dapeer wants it in the file
    `path`. If the file has changed, the breakpoint is looked up on the line that it had before, where an adapter has
    one there; `line` of the facts is that line then. Files may be read to find out why the breakpoint is not bound.
    Nothing is sent.
    """
    first, sessions = situation.first, situation.sessions
    changed = [
        each for each in sessions if each.inspect.source_versions.known_change(path) is not None
    ]
    loaded = (on_loaded_line(session, path, requested) for session in changed)
    sent = next((one for one in loaded if one is not requested), requested)
    line, mirrors = sent["line"], [each.mirror for each in sessions]
    refusals = (each.breakpoint_statuses.failed_requests.get(path) for each in mirrors)
    lacking, count = _ignored_options(situation, path, requested)
    answers = tuple(_answers(mirrors, path, sent))
    rejected = {each.message for each in answers if each.state == "rejected" and each.message}
    return BreakpointFacts(
        adapter=first.adapter,
        line=line,
        answers=answers,
        is_reached=any(mirror.was_reached((path, *spot_of(sent))) for mirror in mirrors),
        # The adapter may not have told that it is bound.
        has_failed=any((path, line) == (of.path, of.line) for m in mirrors for of in m.failures),
        # Log messages of breakpoints that an editor has set cannot be told from the program's output.
        may_have_printed=first.feed is not None
        and _may_have_printed(first, requested.get("logMessage", "")),
        collects="collect" in requested,
        not_collected=_why_not_collected(first, sessions, situation.breakpoints, path, requested),
        is_over=situation.is_over,
        is_final=situation.is_final,
        adapter_ended_first=situation.adapter_ended_first,
        refusal=next(filter(None, refusals), ""),
        rejection_reason=next(
            filter(None, (why_unbound(first, path, line, each) for each in rejected)), ""
        ),
        runs_instead="" if answers else replaced_by(first, path),
        name_in_program=next(
            filter(None, (each.breakpoint_statuses.file_name_notes.get(path) for each in mirrors)),
            "",
        ),
        debugs_such_files=first.accepts_breakpoints_in(path),
        awaits_children=first.awaits_children_of(path),
        follows_children=first.follows_children(),
        ignored_options=lacking,
        unknown_hit_condition=count,
    )


def _answers(
    mirrors: Iterable[Mirror], path: str, requested: RequestedBreakpoint
) -> Iterator[BreakpointAnswer]:
    """Yield the answer of each adapter that has this breakpoint, one for each of `mirrors` at most.

    The line of an answer is the requested one if the adapter names none.
    """
    for mirror in mirrors:
        made = adapter_answer(mirror, path, requested)
        if made is not None:
            line = made.get("line", requested["line"])
            message = str(made.get("message") or "")
            yield BreakpointAnswer(state=answered_state(made), line=line, message=message)


def _why_not_collected(
    first: Session,
    sessions: Sequence[Session],
    breakpoints: Breakpoints,
    path: str,
    requested: RequestedBreakpoint,
) -> str:
    """Return why nothing is collected at a breakpoint of the file `path` that should collect.

    The reason is a clause without a period that begins with the adapter's name. Empty: values are collected there,
    or the breakpoint is none that collects. A tracer (the program collects by itself) in one of `sessions` collects
    anywhere; log points collect nothing where a breakpoint stops or logs at the place that the adapter takes for
    the same; without either nothing is collected. `sessions` are those of the program, `first` is its first one,
    `breakpoints` is the set in which those that stop are looked up, and `requested` is the breakpoint in question.
    """
    roads = {session.line_breakpoints.collecting_way for session in sessions} - {""}
    if "collect" not in requested or TRACER in roads:
        return ""
    if roads:
        told, line = first.line_breakpoints.log_points.adapter_spot, requested["line"]
        stopping = (told(spot_of(each)) for each in breakpoints.stopping_on(path, line))
        stops = told(spot_of(requested)) in stopping
        return f"{first.adapter} cannot collect where a breakpoint stops" if stops else ""
    if not first.line_breakpoints.sees_output:
        return f"{first.adapter} cannot in a session of Neovim"
    return f"{first.adapter} has no log points"


def _ignored_options(
    situation: _JudgedProgram, path: str, requested: RequestedBreakpoint
) -> tuple[tuple[str, ...], str]:
    """Return a breakpoint's options that its adapter lacks, and its hit condition if that is unknown.

    `path` is the file of the breakpoint `requested`. The options are those that `requested` has, as plurals
    for a text, such as "log points"; empty also while no adapter has answered on the breakpoint. The hit
    condition is empty if the breakpoint has none, if it matches the pattern `situation.hits` or if there is
    no pattern. Both are empty for a breakpoint that was not set for this program.
    """
    if (path, requested["line"]) not in situation.first.program.awaited_breakpoints.places:
        return (), ""
    mirrors = (each.mirror for each in situation.sessions)
    mirror = next((m for m in mirrors if adapter_answer(m, path, requested) is not None), None)
    lacking = (
        () if mirror is None else tuple(NAMES[each] for each in unsupported(mirror, requested))
    )
    count = str(requested.get("hitCondition") or "")
    is_understood = not situation.hits or re.fullmatch(situation.hits, count.strip())
    return lacking, "" if is_understood else count


def _may_have_printed(first: Session, message: str) -> bool:
    """Return whether a log message may be in the program's output, judged by the message's literal parts."""
    parts = [part for part in re.split(r"\{[^{}]*\}", message) if part.strip()]
    log = first.program.output.read()
    return bool(message) and (log.dropped > 0 or all(part in log.text for part in parts))


def _is_ending(session: Session) -> bool:
    """Return whether the process is about to end, as its first thread is stopped at an uncaught exception."""
    stop = session.mirror.stop
    first = next(iter(session.mirror.threads), None)
    if stop is None or stop.exception is None or stop.thread_id != first:
        return False
    return stop.exception.get("breakMode") == "unhandled"


def _loaded(mirrors: Iterable[Mirror]) -> set[str]:
    """Return the paths of the sources that adapters have reported, and of the programs themselves."""
    paths: set[str] = set()
    for mirror in mirrors:
        paths |= mirror.loaded_sources.sources.keys()
        paths.add(os.path.normpath(str(mirror.process.get("name") or "")))
    return paths
