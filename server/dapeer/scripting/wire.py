"""A client of a dapeer server, with the standard library alone: one request at a time, and its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any, Final, Self

from dapeer.mcp.data_extension import EXTENSION

PROTOCOL: Final = "2025-11-25"
"""MCP's version that this client speaks."""


class ToolError(Exception):
    """A tool has failed. Its text has two sentences: what happened, and what to do next."""


class ServerGone(Exception):
    """The dapeer server has ended, and its sessions with it."""


# Tracebacks show the names under which a script finds them.
ToolError.__module__ = ServerGone.__module__ = "dapeer"


class Answer(str):
    """What a tool answers: the text that an assistant would read.

    `data` holds the same facts as a dict; it is empty for a tool that gives none.
    """

    __slots__ = ("data",)

    data: dict[str, Any]

    def __new__(cls, text: str, data: Mapping[str, Any] | None = None) -> Self:
        """Return the text of an answer with its data."""
        answer = super().__new__(cls, text)
        answer.data = dict(data or {})
        return answer


class Connection:
    """A connection to a server, which answers one call after the other."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes], name: str) -> None:
        """Introduce a client of this name to the server at the other end.

        Raises:
            ServerGone: It does not answer.
        """
        self._reader = reader
        self._writer = writer
        self._id = 0
        self._request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {"extensions": {EXTENSION: {}}},
                "clientInfo": {"name": name, "version": "1"},
            },
        )
        self.notify("notifications/initialized", {})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool with those of the arguments that are not None, and wait for its answer.

        Raises:
            ToolError: The tool has failed, or there is none of that name.
            ServerGone: The server has ended.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        result = self._request("tools/call", {"name": tool, "arguments": given})
        parts = (part["text"] for part in result["content"] if part["type"] == "text")
        text = "\n".join(parts)
        if result.get("isError"):
            raise ToolError(text.strip())
        return Answer(text, result.get("structuredContent"))

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, which the server does not answer.

        Raises:
            ServerGone: The server has ended.
        """
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            message = self._received()
            if message.get("id") != self._id or "method" in message:
                continue
            if "error" in message:
                raise ToolError(message["error"]["message"])
            return message["result"]

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            self._writer.flush()
        except OSError as error:
            raise ServerGone("The dapeer server has ended.") from error

    def _received(self) -> dict[str, Any]:
        try:
            line = self._reader.readline()
        except OSError:
            line = b""
        if not line:
            raise ServerGone("The dapeer server has ended.")
        return json.loads(line)
