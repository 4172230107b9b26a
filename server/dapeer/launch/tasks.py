"""Runs the tasks of a start: those before it to their end, background ones until its session ends."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from dapeer.adapters.process.owned_process import Processes
from dapeer.adapters.process.spawn import ChildProcess
from dapeer.base.errors import DapeerError
from dapeer.base.system.environment import starter_environment
from dapeer.base.system.limited_answers import MAX_PROCESSOR_SECONDS
from dapeer.base.system.matching import AwaitedLines, PatternOverdue
from dapeer.base.system.tasks import Answer, all_of
from dapeer.base.text.fitting import shortened
from dapeer.dap.messages import uncoloured
from dapeer.launch.tasks_json import Task, TaskPlan, TaskStage
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.triggers.trigger import checked_pattern

SECONDS_OF_TASK: Final = 300.0
"""Seconds in which a task ends that runs before a start."""
SECONDS_TO_BE_READY: Final = 60.0
"""Seconds in which a background task prints the line that its problem matcher waits for."""
LINE_CHARS: Final = 120
"""Characters of a task's command that an answer shows."""
MAX_QUOTED_CHARS: Final = 1500
"""Characters of a failed task's output in an error."""
PIECE_BYTES: Final = 1 << 16
MAX_KEPT_CHARS: Final = 20_000
"""Characters of a task's output that are kept."""
SECONDS_AFTER_EXIT: Final = 0.3
"""Seconds in which what a task has printed arrives after its end."""


class TaskFailed(DapeerError):
    """A task that runs before a start has failed; the program was not started."""


@dataclass(slots=True, eq=False)
class _RunningTask:
    """A task that runs, and what it prints."""

    task: Task
    child: ChildProcess
    printed: str = ""
    lines: list[str] = field(default_factory=list[str])
    """Whole lines that nobody has searched yet."""
    output_event: anyio.Event = field(default_factory=anyio.Event)
    closed_event: anyio.Event = field(default_factory=anyio.Event)
    """Set once `read` has read everything."""

    async def read(self) -> None:
        """Read the task's output into `printed` until its pipe is closed; set `output_event` with new `lines`.

        At the end `closed_event` is set; then, or at a cancellation, dapeer's end of the pipe is closed, too. `printed` keeps the last
        `MAX_KEPT_CHARS` characters. Lines of a background task, the last 1000, are also appended to `lines`, without colours, for the
        search of its patterns.
        """
        assert self.child.stdout is not None  # noqa: S101 - it is a pipe
        decoder, begun = codecs.getincrementaldecoder("utf-8")("replace"), ""
        # A line may be longer than a stream reads at once: some tasks print nothing but a bar of progress.
        try:
            while piece := await self.child.stdout.read(PIECE_BYTES):
                text = decoder.decode(piece)
                self.printed = (self.printed + text)[-MAX_KEPT_CHARS:]
                *whole, begun = (begun + text).split("\n")
                begun = begun[-MAX_KEPT_CHARS:]
                self._add_lines(whole)
        finally:
            self.child.close_pipes()
        self._add_lines([begun] * bool(begun))
        self.closed_event.set()

    def _add_lines(self, lines: Sequence[str]) -> None:
        """Add lines of a background task to `lines`, and set `output_event`; without lines nothing happens."""
        if self.task.is_background and lines:
            self.lines = [*self.lines, *(uncoloured(each).rstrip("\r") for each in lines)][-1000:]
            self.output_event.set()

    def failure(self, what: str) -> TaskFailed:
        """Return the error that the task has failed, with the end of its output.

        `what` is a verb with its object, such as `failed with exit code 1`.
        """
        words = uncoloured(self.printed).strip()[-MAX_QUOTED_CHARS:]
        said = f" It printed:\n{words}" if words else " It printed nothing."
        return TaskFailed(
            f"The task `{self.task.label}` ({shown_command(self.task)}) {what}, so the program was not started.{said}",
            '\nFix that, or start without it: config={"preLaunchTask": ""}.',
        )


def shown_command(task: Task) -> str:
    """Return a task's command in backquotes, shortened, for an answer or a question."""
    return f"`{shortened(task.line, LINE_CHARS)}`"


