"""One MCP server object for every transport and every protocol version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import anyio
import mcp.types as t
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)

import dapeer
from dapeer.mcp.data_extension import END, EXTENSION, KEEP
from dapeer.mcp.server.clients import (
    Commands,
    Ended,
    EndParams,
    connection_of,
    count_client,
    lifespan,
)
from dapeer.mcp.server.hub import Hub
from dapeer.mcp.server.instructions import instructions
from dapeer.mcp.server.integration import Integration
from dapeer.mcp.server.live import LivePages
from dapeer.mcp.server.prompts import Prompts
from dapeer.mcp.server.resources import Resources
from dapeer.mcp.server.toolbox import (
    KeepParams,
    Selection,
    ServeSocket,
    Toolbox,
    keep_session,
    serve_script,
)
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.debugger.registry import SessionChange
from dapeer.tools.base.call import AnyTool

ALL: Final = Selection()
SECONDS_OF_SILENCE: Final = 10.0
"""Seconds of silence after which a running call reports progress."""


class DapeerServer(Server[Any]):
    """Serves the tools, resources and prompts of one debugger, 2024-11-05 to 2026-07-28."""

    def __init__(
        self,
        debugger: Debugger,
        peers: Peers,
        tools: Iterable[AnyTool],
        selection: Selection,
        integrations: Sequence[Integration],
        *,
        heartbeat: float,
        serve_socket: ServeSocket | None = None,
    ) -> None:
        self.hub = Hub()
        self.debugger = debugger
        self.commands = Commands(debugger)
        self.live_pages = LivePages(debugger, shows_secrets=selection.shows_secrets)
        self._peers = peers
        self._listen = ListenHandler(self.hub)
        scripts = partial(serve_script, partial(serve_socket, self)) if serve_socket else None
        toolbox = self._toolbox = Toolbox(
            debugger, peers, tools, selection, integrations, heartbeat=heartbeat, serve_script=scripts
        )  # fmt: skip
        prompts, secrets = Prompts(integrations, toolbox.note), selection.shows_secrets
        resources = Resources(debugger, integrations, self.hub, shows_secrets=secrets)
        super().__init__(
            "dapeer",
            version=dapeer.__version__,
            title="dapeer debugger",
            instructions=instructions(toolbox.allowed),
            lifespan=lambda _: lifespan(debugger, self.commands),
            cache_hints=_CACHE_HINTS,
            get_tool_input_schema=toolbox.input_schema,
            on_list_tools=toolbox.list,
            on_call_tool=toolbox.call,
            on_list_resources=resources.list,
            on_list_resource_templates=resources.templates,
            on_read_resource=resources.read,
            on_subscribe_resource=resources.subscribe,
            on_unsubscribe_resource=resources.unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=prompts.list,
            on_get_prompt=prompts.get,
        )
        self._handle_notifications()
        # A client asks for data by naming it, too.
        self.extensions[EXTENSION] = {}
        # The SDK traces every message with OpenTelemetry, which is unused here and takes 0.1 ms a call.
        self.middleware.clear()
        debugger.sessions.subscribe(self._debugger_changed)
        peers.subscribe(self._tools_changed)
        self._forward_changes(integrations)

    def _handle_notifications(self) -> None:
        """Register the handlers of dapeer's own request and notifications, and of the end of the handshake."""
        self.add_request_handler(END, EndParams, self._end_of_commands)
        self.add_notification_handler(KEEP, KeepParams, keep_session)
        self.add_notification_handler(
            "notifications/initialized", t.NotificationParams, self._initialized
        )

    def _forward_changes(self, integrations: Sequence[Integration]) -> None:
        """Have changes of the integrations change the lists of tools, prompts and resources."""
        for each in integrations:
            each.subscribe(self._integration_changed)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the SDK's options with `listChanged` advertised, without which clients ignore changes."""
        return super().create_initialization_options(
            notification_options or _CHANGES, experimental_capabilities, extensions
        )

    async def end_calls(self) -> None:
        """End every open call: wait a moment for its result, then cancel it, so that its client gets an error.

        Between the two, calls of tools of attached Neovims are ended: a tool may have named a result for this case. Later calls are not
        prevented. It takes some seconds at most.
        """
        await self._toolbox.calls.wait_for_none()
        async with anyio.create_task_group() as group:
            for peer in self._peers.attached.values():
                group.start_soon(peer.end_calls)
        await self._toolbox.calls.give_up()

    def close_streams(self) -> None:
        """End the streams of changes of clients since MCP 2026-07-28, and those of pages.

        The clients get the results of their requests.
        """
        self._listen.close()
        self.live_pages.close()

    def _debugger_changed(self, change: SessionChange) -> None:
        """Pass a change of the debugger on to clients, and update the list of tools if that is outdated.

        It is outdated if adapters support other things now.
        """
        self.hub.note_session_change(change)
        if change.kind in ("sessions", "capabilities") and self._toolbox.outdated:
            self._tools_changed()

    def _tools_changed(self) -> None:
        """Make the list of tools anew, and notify clients if it has changed."""
        if self._toolbox.refresh():
            self.hub.note(ToolsListChanged())

    def _integration_changed(self) -> None:
        """Make the list of tools anew, and notify clients of changed prompts and resources."""
        self._tools_changed()
        self.hub.note(PromptsListChanged())
        self.hub.note(ResourcesListChanged())

    async def _end_of_commands(
        self, _context: ServerRequestContext[Any, Any], _params: EndParams
    ) -> Ended:
        """Answer `dapeer end --all`: end the sessions of commands; say whether no other program is left."""
        lines = await self.commands.end_sessions()
        return Ended(lines=lines, alone=not self.debugger.sessions.programs)

    async def _initialized(
        self, context: ServerRequestContext[Any, Any], _params: t.NotificationParams
    ) -> None:
        """Begin to notify the client at a connection of changes, and count it among those that people see."""
        self.hub.subscriber_of(connection_of(context))
        count_client(context, self._peers.connected_clients)


def make_server(
    debugger: Debugger,
    tools: Iterable[AnyTool],
    *,
    peers: Peers | None = None,
    selection: Selection = ALL,
    integrations: Sequence[Integration] = (),
    heartbeat: float = SECONDS_OF_SILENCE,
    serve_socket: ServeSocket | None = None,
) -> DapeerServer:
    """Return an MCP server for `debugger` with the chosen tools.

    Args:
        debugger: Its sessions are shown, and its changes announced.
        tools: All tools of dapeer's own.
        peers: The attached Neovims; None: there are none, and there can be none.
        selection: Which of the tools are offered, and what answers show.
        integrations: Other programs that offer tools, prompts and resources here.
        heartbeat: Seconds of silence after which a call reports progress.
        serve_socket: Serves a client at a socket, as scripts need it; None: no script can be run.
    """
    return DapeerServer(
        debugger, peers or Peers(debugger), tools, selection, integrations,
        heartbeat=heartbeat, serve_socket=serve_socket,
    )  # fmt: skip


_CHANGES = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)

# Lists change at any moment, so they must not be cached.
_CACHE_HINTS: dict[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=0, scope="private"),
    "prompts/list": CacheHint(ttl_ms=0, scope="private"),
    "resources/list": CacheHint(ttl_ms=0, scope="private"),
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
}
