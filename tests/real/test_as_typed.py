"""Servers and scripts that are started by the commands of real packages: what these start is debugged."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import free_port
from tests.harness import needs
from tests.real.assistant import Assistant, assistant, line_of
from tests.real.software import environment, node_modules

SECONDS = 120

FLASK = """
from flask import Flask
app = Flask(__name__)

@app.get("/")
def hello():
    name = "flask"
    return name
"""
ASGI = """
async def app(scope, receive, send):
    if scope["type"] == "http":
        name = scope["path"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": name.encode()})
"""
WSGI = """
def app(environ, start_response):
    name = environ["PATH_INFO"]
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [name.encode()]
"""
DJANGO = """
from django.http import HttpResponse
from django.urls import path

DEBUG, SECRET_KEY, ALLOWED_HOSTS, ROOT_URLCONF, USE_TZ = True, "x", ["*"], __name__, True

def hello(request):
    name = request.path
    return HttpResponse(name)

urlpatterns = [path("", hello)]
"""
NODE = """\
const http = require('http');
http.createServer((request, response) => {
  const name = request.url;
  response.end(name);
}).listen(Number(process.argv.at(-1)), '127.0.0.1', () => console.log('up'));
"""
TYPESCRIPT = NODE.replace("const http = require('http')", "import * as http from 'node:http'").replace(
    "const name =", "const name: string | undefined ="
)  # fmt: skip

Words = Callable[[int], list[str]]

PYTHON: list[tuple[str, Words, str, str]] = [
    ("flask", lambda port: ["--app", "served", "run", "--port", f"{port}"], FLASK, "return name"),
    ("flask", lambda port: ["--app", "served", "--debug", "run", "--port", f"{port}"], FLASK, "return name"),
    ("uvicorn", lambda port: ["served:app", "--port", f"{port}"], ASGI, "response.start"),
    ("uvicorn", lambda port: ["served:app", "--reload", "--port", f"{port}"], ASGI, "response.start"),
    ("gunicorn", lambda port: ["served:app", "-b", f"127.0.0.1:{port}"], WSGI, "start_response("),
    ("django-admin", lambda port: ["runserver", "--settings", "served", "--pythonpath", ".", f"{port}"], DJANGO, "return HttpResponse"),
]  # fmt: skip
IN_NODE: list[tuple[str, Words]] = [
    ("tsx", lambda port: ["served.ts", f"{port}"]),
    ("tsx", lambda port: ["watch", "served.ts", f"{port}"]),
    ("npx", lambda port: ["tsx", "served.ts", f"{port}"]),
    ("node", lambda port: ["--watch", "served.js", f"{port}"]),
]


@pytest.mark.parametrize(
    ("command", "words", "text", "line"),
    PYTHON,
    ids=[f"{command} {' '.join(words(0)[-3:])}" for command, words, *_ in PYTHON],
)
async def test_a_server_that_a_command_of_python_starts_stops_in_its_handler(
    command: str, words: Words, text: str, line: str, tmp_path: Path
) -> None:
    served, port = tmp_path / "served.py", free_port()
    served.write_text(text, encoding="utf-8")
    at = {"filename": "served.py", "line": line_of(served, line)}
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await stop_at_request(
            a,
            port,
            program=command,
            args=words(port),
            breakpoints=[at],
            python=str(environment("web")),
        )
        assert f"at served.py:{at['line']} in " in stop


@pytest.mark.parametrize(
    ("command", "words"),
    IN_NODE,
    ids=[f"{command} {' '.join(words(0)[:-1])}" for command, words in IN_NODE],
)
async def test_a_server_that_a_command_of_node_starts_stops_in_its_handler(
    command: str, words: Words, tmp_path: Path
) -> None:
    needs("js-debug")
    (tmp_path / "node_modules").symlink_to(node_modules("typescript"))
    port = free_port()
    args = words(port)
    name = next(each for each in args if each.startswith("served."))
    served = tmp_path / name
    served.write_text(TYPESCRIPT if name.endswith(".ts") else NODE, encoding="utf-8")
    at = {"filename": name, "line": line_of(served, "response.end")}
    async with asyncio.timeout(SECONDS), assistant(tmp_path) as a:
        stop = await stop_at_request(a, port, program=command, args=args, breakpoints=[at])
        assert f"at {name}:{at['line']} in " in stop


async def stop_at_request(a: Assistant, port: int, **run: object) -> str:
    """Start a server that is asked once it listens; return its stop."""
    asks = [{"request": f"GET http://127.0.0.1:{port}/"}]
    stop = await a.run(then=asks, **run)
    await a.read("dap_terminate")
    return stop
