"""Work that is begun at once, so that what it needs while it waits is prepared only if it waits."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Begun(Generic[T]):
    """A coroutine that has run up to where it first waits, or to its end; awaiting this does the rest.

    Most calls of tools are answered from memory and never wait: they need no timers. `waits` says so before anything is
    awaited. Whatever the coroutine raises before it waits, making this raises.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self.waits = True
        """Whether the coroutine waits for something."""
        try:
            self._awaited = work.send(None)
        except StopIteration as end:
            self.waits = False
            self._result: T = end.value

    def __await__(self) -> Generator[Any, Any, T]:
        """Do the rest, in the task in which it was begun, and return the result."""
        if not self.waits:
            return self._result
        awaited = self._awaited
        while True:
            try:
                try:
                    sent = yield awaited
                except BaseException as error:  # noqa: BLE001 - whatever is thrown in is the coroutine's
                    awaited = self._work.throw(error)
                else:
                    awaited = self._work.send(sent)
            except StopIteration as end:
                return end.value
