"""What became of one breakpoint of a program: a pure function of the facts that are known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dapeer.base.text.fitting import shortened

State = Literal[
    "rejected", "moved", "pending", "stops anyway", "not collected", "never bound", "not hit", "never called",
    "never ended", "not known", "renamed",
]  # fmt: skip
REASON_CHARS = 160
"""Characters of an adapter's reason."""
UNMET = "has reported no code of it"
UNFOLLOWED = ", and follows no other program that this one starts"
NO_SUCH_FILES = "debugs no such files; debug the program that they are of by itself"
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
    truly: str = ""
    """Why the adapter has rejected the breakpoint, if more is known than it says; empty: it is not."""
    runs_instead: str = ""
    """What the program runs in place of the file, where the adapter has not got the breakpoint."""
    name_in_program: str = ""
    """What is known of the program's own name of the file, where that differs; empty: nothing."""
    debugs_such_files: bool = True
    follows_children: bool = True
    ignored_options: tuple[str, ...] = ()
    """Plural names of the breakpoint's options that the adapter lacks: `log points`."""
    unknown_hit_condition: str = ""
    """Its hit condition, if the adapter does not understand it."""


def verdicts_of(facts: BreakpointFacts) -> Iterator[Verdict]:
    """Yield what the caller should know of a breakpoint; nothing if it works, or has worked.

    At most one verdict is about its place; further ones are about options that the adapter ignores, and about the program's own name of
    the file, and come only while the program goes on. If the adapter has ended before the program, "not known" replaces a verdict that
    the program never came there.
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
    """Return the verdict on a breakpoint's place; None: it is bound where it was wanted, or was reached.

    A breakpoint that no adapter has verified is "rejected" or "pending" while the program goes on, and "never bound" once it has ended.
    One that is bound, or was reached, may be "moved" or "not hit". The detail is the reason, in brackets, or the line to which it was
    moved.
    """
    states = {each.state for each in facts.answers}
    if facts.is_reached or facts.has_failed or "verified" in states:
        return _verdict_on_bound(facts)
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
        f" ({facts.truly})"
        if facts.truly
        else quoted_reason(each.message for each in facts.answers)
    )
    return Verdict("never bound" if facts.is_over else "rejected", why)


def _verdict_on_bound(facts: BreakpointFacts) -> Verdict | None:
    """Return "moved" or "not hit" for a breakpoint that is bound or was reached; None: all is well.

    "moved" is of one that an adapter has bound on another line than was sent, with that line as detail. After the program's end it is
    "not hit" instead if the program was not seen there, and nothing if it was, unless the breakpoint collects. "not hit" is also one on
    its own line, once the program comes to no more breakpoints (`is_final`).
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
    """Yield at most one verdict that the program stops anyway, because the adapter ignores an option."""
    if facts.ignored_options:
        names = " and no ".join(facts.ignored_options)
        yield Verdict("stops anyway", f" ({facts.adapter} has no {names})")
    elif facts.unknown_hit_condition:
        condition = shortened(facts.unknown_hit_condition, REASON_CHARS)
        yield Verdict(
            "stops anyway",
            f" ({facts.adapter} does not understand the hit condition `{condition}`)",
        )
