"""The connected clients, by the names that they send."""

from __future__ import annotations

from collections.abc import Callable

UNNAMED = "an assistant"


class Company:
    """The connected clients. `changed` is called when one connects or disconnects."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._here: dict[object, str] = {}
        self._changed = changed

    @property
    def names(self) -> list[str]:
        """Each name once, in the order in which they came."""
        return list(dict.fromkeys(self._here.values()))

    def come(self, name: str) -> Callable[[], None]:
        """Record a client until the returned function is called."""
        token = object()
        self._here[token] = name or UNNAMED
        self._changed()

        def leave() -> None:
            if self._here.pop(token, None) is not None:
                self._changed()

        return leave
