"""Looking at a program when it stops: what everybody asks is fetched at once."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import anyio

from dapeer.adapters.definition.sections import Expressions
from dapeer.base.errors import RequestFailed
from dapeer.base.json_types import as_array, as_object
from dapeer.base.secret_files import HIDDEN, SecretFiles
from dapeer.base.system.tasks import BackgroundTask, WaitFor
from dapeer.base.text import source_lines
from dapeer.base.text.source_lines import split_lines
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.requests import RESUMES
from dapeer.dap.sent_requests import EvaluateArguments, SendRequest, SourceArguments
from dapeer.dap.types import StackFrame, Variable
from dapeer.mirror.mirror import UNKNOWN, Mirror
from dapeer.mirror.places import SPEC
from dapeer.mirror.stops import Stop
from dapeer.sessions.inspection.arriving_output import ArrivingOutput, PrintedErrors
from dapeer.sessions.inspection.fetching import (
    FIRST_ELEMENTS,
    Fetching,
    ignore_failure,
    run_together,
)
from dapeer.sessions.inspection.source_versions import SourceVersions, lines_around
from dapeer.sessions.traits import Traits
from dapeer.view import snapshot, variables
from dapeer.view.stacks import frame_path

# Evaluates in the program what its adapter does not report at a stop.

Evaluate: TypeAlias = Callable[[str, int, str], Awaitable[str]]
"""Evaluates an expression in a frame, in a context of DAP's."""

_QUOTED = re.compile(r'"(.+)"', re.DOTALL)


async def evaluate_stop_reason(
    mirror: Mirror, stop: Stop, expressions: Expressions, evaluate: Evaluate
) -> None:
    """Evaluate the definition's expressions for a stop's signal or exception, in the program.

    The mirror keeps the results: of `finding` and `thrown` only the text in quotes, None if nothing is
    quoted, of `signal` the name, empty for an unknown one, `SIGSTOP` and `SIGTRAP`. `evaluate` takes an
    expression, a frame id and a DAP context (`hover`, `watch` or `repl`), is awaited for each expression
    that fits, and returns the value as text. `signal` fits a stop by a signal or after attaching,
    `exception` a stop at an exception of which the adapter has given no text, and `finding` and `thrown`
    fit if `finding_at` or `thrown_at` is found in the name of the innermost frame. Nothing is evaluated
    where none fits. The stack of the stopped thread must have been fetched, and have a frame.

    Raises:
        DapeerError: An evaluation failed; expressions after it are not evaluated.
    """
    frame = stop.stack.frames[stop.thread_id][0]
    innermost = frame["id"]
    if expressions.signal and stop.reason in {"signal", "attach"}:
        name = _signal(await evaluate(expressions.signal, innermost, "hover"))
        mirror.record_findings(stop, replace(stop.findings, signal=name))
    if expressions.exception and stop.reason == "exception" and not stop.body.get("text"):
        mirror.record_exception(stop, await evaluate(expressions.exception, innermost, "hover"))
    for where, told, context in (
        (expressions.finding_at, expressions.finding, "watch"),
        (expressions.thrown_at, expressions.thrown, "repl"),
    ):
        if where and where.search(frame["name"]):
            found = _QUOTED.search(await evaluate(told, innermost, context))
            mirror.record_exception(stop, _unquoted(found[0]) if found else None)


async def evaluate_members(
    mirror: Mirror,
    stop: Stop,
    variables: Sequence[Variable],
    expressions: Expressions,
    evaluate: Evaluate,
) -> None:
    """Evaluate by one expression what `variables` hold that the adapter does not expand.

    The expression has the names of all variables, and is evaluated in the frame of `stop` that is shown; it may run
    code of the program. `evaluate` is called with the expression, the frame's id and the DAP context `hover`, and
    returns JSON: an object of texts by name; what is no object counts as an empty one. `mirror` keeps these texts
    as the variables' members; names that are not in `variables` are left out. Nothing is evaluated if the
    definition's `expressions` have none for this, the stop has no frame, or `variables` is empty.

    Raises:
        DapeerError: The evaluation failed.
        ValueError: Its result is no JSON.
    """
    if not expressions.members or stop.default_frame is None or not variables:
        return
    held = {each["name"]: each["variablesReference"] for each in variables}
    expression = expressions.members.replace("${names}", json.dumps([*held]))
    # In a hover it is a look, which changes nothing: what else is known of the stop stays.
    texts = as_object(json.loads(await evaluate(expression, stop.default_frame["id"], "hover")))
    members = {held[name]: str(text) for name, text in texts.items() if name in held}
    mirror.record_members(stop, members)


