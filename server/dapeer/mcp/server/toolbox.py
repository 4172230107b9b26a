"""The tools that one server offers: listed, found and called."""

from __future__ import annotations

import logging
import math
import socket
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, Self, TypeVar

import anyio
import anyio.lowlevel
import mcp.types as t
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from dapeer.base.errors import ArgumentError, DapeerError, system_error
from dapeer.base.system.environment import use_starter_environment
from dapeer.base.system.tasks import BackgroundTask, Timer, call_after
from dapeer.base.text.fitting import shortened
from dapeer.mcp.server import results
from dapeer.mcp.server.clients import (
    asks_for_data,
    client_of,
    commands_of,
    count_client,
    environment_of,
    focus_of,
    settings_of,
)
from dapeer.mcp.server.instructions import advice_for_unknown_tool, hidden_tools_note
from dapeer.mcp.server.integration import Integration
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base.call import AnyTool, Call, ScriptClient, ServeScript
from dapeer.tools.base.tool import Tool
from dapeer.tools.neovim import GROUPS, PREFIX, neovim_tools

# Scripts as clients: each is served at a socket of its own, in the name of the client that runs it.

SCRIPT: Final[ContextVar[ScriptClient | None]] = ContextVar("script", default=None)
"""The script whose requests are being answered; None: the requests are another client's.

All tasks that answer a connection are begun by the one that serves it, so they inherit this.
"""


class ServeSocket(Protocol):
    """Serves one client at a socket, and closes that."""

    async def __call__(self, server: Server[Any], connection: socket.socket, /) -> None:
        """Return when the client has disconnected."""
        ...


async def serve_script(
    serve: Callable[[socket.socket], Awaitable[None]],
    connection: socket.socket,
    script: ScriptClient,
) -> None:
    """Serve a script at a socket until it disconnects; its calls act on the script's own default session.

    `serve` serves any client at a socket.
    """
    SCRIPT.set(script)
    await serve(connection)


class KeepParams(t.NotificationParams):
    """Which session a script keeps."""

    session_id: int


async def keep_session(_context: ServerRequestContext[Any, Any], params: KeepParams) -> None:
    """Note, for a script that sends this notification, that one of its sessions is to outlive it.

    From other clients it is ignored.
    """
    if (script := SCRIPT.get()) is not None:
        script.outliving_sessions.add(params.session_id)


# The calls that are being answered: until their server is to end, or their client has left.

SECONDS_TO_ANSWER: Final = 0.5
"""For open calls once their server is to end: a Neovim that ends has just decided what was open."""
SECONDS_TO_GIVE_UP: Final = 0.5
"""What they may take then to stop what they do."""

PRESENCE: Final = "dapeer.presence"
"""Where the ASGI scope of a request holds whether its client is there."""

T = TypeVar("T")


class Calls:
    """The calls that are being answered."""

    def __init__(self) -> None:
        self._count = 0
        self._none_event = anyio.Event()
        self._none_event.set()
        self._scopes: set[anyio.CancelScope] = set()

    @contextmanager
    def count_one(self) -> Generator[None]:
        """Count one call more while the body answers it, so that `wait_for_none` waits for its end."""
        if not self._count:
            self._none_event = anyio.Event()
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none_event.set()

    async def run_until_given_up(self, work: Awaitable[T]) -> T | None:
        """Await the work of a call, and return its result; None: `give_up` has cancelled it.

        What the work raises, and a cancellation from elsewhere, leave here.
        """
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                return await work
            finally:
                self._scopes.discard(scope)
        return None

    async def wait_for_none(self) -> None:
        """Wait until all calls are answered, for at most `SECONDS_TO_ANSWER`."""
        with anyio.move_on_after(SECONDS_TO_ANSWER):
            await self._none_event.wait()
        # What was answered last is written by now.
        await anyio.lowlevel.checkpoint()

    async def give_up(self) -> None:
        """Cancel all calls that are still open, and wait a moment until their clients have got errors."""
        for scope in list(self._scopes):
            scope.cancel()
        with anyio.move_on_after(SECONDS_TO_GIVE_UP):
            await self.wait_for_none()


