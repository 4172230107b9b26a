"""Looks quickly at a Neovim: is it running, does it respond, what is it?

It is small enough for twenty Neovims at once, and can be abandoned at any time: it has no thread and no
handshake, and leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import msgpack
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from dapeer.base.errors import ForeignListener
from dapeer.base.system.ownership import check_peer
from dapeer.neovim.sockets import HOST_AND_PORT

SECONDS_TO_ANSWER: Final = 0.5
"""How long a Neovim may take to answer before it counts as busy."""
LARGEST_ANSWER: Final = 1 << 20
"""Bytes of an answer; a process that sends more is no Neovim."""

_LOOK: Final = """
local function told(name)
  local ok, dapeer = pcall(function() return package.loaded.dapeer end)
  if not ok or type(dapeer) ~= 'table' or type(dapeer[name]) ~= 'function' then return nil end
  local answered, found = pcall(dapeer[name])
  return answered and found or nil
end
local version = vim.version()
return vim.json.encode({
  pid = vim.fn.getpid(),
  cwd = vim.fn.getcwd(-1, -1),
  address = vim.v.servername,
  version = ('%d.%d.%d'):format(version.major, version.minor, version.patch),
  plugin = package.loaded.dapeer ~= nil and 'loaded'
    or #vim.api.nvim_get_runtime_file('lua/dapeer/init.lua', false) > 0 and 'loadable' or nil,
  port = told('get_port'),
  core = told('is_running') ~= nil,
  dap = package.loaded.dap ~= nil,
})
"""
"""It loads no module: a plugin that the person has not loaded stays unloaded."""

_MODE, _FACTS = 1, 2
_NO_NEOVIM: Final = (
    OSError,
    ValueError,
    msgpack.UnpackException,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
)


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The answers of a Neovim within the time limit."""

    facts: Mapping[str, Any] | None = None
    """None: it is running, but does not respond."""
    mode: str | None = None
    """The mode in which it waits for a key; None if it is busy, or responds."""


async def probe(address: str, seconds: float = SECONDS_TO_ANSWER) -> ProbeAnswer | None:
    """Ask a Neovim for its mode and some facts; None if nothing listens there, or it is no Neovim.

    None is also returned if the connection ends early, or an answer is an error. After a timeout, the answers
    that have come are returned: a busy Neovim may tell its mode only, or nothing. `mode` of the result is the
    mode in which Neovim waits for a key, else None. `facts` is None or has the keys `pid`, `cwd`, `address`,
    `version`, `core` and `dap`, and maybe `plugin` and `port`.

    Args:
        address: A path, or `host:port`.
        seconds: How long to wait in all.

    Raises:
        ForeignListener: Another user of this machine listens there; nothing was sent.
    """
    answers: dict[int, Any] = {}
    with anyio.move_on_after(seconds):
        try:
            async with await _connect(address) as stream:
                await stream.send(
                    _request(_MODE, "nvim_get_mode") + _request(_FACTS, "nvim_exec_lua", _LOOK, [])
                )
                await _listen(stream, answers)
        except _NO_NEOVIM:
            return None
    return ProbeAnswer(answers.get(_FACTS), answers.get(_MODE))


async def _connect(address: str) -> ByteStream:
    """Connect to a Neovim's address, check that no other user listens there, and return the stream.

    `address` is `HOST:PORT`, or else the path of a Unix socket. The caller closes the stream; after an error it is
    closed here.

    Raises:
        OSError: Nothing listens there, or the connection has been closed at once.
        ForeignListener: Another user of this machine listens there.
    """
    match = HOST_AND_PORT.fullmatch(address)
    if match is None:
        stream: SocketStream = await anyio.connect_unix(address)
    else:
        stream = await anyio.connect_tcp(match["host"].strip("[]"), int(match["port"]))
    try:
        check_peer(stream.extra_attributes[SocketAttribute.raw_socket](), address)
    except (OSError, ForeignListener):
        await stream.aclose()
        raise
    return stream


async def _listen(stream: ByteStream, answers: dict[int, Any]) -> None:
    """Read answers from the stream into `answers`, by the request's number, until the facts are there.

    The number is `_MODE` or `_FACTS`. The value for `_MODE` is the mode's name if Neovim waits for a key, else
    None, and may be missing; the value for `_FACTS` is decoded from JSON. Notifications are skipped. There is
    no time limit: the caller sets one.

    Raises:
        ValueError: The process that answers is no Neovim, or its answer is an error.
        msgpack.UnpackException: What was received is no MessagePack, or longer than `LARGEST_ANSWER`.
        anyio.EndOfStream, anyio.BrokenResourceError: The connection has ended.
    """
    unpacker = msgpack.Unpacker(max_buffer_size=LARGEST_ANSWER, unicode_errors="replace")
    while _FACTS not in answers:
        unpacker.feed(await stream.receive())
        for message in unpacker:
            match message:
                case [1, number, None, {"mode": mode, "blocking": waits}] if number == _MODE:
                    answers[_MODE] = str(mode) if waits else None
                case [1, number, None, str(facts)] if number == _FACTS:
                    answers[_FACTS] = json.loads(facts)
                case [2, *_]:
                    pass
                case _:
                    raise ValueError("it refused, or is not a Neovim")


def _request(number: int, method: str, *arguments: object) -> bytes:
    """Return a request of MessagePack-RPC as bytes."""
    return msgpack.packb([0, number, method, arguments])
