"""The known OpenCode servers: one that was named at the start, and those that Neovims report."""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from dapeer.opencode.catalogue import Catalogue
from dapeer.opencode.client import USERNAME, OpenCode
from dapeer.system.credentials import OPENCODE_PASSWORD

log = logging.getLogger(__name__)


class Servers:
    """The servers; each is listened to while it is known.

    Args:
        project: The directory whose skills are listed.
        tasks: Runs the listeners.
        named: The server named at the start. It is preferred.
    """

    def __init__(self, project: Path, tasks: TaskGroup, named: OpenCode | None) -> None:
        self._project = project
        self._tasks = tasks
        self._named = named
        self._known: dict[str, Catalogue] = {}
        """By the Neovim that has reported it, the newest last."""
        self._watches: dict[str, anyio.CancelScope] = {}
        self._listeners: list[Callable[[], None]] = []

    def open(self) -> None:
        """Begin to look after the one that was named."""
        if self._named:
            self._take("", self._named)

    @property
    def current(self) -> Catalogue | None:
        """The named one, else the last one that was reported; None if none is known."""
        return self._known.get("") or next(reversed(self._known.values()), None)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` when another server is the current one, or its skills are others."""
        self._listeners.append(listener)

    def tell(self, who: str, url: str, authorization: str = "") -> None:
        """Take note that a Neovim uses a server.

        Args:
            who: The Neovim.
            url: The address of the server; empty: it uses none any more.
            authorization: The value of the header of this name.
        """
        if not url and who not in self._known:
            return
        self._leave(who)
        if url:
            credentials = _credentials(authorization) if authorization else {}
            self._take(who, OpenCode(url, credentials))
        self._changed()

    def _take(self, who: str, opencode: OpenCode) -> None:
        catalogue = self._known[who] = Catalogue(opencode, self._project, self._changed)
        scope = self._watches[who] = anyio.CancelScope()
        self._tasks.start_soon(_look_after, catalogue, scope)

    def _leave(self, who: str) -> None:
        if who in self._known:
            del self._known[who]
            self._watches.pop(who).cancel()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


async def _look_after(catalogue: Catalogue, scope: anyio.CancelScope) -> None:
    with scope:
        async with catalogue.opencode:
            try:
                await catalogue.watch()
            except Exception:
                # An error of an OpenCode server must not disturb debugging.
                log.exception(
                    "dapeer stops listening to OpenCode at %s after an error",
                    catalogue.opencode.url,
                )


def _credentials(authorization: str) -> dict[str, str]:
    """Return the user and password in this header."""
    _, _, encoded = authorization.partition("Basic ")
    try:
        username, _, password = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        log.warning("a Neovim sent an invalid password for OpenCode")
        return {}
    return {USERNAME: username, OPENCODE_PASSWORD: password}
