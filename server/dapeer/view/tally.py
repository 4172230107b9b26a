"""What became of the runs of a program that was run again and again. Pure."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class RunVerdict(enum.Enum):
    """What became of a run, as its sentence has it."""

    PASSED = "passed"
    FAILED = "failed"
    STOPPED = "stopped"
    """At something that is no failure, such as a breakpoint."""
    ENDED = "was ended"
    """By somebody, before it was known whether it would fail."""
    UNTESTED = "ran no test"
    """Where it was to run some, so that it has not passed."""
    UNJUDGED = "says nothing"
    """Where the condition of a breakpoint failed at each hit."""
    RUNNING = "still runs"
    """The time is up."""


@dataclass(slots=True)
class Tally:
    """The runs so far."""

    times: int
    """How many were asked for."""
    passed_seconds: list[float] = field(default_factory=list[float])
    """Seconds that each run took that passed, its start included."""
    verdict: RunVerdict = RunVerdict.PASSED
    """Of the last run."""
    last_passed_session: int | None = None
    """The session of the last run that passed."""
    continued_stops: int = 0
    """Stops that were no failures, and from which the program was continued."""
    why: str = ""
    """Why the last run has not shown what was asked; empty: it has."""
    detached: dict[int, str] = field(default_factory=dict[int, str])
    """Processes that runs which passed have left running, and what they run."""
    lacks_exit_code: bool = False
    """Whether a run has passed that told no exit code."""

    def record_passed_run(
        self, session: int, seconds: float, left: Mapping[int, str], *, lacks_exit_code: bool
    ) -> None:
        """Count a run that has passed and took `seconds`, and remember its session as the last that passed.

        `left` are processes that it left running, by id, with what they run. `lacks_exit_code` says that the adapter reported no exit code.
        """
        self.passed_seconds.append(seconds)
        self.last_passed_session = session
        self.detached |= left
        self.lacks_exit_code = self.lacks_exit_code or lacks_exit_code

    def set_verdict(self, verdict: RunVerdict, why: str = "") -> RunVerdict:
        """Set the outcome of the last run, and why it has not shown what was asked, and return that outcome."""
        self.verdict, self.why = verdict, why
        return verdict

    def count_continued_stop(self) -> None:
        """Count a stop that was no failure, such as one at a breakpoint; the program was continued from there."""
        self.continued_stops += 1

    @property
    def run(self) -> int:
        """The number of the last run, from 1."""
        return len(self.passed_seconds) + (self.verdict is not RunVerdict.PASSED)

    @property
    def left(self) -> int:
        """How many runs were not made, or are not known to have passed."""
        return self.times - len(self.passed_seconds)

    def data(self) -> dict[str, Any]:
        """Return the tally as JSON data.

        Keys are `run` (the number of the last run), `of` (how many were asked for), `outcome` (of the last run:
        `passed`, `failed`, `stopped`, `ended`, `untested`, `unjudged` or `running`), `passed` (how many did), and, if a
        run has passed, `seconds_each`, their mean duration, and `passed_session`, the id of the session of the last one
        that did.
        """
        facts = {"run": self.run, "of": self.times, "outcome": self.verdict.name.lower()}
        facts |= {"passed": len(self.passed_seconds)}
        each = {"seconds_each": round(self._each, 3)} if self.passed_seconds else {}
        return {
            **facts,
            **each,
            **({"passed_session": self.last_passed_session} if self.last_passed_session else {}),
        }

    def text(self) -> str:
        """Return the tally as one line: the outcome and, if any, how to go on and what makes it uncertain.

        >>> Tally(50, [0.5, 0.3], RunVerdict.FAILED, 2).text()
        'Run 3 of 50 failed; 2 passed (the last: session 2), 0.4 s each.'
        """
        parts = [self._outcome()]
        if self.verdict is RunVerdict.RUNNING or (self.verdict is RunVerdict.PASSED and self.left):
            parts.append(f"dap_run with repeat={self.left} goes on.")
        if self.continued_stops:
            s = "s" if self.continued_stops > 1 else ""
            parts.append(f"Continued from {self.continued_stops} stop{s} without a failure.")
        if self.lacks_exit_code:
            parts.append(
                "The adapter tells no exit codes: a run that stopped nowhere counts as passed."
            )
        return " ".join(parts)

    @property
    def _each(self) -> float:
        return sum(self.passed_seconds) / len(self.passed_seconds)

    def _outcome(self) -> str:
        """Return a sentence: the last run, if it has not passed, and how many have, with their mean duration.

        A last run that has not passed is named with its number, its verdict, `why`, and the session of the last
        that passed. If all runs so far have passed and some are left, the sentence says that the time is up.
        Without a run that passed, there is no duration.
        """
        count = len(self.passed_seconds)
        each = f", {self._each:.1f} s each" if count else ""
        if self.verdict is not RunVerdict.PASSED:
            last = (
                f" (the last: session {self.last_passed_session})"
                if self.last_passed_session
                else ""
            )
            passed = f"; {count} passed{last}{each}" if count else ""
            why = f" ({self.why})" if self.why else ""
            return f"Run {self.run} of {self.times} {self.verdict.value}{why}{passed}."
        if self.left:
            return f"{count} of {self.times} runs passed{each}; the time is up."
        return f"All {count} runs passed{each}."
