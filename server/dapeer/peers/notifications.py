"""Notifications of Neovims that are handled outside of this room."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

P = TypeVar("P")
"""The Neovim that sends them."""


class Notifications(Generic[P]):
    """Who handles which kinds, of all attached Neovims."""

    def __init__(self) -> None:
        self._handlers: list[tuple[Mapping[str, Callable[..., None]], Callable[[P], None]]] = []

    @contextmanager
    def handled(
        self,
        handlers: Mapping[str, Callable[..., None]],
        gone: Callable[[P], None] = lambda _: None,
    ) -> Generator[None]:
        """Call these handlers, by kind of notification, while the body of the `with` runs.

        A handler is called with the Neovim and the notification's arguments; `gone` with each Neovim that is no longer attached.
        """
        entry = (handlers, gone)
        self._handlers.append(entry)
        try:
            yield
        finally:
            self._handlers.remove(entry)

    def take(self, peer: P, kind: str, arguments: Sequence[Any]) -> None:
        """Pass a notification of a Neovim to all handlers of its kind; one that nobody handles is ignored."""
        for handlers, _ in self._handlers:
            if kind in handlers:
                handlers[kind](peer, *arguments)

    def notify_detached(self, peer: P) -> None:
        """Tell all subscribers that a Neovim is no longer attached."""
        for _, gone in self._handlers:
            gone(peer)
