"""The connected clients, by the names that they send."""

from __future__ import annotations

from collections.abc import Callable

UNNAMED = "an assistant"


class ConnectedClients:
    """The connected clients. `changed` is called when one connects or disconnects."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._names_by_token: dict[object, str] = {}
        self._notify_changed = changed

    @property
    def names(self) -> list[str]:
        """Each name once, in the order in which they came."""
        return list(dict.fromkeys(self._names_by_token.values()))

    def add_client(self, name: str) -> Callable[[], None]:
        """Add a connected client to `names`, and return a function that removes it again.

        `name` is what the client calls itself; empty: `UNNAMED`. Both call `changed`; removing twice changes nothing.
        """
        token = object()
        self._names_by_token[token] = name or UNNAMED
        self._notify_changed()

        def leave() -> None:
            if self._names_by_token.pop(token, None) is not None:
                self._notify_changed()

        return leave
