"""A call for a whole group: the tool is run for each member that can answer, and equal answers fold."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from dapeer.base.errors import ArgumentError, DapeerError, NotStopped
from dapeer.base.text.lines import indented
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.registry import Group
from dapeer.tools.base.call import Call, Reply, with_notes

ASSIGNED = " = "
"""Between an expression and its value."""
FRAME_ID = re.compile(r"(?<=\[frame_id )\d+(?=\])")
"""The id of a frame in a line of a stack: each session has its own."""
SECONDS_AFTER_FIRST = 0.5
"""Seconds in which the others stop, too, once one has."""

Asked: TypeAlias = Literal["", "stopped", "running", "living"]
"""Which members of a group a tool can ask; empty: it takes no group."""


@dataclass(frozen=True, slots=True)
class GroupCall:
    """One call of a tool for the members of a group."""

    call: Call
    group: Group
    member_state: Asked
    ends_early: bool
    """Once one has answered, the others have only a moment.

    It resumes programs that may wait for each other.
    """

    async def run_for_members(self, run_tool: Callable[[Session], Awaitable[Reply]]) -> Reply:
        """Run a tool for each member of the group that can answer, side by side, and return one reply for all.

        `run_tool` is called once for each such member, with its session. The reply's text has the members' answers,
        equal ones folded; its data has `group` (the name) and `answers`: by the label of each member its data, or its
        text if it has no data. A member whose call fails with a `DapeerError` answers with the error's text. Members
        that were not asked are only named in a note. If the call `ends_early`, so are those that have not answered
        `SECONDS_AFTER_FIRST` after another: their calls are cancelled. The client's default session stays the same, if
        there was one.

        Raises:
            NotStopped: No member is in the state that the tool needs; no tool was run.
        """
        sessions = {label: self.group.session_for_tool(label) for label in self.group.members}
        asked = {label: each for label, each in sessions.items() if self._is_askable(each)}
        left = {label: each for label, each in sessions.items() if label not in asked}
        if not asked:
            raise NotStopped(
                f"No member of {self.group.name} is {self.member_state}: {_states(sessions, [*sessions])}.",
                "dap_status lists the groups.",
            )
        before = self.call.focus.default
        replies = await self._run_side_by_side(asked, run_tool)
        if before is not None:
            self.call.focus.set_default(before)
        waiting = {label: each for label, each in asked.items() if label not in replies}
        texts = {label: each.text for label, each in replies.items()}
        if len(texts) > 1:
            texts = {
                label: _without_session(text, sessions[label].id) for label, text in texts.items()
            }
        data = {
            "group": self.group.name,
            "answers": {k: v.data or v.text for k, v in replies.items()},
        }
        reply = Reply(fold_answers(texts), data)
        order = [*sessions]
        states = ", ".join(filter(None, [_states(left, order), _states(waiting, order)]))
        return with_notes(
            reply, [f"not asked: {states}"] if left and not waiting else [states] * bool(states)
        )

    def _is_askable(self, session: Session) -> bool:
        """Return whether a session is in the state of `self.member_state`, so that the tool can ask it.

        `stopped` and `running` are states of the program; with any other value each session counts that has not
        ended.
        """
        mirror = session.mirror
        match self.member_state:
            case "stopped":
                return mirror.stop is not None
            case "running":
                return mirror.state.is_running
            case _:
                return not mirror.has_ended

    async def _run_side_by_side(
        self, asked: Mapping[str, Session], run_tool: Callable[[Session], Awaitable[Reply]]
    ) -> dict[str, Reply]:
        """Run the tool for all sessions side by side; return the replies by label, in the order of `asked`.

        A `DapeerError` of the tool becomes a failed reply. If the call `ends_early`, members that have not answered or
        failed `SECONDS_AFTER_FIRST` after the first are cancelled, and missing in the result. `run_tool` runs the tool
        for one session.

        Raises:
            ExceptionGroup: The tool has raised another error; the other members were cancelled.
        """
        found: dict[str, Reply] = {}

        async def ask(label: str, session: Session) -> None:
            """Put one member's reply or error into `found`; if the call `ends_early`, set the others' deadline."""
            try:
                found[label] = await run_tool(session)
            except DapeerError as error:
                found[label] = Reply(str(error), failed=True)
            if self.ends_early:
                deadline = anyio.current_time() + SECONDS_AFTER_FIRST
                tasks.cancel_scope.deadline = min(tasks.cancel_scope.deadline, deadline)

        async with anyio.create_task_group() as tasks:
            for label, session in asked.items():
                tasks.start_soon(ask, label, session)
        return {label: found[label] for label in asked if label in found}


def _without_session(text: str, session_id: int) -> str:
    """Return a member's answer without the session in its first line, so that equal ones can be folded.

    The member's label names the session already. `Session ID ` at the beginning (what follows gets a
    capital) and `[session ID]`, also with `, child of N`, are removed; other mentions and lines stay.

    >>> _without_session("Session 2 ended.", 2), _without_session("Still running [session 2, child of 1]. Wait on.", 2)
    ('Ended.', 'Still running. Wait on.')
    """
    head, end, rest = text.partition("\n")
    own = f"Session {session_id} "
    if head.startswith(own):
        head = head.removeprefix(own)
        head = f"{head[:1].upper()}{head[1:]}"
    head = re.sub(rf" \[session {session_id}(, child of \d+)?\]", "", head)
    return f"{head}{end}{rest}"


def _states(sessions: Mapping[str, Session], order: Sequence[str]) -> str:
    """Return which members are in which state, as text such as `2 running; 3 ended`.

    `sessions` are by member label; `order` has the labels of all members, so that neighbours are written as a range.
    """
    by_state: dict[str, list[str]] = {}
    for label, session in sessions.items():
        state = "running" if session.mirror.state.is_running else session.mirror.phase.value
        by_state.setdefault(state, []).append(label)
    return "; ".join(f"{labels_text(labels, order)} {state}" for state, labels in by_state.items())


def group_line(group: Group) -> str:
    """Return a group as one line: its name, the states of its members, and their session ids.

    The form is `group NAME: STATES (LABEL = session 3, …)`. A label that is the session's id stands alone.
    State and id are those of the member's `session_for_tool`, which may be a child, or another process that is
    stopped.
    """
    sessions = {label: group.session_for_tool(label) for label in group.members}
    numbers = ", ".join(
        label if label == str(each.id) else f"{label} = session {each.id}"
        for label, each in sessions.items()
    )
    return f"group {group.name}: {_states(sessions, [*sessions])} ({numbers})"


def check_group_or_session(group: object, session_id: object) -> None:
    """Raise an error if a call names both a group and a session.

    Raises:
        ArgumentError: Neither `group` nor `session_id` is None.
    """
    if group is not None and session_id is not None:
        raise ArgumentError(
            "`group` and `session_id` are two ways to say who is meant.", "Give one."
        )


# Answers of several members of a group, of which equal ones fold.


def labels_text(labels: Sequence[str], order: Sequence[str]) -> str:
    """Return labels as short text in the order of `order`; three or more numbers in a row become a range.

    The last is joined by `and`, others by commas. `order` has all labels.

    Raises:
        IndexError: `labels` is empty.
        ValueError: A label is not in `order`.

    >>> labels_text(["0", "1", "5"], ["0", "1", "2", "3", "5"]), labels_text(["web", "api"], ["api", "web"])
    ('0, 1 and 5', 'api and web')
    >>> labels_text(["0", "5", "9"], ["0", "5", "9"])
    '0, 5 and 9'
    """
    places = sorted(order.index(each) for each in labels)
    runs: list[list[int]] = []
    for place in places:
        if runs and _is_next_number(order[runs[-1][-1]], order[place]):
            runs[-1].append(place)
        else:
            runs.append([place])
    parts: list[str] = []
    for run in runs:
        if len(run) > 2:
            parts.append(f"{order[run[0]]}\N{EN DASH}{order[run[-1]]}")
        else:
            parts += [order[place] for place in run]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _is_next_number(label: str, following: str) -> bool:
    """Return whether both labels are numbers, and the second is the first one's successor."""
    return label.isdecimal() and following.isdecimal() and int(following) == int(label) + 1


