"""A client of a dapeer server, with the standard library alone: one request at a time, and its answer."""

from __future__ import annotations

import json

from dapeer.mcp.data_extension import EXTENSION, NEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO, Any, Final, Self

PROTOCOL: Final = "2025-11-25"
"""MCP's version that this client speaks."""
NOTHING: Final[Mapping[str, Mapping[str, Any]]] = {}


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

    def __init__(
        self,
        reader: IO[bytes],
        writer: IO[bytes],
        name: str,
        extensions: Mapping[str, Mapping[str, Any]] = NOTHING,
    ) -> None:
        """Begin MCP with the server at the other end of two streams, as a client of this `name`.

        `extensions` of MCP are declared besides dapeer's own, each with its settings.

        Raises:
            ServerGone: It does not answer.
        """
        self._reader = reader
        self._writer = writer
        self._id = 0
        self._awaited: dict[int, bool] = {}
        """The numbers of requests whose answer is awaited, and whether an error answers."""
        self.news_lines: list[str] = []
        """What the server has told besides its answers, a sentence each."""
        self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {"extensions": {EXTENSION: {}, **extensions}},
                "clientInfo": {"name": name, "version": "1"},
            },
        )
        self.notify("notifications/initialized", {})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool with those of the arguments that are not None, and return its answer.

        `tool` is the tool's whole name, such as `dap_run`. The answer's text joins its text parts by line
        breaks. News that comes with the answer is added to `news_lines`, also where the tool fails. If a
        call of `call_beside` is answered first, its answer is returned instead.

        Raises:
            ToolError: The tool has failed, or the server rejects the call, as of an unknown tool.
            ServerGone: The server has ended.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        result = self.request("tools/call", {"name": tool, "arguments": given})
        self.news_lines += result.get("_meta", {}).get(NEWS, ())
        parts = (part["text"] for part in result["content"] if part["type"] == "text")
        text = "\n".join(parts)
        if result.get("isError"):
            raise ToolError(text.strip())
        return Answer(text, result.get("structuredContent"))

    def call_beside(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool while another call waits, which returns whichever answer comes first.

        Errors of this one are dropped. It may be called by the handler of a signal.

        Raises:
            ServerGone: The server has ended.
        """
        self._send_request("tools/call", {"name": tool, "arguments": arguments}, takes_error=False)

    def close(self) -> None:
        """Close both streams."""
        self._writer.close()
        self._reader.close()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, which the server does not answer.

        Raises:
            ServerGone: The server has ended.
        """
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, wait for its answer, and return the result; other messages meanwhile are dropped.

        `method` and `params` are MCP's. There is no timeout. An answer to a call of `call_beside` that is no error
        may come first, and is returned instead; the answer that is still due is then dropped. The result of a tool
        that has failed is returned, too, with `isError` in it.

        Raises:
            ToolError: The server answers with an error of JSON-RPC in place of a result.
            ServerGone: The server has ended, or the connection cannot be read.
        """
        self._send_request(method, params, takes_error=True)
        while True:
            message = self._receive()
            number = message.get("id")
            if number not in self._awaited or "method" in message:
                continue
            is_error = "error" in message or message["result"].get("isError")
            if is_error and not self._awaited[number]:
                del self._awaited[number]
                continue
            self._awaited.clear()
            if "error" in message:
                raise ToolError(message["error"]["message"])
            return message["result"]

    def _send_request(self, method: str, params: Mapping[str, Any], *, takes_error: bool) -> None:
        """Send a request, and have `request` return its answer if it is the first to come.

        An answer that is an error counts only if this `takes_error`.

        Raises:
            ServerGone: The server has ended.
        """
        self._id += 1
        self._awaited[self._id] = takes_error
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def _send(self, message: Mapping[str, Any]) -> None:
        """Write a message of JSON-RPC as a line.

        Raises:
            ServerGone: The server has ended.
        """
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            self._writer.flush()
        except OSError as error:
            raise ServerGone("The dapeer server has ended.") from error

    def _receive(self) -> dict[str, Any]:
        """Wait for the next line, without a limit, and return its message of JSON-RPC.

        Raises:
            ServerGone: The server has ended, or the connection cannot be read.
        """
        try:
            line = self._reader.readline()
        except OSError:
            line = b""
        # Its end may cut a line off.
        if not line.endswith(b"\n"):
            raise ServerGone("The dapeer server has ended.")
        return json.loads(line)
