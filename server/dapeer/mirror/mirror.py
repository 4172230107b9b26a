"""The state of one debug session, built from its messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dapeer.collecting.rows.collected import REMOVED, ROW, Collected, CollectedOutputReader
from dapeer.dap.decoding import EventHandler, ResponseHandler
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.requested_breakpoints import Place, RequestedBreakpoint, spot_of
from dapeer.dap.requests import INSPECTIONS, RESUMES
from dapeer.dap.types import (
    Breakpoint,
    LoadedSourceEventBody,
    LoadedSourcesResponseBody,
    ModuleEventBody,
    ModulesResponseBody,
    ScopesResponseBody,
    Source,
    StackTraceResponseBody,
    ThreadsResponseBody,
    VariablesResponseBody,
)
from dapeer.mirror import failures
from dapeer.mirror.bounded import MAX_ENTRIES, Bounded
from dapeer.mirror.breakpoint_status import FILE_NAMED, TRACED, BreakpointStatuses
from dapeer.mirror.failures import Failure, Failures
from dapeer.mirror.frames import Frames
from dapeer.mirror.output import OutputIntake, OutputLog
from dapeer.mirror.states import Cause, Phase, State
from dapeer.mirror.stops import ShownStop, Stack, Stop, StopFindings, StopHistory

# The threads of a program: their names, which are stopped now, and the history of stops. Pure.
#
# Stopped threads count as running from the moment a resume is sent: a stop may arrive before the response of
# the step that caused it.


class Threads:
    """The names of the threads, and whether they are complete."""

    def __init__(self) -> None:
        """Know no thread yet."""
        self.names: Bounded[int, str] = Bounded("threads")
        """By thread id; empty for a thread that is known by an event only."""
        self._listed_epoch = -1
        """The epoch in which all were listed last."""
        self._has_thread_events = False
        """Whether events report threads that start and end."""

    def is_complete(self, epoch: int) -> bool:
        """Return whether `names` has all threads of the debuggee, each with its name.

        That is so if all were listed in this `epoch` (the session's count of stops), or if `thread` events have reported
        starts and ends. It is False while no thread is known, or any has no name yet.
        """
        fresh = self._has_thread_events or self._listed_epoch == epoch
        return fresh and bool(self.names) and all(self.names.values())

    def add(self, thread_id: int) -> None:
        """Add a thread that a `thread` event reports as started, with an empty name if it has none yet."""
        self._has_thread_events = True
        self.names[thread_id] = self.names.get(thread_id, "")

    def remove(self, thread_id: int) -> None:
        """Remove a thread that a `thread` event reports as exited."""
        self._has_thread_events = True
        self.names.pop(thread_id, None)

    def replace_all(self, body: ThreadsResponseBody, epoch: int) -> None:
        """Replace `names` by those of a `threads` response, which lists all threads.

        A thread without a name becomes `thread ID`. `epoch` is the session's count of stops now; `is_complete` compares it.
        """
        threads = body.get("threads", ())
        named = {each["id"]: str(each.get("name") or f"thread {each['id']}") for each in threads}
        self.names = Bounded("threads", named)
        self._listed_epoch = epoch


class CurrentStops:
    """The stops that last, and the history of all."""

    def __init__(self) -> None:
        """Begin with no stop."""
        self.epoch = 0
        """Counts stops. A frameId or variablesReference belongs to one epoch and dies with it."""
        self.history = StopHistory()
        self.stop: Stop | None = None
        """The latest stop that still lasts; None while every thread runs."""
        self._stops: dict[int, Stop] = {}
        """By thread, the latest last."""
        self._stops_left_by_request: dict[int, dict[int, Stop]] = {}
        """By seq of a resuming request without an answer yet: the stops it left."""
        self._output_start = 0

    def _keep(self, stops: dict[int, Stop]) -> None:
        """Replace the stops that last by `stops` (by thread id); the last of them becomes `stop`."""
        self._stops = stops
        self.stop = next(reversed(stops.values()), None)

    def _add(self, thread_id: int, stop: Stop) -> None:
        """Make `stop` the one that holds a thread, and the latest; above `MAX_ENTRIES` the oldest is dropped."""
        # The latest stop comes last, also when the thread had stopped before.
        self._stops.pop(thread_id, None)
        if len(self._stops) >= MAX_ENTRIES:
            del self._stops[next(iter(self._stops))]
        self._stops[thread_id] = self.stop = stop

    def _remove(self, thread_id: int) -> None:
        """Remove the stop of a thread, if it has one; the latest of the others becomes `stop`."""
        if self._stops.pop(thread_id, None) is not None:
            self.stop = next(reversed(self._stops.values()), None)

    def stop_of(self, thread_id: int) -> Stop | None:
        """Return the stop that holds a thread, or None when the thread runs.

        Without a stop of its own, it is held by any stop at which all threads stopped.
        """
        return self._stops.get(thread_id) or next(
            (stop for stop in self._stops.values() if stop.all_threads), None
        )

    def begin_stop(self, body: Body, thread_id: int, shown: int) -> None:
        """Add a new stop from the body of a `stopped` event to the present stops, and to the history.

        `epoch` grows by one and is the stop's number; the new stop becomes `stop`, the latest one. A stop of
        all threads replaces all present stops, any other one replaces only an earlier stop of its thread; above
        `MAX_ENTRIES` the oldest is dropped. `thread_id` is the thread that stopped; `shown` is the cursor up to
        which clients have already seen the program's output.
        """
        self.epoch += 1
        # Output that was shown with another process is not shown again.
        start = max(self._output_start, shown)
        reported = ShownStop(start, self._output_start, self.history.new_handles())
        stop = Stop(self.epoch, body, Stack(thread_id), presentation=reported)
        if stop.all_threads:
            self._keep({})
        self._add(thread_id, stop)
        self.history.add(stop)

    def name_thread(self, threads: Collection[int]) -> None:
        """Set the thread of the latest stop to the first of `threads`, if its adapter has named none.

        `threads` are the ids of all listed threads. An earlier stop of that thread is replaced. Nothing changes
        if there is no stop or no thread, if the `stopped` event had a `threadId`, or if the stop's thread is
        among `threads`.
        """
        stop = self.stop
        if stop is None or stop.thread_id in threads or not threads:
            return
        if not isinstance(stop.body.get("threadId"), int):
            self._remove(stop.thread_id)
            stop.stack.name_thread(next(iter(threads)))
            self._add(stop.thread_id, stop)

    def apply_continued_event(self, body: Body) -> None:
        """Remove the stops that a `continued` event ends: those of all threads, or that of its `threadId`.

        They are all removed too if the stop of that thread was one of all threads.
        """
        stop = self._stops.get(body.get("threadId", -1))
        if body.get("allThreadsContinued", True) or (stop and stop.all_threads):
            self.end_all_stops()
        else:
            self._remove(body.get("threadId", -1))

    def forget_thread(self, thread_id: int) -> None:
        """Forget the stop of a thread that has ended."""
        self._remove(thread_id)

    def apply_resume_request(self, seq: int, command: str, thread_id: object) -> None:
        """Remove all lasting stops when a request that resumes is sent, and keep them until its response.

        `seq` is the request's number, which `apply_resume_response` looks up. Each stop gets in `resumed_with` the `command` if
        `thread_id` (the request's, maybe None) is its thread, and `continue` otherwise.
        """
        self._stops_left_by_request[seq] = self._stops
        for stop in self._stops.values():
            stop.record_resume(command if thread_id == stop.thread_id else "continue")
        self.end_all_stops()

    def apply_resume_response(self, response: Response, *, ended: bool) -> None:
        """Apply the response to a request that resumes.

        A rejected request brings back the stops that `apply_resume_request` has removed, if no stop has come since and the debuggee has not
        `ended`. A success whose request `apply_resume_request` has not seen was another client's: it removes all stops.
        """
        left = self._stops_left_by_request.pop(response.request_seq, None)
        if left is None and response.success:
            self.end_all_stops()
        elif left and not response.success and not self._stops and not ended:
            latest = next(reversed(left.values()))
            if latest.number == self.epoch:
                for stop in left.values():
                    stop.record_resume("")
                self._keep(left)

    def end_all_stops(self) -> None:
        """Remove all lasting stops: every thread runs, or the debuggee has ended.

        Output that was not yet shown with the latest stop will be shown with the next one.
        """
        stop = self.stop
        if stop is not None:
            reported = stop.presentation
            # Output that was not shown at this stop is shown with the next one.
            self._output_start = (
                reported.output_start if reported.output_shown is None else reported.output_shown
            )
        self._keep({})


# Keeps an adapter's answers about a stopped program with their stop. Pure.


class FetchedFacts:
    """Adds fetched facts to the current stop."""

    def __init__(self, suspended: CurrentStops, frames: Frames, placed: BreakpointStatuses) -> None:
        """Keep what is changed: the stops in `suspended`, and which breakpoints in `placed` were reached.

        `frames` tells the user's frames from others.
        """
        self._current_stops = suspended
        self._frames = frames
        self._breakpoint_statuses = placed
        self.event_handlers: Mapping[str, EventHandler] = {
            "memory": self._mark_outdated,
            "invalidated": self._mark_outdated,
        }
        """The handlers of events."""
        self.response_handlers: Mapping[str, ResponseHandler] = {
            "stackTrace": self._apply_stack_trace,
            "scopes": self._apply_scopes,
            "variables": self._apply_variables,
            "setVariable": self._apply_evaluation,
            "setExpression": self._apply_evaluation,
            "evaluate": self._apply_evaluation,  # an expression may call anything
            "writeMemory": self._apply_evaluation,
            "exceptionInfo": self._apply_exception_info,
        }
        """What takes in each response."""

    def _apply_stack_trace(self, arguments: Body, body: StackTraceResponseBody) -> None:
        """Add the frames of a `stackTrace` response to the stop that holds its thread; ignore it if none does.

        If they are of the thread that stopped, the stop's first frame to look at and its real reason are found
        anew; if the innermost frame is among them, breakpoints on its line are marked as reached.
        """
        stop = self._current_stops.stop_of(arguments.get("threadId", -1))
        if stop is None:
            return
        known = stop.stack.add_frames(arguments, body)
        if known:
            frames = body.get("stackFrames", [])
            if frames and known[0] is frames[0]:
                self._breakpoint_statuses.record_frame(known[0])
            stop.set_front_frame(self._frames)

    def _apply_scopes(self, arguments: Body, body: ScopesResponseBody) -> None:
        """Add the scopes of a `scopes` response to the current stop, by the `frameId` that was asked for."""
        stop = self._current_stops.stop
        if stop is not None:
            scopes = body.get("scopes", [])
            stop.values.keep_scopes(arguments["frameId"], scopes, stop.default_frame_id)

    def _apply_variables(self, arguments: Body, body: VariablesResponseBody) -> None:
        """Add the children of a `variables` response to the current stop."""
        stop = self._current_stops.stop
        if stop is not None:
            stop.values.keep_children(arguments, body.get("variables", []))

    def _apply_evaluation(self, arguments: Body, body: Body) -> None:
        """Apply the response of a request that writes or evaluates: mark the stop's variables as outdated.

        `arguments` are the request's, `body` is the response's; a new value there is kept. An evaluation for a hover,
        or for the clipboard without a frame, counts as one that changes nothing: only the number of its value's
        elements is kept. Without a current stop nothing happens.
        """
        # An evaluation for the clipboard or a hover without a frame changes nothing.
        looks = arguments.get("context") == "hover" or (
            arguments.get("context") == "clipboard" and "frameId" not in arguments
        )
        if not looks:
            self._mark_outdated(body, arguments)
        elif (stop := self._current_stops.stop) is not None:
            stop.values.keep_size(body)

    def _mark_outdated(self, body: Body, arguments: Body | None = None) -> None:
        """Mark all variables of the current stop as outdated, since a write may change any of them.

        `body` and `arguments` are of a response, or `body` of a `memory` or `invalidated` event; a new value in them is kept.
        """
        stop = self._current_stops.stop
        if stop is not None:
            stop.values.apply_write(arguments or {}, body)

    def _apply_exception_info(self, arguments: Body, body: Body) -> None:
        """Set the exception of the stop, if it is this thread's and the program has not told of it itself."""
        thread_id = arguments.get("threadId", -1)
        stop = self._current_stops.stop_of(thread_id)
        # What the program itself says of it is more.
        if stop is not None and stop.thread_id == thread_id and stop.exception is None:
            stop.record_exception(body)


# The modules and sources that a debuggee has loaded, as its adapter reports them. Pure.


@dataclass(slots=True)
class LoadedSources:
    """Modules and sources that came and did not go. `Mirror` feeds it."""

    modules: Bounded[str, Body] = field(default_factory=lambda: Bounded("modules"))
    """By id."""
    sources: Bounded[str, Source] = field(default_factory=lambda: Bounded("sources"))
    """By path, or by reference if there is none."""
    change_count: int = 0
    """Counts the messages that have told of sources."""

    @property
    def tables(self) -> tuple[Bounded[str, Body], Bounded[str, Source]]:
        """`modules` and `sources`, whose sizes are limited."""
        return self.modules, self.sources

    @property
    def event_handlers(self) -> Mapping[str, EventHandler]:
        """The handlers of events, by the event's name; each gets the event's body."""
        return {"module": self._apply_module, "loadedSource": self._apply_loaded_source}

    @property
    def response_handlers(self) -> Mapping[str, ResponseHandler]:
        """The handlers of responses, by command; each gets the request's arguments and the response's body."""
        return {"modules": self._apply_modules, "loadedSources": self._apply_loaded_sources}

    def _apply_module(self, body: ModuleEventBody) -> None:
        """Add, replace or remove a module by a `module` event."""
        module = body.get("module", {})
        if body.get("reason") == "removed":
            self.modules.pop(str(module.get("id")), None)
        else:
            self.modules[str(module.get("id"))] = module

    def _apply_loaded_source(self, body: LoadedSourceEventBody) -> None:
        """Add, replace or remove a source by a `loadedSource` event, and count the event in `change_count`.

        `body` is the event's. With the reason `removed` the source is removed, if it is known; with any other
        reason, or none, the source is stored in place of what is known of it. A source is identified by its path,
        else its `sourceReference`, else its name.
        """
        self.change_count += 1
        source = body.get("source", Source())
        if body.get("reason") == "removed":
            self.sources.pop(_key(source), None)
        else:
            self.sources[_key(source)] = source

    def _apply_modules(self, arguments: Body, body: ModulesResponseBody) -> None:
        """Take in a `modules` response.

        A request with a `startModule` adds to the modules, any other replaces them.
        """
        modules = body.get("modules", ())
        # A page of a long list extends the known part; a whole list replaces it.
        known = self.modules if arguments.get("startModule") else dict[str, Body]()
        listed = {str(module.get("id")): module for module in modules}
        self.modules = Bounded("modules", {**known, **listed})

    def _apply_loaded_sources(self, _arguments: Body, body: LoadedSourcesResponseBody) -> None:
        """Replace `sources` by those of a `loadedSources` response."""
        self.change_count += 1
        sources = body.get("sources", ())
        self.sources = Bounded("sources", {_key(source): source for source in sources})


def _key(source: Source) -> str:
    """Return what identifies a source: its path, else its `sourceReference`, else its name, as a text."""
    return str(source.get("path") or source.get("sourceReference") or source.get("name"))


# What changes in a mirror without a message: dapeer's findings, and what readers have seen. Pure.


class Notes:
    """The part of a session's state that takes in such notes."""

    def __init__(self, history: StopHistory, output: OutputLog, failures: Failures) -> None:
        """Keep what the methods change; sessions of one program share `output` and `failures`."""
        self.history = history
        """The stops so far."""
        self.output = output
        self.failures = failures
        """Conditions and log messages that could not be evaluated."""

    def record_findings(self, stop: Stop, found: StopFindings) -> None:
        """Set a stop's `findings` to what dapeer has found out about it beyond its adapter's reports."""
        stop.record_findings(found)

    def record_exception(self, stop: Stop, description: str | None) -> None:
        """Set a stop's exception to the description that the program itself gives of it; None: it gave none."""
        stop.record_exception({"description": description})

    def record_members(self, stop: Stop, members: Mapping[int, str]) -> None:
        """Add containers' texts to a stop's values, by variablesReference, as the program printed them."""
        stop.values.unfolded.take_reported(members)

    def record_patch_off(self, body: Body) -> None:
        """Record, once, that a patch of ours is off; `body` has the patch's `name`, what is `lost`, and `why`."""
        self.failures.record_patch_off(body)

    def mark_flowing(self, stop: Stop, *, flows: bool) -> None:
        """Record whether more of the output that belongs to a stop is still arriving."""
        stop.presentation.set_output_flows(flows=flows)

    def mark_shown(self, cursor: int) -> None:
        """Record that a client has seen the program's output up to a cursor."""
        self.output.mark_shown(cursor)

    def mark_reported(
        self, stop: Stop | None, cursor: int, failed: Iterable[tuple[Failure, int]]
    ) -> None:
        """Record that a client has seen a stop, output up to a cursor, and counts of failed expressions.

        `failed` has each failure with the count that was shown. `stop` is None if none was shown: then only the
        output and the counts are recorded. Output that was shown before, with another process's or a later stop, is
        not counted as this stop's; its own output is shown again whenever the stop is. If the session has a later
        stop than `stop`, the latest one will not show output before `cursor`.
        """
        if stop is not None:
            # Another process may have stopped later, and been shown first.
            stop.presentation.skip_to(stop.presentation.output_from(self.output.shown_end))
        self.mark_shown(cursor)
        for failure, count in failed:
            failure.mark_reported(count)
        if stop is None:
            return
        stop.presentation.mark_shown(cursor)
        latest = self.history.latest
        if latest is not None and latest is not stop:
            latest.presentation.skip_to(cursor)


UNKNOWN = -1
"""A placeholder for the stopped thread until the threads are listed."""


class Mirror(Notes):
    """The state of one debug session. Only `apply` changes it, `mark_closed`, and the methods of `Notes`.

    It sees every message of the session in order, both directions, and asks for nothing: no I/O, no
    clock. Readers may hold on to what it returns until the next `apply`, and change nothing of it.
    """

    def __init__(
        self,
        frames: Frames | None = None,
        printed: OutputIntake | None = None,
        failed: failures.Failures | None = None,
        gathered: CollectedOutputReader | None = None,
    ) -> None:
        """Begin the state of a session; sessions of one program share `printed`, `failed` and `gathered`.

        `frames` tells the user's frames from others; by default all are the user's. `printed` takes the output, `failed` the
        conditions and log messages that failed, and `gathered` the values that points collect.
        """
        self._current_stops = CurrentStops()
        self.output_intake = printed or OutputIntake()
        failed = failed or failures.Failures()
        super().__init__(self._current_stops.history, self.output_intake.output, failed)
        self.frames = frames or Frames()
        self.capabilities: Bounded[str, Any] = Bounded("capabilities")
        self._threads = Threads()
        self.collected_reader = gathered or CollectedOutputReader(Collected(), 0)
        """What its breakpoints collect."""
        self.breakpoint_statuses = BreakpointStatuses()
        """The breakpoints that were sent, with their states."""
        self.loaded_sources = LoadedSources()
        """Modules and sources."""
        self.process: Body = {}
        """Body of the `process` event."""
        self.exit_code: int | None = None
        self._program_state = State.STARTING
        """The state beneath the stops of its threads."""
        self._epochs_of_requests: dict[int, int] = {}
        """By seq of a request without an answer yet: the epoch in which it was sent."""
        self._fetched = FetchedFacts(self._current_stops, self.frames, self.breakpoint_statuses)
        self._on_event = self._event_handlers()
        self._on_response = self._response_handlers()

    def _event_handlers(self) -> Mapping[str, EventHandler]:
        """Return the handlers of events except `output`, by the event's name; each gets the event's body.

        `output` has none here, since `_apply_output` also needs the time of arrival. Events without a handler are
        ignored.
        """
        return {
            "stopped": self._apply_stopped,
            "continued": self._current_stops.apply_continued_event,
            "thread": self._apply_thread,
            "breakpoint": self.breakpoint_statuses.apply_breakpoint_event,
            TRACED: self.breakpoint_statuses.record_tracing,
            FILE_NAMED: self.breakpoint_statuses.apply_file_name_event,
            REMOVED: self.collected_reader.note_removed,
            failures.EVENT: self.failures.record,
            failures.PATCH_OFF: self.failures.record_patch_off,
            "capabilities": self._apply_capabilities,
            "process": self._apply_process,
            **self._fetched.event_handlers,
            **self.loaded_sources.event_handlers,
            "exited": self._apply_exited,
            "terminated": self._apply_terminated,
        }

    def _response_handlers(self) -> Mapping[str, ResponseHandler]:
        """Return the handlers of responses, by command.

        Each gets the request's arguments and the response's body.
        """
        return {
            "initialize": self._apply_initialize,
            "launch": self._apply_launched,
            "attach": self._apply_launched,
            "threads": self._apply_threads,
            **self._fetched.response_handlers,
            **self.breakpoint_statuses.response_handlers,
            **self.loaded_sources.response_handlers,
        }

    @property
    def state(self) -> State:
        """The session's state, by the rules of `mirror/states`."""
        return self._program_state.above(stopped=self.stop is not None)

    @property
    def phase(self) -> Phase:
        """What clients read of the state: whether the session is starting, running, stopped or has ended.

        STOPPED means that at least one thread is stopped; STARTING ends with the `launch` or `attach` response, a `process`
        event or the first stop.
        """
        return self.state.phase

    @property
    def has_started(self) -> bool:
        """Whether the debuggee has begun to run, is stopped, or has ended: any phase but STARTING."""
        return self.state.has_started

    @property
    def is_pausing(self) -> bool:
        """Whether a `pause` was asked for, and no stop has come since."""
        return self._program_state.is_pausing

    @property
    def epoch(self) -> int:
        """Counts stops. A frameId or variablesReference belongs to one epoch and dies with it."""
        return self._current_stops.epoch

    @property
    def stop(self) -> Stop | None:
        """The latest stop that still lasts; None while every thread runs."""
        return self._current_stops.stop

    @property
    def breakpoints(self) -> dict[str, list[tuple[RequestedBreakpoint, Breakpoint]]]:
        """By source path: each breakpoint that was sent, with its state."""
        return self.breakpoint_statuses.lines

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
    def has_ended(self) -> bool:
        """Whether the debuggee has ended, or dapeer has detached from it."""
        return self._program_state.has_ended

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended: no more output, no more responses."""
        return self._program_state is State.CLOSED

    def has_moved_on(self, epoch: int) -> bool:
        """Return whether a stop has come after the one with number `epoch`, or the debuggee has ended."""
        return self.epoch > epoch or self.has_ended

    @property
    def overflow_note(self) -> str | None:
        """A sentence on entries that were dropped because the adapter sent too many or too long ones, or None.

        It is about one kind of entries, even if there are several: the first of names of threads, loaded sources,
        failures and capabilities of which some were dropped. None: nothing was dropped.
        """
        tables = (
            self._threads.names,
            *self.loaded_sources.tables,
            self.failures.known,
            self.capabilities,
        )
        return next((table.left_out_note for table in tables if table.left_out_note), None)

    def stop_of(self, thread_id: int) -> Stop | None:
        """Return the stop that holds a thread, or None when the thread runs.

        Without a stop of its own, it is held by any stop at which all threads stopped.
        """
        return self._current_stops.stop_of(thread_id)

    def was_reached(self, place: Place) -> bool:
        """Return whether the program was seen at a place: it stopped, logged, or collected there."""
        seen = (
            place in self.output_intake.log_points.points
            or place in self.breakpoint_statuses.reached_places
        )
        return seen or self.collected_reader.may_have_reached(place)

    def was_line_reached(self, path: str, line: int) -> bool:
        """Return whether the program was seen at a line: it stopped, logged, or collected there.

        `path` is the file, `line` counts from 1. Looked at are the line without a column, and the line and column
        of each breakpoint that dapeer has sent for this line. A place at which values are collected counts as
        reached, too, if collected rows were lost.
        """
        sent = (
            each
            for each, _ in self.breakpoint_statuses.breakpoints_in(path)
            if each["line"] == line
        )
        return any(self.was_reached((path, *spot)) for spot in {(line, 0), *map(spot_of, sent)})

    def require_live(self) -> None:
        """Raise `NotStopped` if the debuggee has ended, or dapeer has detached from it; else do nothing."""
        self._program_state.require_live()

    def require_stop(self, thread_id: int | None = None) -> Stop:
        """Return the current stop of the program, or, with `thread_id`, the one that holds this thread.

        Raises:
            NotStopped: The thread or program runs, a pause is pending, or it has ended; the message says which.
        """
        stop = self.stop if thread_id is None else self.stop_of(thread_id)
        if stop is None:
            raise self.state.stop_error(thread_id)
        return stop

    def apply(self, message: Message, arrived_at: float = 0.0) -> None:
        """Change the state by the next message of the session, in either direction.

        `arrived_at` is the time at which the message arrived, in seconds since the epoch (0: unknown); only
        output keeps it. A request counts when it is sent: one that resumes ends all stops, `pause` makes the
        state a pausing one unless the program is stopped, and `setBreakpoints` marks the file's breakpoints as
        unanswered. Of failed responses, a rejected resume brings back the stops, unless the program has stopped
        anew or ended since, a failed `pause` ends the pausing, and after `setBreakpoints` the breakpoints count
        as refused. An answer to an inspection from before the latest stop is ignored. Events and commands that
        are unknown here change nothing.
        """
        match message:
            case Event(event="output", body=body):
                self._apply_output(body, arrived_at)
            case Event(event=name, body=body):
                if name in self._on_event:  # unknown ones are allowed, and many
                    self._on_event[name](body)
            case Request(seq=seq, command=command, arguments=arguments):
                self._epochs_of_requests[seq] = self.epoch
                self.breakpoint_statuses.apply_request(command, arguments)
                if command == "pause":
                    self._move(Cause.PAUSE_DROPPED if self.stop else Cause.PAUSE_SENT)
                if command in RESUMES:
                    self._move(Cause.PAUSE_DROPPED)
                    self._current_stops.apply_resume_request(
                        seq, command, arguments.get("threadId")
                    )
            case Response():
                self._apply_response(message)
            case _:
                pass

    def name_data(self, data_id: str, name: str) -> None:
        """Keep the name by which a caller knows the data of a data breakpoint, by its `dataId`."""
        self.breakpoint_statuses.name_data(data_id, name)

    def name_file(self, path: str, note: str) -> None:
        """Keep `note`, a clause on the name by which the program itself knows the source file at `path`."""
        self.breakpoint_statuses.name_file(path, note)

    def mark_closed(self) -> None:
        """Record that the connection has ended, which no message reports."""
        self._move(Cause.CLOSED)

    def _move(self, cause: Cause) -> None:
        """Move the session, beneath its stops, by the table of `mirror/states`."""
        self._program_state = self._program_state.next_state(cause)

    # -- events

    def _apply_output(self, body: Body, arrived_at: float) -> None:
        """Add the text of an `output` event to the output or a log point, or its row to those collected.

        `body` is the event's; one that has the key `ROW` carries a collected row, and its text is not used. The
        place of a log point that has printed is added to `reached_places`; times are not counted there. What
        `OutputIntake.append_output` drops, such as telemetry, is not added. `arrived_at` is the time of arrival
        in seconds.
        """
        if ROW in body:
            self.collected_reader.add_row(body[ROW], arrived_at)
            return
        log_point = self.breakpoint_statuses.log_point(body)
        if log_point is not None:
            self.breakpoint_statuses.reached_places.add(log_point)
        self.output_intake.append_output(body, arrived_at, log_point)

    def _apply_stopped(self, body: Body) -> None:
        """Apply a `stopped` event: begin a stop, end a pending pause, record the breakpoints that were hit."""
        self._move(Cause.STOPPED)
        self._current_stops.begin_stop(body, self._stopped_thread(body), self.output.shown_end)
        self.breakpoint_statuses.record_hits(body.get("hitBreakpointIds") or ())

    def _stopped_thread(self, body: Body) -> int:
        """Return the `threadId` of a `stopped` event; without one the first known thread, or `UNKNOWN`."""
        thread_id = body.get("threadId")
        return thread_id if isinstance(thread_id, int) else next(iter(self.threads), UNKNOWN)

    def _apply_thread(self, body: Body) -> None:
        """Apply a `thread` event: add the thread, or, if the reason is `exited`, remove it and its stop.

        An event without a `threadId` that is an integer is ignored.
        """
        thread_id = body.get("threadId")
        if not isinstance(thread_id, int):
            return
        if body.get("reason") == "exited":
            self._threads.remove(thread_id)
            self._current_stops.forget_thread(thread_id)
        else:
            self._threads.add(thread_id)

    def _apply_capabilities(self, body: Body) -> None:
        self.capabilities.take(body.get("capabilities") or {})

    def _apply_process(self, body: Body) -> None:
        self.process = body
        self._move(Cause.BEGUN)

    def _apply_exited(self, body: Body) -> None:
        """Keep the exit code of an `exited` event; None if it has no number."""
        code = body.get("exitCode")
        self.exit_code = code if isinstance(code, int) else None

    def _apply_terminated(self, _: Body) -> None:
        """Apply a `terminated` event: the session has ended, and no thread is stopped any more."""
        self._move(Cause.TERMINATED)
        self._current_stops.end_all_stops()

    # -- responses

    def _apply_response(self, response: Response) -> None:
        """Apply a response by the handler of its command; without a handler nothing more happens.

        A failed `pause` ends the pending pause. A rejected resume brings back the stops that its request has
        ended, unless the program has stopped again or has ended; a successful resume of another client ends all
        stops. A failed `setBreakpoints` marks the file's breakpoints as refused; other failures change nothing. A
        response to an inspection that was sent before the latest stop is ignored: its ids may mean something else
        now.
        """
        late = self._epochs_of_requests.pop(response.request_seq, self.epoch) != self.epoch
        known = self._on_response.get(response.command)
        if response.command == "pause" and not response.success:
            self._move(Cause.PAUSE_DROPPED)
        if response.command in RESUMES:
            self._current_stops.apply_resume_response(response, ended=self.has_ended)
        elif not response.success:
            self.breakpoint_statuses.record_refusal(
                response.command, response.arguments, response.failure()
            )
        # A late answer about an earlier stop must not count for this one: its ids may have another meaning
        # now.
        elif known and not (late and response.command in INSPECTIONS):
            known(response.arguments, response.body)

    def _apply_launched(self, _arguments: Body, _body: Body) -> None:
        self._move(Cause.BEGUN)

    def _apply_initialize(self, _arguments: Body, body: Body) -> None:
        self.capabilities.take(body)

    def _apply_threads(self, _arguments: Body, body: ThreadsResponseBody) -> None:
        """Take in the list of a `threads` response, and name the stopped thread if its adapter had not."""
        self._threads.replace_all(body, self.epoch)
        self._current_stops.name_thread(self.threads)
