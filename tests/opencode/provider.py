"""A model whose lines are written by the test, behind a real HTTP server that speaks OpenAI's protocol.

    provider.plays("Find the bug.", Call("dapeer_dap_run", {"program": "shop.py"}), Say("It is on line 16."))

Whoever prompts OpenCode with these words gets one step per request. A step that is a function is given
what the tools have answered so far, and returns the step.
"""

import json
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.json_types import Json
from tests.processes import LIMIT


@dataclass(frozen=True)
class Say:
    """The model says something, and is done."""

    text: str
    after: threading.Event | None = None
    """It waits for this before it speaks."""


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    name: str
    arguments: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Fail:
    """The provider refuses. OpenCode tries again, at once, what is not the request's own fault."""

    message: str
    status: int = 400


Decide = Callable[[Sequence[str]], Say | Call | Fail]
"""A step that depends on what the tools have answered."""
Step = Say | Call | Fail | Decide


class Provider:
    """The scripted model."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        """What was asked, oldest first; read it, and no more."""
        self._scripts: dict[str, tuple[Step, ...]] = {}
        self.url = ""
        self._waiting: list[threading.Event] = []

    def plays(self, prompt: str, *steps: Step) -> str:
        """Have the model do these steps when it is prompted with these words; return the words."""
        self._scripts[prompt] = steps
        return prompt

    def asked(self) -> list[Json]:
        """Return the messages that the model got last; titles and the like are asked for aside, without tools."""
        messages: list[Json] = self._last()["messages"]
        return messages

    def offered(self) -> dict[str, Json]:
        """Return the tools that the model was offered last, by name."""
        return {tool["function"]["name"]: tool["function"] for tool in self._last()["tools"]}

    def _last(self) -> Json:
        return next(request for request in reversed(self.requests) if request.get("tools"))

    def release(self) -> None:
        """Let everybody go who waits."""
        for event in self._waiting:
            event.set()

    def step(self, request: Json) -> Say | Call | Fail:
        """Return what the model does now."""
        step = self._step(request)
        if isinstance(step, Say) and step.after is not None:
            self._waiting.append(step.after)
        return step

    def _step(self, request: Json) -> Say | Call | Fail:
        self.requests.append(request)
        # Titles and summaries are asked for without tools.
        found = self._script(request["messages"]) if request.get("tools") else None
        if found is None:
            return Say("ok")
        script, after = found
        number = sum(message["role"] == "assistant" for message in after)
        step = script[number] if number < len(script) else Fail(f"the script has no step {number}")
        if isinstance(step, Say | Call | Fail):
            return step
        told = [_text(message) for message in after if message["role"] == "tool"]
        try:
            return step(told)
        except Exception as error:  # noqa: BLE001 - whatever the test has found
            return Fail(f"{error!r} after {told}")

    def _script(self, messages: list[Json]) -> tuple[tuple[Step, ...], list[Json]] | None:
        """Return the script of the newest prompt that has one, and what was said since."""
        for index in reversed(range(len(messages))):
            if messages[index]["role"] == "user":
                said = _text(messages[index])
                for prompt, script in self._scripts.items():
                    if prompt in said:
                        return script, messages[index + 1 :]
        return None


def _text(message: Json) -> str:
    content: str | list[Json] | None = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or [])


@contextmanager
def provider() -> Generator[Provider]:
    """Serve a scripted model while the body runs."""
    scripted = Provider()

    class Handler(_Handler):
        play = staticmethod(scripted.step)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        scripted.url = f"http://127.0.0.1:{server.server_port}/v1"
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield scripted
        finally:
            scripted.release()
            server.shutdown()
            serving.join()


class _Handler(BaseHTTPRequestHandler):
    play: Callable[[Json], Say | Call | Fail]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = self.play(request)
        if isinstance(step, Fail):
            error = {"message": step.message, "type": "invalid_request_error"}
            self._send("application/json", json.dumps({"error": error}), step.status)
            return
        if isinstance(step, Say) and step.after is not None:
            step.after.wait(LIMIT)
        chunks = [json.dumps(chunk) for chunk in _chunks(step)]
        try:
            self._send("text/event-stream", "".join(f"data: {c}\n\n" for c in [*chunks, "[DONE]"]))
        except ConnectionError:
            return  # nobody waits any more

    def _send(self, kind: str, text: str, status: int = 200) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        # When to try again; else OpenCode waits for seconds.
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
        """Say nothing."""


def _chunks(step: Say | Call) -> list[Json]:
    """Return an answer in the pieces in which providers stream it."""
    if isinstance(step, Say):
        said: list[Json] = [{"content": f"{word} "} for word in step.text.split(" ")]
        said[-1] = {"content": said[-1]["content"].removesuffix(" ")}
    else:
        function = {"name": step.name, "arguments": json.dumps(step.arguments)}
        call = {"index": 0, "id": f"call_{id(step)}", "type": "function", "function": function}
        said = [{"tool_calls": [call]}]
    deltas = [{"role": "assistant", "content": ""}, *said]
    finish = "stop" if isinstance(step, Say) else "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return [
        *(_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas),
        _chunk([{"index": 0, "delta": {}, "finish_reason": finish}]) | {"usage": usage},
    ]


def _chunk(choices: list[Json]) -> Json:
    named = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return named | {"choices": choices}
