"""The WebSocket at which Claude Code's CLI finds one Neovim, and MCP on it."""

from __future__ import annotations

import contextlib
import hmac
import itertools
import json
import logging
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import anyio
import mcp.types as t
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

import dapeer
from dapeer.base.errors import ArgumentError, DapeerError
from dapeer.base.json_types import Json, as_object
from dapeer.base.system import folder_names
from dapeer.base.system.process_table import is_running
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.mcp.server.toolbox import Calls
from dapeer.mcp.transports.jsonl import ErrorResponse, encode_message, parse_message
from dapeer.tools.base.call import Reply

# The files by which Claude Code finds an IDE: one for each port, in a folder of its own.

CONFIG: Final = "CLAUDE_CONFIG_DIR"
OURS: Final = "dapeer"
"""The key of the process that has written a file; files of others have none."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file says."""

    port: int
    token: str
    pid: int
    """Of the IDE. Claude Code removes the file when this process has ended."""
    folders: Callable[[], Sequence[str]]
    """Returns the directories: Claude Code connects by itself if one of them holds its own."""


def lock_file_folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Return the folders for lock files: that of `CLAUDE_CONFIG_DIR`, if it is set, and that in `home`.

    Older versions of Claude Code read the second one only.
    """
    moved = environment.get(CONFIG)
    found = [Path(moved) / "ide"] if moved else []
    return [*found, home / ".claude" / "ide"]


@contextmanager
def keeping_lock_files(lock: Lock, where: Sequence[Path]) -> Generator[Callable[[], None]]:
    """Keep a lock file in each folder of `where` while the body runs, readable by this user alone.

    A file is named `PORT.lock`, and has what `lock` says; Claude Code finds the port by it. Afterwards the files
    are removed. A function without arguments is yielded that writes them anew, to be called after what
    `lock.folders` returns has changed; it may raise `OSError`. The folders are created if necessary, and lock files
    of dapeer's processes that have ended are removed from them.

    Raises:
        OSError: A folder cannot be made, or a file cannot be written; the body was not run.
    """
    paths = [folder / f"{lock.port}.lock" for folder in where]

    def write() -> None:
        for path in paths:
            _replace_file(path, _text(lock))

    try:
        for folder in where:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            remove_dead_lock_files(folder)
        write()
        yield write
    finally:
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()


def remove_dead_lock_files(folder: Path) -> None:
    """Remove the lock files in a folder that ended processes of dapeer have left; files of others stay.

    A file that cannot be read or removed stays, too.
    """
    for path in folder.glob("*.lock"):
        with contextlib.suppress(OSError, ValueError):
            content: object = json.loads(path.read_bytes())
            pid = as_object(content).get(OURS)
            if isinstance(pid, int) and not is_running(pid):
                path.unlink()


def _text(lock: Lock) -> str:
    """Return the content of a lock file, as the text of a JSON object.

    It contains the lock's token, which is a secret, and under the key `OURS` the id of this process.
    """
    content = {
        "pid": lock.pid,
        "workspaceFolders": list(lock.folders()),
        "ideName": "Neovim",
        "transport": "ws",
        "runningInWindows": False,
        "authToken": lock.token,
        OURS: os.getpid(),
    }
    return json.dumps(content)


def _replace_file(path: Path, text: str) -> None:
    """Replace a file by a text, readable by this user alone: a reader sees all of it or the old one.

    Raises:
        OSError: It cannot be written.
    """
    # A reader sees the whole of it or nothing, and nobody else ever sees the token.
    beside = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


# What Claude Code asks of an IDE, by the tools that the person's Neovim has.

SECONDS_FOR_DIAGNOSTICS: Final = 0.35
"""Claude Code waits 0.5 s, and asks no more after three late answers."""

Run = Callable[[str, Json], Awaitable[Reply]]
"""Runs a tool of Neovim's by its name there."""