def _unquoted(quoted: str) -> str:
    """Return a text without its quotes, and without escapes that JSON knows."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def is_bare(variable: Variable, expressions: Expressions) -> bool:
    """Return whether the adapter shows nothing of a variable's object, by the definition's `bare`."""
    return (
        expressions.bare is not None and expressions.bare.fullmatch(variable["value"]) is not None
    )


def _signal(number: str) -> str:
    """Return the name of the signal with this number.

    Empty: unknown, or one by which debuggers stop programs.
    """
    with contextlib.suppress(ValueError):
        name = signal.Signals(int(number)).name
        return "" if name in {"SIGSTOP", "SIGTRAP"} else name
    return ""


MAX_LOCALS = 50
"""Locals whose elements are requested if the adapter leaves them out."""
MAX_LOCALS_IN_NVIM_DAP = 8
"""The same in a session of nvim-dap, whose own requests wait meanwhile."""
MAX_LEVELS = 2
"""Levels that are opened below the first."""
SECONDS_TO_OPEN = 2.0
"""Seconds that this may take."""
SECONDS_TO_LOOK = 6.0
"""Seconds that an inspection waits for slow values, such as a slow `repr`."""
MAX_CHASED_STOPS = 50
"""Stops without a resume that are inspected unasked: some adapters' inspections cause the next stop."""


ABORTED = "SIGABRT"

Compare: TypeAlias = Callable[[Stop], Coroutine[Any, Any, None]]


