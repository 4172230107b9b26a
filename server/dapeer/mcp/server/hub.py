"""Notifies every client of changes, in the way its protocol version expects."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import anyio
from mcp.server.connection import Connection
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged

from dapeer.base.system.tasks import BackgroundTask, Timer, later
from dapeer.mcp.server.uris import SESSIONS, output_uri, session_uri
from dapeer.sessions.debugger.registry import SessionChange

log = logging.getLogger(__name__)

SECONDS_BETWEEN_CHANGES: Final = 0.1
"""Seconds between two announcements of the same change, at least."""

Listener = Callable[[ServerEvent], None]


class Hub:
    """Gathers changes and announces each once per `SPACING`.

    Up to 2025-11-25 a change is a notification on the connection; since 2026-07-28 it is an item of
    a stream that the client has asked for. Both are listeners here: a `Subscriber` for the one, the SDK's
    `ListenHandler` for the other, for which the hub is the `SubscriptionBus`. A listener only notes
    an event, so a client that does not read holds up nobody.

    A change means "look again", so equal ones are one: a hundred thousand changes of a session's
    output are as many insertions into one set.
    """

    def __init__(self) -> None:
        self._changes: dict[SessionChange | ServerEvent, None] = {}
        self._listeners: dict[object, Listener] = {}
        self._peers: dict[str, Subscriber] = {}
        self._timer: Timer | None = None

    def changed(self, change: SessionChange) -> None:
        """Note a change of the debugger. Cheap, and never blocks."""
        self.note(change)

    def note(self, change: SessionChange | ServerEvent) -> None:
        """Note a change, to be announced with those that follow soon."""
        self._changes[change] = None
        if self._timer is None:
            # The first notification after a pause is sent at once; later ones are merged.
            self._timer = later(0, self._flush)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, until the function that is returned is called."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Announce an event now."""
        self._announce(event)

    def attach(self, connection: Connection) -> Subscriber:
        """Return the peer of a connection of the handshake era; it lives as long as the connection."""
        peer = connection.state.get("dapeer.peer")
        if isinstance(peer, Subscriber):
            return peer
        peer = connection.state["dapeer.peer"] = Subscriber(connection)
        connection.exit_stack.push_async_callback(peer.aclose)
        connection.exit_stack.callback(self.subscribe(peer))
        if connection.session_id is not None:
            self._peers[connection.session_id] = peer
            connection.exit_stack.callback(self._peers.pop, connection.session_id, None)
        return peer

    def opened(self, http_session: str) -> None:
        """Send an HTTP client that has just opened its stream what it has missed."""
        if peer := self._peers.get(http_session):
            peer.repeat()

    def _flush(self) -> None:
        if not self._changes:
            self._timer = None
            return
        changes, self._changes = self._changes, {}
        for event in dict.fromkeys(event for change in changes for event in events(change)):
            self._announce(event)
        self._timer = later(SECONDS_BETWEEN_CHANGES, self._flush)

    def _announce(self, event: ServerEvent) -> None:
        for listener in list(self._listeners.values()):
            listener(event)


class Subscriber:
    """A connection with a handshake: its subscriptions, and its one sending task."""

    def __init__(self, connection: Connection) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._pending: dict[ServerEvent, None] = {}
        self._notified: dict[ServerEvent, None] = {}
        self._wake = anyio.Event()
        self._pump = BackgroundTask(self._send_all())

    def __call__(self, event: ServerEvent) -> None:
        """Note an event, to be sent as soon as the client reads."""
        if isinstance(event, ResourceUpdated) and event.uri not in self.uris:
            return
        self._notified[event] = None
        self._pending[event] = None
        self._wake.set()

    def repeat(self) -> None:
        """Repeat notifications sent while the client had no stream: HTTP drops them silently."""
        self._pending.update(self._notified)
        self._wake.set()

    async def aclose(self) -> None:
        """Stop sending."""
        self._pump.cancel()
        await self._pump.ended()

    async def _send_all(self) -> None:
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            while self._pending:
                event = next(iter(self._pending))
                del self._pending[event]
                await _send(self._connection, event)


async def _send(connection: Connection, event: ServerEvent) -> None:
    match event:
        case ResourceUpdated(uri):
            await connection.send_resource_updated(uri)
        case ResourcesListChanged():
            await connection.send_resource_list_changed()
        case ToolsListChanged():
            await connection.send_tool_list_changed()
        case PromptsListChanged():
            await connection.send_prompt_list_changed()


def events(change: SessionChange | ServerEvent) -> tuple[ServerEvent, ...]:
    """Return the notifications of a change. Pure."""
    if not isinstance(change, SessionChange):
        return (change,)
    match change.kind:
        case "sessions":
            return ResourcesListChanged(), ResourceUpdated(SESSIONS)
        case "state":
            return ResourceUpdated(SESSIONS), ResourceUpdated(session_uri(change.session_id))
        case "output":
            return (ResourceUpdated(output_uri(change.session_id)),)
        case "capabilities":
            return ()