@dataclass(slots=True)
class TaskRun:
    """The tasks of one start, while `processes` holds what they have started."""

    processes: Processes
    keep: Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
    """Goes on reading what a task prints, and what it leaves running."""
    outcomes: list[str] = field(default_factory=list[str])
    """What became of each, for the answer."""
    _done_events: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])
    """By label, whether each task that was begun has ended, or is ready."""

    async def run(self, stage: TaskStage) -> None:
        """Run the tasks that a task depends on, then the task itself; each label at most once.

        The tasks before run one after the other if `stage.is_sequential`, else side by side. The method returns
        when the task has ended, or, if it is a background task, is ready. A task whose label another call runs
        already is waited for; if that call has failed, without end, until the caller is cancelled. A stage whose
        task has no command has nothing more to run. For each task that ended well or is ready a line is appended
        to `outcomes`.

        Raises:
            TaskFailed: A task cannot be run, has failed, takes too long to end, or is not ready in time.
            ArgumentError: A pattern of a background task is invalid.
        """
        if stage.is_sequential:
            for each in stage.stages_before:
                await self.run(each)
        else:
            await all_of(self.run(each) for each in stage.stages_before)
        if not stage.task.command:
            return
        label = stage.task.label
        if (done := self._done_events.get(label)) is not None:
            await done.wait()
            return
        done = self._done_events[label] = anyio.Event()
        await self._run_task(stage.task)
        done.set()

    async def _run_task(self, task: Task) -> None:
        """Start one task, wait until it ends well (or, in the background, is ready), and append to `outcomes`.

        The line that is appended says that the task is ready, or ended with exit code 0; a task that fails
        appends nothing. The task is a command of the project's tasks.json, to which the caller must have
        the person's consent. A task has `SECONDS_OF_TASK` to end, a background task `SECONDS_TO_BE_READY`
        to be ready; one that takes longer runs on until `self.processes` are ended. Until then, all that it
        or what it has left running prints is read.

        Raises:
            TaskFailed: The task cannot be run, ends with another exit code than 0, ends before it is ready,
                or takes too long; or a pattern takes too long for a line.
            ArgumentError: A pattern of a background task is invalid.
        """
        running = await self._start_task(task)
        # Also of what the task leaves running, which a closed pipe would kill as it prints.
        self.keep(running.read)
        if task.is_background:
            await self._wait_until_ready(running)
            self.outcomes.append(
                f"task {task.label} ({shown_command(task)}) is ready, and ends with the session"
            )
            return
        code: int | None = None
        with anyio.move_on_after(SECONDS_OF_TASK):
            code = await running.child.wait()
        with anyio.move_on_after(SECONDS_AFTER_EXIT):
            await running.closed_event.wait()
        if code is None:
            raise running.failure(f"did not end within {SECONDS_OF_TASK:g} s")
        if code:
            raise running.failure(f"failed with exit code {code}")
        self.outcomes.append(f"task {task.label} ({shown_command(task)}) ended with exit code 0")

    async def _start_task(self, task: Task) -> _RunningTask:
        """Start a task's process, which ends with `self.processes`, and return it.

        The process gets the environment of whoever starts the program, the task's own variables over it, and the
        mark of the session's processes; it runs in the task's `cwd`, or dapeer's if the task has none. All that
        it prints goes to a pipe, which the caller has to read (`_RunningTask.read`). Its stdin is empty.

        Raises:
            TaskFailed: The command or its folder is missing, or the system does not run the command. Where a
                shell runs the task, a missing command raises nothing: the shell reports it by its output and exit
                code.
        """
        command = ["/bin/sh", "-c", *task.command] if task.shell else task.command
        env = {**starter_environment(), **(task.env or {}), **self.processes.mark}
        try:
            child = await ChildProcess.start(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=task.cwd or None,
                env=env,
            )
        except OSError as error:
            raise TaskFailed(
                f"The task `{task.label}` ({shown_command(task)}) cannot be run: {error.filename}: {error.strerror}.",
                "The program was not started.",
            ) from error
        self.processes.add(child.pid)
        return _RunningTask(task, child)

    async def _wait_until_ready(self, running: _RunningTask) -> None:
        """Wait until a background task prints the line that its problem matcher names as the end of its work.

        If the matcher has a pattern for the beginning (`begins`) and is not active from the start, a line must
        fit that first; the same line may fit both. `running` is the started task, whose output another job must
        read; the lines that it has kept are removed from it.

        Raises:
            TaskFailed: The task ends before, or does not print the line within `SECONDS_TO_BE_READY`, or a
                pattern takes too much time or memory for a line.
            ArgumentError: A pattern is invalid or too long.
        """
        task = running.task
        begins, ends = (
            checked_pattern(each, f"task `{task.label}`") for each in (task.begins, task.ends)
        )
        awaited = AwaitedLines(ends) if task.active or not begins else AwaitedLines(begins, ends)
        try:
            with anyio.fail_after(SECONDS_TO_BE_READY):
                while True:
                    lines, running.lines, running.output_event = running.lines, [], anyio.Event()
                    if await awaited.search_lines(lines):
                        return
                    if not lines:
                        await self._wait_for_line(running)
        except PatternOverdue as error:
            raise running.failure(
                f"has a problem matcher that takes more than {MAX_PROCESSOR_SECONDS:g} s for a line of it"
            ) from error
        except TimeoutError as late:
            raise running.failure(
                f"has not printed a line like {shortened(ends, LINE_CHARS)!r} within {SECONDS_TO_BE_READY:g} s"
            ) from late
        finally:
            await awaited.aclose()

    async def _wait_for_line(self, running: _RunningTask) -> None:
        """Wait until a background task has printed a line, which sets `output_event`.

        A piece of a line counts once the task's output has ended. It returns at once if the event is set; the event
        is not cleared. There is no timeout: the caller sets one.

        Raises:
            TaskFailed: The task has ended, and has no unsearched lines when `SECONDS_AFTER_EXIT` have passed.
        """
        ended: list[int] = []
        async with anyio.create_task_group() as tasks:

            async def wait_for_end() -> None:
                ended.append(await running.child.wait())
                await anyio.sleep(SECONDS_AFTER_EXIT)
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait_for_end)
            await running.output_event.wait()
            tasks.cancel_scope.cancel()
        if ended and not running.lines:
            raise running.failure(f"ended with exit code {ended[0]} before it was ready")


