"""How one task hands something to another: an answer, or a mailbox."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class Answer(Generic[T]):
    """What is given once, or fails, while others wait for it; who stops waiting disturbs nobody."""

    def __init__(self) -> None:
        self._given = anyio.Event()
        self._value: T
        self._error: Exception | None = None

    @property
    def is_given(self) -> bool:
        """Whether it has been given, or has failed."""
        return self._given.is_set()

    def give(self, value: T) -> None:
        """Give it; only the first counts."""
        if not self._given.is_set():
            self._value = value
            self._given.set()

    def fail(self, error: Exception) -> None:
        """Have all who wait for it raise an error, unless it was given before."""
        if not self._given.is_set():
            self._error = error
            self._given.set()

    async def given(self) -> None:
        """Wait until it has been given, or has failed."""
        if not self._given.is_set():
            await self._given.wait()

    async def wait(self) -> T:
        """Return what is given, or raise what has failed."""
        await self.given()
        if self._error is not None:
            raise self._error
        return self._value


class Mailbox(Generic[T]):
    """What comes, to be taken in that order. Unlike a stream of anyio, it need not be closed."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._ended = False
        self._news = anyio.Event()

    def put(self, item: T) -> None:
        """Add an item."""
        self._items.append(item)
        self._news.set()

    def end(self) -> None:
        """Say that nothing more comes."""
        self._ended = True
        self._news.set()

    def __bool__(self) -> bool:
        return bool(self._items)

    async def take(self) -> T:
        """Take the next item, once there is one.

        Raises:
            anyio.EndOfStream: Nothing more comes.
        """
        while not self._items:
            if self._ended:
                raise anyio.EndOfStream
            if self._news.is_set():
                self._news = anyio.Event()
            await self._news.wait()
        return self._items.popleft()
