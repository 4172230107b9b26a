"""Runs a program until something that only stops show: at a watchpoint, or step by step.

Each stop is looked at, and the program goes on.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from fnmatch import fnmatch

import anyio

from dapeer.base.errors import DapeerError
from dapeer.collecting.rows.collected import Watch
from dapeer.collecting.rows.table import FAILED, CollectedRow
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop
from dapeer.sessions.breakpoints.watching import ScopeSpec
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.session import Session
from dapeer.view.stacks import frame_path

SECONDS_TO_EVALUATE = 2.0
"""Seconds that the value may take at each stop."""
SECONDS_WITHOUT_STOP = 10.0
"""Seconds that one step may take; a longer one goes on, and is told as a program that runs."""
THREADS_LOOKED_AT = 16
"""Other threads of which is looked whether they run code of the user's."""
FRAMES_LOOKED_AT = 20
_FALSE = frozenset({"", "0", "0x0", "0.0", "false", "False", "nil", "(nil)", "null", "None", "undefined", "undef", "NaN", "''", '""', "no value"})  # fmt: skip
_ERROR = re.compile(r"#<(\w+::)*\w*Error\b")
"""rdbg shows an error as a value."""
_ESCAPES = str.maketrans({"\n": " ", "\t": " ", "\r": " "})


