"""The OpenCode server that a Neovim uses: what it tells of it, and what it is told."""

from __future__ import annotations

from dapeer.base.json_types import Json
from dapeer.neovim.client import Neovim
from dapeer.opencode.registrations import Use
from dapeer.opencode.servers import Servers


def set_use(servers: Servers, neovim: Neovim, sent: Json) -> None:
    """Take in which server a Neovim uses; it hears what becomes of our core there."""

    def report(news: Json) -> None:
        code = "require('dapeer.integrations.opencode').take(...)"
        neovim.send(code, neovim.channel, news)

    servers.set_use(neovim.target, Use.read(sent), report)
