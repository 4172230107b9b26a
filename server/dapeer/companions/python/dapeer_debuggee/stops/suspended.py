"""Suspended threads of pydevd: they carry out queued commands at once, and a late one tells no resume.

A thread that pydevd has suspended carries out one command, then waits up to 200 ms for the next, even if one is
queued: it clears the event of its queue without checking the queue. That delays parallel requests, and each step in
a program with three or more threads. Here the event stays set until the queue is empty.

pydevd suspends all threads at a stop, and each wakes by itself when the program goes on. Where one wakes after the next stop was
told, pydevd tells that the program goes on, and forgets the variables of that stop. With hundreds of threads this is usual. Here it
tells nothing then.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from typing import Any, Dict  # noqa: UP035

from .. import patching

STOPS = "pydevd:AbstractSingleNotificationBehavior.on_thread_suspend"
TELLS = "pydevd:ThreadsSuspendedSingleNotification.send_resume_notification"
LATE = patching.Row(
    "late-threads",
    "debugpy",
    "A program of many threads may be said to run although it has stopped again.",
    replaces={STOPS: "self thread_id thread stop_reason", TELLS: "self thread_id"},
    uses=(
        "pydevd:AbstractSingleNotificationBehavior._suspend_time_request",
        "pydevd:AbstractSingleNotificationBehavior._last_suspend_notification_time",
        "pydevd:AbstractSingleNotificationBehavior._last_resume_notification_time",
        "pydevd:AbstractSingleNotificationBehavior._suspended_thread_id_to_thread",
        "_pydevd_bundle.pydevd_constants:STATE_SUSPEND",
    ),
)


@LATE
def report_the_latest_stop(patch: Any) -> None:
    """Patch pydevd so that a late thread reports no resume once the program has stopped again.

    A late thread is one that was stopped for an earlier stop than the last; if no thread is suspended any more, its
    resume is reported all the same. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    own: Any = {}
    """By thread, the number of the stop for which it has stopped."""

    @patch.replace(STOPS)
    def stops(stock: Any, self: Any, thread_id: Any, *rest: Any, **named: Any) -> None:
        own[thread_id] = self._suspend_time_request
        stock(self, thread_id, *rest, **named)

    stays: Any = importlib.import_module("_pydevd_bundle.pydevd_constants").STATE_SUSPEND

    # pydevd calls it with its lock, for the first thread that goes on after a stop was told.
    @patch.replace(TELLS)
    def tells(stock: Any, self: Any, thread_id: Any, *rest: Any, **named: Any) -> None:
        """Report the resume as pydevd does, unless the thread was stopped for an earlier stop than the last.

        It is reported also then if no thread is suspended any more.
        """
        latest, stopped = self._last_suspend_notification_time, self._suspended_thread_id_to_thread
        before = own.get(thread_id, latest)
        if before < latest and any(
            each.additional_info.pydev_state == stays for each in stopped.values()
        ):
            # pydevd has noted that this stop is over. The next thread that goes on tells it.
            self._last_resume_notification_time = before
            return
        stock(self, thread_id, *rest, **named)
        for each in [each for each in own if each not in stopped]:
            del own[each]


# A program may replace Python's own by one for greenlets (gevent, eventlet), by which others would run on.
Waits: Any = importlib.import_module("_pydev_bundle._pydev_saved_modules").threading.Event


class QueueEvent(Waits):
    """The event of a thread's queue of commands, which stays set until the queue is empty."""

    def __init__(self, commands: Any) -> None:
        Waits.__init__(self)
        self._commands = commands

    def clear(self) -> None:
        """Clear the event; set it again at once if a command is queued.

        Where the queue cannot be asked, it stays cleared, and the row `QUEUE` of the patches is noted as failed.
        """
        Waits.clear(self)
        # In this order: a command that is queued from now on sets the event afterwards.
        try:
            if not self._commands.empty():
                self.set()
        except Exception as error:
            QUEUE.fail(error)


class Announcements(Dict[str, QueueEvent]):  # noqa: UP006 - Python 3.8 has no other
    """The events of all threads, by thread id."""

    def __init__(self, queues: Any) -> None:
        super().__init__()
        self._queues = queues

    def __missing__(self, thread_id: str) -> QueueEvent:
        """Create, keep and return the event of a new thread."""
        try:
            event: Any = QueueEvent(self._queues[thread_id])
        except Exception as error:
            QUEUE.fail(error)
            event = Waits()
        return self.setdefault(thread_id, event)


START = "pydevd:PyDB.__init__"
QUEUE = patching.Row(
    "queued-commands",
    "debugpy",
    "A step or an evaluation takes up to 200 ms longer where three or more threads run.",
    replaces={START: "self set_as_global="},
    uses=(
        "pydevd:PyDB.get_internal_queue_and_event",
        "pydevd:PyDB#_cmd_queue",
        "pydevd:PyDB#_thread_events",
    ),
)


@QUEUE
def replace_queue_events(patch: Any) -> None:
    """Patch pydevd so that the events of each new debugger's queues are `QueueEvent`s.

    A debugger of another structure, or that has events already, keeps its own. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(START)
    def start(stock: Any, self: Any, *rest: Any, **named: Any) -> None:
        """Initialize pydevd's `PyDB` (`stock`), and replace its events; one of another form keeps its own."""
        stock(self, *rest, **named)
        queues, events = getattr(self, "_cmd_queue", None), getattr(self, "_thread_events", None)
        if isinstance(queues, defaultdict) and isinstance(events, defaultdict) and not events:
            self._thread_events = Announcements(queues)
