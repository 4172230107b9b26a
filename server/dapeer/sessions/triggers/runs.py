"""Does what callers have asked for beside a wait, in turn, and keeps what there is to tell of it.

Nobody waits for it but who wants to: it ends with its program, with its limit, and with dapeer.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from anyio.abc import TaskGroup

from dapeer.adapters.process.owned_process import Processes
from dapeer.adapters.process.spawn import ChildProcess
from dapeer.base.errors import DapeerError
from dapeer.base.system.environment import starter_environment
from dapeer.base.system.matching import AwaitedLines
from dapeer.base.system.tasks import first_of
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import quoted
from dapeer.sessions.core.program import Program, StopIds
from dapeer.sessions.core.session import Session
from dapeer.sessions.triggers.readiness import (
    SECONDS_BETWEEN_LOOKS,
    AllSessions,
    Readiness,
    require_address,
)
from dapeer.sessions.triggers.trigger import (
    MAX_BODY_BYTES,
    STREAM_BYTES,
    Body,
    CommandRun,
    Evaluation,
    HttpRequest,
    ReadyCondition,
    Response,
    TerminalInput,
    Trigger,
    is_stream,
    outcome_line,
)

# Runs a command to its end, with all that it has started.

OwnProcesses = Callable[[], AbstractAsyncContextManager[Processes]]
"""Opens a set of processes that end with the block, or with dapeer."""
READ_BYTES = 65536
"""Bytes that are read at once."""
SECONDS_AFTER_EXIT = 0.3
"""Seconds after a command's end in which its output arrives; its children may hold the pipe."""


class CannotRun(DapeerError):
    """A command cannot be started, and why, as a clause."""


async def run_command(
    own_processes: OwnProcesses,
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    printed: Callable[[bytes], object],
) -> int:
    """Run a command, pass all that it prints to `printed` as it comes, and return its exit code.

    Standard output and errors are one stream; its input is empty. `own_processes` makes the set of processes that
    it belongs to; it runs in the folder `cwd`, and `env` is added to the variables that `starter_environment`
    returns. What it has started and left behind is killed at its end, after its output was read for at most
    `SECONDS_AFTER_EXIT`. There is no time limit: if the caller is cancelled, the command is killed with all that it
    has started, and so it is if `printed` raises.

    Raises:
        CannotRun: The system does not start the command: it or the folder is missing, may not be used, or no
            process is free.
        ExceptionGroup: `printed` has raised; the group has its error.
    """
    async with own_processes() as processes:
        try:
            child = await ChildProcess.start(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**starter_environment(), **env, **processes.mark},
            )
        except OSError as error:
            raise CannotRun(f"{error.filename or command[0]}: {error.strerror}") from error
        processes.add(child.pid)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, child, printed)
                await child.wait()
                tasks.cancel_scope.deadline = anyio.current_time() + SECONDS_AFTER_EXIT
            return await child.wait()
        finally:
            child.close_pipes()


async def _read(child: ChildProcess, printed: Callable[[bytes], object]) -> None:
    """Pass what a command prints to `printed`, until its output is closed."""
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    while piece := await child.stdout.read(READ_BYTES):
        printed(piece)


# Sends HTTP requests to programs that are debugged, each to an address that was checked before.

MAX_REDIRECTS: Final = 5
"""Redirects that are followed."""
_KEEPS_METHOD: Final = (307, 308)
"""Statuses of redirects by which a request is sent as it was."""

FindAddress = Callable[[str, int], Awaitable[str]]
"""Returns the numeric address of a program, by a host of this machine and a port, or raises."""


