"""The state of one debug session, built from its messages."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from dapeer.base.errors import NotStopped
from dapeer.collecting.rows.collected import REMOVED, ROW, Collected, Gathered
from dapeer.dap.bodies import ThreadsResponseBody
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.requests import INSPECTIONS, RESUMES
from dapeer.dap.shapes import EventHandler, ResponseHandler
from dapeer.dap.types import Breakpoint
from dapeer.mirror import failures
from dapeer.mirror.bounded import Bounded
from dapeer.mirror.breakpoint_status import FILE_NAMED, TRACED, Placed
from dapeer.mirror.fetched import Fetched
from dapeer.mirror.frames import Frames
from dapeer.mirror.modules import Loaded
from dapeer.mirror.notes import Notes
from dapeer.mirror.printed import Printed
from dapeer.mirror.stops.stops import Stop
from dapeer.mirror.threads import Suspended, Threads

UNKNOWN = -1
"""A placeholder for the stopped thread until the threads are listed."""


class Phase(enum.Enum):
    """How far a session has come."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"
    ENDED = "ended"


class Mirror(Notes):
    """The state of one debug session. Only `apply` changes it, and the methods of `Notes`.

    It sees every message of the session in order, both directions, and asks for nothing: no I/O, no
    clock. Readers may hold on to what it returns until the next `apply`, and change nothing of it.
    """

    def __init__(
        self,
        frames: Frames | None = None,
        printed: Printed | None = None,
        failed: failures.Failures | None = None,
        gathered: Gathered | None = None,
    ) -> None:
        """Begin the state of a session; sessions of one program share `printed`, `failed` and `gathered`.

        `frames` tells the user's frames from others; by default all are the user's. `printed` takes the output, `failed` the
        conditions and log messages that failed, and `gathered` the values that points collect.
        """
        self._suspended = Suspended()
        self.printed = printed or Printed()
        failed = failed or failures.Failures()
        super().__init__(self._suspended.history, self.printed.output, failed)
        self.frames = frames or Frames()
        self.capabilities: Bounded[str, Any] = Bounded("capabilities")
        self._threads = Threads()
        self.gathered = gathered or Gathered(Collected(), 0)
        """What its breakpoints collect."""
        self.placed = Placed()
        """The breakpoints that were sent, with their states."""
        self.loaded = Loaded()
        """Modules and sources."""
        self.process: Body = {}
        """Body of the `process` event."""
        self.exit_code: int | None = None
        self.pausing = False
        """A `pause` was asked for, and no stop has come since."""
        self._started = False
        self._ended = False
        self._epochs_of_requests: dict[int, int] = {}
        """By seq of a request without an answer yet: the epoch in which it was sent."""
        self._fetched = Fetched(self._suspended, self.frames, self.placed)
        self._on_event = self._event_handlers()
        self._on_response = self._response_handlers()

    def _event_handlers(self) -> Mapping[str, EventHandler]:
        """Return the handlers of events, by the event's name; each gets the event's body."""
        return {
            "stopped": self._stopped,
            "continued": self._suspended.apply_continued_event,
            "thread": self._thread,
            "breakpoint": self.placed.apply_breakpoint_event,
            TRACED: self.placed.record_tracing,
            FILE_NAMED: self.placed.take_name,
            REMOVED: self.gathered.note_removed,
            failures.EVENT: self.failures.take,
            failures.PATCH_OFF: self.failures.take_patch_off,
            "capabilities": self._capabilities,
            "process": self._process,
            **self._fetched.on_event,
            **self.loaded.on_event,
            "exited": self._exited,
            "terminated": self._terminated,
        }

    def _response_handlers(self) -> Mapping[str, ResponseHandler]:
        """Return the handlers of responses: with the request's arguments and the response's body."""
        return {
            "initialize": self._initialize,
            "launch": self._launched,
            "attach": self._launched,
            "threads": self._threads_listed,
            **self._fetched.on_response,
            **self.placed.on_response,
            **self.loaded.on_response,
        }

    @property
    def phase(self) -> Phase:
        """Whether the session is starting, running, stopped or ended.

        STOPPED means that at least one thread is stopped; STARTING ends with the `launch` or `attach` response, a `process`
        event or the first stop.
        """
        if self._ended:
            return Phase.ENDED
        if self.stop:
            return Phase.STOPPED
        return Phase.RUNNING if self._started else Phase.STARTING

    @property
    def has_started(self) -> bool:
        """Whether the debuggee has begun to run, is stopped, or has ended: any phase but STARTING."""
        return self.phase is not Phase.STARTING

    @property
    def epoch(self) -> int:
        """Counts stops. A frameId or variablesReference belongs to one epoch and dies with it."""
        return self._suspended.epoch

    @property
    def stop(self) -> Stop | None:
        """The latest stop that still lasts; None while every thread runs."""
        return self._suspended.stop

    @property
    def breakpoints(self) -> dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]:
        """By source path: each breakpoint that was sent, with its state."""
        return self.placed.lines

    @property
    def exception_filters(self) -> dict[str, bool]:
        """The exception filters that the adapter offers, and whether each is on by default."""
        offered = self.capabilities.get("exceptionBreakpointFilters") or ()
        return {str(known["filter"]): bool(known.get("default")) for known in offered}

    @property
    def threads(self) -> Mapping[int, str]:
        """Names by thread id; empty for a thread that is known by an event only."""
        return self._threads.names

    @property
    def has_all_threads(self) -> bool:
        """Whether `threads` has all threads now, with their names."""
        return self._threads.is_complete(self.epoch)

    @property
    def ended(self) -> bool:
        """Whether the debuggee has ended, or dapeer has detached from it."""
        return self._ended

    @property
    def overflow_note(self) -> str | None:
        """A sentence on entries that were dropped because the adapter sent too many or too long ones, or None."""
        tables = (self._threads.names, *self.loaded.tables, self.failures.known, self.capabilities)
        return next((table.left_out for table in tables if table.left_out), None)

    def stop_of(self, thread_id: int) -> Stop | None:
        """Return the stop that holds a thread, or None when the thread runs.

        Without a stop of its own, it is held by any stop at which all threads stopped.
        """
        return self._suspended.stop_of(thread_id)

    def require_live(self) -> None:
        """Raise `NotStopped` if the debuggee has ended, or dapeer has detached from it; else do nothing."""
        if self._ended:
            raise NotStopped(
                "The program has ended.",
                "dap_program_output and dap_history show what happened; dap_run starts it again.",
            )

    def require_stop(self, thread_id: int | None = None) -> Stop:
        """Return the current stop of the program, or, with `thread_id`, the one that holds this thread.

        Raises:
            NotStopped: The thread or program runs, a pause is pending, or it has ended; the message says which.
        """
        stop = self.stop if thread_id is None else self.stop_of(thread_id)
        if stop is not None:
            return stop
        self.require_live()
        if self.stop:
            raise NotStopped(f"Thread {thread_id} is running.", "dap_threads lists the others.")
        if self.pausing:
            raise NotStopped(
                "The program is not stopped yet: a pause is pending.",
                "dap_threads shows where it is blocked; dap_wait_until_paused waits for the stop.",
            )
        raise NotStopped(
            "The program is running.",
            "Wait with dap_wait_until_paused, or stop it with dap_pause.",
        )

    def apply(self, message: Message, at: float = 0.0) -> None:
        """Change the state by the next message of the session, in either direction.

        `at` is the time at which it arrived, in seconds since the epoch (0: unknown). A request counts when it is sent: one
        that resumes ends the stops. Events and commands that are unknown here change nothing.
        """
        match message:
            case Event(event="output", body=body):
                self._output(body, at)
            case Event(event=name, body=body):
                if name in self._on_event:  # unknown ones are allowed, and many
                    self._on_event[name](body)
            case Request(seq=seq, command=command, arguments=arguments):
                self._epochs_of_requests[seq] = self.epoch
                self.placed.take_request(command, arguments)
                if command in RESUMES or command == "pause":
                    self.pausing = command == "pause" and not self.stop
                if command in RESUMES:
                    self._suspended.apply_resume_request(seq, command, arguments.get("threadId"))
            case Response():
                self._response(message)
            case _:
                pass

    def name_data(self, data_id: str, name: str) -> None:
        """Keep the name by which a caller knows the data of a data breakpoint, by its `dataId`."""
        self.placed.name_data(data_id, name)

    def name_file(self, path: str, note: str) -> None:
        """Keep `told`, a sentence on the name by which the program itself knows the source file at `path`."""
        self.placed.name_file(path, note)

    # -- events

    def _output(self, body: Body, at: float) -> None:
        """Add the text of an `output` event to the output or a log point, or its row to those collected.

        An output event that has the key `ROW` carries a collected row and no text. A log point that has printed counts as reached.
        """
        if ROW in body:
            self.gathered.add_row(body[ROW], at)
            return
        log_point = self.placed.log_point(body)
        if log_point is not None:
            self.placed.reached.add(log_point)
        self.printed.take(body, at, log_point)

    def _stopped(self, body: Body) -> None:
        """Apply a `stopped` event: begin a stop, end a pending pause, record the breakpoints that were hit."""
        self._started = True
        self.pausing = False
        self._suspended.begin_stop(body, self._stopped_thread(body), self.output.shown)
        self.placed.record_hits(body.get("hitBreakpointIds") or ())

    def _stopped_thread(self, body: Body) -> int:
        """Return the `threadId` of a `stopped` event; without one the first known thread, or `UNKNOWN`."""
        thread_id = body.get("threadId")
        return thread_id if isinstance(thread_id, int) else next(iter(self.threads), UNKNOWN)

    def _thread(self, body: Body) -> None:
        """Apply a `thread` event: add the thread, or remove it and its stop.

        An event without a `threadId` is ignored.
        """
        thread_id = body.get("threadId")
        if not isinstance(thread_id, int):
            return
        if body.get("reason") == "exited":
            self._threads.remove(thread_id)
            self._suspended.forget_thread(thread_id)
        else:
            self._threads.add(thread_id)

    def _capabilities(self, body: Body) -> None:
        self.capabilities.take(body.get("capabilities") or {})

    def _process(self, body: Body) -> None:
        self.process = body
        self._started = True

    def _exited(self, body: Body) -> None:
        """Keep the exit code of an `exited` event; None if it has no number."""
        code = body.get("exitCode")
        self.exit_code = code if isinstance(code, int) else None

    def _terminated(self, _: Body) -> None:
        """Apply a `terminated` event: the session has ended, and no thread is stopped any more."""
        self._ended = True
        self.pausing = False
        self._suspended.end_all_stops()

    # -- responses

    def _response(self, response: Response) -> None:
        """Apply a response by the handler of its command.

        A failed one ends a pending pause, brings back stops of a rejected resume, or marks the breakpoints of the request as
        refused. A response to an inspection that was sent before the latest stop is ignored: its ids may mean something else now.
        """
        late = self._epochs_of_requests.pop(response.request_seq, self.epoch) != self.epoch
        known = self._on_response.get(response.command)
        self.pausing &= response.success or response.command != "pause"
        if response.command in RESUMES:
            self._suspended.apply_resume_response(response, ended=self._ended)
        elif not response.success:
            self.placed.record_refusal(response.command, response.arguments, response.failure())
        # A late answer about an earlier stop must not count for this one: its ids may have another meaning
        # now.
        elif known and not (late and response.command in INSPECTIONS):
            known(response.arguments, response.body)

    def _launched(self, _arguments: Body, _body: Body) -> None:
        self._started = True

    def _initialize(self, _arguments: Body, body: Body) -> None:
        self.capabilities.take(body)

    def _threads_listed(self, _arguments: Body, body: ThreadsResponseBody) -> None:
        """Take in the list of a `threads` response, and name the stopped thread if its adapter had not."""
        self._threads.replace_all(body, self.epoch)
        self._suspended.name_thread(self.threads)
