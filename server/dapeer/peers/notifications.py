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
        """Call the handler of a kind with the Neovim and what it sends, while the body runs.

        `gone` is called with each Neovim that is no longer attached.
        """
        entry = (handlers, gone)
        self._handlers.append(entry)
        try:
            yield
        finally:
            self._handlers.remove(entry)

    def take(self, peer: P, kind: str, arguments: Sequence[Any]) -> None:
        """Have a notification handled; a newer plugin may send more than anybody handles."""
        for handlers, _ in self._handlers:
            if kind in handlers:
                handlers[kind](peer, *arguments)

    def gone(self, peer: P) -> None:
        """Report that a Neovim is no longer attached."""
        for _, gone in self._handlers:
            gone(peer)
