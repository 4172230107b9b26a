"""The threads of a program, as its adapter names them. Pure."""

from __future__ import annotations

from dapeer.dap.bodies import ThreadsResponseBody
from dapeer.mirror.bounded import Bounded


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