class TriggerFailed(DapeerError):
    """A trigger has not done what it should, and why, as a clause."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends one request, and follows its redirects as far as they lead to programs that are debugged."""

    address: FindAddress

    async def send(self, request: HttpRequest) -> Response:
        """Send a request once and read its response.

        A request to this machine goes to the numeric address that `address` gives, one to another host as it is. Redirects to this
        machine's debugged programs, or to the same origin, are followed, at most `MAX_REDIRECTS`. There is no time limit: the caller sets
        one.

        Raises:
            NotListening: No debugged program is at its address on this machine; nothing was sent there.
            TriggerFailed: There is no response.
        """
        try:
            return await self._send_and_redirect(request)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise TriggerFailed(_reason(error)) from error

    async def _send_and_redirect(self, request: HttpRequest) -> Response:
        """Send a request, follow its redirects, and return the last response, with all statuses in its `head`.

        The statuses are separated by ` → `. A redirect is followed if it leads to this machine, or to the scheme,
        host and port of the request before; another is not, and a note says so. After `MAX_REDIRECTS` redirects,
        if the last response redirects again, the result has no body, and a note. There is no time limit.

        Raises:
            NotListening: No debugged program is at an address on this machine; nothing was sent there, but
                requests before a redirect were.
            httpx2.HTTPError: There is no response.
            httpx2.InvalidURL, ValueError: The request's URL, or that of a redirect, is invalid.
        """
        statuses: list[str] = []
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._send_once(request)
            statuses.append(str(answer.status))
            following = _redirect_of(request, answer)
            if following is None:
                return Response(" → ".join(statuses), answer.body)
            if not following.is_here and not _same_origin(request.url, following.url):
                note = (
                    f"its redirect to {quoted(following.url)} was not followed: it leads elsewhere"
                )
                return Response(" → ".join(statuses), answer.body, notes=(note,))
            request = following
        return Response(" → ".join(statuses), None, notes=("it goes on redirecting",))

    async def _send_once(self, request: HttpRequest) -> _Answer:
        """Send one request, and return its response's status, `location` header and body.

        A request to this machine goes to the numeric address that `self.address` has checked, without a proxy, and
        no certificate is checked. A request elsewhere uses the environment's proxy, and its certificate is checked.
        A redirect is not followed, and there is no time limit. At most `MAX_BODY_BYTES` of the body are read, of a
        stream `STREAM_BYTES`. An answer without `location` has an empty text there.

        Raises:
            NotListening: No debugged program is at the address on this machine; nothing was sent.
            httpx2.HTTPError: There is no response, or the connection fails before the body ends.
            httpx2.InvalidURL, ValueError: The request's URL is invalid.
        """
        url = httpx2.URL(request.url)
        here = request.is_here
        host = url.host
        pinned = url.copy_with(host=await self.address(host, request.port)) if here else url
        headers = {"Host": url.netloc.decode("ascii"), "Accept": "*/*", **request.headers}
        options = {"sni_hostname": host} if here and pinned.host != host else {}
        # No proxy of the environment, and no certificate, concerns this machine's loopback.
        async with (
            httpx2.AsyncClient(trust_env=not here, verify=not here, timeout=None) as client,
            client.stream(
                request.method,
                pinned,
                headers=headers,
                content=request.body or None,
                extensions=options,
                follow_redirects=False,
            ) as response,
        ):
            return _Answer(
                response.status_code,
                response.headers.get("location", ""),
                await _read_body(response),
            )


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    location: str
    body: Body


