"""What a Neovim wants to be for Claude Code, and what Claude Code is to hear of its person."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping

from dapeer.base.json_types import Json


class Ide:
    """The wish of one Neovim to be an IDE; `changed` is called when it is another."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.core: int | None = None
        """The process that is to serve it, if any: several may be attached, and one serves."""
        self.cwd = ""
        """The directory of the whole Neovim now."""
        self._notify: Callable[[str, Json], None] | None = None
        self._changed = changed

    @property
    def handlers(self) -> Mapping[str, Callable[..., None]]:
        """Who takes what Neovim sends, by its kind."""
        return {"ide": self._wants, "ide_event": self._happened}

    @contextlib.contextmanager
    def notifying(self, notify: Callable[[str, Json], None]) -> Generator[None]:
        """Pass on the notifications for Claude Code, method and parameters, while the body runs."""
        self._notify = notify
        try:
            yield
        finally:
            self._notify = None

    def _wants(self, wish: Json) -> None:
        self.core = wish.get("core")
        self.cwd = str(wish.get("cwd") or self.cwd)
        self._changed()

    def _happened(self, method: str, params: Json) -> None:
        if self._notify:
            self._notify(method, params)
