"""What a stopped thread is to do in the debuggee is done without a wait in between.

A thread that pydevd has suspended does one command, then waits up to 200 ms before it looks at the next, though that is
queued: it clears the event that announces commands without a look at its queue. So requests that are sent side by side
wait, and so does each step of a program of three threads or more. Here the event stays set until the queue is empty.
"""

from __future__ import annotations

import importlib
import threading
from collections import defaultdict
from typing import Any


class Announcement(threading.Event):
    """Announces the commands of a thread until all are taken."""

    def __init__(self, commands: Any) -> None:
        super().__init__()
        self._commands = commands

    def clear(self) -> None:
        """Clear, and announce what is queued still."""
        super().clear()
        # In this order: who queues a command from now on sets the event afterwards.
        if not self._commands.empty():
            self.set()


class Announcements(dict[str, Announcement]):
    """The announcements of each thread, by its id."""

    def __init__(self, queues: Any) -> None:
        super().__init__()
        self._queues = queues

    def __missing__(self, thread_id: str) -> Announcement:
        """Return the one of a thread that is new."""
        return self.setdefault(thread_id, Announcement(self._queues[thread_id]))


def improve(*, prints: bool) -> None:  # noqa: ARG001 - every part is called alike
    """Have threads take their commands so.

    Raises:
        AttributeError: pydevd is not the one we know.
    """
    pydevd: Any = importlib.import_module("pydevd")
    announce(pydevd.PyDB)


def announce(debugger: Any) -> None:
    """Have each debugger of a class announce commands so. One that keeps them otherwise than we know is left as it is.

    Raises:
        AttributeError: The class is not the one we know, and is left as it was.
    """
    debugger.get_internal_queue_and_event  # noqa: B018 - is it there?
    stock = debugger.__init__

    def start(self: Any, *arguments: Any, **named: Any) -> None:
        stock(self, *arguments, **named)
        queues, events = getattr(self, "_cmd_queue", None), getattr(self, "_thread_events", None)
        if isinstance(queues, defaultdict) and isinstance(events, defaultdict) and not events:
            self._thread_events = Announcements(queues)

    debugger.__init__ = start