async def _read_body(response: httpx2.Response) -> Body:
    """Read a response's body, up to `MAX_BODY_BYTES`, or `STREAM_BYTES` of a stream; the rest is not read.

    Whether it is a stream is told by the header `content-type`, of which the result's `type` is the media
    type (empty: there is no header). The result's `cut` says that there is more, or that a stream has
    reached its limit.

    Raises:
        httpx2.HTTPError: The connection fails before the body ends.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    # A stream may have sent all that it has for now, and more later: that is not waited for.
    limit, most = (
        (STREAM_BYTES, STREAM_BYTES) if is_stream(kind) else (MAX_BODY_BYTES, MAX_BODY_BYTES + 1)
    )
    content = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) >= most:
                return Body(bytes(content[:limit]), kind, cut=True)
    return Body(bytes(content), kind)


def _redirect_of(request: HttpRequest, answer: _Answer) -> HttpRequest | None:
    """Return the request to which a response redirects; None: it redirects nowhere.

    `answer` is the response to `request`; it redirects with a status of 3xx and a location. Another origin
    does not get `Authorization` and cookies. Method and body stay with the statuses 307 and 308, and for
    GET and HEAD with any status; other requests become a GET without body and `Content-Type`. Whether the
    new URL may be requested is left to the caller.

    Raises:
        ValueError: The location is no valid URL.
    """
    if not (300 <= answer.status < 400 and answer.location):
        return None
    url = urljoin(request.url, answer.location)
    following = replace(request, url=url)
    if not _same_origin(request.url, url):
        kept = {
            k: v for k, v in request.headers.items() if k.lower() not in {"authorization", "cookie"}
        }
        following = replace(following, headers=kept)
    if answer.status in _KEEPS_METHOD or request.method in {"GET", "HEAD"}:
        return following
    headers = {k: v for k, v in following.headers.items() if k.lower() != "content-type"}
    return replace(following, method="GET", body=b"", headers=headers)


def _same_origin(one: str, other: str) -> bool:
    """Return whether two URLs have the same scheme, host and port."""
    a, b = urlsplit(one), urlsplit(other)
    return (a.scheme, a.hostname, a.port) == (b.scheme, b.hostname, b.port)


def _reason(error: Exception) -> str:
    """Return a clause on why there is no response, by the kind and the text of the HTTP client's `error`."""
    match error:
        case httpx2.ConnectError():
            return f"it did not connect: {error}"
        case httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return f"the server closed the connection without a whole response{_more(error)}"
        case _:
            return f"{type(error).__name__}: {quoted(str(error))}"


def _more(error: Exception) -> str:
    """Return an error's text behind a colon; empty if it has none."""
    return f": {quoted(str(error))}" if str(error) else ""


log = logging.getLogger(__name__)

SECONDS_TO_ANSWER: Final = 120.0
"""Seconds for which the program runs until a trigger fails."""
SECONDS_TO_STOP: Final = 0.5
"""Seconds after the last trigger in which its stop is still expected."""
SECONDS_AT_END: Final = 0.5
"""Seconds after a program's end in which a trigger ends by itself."""
MAX_LINES: Final = 20
"""Lines that wait for a client's next answer."""
SECONDS_OF_EVALUATION: Final = 86_400.0
"""More than any stop lasts: the trigger's own limit counts."""


Programs = Sequence[Program[Session]]


class RunningTime:
    """Counts for how long programs have run, and one of them was stopped, from now on."""

    def __init__(self, programs: Callable[[], Programs]) -> None:
        """Begin to count now, with nothing counted yet.

        `programs` returns those that count now; the first one's waiters are woken when there are more.
        """
        self._programs = programs
        self._clock = anyio.current_time
        self._counted_since = self._clock()
        self._was_stopped = self._is_any_stopped()
        self.seconds_run = self.seconds_stopped = 0.0

    def _is_any_stopped(self) -> bool:
        """Whether one of the programs is stopped."""
        return any(each.stopped_sessions for each in self._programs())

    def count_time(self) -> None:
        """Add the time since the last call to `seconds_run`, or to `seconds_stopped`.

        All of it is added to `seconds_stopped` if any of the programs was stopped at the last call (or at the creation),
        else to `seconds_run`; what has stopped or run on between two calls is not seen.
        """
        now = self._clock()
        if self._was_stopped:
            self.seconds_stopped += now - self._counted_since
        else:
            self.seconds_run += now - self._counted_since
        self._counted_since, self._was_stopped = now, self._is_any_stopped()

    async def wait_until_run(self, seconds: float) -> None:
        """Wait until the programs have run for `seconds` since the counting began; stops do not count.

        The counting began when this object was made, so it may return at once. Time counts as long as none of the
        programs is stopped; while one is stopped it waits without a limit. The time is counted meanwhile in
        `seconds_run` and `seconds_stopped`, as by `count_time`.
        """
        while self.seconds_run < seconds:
            stopped, programs = self._was_stopped, self._programs()

            def has_changed(then: bool = stopped, those: Programs = programs) -> bool:
                """Whether a program has stopped or run on, or another one counts as well."""
                return self._is_any_stopped() is not then or len(self._programs()) != len(those)

            rest = None if stopped else seconds - self.seconds_run
            await first_of(
                *(partial(each.waiters.wait_for, has_changed, rest) for each in programs)
            )
            self.count_time()


