"""What clients and people do: breakpoints that they change, programs that they resume or end. Pure.

Each client is told what the others have done since its last answer.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.base.sources import relative_to_project

KEPT_DOINGS: Final = 1000
"""Doings that are kept, the last ones."""
MAX_TOLD_PLACES: Final = 5
"""Places of breakpoints that are named, of those that somebody has set, or removed."""
_VERBS: Final = {
    "continue": "continued",
    "next": "stepped over",
    "stepIn": "stepped into",
    "stepOut": "stepped out",
    "stepBack": "stepped back",
    "reverseContinue": "ran back",
    "goto": "jumped to a line",
    "restartFrame": "restarted a frame",
    "disconnect": "ended",
    "terminate": "ended",
}
"""What the request of a client means, by its command; "in session 1" follows."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A client, or a person."""

    key: str
    """Tells it from others."""
    name: str = ""
    """Name and version of the client; empty if unknown."""

    @property
    def words(self) -> str:
        """The words for this client or person in a text for another client."""
        named = f" ({self.name})" if self.name else ""
        return self.name if self is PERSON else f"another client{named}"


PERSON: Final = Actor("person", "the person")

_DOER: ContextVar[Actor | None] = ContextVar("doer", default=None)
"""Who has caused what is done now; tasks inherit it. None: nobody that is told of."""


@dataclass(frozen=True, slots=True)
class _ActorAction:
    number: int
    doer: Actor


@dataclass(frozen=True, slots=True)
class _BreakpointChange(_ActorAction):
    """A breakpoint is set, changed or removed."""

    place: tuple[str, int]
    """Path and line, or the name of a function and 0."""
    old: object
    """What was wanted there; None: nothing."""
    new: object


@dataclass(frozen=True, slots=True)
class _ProgramMove(_ActorAction):
    """A program is resumed or ended."""

    verb: str
    session: int
    program: object


class Doings:
    """The doings of late, by all clients and people."""

    def __init__(self) -> None:
        self._kept_actions: deque[_BreakpointChange | _ProgramMove] = deque(maxlen=KEPT_DOINGS)
        self.count = 0
        """How many there were."""

    @contextmanager
    def acting_as(self, doer: Actor | None) -> Generator[None]:
        """Record what happens during the body, also in tasks that it starts, as the doing of `doer`.

        None: record nothing.
        """
        token = _DOER.set(doer)
        try:
            yield
        finally:
            _DOER.reset(token)

    def record_change(self, path: str, line: int, before: object, after: object) -> None:
        """Record that the breakpoint on a line was `before` and is `after` (None: none), if they differ.

        Line 0: `path` is the name of a function. Nothing is recorded outside of `acting_as`.
        """
        doer = _DOER.get()
        if doer is not None and before != after:
            self.count += 1
            self._kept_actions.append(
                _BreakpointChange(self.count, doer, (path, line), before, after)
            )

    def record_move(self, command: str, session: int, program: object) -> None:
        """Record that a request (`continue`, `terminate`, …) has resumed or ended a program.

        `command` is the name of the request, `session` a session's id, `program` the program itself. Nothing is
        recorded, or raised, outside of `acting_as`.

        Raises:
            KeyError: `command` is none of `_VERBS`.
        """
        doer = _DOER.get()
        if doer is not None:
            self.count += 1
            self._kept_actions.append(
                _ProgramMove(self.count, doer, _VERBS[command], session, program)
            )

    def describe_others(
        self, key: str, since: int, programs: Collection[object], project: Path
    ) -> str:
        """Return in one line what others than a client have done since number `since`; empty: nothing.

        The line is such as "since your last answer another client set a.py:3", with a part for all others of one
        name and version. A change that the client itself has overridden later, on the same line, is left out, and
        so is a place that is as it was before. Only the last `KEPT_DOINGS` doings are known, and at most
        `MAX_TOLD_PLACES` places are named in a clause.

        Args:
            key: The client's `Actor.key`.
            since: The `count` when the client was told last; later doings count.
            programs: Those that the client works on; of any other program it is told only the breakpoints, not
                what resumed or ended it.
            project: The folder to which names of files are relative.
        """
        new = [each for each in self._kept_actions if each.number > since]
        changes = [each for each in new if isinstance(each, _BreakpointChange)]
        own = {each.place: each.number for each in changes if each.doer.key == key}
        others: dict[str, list[_BreakpointChange | _ProgramMove]] = {}
        for each in new:
            overtaken = isinstance(each, _BreakpointChange) and each.number < own.get(each.place, 0)
            foreign = isinstance(each, _ProgramMove) and each.program not in programs
            if each.doer.key != key and not overtaken and not foreign:
                others.setdefault(each.doer.words, []).append(each)
        told = [
            f"{words} {', '.join(said)}"
            for words, doings in others.items()
            if (said := [*_told(doings, project)])
        ]
        return f"since your last answer {', and '.join(told)}" if told else ""


def _told(doings: Sequence[_BreakpointChange | _ProgramMove], project: Path) -> Iterator[str]:
    """Yield clauses on what one client has done, such as "set a.py:3" or "continued in session 1".

    `doings` are all of that client, the oldest first. Several changes of one place count as one; a place that is as before is left out.
    At most `MAX_TOLD_PLACES` places are named in a clause. Paths are relative to `project`.
    """
    changes: dict[tuple[str, int], tuple[object, object]] = {}
    for each in doings:
        if isinstance(each, _BreakpointChange):
            before, _ = changes.get(each.place, (each.old, None))
            changes[each.place] = before, each.new
    for verb in ("set", "changed", "removed"):
        places = [
            f"{relative_to_project(path, project)}:{line}" if line else path
            for (path, line), change in changes.items()
            if _verb(*change) == verb
        ]
        more = len(places) - MAX_TOLD_PLACES
        rest = f" and {more:,} more" if more > 0 else ""
        if places:
            yield f"{verb} {', '.join(places[:MAX_TOLD_PLACES])}{rest}"
    moves = Counter((each.verb, each.session) for each in doings if isinstance(each, _ProgramMove))
    for (verb, session), times in moves.items():
        again = f" {times} times" if times > 1 and verb != "ended" else ""
        yield (
            f"{verb} session {session}"
            if verb == "ended"
            else f"{verb} in session {session}{again}"
        )


def _verb(before: object, after: object) -> str:
    """Return "set", "changed" or "removed" for a place by what was and is wanted there.

    Empty: it is as before.
    """
    if before is None or after is None:
        return "set" if after is not None else "removed" if before is not None else ""
    return "changed" if before != after else ""
