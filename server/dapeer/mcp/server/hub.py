"""Notifies every client of changes, in the way its protocol version expects."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio
from mcp.server.connection import Connection
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged

from dapeer.base.system.tasks import BackgroundTask, Timer, call_after
from dapeer.sessions.debugger.registry import SessionChange

# The addresses of resources that a client can read and subscribe to.

SESSIONS: Final = "debug://sessions"
SESSION_TEMPLATE: Final = "debug://sessions/{id}"
OUTPUT_TEMPLATE: Final = "debug://sessions/{id}/output{?since}"

# More digits than any session or cursor has.
_SESSION = re.compile(
    r"debug://sessions/(?P<id>[1-9][0-9]{0,8})(?P<output>/output(\?since=(?P<since>[0-9]{1,15}))?)?"
)


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """The resource at an address: a session's state, or its program's output."""

    session: int
    output: bool = False
    cursor: int | None = None
    """The cursor from which output is returned; None: its newest part."""


def session_uri(session_id: int) -> str:
    """Return the address of one session's state."""
    return f"{SESSIONS}/{session_id}"


def output_uri(session_id: int, since: int | None = None) -> str:
    """Return the address of a program's output, from a cursor on, or its newest part."""
    return f"{SESSIONS}/{session_id}/output{'' if since is None else f'?since={since}'}"


def parse_resource_uri(uri: str) -> ResourceAddress | None:
    """Return what the address of a resource names; None: it is no address of a session's.

    >>> parse_resource_uri("debug://sessions/12/output?since=7")
    ResourceAddress(session=12, output=True, cursor=7)
    >>> parse_resource_uri("debug://sessions/12")
    ResourceAddress(session=12, output=False, cursor=None)
    >>> parse_resource_uri("debug://sessions/twelve")
    """
    match = _SESSION.fullmatch(uri)
    if match is None:
        return None
    since = None if match["since"] is None else int(match["since"])
    return ResourceAddress(int(match["id"]), match["output"] is not None, since)


log = logging.getLogger(__name__)

SECONDS_BETWEEN_CHANGES: Final = 0.1
"""Seconds between two announcements of the same change, at least."""

Listener = Callable[[ServerEvent], None]


class Hub:
    """Gathers changes and announces each once per `SECONDS_BETWEEN_CHANGES`.

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

    def note_session_change(self, change: SessionChange) -> None:
        """Note a change of the debugger, which clients are told soon. It never blocks."""
        self.note(change)

    def note(self, change: SessionChange | ServerEvent) -> None:
        """Note a change, whose events the listeners get at the next turn of the event loop or soon after.

        Equal changes that come meanwhile are one, and so are equal events of different changes. After a pause the events go at once, then
        at most every `SECONDS_BETWEEN_CHANGES`.
        """
        self._changes[change] = None
        if self._timer is None:
            # The first notification after a pause is sent at once; later ones are merged.
            self._timer = call_after(0, self._flush)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, until the function that is returned is called.

        The listener is called in the event loop: soon after a change that was noted (equal events of a short
        time are one), and at once for an event that is published. It must not block or raise: an error keeps
        the events of that time from later listeners, and reaches the caller of `publish`. The returned function may be called
        twice.
        """
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Give all listeners an event at once."""
        self._announce(event)

    def subscriber_of(self, connection: Connection) -> Subscriber:
        """Return the subscriber of a connection that began with a handshake; make it if it is new.

        A new one gets all events from then on, and sends them to the client in a background task; of updates of resources only those in
        its `uris`, at first none. It ends with the connection. A connection by HTTP is also kept under its session's id, for
        `repeat_missed`.
        """
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

    def repeat_missed(self, http_session: str) -> None:
        """Send an HTTP client again what it may have missed, now that it has opened its stream.

        That is each notification that was ever sent to it, once. `http_session` is its session's id in MCP's header; an unknown one is
        ignored.
        """
        if peer := self._peers.get(http_session):
            peer.send_all_again()

    def _flush(self) -> None:
        """Give all listeners the events of the changes that were noted, each once.

        The timer for the next time is set, unless nothing was noted; what a listener raises leaves after that.
        """
        if not self._changes:
            self._timer = None
            return
        self._timer = call_after(SECONDS_BETWEEN_CHANGES, self._flush)
        changes, self._changes = self._changes, {}
        for event in dict.fromkeys(
            event for change in changes for event in events_of_change(change)
        ):
            self._announce(event)

    def _announce(self, event: ServerEvent) -> None:
        for listener in list(self._listeners.values()):
            listener(event)


class Subscriber:
    """A connection with a handshake: its subscriptions, and its one sending task."""

    def __init__(self, connection: Connection) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._pending_events: dict[ServerEvent, None] = {}
        self._notified_events: dict[ServerEvent, None] = {}
        self._wake_event = anyio.Event()
        self._pump = BackgroundTask(self._send_all())

    def __call__(self, event: ServerEvent) -> None:
        """Note an event, to be sent as soon as the client reads.

        An update of a resource is ignored unless the client has subscribed to that.
        """
        if isinstance(event, ResourceUpdated) and event.uri not in self.uris:
            return
        self._notified_events[event] = None
        self._pending_events[event] = None
        self._wake_event.set()

    def send_all_again(self) -> None:
        """Send all notifications again that were ever sent: HTTP drops those for which there is no stream."""
        self._pending_events.update(self._notified_events)
        self._wake_event.set()

    async def aclose(self) -> None:
        """Stop sending, and wait for the end of the task that sends."""
        self._pump.cancel()
        await self._pump.wait_for_end()

    async def _send_all(self) -> None:
        """Send pending events one after the other, and wait for more, until cancelled."""
        while True:
            await self._wake_event.wait()
            self._wake_event = anyio.Event()
            while self._pending_events:
                event = next(iter(self._pending_events))
                del self._pending_events[event]
                await _send(self._connection, event)


async def _send(connection: Connection, event: ServerEvent) -> None:
    """Send an event on a list or resource to a client as MCP's notification; any other is dropped."""
    match event:
        case ResourceUpdated(uri):
            await connection.send_resource_updated(uri)
        case ResourcesListChanged():
            await connection.send_resource_list_changed()
        case ToolsListChanged():
            await connection.send_tool_list_changed()
        case PromptsListChanged():
            await connection.send_prompt_list_changed()


def events_of_change(change: SessionChange | ServerEvent) -> tuple[ServerEvent, ...]:
    """Return the events for clients that a change causes, in order.

    An event is returned as the only one. A change of capabilities causes none.
    """
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
