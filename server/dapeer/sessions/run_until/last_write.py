"""Runs a program again up to the stop at which it stands, and records what writes a place in memory."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dapeer.adapters.definition.sections import Watchpoints
from dapeer.base.errors import ArgumentError, DapeerError, Unsupported
from dapeer.base.system.exchange import on_cancellation
from dapeer.collecting.rows.collected import Watch, watch
from dapeer.collecting.rows.table import CollectedRow
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.run_until.stepping import SECONDS_TO_EVALUATE
from dapeer.sessions.run_until.watchpoint import AtWatchpoint
from dapeer.view.stacks import frame_path

MAX_BYTES: Final = 8
"""Bytes that a watchpoint of the processor watches at most."""
UNSIGNED: Final = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"\d+")
_REPEATABLE = re.compile("breakpoint|exception|signal", re.IGNORECASE)
"""Reasons of stops to which a program comes again by itself."""


@dataclass(frozen=True, slots=True)
class LastWrite:
    """What a second run tells of the writes of a place in memory before a stop."""

    place: str
    """The expression by which that was watched."""
    writes: Sequence[CollectedRow]
    stack: Sequence[StackFrame]
    """The frames of the last one, the innermost first."""
    same: bool
    """Whether the second run has come to the same stop."""


@dataclass(frozen=True, slots=True)
class StopIdentity:
    """What tells a stop of another run."""

    reason: str
    function: str
    path: str
    line: int

    @classmethod
    def of(cls, stop: Stop, top: StackFrame | None) -> StopIdentity:
        """Return the reason, function, path and line that tell `stop`; `top` is its innermost frame."""
        if top is None:
            return cls(stop.reason, "", "", 0)
        return cls(stop.reason, top["name"], frame_path(top), top["line"])


class WritesUpToStop(AtWatchpoint):
    """Records the writes of a place in memory until the program comes to a known stop for the nth time."""

    def __init__(
        self,
        session: Session,
        watched: Watch,
        seconds: float,
        watchpoints: Watchpoints,
        wanted: StopIdentity,
    ) -> None:
        """Set nothing yet.

        The run ends at the first stop like `wanted`, or that which `expect` says, or after `seconds`. Writes become rows of the watch
        `watched`. `watchpoints` is how the definition sets watchpoints.
        """
        super().__init__(session, watched, {}, seconds, watchpoints)
        self._wanted_stop = wanted
        self._stops_left = 1
        self.reached = False
        self.stack: Sequence[StackFrame] = ()
        """The frames of the last write."""

    def expect(self, times: int) -> None:
        """Have the run end at the `times`-th stop of the wanted kind."""
        self._stops_left = times

    def is_stopped_by_other(self, stop: Stop) -> bool:
        """Return whether this is the wanted stop for the nth time, as `expect` says.

        The program goes on at others. A stop that is like the wanted one is counted, and `reached` is set at the last.
        """
        if not super().is_stopped_by_other(stop):
            return False
        top = next(iter(stop.stack.frames.get(stop.thread_id, ())), None)
        if StopIdentity.of(stop, top) != self._wanted_stop:
            return False
        self._stops_left -= 1
        self.reached = self._stops_left <= 0
        return self.reached

    async def line(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return function, file and line that have written (None: not in the scope); keep the `stack`."""
        frames = await self.session.inspect.whole_stack(stop.thread_id)
        found = await super().line(stop)
        self.stack = [*frames] if found is not None else self.stack
        return found


def require_rerunnable(session: Session, watchpoints: Watchpoints) -> DirectSession:
    """Return the first session of a program, once it is sure that it can be run again up to its stop.

    That is `session` itself. `watchpoints` is how the adapter's definition sets watchpoints: by a command (`set`), or by data breakpoints with
    the command `writer`.

    Raises:
        ArgumentError: `session` is not the program's first one, is of a Neovim, or was attached; or the program runs in a terminal.
        Unsupported: The definition has neither command, so the adapter watches no memory by its address.
    """
    first = session.program.first
    if not isinstance(first, DirectSession) or not first.plan.launched or first is not session:
        raise ArgumentError(
            "Only the first process of a program that dap_run starts, outside of Neovim, can be run again.",
            'Attached programs go on: dap_run_until(on="write") stops at the next write.',
        )
    if session.program.keyboard is not None:
        raise ArgumentError(
            "The program reads from a terminal, and what was typed there is not recorded.",
            "Give its input in a file, and run it without `terminal`.",
        )
    if not (watchpoints.set or watchpoints.writer):
        raise Unsupported(
            f"{session.adapter} does not watch memory by its address, which is what is the same in a second run.",
            'type="gdb" and those of LLDB do, in C, C++ and Rust; dap_run_until(on="write", every=true) records the writes from a stop on.',
        )
    return first


async def address_of(session: Session, expression: str, frame_id: int | None) -> str:
    """Return an expression for the memory of `expression`, by address, that works in any frame.

    The address and size are evaluated in the frame `frame_id`; a number such as `0x7ffe…` counts as an address of 8 bytes. The form is
    C's or Rust's, whichever the adapter evaluates.

    Raises:
        ArgumentError: It has no place of 1, 2, 4 or 8 bytes.
    """
    address, size = expression, MAX_BYTES
    if not _ADDRESS.fullmatch(expression):
        address = await _address(session, expression, frame_id)
        size = int(await _evaluate_pattern(session, _NUMBER, f"sizeof({expression})", frame_id))
    if size not in UNSIGNED:
        raise ArgumentError(
            f"`{expression}` has {size} bytes; 1, 2, 4 or 8 can be watched.", "Give a part of it."
        )
    for form in (f"*({UNSIGNED[size]} *) {address}", f"*({address} as *mut u{size * 8})"):
        with contextlib.suppress(DapeerError):
            await evaluate(session, form, frame_id, "watch", SECONDS_TO_EVALUATE)
            return form
    raise ArgumentError(f"{session.adapter} reads no memory at {address}.", "Give another place.")


