"""The scripted model of `tests/opencode/provider.py`, behind a server that speaks Anthropic's Messages API."""

import json
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.json_types import Json
from tests.opencode.provider import Call, Fail, Provider, Say

MOST_TOOLS_ASIDE = 1
"""With so many tools at most Claude Code asks for titles and the like."""


@contextmanager
def provider() -> Generator[Provider]:
    """Serve a scripted model while the body runs."""
    scripted = Provider()

    class Handler(_Handler):
        model = scripted

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        scripted.url = f"http://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield scripted
        finally:
            server.shutdown()
            serving.join()


class _Handler(BaseHTTPRequestHandler):
    model: Provider

    def do_HEAD(self) -> None:
        self._send("text/plain", b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = self.model.step(_as_chat(body))
        if isinstance(step, Fail):
            error = {"type": "invalid_request_error", "message": step.message}
            self._send("application/json", json.dumps({"error": error}).encode(), step.status)
            return
        events = _events(step, body["model"])
        told = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        self._send("text/event-stream", "".join(told).encode())

    def _send(self, kind: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
        """Say nothing."""


def _as_chat(body: Json) -> Json:
    """Return a request in the form in which the scripted model reads it."""
    messages = [{"role": "system", "content": _text(body.get("system", ""))}]
    for message in body["messages"]:
        messages += _spoken(message["role"], message["content"])
    tools = [
        {"function": {"name": one["name"], "description": one.get("description", "")}}
        for one in body.get("tools", ())
    ]
    return {"messages": messages, "tools": tools if len(tools) > MOST_TOOLS_ASIDE else []}


def _spoken(role: str, content: str | Sequence[Json]) -> Iterator[Json]:
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    for block in content:
        if block["type"] == "tool_result":
            yield {"role": "tool", "content": _text(block["content"]), **_failure(block)}
    if role == "assistant" or any(block["type"] == "text" for block in content):
        yield {"role": role, "content": _text(content)}


def _failure(block: Json) -> Json:
    return {"is_error": True} if block.get("is_error") else {}


def _text(content: str | Sequence[Json]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def _events(step: Say | Call, model: str) -> Iterator[Json]:
    """Yield an answer in the pieces in which it is streamed."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": f"msg_{id(step)}", "type": "message", "role": "assistant", "model": model}
    unfinished: Json = {"content": [], "stop_reason": None, "stop_sequence": None}
    begun = {**message, **unfinished, "usage": usage}
    yield {"type": "message_start", "message": begun}
    if isinstance(step, Say):
        block: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{id(step)}", "name": step.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if isinstance(step, Say) else "tool_use"
    ended = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}