SEVERITIES: Final = {"error": "Error", "warn": "Warning", "info": "Info", "hint": "Hint"}


@dataclass(slots=True)
class Editor:
    """One Neovim, as Claude Code sees it.

    Args:
        run: Runs one of its tools.
        cwd: Returns its working directory.
    """

    run: Run
    cwd: Callable[[], str]
    selection: Json | None = None
    """What was selected last, as Neovim has told it."""
    _diagnostics: dict[str | None, str] = field(default_factory=dict[str | None, str])
    """The last answer for each file that was asked for."""

    def select(self, selection: Json | None) -> None:
        """Keep what the person has selected in Neovim, as a notification has it; None: nothing is known."""
        self.selection = selection

    async def open_diff(self, arguments: Json) -> list[str]:
        """Show a proposed text of a file as a diff in Neovim; return once the person has decided.

        `arguments` are those of Claude Code's `openDiff`. The result has two texts: `FILE_SAVED` and what Claude Code is to write, or
        `DIFF_REJECTED` and the name of the tab. Without the second one Claude Code would ask again by itself. `TAB_CLOSED` is never said:
        it would take that for a yes. There is no timeout.

        Raises:
            DapeerError: Neovim's tool has failed.
        """
        reply = await self.run("open_diff", arguments)
        texts = [str(block.get("text", "")) for block in reply.content or ()]
        return texts[:2] or [reply.text]

    async def close_tab(self, arguments: Json) -> list[str]:
        """Close the diff with this `tab_name`; one that nobody has decided counts as rejected."""
        return [(await self.run("close_tab", arguments)).text]

    async def close_all_diff_tabs(self, _: Json) -> list[str]:
        """Close all diffs that this client has opened; the argument is ignored."""
        return [(await self.run("close_all_diff_tabs", {})).text]

    async def open_file(self, arguments: Json) -> list[str]:
        """Show the file `filePath` in Neovim, with the text `startText` in it marked, if there is one.

        Neovim's window gets the focus unless `makeFrontmost` is False or null. Return the text of Neovim's answer, in
        a list.

        Raises:
            KeyError: There is no `filePath`.
            DapeerError: Neovim cannot show it, or the person does not allow it.
        """
        request: dict[str, Any] = {"filename": arguments["filePath"]}
        if text := arguments.get("startText"):
            request["text"] = text
        if arguments.get("makeFrontmost", True):
            request["focus"] = True
        return [(await self.run("open_file", request)).text]

    async def get_diagnostics(self, arguments: Json) -> list[str]:
        """Return as JSON the diagnostics of the file at `uri`, or of all files without one.

        The result is a list of one text. The JSON is a list of objects with `uri` and `diagnostics`, as VS Code's extension gives them. If
        Neovim fails, or does not answer within `SECONDS_FOR_DIAGNOSTICS`, its last answer to the same question is returned, or an empty
        list.
        """
        uri = arguments.get("uri")
        request: Json = {"filename": _path(str(uri))} if uri else {"workspace": True}
        with anyio.move_on_after(SECONDS_FOR_DIAGNOSTICS):
            try:
                reply = await self.run("diagnostics_list", request)
            except DapeerError:
                return [self._diagnostics.get(uri, "[]")]
            self._diagnostics[uri] = json.dumps(_by_file(reply.data or {}))
        return [self._diagnostics.get(uri, "[]")]

    async def get_current_selection(self, _: Json) -> list[str]:
        """Return as JSON what is selected in Neovim now."""
        return [json.dumps((await self.run("get_selection", {})).data)]

    async def get_latest_selection(self, _: Json) -> list[str]:
        """Return as JSON what was selected last, from memory: what Neovim has notified, with `success` true.

        If nothing is known, `success` is false and alone. The result is a list of one text.
        """
        known = {"success": True, **self.selection} if self.selection else {"success": False}
        return [json.dumps(known)]

    async def get_open_editors(self, _: Json) -> list[str]:
        """Return as JSON the files that are open in Neovim."""
        return [json.dumps((await self.run("get_open_editors", {})).data)]

    async def get_workspace_folders(self, _: Json) -> list[str]:
        """Return as JSON the working directory of this Neovim, the only folder of the workspace."""
        folder = Path(self.cwd())
        known = [{"name": folder.name, "uri": folder.as_uri(), "path": str(folder)}]
        return [json.dumps({"success": True, "folders": known, "rootPath": str(folder)})]

    async def check_document_dirty(self, arguments: Json) -> list[str]:
        """Return as JSON whether the file `filePath` has unsaved changes in Neovim."""
        return [await self._of_file("check_document_dirty", arguments)]

    async def save_document(self, arguments: Json) -> list[str]:
        """Have Neovim write the unsaved changes of the file `filePath`; return its answer as JSON."""
        return [await self._of_file("save_document", arguments)]

    async def _of_file(self, name: str, arguments: Json) -> str:
        """Run a tool of Neovim on the file `filePath`, and return its data as JSON."""
        reply = await self.run(name, {"filename": arguments["filePath"]})
        return json.dumps(reply.data)


