"""A call for a whole group: the tool is run for each member that can answer, and equal answers fold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from dapeer.base.errors import ArgumentError, DapeerError, NotStopped
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.groups import Group
from dapeer.tools.base.call import Call, Reply, noted
from dapeer.view.folded import folded, ranges

SECONDS_AFTER_FIRST = 0.5
"""Seconds in which the others stop, too, once one has."""

Asked: TypeAlias = Literal["", "stopped", "running", "living"]
"""Which members of a group a tool can ask; empty: it takes no group."""


@dataclass(frozen=True, slots=True)
class GroupCall:
    """One call of a tool for the members of a group."""

    call: Call
    group: Group
    asks: Asked
    ends_early: bool
    """Once one has answered, the others have only a moment.

    It resumes programs that may wait for each other.
    """

    async def done(self, one: Callable[[Session], Awaitable[Reply]]) -> Reply:
        """Run the tool for each member that can answer; name those that cannot, once.

        Raises:
            NotStopped: None can.
        """
        sessions = {label: self.group.acting(label) for label in self.group.members}
        asked = {label: each for label, each in sessions.items() if self._can(each)}
        left = {label: each for label, each in sessions.items() if label not in asked}
        if not asked:
            raise NotStopped(
                f"No member of {self.group.name} is {self.asks}: {_states(sessions, [*sessions])}.",
                "dap_status lists the groups.",
            )
        before = self.call.focus.default
        replies = await self._replies(asked, one)
        if before is not None:
            self.call.focus.use(before)
        waiting = {label: each for label, each in asked.items() if label not in replies}
        texts = {label: each.text for label, each in replies.items()}
        data = {
            "group": self.group.name,
            "answers": {k: v.data or v.text for k, v in replies.items()},
        }
        reply = Reply(folded(texts), data)
        order = [*sessions]
        states = ", ".join(filter(None, [_states(left, order), _states(waiting, order)]))
        return noted(
            reply, [f"not asked: {states}"] if left and not waiting else [states] * bool(states)
        )

    def _can(self, session: Session) -> bool:
        mirror = session.mirror
        match self.asks:
            case "stopped":
                return mirror.stop is not None
            case "running":
                return mirror.stop is None and not mirror.ended
            case _:
                return not mirror.ended

    async def _replies(
        self, asked: Mapping[str, Session], one: Callable[[Session], Awaitable[Reply]]
    ) -> dict[str, Reply]:
        found: dict[str, Reply] = {}

        async def ask(label: str, session: Session) -> None:
            try:
                found[label] = await one(session)
            except DapeerError as error:
                found[label] = Reply(str(error), failed=True)
            if self.ends_early:
                deadline = anyio.current_time() + SECONDS_AFTER_FIRST
                tasks.cancel_scope.deadline = min(tasks.cancel_scope.deadline, deadline)

        async with anyio.create_task_group() as tasks:
            for label, session in asked.items():
                tasks.start_soon(ask, label, session)
        return {label: found[label] for label in asked if label in found}


def _states(sessions: Mapping[str, Session], order: Sequence[str]) -> str:
    """Say which members are in which state: `2 runs; 3 has ended`."""
    by_state: dict[str, list[str]] = {}
    for label, session in sessions.items():
        state = "ended" if session.mirror.ended else "stopped" if session.mirror.stop else "running"
        by_state.setdefault(state, []).append(label)
    return "; ".join(f"{ranges(labels, order)} {state}" for state, labels in by_state.items())


def group_line(group: Group) -> str:
    """Return a group as one line with its members."""
    sessions = {label: group.acting(label) for label in group.members}
    numbers = ", ".join(
        label if label == str(each.id) else f"{label} = session {each.id}"
        for label, each in sessions.items()
    )
    return f"group {group.name}: {_states(sessions, [*sessions])} ({numbers})"


def check_one(group: object, session_id: object) -> None:
    """Refuse a call for a group and a session.

    Raises:
        ArgumentError: Both are given.
    """
    if group is not None and session_id is not None:
        raise ArgumentError(
            "`group` and `session_id` are two ways to say who is meant.", "Give one."
        )