async def _address(session: Session, expression: str, frame_id: int | None) -> str:
    """Return the address of a value, as a number if the language has that.

    LLDB shows what is behind a pointer.

    Raises:
        ArgumentError: It has none.
    """
    with contextlib.suppress(ArgumentError):
        number = await _evaluate_pattern(
            session, _NUMBER, f"(unsigned long)&({expression})", frame_id
        )
        return f"{int(number):#x}"
    return await _evaluate_pattern(session, _ADDRESS, f"&({expression})", frame_id)


async def _evaluate_pattern(
    session: Session, pattern: re.Pattern[str], expression: str, frame_id: int | None
) -> str:
    """Evaluate an expression in a frame; return the first part of its result that matches `pattern`.

    `frame_id` is the adapter's id; None: no frame.

    Raises:
        ArgumentError: The evaluation failed, or nothing in the result matches.
    """
    try:
        body = await evaluate(session, expression, frame_id, "watch", SECONDS_TO_EVALUATE)
    except DapeerError as error:
        raise ArgumentError(
            f"`{expression}`: {error.what}", "Give a variable, or an address."
        ) from error
    found = pattern.search(str(body.get("result") or ""))
    if found is None:
        raise ArgumentError(f"`{expression}` is unknown here.", "Give a variable, or an address.")
    return found[0]


def times_before(session: Session, wanted: StopIdentity) -> int:
    """Return how often the program has stopped as `wanted` says, the current stop included; at least 1."""
    stops = session.mirror.history
    return max(1, sum(StopIdentity.of(each, each.top) == wanted for each in stops))


async def last_write(
    debugger: Debugger,
    session: Session,
    expression: str,
    frame_id: int | None,
    client: str,
    seconds: float,
) -> LastWrite:
    """Run the program again beside this one; return what has written a value last before this stop.

    The whole program runs a second time from its start, with all its effects, up to the same stop; then it is ended and forgotten. The
    session itself does not move, and keeps the focus.

    Args:
        debugger: Starts the second run.
        session: The first run, which is stopped.
        expression: A value of up to 8 bytes, or an address.
        frame_id: The frame in which that is looked up.
        client: The key of the client that asks.
        seconds: How long the second run may take.

    Raises:
        ArgumentError: The stop does not come by itself, the program cannot be run again, or the expression has no such place.
        Unsupported: The adapter watches no memory, or not that place from the start on.
        DapeerError: The second run does not start.
    """
    definition = debugger.definitions.get(session.adapter)
    known = definition.watchpoints if definition is not None else Watchpoints()
    first = require_rerunnable(session, known)
    stop = session.mirror.require_stop()
    wanted = StopIdentity.of(stop, stop.top)
    if not _REPEATABLE.search(stop.reason):
        raise ArgumentError(
            f"The program does not come to this stop by itself ({stop.reason}).",
            "Stop it by a breakpoint, and ask there.",
        )
    place = await address_of(session, expression, frame_id)
    plan = replace(first.plan, inputs={**first.plan.inputs, "stop_on_entry": True})
    focused = debugger.sessions.focused
    second = await debugger.start(plan)
    debugger.sessions.focus_on(focused)
    async with on_cancellation(debugger.terminate, second.program.first):
        try:
            run = await _recorded(
                second, place, client, seconds, known, wanted, times_before(session, wanted)
            )
            rows = [*second.program.collected.rows_of(run.watch.point)]
        finally:
            await debugger.terminate(second.program.first)
            debugger.sessions.forget(second.id)
    return LastWrite(place, rows, run.stack, run.reached)


async def _recorded(
    second: Session,
    place: str,
    client: str,
    seconds: float,
    watchpoints: Watchpoints,
    wanted: StopIdentity,
    times: int,
) -> WritesUpToStop:
    """Run a program from its entry to the stop `wanted` for the `times`-th time, and return that run.

    `second` is a session that stops at its entry, which is waited for. Each write of `place`, an expression by address, becomes a row of
    the program, for the client with the key `client`. The run ends at the latest after `seconds`; `watchpoints` is how the definition sets
    watchpoints.

    Raises:
        Unsupported: The place cannot be watched yet.
    """
    await second.program.next_stop(second, 0, seconds)
    watched = watch(second.program.collected, place, "write", client, every=True)
    run = WritesUpToStop(second, watched, seconds, watchpoints, wanted)
    run.expect(times)
    top = await second.inspect.top(second.mirror.require_stop())
    try:
        await run.begin(top["id"] if top else None)
    except ArgumentError as error:
        raise Unsupported(
            f"It cannot be watched from the program's start: {error.what.rstrip('.')}.",
            'LLDB watches no memory that the program takes later (new, malloc); type="gdb" does.',
        ) from error
    await run.run()
    return run


def call_that_stops_there(last: LastWrite, program: str) -> str:
    """Return the text of a `dap_run` call that stops where the last write of `last` is about to happen.

    `program` is the path of the program; `last` must have writes.
    """
    _function, path, line, before, _after = last.writes[-1].cells[:5]
    condition = f', "condition": "{last.place} == {before}"' if _NUMBER.fullmatch(before) else ""
    point = f'{{"filename": "{path}", "line": {line}{condition}}}'
    return f'dap_run(program="{Path(program).name}", breakpoints=[{point}])'
