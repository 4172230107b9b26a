"""Where every thread is, in one look, whether the program is stopped or runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import anyio

from dapeer.adapters.definition.placeholders import fill_texts
from dapeer.base.errors import ArgumentError, DapeerError, RequestFailed
from dapeer.base.json_types import Value
from dapeer.base.system.tasks import BackgroundTask, all_of
from dapeer.dap.sent_requests import EvaluateArguments, SendRequest
from dapeer.dap.types import StackFrame
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.places import (
    SPEC,
    Sight,
    ThreadLocation,
    ThreadLocations,
    match_by_name,
    parse_object_value,
    parse_places,
)
from dapeer.mirror.stops import Stop
from dapeer.sessions.inspection.inspection import Inspection
from dapeer.view.stacks import frame_line, frames_left_out, left_out_text

SECONDS_TO_LOOK_AROUND = 1.5
"""Timeout of the inspection; later results are left out."""
MAX_THREADS = 200
"""Threads whose stacks are requested."""
SECONDS_TO_SPY = 0.7
"""Time that another program has at least to read the places; the deadlines of tools leave that."""
SECONDS_TO_READ = 5.0
"""Timeout to read a frame of a thread that is not stopped."""
MAX_KNOWN_FRAMES = 1000
"""Frames of such threads whose ids are known."""

T = TypeVar("T")


class ThreadLocator:
    """Finds out where all threads of a program are, at once.

    The place of a stopped thread is in its stack. Where a thread is that runs, the program itself tells, if the definition has an
    expression for that: evaluating it needs no thread of the program, and takes no time.
    """

    def __init__(
        self,
        mirror: Mirror,
        inspect: Inspection,
        request: SendRequest,
        sight: Sight,
        first: Callable[[], Mirror],
        watched: Callable[[], int],
    ) -> None:
        """Find out nothing yet.

        `request` sends requests of this session. `sight` is what the definition says of looking into a running program. `first` returns
        the mirror of the program's first process, and `watched` the pid of this session's, where that is known to be on this machine,
        else 0.
        """
        self._mirror = mirror
        self._inspect = inspect
        self._request = request
        self.sight = sight
        self._first_mirror = first
        self._watched_pid = watched
        self._left_out_frames: dict[tuple[object, ...], str] = {}
        """By the callers of a stop: the frames that are left out there."""
        self._unstopped_frames: dict[int, tuple[ThreadLocation, int]] = {}
        """By frame_id: the thread or task that is not stopped, and the number of its frame."""

    @property
    def pid(self) -> int:
        """The program's process id; 0: it may not be on this machine, as an attached one in a container."""
        here = self._first_mirror().process.get("startMethod") == "launch"
        return self._watched_pid() or (self._reported_pid if here else 0)

    @property
    def _reported_pid(self) -> int:
        """The pid that the adapter has reported, perhaps of another machine; 0: none."""
        return int(self._mirror.process.get("systemProcessId") or 0)

    @property
    def sees_running(self) -> bool:
        """Whether the locations of threads can be found while the program runs."""
        return bool(self.sight.expression)

    async def locate_threads(self, seconds: float = SECONDS_TO_LOOK_AROUND) -> ThreadLocations:
        """Return where the threads and tasks of the program are, as far as known after `seconds`.

        A program that does not answer in a third of `seconds` is read from outside, by another program, if the
        definition names one; `has_timed_out` says that no usable answer came in `seconds`, `why_unread` why the other
        program read nothing. The other program runs here. It has `SECONDS_TO_SPY` at least, and is waited for, so this
        may return later than `seconds`. Stacks of stopped threads, of at most `MAX_THREADS`, are requested only if the
        program tells the place of no thread. Errors of the adapter raise nothing: the threads may then be those that
        the mirror knows, or lack frames.
        """
        clock = anyio.current_time
        end = clock() + seconds
        reading = BackgroundTask(self._names_and_places(end))
        with anyio.move_on_after(seconds / 3):
            await reading.wait_for_end()
        # It may be silent for the whole time.
        read = [] if reading.done else await self._from_outside(max(end - clock(), SECONDS_TO_SPY))
        await reading.wait_for_end()
        names, answer = reading.result()
        threads = {**(self._mirror.threads if names is None else names)}
        if answer is None and isinstance(read, list) and read:
            return ThreadLocations(self._spied(threads, read), has_timed_out=True)
        known = answer or {}
        seen = match_by_name(threads, known.get("threads", ()))
        # Some adapters take half a second for a thread that is not at rest, one after the other.
        missing = [] if seen else [each for each in threads if self._mirror.stop_of(each)]
        stacks = await self.stacks(missing[:MAX_THREADS], end - clock())
        return ThreadLocations(
            [self._place(each, name, seen, stacks) for each, name in threads.items()],
            known.get("tasks", ()),
            has_timed_out=answer is None,
            why_unread=read if answer is None and isinstance(read, str) else "",
        )

    async def _names_and_places(
        self, end: float
    ) -> tuple[Mapping[int, str] | None, Mapping[str, Sequence[ThreadLocation]] | None]:
        """Return the threads' names by id, and where the program says that threads and tasks are.

        Both are requested, first the names, until `end`, a time of anyio's clock. None stands for what has failed
        or has not come by then, and nothing is raised; without the names the places are not requested, and are
        None, too. The places have the keys `threads` and `tasks`; they are empty if the adapter's definition has no
        expression for them, or the adapter rejects it.
        """
        clock = anyio.current_time
        names = await _within(end - clock(), self._inspect.threads())
        answer = (
            await _within(end - clock(), self._evaluate_locations()) if names is not None else None
        )
        return names, answer

    def _spied(
        self, threads: Mapping[int, str], read: Sequence[ThreadLocation]
    ) -> list[ThreadLocation]:
        """Return the threads that another program has read, with their ids where the adapter knows them.

        Others are left out unless they run code of the user's: the debugger alone runs in them.
        """
        known = match_by_name(threads, read)
        others = [each for each in read if each not in known.values()]
        users = [each for each in others if any(map(self._mirror.frames.is_users, each.frames))]
        return [*(replace(each, thread_id=n) for n, each in known.items()), *users]

    async def _from_outside(self, seconds: float) -> list[ThreadLocation] | str:
        """Run the definition's program that reads threads of a silent process; return where they are.

        A text says why it could not, or which command to run where the program is. An empty list: the definition names none, or the
        process is not known. The program is killed after `seconds`.
        """
        outside, pid = self.sight.outside, self.pid
        if outside is None or not (pid or self._reported_pid):
            return []
        name, *arguments = fill_texts(outside.command, {"pid": pid or self._reported_pid})
        if not pid:
            return f"`{shlex.join((name, *arguments))}`, where the program runs, tells in which function it is"
        folders = [*os.get_exec_path(), str(Path(sys.executable).parent)]
        path = os.pathsep.join(filter(os.path.isabs, folders))
        if (file := shutil.which(name, path=path)) is None:
            return outside.missing
        try:
            process = await asyncio.create_subprocess_exec(
                file, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            return f"{name} cannot be started: {error.strerror}"
        try:
            with anyio.fail_after(seconds):
                printed, errors = await process.communicate()
        except TimeoutError:
            return f"{name} did not end in time"
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if read := outside.read(printed.decode(errors="replace")):
            return read
        why = errors.decode(errors="replace").strip().splitlines()[-1:]
        if outside.denied and any("permission denied" in each.lower() for each in why):
            why = fill_texts([outside.denied], {"pid": pid})
        return ": ".join((f"{name} read nothing", *why))

    @property
    def reads_running(self) -> bool:
        """Whether the frames of threads that are not stopped can be read."""
        return bool(self.sight.waits)

    async def fetch_waits(self, seconds: float = SECONDS_TO_LOOK_AROUND) -> Mapping[str, Value]:
        """Ask the program what its threads and tasks wait for, in the shape that `view.waits` reads.

        Empty: the definition has no expression for it, or the program did not answer within `seconds`.
        """
        return (await _within(seconds, self._ask({})) or {}) if self.reads_running else {}

    def give_frame_id(self, place: ThreadLocation, number: int) -> int:
        """Return an id for frame `number` of a running thread or task: the same while it stays where it is.

        `place` is where the thread or task is; `number` 0 is its innermost frame. A new id comes from the handles of the session. At most
        `MAX_KNOWN_FRAMES` ids are kept; the oldest is dropped.
        """
        for known, (other, n) in self._unstopped_frames.items():
            if n == number and (other.own_id, other.frames) == (place.own_id, place.frames):
                return known
        if len(self._unstopped_frames) >= MAX_KNOWN_FRAMES:
            self._unstopped_frames.pop(next(iter(self._unstopped_frames)))
        another = self._mirror.history.numbers.another()
        self._unstopped_frames[another] = place, number
        return another

    def has_frame(self, frame_id: int) -> bool:
        """Return whether `frame_id` was given out by `frame_id()` for a thread or task that is not stopped."""
        return frame_id in self._unstopped_frames

    def line_of(self, frame_id: int, project: Path) -> str:
        """Return the place of such a frame as a line of text; paths are relative to `project`."""
        place, number = self._unstopped_frames[frame_id]
        return frame_line(place.frames[number], project)

    async def read_frame(
        self,
        frame_id: int,
        path: str = "",
        *,
        runs: bool = False,
        max_chars: int | None = None,
        seconds: float = SECONDS_TO_READ,
    ) -> Mapping[str, Value]:
        """Ask the program for a running thread's variables in a frame, or for the `value` at `path`.

        `frame_id` is an id that `give_frame_id` has returned. `path` is one such as `self.orders[3].price`; empty: the
        frame itself. With `runs` it may be any expression, whose code another thread of the program then runs, awaited
        for two seconds at most. `max_chars` is how long the text of the value is about (None: short). The answer has
        `value` (None without a path) and `variables`, those in the frame or in the value; or only `error`, which says
        why nothing was read: also where the frame has gone on, a request fails, or the program has not answered within
        `seconds`. The adapter's definition must have expressions for this (`reads_running`).

        Raises:
            ArgumentError: There is no such frame.
        """
        if frame_id not in self._unstopped_frames:
            raise ArgumentError(
                f"There is no frame {frame_id} of a thread that runs.", "dap_stacktrace lists them."
            )
        place, number = self._unstopped_frames[frame_id]
        frame = place.frames[number]
        where = [frame["name"], str(frame.get("source", {}).get("path")), frame["line"]]
        question = {
            "id": place.own_id,
            "number": number,
            "place": where,
            "path": path,
            "runs": runs,
            "max_chars": max_chars,
        }
        return await _within(seconds, self._ask(question)) or {
            "error": "the program did not answer"
        }

    async def _ask(self, question: Mapping[str, object]) -> Mapping[str, Value]:
        """Evaluate the `waits` expressions with a question until one succeeds; return its JSON object.

        The adapter's definition has these expressions, and must have at least one (`reads_running`). `question` is
        passed as JSON. The result is an empty dict if the expression's value is no JSON object.

        Raises:
            DapeerError: The adapter rejected the last one, or an evaluation failed in another way than by a rejection.
        """
        spec = json.dumps(json.dumps(question))
        *first, last = self.sight.waits
        for expression in first:
            with contextlib.suppress(RequestFailed):
                return await self._evaluate_object(expression.replace(SPEC, spec))
        return await self._evaluate_object(last.replace(SPEC, spec))

    async def _evaluate_object(self, expression: str) -> Mapping[str, Value]:
        """Evaluate an expression in the program, without a frame; return the JSON object in the result.

        The returned mapping is empty if the result is no JSON object.

        Raises:
            RequestFailed: The adapter rejects the evaluation.
            DapeerError: The adapter did not answer, or the session has ended.
        """
        arguments: EvaluateArguments = {"expression": expression, "context": "clipboard"}
        body = await self._request("evaluate", arguments)
        try:
            return parse_object_value(str(body.get("result") or ""))
        except ValueError:
            return {}

    def enable_program_queries(self, folded: re.Pattern[str] | None) -> None:
        """Have the program asked at later stops for what its unpatched adapter leaves out.

        `folded` is the pattern by which values show that elements were left out; None: they do not.
        """
        self._inspect.enable_program_queries(
            folded, self._record_left_out_frames if self.sight.hides else None
        )

    async def _record_left_out_frames(self, stop: Stop) -> None:
        """Record at a stop which frames the adapter leaves out, by asking the program for its stack.

        The record is the text `left_out_note` of `stop.findings`, empty if there are none. The stack of the stop's
        thread must have been fetched. The program is asked once for each chain of callers, so a step within a function
        costs nothing. Nothing is recorded if the stop's frame has no callers, or no answer comes in
        `SECONDS_TO_LOOK_AROUND`; a rejected request counts as an answer without frames.

        Raises:
            DapeerError: The threads cannot be fetched.
        """
        top, *callers = stop.stack.frames[stop.thread_id]
        if not callers:
            return
        chain = (top["name"], *((each["name"], each["line"]) for each in callers))
        if chain not in self._left_out_frames:
            names = await self._inspect.threads()
            answer = await _within(SECONDS_TO_LOOK_AROUND, self._evaluate_locations())
            if answer is None:
                return
            seen = match_by_name(names, answer.get("threads", ())).get(stop.thread_id)
            others = frames_left_out(seen.frames if seen else (), [top, *callers])
            self._left_out_frames[chain] = left_out_text(
                others, self._mirror.frames, self.sight.hides
            )
        self._mirror.record_findings(
            stop, replace(stop.findings, left_out_note=self._left_out_frames[chain])
        )

    def _place(
        self,
        thread_id: int,
        name: str,
        seen: Mapping[int, ThreadLocation],
        stacks: Mapping[int, Sequence[StackFrame]],
    ) -> ThreadLocation:
        """Return where a thread is: by its stack if it is stopped, else by what the program says.

        `seen` has what the program says by thread id, `stacks` the stacks that were fetched.
        """
        place = seen.get(thread_id, ThreadLocation(name))
        frames = self._known_frames(thread_id) or stacks.get(thread_id) or place.frames
        stopped = self._mirror.stop_of(thread_id) is not None
        return replace(place, thread_id=thread_id, stopped=stopped, frames=frames)

    def _known_frames(self, thread_id: int) -> Sequence[StackFrame]:
        """Return the frames of a stopped thread that the mirror has; empty: none, or the thread runs."""
        stop = self._mirror.stop_of(thread_id)
        return stop.stack.frames.get(thread_id, ()) if stop is not None else ()

    async def _evaluate_locations(self) -> Mapping[str, Sequence[ThreadLocation]]:
        """Evaluate the definition's expression that lists where threads and tasks are; return both lists.

        Their keys are `threads` and `tasks`; each entry is a `ThreadLocation`, one thread or task with its frames.
        The mapping is empty if the definition has no such expression, the adapter rejects it, or the answer is not
        JSON.

        Raises:
            DapeerError: The adapter does not answer, or the session has ended.
        """
        if not self.sight.expression:
            return {}
        arguments: EvaluateArguments = {"expression": self.sight.expression, "context": "clipboard"}
        try:
            body = await self._request("evaluate", arguments)
        except RequestFailed:
            return {}
        return parse_places(str(body.get("result") or ""))

    async def stacks(
        self, threads: Sequence[int], seconds: float = SECONDS_TO_LOOK_AROUND
    ) -> Mapping[int, Sequence[StackFrame]]:
        """Request the stacks of stopped threads side by side.

        Return those that came within `seconds`, by thread id.
        """
        fetches = (_within(seconds, self._inspect.stack_trace(each)) for each in threads)
        stacks = await all_of(fetches)
        return {each: stack for each, stack in zip(threads, stacks, strict=True) if stack}


async def _within(seconds: float, fetch: Awaitable[T]) -> T | None:
    """Await a fetch for at most `seconds`; return its result, None: it failed or was too slow."""
    try:
        with anyio.fail_after(max(seconds, 0)):
            return await fetch
    except (DapeerError, KeyError, TimeoutError):
        return None
