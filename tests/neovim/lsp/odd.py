"""A language server, a real process, that does what real ones do not do on demand.

hover            is never answered, and reported as work that goes on
definition       ends the process instead
implementation   fails
references       is refused twice because the text has changed, then answered
documentSymbol   is answered in the form that old servers have
codeAction       offers a command, which has the client edit a file, and to fix what the client has as a diagnostic
publishes        diagnostics without a version, after each change; those of slow.py when it is told `odd/go`

What has come is told to the client: `odd/seen` and the method.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

# Run as a program of its own, which sees no module of the tests.
Json = dict[str, Any]

CAPABILITIES: Json = {
    "textDocumentSync": 1,
    "hoverProvider": True,
    "definitionProvider": True,
    "implementationProvider": True,
    "referencesProvider": True,
    "documentSymbolProvider": True,
    "codeActionProvider": True,
    "executeCommandProvider": {"commands": ["odd.greet"]},
}
CONTENT_MODIFIED = -32801


def read() -> Json | None:
    """Return the next message; None at the end."""
    length = 0
    while (line := sys.stdin.buffer.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(**message: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def failure(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def span(line: int, end: int) -> Json:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": end}}


class Odd:
    """What it answers, by method; None is no answer."""

    def __init__(self) -> None:
        self.refused = 0
        self.answers: dict[str, Callable[[Json], Json | None]] = {
            "initialize": lambda _: {"result": {"capabilities": CAPABILITIES}},
            "shutdown": lambda _: {"result": None},
            "textDocument/hover": self.think,
            "textDocument/definition": lambda _: os._exit(3),
            "textDocument/implementation": lambda _: failure(-32603, "not today"),
            "textDocument/references": self.references,
            "textDocument/documentSymbol": self.symbols,
            "textDocument/codeAction": self.actions,
            "workspace/executeCommand": self.greet,
        }

    def think(self, _: Json) -> None:
        begin = {"kind": "begin", "title": "Thinking"}
        write(method="$/progress", params={"token": "thought", "value": begin})

    def references(self, params: Json) -> Json:
        self.refused += 1
        if self.refused <= 2:
            return failure(CONTENT_MODIFIED, "content modified")
        return {"result": [{"uri": params["textDocument"]["uri"], "range": span(0, 1)}]}

    def symbols(self, params: Json) -> Json:
        place = {"uri": params["textDocument"]["uri"], "range": span(2, 3)}
        old = {"name": "old", "kind": 12, "containerName": "style", "location": place}
        return {"result": [old]}

    def actions(self, params: Json) -> Json:
        uri = params["textDocument"]["uri"]
        fixes = [{"title": f"Fix {each['message']}"} for each in params["context"]["diagnostics"]]
        return {"result": [{"title": "Greet", "command": "odd.greet", "arguments": [uri]}, *fixes]}

    def greet(self, params: Json) -> Json:
        edits = [{"range": span(0, 0), "newText": "# hello\n"}]
        edit = {"changes": {params["arguments"][0]: edits}}
        write(id="edit", method="workspace/applyEdit", params={"edit": edit})
        assert read(), "the client's answer"
        return {"result": None}


def take(method: str, params: Json) -> None:
    if method == "exit":
        sys.exit(0)
    uri = params.get("textDocument", params).get("uri", "")
    changed = method in {"textDocument/didOpen", "textDocument/didChange"}
    if method == "odd/go" or (changed and not uri.endswith("slow.py")):
        found = {"range": span(0, 1), "message": "odd", "severity": 4}
        write(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": [found]})


def serve() -> None:
    odd = Odd()
    while message := read():
        if "method" not in message:
            continue
        method: str = message["method"]
        params: Json = message.get("params") or {}
        if "id" not in message:
            take(method, params)
        elif answer := odd.answers[method](params):
            write(id=message["id"], **answer)
        write(method="odd/seen", params={"method": method})


if __name__ == "__main__":
    serve()