class Driving:
    """Runs a program until an expression holds, changes or is written: resumes it, and looks at each stop.

    Subclasses say how the program goes on. A watch with `on="true"` has come about when the expression holds and did not before, any
    other one when its value has changed.
    """

    method = ""
    unit = "stop"
    """What is counted."""
    bounded = True
    """It ends at the caller's time-out."""

    def __init__(self, session: Session, watch: Watch, scope: ScopeSpec, seconds: float) -> None:
        """Prepare a run until `watch`, which may take `seconds` from now; the program is not moved yet.

        `scope` is the code in which the expression is looked at (keys `files` and `functions`; neither: the user's code).
        """
        self.session = session
        self.watch = watch
        self.scope = scope
        self._count = 0
        self._clock = anyio.current_time
        self._started_at = self._clock()
        self._end_time = self._started_at + seconds
        self._value: str | None = None
        self._seen_functions: set[tuple[str, str]] = set()
        """Functions, with their files, in which it has a value."""
        self._last_place = ("", "", "0")
        """Function, file and line of the scope at which the program has stopped last."""
        self._threads: set[int] = set()
        """All that were there meanwhile."""

    async def begin(self, frame_id: int | None) -> None:
        """Evaluate the watched expression at the present stop; record its value, and that the run begins.

        `frame_id` is the frame in which a subclass may look the expression up; here the stop's innermost one is
        used. An expression that cannot be evaluated has no value yet, nor has one whose frame is outside the scope.
        If the expression holds already (`watch.holds_already`), a row says so. Subclasses may prepare the session, too,
        such as by breakpoints.

        Raises:
            NotStopped: The program runs.
            ArgumentError: In subclasses: the expression cannot be watched; nothing is set.
            NoConditions: In subclasses: this way of running cannot tell it; nothing is set.
            DapeerError: The adapter does not answer, or rejects a request.
        """
        del frame_id
        stop = self.session.mirror.require_stop()
        self._value = await self.evaluate_at_stop(stop)
        top = await self.top(stop)
        self._last_place = place_of(top)
        watch = self.watch
        watch.begin(self.method, self.session.mirror.epoch, holds=is_true(self._value))
        if watch.holds_already:
            self._record(stop, self._last_place, None, self._value or "")
        if self._value is not None:
            self._record_first_value(self._last_place, self._value)
        self.session.watching.set_driven(watch)

    async def resume(self, stop: Stop) -> None:
        """Send the request that has the program go on from `stop`."""
        raise NotImplementedError

    async def evaluate_at_stop(self, stop: Stop) -> str | None:
        """Return the expression's value at a stop, as text.

        None: it has none there, or the frame is not in the scope.
        """
        frame = await self.top(stop)
        return await self.evaluate_in_frame(frame) if frame and self._is_in(frame) else None

    async def note_cause_place(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return function, file and line (as texts) that have run last before a stop; None: not in the scope."""
        del stop
        return self._last_place

    def is_stopped_by_other(self, stop: Stop) -> bool:
        """Return whether something else than this run has stopped the program, so that it stays stopped."""
        return stop.reason != "step"

    async def end(self) -> None:
        """Remove what `begin` has set in the program or adapter; here nothing."""

    async def run(self) -> None:
        """Run the program until the watch has come about, or something else ends the run.

        `begin` must have been called. Other ends are a stop with another cause, the program's end, and the end of
        the run's time, which is looked at only between stops; a run that is `bounded` also ends when no stop
        comes within `SECONDS_WITHOUT_STOP`, and the program then runs on. With `watch.every` the run goes on
        after each hit. A program that runs already is left alone. A row for each hit is added to the program's
        collected rows. Nothing is returned: what has ended the run is seen in these rows, in the session's mirror
        and in `watch`, where time and cost are recorded. In any case `end` then removes what `begin` has set in
        the adapter, unless the program has ended; errors of that removal are ignored.

        Raises:
            DapeerError: A request to resume the program or to look at a stop failed.
        """
        session = self.session
        try:
            with session.inspect.quiet():
                await self._run()
        finally:
            self.set_cost()
            with contextlib.suppress(DapeerError):
                if not session.mirror.has_ended:
                    await self.end()

    async def _run(self) -> None:
        """Resume the stopped program and look at each stop, until a stop ends the run.

        A stop ends the run if something else than this run has caused the stop, or if the watch has come about and does not
        want `every` case. The run also ends when the program ends, or when no stop comes within `SECONDS_WITHOUT_STOP`
        (only if `bounded`): the program runs on then. The run's time is looked at only between stops: when it is up, the
        program is not resumed again. A program that runs already is left alone.

        Raises:
            DapeerError: A request that resumes the program or looks at a stop has failed.
        """
        session, mirror = self.session, self.session.mirror
        stop = mirror.stop
        while stop is not None and self._clock() < self._end_time:
            epoch = mirror.epoch
            await self.resume(stop)
            limit = None if not self.bounded else SECONDS_WITHOUT_STOP
            await session.wait_for(lambda at=epoch: mirror.has_moved_on(at), limit)
            last, stop = stop, mirror.stop
            if stop is None or stop is last:
                return
            self._count += 1
            done = await self._record_if_met(stop)
            if self.is_stopped_by_other(stop) or (done and not self.watch.every):
                return

    async def _record_if_met(self, stop: Stop) -> bool:
        """Evaluate the expression at a stop; if the watch has come about, add a row and return True.

        The watch has come about if the value is true and was not before, or is true at first (`on` is `true`);
        or else if the value differs from the one before, which a first value does not. It has not come about if
        the expression cannot be evaluated, or if no code of the watch's scope has changed the value
        (`note_cause_place` gives None). A text that begins with `FAILED`, as a watchpoint gives, is compared
        like other values. Value and place of the stop are remembered for the next stop; without a value the
        earlier one stays. Where a function has another value for the first time, a row tells that, too. False:
        the watch has not come about.

        Raises:
            DapeerError: The stack or the threads cannot be fetched.
        """
        before, now = self._value, await self.evaluate_at_stop(stop)
        self._threads.update(self.session.mirror.threads)
        top = await self.top(stop)
        if now is None:
            self._move(top)
            return False
        self._record_first_value(place_of(top), now)
        self._value = now
        if self.watch.on == "true":
            done = is_true(now) and not is_true(before)
        else:
            done = before is not None and now != before
        line = await self.note_cause_place(stop) if done else None
        if line is not None:
            await self.session.inspect.threads()
            self._record(stop, line, before, now)
        self._move(top)
        return line is not None

    def _move(self, top: StackFrame | None) -> None:
        """Remember a frame's place as the last one in the scope; a frame outside of it changes nothing."""
        # What other code does, the line of the scope that has called it does.
        if top is not None and self._is_in(top):
            self._last_place = place_of(top)

    def _record(self, stop: Stop, line: tuple[str, str, str], before: str | None, now: str) -> None:
        """Add a row of the watch to the collected ones: the place `line`, and the value before and now.

        `line` is function, file and line number as texts (`place_of`). `now` is the text of the watched
        expression's new value, `before` that of the old one; None gives an empty text. `stop` tells the thread:
        the row has its name, or its id where the name is unknown, and an empty text if it is the session's only
        or first one. The row's seconds count from the beginning of the run; its hit is 0.
        """
        name = self.session.mirror.threads.get(stop.thread_id, "")
        first = next(iter(self.session.mirror.threads), stop.thread_id)
        only = len(self.session.mirror.threads) < 2
        thread = "" if only or stop.thread_id == first else name or str(stop.thread_id)
        cells = (*line, _cell(before), _cell(now))
        row = CollectedRow(
            self.watch.point.number, 0, self._clock() - self._started_at, thread, "", "", cells
        )
        self.session.program.collected.add(self.session.id, row, self.method)

    async def top(self, stop: Stop) -> StackFrame | None:
        """Return the innermost frame of a stop; None: it has no stack."""
        frames = await self.session.inspect.stack_trace(stop.thread_id)
        return frames[0] if frames else None

    async def evaluate_in_frame(self, frame: StackFrame) -> str | None:
        """Evaluate the expression in a frame, and return its text; return None if that fails.

        A failure is recorded as a row of the watch's `look_point`, with the place and the reason. An evaluation may run
        code of the program, and take `SECONDS_TO_EVALUATE`. No error of the adapter is raised. The text may be empty.
        """
        try:
            body = await evaluate(
                self.session, self.watch.expression, frame["id"], "watch", SECONDS_TO_EVALUATE
            )
        except DapeerError as error:
            self._record_failed_look(frame, " ".join(str(error).split()))
            return None
        return str(body.get("result") or "")

    def _record_first_value(self, place: tuple[str, str, str], value: str) -> None:
        """Record that the expression has a value in this function, once for each function and file."""
        if place[:2] not in self._seen_functions and not value.startswith(FAILED):
            self._seen_functions.add(place[:2])
            self._add_look_row(place, _cell(value))

    def _record_failed_look(self, frame: StackFrame, error: str) -> None:
        """Record that the expression could not be evaluated in a frame, and why."""
        self._add_look_row(place_of(frame), f"{FAILED}{_cell(error)[:200]}")

    def _add_look_row(self, place: tuple[str, str, str], value: str) -> None:
        """Add a row about a look: the place, and the value or error there."""
        cells = (*place, value)
        row = CollectedRow(self.watch.look_point.number, 0, 0.0, "", "", "", cells)
        self.session.program.collected.add(self.session.id, row, self.method)

    def _is_in(self, frame: StackFrame) -> bool:
        """Return whether a frame runs code of the scope."""
        return is_in(self.session, self.scope, frame)

    def set_cost(self) -> None:
        """Record in the watch how long the run took, what it has counted, and at which stop it has ended."""
        watch, mirror = self.watch, self.session.mirror
        watch.set_run_seconds(self._clock() - self._started_at)
        watch.end(mirror.epoch - (mirror.stop is not None), self.counted())

    def counted(self) -> str:
        """Return how many stops or steps it took, as text, with a rate if that says something."""
        seconds = self.watch.seconds
        rate = f", {self._count / seconds:,.0f} a second"
        fast = self.unit == "step" and seconds > 1
        return f"{self._count:,} {self.unit}{'s' if self._count != 1 else ''}{rate if fast else ''}"


class Stepping(Driving):
    """Steps through the code of the scope; of the other code it steps out."""

    method = "stepping"
    unit = "step"

    async def resume(self, stop: Stop) -> None:
        """Send `stepIn`, or `stepOut` from code that is neither in the scope nor the user's."""
        frame = await self.top(stop)
        mine = frame is None or self._is_in(frame) or self.session.frames.is_users(frame)
        command = "stepIn" if mine else "stepOut"
        await self.session.resume(command, {"threadId": stop.thread_id})

    async def note_cause_place(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return the line that this thread has run; if another thread may have run, too, record that doubt."""
        self.watch.set_doubts(others=await self._ran_beside(stop))
        return await super().note_cause_place(stop)

    async def _ran_beside(self, stop: Stop) -> bool:
        """Return whether a thread other than the stop's may have run the user's code since the run began.

        `stop` is the present stop. A thread may have done so if one of its `FRAMES_LOOKED_AT` innermost frames, which
        are requested now, is the user's. The answer is True without such a look if a thread of an earlier stop has
        ended, or there are more than `THREADS_LOOKED_AT` other threads.

        Raises:
            DapeerError: The threads, or the stack of one, cannot be fetched.
        """
        inspect = self.session.inspect
        alive = await inspect.threads()
        if self._threads - {stop.thread_id, *alive}:
            return True
        others = [each for each in alive if each != stop.thread_id]
        if len(others) > THREADS_LOOKED_AT:
            return True
        for each in others:
            frames = await inspect.stack_trace(each, levels=FRAMES_LOOKED_AT)
            if any(map(self.session.frames.is_users, frames)):
                return True
        return False


def is_true(value: str | None) -> bool:
    """Return whether a value, as an adapter shows it, counts as true; an error and None do not.

    >>> is_true("false"), is_true("0"), is_true("3"), is_true(None)
    (False, False, True, False)
    >>> is_true("#<NameError: undefined local variable or method 'a'>")
    False
    """
    wrong = value is None or value.startswith(FAILED) or _ERROR.match(value)
    return not wrong and value is not None and value.strip() not in _FALSE


def is_in(session: Session, scope: ScopeSpec, frame: StackFrame) -> bool:
    """Return whether a frame runs code of a scope.

    Without `files` and `functions` that is the user's code.
    """
    files, functions = scope.get("files") or (), scope.get("functions") or ()
    if files or functions:
        return frame_path(frame) in files or _is_named(functions, frame["name"])
    return session.frames.is_users(frame)


def _is_named(patterns: Sequence[str], name: str) -> bool:
    """Return whether a function's name matches one of the patterns, with or without what it is a part of."""
    # Go's methods have their type in parentheses.
    bare = re.split(r"(?<!\.)\(", name)[0].strip()
    ends = tuple(f"*{between}{each}" for each in patterns for between in (".", "::", "#"))
    return any(fnmatch(bare, each) for each in (*patterns, *ends))


def place_of(frame: StackFrame | None) -> tuple[str, str, str]:
    """Return function, file and line of a frame, all as texts; None gives two empty texts and "0"."""
    if frame is None:
        return "", "", "0"
    return frame["name"], frame_path(frame), str(frame["line"])


def _cell(text: str | None) -> str:
    """Return a text for a cell of a row: on one line; None gives an empty text."""
    return (text or "").translate(_ESCAPES)
