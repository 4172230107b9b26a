"""What a Neovim wants to be for Claude Code, and what Claude Code is notified of."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

from dapeer.base.json_types import Json


class Ide:
    """The wish of one Neovim to be an IDE."""

    def __init__(self) -> None:
        self.core: int | None = None
        """The process that is to serve it, if any: several may be attached, and one serves."""
        self.cwd = ""
        """The directory of the whole Neovim now."""
        self._notify: Callable[[str, Json], None] | None = None

    @contextlib.contextmanager
    def notifying(self, notify: Callable[[str, Json], None]) -> Generator[None]:
        """Send Neovim's notifications for Claude Code to `notify`, method and parameters, while the body runs."""
        self._notify = notify
        try:
            yield
        finally:
            self._notify = None

    def take(self, wish: Json) -> None:
        """Set `core` and `cwd` from a notification of Neovim's; without a `cwd`, the last one stays."""
        self.core = wish.get("core")
        self.cwd = str(wish.get("cwd") or self.cwd)

    def pass_on(self, method: str, params: Json) -> None:
        """Pass a notification to the function of `notifying`; outside of it, the notification is dropped."""
        if self._notify:
            self._notify(method, params)
