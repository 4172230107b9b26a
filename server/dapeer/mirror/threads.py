"""The threads of a program: their names, which are stopped now, and the history of stops. Pure.

Stopped threads count as running from the moment a resume is sent: a stop may arrive before the response of
the step that caused it.
"""

from __future__ import annotations

from collections.abc import Collection

from dapeer.dap.messages import Body, Response
from dapeer.dap.types import ThreadsResponseBody
from dapeer.mirror.bounded import MAX_ENTRIES, Bounded
from dapeer.mirror.stops import ShownStop, Stack, Stop, StopHistory


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
        """Add a new stop from the body of a `stopped` event: to the stops that last, and to the history.

        `epoch` grows by one and is the stop's number. A stop of all threads replaces the stops that last.
        `thread_id` is the thread that stopped; `shown` is the cursor up to which clients have already seen the program's output.
        """
        self.epoch += 1
        # Output that was shown with another process is not shown again.
        start = max(self._output_start, shown)
        reported = ShownStop(start, self._output_start, self.history.new_handles())
        stop = Stop(self.epoch, body, Stack(thread_id), reported=reported)
        if stop.all_threads:
            self._keep({})
        self._add(thread_id, stop)
        self.history.add(stop)

    def name_thread(self, threads: Collection[int]) -> None:
        """Set the thread of the latest stop to the first of `threads`, if its adapter has named none.

        `threads` are the ids of all listed threads. Nothing changes if the `stopped` event had a `threadId`, or the
        stop's thread is among them.
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

        `seq` is the request's number, which `apply_resume_response` looks up. Each stop gets in `left_with` the `command` if
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
                self._keep(left)

    def end_all_stops(self) -> None:
        """Remove all lasting stops: every thread runs, or the debuggee has ended.

        Output that was not yet shown with the latest stop will be shown with the next one.
        """
        stop = self.stop
        if stop is not None:
            reported = stop.reported
            # Output that was not shown at this stop is shown with the next one.
            self._output_start = (
                reported.output_start if reported.output_shown is None else reported.output_shown
            )
        self._keep({})