class StartTasks:
    """The tasks of one start, from before it until its session has ended."""

    def __init__(self, debugger: Debugger, plan: TaskPlan) -> None:
        self._debugger = debugger
        self._plan = plan
        self._task_group: Answer[tuple[Processes, TaskGroup]] = Answer()
        self._release_event = anyio.Event()

    async def run_before(self) -> list[str]:
        """Run the tasks before the start, and return a line on what became of each.

        The call waits until each task has ended or, in the background, is ready. Background tasks go on after the
        call: `release` ends them if the start fails, `until_end_of_all` at the end of the programs. The list is
        empty if there are no tasks before the start. After an error or a cancellation all that was begun is ended,
        which is not waited for.

        Raises:
            TaskFailed: A task cannot be run, has failed, takes too long to end, or is not ready in time.
            ArgumentError: A pattern of a background task is invalid.
        """
        if self._plan == TaskPlan():
            return []
        self._debugger.start_task(self._hold)
        run = await self._run_of()
        try:
            if self._plan.stage_before is not None:
                await run.run(self._plan.stage_before)
        except BaseException:
            self._release_event.set()
            raise
        return run.outcomes

    def release(self) -> None:
        """End the background tasks, because the start has failed."""
        self._release_event.set()

    def until_end_of_all(self, sessions: Sequence[Session], tell: Callable[[str], None]) -> None:
        """Have background tasks end, and the task after them run, once all programs of `sessions` have ended.

        It returns at once. `tell` is called with a line on what became of each task that runs then. Without tasks nothing happens.
        """
        if self._task_group.is_given:
            self._debugger.start_task(self._run_after_programs, sessions, tell)

    async def _run_after_programs(
        self, sessions: Sequence[Session], tell: Callable[[str], None]
    ) -> None:
        """Wait for the end of the sessions' programs, run the task after them, and end the background tasks.

        `tell` is called with a line on each task that ended well, once all are done or one has failed, then with the
        error of that one, which is not raised. The background tasks are also ended when there is no task, and at a cancellation.
        """
        try:
            for program in [each.program for each in sessions]:
                await program.waiters.wait_for(lambda it=program: not it.living_sessions, None)
            if self._plan.stage_after is not None:
                run = await self._run_of()
                try:
                    await run.run(self._plan.stage_after)
                finally:
                    for each in run.outcomes:
                        tell(each)
        except DapeerError as error:
            tell(str(error).replace(", so the program was not started", ""))
        finally:
            self._release_event.set()

    async def _run_of(self) -> TaskRun:
        """Return a new run of tasks, once the holder of their processes is there."""
        processes, readers = await self._task_group.wait()
        return TaskRun(processes, readers.start_soon)

    async def _hold(self) -> None:
        """Hold the processes of the tasks until `release`, or dapeer's end; then end them."""
        async with self._debugger.own_processes() as processes, anyio.create_task_group() as tasks:
            self._task_group.give((processes, tasks))
            await self._release_event.wait()
            tasks.cancel_scope.cancel()
