"""Starts several programs as one group: a compound of launch.json, or one program several times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from dapeer.base.system.tasks import first_of
from dapeer.launch.tasks import StartTasks
from dapeer.launch.tasks_json import TaskPlan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.groups import Group
from dapeer.sessions.triggers.runs import SECONDS_TO_STOP, TriggerRun
from dapeer.tools.base.call import Call, Reply, with_notes
from dapeer.tools.base.deadline import RemainingTime
from dapeer.tools.base.groups import SECONDS_AFTER_FIRST, group_line
from dapeer.tools.base.stop.options import StopOptions
from dapeer.tools.base.stop.triggers import TriggerArguments
from dapeer.tools.base.stop.waiting import next_stop
from dapeer.tools.starts.running import StartedProgram


@dataclass(frozen=True, slots=True)
class StartedGroup:
    """What is started together, by the labels of its members."""

    call: Call
    name: str
    members: Mapping[str, StartedProgram]
    tasks: TaskPlan
    stop_all: bool = False

    async def run(self, options: StopOptions, triggers: TriggerArguments) -> Reply:
        """Start all members, and return the first stop of any, or the end of all, as a reply.

        The sessions become a group with this name; with `stop_all`, all end once one has ended. Triggers are sent to the first member.
        `options` say what to evaluate and show, and how long to wait.

        Raises:
            DapeerError: A task fails, or a member does not start; members that have started are ended.
        """
        tasks = StartTasks(self.call.debugger, self.tasks)
        told = await tasks.run_before()
        sessions: dict[str, Session] = {}
        try:
            for label, each in self.members.items():
                sessions[label] = await each.begin()
        except BaseException:
            tasks.release()
            with anyio.CancelScope(shield=True):
                for each in sessions.values():
                    await self.call.debugger.terminate(each)
            raise
        client, first = self.call.focus.key, next(iter(sessions.values()))
        news = self.call.debugger.triggers
        tasks.until_end_of_all([*sessions.values()], lambda line: news.tell(client, line))
        group = self.call.debugger.groups.add(self.name, sessions, stop_all=self.stop_all)
        if self.stop_all:
            self.call.debugger.keep(self._end_together, group)
        triggers.begin(self.call, first)
        return await self._shown(group, told, options, news.awaited(first, client))

    async def _shown(
        self, group: Group, told: Sequence[str], options: StopOptions, run: TriggerRun | None
    ) -> Reply:
        """Wait for the first stop of a group's members, and return the state of that session as a reply.

        `told` are notes on the tasks; `run` is the sending of triggers, or None. If nothing stops in time, a member that still runs is
        shown. `options` say what to evaluate and show, and how long to wait.
        """
        left = RemainingTime(options.timeout_ms if options.wait_until_paused else 0)
        sessions = [*group.members.values()]
        stopped = await first_stop(sessions, left.remaining_ms / 1000, run)
        shown = stopped or next((each for each in sessions if not each.over), sessions[0])
        self.call.focus.use(shown)
        reply = await next_stop(self.call, shown, 0, 0, options=options)
        notes = [note for each in self.members.values() for note in each.task_notes]
        return with_notes(
            reply,
            [f"{group_line(group)}; group={group.name!r} asks all", *told, *dict.fromkeys(notes)],
        )

    async def _end_together(self, group: Group) -> None:
        """Wait until the program of one member has ended, then end all others."""
        sessions = [*group.members.values()]
        await first_of(*(partial(_end_of, each) for each in sessions))
        for each in sessions:
            if each.program.alive:
                await self.call.debugger.terminate(each)


async def _end_of(session: Session) -> None:
    """Wait until all processes of the session's program have ended."""
    await session.program.waiters.wait_for(lambda: not session.program.runs, None)


async def first_stop(
    sessions: Sequence[Session], seconds: float, run: TriggerRun | None
) -> Session | None:
    """Wait until a program of several has stopped; return the session that is stopped.

    Once one has, the others get a moment to stop, too. None: all have ended, `seconds` have passed, or triggers (`run`) have ended and no
    stop has followed. `sessions` has one of each program.
    """

    def all_still() -> bool:
        return all(each.program.stopped or not each.program.runs for each in sessions)

    def stopped() -> Session | None:
        return next((each for one in sessions for each in one.program.stopped), None)

    def over() -> bool:
        done = run is not None and run.ended_at is not None
        return stopped() is not None or done or not any(each.program.runs for each in sessions)

    await _until(sessions, over, seconds)
    if run is not None and run.ended_at is not None:
        await _until(sessions, lambda: stopped() is not None, min(seconds, SECONDS_TO_STOP))
    if (first := stopped()) is not None:
        # The others are about to stop where it has.
        await _until(sessions, all_still, min(seconds, SECONDS_AFTER_FIRST))
        return first
    return None


async def _until(sessions: Sequence[Session], happened: Callable[[], bool], seconds: float) -> None:
    """Wait until `happened` is true, for at most `seconds`.

    It is asked again whenever one of the programs reports something.
    """
    waits = (partial(each.program.waiters.wait_for, happened, seconds) for each in sessions)
    await first_of(*waits)


def replace_number(
    env: Mapping[str, str] | None, args: Sequence[str] | None, number: int
) -> dict[str, Any]:
    """Return those of `env` and `args` that are not None, with `{i}` in their values replaced by `number`.

    The keys of the result are `env` and `args`.
    """
    sign, own = "{i}", str(number)
    changed: dict[str, Any] = {}
    if env is not None:
        changed["env"] = {name: value.replace(sign, own) for name, value in env.items()}
    if args is not None:
        changed["args"] = [each.replace(sign, own) for each in args]
    return changed
