"""One quick look at a Neovim: does it live, does it answer, what is it?

Small enough to ask twenty Neovims at once and to give up in the middle, which a connection that is
meant to stay cannot: no thread, no handshake, nothing left behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from dapeer.errors import Stranger
from dapeer.neovim.discovery.sockets import HOST_AND_PORT
from dapeer.system.ownership import check_peer

SECONDS: Final = 0.5
"""How long a Neovim may take to answer before it counts as busy."""

_LOOK: Final = """
local function port()
  local ok, dapeer = pcall(function() return package.loaded.dapeer end)
  if not ok or type(dapeer) ~= 'table' or type(dapeer.get_port) ~= 'function' then return nil end
  local answered, found = pcall(dapeer.get_port)
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
  port = port(),
  dap = package.loaded.dap ~= nil,
})
"""
"""Loads nothing: what a person has not loaded stays so."""

_MODE, _FACTS = 1, 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What a Neovim has said in time."""

    facts: Mapping[str, Any] | None = None
    """None: it lives, and does not answer."""
    mode: str | None = None
    """The mode in which it waits for a key; None: it works, or answers."""


async def probe(address: str, seconds: float = SECONDS) -> Answer | None:
    """Look at a Neovim; None: nobody is there, or it is no Neovim.

    Args:
        address: A path, or `host:port`.
        seconds: How long to wait in all.

    Raises:
        Stranger: Another user of this machine listens there; nothing was said.
    """
    said: dict[int, Any] = {}
    with anyio.move_on_after(seconds):
        try:
            async with await _connect(address) as stream:
                await stream.send(
                    _request(_MODE, "nvim_get_mode") + _request(_FACTS, "nvim_exec_lua")
                )
                await _listen(stream, said)
        except (OSError, ValueError, anyio.EndOfStream, anyio.BrokenResourceError):
            return None
    mode: Mapping[str, Any] = said.get(_MODE, {})
    return Answer(said.get(_FACTS), mode.get("mode") if mode.get("blocking") else None)


async def _connect(address: str) -> ByteStream:
    match = HOST_AND_PORT.fullmatch(address)
    if match is None:
        stream: SocketStream = await anyio.connect_unix(address)
    else:
        stream = await anyio.connect_tcp(match["host"].strip("[]"), int(match["port"]))
    try:
        check_peer(stream.extra(SocketAttribute.raw_socket), address)  # noqa: S610 - this is no database
    except (OSError, Stranger):
        await stream.aclose()
        raise
    return stream


async def _listen(stream: ByteStream, said: dict[int, Any]) -> None:
    """Note the answers as they come, until all are there.

    Raises:
        ValueError: Whoever talks is no Neovim.
    """
    pending = bytearray()
    while _FACTS not in said:
        pending += await stream.receive()
        for message in _taken(pending):
            match message:
                case [1, int(number), None, answer]:
                    said[number] = json.loads(answer) if number == _FACTS else answer
                case [2, *_]:
                    pass
                case _:
                    raise ValueError("it refused, or is not a Neovim")


def _request(number: int, method: str) -> bytes:
    """Return a request of MessagePack-RPC; only the look at the facts has arguments."""
    code = _LOOK.encode()
    arguments = (
        b"\x92\xda" + len(code).to_bytes(2) + code + b"\x90" if number == _FACTS else b"\x90"
    )
    name = method.encode()
    return bytes((0x94, 0, number, 0xA0 + len(name))) + name + arguments


def _taken(pending: bytearray) -> Iterator[Any]:
    """Take the complete messages off the front of what has come, one by one."""
    while pending:
        try:
            message, end = _decoded(pending, 0)
        except IndexError:
            return
        del pending[:end]
        yield message


def _decoded(data: bytearray, at: int) -> tuple[Any, int]:
    """Decode as much of MessagePack as answers to our questions can hold; return the end too.

    Raises:
        IndexError: There is more to come.
        ValueError: It is something else.
    """
    kind, at = data[at], at + 1
    match kind:
        case _ if kind < 0x80:
            return kind, at
        case _ if kind < 0xA0:
            return _collected(data, at, kind)
        case _ if kind < 0xC0:
            return _text(data, at, kind - 0xA0)
        case 0xC0 | 0xC2 | 0xC3:
            return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
        case 0xD9 | 0xDA | 0xDB:
            width = 1 << (kind - 0xD9)
            return _text(data, at + width, int.from_bytes(_bytes(data, at, width)))
        case _:
            raise ValueError("this is not an answer of a Neovim")


def _collected(data: bytearray, at: int, kind: int) -> tuple[Any, int]:
    items: list[Any] = []
    is_map = kind < 0x90
    for _ in range((kind & 0x0F) * (2 if is_map else 1)):
        item, at = _decoded(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2], strict=True)) if is_map else items), at


def _text(data: bytearray, at: int, length: int) -> tuple[str, int]:
    return _bytes(data, at, length).decode(errors="replace"), at + length


def _bytes(data: bytearray, at: int, length: int) -> bytearray:
    if len(data) < at + length:
        raise IndexError
    return data[at : at + length]