def fold_answers(answers: Mapping[str, str]) -> str:
    r"""Return the answers of several members of a group as one text, in which equal lines are written once.

    `answers` has each member's text by its label; without a member the result is empty. Where all have the same
    number of lines, they are compared line by line, else as a whole.

    >>> print(fold_answers({"0": "x = 3\n(in f a.py:3)", "1": "x = 3\n(in f a.py:3)", "2": "x = nan\n(in f a.py:3)"}))
    x = 3 in 0 and 1; nan in 2
    (in f a.py:3)
    >>> print(fold_answers({"0": "one", "1": "two\nlines", "2": "one"}))
    In 0 and 2:
      one
    In 1:
      two
      lines
    """
    order = [*answers]
    lines = [text.split("\n") for text in answers.values()]
    if len({*map(len, lines)}) == 1:
        rows = zip(*lines, strict=True)
        return "\n".join(_line(dict(zip(order, row, strict=True)), order) for row in rows)
    blocks = [
        f"In {labels_text(labels, order)}:\n{indented(text)}"
        for text, labels in _alike(answers).items()
    ]
    return "\n".join(blocks)


def _line(row: Mapping[str, str], order: Sequence[str]) -> str:
    """Return one line with the texts of all members, each different text once, with its labels behind it.

    If all have the same text, that is the line, without labels. `row` has the members' texts by label, at least
    one, `order` all labels in the order in which they are named. A `NAME = ` that all have, or else the
    indentation, comes only once, at the beginning. If all are frames at the same place, that is one frame, with the
    id of each.

    >>> _line({"0": "  x: int = 3", "1": "  x: float = nan"}, ["0", "1"])
    '  x: int = 3 in 0; x: float = nan in 1'
    >>> _line({"0": "#0 f a.py:3 [frame_id 1]", "1": "#0 f a.py:3 [frame_id 5]"}, ["0", "1"])
    '#0 f a.py:3 [frame_id 1 in 0, 5 in 1]'
    """
    alike = _alike(row)
    if len(alike) == 1:
        return next(iter(alike))
    frames = {FRAME_ID.sub("{}", text) for text in alike}
    if len(frames) == 1 and (frame := frames.pop()).count("{}") == 1:
        ids = [
            f"{FRAME_ID.findall(text)[0]} in {labels_text(labels, order)}"
            for text, labels in alike.items()
        ]
        return frame.replace("{}", ", ".join(ids))
    head, sign, _ = next(iter(alike)).partition(ASSIGNED)
    same = sign and all(text.startswith(f"{head}{sign}") for text in alike)
    start = f"{head}{sign}" if same else head[: len(head) - len(head.lstrip())]
    parts = (
        f"{text.removeprefix(start)} in {labels_text(labels, order)}"
        for text, labels in alike.items()
    )
    return f"{start}{'; '.join(parts)}"


def _alike(answers: Mapping[str, str]) -> dict[str, list[str]]:
    """Return each different text with the labels of the members that have it."""
    found: dict[str, list[str]] = {}
    for label, text in answers.items():
        found.setdefault(text, []).append(label)
    return found