def _path(uri: str) -> str:
    return uri.removeprefix("file://")


def _by_file(data: Json) -> list[Json]:
    """Return the diagnostics of Neovim's tool as VS Code's extension gives them: one entry a file.

    An entry has `uri` and `diagnostics`, those of `_diagnostic`. `data` has the key `diagnostics`, a list; without it the result is empty.
    """
    files: dict[str, list[Json]] = {}
    for one in data.get("diagnostics", ()):
        files.setdefault(str(one.get("path", "")), []).append(_diagnostic(one))
    return [{"uri": f"file://{path}", "diagnostics": found} for path, found in files.items()]


def _diagnostic(diagnostic: Mapping[str, Any]) -> Json:
    """Return a diagnostic of Neovim's tool in VS Code's form.

    `diagnostic` has `line`, and may have `column`, `end_line`, `end_column` (all 1-based; the end is behind
    the last character), `message`, `severity`, `source` and `code`. Without `end_line` the range ends in
    its first line, without `end_column` one character behind its first column. The result has `message`,
    `severity` (a word, `Error` where Neovim's is unknown), `range` (0-based `start` and `end` with `line`
    and `character`), `source`, and `code`, a text, if there is one; a missing `message` or `source` is
    empty.
    """
    line, column = int(diagnostic["line"]) - 1, int(diagnostic.get("column") or 1) - 1
    end = {
        "line": int(diagnostic.get("end_line") or line + 1) - 1,
        "character": int(diagnostic.get("end_column") or column + 2) - 1,
    }
    return {
        "message": diagnostic.get("message", ""),
        "severity": SEVERITIES.get(str(diagnostic.get("severity")), "Error"),
        "range": {"start": {"line": line, "character": column}, "end": end},
        "source": diagnostic.get("source", ""),
        **({"code": str(diagnostic["code"])} if diagnostic.get("code") else {}),
    }


# The tools that Claude Code calls of an IDE: their schemas, and their calls.

_TEXT: Final = {"type": "string"}
_FILE: Final = {"type": "object", "properties": {"filePath": _TEXT}, "required": ["filePath"]}
_NOTHING: Final[Json] = {"type": "object", "properties": {}}

Method = Callable[[Editor, Json], Awaitable[list[str]]]

