"""The threads of a program: their names, which are stopped now, and the history of stops. Pure.

Stopped threads count as running from the moment a resume is sent: a stop may arrive before the response of
the step that caused it.
"""

from __future__ import annotations

from collections.abc import Collection

from dapeer.dap.bodies import ThreadsResponseBody
from dapeer.dap.messages import Body, Response
from dapeer.mirror.bounded import MAX_ENTRIES, Bounded
from dapeer.mirror.stops.stack import Stack
from dapeer.mirror.stops.stops import History, Reported, Stop


class Threads:
    """The names of the threads, and whether they are complete."""

    def __init__(self) -> None:
        self.names: Bounded[int, str] = Bounded("threads")
        """By thread id; empty for a thread that is known by an event only."""
        self._listed_in = -1
        """The epoch in which all were listed last."""
        self._followed = False
        """Whether events report threads that start and end."""

    def known(self, epoch: int) -> bool:
        """Whether all names are known now."""
        fresh = self._followed or self._listed_in == epoch
        return fresh and bool(self.names) and all(self.names.values())

    def started(self, thread_id: int) -> None:
        """Take note of a thread that has started."""
        self._followed = True
        self.names[thread_id] = self.names.get(thread_id, "")

    def exited(self, thread_id: int) -> None:
        """Take note of a thread that has ended."""
        self._followed = True
        self.names.pop(thread_id, None)

    def take(self, body: ThreadsResponseBody, epoch: int) -> None:
        """Take in the list of all threads."""
        threads = body.get("threads", ())
        named = {each["id"]: str(each.get("name") or f"thread {each['id']}") for each in threads}
        self.names = Bounded("threads", named)
        self._listed_in = epoch


class Suspended:
    """The stops that last, and the history of all."""

    def __init__(self) -> None:
        self.epoch = 0
        """Counts stops. A frameId or variablesReference belongs to one epoch and dies with it."""
        self.history = History()
        self.stop: Stop | None = None
        """The latest stop that still lasts; None while every thread runs."""
        self._stops: dict[int, Stop] = {}
        """By thread, the latest last."""
        self._resuming: dict[int, dict[int, Stop]] = {}
        """By seq of a resuming request without an answer yet: the stops it left."""
        self._output_start = 0

    def _keep(self, stops: dict[int, Stop]) -> None:
        """These last, and no others."""
        self._stops = stops
        self.stop = next(reversed(stops.values()), None)

    def _add(self, thread_id: int, stop: Stop) -> None:
        # The latest stop comes last, also when the thread had stopped before.
        self._stops.pop(thread_id, None)
        if len(self._stops) >= MAX_ENTRIES:
            del self._stops[next(iter(self._stops))]
        self._stops[thread_id] = self.stop = stop

    def _remove(self, thread_id: int) -> None:
        if self._stops.pop(thread_id, None) is not None:
            self.stop = next(reversed(self._stops.values()), None)

    def stop_of(self, thread_id: int) -> Stop | None:
        """Return the stop that holds a thread, or None when the thread runs."""
        return self._stops.get(thread_id) or next(
            (stop for stop in self._stops.values() if stop.all_threads), None
        )

    def begin(self, body: Body, thread_id: int, shown: int) -> None:
        """Apply a `stopped` event; the program's output is shown up to the cursor `shown`."""
        self.epoch += 1
        # Output that was shown with another process is not shown again.
        start = max(self._output_start, shown)
        reported = Reported(start, self._output_start, self.history.new_handles())
        stop = Stop(self.epoch, body, Stack(thread_id), reported=reported)
        if stop.all_threads:
            self._keep({})
        self._add(thread_id, stop)
        self.history.add(stop)

    def name_thread(self, threads: Collection[int]) -> None:
        """Say which thread it was that stopped, where the adapter left that out."""
        stop = self.stop
        if stop is None or stop.thread_id in threads or not threads:
            return
        if not isinstance(stop.body.get("threadId"), int):
            self._remove(stop.thread_id)
            stop.stack.name_thread(next(iter(threads)))
            self._add(stop.thread_id, stop)

    def continued(self, body: Body) -> None:
        """Apply a `continued` event."""
        stop = self._stops.get(body.get("threadId", -1))
        if body.get("allThreadsContinued", True) or (stop and stop.all_threads):
            self.resumed()
        else:
            self._remove(body.get("threadId", -1))

    def exited(self, thread_id: int) -> None:
        """Forget the stop of a thread that has ended."""
        self._remove(thread_id)

    def resume(self, seq: int, command: str, thread_id: object) -> None:
        """Apply a request that resumes, when it is sent."""
        self._resuming[seq] = self._stops
        for stop in self._stops.values():
            stop.leave(command if thread_id == stop.thread_id else "continue")
        self.resumed()

    def resume_answered(self, response: Response, *, ended: bool) -> None:
        """Undo a resume that the adapter has rejected; apply one of another client."""
        left = self._resuming.pop(response.request_seq, None)
        if left is None and response.success:
            self.resumed()
        elif left and not response.success and not self._stops and not ended:
            latest = next(reversed(left.values()))
            if latest.number == self.epoch:
                self._keep(left)

    def resumed(self) -> None:
        """Every thread runs, or has ended."""
        stop = self.stop
        if stop is not None:
            reported = stop.reported
            # Output that was not shown at this stop is shown with the next one.
            self._output_start = (
                reported.output_start if reported.output_shown is None else reported.output_shown
            )
        self._keep({})
