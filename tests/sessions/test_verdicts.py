"""What became of a breakpoint, by the facts that are known of it."""

from typing import Any

import pytest

from dapeer.sessions.outcomes import (
    NO_CHILD,
    NO_CHILD_YET,
    NO_SUCH_FILES,
    NOT_BEGUN,
    UNFOLLOWED,
    UNMET,
    BreakpointAnswer,
    BreakpointFacts,
    verdicts_of,
)

VERIFIED = BreakpointAnswer(state="verified", line=7)
MOVED = BreakpointAnswer(state="verified", line=9)
PENDING = BreakpointAnswer(state="pending", line=7)
REJECTED = BreakpointAnswer(state="rejected", line=7, message="no\n code  here")
SILENT = BreakpointAnswer(state="rejected", line=7)
OVER = {"is_over": True, "is_final": True}
GONE = {"is_over": True}
"""A tool has ended it: it might have come there."""
LOST = {**OVER, "adapter_ended_first": True}
UNKNOWN = ("not known", " (toy ended before it could tell)")
UNMET_BY_TOY = f" (toy {UNMET})"


def facts(*answers: BreakpointAnswer, **more: Any) -> BreakpointFacts:  # noqa: ANN401 - whatever is a fact
    return BreakpointFacts(adapter="toy", line=7, answers=answers, **more)


@pytest.mark.parametrize(
    ("known", "verdicts"),
    [
        # It is bound, and the program runs, or is stopped.
        (facts(VERIFIED), []),
        (facts(VERIFIED, is_reached=True), []),
        (facts(VERIFIED, has_failed=True), []),
        (facts(PENDING, VERIFIED), []),
        (facts(REJECTED, VERIFIED), []),
        (facts(MOVED), [("moved", " → 9")]),
        (facts(MOVED, is_reached=True), [("moved", " → 9")]),
        (facts(PENDING, MOVED), [("moved", " → 9")]),
        (facts(VERIFIED, MOVED), []),
        (facts(MOVED, collects=True), [("moved", " → 9")]),
        (facts(VERIFIED, is_final=True), [("not hit", "")]),
        # It is bound, and the program is over.
        (facts(VERIFIED, **OVER), [("not hit", "")]),
        (facts(VERIFIED, is_reached=True, **OVER), []),
        (facts(VERIFIED, has_failed=True, **OVER), [("not hit", "")]),
        (facts(VERIFIED, **GONE), []),
        (facts(VERIFIED, may_have_printed=True, **OVER), []),
        (facts(VERIFIED, **LOST), [UNKNOWN]),
        (facts(VERIFIED, is_reached=True, **LOST), []),
        (facts(MOVED, **OVER), [("not hit", " → 9")]),
        (facts(MOVED, is_reached=True, **OVER), []),
        (facts(MOVED, is_reached=True, collects=True, **OVER), [("moved", " → 9")]),
        (facts(MOVED, **GONE), [("not hit", " → 9")]),
        (facts(MOVED, **LOST), [UNKNOWN]),
        # The program came there, though no adapter has said that it is bound.
        (facts(is_reached=True), []),
        (facts(PENDING, is_reached=True, **OVER), []),
        (facts(REJECTED, has_failed=True), []),
        (facts(PENDING, has_failed=True, **OVER), [("not hit", "")]),
        # The adapter waits for its code.
        (facts(PENDING), [("pending", f" (toy {UNMET} yet)")]),
        (facts(PENDING, REJECTED), [("pending", f" (toy {UNMET} yet)")]),
        (facts(PENDING, name_in_program="it is b.c"), [("pending", " (it is b.c)")]),
        (facts(VERIFIED, name_in_program="it is b.c"), [("renamed", " (it is b.c)")]),
        (facts(PENDING, **OVER), [("never bound", UNMET_BY_TOY)]),
        (facts(PENDING, **GONE), [("never bound", UNMET_BY_TOY)]),
        (
            facts(PENDING, follows_children=False, **OVER),
            [("never bound", f" (toy {UNMET}{UNFOLLOWED})")],
        ),
        (facts(PENDING, **LOST), [UNKNOWN]),
        # The adapter has rejected it.
        (facts(REJECTED), [("rejected", " (no code here)")]),
        (facts(SILENT), [("rejected", "")]),
        (facts(SILENT, REJECTED), [("rejected", " (no code here)")]),
        (facts(REJECTED, rejection_reason="it is not compiled"), [("rejected", " (it is not compiled)")]),
        (facts(REJECTED, **OVER), [("never bound", " (no code here)")]),
        (facts(REJECTED, **LOST), [("never bound", " (no code here)")]),
        # No adapter has got it.
        (facts(), [("rejected", f" (toy {NOT_BEGUN})")]),
        (facts(**OVER), [("never bound", f" (toy {NOT_BEGUN})")]),
        (facts(debugs_such_files=False), [("rejected", f" (toy {NO_SUCH_FILES})")]),
        (facts(debugs_such_files=False, awaits_children=True), [("pending", f" ({NO_CHILD_YET})")]),
        (facts(awaits_children=True, **OVER), [("never bound", f" ({NO_CHILD})")]),
        (facts(refusal="is\n busy"), [("rejected", " (toy is busy)")]),
        # It collects.
        (facts(VERIFIED, not_collected="toy has no log points"), [("not collected", " (toy has no log points)")]),
        (facts(MOVED, not_collected="it stops", **OVER), [("not collected", " (it stops)")]),
        # Its options.
        (facts(VERIFIED, ignored_options=("conditions",)), [("stops anyway", " (toy has no conditions)")]),
        (
            facts(MOVED, ignored_options=("conditions", "log points")),
            [("moved", " → 9"), ("stops anyway", " (toy has no conditions and no log points)")],
        ),
        (
            facts(VERIFIED, unknown_hit_condition="often"),
            [("stops anyway", " (toy does not understand the hit condition `often`)")],
        ),
        (facts(VERIFIED, is_reached=True, ignored_options=("conditions",), **OVER), []),
        (facts(ignored_options=("conditions",)), [("rejected", f" (toy {NOT_BEGUN})")]),
    ],
)  # fmt: skip
def test_a_verdict_follows_from_the_facts(
    known: BreakpointFacts, verdicts: list[tuple[str, str]]
) -> None:
    assert [*verdicts_of(known)] == verdicts
