"""Runs a program until something by breakpoints with a condition on every line of the scope."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.quirks import Quirks
from dapeer.adapters.definition.sections import Until
from dapeer.base.errors import DapeerError
from dapeer.base.system import foreign_files
from dapeer.base.system.threads import in_thread
from dapeer.base.text.source_lines import is_inside, is_outside, split_lines
from dapeer.collecting.rows.collected import Watch
from dapeer.dap.requested_breakpoints import Place, RequestedBreakpoint, spot_of
from dapeer.dap.sent_requests import BreakpointLocationsArguments
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop
from dapeer.sessions.breakpoints.watching import ScopeSpec
from dapeer.sessions.core.evaluating import evaluate
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.run_until.stepping import SECONDS_TO_EVALUATE, Driving, is_true, place_of
from dapeer.view.stacks import frame_path

# Where an expression is looked at by conditions: the lines of the files of a scope.

MOST_FILES = 60
MOST_LINES = 600
SECONDS_TO_LIST_FILES = 2.0
"""Seconds that the program has to tell its files."""
_NOTHING = re.compile(r"\s*(#|//|\*|/\*|$)")
"""A line without code of its own."""
_LOST = frozenset({"hitCondition", "logMessage", "collect"})
"""What a breakpoint does not do any more once it has another condition."""

ConditionPlace = tuple[str, int, int]
"""Path, line, and column (0: that of the line)."""


PLAIN_VALUE = re.compile(r"[-\w.:]+( '.+')?")
"""A value as adapters show numbers, characters and constants: it has no members that change."""


class NoConditions(DapeerError):
    """Conditions cannot tell it here, for this reason; the program is stepped instead."""


async def condition_places(
    session: Session,
    debugger: Debugger,
    scope: ScopeSpec,
    until_definition: Until,
    frame: StackFrame | None,
) -> list[ConditionPlace]:
    """Return path, line and column of the breakpoints whose condition is to look at an expression.

    They are the lines of the scope's `files`, or without these of the user's loaded files. With `functions` in
    the scope, a loaded file counts only if one of the names occurs in its text; all of `files`, and the file of
    `frame`, the frame where the program is stopped, count in any case. The adapter is asked which lines can
    have a breakpoint; those that cannot have another condition are left out. The column is 0 if there is none.
    `until_definition` is the definition's `[until]` table. With `frame` None no expression of that table is
    evaluated.

    Raises:
        NoConditions: There are more than `MOST_FILES` files or `MOST_LINES` lines, or no lines.
    """
    paths = scope.get("files") or await _user_files(
        session, debugger, until_definition.files, frame
    )
    if functions := scope.get("functions"):
        here = [frame_path(frame)] if frame else []
        others = await in_thread(_naming, paths, functions)
        paths = [*dict.fromkeys([*scope.get("files", ()), *here, *others])]
    if len(paths) > MOST_FILES:
        raise NoConditions(f"{len(paths):,} files are too many for conditions", "")
    found = [
        (path, *each)
        for path in paths
        for each in await _lines(session, path, until_definition, frame)
    ]
    if len(found) > MOST_LINES:
        raise NoConditions(f"{len(found):,} lines are too many for conditions", "")
    if not found:
        raise NoConditions("no lines are known for conditions", "")
    return found


async def _user_files(
    session: Session, debugger: Debugger, files: str, frame: StackFrame | None
) -> list[str]:
    """Return the user's files that the program has loaded, in the project, and that of `frame`.

    `files` is an expression of the definition that lists loaded files, one a line. It is evaluated in `frame`,
    which may run code of the program and take `SECONDS_TO_LIST_FILES`; if that fails, only the file of `frame` is
    left. If `files` is empty, or `frame` None, the sources that the adapter has reported as loaded count. If
    `files` is empty and one file is known so far, files with the suffix of that one in its folder and
    below are added, `MOST_FILES` + 1 at most. Only files that exist on this machine, have absolute paths and count
    as the user's are returned, each once; only that of `frame`, which comes first, may be outside of the project.
    The list may be empty.
    """
    paths = [frame_path(frame)] if frame else []
    if files and frame:
        paths += (await _evaluated(session, files, frame)).splitlines()
    else:
        sources = session.mirror.loaded_sources.sources.values()
        paths += [str(each.get("path") or "") for each in sources]
    known = {each for each in paths if each}
    if not files and len(known) == 1:
        paths += await in_thread(_similar_files, *known)
    project = debugger.project
    mine = (each for each in map(_real, paths) if each and _is_users(session, each))
    inside = dict.fromkeys(
        each for each in mine if Path(each).is_relative_to(project) or (frame and each == paths[0])
    )
    return await in_thread(lambda: [each for each in inside if foreign_files.is_file(each)])


def _real(path: str) -> str:
    """Return a path if it is absolute, else an empty text."""
    return path if Path(path).is_absolute() else ""


def _similar_files(path: str) -> list[str]:
    """Return the files with the same suffix in a file's folder and below, `MOST_FILES` + 1 at most."""
    found = foreign_files.matching(Path(path).parent, f"**/*{Path(path).suffix}")
    return [str(each) for each, _ in zip(found, range(MOST_FILES + 1), strict=False)]


