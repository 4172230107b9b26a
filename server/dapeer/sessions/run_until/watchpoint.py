"""Runs a program until a value is written, by a watchpoint."""

from __future__ import annotations

import contextlib

from dapeer.adapters.definition.sections import Watchpoints
from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.collecting.rows.collected import Watch
from dapeer.collecting.rows.table import FAILED
from dapeer.mirror.stops import Stop
from dapeer.sessions import memory_breakpoints
from dapeer.sessions.breakpoints.watching import ScopeSpec
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.session import Session
from dapeer.sessions.run_until.conditions import PLAIN_VALUE, NoConditions
from dapeer.sessions.run_until.stepping import SECONDS_TO_EVALUATE, Driving, is_in, place_of


class AtWatchpoint(Driving):
    """Runs a program until a value is written, by a watchpoint of the debugger."""

    method = "watchpoint"

    def __init__(
        self,
        session: Session,
        watch: Watch,
        scope: ScopeSpec,
        seconds: float,
        watchpoints: Watchpoints,
    ) -> None:
        """Set nothing yet; `watchpoints` is how the definition sets watchpoints.

        `scope` (keys `files` and `functions`; neither: the user's code) says of which frames lines are told. `seconds` limit the run only
        if each write is recorded (`watch.every`).
        """
        super().__init__(session, watch, scope, seconds)
        self.bounded = watch.every
        self._end_time = self._end_time if watch.every else float("inf")
        self._watchpoints = watchpoints
        self._number = ""
        self._memory_row: memory_breakpoints.MemoryRow | None = None
        self._depth = 0
        """The frame in which the value is looked up, counted from the outermost."""
        self._function = ""
        self._thread = 0
        """The thread of that frame."""
        self._outermost_frame = ""
        """The thread's outermost frame; without it, the debugger has lost its way through the C library."""

    async def begin(self, frame_id: int | None) -> None:
        """Set a watchpoint on the expression, by DAP or the definition's command, and evaluate its value.

        The program must be stopped; it is not resumed. The evaluation may run code of the program. A data
        breakpoint of DAP on the same data is replaced. `frame_id` is the adapter's id of the frame in which the
        expression is looked up, now and at each stop. With None the watchpoint is set without a frame, and the
        values are read in the innermost frame of the stop. The values are read there, too, if no frame on the
        stack has the id. After an error that says that a watchpoint may be set, the caller removes the watchpoint
        by `end`.

        Raises:
            ArgumentError: The adapter cannot watch the expression; no watchpoint is set.
            NoConditions: Changes are watched (`on` is "change"), and the value is more than a number or a word,
                so that a watchpoint misses changes behind the value; no watchpoint is set.
            NotStopped: The program runs; a watchpoint may be set.
            DapeerError: The adapter did not answer, or rejected a request; a watchpoint may be set.
        """
        session = self.session
        if self.watch.on == "change":
            await self._check_plain(frame_id)
        await self._set_watchpoint(frame_id)
        stop = session.mirror.require_stop()
        self._thread = stop.thread_id
        frames = await session.inspect.whole_stack(stop.thread_id)
        chosen = next((n for n, each in enumerate(frames) if each["id"] == frame_id), 0)
        self._depth = len(frames) - chosen
        self._function = frames[chosen]["name"] if frames else ""
        self._outermost_frame = frames[-1]["name"] if frames else ""
        await super().begin(frame_id)

    async def _set_watchpoint(self, frame_id: int | None) -> None:
        """Set a watchpoint on the expression, by DAP or else by a command of the debugger; `end` removes it.

        `frame_id` is the adapter's id of the frame in which the expression is looked up; None: no frame is sent with
        the request. DAP is used if the adapter supports `setDataBreakpoints`; a data breakpoint on the same data is
        then replaced, and stays away if the adapter does not verify the new one.

        Raises:
            ArgumentError: The expression cannot be watched, or the command failed; no watchpoint is set.
            DapeerError: The adapter did not answer a request of DAP, or rejected it, or the program runs.
        """
        if self.session.supports("setDataBreakpoints"):
            self._memory_row = await memory_breakpoints.add_data_breakpoint(
                self.session, self.watch.expression, frame_id, "write", self._watchpoints
            )
        else:
            await self._set_by_command(frame_id)

    async def _set_by_command(self, frame_id: int | None) -> None:
        """Set a watchpoint by the definition's command; keep its number and kind.

        The debugger's command is sent by `evaluate` in the frame `frame_id`, the adapter's id (None: no frame).
        Afterwards `_number` has the watchpoint's number, and `method` is "watchpoint", or "software watchpoint"
        where the definition has no pattern `number`, and the answer does not speak of hardware.

        Raises:
            ArgumentError: The command failed, or its answer has no number.
        """
        command = self._watchpoints.set.replace("${expression}", self.watch.expression)
        try:
            answer = await self._command(command, frame_id)
            self._number = self._watchpoints.number_in(answer)
        except DapeerError as error:
            answer = " ".join(str(error).split()).rstrip(".")
        if not self._number:
            raise ArgumentError(f"`expression` cannot be watched here: {answer}.", "Correct it.")
        software = not (self._watchpoints.number or "ardware" in answer)
        self.method = "software watchpoint" if software else "watchpoint"

    async def resume(self, stop: Stop) -> None:
        """Send `continue`: the program runs to the next write, or another stop."""
        await self.session.resume("continue", {"threadId": stop.thread_id})

    async def evaluate_at_stop(self, stop: Stop) -> str | None:
        """Return the expression's value in the frame in which `begin` looked it up, if the frame still exists.

        On the stack of its thread, whatever has stopped the program, the frame is known by its function's name and its
        depth from the outermost frame: a new call there is taken for it. None: the evaluation failed, which is recorded
        as a row of the watch's `look_point`; or the frame is gone, and something else than a watchpoint has stopped the
        program, or `watch.on` is not `write`. Where a watchpoint has stopped the program, the text begins with `FAILED`
        and says why if the stack cannot be read to its outermost frame, or if the frame is gone and `watch.on` is
        `write`.

        Raises:
            DapeerError: The stack cannot be fetched.
        """
        frames = await self.session.inspect.whole_stack(self._thread)
        if 0 < self._depth <= len(frames):
            frame = frames[len(frames) - self._depth]
            if frame["name"] == self._function:
                return await self.evaluate_in_frame(frame)
        if self.is_stopped_by_other(stop):
            return None
        if not frames or frames[-1]["name"] != self._outermost_frame:
            return f"{FAILED}the stack of {self._function} cannot be read now"
        gone = f"{FAILED}{self._function} is not on the stack"
        return gone if self.watch.on == "write" else None

    async def _check_plain(self, frame_id: int | None) -> None:
        """Raise `NoConditions` unless the value is a number or word, which refers to nothing that changes.

        The watched expression is evaluated for this, which may run code of the program; without an answer within
        `SECONDS_TO_EVALUATE` it is cancelled if the adapter can do that, else it runs on. `frame_id` is the adapter's
        id of the frame to evaluate in; None: without a frame.

        Raises:
            NoConditions: What is behind the value may change, too: it has members, or its text is no plain value.
            RequestTimeout: The evaluation was not answered in time.
            DapeerError: The adapter rejects the evaluation.
        """
        body = await evaluate(
            self.session, self.watch.expression, frame_id, "watch", SECONDS_TO_EVALUATE
        )
        if body.get("variablesReference") or not PLAIN_VALUE.fullmatch(
            str(body.get("result") or "")
        ):
            raise NoConditions("what is behind the value may change, too", "")

    async def note_cause_place(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return function, file and line (as texts) of the instruction that has written.

        Where that is not in the scope, they are those of its innermost caller that is. None: no frame is in the
        scope. Nothing is noted here. If the instruction is in the scope, and the definition has a command for its
        line, the debugger is asked for the line; if its answer names none, or it fails, the line is the frame's.

        Raises:
            DapeerError: The stack cannot be fetched.
        """
        frames = await self.session.inspect.whole_stack(stop.thread_id)
        frame = next((each for each in frames if is_in(self.session, self.scope, each)), None)
        if frame is None:
            return None
        function, file, line = place_of(frame)
        pc = str(frame.get("instructionPointerReference") or "")
        if pc and self._watchpoints.writer and frame is frames[0]:
            command = self._watchpoints.writer.replace("${pc}", pc)
            with contextlib.suppress(DapeerError):
                line = self._watchpoints.line_in(await self._command(command, frame["id"])) or line
        return function, file, line

    def is_stopped_by_other(self, stop: Stop) -> bool:
        """Return whether something else than a watchpoint has stopped the program."""
        reason = f"{stop.body.get('reason')} {stop.body.get('description')}"
        return "data breakpoint" not in reason and "watchpoint" not in reason

    async def end(self) -> None:
        """Remove the watchpoint."""
        if self._memory_row is not None:
            await memory_breakpoints.remove_data_breakpoint(self.session, self._memory_row)
        elif self._number:
            with contextlib.suppress(DapeerError):
                await self._command(
                    self._watchpoints.remove.replace("${number}", self._number), None
                )

    async def _command(self, command: str, frame_id: int | None) -> str:
        """Send a command of the debugger by `evaluate`, and return its output.

        Raises:
            DapeerError: The command failed, or was not answered in time.
        """
        body = await evaluate(self.session, command, frame_id, "repl", SECONDS_TO_EVALUATE)
        return str(body.get("result") or "").strip()
