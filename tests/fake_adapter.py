"""A scripted debug adapter: what real ones will not do on demand. Standard library only.

    python tests/fake_adapter.py SCRIPT [--port N [--announce]]

It speaks over stdio, or to the first client that connects to the port; it announces on stderr that it listens. Without a script (`{}`) it
debugs a program of ten lines: stops on entry at line 1, steps one line at a time, ends with exit
code 0. The script is a JSON file that replaces the answer to a command by a list of actions:

    {"on": {"next": [{"event": ["stopped", {"reason": "step", "threadId": 1}]}, "ok"]}}

Actions, each a string or an object of one key:

    "default"                    what the adapter does without a script
    "ok"                         answer the request, with an empty body
    "hold"                       keep the request unanswered until released
    {"release": "next"}          answer the held requests of this command, the last one first
    {"release": ["next", action]}       … by this action
    {"respond": body}            answer the request
    {"fail": {"message": …, "body": …}}
    {"event": [name, body]}      body may be of any JSON type
    {"request": [command, arguments]}   ask the client; its answer is told as an `output` event
    {"message": fields}          the response to the request, with these fields in place of its own
    {"raw": text}                bytes as they are (latin-1), garbage and torn frames included
    {"stderr": text}
    {"times": [n, action]}       the action n times
    {"big": [name, n]}           an event whose body holds a string of n bytes
    {"debuggee": "sleep"}        start a process that never ends, and tell it by a `process` event
    {"debuggee": "daemon"}       the same, when it has left its parents and their session; print its id
    {"ignore": "eof" | "terminate"}     outlive the end of stdin, or SIGTERM
    {"line": n}                  set the line the program is at
    {"exit": code}               end at once, without another word
    {"signal": name}             end by this signal

`"start"` holds actions to do before anything is read, `"capabilities"` what `initialize` answers,
`"log"` a file that gets each request as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

Json = dict[str, Any]

CAPABILITIES: Json = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsSetVariable": True,
    "supportsTerminateRequest": True,
}
LAST_LINE = 10
DEBUGGEE = "import os, time\nprint(os.getpid(), flush=True)\nwhile True: time.sleep(60)"
DAEMON = f"import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n{DEBUGGEE}"


class FakeAdapter:
    """One session of the scripted adapter, over one pair of byte streams."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, script: Mapping[str, Any]) -> None:
        self.reader = reader
        self.writer = writer
        self.script = script
        self.seq = 0
        self.line = 1
        self.file = "program.fake"
        self.request: Json = {}
        self.held: list[Json] = []
        self.launch: Json | None = None
        self.outlives_eof = False

    def run(self) -> None:
        for action in cast("list[Any]", self.script.get("start", [])):
            self.do(action)
        while (message := self.read()) is not None:
            if message["type"] == "response":
                self.event("output", {"category": "console", "output": _answer(message)})
                continue
            self.log(message)
            self.request = message
            actions = cast("Json", self.script.get("on", {})).get(message["command"], ["default"])
            for action in actions:
                self.do(action)
        if self.outlives_eof:
            signal.pause()

    # The wire.

    def read(self) -> Json | None:
        length = 0
        while (line := self.reader.readline()) not in (b"", b"\r\n"):
            if line.startswith(b"Content-Length:"):
                length = int(line.partition(b":")[2])
        return json.loads(self.reader.read(length)) if length else None

    def write(self, data: bytes) -> None:
        self.writer.write(data)
        self.writer.flush()

    def send(self, message: Json) -> None:
        self.seq += 1
        body = json.dumps({"seq": self.seq, **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def event(self, name: str, body: object = None) -> None:
        self.send({"type": "event", "event": name, "body": body})

    def respond(self, body: object = None, request: Json | None = None) -> None:
        self.send({**_response_to(request or self.request), "success": True, "body": body})

    def log(self, request: Json) -> None:
        path = self.script.get("log")
        if path:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(request) + "\n")

    # The script.

    def do(self, action: Any) -> None:  # noqa: ANN401 - any JSON value
        name, value = (action, None) if isinstance(action, str) else next(iter(action.items()))
        getattr(self, f"do_{name}")(value)

    def do_default(self, _: None) -> None:
        answer = getattr(self, f"on_{self.request['command']}", None)
        if answer is None:
            self.do_fail({"message": f"unknown command {self.request['command']}"})
        else:
            answer(cast("Json", self.request.get("arguments") or {}))

    def do_ok(self, _: None) -> None:
        self.respond({})

    def do_hold(self, _: None) -> None:
        self.held.append(self.request)

    def do_release(self, value: str | list[Any]) -> None:
        command, action = (value, "default") if isinstance(value, str) else value
        now = self.request
        for request in [held for held in reversed(self.held) if held["command"] == command]:
            self.held.remove(request)
            self.request = request
            self.do(action)
        self.request = now

    def do_respond(self, body: object) -> None:
        self.respond(body)

    def do_fail(self, fields: Json) -> None:
        self.send({**_response_to(self.request), "success": False, **fields})

    def do_event(self, event: list[Any]) -> None:
        self.event(*event)

    def do_request(self, request: list[Any]) -> None:
        command, arguments = request
        self.send({"type": "request", "command": command, "arguments": arguments})

    def do_message(self, fields: Json) -> None:
        self.send({**_response_to(self.request), "success": True, "body": {}, **fields})

    def do_raw(self, text: str) -> None:
        self.write(text.encode("latin-1"))

    def do_stderr(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def do_times(self, value: list[Any]) -> None:
        times, action = value
        for _ in range(times):
            self.do(action)

    def do_big(self, value: list[Any]) -> None:
        name, size = value
        self.event(name, {"category": "stdout", "output": "x" * size + "\n"})

    def do_debuggee(self, kind: str) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", DAEMON if kind == "daemon" else DEBUGGEE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        self.event("process", {"name": "debuggee", "systemProcessId": pid})
        if kind == "daemon":
            self.event("output", {"category": "stdout", "output": f"{pid}\n"})

    def do_ignore(self, what: str) -> None:
        if what == "eof":
            self.outlives_eof = True
        else:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def do_line(self, line: int) -> None:
        self.line = line

    def do_exit(self, code: int) -> None:
        os._exit(code)

    def do_signal(self, name: str) -> None:
        signal.raise_signal(signal.Signals[name])

    # What a well-behaved adapter answers.

    def on_initialize(self, _: Json) -> None:
        self.respond(self.script.get("capabilities", CAPABILITIES))

    def on_launch(self, arguments: Json) -> None:
        self.file = arguments.get("program") or self.file
        self.launch = self.request
        self.event("initialized")

    on_attach = on_launch

    def on_setBreakpoints(self, arguments: Json) -> None:  # noqa: N802 - DAP's name
        wanted = cast("list[Json]", arguments.get("breakpoints", []))
        self.respond({"breakpoints": [{"verified": True, "line": one["line"]} for one in wanted]})

    def on_setFunctionBreakpoints(self, arguments: Json) -> None:  # noqa: N802
        wanted = cast("list[Json]", arguments.get("breakpoints", []))
        self.respond({"breakpoints": [{"verified": True} for _ in wanted]})

    def on_setExceptionBreakpoints(self, _: Json) -> None:  # noqa: N802
        self.respond({})

    def on_configurationDone(self, _: Json) -> None:  # noqa: N802
        self.respond({})
        if self.launch is not None:
            self.respond({}, self.launch)
        self.stopped("entry")

    def on_threads(self, _: Json) -> None:
        self.respond({"threads": [{"id": 1, "name": "main"}]})

    def on_stackTrace(self, _: Json) -> None:  # noqa: N802
        source = {"name": Path(self.file).name, "path": self.file}
        frame = {"id": 100 + self.line, "name": "main", "line": self.line, "column": 1}
        self.respond({"stackFrames": [{**frame, "source": source}], "totalFrames": 1})

    def on_scopes(self, _: Json) -> None:
        scope = {"name": "Locals", "presentationHint": "locals", "expensive": False}
        self.respond({"scopes": [{**scope, "variablesReference": 1000 + self.line}]})

    def on_variables(self, _: Json) -> None:
        line = {"name": "line", "value": str(self.line), "type": "int", "variablesReference": 0}
        self.respond({"variables": [line]})

    def on_evaluate(self, arguments: Json) -> None:
        self.respond({"result": f"<{arguments['expression']}>", "variablesReference": 0})

    def on_setVariable(self, arguments: Json) -> None:  # noqa: N802
        self.respond({"value": arguments["value"]})

    def on_next(self, _: Json) -> None:
        self.respond({})
        self.line += 1
        if self.line > LAST_LINE:
            self.end(0)
        else:
            self.stopped("step")

    on_stepIn = on_stepOut = on_next  # noqa: N815

    def on_continue(self, _: Json) -> None:
        self.respond({"allThreadsContinued": True})
        self.event("output", {"category": "stdout", "output": "the end\n"})
        self.end(0)

    def on_pause(self, _: Json) -> None:
        self.respond({})
        self.stopped("pause")

    def on_terminate(self, _: Json) -> None:
        self.respond({})
        self.event("terminated")

    def on_disconnect(self, _: Json) -> None:
        self.respond({})
        self.do_exit(0)

    def stopped(self, reason: str) -> None:
        self.event("stopped", {"reason": reason, "threadId": 1, "allThreadsStopped": True})

    def end(self, code: int) -> None:
        self.event("exited", {"exitCode": code})
        self.event("terminated")


def _response_to(request: Json) -> Json:
    return {"type": "response", "request_seq": request["seq"], "command": request["command"]}


def _answer(response: Json) -> str:
    outcome = "accepted" if response["success"] else f"refused: {response.get('message')}"
    return f"client answered {response['command']}: {outcome}\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("script", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--announce", action="store_true")
    arguments = parser.parse_args()
    script = json.loads(arguments.script.read_text(encoding="utf-8"))
    if arguments.port is None:
        FakeAdapter(sys.stdin.buffer, sys.stdout.buffer, script).run()
        return
    with socket.create_server(("127.0.0.1", arguments.port)) as server:
        if arguments.announce:
            sys.stderr.write("listening\n")
            sys.stderr.flush()
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
            FakeAdapter(reader, writer, script).run()


if __name__ == "__main__":
    main()