TOOLS: Final[dict[str, tuple[Method, str, Json]]] = {
    "openDiff": (
        Editor.open_diff,
        "Show a proposed text of a file in Neovim, and wait for the person's decision",
        {
            "type": "object",
            "properties": {
                "old_file_path": _TEXT,
                "new_file_path": _TEXT,
                "new_file_contents": _TEXT,
                "tab_name": _TEXT,
            },
            "required": ["new_file_path", "new_file_contents"],
        },
    ),
    "close_tab": (
        Editor.close_tab,
        "Close a diff",
        {"type": "object", "properties": {"tab_name": _TEXT}, "required": ["tab_name"]},
    ),
    "closeAllDiffTabs": (Editor.close_all_diff_tabs, "Close all diffs", _NOTHING),
    "openFile": (
        Editor.open_file,
        "Show a file in Neovim",
        {
            "type": "object",
            "properties": {
                "filePath": _TEXT,
                "startText": _TEXT,
                "endText": _TEXT,
                "makeFrontmost": {"type": "boolean"},
            },
            "required": ["filePath"],
        },
    ),
    "getDiagnostics": (
        Editor.get_diagnostics,
        "List errors and warnings that Neovim has of a file, or of all files",
        {"type": "object", "properties": {"uri": _TEXT}},
    ),
    "getCurrentSelection": (Editor.get_current_selection, "What is selected", _NOTHING),
    "getLatestSelection": (Editor.get_latest_selection, "What was selected last", _NOTHING),
    "getOpenEditors": (Editor.get_open_editors, "List the open files", _NOTHING),
    "getWorkspaceFolders": (Editor.get_workspace_folders, "Neovim's directory", _NOTHING),
    "checkDocumentDirty": (Editor.check_document_dirty, "Unsaved changes?", _FILE),
    "saveDocument": (Editor.save_document, "Save a file", _FILE),
}
"""By the name that Claude Code calls. Its model sees `getDiagnostics` alone."""


def list_ide_tools() -> t.ListToolsResult:
    """Return the list of the tools of `TOOLS`, in MCP's form."""
    return t.ListToolsResult(
        tools=[
            t.Tool(name=name, description=description, input_schema=dict(schema))
            for name, (_, description, schema) in TOOLS.items()
        ]
    )


async def call_editor_tool(editor: Editor, name: str, arguments: Json) -> t.CallToolResult:
    """Run a tool of `TOOLS` on an editor, and return its texts as a result.

    `arguments` are the call's, by name; only whether the required ones are there, and not null, is checked
    here. An error of Neovim's, or a person who does not allow the call, is a failed result with the error's
    text.

    Raises:
        MCPError: There is no such tool, or an argument is missing or wrong.
    """
    if name not in TOOLS:
        raise MCPError(t.INVALID_PARAMS, f"There is no tool {name}.")
    method, _, schema = TOOLS[name]
    missing = [one for one in schema.get("required", ()) if arguments.get(one) is None]
    if missing:
        raise MCPError(t.INVALID_PARAMS, f"{name} needs `{missing[0]}`.")
    try:
        return _result(await method(editor, arguments))
    except ArgumentError as error:
        raise MCPError(t.INVALID_PARAMS, str(error)) from error
    except DapeerError as error:
        return _result([str(error)], failed=True)


def _result(texts: Sequence[str], *, failed: bool = False) -> t.CallToolResult:
    """Return texts as the result of a tool's call."""
    return t.CallToolResult(
        content=[t.TextContent(type="text", text=text) for text in texts], is_error=failed
    )


log = logging.getLogger(__name__)

HEADER: Final = "X-Claude-Code-Ide-Authorization"
PROTOCOL: Final = Subprotocol("mcp")
SECONDS_BETWEEN_PINGS: Final = 30
"""A CLI that was killed together with its network is noticed."""
SECONDS_BETWEEN_REPEATS: Final = (0.5, 1.0, 2.0, 4.0)
"""A CLI drops what it gets until its screen is drawn, and does not report when that is."""
LONGEST_MESSAGE: Final = 64 << 20
"""Bytes. A diff holds a whole file."""