class ClientPresence:
    """Whether the client of one HTTP request is still there.

    In MCP up to 2025-11-25 a client that disconnects has not cancelled its request, since it may fetch the answer
    later. dapeer keeps no answers for that, so it cancels: a question to a person must end.
    """

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        scope[PRESENCE] = self
        self._has_left = False
        self._callbacks: list[Callable[[], None]] = []

    def leave(self) -> None:
        """Note that the client has disconnected, and call all callbacks, once."""
        self._has_left = True
        for callback in self._callbacks:
            callback()
        self._callbacks.clear()

    def on_leave(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client disconnects, or at once if it has."""
        if self._has_left:
            callback()
        else:
            self._callbacks.append(callback)


async def run_while_connected(request: Any, work: Awaitable[T]) -> T | None:  # noqa: ANN401 - what the SDK hands on, if anything
    """Await the work for a client's request, and return its result; cancel it if the client disconnects.

    `request` is the HTTP request that the SDK hands on, or None for other transports, whose connection ends the work by itself. None is
    returned if the client has left. What the work raises leaves here.
    """
    presence: ClientPresence | None = getattr(request, "scope", {}).get(PRESENCE)
    # That of a client with a connection of its own ends with the connection.
    if presence is None:
        return await work
    with anyio.CancelScope() as scope:
        presence.on_leave(scope.cancel)
        return await work
    return None


# The progress notifications of one tool call.

SECONDS_BETWEEN_NOTIFICATIONS: Final = 0.1
"""Seconds between two notifications of one call, at least."""

A_LITTLE: Final = 1e-6


class Progress:
    """Reports the progress of one call to its client.

    A message goes out at once, or, when the one before has just left, as soon as `SECONDS_BETWEEN_NOTIFICATIONS` have
    passed; then only the newest counts. After `beat` seconds of silence the newest message is sent
    again: clients give up on calls that say nothing. The number says how far the call is, where
    it tells that; else only that there is progress. It must increase.

    A call without a client that listens costs one timer and no task.
    """

    def __init__(self, send: results.Send, beat: float, title: str) -> None:
        self._send = send
        self._beat = beat
        self._text = title
        self._number = 0.0
        self._done_amount: float | None = None
        self._total_amount: float | None = None
        self._has_unsent = False
        self._last_sent_at = -math.inf
        self._send_task: BackgroundTask[None] | None = None
        self._timer: Timer | None = None

    def __enter__(self) -> Self:
        self._arm(self._beat)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._send_task is not None:
            self._send_task.cancel()

    async def __call__(
        self, text: str, done: float | None = None, total: float | None = None
    ) -> None:
        """Report progress to the client, now or as soon as the pause after the last report is over.

        `text` is the message; an empty one repeats the last. `done` of `total` says how far the call is; None: unknown.
        """
        self._text = text or self._text
        if done is not None:
            self._done_amount, self._total_amount, self._has_unsent = done, total, True
        wait = self._last_sent_at + SECONDS_BETWEEN_NOTIFICATIONS - anyio.current_time()
        if wait > 0:
            self._arm(wait)
        else:
            await self._report()

    async def flush(self) -> None:
        """Send how far the call has come, if a report of that is still waiting."""
        if self._has_unsent:
            await self._report()

    async def _report(self) -> None:
        """Send the newest message and number to the client, and set the timer for the next report.

        It waits until the client has taken the report. The timer repeats the message after `beat` seconds without a newer one.
        """
        self._number = self._next_number()
        self._last_sent_at = anyio.current_time()
        self._has_unsent = False
        self._arm(self._beat)
        await self._send(self._number, self._total_amount, self._text)

    def _next_number(self) -> float:
        """Return the number of the next report, which is greater than the one before.

        It is the amount done, where that is known, or a little more than the last number if it has not grown; else the last number plus 1.
        """
        if self._done_amount is None:
            return self._number + 1
        # A repeated value must not look like progress.
        is_running = self._last_sent_at > -math.inf
        return max(self._done_amount, self._number + A_LITTLE) if is_running else self._done_amount

    def _arm(self, seconds: float) -> None:
        """Set the timer anew: `_report_when_due` is called after `seconds`."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = call_after(seconds, self._report_when_due)

    def _report_when_due(self) -> None:
        """Report in the background, unless the report before is still being sent; then try again later."""
        # A client that does not read must not pile up tasks that wait for it.
        if self._send_task is None or self._send_task.done:
            self._send_task = BackgroundTask(self._report())
        else:
            self._arm(self._beat)


log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

LEAN: Final = "lean"
"""The group of the tools with which an agent of its own finds a bug: at most 12, and 6 KB."""
SERVER_ENDED: Final = "The dapeer server has ended before this call. Check with dap_status, at the next server, whether it was done."
OLD_PREFIX: Final = "nvim_dap_"
"""How mcp-tools.nvim named its debugging tools; accepted from old prompts, never listed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tools are offered, whether they show secrets, and which clients get data."""

    read_only: bool = False
    """Only those that change nothing."""
    groups: Sequence[str] | None = None
    """None: all of them."""
    shows_secrets: bool = False
    gives_data: Callable[[Context], bool] = asks_for_data

    def __str__(self) -> str:
        groups = f"--tools {','.join(self.groups or ())}" * bool(self.groups)
        return f"{'--read-only' * self.read_only} {groups}".strip()

    def allows(self, tool: AnyTool) -> bool:
        """Whether a tool is among the selected groups, and, for a read-only server, changes nothing.

        Without a selection of groups every tool is among them.
        """
        is_selected = self.groups is None or not set(self.groups).isdisjoint(_groups(tool))
        return is_selected and (tool.read_only or not self.read_only)

    def check(self, tools: Iterable[AnyTool]) -> None:
        """Raise an error if a selected group has no tool; without a selection of groups nothing happens.

        `tools` are all tools that the server has of its own; the groups of a Neovim's tools are known without them.

        Raises:
            ArgumentError: No tool belongs to a selected group; the error names the group, and the groups that there
                are.
        """
        known = sorted({group for tool in tools for group in _groups(tool)}.union(GROUPS))
        for group in self.groups or ():
            if group not in known:
                raise ArgumentError(
                    f"No tools belong to the group `{group}`.", f"Groups: {', '.join(known)}."
                )


def _groups(tool: AnyTool) -> Sequence[str]:
    """Return the groups that select a tool, `lean` included."""
    return (*tool.groups, LEAN) if isinstance(tool, Tool) and tool.is_lean else tool.groups


class Toolbox:
    """Answers `tools/list` and `tools/call` from memory."""

    def __init__(
        self,
        debugger: Debugger,
        peers: Peers,
        tools: Iterable[AnyTool],
        selection: Selection,
        integrations: Sequence[Integration],
        *,
        heartbeat: float,
        serve_script: ServeScript | None = None,
    ) -> None:
        """`serve_script` serves scripts of clients; None: they can run none."""
        self._debugger = debugger
        self._peers = peers
        self._heartbeat = heartbeat
        self._integrations = integrations
        self.calls = Calls()
        self._serve_script = serve_script
        self._selection = selection
        self._own_tools = {tool.name: tool for tool in tools}
        self._hidden_tools = {
            name for name, tool in self._own_tools.items() if not selection.allows(tool)
        }
        self.note = partial(hidden_tools_note, hidden=self._hidden_tools, options=str(selection))
        own = [tool for tool in self._own_tools.values() if isinstance(tool, Tool)]
        self._all_needs = frozenset(need for tool in own for need in tool.all_needs)
        self._supported: frozenset[str] = frozenset()
        self._tools: Mapping[str, AnyTool] = {}
        self._of_neovim: Mapping[str, AnyTool] = {}
        self._listing = t.ListToolsResult(tools=[])
        self._listings: dict[tuple[frozenset[str], bool], t.ListToolsResult] = {}
        """The lists made of it: without these tools, with data and without."""
        self.refresh()

    @property
    def outdated(self) -> bool:
        """Whether the adapters of the live sessions support other things than the list says."""
        return self._supported != self._debugger.sessions.supported(self._all_needs)

    @property
    def allowed(self) -> Collection[str]:
        """The names of our tools that this server may ever list, and `nvim_` if it may list a Neovim's."""
        groups = self._selection.groups
        any_of_neovim = groups is None or not set(GROUPS).isdisjoint(groups)
        return {
            *(self._own_tools.keys() - self._hidden_tools),
            *([PREFIX] if any_of_neovim else ()),
        }

    def refresh(self) -> bool:
        """Make the list of tools anew, from adapters, Neovims and integrations; return whether it has changed.

        The adapters, with what they support now, decide which tools and arguments are listed; tools that the user's
        selection does not allow are left out. A tool of a Neovim with the name of dapeer's own is left out, too,
        and reported to that Neovim as refused. The listings that were kept for clients are dropped. Notifying
        clients of a change is left to the caller.
        """
        supported = self._supported = self._debugger.sessions.supported(self._all_needs)
        others = [tool for each in self._integrations for tool in each.offered]
        offered = [
            *self._own_tools.values(),
            *others,
            *neovim_tools(self._peers, taken=self._own_tools),
        ]
        allowed = filter(self._selection.allows, offered)
        # > Servers SHOULD return tools in a deterministic order.
        self._tools = {tool.name: tool for tool in sorted(allowed, key=lambda tool: tool.name)}
        known = {tool.name for tool in others}.union(self._own_tools)
        self._of_neovim = {name: tool for name, tool in self._tools.items() if name not in known}
        before, self._listing = self._listing, _listing(self._tools, supported)
        self._listings.clear()
        return before != self._listing

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool's arguments; None: there is no such tool.

        Without this function the SDK would list all tools for every call.
        """
        tool = self._tools.get(self._listed_name(name))
        return tool.input_schema if tool else None

    async def list(
        self, context: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListToolsResult:
        """Answer `tools/list`: the tools for this client, with the schemas of their data if it reads data.

        Tools of integrations that are not for this client are left out. The answer is kept until the tools change.

        Raises:
            MCPError: The request has a cursor, though all is one page.
        """
        results.check_cursor(params)
        client = client_of(context)
        not_for_it = (each for each in self._integrations if not each.is_for(client))
        left_out = frozenset(tool.name for each in not_for_it for tool in each.tools)
        kind = (left_out, self._selection.gives_data(context))
        if kind not in self._listings:
            self._listings[kind] = self._listing_for(*kind)
        return self._listings[kind]

    def _listing_for(self, left_out: frozenset[str], data: bool) -> t.ListToolsResult:
        """Return the list without some tools; with `data`, each has the schema of its data."""
        tools = [tool for tool in self._listing.tools if tool.name not in left_out]
        # > If an output schema is provided: Servers MUST provide structured results.
        return t.ListToolsResult(tools=[self._with_data(one) for one in tools] if data else tools)

    def _with_data(self, listed: t.Tool) -> t.Tool:
        """Return a listed tool with the schema of its data, if it has one."""
        schema = self._tools[listed.name].output_schema
        return listed.model_copy(update={"output_schema": dict(schema)}) if schema else listed

    async def call(self, context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
        """Answer `tools/call`: run the tool, and return its result.

        An error of a tool is a result, which the model reads; so is the end of the server or of the client. Long
        texts of the arguments are cut where the answer repeats them, and a line says if the answer names tools
        that this server hides. If the client is a command of dapeer's command line, the result's `_meta` has the
        news of sessions that were ended or resumed without that command.

        Raises:
            MCPError: There is no such tool.
        """
        tool = self._find(params.name)
        with self.calls.count_one():
            arguments = params.arguments or {}
            finish = results.finisher_for(
                tool,
                arguments,
                self.note,
                shows_secrets=self._selection.shows_secrets,
                with_data=self._selection.gives_data(context),
            )
            work = self._run(context, tool, arguments, finish)
            answer = await self.calls.run_until_given_up(
                self._await_result(context, tool, work, finish)
            )
        answer = answer or finish.failed(SERVER_ENDED)
        if settings_of(context) is None:
            return answer
        news = results.ResultFinisher(masks=not self._selection.shows_secrets)
        return results.with_news(answer, [*map(news.text, commands_of(context).take_news())])

    async def _await_result(
        self,
        context: Context,
        tool: AnyTool,
        work: Awaitable[t.CallToolResult],
        finish: results.ResultFinisher,
    ) -> t.CallToolResult:
        """Await the work of a call, and return its result.

        An error, or the end of the client, becomes a failed result that says so; only a cancellation is raised. If the
        HTTP client leaves, the work is cancelled. `finish` makes the failed results, and masks what errors say. That
        the system lacks a resource, such as room on a disk, is told as such; any other error that is no `DapeerError`
        is a bug of dapeer's: it is logged with its traceback, and the result names `tool`. `context` is the request's.
        """
        try:
            result = await run_while_connected(context.request, work)
        except DapeerError as error:
            return finish.error(error)
        except Exception as error:
            if message := system_error(error):
                return finish.failed(str(message))
            log.exception("%s failed", tool.name)
            return finish.failed(
                f"Internal error in {tool.name}: {type(error).__name__}. This is a bug in dapeer: "
                "please report it with the traceback from its log (stderr, or --log-file)."
            )
        return result or finish.failed("The client has disconnected.")

    async def _run(
        self,
        context: Context,
        tool: AnyTool,
        arguments: Mapping[str, Any],
        finish: results.ResultFinisher,
    ) -> t.CallToolResult:
        """Run a tool for a client, and return its answer in MCP's form.

        The client counts as present from then on, as people see it, and sessions that commands have started do
        not count as left alone. The call waits up to a second for the first search for Neovims, if that is under
        way. Progress is sent to the client meanwhile. Answer and progress pass `finish`, which masks secrets.
        `arguments` are the call's, by name, not checked yet. A call that a script makes is made in the name of
        the script's client.

        Raises:
            DapeerError: Any error of the tool.
        """
        count_client(context, self._peers.connected_clients)
        await self._peers.search.wait_for_first_search()
        script, send = SCRIPT.get(), finish.progress(context.session.report_progress)
        with Progress(send, self._heartbeat, tool.title) as progress:
            call = Call(
                self._debugger,
                progress,
                self._peers,
                script.focus if script else focus_of(context, self._debugger),
                script.client if script else client_of(context),
                self._of_neovim,
                [each.object_for_tools for each in self._integrations],
                self._selection.read_only,
                serve_script=None if script else self._serve_script,
            )
            commands_of(context).note_use()
            with use_starter_environment(environment_of(settings_of(context))):
                reply = await tool(call, arguments)
            commands_of(context).note_use()
            result = finish.answer(reply)
            await progress.flush()
        return result

    def _find(self, name: str) -> AnyTool:
        """Return the offered tool with this name, or with the name that an old prompt means.

        `name` may have a prefix more or less (`_listed_name`). Tools of a Neovim are among them while it is attached.

        Raises:
            MCPError: There is none; the error says what to call instead.
        """
        tool = self._tools.get(self._listed_name(name))
        if tool is None:
            # Anything may be asked for; comparing takes as long as it is.
            shown = shortened(name, results.LONGEST_NAME)
            if name.startswith(PREFIX) and not self._of_neovim:
                advice = "No attached Neovim offers tools now; nvim_targets lists the Neovims."
            else:
                advice = self.note(shown) or advice_for_unknown_tool(shown, self._tools)
            raise MCPError(t.INVALID_PARAMS, f"Unknown tool: {shown}. {advice}")
        return tool

    def _listed_name(self, name: str) -> str:
        """Return the name under which a tool is listed, which may have a prefix more or less.

        If there is none, the same name is returned. Old prompts and models leave out or add a prefix.
        """
        without = name.removeprefix("nvim_") if name.startswith(OLD_PREFIX) else name
        return next((one for one in (name, without, f"nvim_{name}") if one in self._tools), name)


def _listing(tools: Mapping[str, AnyTool], supported: frozenset[str]) -> t.ListToolsResult:
    """Return the tools as `tools/list` has them, without those that need what no adapter supports now.

    Arguments that need such things, and unlisted ones, are left out, too. A tool that is no `Tool` is
    always listed, with all its arguments. `supported` are requests and options that adapters support.
    Output schemas are left out.
    """
    return t.ListToolsResult(
        tools=[
            _listed(tool, tool.schema_for(supported) if isinstance(tool, Tool) else None)
            for tool in tools.values()
            if not isinstance(tool, Tool) or tool.is_of_use(supported)
        ]
    )


def _listed(tool: AnyTool, schema: Mapping[str, Any] | None) -> t.Tool:
    """Return a tool as `tools/list` has it, without an output schema.

    `schema` is that of its arguments; None or empty: the tool's own. It is copied, but not what is in it, which
    must not be changed.
    """
    return t.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(schema or tool.input_schema),
        annotations=_annotations(tool),
    )


def _annotations(tool: AnyTool) -> t.ToolAnnotations:
    """Return a tool's annotations for MCP; a read-only one has no `destructive` or `idempotent` hint.

    No tool is of an open world.
    """
    if tool.read_only:
        return t.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return t.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
