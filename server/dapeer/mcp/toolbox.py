"""The tools that one server offers: listed, found and called."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcp import MCPError
from mcp import types as t
from mcp.server import ServerRequestContext

from dapeer.debugger import Debugger
from dapeer.errors import ArgumentError, DapeerError
from dapeer.mcp.progress import Progress
from dapeer.peers import Action, Peers
from dapeer.tools.tool import Call, Reply, Tool

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

OLD_PREFIX: Final = "nvim_dap_"
"""How mcp-tools.nvim named its debugging tools; accepted from old prompts, never listed."""


class Toolbox:
    """Answers `tools/list` and `tools/call` from memory."""

    def __init__(
        self, debugger: Debugger, peers: Peers, tools: Iterable[Tool], *, heartbeat: float
    ) -> None:
        self._debugger = debugger
        self._peers = peers
        self._heartbeat = heartbeat
        # > Servers SHOULD return tools in a deterministic order.
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self._listing = t.ListToolsResult(tools=[_listed(tool) for tool in self._tools.values()])

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return a tool's input schema; without this the SDK lists all tools for every call."""
        tool = self._tools.get(_current(name))
        return tool.input_schema if tool else None

    async def list(
        self, _context: Context, _params: t.PaginatedRequestParams | None
    ) -> t.ListToolsResult:
        """Answer `tools/list`."""
        return self._listing

    async def call(self, context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
        """Answer `tools/call`. What a tool reports as wrong is a result, for the model to read.

        Raises:
            MCPError: There is no such tool.
        """
        tool = self._find(params.name)
        arguments = params.arguments or {}
        try:
            with Progress(context.session.report_progress, self._heartbeat, tool.title) as progress:
                reply = await tool(Call(self._debugger, progress, self._peers), arguments)
        except DapeerError as error:
            self._tell(tool, arguments, str(error), ok=False)
            return _failed(str(error))
        except asyncio.CancelledError:
            self._tell(tool, arguments, "The assistant did not wait for the outcome.", ok=False)
            raise
        except Exception as error:
            self._tell(tool, arguments, "It failed by a fault of dapeer's.", ok=False)
            log.exception("%s failed", tool.name)
            return _failed(
                f"Internal error in {tool.name}: {type(error).__name__}. This is a bug in dapeer: "
                "please report it with the traceback from its log (stderr, or --log-file)."
            )
        self._tell(tool, arguments, reply.text.partition("\n")[0], ok=True)
        return _result(reply)

    def _tell(self, tool: Tool, arguments: Mapping[str, Any], outcome: str, *, ok: bool) -> None:
        """Tell the people who debug along what the assistant has done."""
        if tool.action is not None:
            self._peers.told(Action(tool.name, tool.action, arguments), outcome, ok=ok)

    def _find(self, name: str) -> Tool:
        tool = self._tools.get(_current(name))
        if tool is None:
            near = difflib.get_close_matches(name, self._tools, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else " See tools/list."
            raise MCPError(t.INVALID_PARAMS, f"Unknown tool: {name}.{hint}")
        return tool


def _current(name: str) -> str:
    return name.removeprefix("nvim_") if name.startswith(OLD_PREFIX) else name


def select(tools: Iterable[Tool], *, read_only: bool, groups: Iterable[str] | None) -> list[Tool]:
    """Keep the read-only tools, if only they are wanted, of the groups that are wanted.

    Raises:
        ArgumentError: No tool belongs to one of the groups.
    """
    tools = list(tools)
    known = sorted({tool.group for tool in tools})
    wanted = set(known if groups is None else groups)
    for group in sorted(wanted.difference(known)):
        raise ArgumentError(
            f"No tools belong to the group `{group}`.", f"Groups: {', '.join(known)}."
        )
    return [tool for tool in tools if tool.group in wanted and (tool.read_only or not read_only)]


def _listed(tool: Tool) -> t.Tool:
    return t.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=_annotations(tool),
    )


def _annotations(tool: Tool) -> t.ToolAnnotations:
    """Say what is true of a tool; `destructive` and `idempotent` mean nothing of one that only reads."""
    if tool.read_only:
        return t.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return t.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )


def _result(reply: Reply) -> t.CallToolResult:
    return t.CallToolResult(
        content=[t.TextContent(text=reply.text)],
        structured_content=None if reply.data is None else dict(reply.data),
    )


def _failed(sentence: str) -> t.CallToolResult:
    # Some clients show a model only the text of a failure, so it must say everything.
    return t.CallToolResult(content=[t.TextContent(text=sentence)], is_error=True)