def _is_users(session: Session, path: str) -> bool:
    """Return whether frames of a file count as the user's."""
    frame = StackFrame(id=0, name="", line=1, column=1, source={"path": path})
    return session.frames.is_users(frame)


def _naming(paths: Iterable[str], functions: Sequence[str]) -> list[str]:
    """Return those of the files in whose text the last part of one of the function names occurs."""
    names = [re.split(r"[.:#]", each)[-1].replace("*", "") for each in functions]
    texts = ((path, text_of(path)) for path in paths)
    return [path for path, text in texts if any(name in text for name in names)]


def text_of(path: str) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return foreign_files.read_text(path)
    except OSError:
        return ""


async def _evaluated(session: Session, expression: str, frame: StackFrame) -> str:
    """Evaluate an expression of the definition in a frame.

    Return the text of its result, empty: it failed.
    """
    try:
        body = await evaluate(session, expression, frame["id"], "watch", SECONDS_TO_LIST_FILES)
    except DapeerError:
        return ""
    return str(body.get("result") or "").strip("\"'").replace("\\n", "\n")


async def _lines(
    session: Session, path: str, until_definition: Until, frame: StackFrame | None
) -> list[tuple[int, int]]:
    """Return line and column (0: none) of a file's lines that can get a breakpoint with a condition.

    Lines count from 1, and come in ascending order from the adapter's request `breakpointLocations`. An adapter
    without that is given the definition's expression for it (`until_definition.lines`), evaluated in `frame`, unless
    the definition has none, `frame` is None or the path has a `'`. Where neither gives a line, or it fails, all lines
    count that are not blank and no comment. Lines with a breakpoint of somebody's that has no room for another
    condition are left out. The result may be empty, such as for a file that cannot be read.
    """
    text = split_lines(await in_thread(text_of, path))
    lines = [(line, 0) for line, each in enumerate(text, 1) if not _NOTHING.match(each)]
    if session.supports("breakpointLocations"):
        span: BreakpointLocationsArguments = {
            "source": {"path": path},
            "line": 1,
            "endLine": len(text) + 1,
        }
        try:
            body = await session.request("breakpointLocations", span)
            breakable = {
                (int(each["line"]), int(each.get("column") or 0))
                for each in body.get("breakpoints") or ()
            }
            lines = sorted(breakable) or lines
        except DapeerError:
            pass
    elif until_definition.lines and frame and "'" not in path:
        breakable_lines = await _evaluated(
            session, until_definition.filled(until_definition.lines, {"path": path}), frame
        )
        lines = [(int(each), 0) for each in re.findall(r"\d+", breakable_lines)] or lines
    taken = unsharable_lines(session, path, until_definition)
    return [each for each in lines if each[0] not in taken]


def unsharable_lines(session: Session, path: str, until_definition: Until) -> set[int]:
    """Return the lines of a file with a breakpoint whose condition cannot be combined with another one.

    These are all lines of the file `path` with a breakpoint (also one at which the program itself collects), if the
    definition cannot combine conditions (`until_definition.shared` is empty), else those whose breakpoint has a hit
    condition, logs or collects. The line is that to which the adapter has moved the breakpoint, if it says so.
    """
    placed = session.mirror.breakpoint_statuses.breakpoints_in(path)
    return {
        int(each.get("line", sent["line"]))
        for sent, each in placed
        if not until_definition.shared or not _LOST.isdisjoint(sent)
    }


