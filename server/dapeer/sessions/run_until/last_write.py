"""Runs a program again up to the stop at which it stands, and records what writes a place in memory."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import anyio

from dapeer.adapters.definition.sections import Collect, Watchpoints
from dapeer.base.errors import ArgumentError, DapeerError, Unsupported
from dapeer.base.sources import relative_to_project
from dapeer.base.system.tasks import on_cancellation
from dapeer.collecting.rows.collected import Watch, add_watch
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
MAX_READ_WRITES: Final = 300
"""Writes whose frames' variables are read: which one is the last is not known before."""
MAX_READ_FRAMES: Final = 3
UNSIGNED: Final = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_STARTING = ("program", "module", "code", "args")
"""What names a program in a call that starts it."""
_REPEATABLE = re.compile("breakpoint|exception|signal", re.IGNORECASE)
"""Reasons of stops to which a program comes again by itself."""


@dataclass(frozen=True, slots=True)
class LastWrite:
    """What a second run tells of the writes of a place in memory before a stop."""

    count: int | None
    """How many there were; None: that is not known."""
    is_same_stop: bool
    """Whether the second run has come to the same stop."""
    place: tuple[str, str, str] = ("", "", "")
    """Function, file and line of the last one.

    Without writes, where the value was seen first, if that is known.
    """
    before: str = ""
    after: str = ""
    doubt: str = ""
    """What else may have done it; empty: nothing."""
    stack: Sequence[StackFrame] = ()
    """The frames of the last one, the innermost first."""
    variables: Sequence[Mapping[str, str]] = ()
    """For the innermost frames of the user's code in `stack`: the variables' texts by name."""
    breakpoint: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """A breakpoint that stops there, as dap_run takes it; empty: the line is not known."""


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
        self._expected_stops = 1
        self._counted_stops: set[int] = set()
        """The numbers of the stops like the wanted one."""
        self.has_reached_stop = False
        self.stack: Sequence[StackFrame] = ()
        """The frames of the last write."""
        self.variables: Sequence[Mapping[str, str]] = ()
        """The variables, by name, of its first frames of the user's code; empty: they were not read."""
        self._writes = 0

    async def _set_watchpoint(self, frame_id: int | None) -> None:
        """Set a watchpoint on the expression by DAP, or where that cannot be set by the debugger's command.

        An adapter may refuse a data breakpoint on memory that the program has not taken yet. `frame_id` is the
        adapter's id of the frame in which the expression is looked up; None: no frame is sent with the request.

        Raises:
            ArgumentError: The expression cannot be watched, and the definition has no command, or that failed, too.
            DapeerError: The adapter did not answer a request of DAP, or rejected it.
        """
        try:
            await super()._set_watchpoint(frame_id)
        except ArgumentError:
            if not self._watchpoints.set:
                raise
            await self._set_by_command(frame_id)

    def expect(self, times: int) -> None:
        """Have the run end at the `times`-th stop of the wanted kind."""
        self._expected_stops = times

    def is_stopped_by_other(self, stop: Stop) -> bool:
        """Return whether this is the wanted stop for the nth time, as `expect` says; the run ends there.

        A stop like the wanted one is counted once, however often this is called for it, and `has_reached_stop`
        is set at the nth. False: `stop` is of the watchpoint, is another stop, or comes too early; the program
        goes on.
        """
        if not super().is_stopped_by_other(stop):
            return False
        top = next(iter(stop.stack.frames.get(stop.thread_id, ())), None)
        if StopIdentity.of(stop, top) != self._wanted_stop:
            return False
        self._counted_stops.add(stop.number)
        self.has_reached_stop = len(self._counted_stops) >= self._expected_stops
        return self.has_reached_stop

    async def note_cause_place(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return function, file and line (as texts) that have written at a stop; record the write.

        The place is that of the innermost frame in the scope, which has written itself or has called what
        did. The frames of the stopped thread are then kept in `stack`. Of the first `MAX_READ_WRITES`
        writes the variables are read into `variables`, which is empty for later ones. None: no frame is in
        the scope; nothing is recorded, and `stack` and `variables` stay.

        Raises:
            NotStopped: The thread runs.
            DapeerError: The stack or the variables cannot be fetched; without the variables the write
                counts all the same.
        """
        frames = await self.session.inspect.whole_stack(stop.thread_id)
        found = await super().note_cause_place(stop)
        if found is not None:
            self._writes += 1
            self.stack = [*frames]
            self.variables = await self._variables() if self._writes <= MAX_READ_WRITES else ()
        return found

    async def _variables(self) -> Sequence[Mapping[str, str]]:
        """Request the variables of the innermost `MAX_READ_FRAMES` frames of user code in `stack`.

        The result has a dict of texts by name for each frame, the innermost first, with the variables of its
        first scope that is not expensive to read, which is mostly that of the locals. That of a frame
        without such a scope is empty. The result is empty if no frame of `stack` is the user's code.

        Raises:
            NotStopped: The program runs.
            DapeerError: A request failed.
        """
        found: list[Mapping[str, str]] = []
        users = filter(self.session.frames.is_users, self.stack)
        for frame in itertools.islice(users, MAX_READ_FRAMES):
            scopes = await self.session.inspect.scopes(frame["id"])
            scope = next((each for each in scopes if not each.get("expensive")), None)
            if scope is None:
                found.append({})
                continue
            listed = await self.session.inspect.variables(scope["variablesReference"])
            found.append({each["name"]: each["value"] for each in listed})
        return found


def require_rerunnable(
    session: Session, watchpoints: Watchpoints, collect: Collect
) -> DirectSession:
    """Return the first session of a program, once it is sure that it can be run again up to its stop.

    That is `session` itself. `watchpoints` is how the adapter's definition sets watchpoints: by a command (`set`), or
    by data breakpoints with the command `writer`. `collect` says whether the program itself can remember who writes
    (`describe`).

    Raises:
        ArgumentError: `session` is not the program's first one, is of a Neovim, or was attached; or the program
            runs in a terminal.
        Unsupported: The definition has none of these, so the adapter watches no memory by its address.
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
    if not (watchpoints.set or watchpoints.writer or collect.describe):
        raise Unsupported(
            f"{session.adapter} does not watch memory by its address, which is what is the same in a second run.",
            'type="gdb" and those of LLDB do, in C, C++ and Rust, and Python programs record it; dap_run_until(on="write", every=true) records the writes from a stop on.',
        )
    return first


async def address_of(session: Session, expression: str, frame_id: int | None) -> str:
    """Return an expression for the memory of `expression`, by address, that works in any frame.

    The address and size are evaluated in the frame `frame_id`; a number such as `0x7ffe…` counts as an
    address of 8 bytes. The form is C's or Rust's, whichever the adapter evaluates.

    Raises:
        ArgumentError: Address or size cannot be evaluated, the size is not 1, 2, 4 or 8 bytes, or the
            adapter evaluates neither form.
    """
    address, size = expression, MAX_BYTES
    if not _ADDRESS.fullmatch(expression):
        address = await _address(session, expression, frame_id)
        size = int(await _evaluate_pattern(session, _NUMBER, f"sizeof({expression})", frame_id), 0)
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
    """Return the address of an expression's value in the program, as text such as `0x7ffe12c0`.

    The expression is evaluated in the frame `frame_id`, None: in no frame. The address is the value of
    `(unsigned long)&(EXPRESSION)`, since LLDB shows of a pointer what is behind it. Where the language has no such
    cast, it is the first address in the text that `&(EXPRESSION)` gives.

    Raises:
        ArgumentError: The evaluation failed, or the value has no address.
    """
    with contextlib.suppress(ArgumentError):
        number = await _evaluate_pattern(
            session, _NUMBER, f"(unsigned long)&({expression})", frame_id
        )
        return f"{int(number, 0):#x}"
    return await _evaluate_pattern(session, _ADDRESS, f"&({expression})", frame_id)


async def _evaluate_pattern(
    session: Session, pattern: re.Pattern[str], expression: str, frame_id: int | None
) -> str:
    """Evaluate an expression in a frame; return the first match of `pattern` in the result.

    The whole match is returned, not a group of it. The adapter evaluates in DAP's context `watch`, which may run
    code of the program, and after `SECONDS_TO_EVALUATE` goes on if it cannot cancel; earlier evaluations are waited
    for without a limit. `frame_id` is its id of the frame, None: no frame.

    Raises:
        ArgumentError: The evaluation failed or took too long, the session has ended, or nothing in the result
            matches.
    """
    try:
        body = await evaluate(session, expression, frame_id, "watch", SECONDS_TO_EVALUATE)
    except DapeerError as error:
        raise ArgumentError(
            f"`{expression}`: {error.problem}", "Give a variable, or an address."
        ) from error
    found = pattern.search(str(body.get("result") or ""))
    if found is None:
        raise ArgumentError(f"`{expression}` is unknown here.", "Give a variable, or an address.")
    return found[0]


def times_before(session: Session, wanted: StopIdentity) -> int:
    """Return how often the program has stopped as `wanted` says, the current stop included; at least 1."""
    stops = session.mirror.history
    return max(1, sum(StopIdentity.of(each, each.default_frame) == wanted for each in stops))


async def last_write(
    debugger: Debugger,
    session: Session,
    expression: str,
    frame_id: int | None,
    client: str,
    seconds: float,
) -> LastWrite:
    """Run the program again beside this one; return what has written a value last before this stop.

    The whole program runs a second time from its start, with all its effects, up to the same stop; then it is ended
    and forgotten. The session itself does not move; the session that has the focus gets it back. If the second run
    does not come to the same stop in time, `is_same_stop` of the result is False, and its `count` is None or the
    writes until then.

    Args:
        debugger: Starts the second run.
        session: The first run, which is stopped.
        expression: A value of 1, 2, 4 or 8 bytes, or an address such as `0x7ffe…`; in Python a variable, attribute
            or item.
        frame_id: The frame in which `expression` is evaluated; None: no frame.
        client: The key of the client that asks.
        seconds: How long the second run may take. Reaching the entry may count apart from the way to the stop.

    Raises:
        ArgumentError: The stop does not come by itself, the program cannot be run again (only the first process of
            one that dapeer launched, without a terminal, can), or the expression has no such place.
        Unsupported: The adapter watches no memory, or not that place from the start on.
        NotStopped: The program runs or has ended, or the second run has ended before its entry, or has not stopped
            there within `seconds`.
        DapeerError: The second run does not start, or its adapter rejects a request or does not answer.
    """
    definition = debugger.definitions.get(session.adapter)
    known = definition.watchpoints if definition is not None else Watchpoints()
    collect = definition.collect if definition is not None else Collect()
    first = require_rerunnable(session, known, collect)
    stop = session.mirror.require_stop()
    wanted, times = StopIdentity.of(stop, stop.default_frame), 1
    if not _REPEATABLE.search(stop.reason):
        raise ArgumentError(
            f"The program does not come to this stop by itself ({stop.reason}).",
            "Stop it by a breakpoint, and ask there.",
        )
    times = times_before(session, wanted)
    described: Mapping[str, Any] = {}
    if collect.describe:
        described = await _ask(session, collect.describe, expression, frame_id)
    place = "" if described else await address_of(session, expression, frame_id)
    plan = replace(first.plan, inputs={**first.plan.inputs, "stop_on_entry": True})
    focused = debugger.sessions.focused
    second = await debugger.start(plan)
    debugger.sessions.focus_on(focused)
    async with on_cancellation(debugger.terminate, second.program.first):
        try:
            if described:
                traced = _TracedRun(second, expression, described, collect)
                return await traced.last_write(client, seconds, wanted, times)
            run = await _record_writes(second, place, client, seconds, known, wanted, times)
            return _last_write_of_rows(
                place, [*second.program.collected.rows_of(run.watch.point)], run
            )
        finally:
            await debugger.terminate(second.program.first)
            debugger.sessions.drop_program(second.id)


async def _ask(
    session: Session, template: str, expression: str, frame_id: int | None
) -> Mapping[str, Any]:
    """Evaluate the definition's `template` about a caller's `expression`; return the program's answer.

    Each `${spec}` in `template` is replaced by `expression` as a string literal in double quotes; code of the
    program may run. The answer is a JSON object without an `error`. `frame_id` is the adapter's id of the frame in
    which it is evaluated; None: in no frame.

    Raises:
        ArgumentError: The answer has an `error`, is no JSON object, or did not come (any `DapeerError`, such as
            when the evaluation fails or the session ends).
    """
    try:
        answer = await session.line_breakpoints.evaluate_object(template, expression, frame_id)
    except (DapeerError, ValueError) as error:
        answer = {"error": str(error)}
    if why := answer.get("error"):
        raise ArgumentError(f"`{expression}`: {why}.", "Give a variable, an attribute or an item.")
    return answer


@dataclass(frozen=True, slots=True)
class _TracedRun:
    """A second run that remembers by itself who writes a place."""

    session: Session
    """It stands at its entry, or comes to it."""
    expression: str
    described: Mapping[str, Any]
    """What the first run has told of the expression."""
    collect: Collect

    async def last_write(
        self, client: str, seconds: float, wanted: StopIdentity, times: int
    ) -> LastWrite:
        """Run from the entry to the stop `wanted` for the `times`-th time; return what was remembered there.

        The program is made to remember who writes the place, and is resumed at every other stop. It is not ended here:
        it stands at the stop afterwards. The session may still be on its way to its entry, which is waited for.
        `client` is the key of the client that asks. The waits for the entry and for the stop end `seconds` after the
        call. If the program ends between the two, or still runs then, the `count` of the result is None.

        Raises:
            ArgumentError: The program cannot remember the place, or does not tell what it has remembered.
            NotStopped: The program has not stopped at its entry within `seconds`, or has ended before.
            DapeerError: The program cannot be resumed, or the adapter rejects a request or does not answer.
        """
        session, clock = self.session, anyio.current_time
        end = clock() + seconds
        await session.program.next_stop(session, 0, seconds)
        point = session.program.collected.add_watch_point(
            f"last write of {self.expression}", (), client, aside=True
        )
        top = await session.inspect.fetch_shown_frame(session.mirror.require_stop())
        answer = await session.line_breakpoints.watch(
            {"id": point.number, "last": self.described}, top["id"] if top else None
        )
        if not answer.get("bound"):
            raise ArgumentError(f"It cannot be recorded: {answer.get('message')}.")
        reached, stop = await self._run_to_stop(wanted, times, end)
        if stop is None:
            return LastWrite(None, is_same_stop=False)
        top = await session.inspect.fetch_shown_frame(stop)
        frame_id = top["id"] if top else None
        told = await _ask(session, self.collect.told, self.expression, frame_id)
        return _last_write_of_answer(told, same=reached)

    async def _run_to_stop(
        self, wanted: StopIdentity, times: int, end: float
    ) -> tuple[bool, Stop | None]:
        """Let the program go on until `session` stops as `wanted` for the `times`-th time.

        The stop at which it is now counts, too. It is resumed at all other stops, also those of other sessions of
        the program, which never count. `times` is at least 1; `end` is a time of anyio's clock. Return True and the
        stop, or else False and None: the program has ended, still runs at `end`, or was not stopped at the call.

        Raises:
            DapeerError: The program cannot be resumed, or its stack cannot be fetched.
        """
        stopped: Session | None = self.session
        while stopped is not None and (stop := stopped.mirror.stop) is not None:
            if stopped is self.session:
                top = await stopped.inspect.fetch_shown_frame(stop)
                times -= StopIdentity.of(stop, top) == wanted
                if not times:
                    return True, stop
            epoch = stopped.mirror.epoch
            await stopped.resume("continue", {"threadId": stop.thread_id})
            stopped = await stopped.program.next_stop(stopped, epoch, end - anyio.current_time())
        return False, None


def _last_write_of_answer(told: Mapping[str, Any], *, same: bool) -> LastWrite:
    """Return what a program tells of the last write; `same`: it stands at the same stop.

    `told` is as the program's `last_writes.told` gives it; without a `stack` there, nothing has written, and
    the result has, besides `same`, only `after` and the `count` 0. Else its `breakpoint` is at the write's line
    and hit. `doubt` says where else it may have been written: in code where dapeer did not look, if that has
    run, else in what the line called or another thread; it is empty without writes.
    """
    frames: Sequence[StackFrame] = [
        {"id": 0, "name": name, "line": line, "column": 0, "source": {"path": path}}
        for name, path, line in told.get("stack", ())
    ]
    if not frames:
        return LastWrite(0, same, after=told["now"])
    top = frames[0]
    path = frame_path(top)
    doubts = {
        "in what it called": told["inside"],
        "in another thread that ran meanwhile": told["others"],
    }
    doubt = " or ".join(text for text, holds in doubts.items() if holds)
    if told["unseen"]:
        doubt = "before this line, where dapeer did not look: in a library, or by an object that no line names"
    place = {"filename": path, "line": top["line"], "hit_condition": str(told["hit"] or 1)}
    return LastWrite(
        told["writes"],
        same,
        (top["name"], path, str(top["line"])),
        told.get("before", ""),
        told["now"],
        doubt if told["writes"] else "",
        frames,
        breakpoint=place,
    )


async def _record_writes(
    second: Session,
    place: str,
    client: str,
    seconds: float,
    watchpoints: Watchpoints,
    wanted: StopIdentity,
    times: int,
) -> WritesUpToStop:
    """Run a program from its entry to the stop `wanted` for the `times`-th time, and return that run.

    `second` is a session that stops at its entry, which is waited for. Each write of `place`, an expression by
    address, becomes a row of the program, for the client with the key `client`. Reaching the entry and the run
    from there may take `seconds` each. `has_reached_stop` of the result says whether the run has come to the
    wanted stop; the program is not ended here. `watchpoints` is how the adapter's definition sets watchpoints.

    Raises:
        Unsupported: The place cannot be watched yet.
        NotStopped: The program has ended, or has not stopped at its entry within `seconds`.
        DapeerError: The adapter rejects a request, or does not answer.
    """
    await second.program.next_stop(second, 0, seconds)
    watched = add_watch(second.program.collected, place, "write", client, every=True)
    run = WritesUpToStop(second, watched, seconds, watchpoints, wanted)
    run.expect(times)
    top = await second.inspect.fetch_shown_frame(second.mirror.require_stop())
    try:
        await run.begin(top["id"] if top else None)
    except ArgumentError as error:
        raise Unsupported(
            f"It cannot be watched from the program's start: {error.problem.rstrip('.')}.",
            'dap_run_until(on="write", every=true) records the writes from a stop on.',
        ) from error
    await run.run()
    return run


def call_that_stops_there(last: LastWrite, session: Session, project: Path) -> str:
    """Return the text of a `dap_run` call that stops a session's program before the last write.

    The call has the adapter's type, the breakpoint of `last`, which must have one, and what names the program
    (`program`, `module`, `code`, `args`); the latter only for a session of dapeer's own, launched or attached
    to, not for one of a Neovim. The paths of program and breakpoint are relative to `project` if they are in it.
    Nothing is run.
    """
    first = session.program.first
    inputs: Mapping[str, object] = first.plan.inputs if isinstance(first, DirectSession) else {}
    given: dict[str, object] = {key: inputs[key] for key in _STARTING if inputs.get(key)}
    if "program" in given:
        given["program"] = relative_to_project(str(given["program"]), project)
    place = {
        **last.breakpoint,
        "filename": relative_to_project(str(last.breakpoint["filename"]), project),
    }
    arguments = {**given, "type": session.adapter, "breakpoints": [place]}
    listed = (f"{key}={json.dumps(each, ensure_ascii=False)}" for key, each in arguments.items())
    return f"dap_run({', '.join(listed)})"


def _last_write_of_rows(place: str, rows: Sequence[CollectedRow], run: WritesUpToStop) -> LastWrite:
    """Return what the rows of a watchpoint at `place`, an expression by address, tell of the last write.

    Each row of `rows` is a write, the last one last; its cells begin with function, path, line, the value before
    and the value after. Without rows the result has only the `count` 0 and whether `run`, which has recorded the
    rows, has come to the stop. Its `breakpoint` is on the last write's line, with the condition that `place` has
    the value before, if that is a whole number without sign.

    Raises:
        ValueError: The line of the last row is no number.
    """
    if not rows:
        return LastWrite(0, run.has_reached_stop)
    function, path, line, before, after = rows[-1].cells[:5]
    condition = {"condition": f"{place} == {before}"} if _NUMBER.fullmatch(before) else {}
    return LastWrite(
        len(rows),
        run.has_reached_stop,
        (function, path, line),
        before,
        after,
        stack=run.stack,
        variables=run.variables,
        breakpoint={"filename": path, "line": int(line), **condition},
    )