class Service:
    """One Neovim's IDE side: any number of CLIs connect to it."""

    def __init__(
        self,
        editor: Callable[[str], Editor],
        pid: int,
        cwd: str,
        report: Callable[[int, int], None] = lambda _port, _count: None,
    ) -> None:
        """Keep what the service needs; `serving` begins to listen.

        `editor` makes the view that one CLI has of Neovim, by the CLI's name; `pid` and `cwd` are Neovim's. `report` gets the
        port, and how many CLIs are connected, whenever that changes.
        """
        self._make_editor = editor
        self._pid = pid
        self._token = secrets.token_hex(32)
        self._cwd = cwd
        self._announce: Callable[[], None] = lambda: None
        self._editors: dict[ServerConnection, Editor] = {}
        self._numbers = itertools.count(1)
        self._calls = Calls()
        self._selection: Json | None = None
        self._report = report
        self._port = 0

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[int]:
        """Listen on a free port of this machine, with lock files, while the body runs; yield the port.

        A lock file, by which Claude Code finds the port, lies in each folder of `lock_file_folders`. Use it once for
        each `Service`. At the beginning, the function `report` that `Service` was made with gets the port and the
        number of connected CLIs. At the end, the lock files are removed; then running calls are awaited, for at most
        `SECONDS_TO_ANSWER` of `toolbox`, and the connections are closed.

        Raises:
            OSError: It cannot listen, or write a lock file; the body was not run.
        """
        server = await serve(
            self._serve_cli,
            LOOPBACK,
            0,
            subprotocols=[PROTOCOL],
            process_request=self._refusal,
            ping_interval=SECONDS_BETWEEN_PINGS,
            max_size=LONGEST_MESSAGE,
            logger=log,
        )
        port = self._port = int(next(iter(server.sockets)).getsockname()[1])
        lock = Lock(port, self._token, self._pid, lambda: [self._cwd])
        try:
            with keeping_lock_files(
                lock, lock_file_folders(os.environ, Path(folder_names.home()))
            ) as self._announce:
                self._report(port, len(self._editors))
                yield port
        finally:
            self._announce = lambda: None
            with anyio.CancelScope(shield=True):
                # A Neovim that ends has just decided what was open, or never will.
                await self._calls.wait_for_none()
                server.close()
                await server.wait_closed()

    def set_cwd(self, cwd: str) -> None:
        """Write another working directory of Neovim to the lock files; CLIs that are connected stay.

        Nothing is written if it is the same, or outside of `serving`, which writes the last one. A file that cannot be written is only
        logged.
        """
        if cwd != self._cwd:
            self._cwd = cwd
            try:
                self._announce()
            except OSError as error:
                log.warning("Neovim's lock file still names another directory: %s", error)

    async def notify(self, method: str, params: Json) -> None:
        """Send a notification of MCP, `method` with `params`, to every CLI that is connected.

        The CLIs get it one after the other, and the call waits until each can take it, without a limit; one whose
        connection has ended is passed over. A selection (`selection_changed`) is kept for what tools say of it,
        and for CLIs that connect later, also if none is connected now; it is dropped when the last CLI leaves.
        """
        if method == "selection_changed":
            self._selection = params
        for connection, editor in list(self._editors.items()):
            if method == "selection_changed":
                editor.select(params)
            await _notify(connection, method, params)

    async def _repeat_selection(self, connection: ServerConnection, editor: Editor) -> None:
        """Send a CLI that has just connected the newest selection, several times within some seconds.

        It may not have listened to the first ones. Nothing is sent while nothing was selected, or before the CLI counts as connected.
        """
        for pause in SECONDS_BETWEEN_REPEATS:
            await anyio.sleep(pause)
            if connection in self._editors and editor.selection:
                await _notify(connection, "selection_changed", editor.selection)

    def _refusal(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the response to a request without the lock file's token; None: it has it, and may connect."""
        shown = request.headers.get_all(HEADER)
        if len(shown) == 1 and hmac.compare_digest(shown[0].encode(), self._token.encode()):
            return None
        return connection.respond(HTTPStatus.UNAUTHORIZED, f"{HEADER} does not hold the token.\n")

    async def _serve_cli(self, connection: ServerConnection) -> None:
        """Serve one CLI until it disconnects; then its open calls end, and its open diffs are closed.

        It gets notifications once it has sent `ide_connected`; from then on it counts as connected. The number of connected CLIs is
        reported when that changes, and without any of them the selection that new ones would get is forgotten. `connection` is a WebSocket.
        """
        # Each has a name of its own: nobody closes the diffs of another.
        editor = self._make_editor(f"claude-code {next(self._numbers)}")
        editor.select(self._selection)
        server = _server(editor, self._calls)

        async def connected(
            _context: ServerRequestContext[Any, Any], _params: t.NotificationParams
        ) -> None:
            """Count the CLI as connected: only from now on does it read notifications."""
            # Only now does it hear what it is told.
            self._editors[connection] = editor
            self._report(self._port, len(self._editors))

        server.add_notification_handler("ide_connected", t.NotificationParams, connected)
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, connection, received)
                tasks.start_soon(_write, connection, to_send)
                tasks.start_soon(self._repeat_selection, connection, editor)
                await server.run(incoming, outgoing, server.create_initialization_options())
                tasks.cancel_scope.cancel()
        finally:
            if self._editors.pop(connection, None):
                self._report(self._port, len(self._editors))
            if not self._editors:
                self._selection = None  # nobody hears of the next ones
            await _close_diffs(editor)


