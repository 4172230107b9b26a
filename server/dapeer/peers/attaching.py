"""Attaches to a Neovim, which sends its whole state, then its changes; searches a project's Neovims."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup

from dapeer.base.json_types import as_object
from dapeer.neovim.client import Neovim
from dapeer.neovim.discovery.program import plugin_folder
from dapeer.peers.lua_tools import LuaTools
from dapeer.peers.nvim_sessions import NvimSessions
from dapeer.peers.peer import Attached, Peer, PeerContext

# A Neovim without the plugin gets dapeer's, until it ends.
ATTACH: Final = """
local folder, channel, opts = ...
if not pcall(require, 'dapeer.core.attach') then vim.opt.runtimepath:append(folder) end
return require('dapeer.core.attach').attach(channel, opts)
"""

Take = Callable[[str, Sequence[Any]], None]
"""Takes in a notification: its kind and arguments."""
SECONDS_TO_LOOK: Final = 1.0
"""Seconds by which the first search may delay a client's first call."""


class Inbox:
    """The notifications of a Neovim, which wait until there is somebody to take them in."""

    def __init__(self) -> None:
        self._take: Take | None = None
        self._early: list[tuple[str, Sequence[Any]]] = []

    def notified(self, name: str, arguments: Sequence[Any]) -> None:
        """Pass a notification named `dapeer` to the handler, or keep it until there is one; ignore others.

        Its first argument is the kind, the others are the kind's own.
        """
        if name != "dapeer" or not arguments:
            return
        kind, rest = str(arguments[0]), arguments[1:]
        if self._take is None:
            self._early.append((kind, rest))
        else:
            self._take(kind, rest)

    def open(self, take: Take) -> None:
        """Call `take` with each notification that has been kept, in order, and with every later one."""
        for kind, arguments in self._early:
            take(kind, arguments)
        self._early.clear()
        self._take = take


async def attach(number: int, around: PeerContext, target: str, seconds: float) -> Peer:
    """Connect to a Neovim, and return it once both sides have shared breakpoints and running sessions.

    dapeer's plugin is loaded there, from this machine if Neovim has none. `number` becomes its id, `target` is a path or
    `host:port`, and `seconds` limits the connection and the first answer.

    Raises:
        NeovimError: There is no Neovim, or it does not answer.
    """
    await around.taps.open()
    inbox, names = Inbox(), dict[str, str]()
    neovim = await Neovim.connect(target, inbox.notified, seconds)
    sessions = NvimSessions(neovim, around.debugger, around.tasks, names)
    secret = around.taps.expect(sessions.begin_tapped_session)
    options = {"tap": around.taps.path, "secret": secret}
    try:
        facts = as_object(
            await neovim.call(
                ATTACH, str(plugin_folder()), neovim.channel, options, seconds=seconds
            )
        )
        sessions.compare_clocks(float(facts.get("clock") or time.time()))
        tools = LuaTools(neovim, sessions.ahead, around.judge)
        await tools.take(facts.get("tools") or "[]")
    except BaseException:
        around.taps.forget(secret)
        await neovim.aclose()
        raise
    peer = Peer(number, around, Attached(neovim, facts, sessions, tools, names, secret))
    peer.join()
    inbox.open(peer.take)
    await peer.wait_for_replay()
    return peer


class Search:
    """Attaches the Neovims of a project, which no client names, and knows which are new to each client."""

    def __init__(self) -> None:
        self._seek: Callable[[], Awaitable[None]] | None = None
        """Attaches the other Neovims of the project; None: only named ones are attached."""
        self._looked = anyio.Event()
        self._came: list[Peer] = []
        """The Neovims that have appeared after the first search, in this order."""
        self._reported: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """How many of them each client has been told of."""

    def begin(self, tasks: TaskGroup, seek: Callable[[], Awaitable[None]]) -> None:
        """Attach all Neovims of the project from now on.

        `seek` attaches those that run, and is called in `tasks`.
        """
        self._seek = seek
        tasks.start_soon(self.look_around)

    async def look_around(self) -> None:
        """Attach the running Neovims of the project that are not attached.

        Nothing is done unless `begin` was called, since only named Neovims are attached then.
        """
        if self._seek is not None:
            try:
                await self._seek()
            finally:
                self._looked.set()

    async def first_look(self) -> None:
        """Wait for the end of the first search, at most `SECONDS_TO_LOOK`.

        It returns at once unless `begin` was called.
        """
        if self._seek is not None:
            with anyio.move_on_after(SECONDS_TO_LOOK):
                await self._looked.wait()

    def attached(self, peer: Peer) -> None:
        """Record a Neovim that no client has named, for `take_new_peers`, unless the first search found it."""
        late = self._seek is None or self._looked.is_set()
        if late and peer not in self._came:
            self._came.append(peer)

    def take_new_peers(self, client: object) -> list[Peer]:
        """Return the Neovims that were attached after the first search and since this client's last call.

        `client` is any object that stands for the client.
        """
        reported, self._reported[client] = self._reported.get(client, 0), len(self._came)
        return self._came[reported:]
