"""Makes a suspended thread carry out queued commands without delay.

A thread that pydevd has suspended carries out one command, then waits up to 200 ms for the next, even if one is
queued: it clears the event of its queue without checking the queue. That delays parallel requests, and each step in
a program with three or more threads. Here the event stays set until the queue is empty.
"""

from __future__ import annotations

import importlib
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any


class Announcement(threading.Event):
    """An event that stays set until a thread's command queue is empty."""

    def __init__(self, commands: Any) -> None:
        super().__init__()
        self._commands = commands

    def clear(self) -> None:
        """Clear the event; set it again if a command is queued."""
        super().clear()
        # In this order: a command that is queued from now on sets the event afterwards.
        if not self._commands.empty():
            self.set()


if TYPE_CHECKING:
    # Python 3.8 cannot make this type.
    Events = dict[str, Announcement]
else:
    Events = dict


class Announcements(Events):
    """The events of all threads, by thread id."""

    def __init__(self, queues: Any) -> None:
        super().__init__()
        self._queues = queues

    def __missing__(self, thread_id: str) -> Announcement:
        """Create the event of a new thread."""
        return self.setdefault(thread_id, Announcement(self._queues[thread_id]))


def improve(*, prints: bool) -> None:
    """Replace the events of pydevd's debugger class.

    Raises:
        AttributeError: pydevd has another structure.
    """
    pydevd: Any = importlib.import_module("pydevd")
    announce(pydevd.PyDB)


def announce(debugger: Any) -> None:
    """Replace the events of each debugger of a class, unless the debugger has another structure.

    Raises:
        AttributeError: The class has another structure; it stays unchanged.
    """
    debugger.get_internal_queue_and_event  # is it there?
    stock = debugger.__init__

    def start(self: Any, *arguments: Any, **named: Any) -> None:
        stock(self, *arguments, **named)
        queues, events = getattr(self, "_cmd_queue", None), getattr(self, "_thread_events", None)
        if isinstance(queues, defaultdict) and isinstance(events, defaultdict) and not events:
            self._thread_events = Announcements(queues)

    debugger.__init__ = start