@dataclass(slots=True)
class TriggerProgress:
    """One trigger, from its beginning to what is told of it."""

    trigger: Trigger
    state: str = "queued"
    """`queued`, `waits`: for the program to be ready, `sent`, or `done`, also when it has failed."""
    line: str = ""
    """What came of it."""
    reported_state: str = ""
    """The state that was told."""


@dataclass(slots=True, eq=False)
class TriggerRun:
    """The triggers of one call."""

    session: Session
    client: str
    """The key of who has asked for them."""
    cwd: str
    """Where commands run."""
    trigger_progress: Sequence[TriggerProgress]
    readiness: Readiness
    own_processes: OwnProcesses
    seen_stops: StopIds
    """All stops that were there when they began, or were shown since."""
    reached_programs: list[Program[Session]] = field(
        default_factory=list[Program[Session]], init=False
    )
    """Other programs in which they have led to a stop."""
    ended_at: float | None = field(default=None, init=False)
    """When the last one has ended."""

    @property
    def program(self) -> Program[Session]:
        """The program to which the triggers are sent."""
        return self.session.program

    def programs(self) -> Programs:
        """Return the program to which the triggers are sent, then those that they have reached through it."""
        return [self.program, *self.reached_programs]

    def stopped_in(self, program: Program[Session]) -> Session | None:
        """Return the first session of `program` that has stopped since the triggers began, and was not shown.

        None: there is none. A stop counts as shown when `record_reached_stop` was called for it.
        """
        for each in program.stopped_sessions:
            if (each.id, each.mirror.require_stop().number) not in self.seen_stops:
                return each
        return None

    def record_reached_stop(self, session: Session) -> None:
        """Note that the triggers have led to a stop in another program, which is shown now.

        Their time stands while it is stopped.
        """
        self.seen_stops |= {(session.id, session.mirror.require_stop().number)}
        if session.program not in self.reached_programs:
            self.reached_programs.append(session.program)
            self.program.waiters.wake()

    @property
    def is_reported(self) -> bool:
        """Whether all triggers have ended, and the client was told of each."""
        return self.ended_at is not None and all(
            each.reported_state == "done" for each in self.trigger_progress
        )

    # -- what is told

    def take_lines(self) -> Iterator[str]:
        """Yield a line for each trigger whose state has changed since the last call; mark each as told then.

        Triggers that wait for their turn since then share one line, the last, which counts them. Marking goes
        on only as the caller iterates.
        """
        queued = 0
        for each in self.trigger_progress:
            if each.state == "queued":
                queued += each.reported_state != "queued"
            elif each.state != each.reported_state:
                yield f"then: {self._line(each)}"
            each.reported_state = each.state
        if queued:
            yield f"then: {queued} more follow{'s' * (queued == 1)}"

    def _line(self, each: TriggerProgress) -> str:
        """Return the line on a trigger: what it waits for, that it was sent, or its outcome.

        `each.state` says which: "waits", "sent" or "done"; a "queued" trigger has no line yet, so the result is
        empty. The line on a trigger that waits or was sent ends with a note if the program is stopped, or else
        if another program is that any trigger of this run has reached.
        """
        stopped = " (the program is stopped)" if self.program.stopped_sessions else ""
        elsewhere = [
            each.id for program in self.reached_programs for each in program.stopped_sessions
        ]
        if elsewhere and not stopped:
            stopped = f" (session {elsewhere[0]} is stopped)"
        if each.state == "waits":
            return (
                f"{each.trigger.title} waits {self.readiness.awaited_clause(each.trigger)}{stopped}"
            )
        if each.state == "sent":
            what = "runs" if isinstance(each.trigger, CommandRun) else "waits for its answer"
            return f"{each.trigger.title} {what}{stopped}"
        return each.line

    # -- what is done

    async def run_all(self) -> None:
        """Do all triggers one after the other; after one that fails the others are not sent.

        The program's end ends the run, `SECONDS_AT_END` later if an answer is awaited then. An unexpected error is
        logged. At the end all are "done".
        """
        try:
            await first_of(self._do_all, self._wait_for_end)
        except Exception:
            log.exception("a trigger has failed")
        finally:
            self._close()

    def _close(self) -> None:
        """Set each trigger that is not done to done, with a line that says why, and wake those who wait.

        The time of the end is kept in `ended_at`.
        """
        for each in self.trigger_progress:
            if each.state != "done":
                was_sent = each.state == "sent"
                what = "was cut off" if was_sent else "was not sent"
                why = (
                    "the one before has failed"
                    if self.program.is_alive
                    else "the program has ended"
                )
                self._finish_trigger(each, f"{each.trigger.title} {what}: {why}")
        self.ended_at = anyio.current_time()
        self.program.waiters.wake()

    async def _wait_for_end(self) -> None:
        """Wait for the program's end, and a moment more if a trigger's answer is still expected."""
        program = self.program
        await program.waiters.wait_for(lambda: not program.is_alive, None)
        if any(each.state == "sent" for each in self.trigger_progress):
            await anyio.sleep(SECONDS_AT_END)

    async def _do_all(self) -> None:
        """Do all triggers in order until one fails, then end the process that searches patterns.

        The process is ended also after an error or a cancellation. A trigger fails by a `DapeerError`, or by an
        answer that tells of a failure; both raise nothing, but become its line. Triggers after it are not done.
        """
        try:
            for each in self.trigger_progress:
                if not await self._do_one(each):
                    return
        finally:
            await self.readiness.lines.aclose()

    async def _do_one(self, each: TriggerProgress) -> bool:
        """Wait until the program is ready, do one trigger, and record its line.

        Return whether the next trigger may follow: False if this one has failed, or its answer tells of a
        failure. Errors (`DapeerError`) raise nothing: they become the trigger's line. `each` is the trigger with
        its progress. Waiting and doing may each take `SECONDS_TO_ANSWER` of the program's running time; time at
        stops does not count, so the wait may be longer. The trigger's state becomes `waits`, `sent` and `done`,
        and those who wait for the program are woken at the end. The text of an answer's body is appended to the
        program's `responses`.
        """
        title, wait = each.trigger.title, RunningTime(self.programs)
        each.state = "waits"
        try:
            await self._limited(wait, lambda: self._until_ready(each.trigger))
            each.state, time = "sent", RunningTime(self.programs)
            response = await self._limited(time, lambda: self._do_trigger(each.trigger))
        except DapeerError as error:
            failed = "failed" if each.state == "sent" else "was not sent"
            self._finish_trigger(each, f"{title} {failed}: {str(error).rstrip('.')}")
            return False
        self._finish_trigger(
            each, outcome_line(title, response, time.seconds_run, time.seconds_stopped)
        )
        if response.body is not None and response.body.text:
            self.program.responses.append("stdout", f"{title}\n{response.body.text}\n")
        return not response.failed

    def _finish_trigger(self, each: TriggerProgress, line: str) -> None:
        """Set a trigger to done with this line, and wake those who wait."""
        each.state, each.line = "done", line
        self.program.waiters.wake()

    async def _limited(
        self, time: RunningTime, work: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Await `work` while the program runs for at most `SECONDS_TO_ANSWER`; return its result.

        `time` is the clock, which leaves out stops. It must be new: what it has counted before is part of those
        seconds. After a result it tells how long the work took. Work that is not done by then is cancelled; errors of
        `work` are raised here.

        Raises:
            TriggerFailed: The time was over first.
        """
        results: list[Response] = []

        async def do() -> None:
            """Await the work, and keep its result."""
            results.append(await work())

        await first_of(do, lambda: time.wait_until_run(SECONDS_TO_ANSWER))
        time.count_time()
        if not results:
            raise TriggerFailed(f"nothing came in {SECONDS_TO_ANSWER:g} s of the program's running")
        return results[0]

    async def _until_ready(self, trigger: Trigger) -> Response:
        """Wait until the program is ready for a trigger; the returned response is empty.

        Readiness is looked at every `SECONDS_BETWEEN_LOOKS` while the program is not stopped. There is no limit here: `_limited` has one.
        """
        waiters, program = self.program.waiters, self.program
        while not await self.readiness.check_ready(trigger):
            await waiters.wait_for(lambda: not program.stopped_sessions, None)
            await anyio.sleep(SECONDS_BETWEEN_LOOKS)
        return Response("")

    async def _do_trigger(self, trigger: Trigger) -> Response:
        """Do a trigger according to its kind, and return what it has brought.

        An HTTP request is sent, a command runs to its end, a text is typed, or an expression is evaluated in the program. How long that may
        take is for the caller to limit, by `_limited`; an evaluation alone ends here after `SECONDS_OF_EVALUATION`, a day.

        Raises:
            DapeerError: It could not be done.
        """
        match trigger:
            case HttpRequest():
                return await self._send_request(trigger)
            case CommandRun():
                return await self._run(trigger)
            case TerminalInput():
                return await self._typed(trigger)
            case Evaluation():
                value = await self.readiness.evaluate(trigger.expression, SECONDS_OF_EVALUATION)
                return Response(quoted(value) or "(no value)")

    async def _send_request(self, request: HttpRequest) -> Response:
        """Send an HTTP request, follow its redirects, and return the last response.

        A request to this machine is sent only if a debugged program listens there; one to another host is sent as it
        is. A URL that is only a path goes to the program's own port, at the URL that the caller's `ready` gives, or at
        localhost. At most `MAX_REDIRECTS` redirects are followed, to this machine or the same origin; the response has
        a note of one that was not. If the system does not tell whose a port of this machine is, the request is sent if
        anything listens there, and a note says so. There is no time limit: the caller sets one.

        Raises:
            NotListening: No debugged program is at an address on this machine; nothing was sent there, but requests
                before a redirect were.
            TriggerFailed: There is no response, or the URL, or that of a redirect, is invalid.
        """
        unknown: list[int] = []

        async def address(host: str, port: int) -> str:
            """Return the numeric address of a debugged program at a port; note a port whose owner is not known."""
            processes = await self.readiness.processes(all_programs=True)
            if not processes.is_known:
                unknown.append(port)
            return await in_thread(require_address, processes, host, port)

        if not request.port:
            base = (self.readiness.ready.url or "http://localhost:%s").replace(
                "%s", str(self.readiness.port)
            )
            request = replace(request, url=base.rstrip("/") + request.url)
        response = await Sender(address).send(request)
        if not unknown:
            return response
        note = f"whose port {unknown[0]} is, is not known here"
        return replace(response, notes=(*response.notes, note))

    async def _run(self, trigger: CommandRun) -> Response:
        """Run a command to its end; return its exit code as a response, with what the command has printed.

        The response's `head` is `exit code N`; its body has standard output and errors as one stream, up to
        `MAX_BODY_BYTES`; `failed` is set for an exit code other than 0. The command has no input, gets the variables
        `trigger.env` in addition, and runs in the folder `trigger.cwd`, relative to the caller's, or in the caller's
        if that is None. Processes that it leaves behind are killed. There is no time limit; a cancellation kills the
        command.

        Raises:
            CannotRun: The command or the folder is missing or not usable, or no process is free.
        """
        printed = bytearray()

        def keep(piece: bytes) -> None:
            """Keep a piece of output as far as there is room, and one byte of what there is none for."""
            printed.extend(piece[: max(0, MAX_BODY_BYTES + 1 - len(printed))])

        cwd = self.cwd if trigger.cwd is None else str(anyio.Path(self.cwd) / trigger.cwd)
        code = await run_command(self.own_processes, trigger.command, cwd, trigger.env, keep)
        body = Body(bytes(printed[:MAX_BODY_BYTES]), "", cut=len(printed) > MAX_BODY_BYTES)
        return Response(f"exit code {code}", body, failed=code != 0)

    async def _typed(self, trigger: TerminalInput) -> Response:
        """Type a text into the program's terminal.

        Raises:
            TriggerFailed: It does not run in one.
        """
        if (keyboard := self.program.keyboard) is None:
            raise TriggerFailed("the program does not run in a terminal (terminal=true gives one)")
        await keyboard.type(trigger.text)
        return Response("typed")


class Triggers:
    """The triggers of all clients, until they have been told."""

    def __init__(
        self, tasks: TaskGroup, everybody: AllSessions, own_processes: OwnProcesses
    ) -> None:
        """Hold no triggers yet.

        They are done in `tasks`; `everybody` returns all sessions, to which requests may go, and `own_processes` opens the
        set of processes of a command.
        """
        self._tasks = tasks
        self._all_sessions = everybody
        self._own_processes = own_processes
        self._trigger_runs: list[TriggerRun] = []
        self._unread_lines: dict[str, list[str]] = {}
        """What else clients are to be told, by their keys."""

    def add_line(self, client: str, line: str) -> None:
        """Keep a line for a client's next answer; of many lines the newest `MAX_LINES` are kept."""
        self._unread_lines[client] = [*self._unread_lines.get(client, ()), line][-MAX_LINES:]

    def begin(
        self,
        session: Session,
        client: str,
        triggers: Sequence[Trigger],
        ready: ReadyCondition,
        cwd: str,
    ) -> None:
        """Start a task that does these triggers in order, for the client `client` (its key); return at once.

        A trigger is what is sent to a running program, such as an HTTP request or text for its terminal. Each
        is done once the program is ready for it, as `ready` tells; after one that fails the others are not
        sent. The task ends at the latest `SECONDS_AT_END` after the program, and raises nothing, here or later:
        the run is kept in this object with the state of each trigger. `cwd` is the folder where commands
        without their own run.
        """
        readiness = Readiness(session, ready, self._all_sessions, AwaitedLines(ready.output))
        doings = [TriggerProgress(each) for each in triggers]
        stops = frozenset(
            (each.id, stop.number) for each in self._all_sessions() if (stop := each.mirror.stop)
        )
        run = TriggerRun(session, client, cwd, doings, readiness, self._own_processes, stops)
        self._trigger_runs.append(run)
        self._tasks.start_soon(run.run_all)

    def find_untold_run(self, session: Session, client: str) -> TriggerRun | None:
        """Return a client's newest trigger run that was sent to, or has reached, the session's program.

        `client` is the client's key. None: there is no such run, or the newest one was told already; older ones are not
        looked at. The run is not marked as told.
        """
        mine = [
            each
            for each in self._trigger_runs
            if each.client == client and session.program in each.programs()
        ]
        return mine[-1] if mine and not mine[-1].is_reported else None

    def take_lines(self, client: str) -> list[str]:
        """Return the lines that a client was not told yet, and record that it was told.

        Runs whose triggers are all done, and whose client was told of each, are dropped.
        """
        lines = self._unread_lines.pop(client, [])
        lines += [
            line
            for each in self._trigger_runs
            if each.client == client
            for line in each.take_lines()
        ]
        self._trigger_runs = [each for each in self._trigger_runs if not each.is_reported]
        return lines

    def drop_client(self, client: str) -> None:
        """Drop what was to be told to a client that has disconnected; what has begun goes on."""
        self._trigger_runs = [each for each in self._trigger_runs if each.client != client]
        self._unread_lines.pop(client, None)
