"""Translates paths for a debuggee in a container or on another machine.

Above it every file has the name that it has here; the adapter only ever hears of the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dapeer.base.json_types import Value, is_array, is_object
from dapeer.dap.messages import Body, Event, Message, Request, Response
from dapeer.dap.transport import Transport


@dataclass(frozen=True, slots=True)
class PathMapping:
    """A folder here, and its path where the program runs."""

    local: str
    remote: str

    def to_remote(self, path: str) -> str | None:
        r"""Return a file's path there; None if it is in another folder.

        >>> PathMapping("/home/me/shop", "/app").to_remote("/home/me/shop/cart/a.py")
        '/app/cart/a.py'
        >>> PathMapping("/home/me/shop", "C:\\app").to_remote("/home/me/shop/cart/a.py")
        'C:\\app\\cart\\a.py'
        """
        return _moved(path, self.local, self.remote)

    def to_local(self, path: str) -> str | None:
        """Return a file's path here; None if it is in another folder.

        >>> PathMapping("/home/me/shop", "/app").to_local("/app/cart/a.py")
        '/home/me/shop/cart/a.py'
        >>> PathMapping("/home/me/shop", "/app").to_local("/application/a.py")
        """
        return _moved(path, self.remote, self.local)


def mapped(transport: Transport, mappings: Sequence[PathMapping]) -> Transport:
    """Return a transport that translates these paths; the same transport if there are none."""
    return MappedTransport(transport, mappings) if mappings else transport


class MappedTransport:
    """Translates the paths of sources in all messages of another transport."""

    def __init__(self, transport: Transport, mappings: Sequence[PathMapping]) -> None:
        self._transport = transport
        self._mappings = mappings

    async def send(self, message: Message) -> None:
        """Send a message with the other side's paths."""
        await self._transport.send(_translated(message, self._remote))

    async def receive(self) -> Message:
        """Return the next message, with this side's paths."""
        return _translated(await self._transport.receive(), self._local)

    async def send_eof(self) -> None:
        """Say that nothing more will be sent."""
        await self._transport.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        await self._transport.aclose()

    def _remote(self, path: str) -> str:
        return next(filter(None, (each.to_remote(path) for each in self._mappings)), path)

    def _local(self, path: str) -> str:
        return next(filter(None, (each.to_local(path) for each in self._mappings)), path)


def _moved(path: str, old: str, new: str) -> str | None:
    before, after = _separator(old), _separator(new)
    folder = old.rstrip(before)
    rest = path.removeprefix(folder)
    if (path == rest and folder) or not rest.startswith((before, "/")):
        return None
    return new.rstrip(after) + rest.replace(before, after)


def _separator(folder: str) -> str:
    return "\\" if "\\" in folder and "/" not in folder else "/"


# Where the protocol has a `Source`.
_SOURCES = frozenset({"source", "sources", "location"})


def _translated(message: Message, rename: Callable[[str], str]) -> Message:
    match message:
        case Request():
            return replace(message, arguments=_body(message.arguments, rename))
        case Response(command="variables"):
            return message  # long, and there is no source in it
        case Response() | Event():
            return replace(message, body=_body(message.body, rename))


def _body(body: Body, rename: Callable[[str], str]) -> Body:
    return {key: _renamed(key, value, rename) for key, value in body.items()}


def _renamed(key: str, value: Value, rename: Callable[[str], str]) -> Value:
    if is_array(value):
        return [_renamed(key, each, rename) for each in value]
    if not is_object(value):
        return value
    inner = _body(value, rename)
    path = inner.get("path")
    if key not in _SOURCES or not isinstance(path, str):
        return inner
    return {**inner, "path": rename(path)}