class Inspection(Fetching):
    """Fetches what is needed to show a stopped program.

    At every stop it fetches what everybody asks: stack, scopes, locals, the exception. A stop that the
    person in Neovim has caused is left to their own client, whose answers are ours, too, until somebody
    asks. What else is asked for is fetched when it is: see `Fetching`.
    """

    def __init__(
        self,
        mirror: Mirror,
        request: SendRequest,
        wait_for: WaitFor,
        arriving: ArrivingOutput,
        errors: PrintedErrors,
        secret_files: SecretFiles,
        traits: Traits,
    ) -> None:
        """Fetch nothing yet; frames in `secret_files` are shown without their source.

        `errors` finds errors in what the program prints, `arriving` waits for that output.
        """
        super().__init__(mirror, request, wait_for, traits)
        self.source_versions = SourceVersions(time.time())
        self._expressions = traits.stopping.expressions
        self._secret_files = secret_files
        self._is_quiet = False
        """Stops are not inspected until somebody asks."""
        self._compare: Compare | None = None
        """Looks which frames the adapter leaves out of a stack, where it may do so."""
        self._arriving = arriving
        self._errors = errors
        self._inspected_event: anyio.Event | None = None
        """Set when the latest stop has been inspected."""
        self._stops_without_resume = 0
        self._uninspected_stop: Stop | None = None
        """The stop that is inspected only on request."""
        self._source_kept_frame: StackFrame | None = None
        """The frame whose source was kept last."""

    def enable_program_queries(
        self, folded: re.Pattern[str] | None, compare: Compare | None
    ) -> None:
        """Have the program itself asked, at later stops, for what an unpatched adapter leaves out.

        `folded` marks values with omitted elements; `compare` is called with each stop to find omitted frames. None: nothing is asked.
        """
        self.omission_pattern, self._compare = folded, compare

    @contextlib.contextmanager
    def quiet(self) -> Generator[None]:
        """Have stops not inspected while the body runs, unless a caller asks: many of them follow each other."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False

    # -- at every stop

    def on_message(self, message: Message) -> None:
        """React to a message that the mirror has applied; at a stop, begin to fetch what is shown of it.

        Nothing is fetched yet if the person's client looks first, or inspection is put off for another reason.
        `other_client` sees every message. A request that resumes records in the last stop who has resumed: the person, if
        its number is negative, else a tool. After a `stackTrace` response the file with the stop's source is read, and
        the source around the stop is kept, unless it was kept before. A `loadedSource` event with the reason `new`
        records when its file was loaded.
        """
        self.other_client.on_message(message)
        match message:
            case Event(event="stopped"):
                self._begin_at_stop()
            case Request(seq=seq, command=command) if command in RESUMES:
                self._resumed(by_person=seq < 0)
            case Response(command="stackTrace") if (
                stop := self._mirror.stop
            ) and not stop.findings.source:
                self._keep_source(stop)
            case Event(event="loadedSource", body={"reason": "new", "source": source}):
                if path := as_object(source).get("path"):
                    self.source_versions.record_load(str(path), time.time())
            case _:
                pass

    def _resumed(self, *, by_person: bool) -> None:
        """Record in the last stop who has resumed the program.

        `by_person`: the person in Neovim, else a tool. The count of stops without a resume begins again, so that the next stop is
        inspected.
        """
        self._stops_without_resume = 0
        if (stop := self._mirror.history.latest) is not None:
            who = "the person in Neovim" if by_person else "another call of a tool"
            self._mirror.record_findings(stop, replace(stop.findings, resumed_by=who))

    def _begin_at_stop(self) -> None:
        """Start to fetch what every reader of the new stop needs, or leave that until a caller asks for it.

        The fetch is left to a caller (in `_uninspected_stop`) inside `quiet`, where the person's client looks at a
        stop first, and from the stop on that follows `MAX_CHASED_STOPS` others without a resume. The call returns
        at once.
        """
        stop = self._mirror.stop
        self._stops_without_resume += 1
        if (
            self._stops_without_resume > MAX_CHASED_STOPS
            or self.other_client.looks_first
            or self._is_quiet
        ):
            self._uninspected_stop = stop
        elif stop is not None:
            self._begin(stop)

    def _keep_source(self, stop: Stop) -> None:
        """Keep the source around a stop's default frame in the mirror, and a warning if its file has changed.

        Both get into `stop.findings`: `source` has the lines of the frame's function around its line (one line
        that says so for a file that may hold secrets, None if the file cannot be read), `outdated_source` the
        warning. The file is read at once. Nothing is done if the stop has no such frame, the frame has no file,
        or the frame's source was kept last.
        """
        if stop.default_frame is self._source_kept_frame:
            return
        self._source_kept_frame = stop.default_frame
        path = frame_path(stop.default_frame) if stop.default_frame else ""
        if stop.default_frame and path:
            line = stop.default_frame["line"]
            around = self.source(path, line, snapshot.SOURCE_AROUND, stop.default_frame["name"])
            source = around and source_lines.lines_of_function(
                *around, line, stop.default_frame["name"]
            )
            warning = self.source_versions.warning(path, line, stop.default_frame["name"])
            found = replace(stop.findings, source=source, outdated_source=warning)
            self._mirror.record_findings(stop, found)

    def on_request(self, stop: Stop) -> None:
        """Start inspecting a stop whose inspection was put off, because a caller asks for it; else do nothing."""
        if stop is self._uninspected_stop and self._stops_without_resume <= MAX_CHASED_STOPS:
            self._uninspected_stop = None
            self._begin(stop)

    def _begin(self, stop: Stop) -> None:
        """Start a task that inspects a stop."""
        self._inspected_event = anyio.Event()
        BackgroundTask(self._inspect(stop, self._inspected_event))

    async def wait_until_inspected(self, stop: Stop) -> None:
        """Wait until the stop's stack, scopes and locals are in the mirror, as far as they can be had.

        An inspection of this stop that was put off is started. Stack and locals are fetched again if an evaluation
        has outdated something, or if there is no stack. Errors of the adapter raise nothing. The wait has no limit of
        its own: the caller sets one.
        """
        if stop is self._uninspected_stop:
            self._uninspected_stop = None
            self._begin(stop)
        if self._inspected_event is not None:
            await self._inspected_event.wait()
        if stop.values.outdated_references or (
            stop.default_frame is None and not stop.stack.frames
        ):
            await ignore_failure(self._fetch_stack_and_locals(stop))

    async def _inspect(self, stop: Stop, looked: anyio.Event) -> None:
        """Fetch all that is shown of a stop, and wait for its output; set `looked` at the end in any case.

        A step that has printed nothing by then does not wait, unless the adapter tells when output is complete. If
        the signal is SIGABRT, or the adapter has reported a panic or the like as a breakpoint (`stop.real_reason`),
        the error that the program has printed since the previous stop is recorded as the stop's exception; for such
        a report also the place that it names (`_keep_printed_place`). Errors of the adapter raise nothing.
        """
        try:
            self._mirror.mark_flowing(stop, flows=self._arriving.floods(stop))
            # An adapter that tells when output is complete does so while the stop is looked at.
            confirmed = self._arriving.is_confirmed
            output = [self._arriving.wait_for_output(self._mirror, stop)] if confirmed else []
            # What comes last is waited for here, where the answer wakes who waits without another task between.
            await run_together(*output, self._fetch_stop_facts(stop))
            # A step without output by now has most likely printed nothing, so it does not wait; later output
            # is shown with the next stop.
            since = stop.presentation.output_start
            if not confirmed and (stop.reason != "step" or self._mirror.output.end != since):
                await self._arriving.wait_for_output(self._mirror, stop)
            # What has been printed says why the program gives up.
            signal = stop.findings.signal or str(stop.body.get("description"))
            gives_up = stop.real_reason or ABORTED in signal
            if gives_up and (found := self._errors.since(stop.presentation.output_start)):
                self._mirror.record_exception(stop, found.groupdict().get("error"))
            self._keep_printed_place(stop)
        finally:
            looked.set()

    def _keep_printed_place(self, stop: Stop) -> None:
        """Record the place that a printed report names, with its source, if no frame is the user's.

        The program has printed such a report where a stop is for a panic or the like (`stop.real_reason`). Its place
        is looked for by the definition's pattern `printed_place` in the output since the stop before; the first place
        outside of libraries counts, and is recorded in the mirror, as `printed_place` and `source` of
        `stop.findings`. Nothing is recorded without such a pattern, reason, place, or known frames.
        """
        pattern, whose = self._expressions.printed_place, self._mirror.frames
        known = [*stop.stack.frames.get(stop.thread_id, ()), *stop.stack.outer]
        if not (pattern and stop.real_reason and known) or whose.innermost_users_frame(known):
            return
        printed = self._mirror.output.read(stop.presentation.output_start).text
        places = re.finditer(pattern.pattern, printed, re.MULTILINE)
        found = next((each for each in places if not whose.is_librarys(each["file"])), None)
        if found is not None:
            path, line = found["file"], int(found["line"])
            source = self.source(path, line, snapshot.SOURCE_AROUND)
            self._mirror.record_findings(
                stop, replace(stop.findings, printed_place=(path, line), source=source)
            )

    async def _fetch_stop_facts(self, stop: Stop) -> None:
        """Fetch threads, exception and locals of a stop side by side into the mirror; errors raise nothing.

        The threads are requested only if the mirror lacks some, first of all if the stop names no thread; the
        exception only at a stop for one.
        """
        if stop.thread_id == UNKNOWN:
            await ignore_failure(self.threads())
        beside: list[Coroutine[Any, Any, object]] = []
        if not self._mirror.has_all_threads:
            beside.append(self.threads())
        if stop.reason == "exception":
            beside.append(self.exception_info(stop.thread_id))
        await run_together(self._fetch_stack_and_locals(stop), *beside)

    async def _fetch_stack_and_locals(self, stop: Stop) -> None:
        """Fetch a stop's stack, source, scopes and locals, and why the program has stopped, into the mirror.

        Expressions of the adapter's definition are evaluated in the program for that: why it has stopped, and whether it
        has loaded a changed file again. Nothing is fetched beyond the stack if that is empty. Failures after the stack was
        fetched raise nothing: what they concern is missing in the mirror.

        Raises:
            DapeerError: The stack was not fetched.
        """
        frame = await self.fetch_shown_frame(stop)
        if frame is None:
            return
        if path := frame_path(frame):
            await ignore_failure(self.ask_for_reload(path))
            self._source_kept_frame = (
                None if self.source_versions.old(path) else self._source_kept_frame
            )
        self._keep_source(stop)
        await ignore_failure(
            evaluate_stop_reason(self._mirror, stop, self._expressions, self._evaluate)
        )
        await run_together(
            self._fetch_scopes(stop, frame),
            self._fetch_stack(stop),
            ignore_failure(self._fetch_source(stop, frame)),
        )

    async def _fetch_source(self, stop: Stop, frame: StackFrame) -> None:
        """Request the text of a source that only the adapter has; keep the lines of the frame's function.

        Kept are those around the frame's line that are in its function, as the `source` of the findings that
        the mirror records for `stop`. Nothing is requested if these already have a source, the frame has no
        `sourceReference`, or the file may hold secrets. Nothing is kept if the adapter gives no MIME type, or
        the text does not reach to the frame's line.

        Raises:
            DapeerError: The request `source` has failed.
        """
        reference, path = frame.get("source", {}).get("sourceReference"), frame_path(frame)
        if stop.findings.source is not None or not reference or self._secret_files.hides(path):
            return
        lines, kind = await self.source_of_adapter(reference)
        line = frame["line"]
        around = lines_around(lines, line, snapshot.SOURCE_AROUND)
        if kind and around:
            source = source_lines.lines_of_function(*around, line, frame["name"])
            self._mirror.record_findings(stop, replace(stop.findings, source=source))

    async def source_of_adapter(self, reference: int) -> tuple[list[str], str]:
        """Request `source` by a `sourceReference`.

        Return the text's lines, and its MIME type (empty: none given).

        Raises:
            DapeerError: The adapter rejects the request, or does not answer, or the session has ended.
        """
        arguments: SourceArguments = {
            "source": {"sourceReference": reference},
            "sourceReference": reference,
        }
        body = await self._request("source", arguments)
        return split_lines(str(body.get("content") or "")), str(body.get("mimeType") or "")

    async def _fetch_scopes(self, stop: Stop, frame: StackFrame) -> None:
        """Fetch the scopes of a frame, the variables of local ones, and elements of the important variables.

        If the adapter rejects `scopes`, the stop records its reason. Failed requests of `variables` raise
        nothing.

        Raises:
            DapeerError: `scopes` has failed in another way than by a rejection.
        """
        try:
            await self.scopes(frame["id"])
        except RequestFailed as error:
            self._mirror.record_findings(stop, replace(stop.findings, why_no_locals=error.message))
        scopes = stop.values.local_scopes(frame["id"])
        await run_together(*(self.variables(scope["variablesReference"]) for scope in scopes))
        await self._fetch_omitted_elements(stop)

    async def _fetch_stack(self, stop: Stop) -> None:
        """Fetch the stack of a stop: the whole one if omitted frames are looked for, else both of its ends."""
        if self._compare is None:
            return await self.fetch_stack_ends(stop)
        # What an adapter leaves out shows in a whole stack only.
        await self.whole_stack(stop.thread_id)
        return await self._compare(stop)

    async def _fetch_omitted_elements(self, stop: Stop) -> None:
        """Fetch the omitted elements of the locals at a stop, and of needed ones `MAX_LEVELS` levels deeper.

        Needed are the locals that the shown source uses, and the arguments. Elements are fetched only of the first
        `MAX_LOCALS` locals (`MAX_LOCALS_IN_NVIM_DAP` with an `omission_pattern`), the needed ones before the others.
        The deeper levels begin with the first `FIRST_ELEMENTS` needed ones, have at most `MAX_LOCALS` members each
        (or `MAX_LOCALS_IN_NVIM_DAP`), and take at most `SECONDS_TO_OPEN`. With an `omission_pattern` one expression
        is evaluated first, for these locals and for needed objects of which the adapter shows nothing; what it tells
        of is not fetched. The mirror keeps what is told and fetched, and requests that fail are ignored.
        """
        needed, others = variables.by_need(stop)
        parts = stop.values.unfolded
        most = MAX_LOCALS if self.omission_pattern is None else MAX_LOCALS_IN_NVIM_DAP
        closed = [*filter(self.hides_children, needed[:most])]
        room = max(most - len(needed), 0)
        closed += [each for each in others[:room] if self.hides_children(each, whole=False)]
        if self.omission_pattern is not None:
            bare = [each for each in needed if is_bare(each, self._expressions)][:MAX_LOCALS]
            await ignore_failure(
                evaluate_members(
                    self._mirror, stop, [*bare, *closed], self._expressions, self._evaluate
                )
            )
            closed = [
                each for each in closed if each["variablesReference"] not in parts.reported_members
            ]
        await run_together(*map(self.fetch_members, closed))
        if not parts.first_children:
            return
        level = needed[:FIRST_ELEMENTS]
        with anyio.move_on_after(SECONDS_TO_OPEN):
            for _ in range(MAX_LEVELS):
                level = [inner for each in level for inner in parts.members_of(each)][:most]
                await run_together(*map(self.fetch_members, filter(self.hides_children, level)))

    async def _evaluate(self, expression: str, frame_id: int, context: str) -> str:
        """Send `evaluate` with a frame id and DAP context; return the result's text."""
        arguments = EvaluateArguments(expression=expression, frameId=frame_id, context=context)
        return str((await self._request("evaluate", arguments)).get("result") or "")

    async def ask_for_reload(self, path: str) -> None:
        """Ask the program whether it has loaded a changed file again, and what still runs the old text.

        An expression of the definition is evaluated in the program, in no frame, with `path` and the file's old
        text. `source_versions` keeps the answer: that the new text was loaded, and which frames and functions still have
        the old one. Nothing is asked if the definition has no expression for this, or if the file has not changed
        since its text was kept and no old code of it was known.

        Raises:
            DapeerError: The evaluation failed.
            ValueError: Its result is no JSON, or has another form than expected.
        """
        change, old = self.source_versions.known_change(path), self.source_versions.old(path)
        if not self._expressions.texts or (change is None and old is None):
            return
        then = change.old_lines if change else old and old.text
        spec = json.dumps(json.dumps([path, then and "\n".join([*then, ""])]))
        arguments = EvaluateArguments(
            expression=self._expressions.texts.replace(SPEC, spec), context="clipboard"
        )
        body = await self._request("evaluate", arguments)
        answer = as_object(json.loads(str(body.get("result") or "{}")))
        if change is not None and answer.get("new"):
            self.source_versions.record_load(path, time.time())
        frames = (
            (str(name), int(str(line)))
            for name, line in map(as_array, as_array(answer.get("frames")))
        )
        self.source_versions.find_old(path, frames, map(str, as_array(answer.get("functions"))))

    def source(
        self, path: str, line: int, line_count: int, function: str = ""
    ) -> tuple[int, list[str]] | None:
        """Return the lines around a line as the program has loaded them: the first's number, and texts.

        `line_count` is how many lines on either side, `function` the name of the frame there. None: they cannot be read. A
        file that may hold secrets gives one line that says so.
        """
        if self._secret_files.hides(path):
            return line, [HIDDEN]
        return self.source_versions.window(path, line, line_count, function)