LINES_NAMED = 3
"""Lines that could not be looked at."""
_RECORDED = re.compile(r"(-?\d+)\|(-?\d+)\|(.*?)[\"']?$", re.DOTALL)


class ByConditions(Driving):
    """Runs a program until an expression holds or changes, by a breakpoint with a condition on each line."""

    method = "conditions"

    def __init__(
        self,
        session: Session,
        watch: Watch,
        scope: ScopeSpec,
        seconds: float,
        until_definition: Until,
        debugger: Debugger,
    ) -> None:
        """Set no breakpoints yet; `until_definition` is how the definition runs until something by conditions.

        `scope` (keys `files` and `functions`) says on which lines breakpoints are set. The run ends at a stop, whatever `seconds` are:
        these do not limit it.
        """
        super().__init__(session, watch, scope, seconds)
        self.bounded = False
        self._end_time = float("inf")
        self._until_definition = until_definition
        self._debugger = debugger
        definition = debugger.definitions.get(session.adapter)
        self._quirks = definition.quirks if definition is not None else Quirks()
        self._condition_places: list[ConditionPlace] = []
        self._failing_lines: set[tuple[str, int]] = set()
        """The lines at which the expression cannot be evaluated."""
        self._lines: set[tuple[str, int]] = set()
        self._shared_breakpoints: dict[Place, tuple[int, str]] = {}
        """Of somebody's breakpoint, by its path, requested line and column: index of the place, and condition."""
        self._passed_lines: dict[str, set[int]] = {}
        """By path the lines at which nobody looks, since they have a breakpoint of somebody's."""
        self._stopped_by_others = False
        """A breakpoint of somebody's has stopped the program."""
        self._set_condition = ""
        """The condition that is set, where nothing is recorded."""
        self._last_look_place: ConditionPlace | None = None
        """Where was looked before the stop; None: it is not known."""

    async def begin(self, frame_id: int | None) -> None:
        """Evaluate the expression at the present stop, and set a breakpoint on each line of the scope.

        `frame_id` is not used: the stop's innermost frame is. The evaluation may run code of the program. The
        breakpoints, each with a condition that looks at the expression, are set in this session only. If
        `watch.holds_already` is set then, a row says so, and no breakpoint is set. In some languages the
        program is instructed to record values, too.

        Raises:
            NoConditions: Conditions cannot tell it here, the program cannot record, or the adapter rejects them;
                breakpoints that were set are removed again, as far as the adapter follows.
            NotStopped: The program runs.
            DapeerError: The stack cannot be fetched.
        """
        await super().begin(frame_id)
        if self.watch.holds_already:
            return
        known, stop = self._until_definition, self.session.mirror.require_stop()
        top = await self.top(stop)
        self._condition_places = await condition_places(
            self.session, self._debugger, self.scope, known, top
        )
        self._lines = {(path, line) for path, line, _ in self._condition_places}
        paths = {path for path, _, _ in self._condition_places}
        self._passed_lines = {path: unsharable_lines(self.session, path, known) for path in paths}
        self._find_shared()
        if self.watch.on == "change":
            await self._check_plain(top)
        if known.begin and await self._evaluate_template(known.begin, top) is None:
            raise NoConditions("the program cannot record", "")
        try:
            await self._place_all()
        except DapeerError as error:
            with contextlib.suppress(DapeerError):
                await self.end()
            raise NoConditions("the adapter has not taken the conditions", "") from error

    async def resume(self, stop: Stop) -> None:
        """Send the breakpoints again if their condition is another one now, and send `continue`."""
        if self._condition(0) != self._set_condition:
            await self._place_all()
        await self.session.resume("continue", {"threadId": stop.thread_id})

    def is_stopped_by_other(self, stop: Stop) -> bool:
        """Return whether something else than a condition has stopped the program, so that it stays there.

        False only for a stop of a breakpoint, or of a condition that failed, on a line that has one of the conditions,
        unless the last `_record_if_met` has found somebody's breakpoint there whose own condition, if any, holds.
        """
        shown = f"{stop.body.get('description')} {stop.body.get('text')}"
        failed = self._until_definition.failed and re.search(self._until_definition.failed, shown)
        mine = stop.reason == "breakpoint" or failed
        return (
            not mine
            or self._stopped_by_others
            or self._place_of(stop.default_frame) not in self._lines
        )

    async def note_cause_place(self, stop: Stop) -> tuple[str, str, str] | None:
        """Return function, file and line (as texts) of the line that was looked at before this stop.

        If the record of the looks could not be read, it is the stop's own line; if no line was looked at yet,
        it is the line at which the run began or last went on. The function is empty if it cannot be told. The
        result is never None here. Doubts whether that line has caused the change are recorded in `watch`: that
        the line is not known, that other lines of the function were not looked at, or that the line's function
        has returned since.

        Raises:
            DapeerError: The stack cannot be fetched.
        """
        self.watch.set_doubts(seen=self._last_look_place is None)
        if self._last_look_place is None:
            return place_of(stop.default_frame)
        if not self._last_look_place[1]:
            return self._last_place
        path, line, _ = self._last_look_place
        lines = split_lines(await in_thread(text_of, path))
        frames = await self.session.inspect.stack_trace(stop.thread_id)
        here = [each["name"] for each in frames if frame_path(each) == path]
        inside = (each for each in here if is_inside(lines, line, each))
        of = next(inside, frames[0]["name"] if is_outside(lines, line) else "")
        called = [(frame_path(each), each["line"]) for each in frames[1:2]]
        self.watch.set_doubts(
            passed_by=await self._lines_without_condition(frames[0]),
            returned=of != frames[0]["name"] and (path, line) not in called,
        )
        return of, path, str(line)

    async def _lines_without_condition(self, frame: StackFrame) -> str:
        """Return the lines of a frame's function that have no condition, as "file:line, …"; empty: none.

        Those are the lines with a breakpoint of a person or client that has no room for another condition; if the
        frame is outside of functions, lines outside of all functions count, too. `file` is the file's name without
        its folder. At most `LINES_NAMED` are named, in order. A file that cannot be read counts as one without
        functions: all its lines may be named.
        """
        path, name, at = frame_path(frame), frame["name"], frame["line"]
        lines = split_lines(await in_thread(text_of, path))
        alone = is_outside(lines, at)
        passed = [
            f"{Path(path).name}:{each}"
            for each in sorted(self._passed_lines.get(path, ()))
            if is_inside(lines, each, name) or (alone and is_outside(lines, each))
        ]
        return ", ".join(passed[:LINES_NAMED])

    async def end(self) -> None:
        """Send the wanted breakpoints in place of those with conditions; the program records no more."""
        for path in dict.fromkeys(path for path, _, _ in self._condition_places):
            await self.session.set_breakpoints(path, self._debugger.breakpoints.in_file(path))
        stop = self.session.mirror.stop
        if self._until_definition.end and stop is not None:
            await self._evaluate_template(self._until_definition.end, await self.top(stop))

    async def _record_if_met(self, stop: Stop) -> bool:
        """Evaluate the expression at a stop; return whether it has become true, or changed, and a row says so.

        The evaluation is that of `Driving._record_if_met`. Before, what the conditions have recorded in the program is
        read, and `_stopped_by_others` is set to whether somebody's breakpoint is there and its own condition, if any,
        holds. If the result is False, the stop has a frame, and one of our conditions has stopped the program, the
        program's record is undone for going on; where the definition has no `undo`, a line at which the expression cannot
        be evaluated gets no condition any more. Code of the program may run in all these evaluations; those of the
        definition's own expressions raise nothing when they fail.

        Raises:
            DapeerError: The stack or the threads cannot be fetched.
        """
        frame = await self.top(stop)
        own = self._shared_at(frame)
        self._stopped_by_others = own is not None and (
            not own[1] or is_true(await self._evaluate_template(own[1], frame)) or False
        )
        ours = not self.is_stopped_by_other(stop)
        await self._read_record(frame, ours=ours or own is not None)
        done = await super()._record_if_met(stop)
        if ours and frame is not None and not done:
            await self._prepare_to_resume(frame)
        return done

    async def _read_record(self, frame: StackFrame | None, *, ours: bool) -> None:
        """Read what the conditions have recorded in the program; set `_value` and `_last_look_place` by it.

        The record is evaluated in `frame`, or without a frame if that is None. `_last_look_place` becomes the place
        that was looked at before this stop, or `("", 0, 0)` if there was none yet; with `ours` the last look is the one
        that has stopped the program, and the look before it counts. `_value` becomes the recorded value, None if that
        is empty. If the definition has no `read`, nothing is recorded, or the evaluation fails, `_last_look_place`
        becomes None and `_value` stays.
        """
        self._last_look_place = None
        shown = (
            await self._evaluate_template(self._until_definition.read, frame)
            if self._until_definition.read
            else None
        )
        found = _RECORDED.search(shown or "")
        if found is None:
            return
        self._value = found[3] or None
        number = int(found[2] if ours else found[1])
        # None has been looked at yet where it is -1: the line at which it all began has run.
        self._last_look_place = (
            self._condition_places[number]
            if 0 <= number < len(self._condition_places)
            else ("", 0, 0)
        )

    async def _prepare_to_resume(self, frame: StackFrame) -> None:
        """Prepare going on from a stop at which the expression has not become true, or changed.

        Either the program's record is undone, or a line at which the expression has no value gets no condition any more.
        """
        if self._until_definition.undo:
            await self._evaluate_template(self._until_definition.undo, frame)
        elif await self.evaluate_in_frame(frame) is None:
            self._failing_lines.add(self._place_of(frame))
            self._set_condition = ""

    def _condition(self, number: int) -> str:
        """Return the condition, in the program's language, of the breakpoint that watches at a place.

        `number` is the place's index in `_condition_places`. The condition is filled in from a template of the
        definition: `changes` where a change is looked for, else `holds`. While the expression is true, `fails`
        takes the place of `holds` if the definition has `fails`: the program then stops where the expression is
        false.
        """
        known = self._until_definition
        if self.watch.on == "change":
            text = known.changes
        else:
            text = known.fails if known.fails and is_true(self._value) else known.holds
        return self._fill_placeholders(text, number)

    def _fill_placeholders(self, text: str, place: int = -1) -> str:
        """Return a text of the definition with its placeholders filled: the expression, the place, the run."""
        now = {"seen": int(self._value is not None), "place": place}
        expression = self._quirks.compilable_expression(self.watch.expression)
        run = {"run": self.watch.point.number, "expression": expression}
        return self._until_definition.filled(text, now | run)

    async def _place_all(self) -> None:
        """Send the session all breakpoints of the scope's files, shared ones and those with the condition.

        Where the adapter's definition tells how, breakpoints of somebody's in the scope get the condition, too.
        Lines where the expression could not be evaluated get none of dapeer's. The condition for the first
        place is stored in `_set_condition`, before anything is sent.

        Raises:
            DapeerError: The adapter does not answer, or rejects a request; other files may have theirs already.
        """
        self._set_condition = self._condition(0)
        for path in dict.fromkeys(path for path, _, _ in self._condition_places):
            own = (
                self._with_condition(path, each)
                for each in self._debugger.breakpoints.in_file(path)
            )
            await self.session.set_breakpoints(path, [*own, *self._condition_breakpoints(path)])

    def _find_shared(self) -> None:
        """Add the breakpoints that clients have at places of the scope to `_shared_breakpoints`.

        The key is the breakpoint's path, and the requested line and column (0: none). The value is the index of its
        place in `_condition_places`, and the breakpoint's own condition (empty: none). The place is on the line that
        the adapter has given the breakpoint, else the requested one. A breakpoint whose column, the adapter's or else
        the requested one, fits none of its line's places counts as at the first place of the line.
        """
        for path in dict.fromkeys(path for path, _, _ in self._condition_places):
            for sent, made in self.session.mirror.breakpoint_statuses.breakpoints_in(path):
                line = int(made.get("line", sent["line"]))
                here = [
                    n for n, each in enumerate(self._condition_places) if each[:2] == (path, line)
                ]
                if here:
                    # Without a column, a breakpoint is at the first place of its line.
                    column = made.get("column", sent.get("column"))
                    at = [n for n in here if self._condition_places[n][2] == column]
                    shared = (path, *spot_of(sent))
                    self._shared_breakpoints[shared] = (*at, *here)[0], sent.get("condition", "")

    def _shared_at(self, frame: StackFrame | None) -> tuple[int, str] | None:
        """Return condition place and condition of the shared breakpoint where a frame is; None: there is none.

        The pair is a value of `_shared_breakpoints`: an index into `_condition_places`, and the condition of
        somebody else's breakpoint there as text (empty: it has no condition). Of several breakpoints on the
        frame's line, the one requested at the frame's column counts, else the first. `frame` may be None, which gives
        None.
        """
        here = {
            column: shared
            for (_, _, column), shared in self._shared_breakpoints.items()
            if self._condition_places[shared[0]][:2] == self._place_of(frame)
        }
        column = frame["column"] if frame else 0
        return here.get(column, next(iter(here.values()), None))

    def _with_condition(self, path: str, requested: RequestedBreakpoint) -> RequestedBreakpoint:
        """Return a client's breakpoint with a condition that also stops where the watched expression does.

        The new condition, by the definition's template `shared`, holds where the breakpoint's own or the watching
        condition does. `requested` is a breakpoint of the shared set in the file `path`, and is not changed. It is
        returned as it is if it is at no place of the scope, or the definition cannot record values.
        """
        place = (path, *spot_of(requested))
        number, own = self._shared_breakpoints.get(place, (-1, ""))
        if number < 0 or not self._until_definition.begin:
            return requested
        return {
            **requested,
            "condition": self._until_definition.filled(
                self._until_definition.shared, {"ours": self._condition(number), "own": own or 1}
            ),
        }

    def _condition_breakpoints(self, path: str) -> Iterable[RequestedBreakpoint]:
        """Yield the breakpoints to set in the file `path`, with the condition that counts now.

        Places of the scope that have a breakpoint of somebody's are left out, and so are whole lines where the
        expression cannot be evaluated.
        """
        shared = {number for number, _ in self._shared_breakpoints.values()}
        for number, (of, line, column) in enumerate(self._condition_places):
            if of == path and number not in shared and (path, line) not in self._failing_lines:
                conditional = RequestedBreakpoint(line=line, condition=self._condition(number))
                if column:
                    conditional["column"] = column
                yield conditional

    async def _check_plain(self, frame: StackFrame | None) -> None:
        """Evaluate the watch's expression, and raise `NoConditions` if its value has members.

        Members may change while the value stays the same, which a condition does not see. `frame` is where the
        expression is evaluated; None: without a frame. If the expression cannot be evaluated, nothing is raised.

        Raises:
            NoConditions: The value has members (a `variablesReference`), and is no `PLAIN_VALUE`.
        """
        number = frame["id"] if frame else None
        try:
            body = await evaluate(
                self.session, self.watch.expression, number, "watch", SECONDS_TO_EVALUATE
            )
        except DapeerError:
            return
        # Some adapters expand numbers, too.
        plain = PLAIN_VALUE.fullmatch(str(body.get("result") or ""))
        if body.get("variablesReference") and not plain:
            raise NoConditions("members may change, which conditions do not tell", "")

    async def _evaluate_template(self, text: str, frame: StackFrame | None) -> str | None:
        """Evaluate a text of the definition in a frame; return the result, None: the evaluation failed.

        The text's placeholders are filled first. Code of the program runs; the answer is awaited for
        `SECONDS_TO_EVALUATE` at most, and a timeout counts as a failure. A `frame` of None evaluates without a frame. The
        result is the adapter's text, empty if the adapter gives none.
        """
        expression = self._fill_placeholders(text)
        try:
            number = frame["id"] if frame else None
            body = await evaluate(self.session, expression, number, "watch", SECONDS_TO_EVALUATE)
        except DapeerError:
            return None
        return str(body.get("result") or "")

    @staticmethod
    def _place_of(frame: StackFrame | None) -> tuple[str, int]:
        """Return path and line of a frame; an empty path and 0 for None."""
        return (frame_path(frame), frame["line"]) if frame else ("", 0)

    def counted(self) -> str:
        """Return on how many lines conditions were set, and how often the program has stopped, as text."""
        return f"{len(self._lines):,} lines, {super().counted()}"


def usable(definition: Definition | None, watch: Watch, session: Session) -> Until | None:
    """Return how the definition runs until this watch by conditions.

    None: it cannot, or the adapter lacks them.
    """
    known = definition.until if definition is not None else Until()
    text = {"true": known.holds, "change": known.changes}.get(watch.on, "")
    return known if text and session.supports("condition") else None