async def _close_diffs(editor: Editor) -> None:
    """Close the diffs that a CLI has left open, within a second; errors are ignored."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(1), suppress(DapeerError):
        await editor.close_all_diff_tabs({})


def _server(editor: Editor, calls: Calls) -> Server[Any]:
    """Return an MCP server for one Claude Code, whose tools are `TOOLS` and act on `editor`.

    `editor` is that client's view of Neovim. Each call of a tool is counted in `calls` while it runs. The server is
    not started here.
    """

    async def list_tools(
        _context: ServerRequestContext[Any, Any], _params: t.PaginatedRequestParams | None
    ) -> t.ListToolsResult:
        return list_ide_tools()

    async def call_tool(
        _context: ServerRequestContext[Any, Any], params: t.CallToolRequestParams
    ) -> t.CallToolResult:
        with calls.count_one():
            return await call_editor_tool(editor, params.name, params.arguments or {})

    async def list_prompts(
        _context: ServerRequestContext[Any, Any], _params: t.PaginatedRequestParams | None
    ) -> t.ListPromptsResult:
        return t.ListPromptsResult(prompts=[])

    return Server(
        "dapeer",
        version=dapeer.__version__,
        title="Neovim",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
    )


async def _read(
    connection: ServerConnection,
    received: anyio.abc.ObjectSendStream[SessionMessage | Exception],
) -> None:
    """Pass each message of a connection to `received`, until the connection or the reader ends.

    To what is no message of MCP an error is sent back; blank messages are ignored. `received` is closed afterwards.
    """
    async with received:
        with suppress(ConnectionClosed, anyio.BrokenResourceError):
            async for data in connection:
                line = data.encode() if isinstance(data, str) else data
                if isinstance(message := parse_message(line), ErrorResponse):
                    await connection.send(encode_message(message.error).decode())
                elif message is not None:
                    await received.send(SessionMessage(message))


async def _write(
    connection: ServerConnection, to_send: anyio.abc.ObjectReceiveStream[SessionMessage]
) -> None:
    """Send each message from `to_send` on the connection, until there are no more."""
    async with to_send:
        async for message in to_send:
            with suppress(ConnectionClosed):
                await connection.send(encode_message(message.message).decode())


async def _notify(connection: ServerConnection, method: str, params: Json) -> None:
    """Send a notification of JSON-RPC on a connection; one that has ended gets none."""
    await _send(connection, {"jsonrpc": "2.0", "method": method, "params": params})


async def _send(connection: ServerConnection, message: Json) -> None:
    with suppress(ConnectionClosed):
        await connection.send(json.dumps(message))
