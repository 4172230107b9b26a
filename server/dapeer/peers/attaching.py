"""Attaches to a Neovim: it sends its whole state, then its changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

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


class Inbox:
    """The notifications of a Neovim, which wait until there is somebody to take them in."""

    def __init__(self) -> None:
        self._take: Take | None = None
        self._early: list[tuple[str, Sequence[Any]]] = []

    def notified(self, name: str, arguments: Sequence[Any]) -> None:
        """Pass a notification on, or keep it."""
        if name != "dapeer" or not arguments:
            return
        kind, rest = str(arguments[0]), arguments[1:]
        if self._take is None:
            self._early.append((kind, rest))
        else:
            self._take(kind, rest)

    def open(self, take: Take) -> None:
        """Hand over what has come, in its order, and from now on what comes."""
        for kind, arguments in self._early:
            take(kind, arguments)
        self._early.clear()
        self._take = take


async def attach(number: int, around: PeerContext, target: str, seconds: float) -> Peer:
    """Connect to a Neovim, and return it once both sides share what they have.

    Raises:
        NeovimError: There is no Neovim, or it does not answer.
    """
    await around.taps.open()
    inbox, names = Inbox(), dict[str, str]()
    neovim = await Neovim.connect(target, inbox.notified, seconds)
    sessions = NvimSessions(neovim, around.debugger, around.tasks, names)
    secret = around.taps.expect(sessions.tapped)
    options = {"tap": around.taps.path, "secret": secret}
    try:
        facts = cast(
            "Mapping[str, Any]",
            await neovim.call(
                ATTACH, str(plugin_folder()), neovim.channel, options, seconds=seconds
            ),
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
    await peer.replayed()
    return peer
