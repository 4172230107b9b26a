"""The socket to which the taps of attached Neovims connect, once for each session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import Callable

import anyio

from dapeer.base.connections.ownership import check_peer
from dapeer.base.errors import Stranger
from dapeer.base.system import folder_names
from dapeer.base.system.folders import sweep, temporary_folder
from dapeer.neovim.nvim_dap.feeds import Hello, Tap

SECONDS_FOR_HELLO = 2.0
LONGEST_FOLDER = 75
"""Bytes; the path of a socket has some hundred at most, on some systems."""

Joined = Callable[[Hello, Tap], None]


class Taps:
    """Listens on a unix socket in a folder that only its owner can enter."""

    def __init__(self) -> None:
        self.path = ""
        self._expected: dict[str, Joined] = {}
        self._server: asyncio.Server | None = None
        self._folder = contextlib.ExitStack()
        self._lines: set[asyncio.StreamWriter] = set()
        """Silent connections, whose end shows Neovim that dapeer has ended."""

    async def open(self) -> None:
        """Create the socket at `path`, and listen on it; a second call changes nothing.

        Folders of cores that were killed are removed first.
        """
        if self._server is None:
            parent = _runtime_folder()
            if parent is not None:
                # Cores that were killed have left theirs.
                sweep(parent)
            self.path = str(self._folder.enter_context(temporary_folder(parent)) / "tap")
            self._server = await asyncio.start_unix_server(self._call, self.path)

    def expect(self, joined: Joined) -> str:
        """Return a new secret; each session that connects with it is passed to `joined`, until `forget`."""
        secret = secrets.token_urlsafe(16)
        self._expected[secret] = joined
        return secret

    def forget(self, secret: str) -> None:
        """Accept no more sessions with this secret; those that are connected stay."""
        self._expected.pop(secret, None)

    async def aclose(self) -> None:
        """Stop listening, close connections that wait for dapeer's end, and remove the socket's folder."""
        if self._server is not None:
            self._server.close()
            for line in self._lines:
                line.close()
            self._folder.close()

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a new connection: read its first line, and pass the session to the function that expects it.

        The line is JSON with `secret` and the facts of `Hello.read`; with `line` instead, the connection is kept open until the
        other end closes it. Anything else, another user's connection, or silence for `SECONDS_FOR_HELLO` closes it.
        """
        odd = (TimeoutError, ValueError, KeyError, TypeError, ConnectionError, Stranger)
        with contextlib.suppress(*odd):
            check_peer(writer.get_extra_info("socket"), self.path)
            with anyio.fail_after(SECONDS_FOR_HELLO):
                facts = json.loads(await reader.readline())
            joined = self._expected[str(facts["secret"])]
            if not facts.get("line"):
                joined(Hello.read(facts), Tap(reader, writer))
                return
            self._lines.add(writer)
            await reader.read()
        self._lines.discard(writer)
        writer.close()


def _runtime_folder() -> str | None:
    """Return the login session's folder for sockets.

    The result is None if it is unusable, as after `su` or in a container.
    """
    folder = folder_names.named("XDG_RUNTIME_DIR")
    usable = len(os.fsencode(folder)) <= LONGEST_FOLDER and os.access(folder, os.W_OK | os.X_OK)
    return folder if usable else None
