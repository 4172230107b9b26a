"""One call sets a breakpoint in a handler of a framework, sends the request, and reads the values of it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.running import free_port, go_built
from tests.harness import client, has_all, read
from tests.programs import Program, tool
from tests.real.software import environment, node_modules

SECONDS = 120
CART = {"tea": 2, "cup": 1}

FLASK = """
import sys
from flask import Flask, request

app = Flask(__name__)

@app.post("/total")
def total():
    cart = request.get_json()
    total = cart["tea"] * 3 + cart["cup"] * 5
    return {"total": total}  # @answer

if __name__ == "__main__":
    app.run(port=int(sys.argv[1]), debug="--reload" in sys.argv)
"""
FASTAPI = """
from fastapi import FastAPI

app = FastAPI()

@app.post("/total")
async def total(cart: dict[str, int]):
    total = cart["tea"] * 3 + cart["cup"] * 5
    return {"total": total}  # @answer
"""
DJANGO = """
import json, sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import JsonResponse
from django.urls import path

settings.configure(DEBUG=True, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="none", MIDDLEWARE=[])

def total(request):
    cart = json.loads(request.body)
    total = cart["tea"] * 3 + cart["cup"] * 5
    return JsonResponse({"total": total})  # @answer

urlpatterns = [path("total", total)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
"""
EXPRESS = """
const express = require("express");
const app = express();
app.use(express.json());
app.post("/total", (request, response) => {
  const cart = request.body;
  const total = cart.tea * 3 + cart.cup * 5;
  response.json({ total }); // @answer
});
app.listen(Number(process.argv[2]), "127.0.0.1");
"""
GO = """package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func handle(w http.ResponseWriter, r *http.Request) {
	cart := map[string]int{}
	json.NewDecoder(r.Body).Decode(&cart)
	total := cart["tea"]*3 + cart["cup"]*5
	fmt.Fprintf(w, `{"total":%d}`, total) // @answer
}

func main() {
	http.HandleFunc("/total", handle)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
"""
JAVA = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Serving {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/total", exchange -> {
            String cart = new String(exchange.getRequestBody().readAllBytes());
            int total = cart.length() - 8;
            byte[] answer = ("{\\"total\\":" + total + "}").getBytes();
            exchange.sendResponseHeaders(200, answer.length); // @answer
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
"""
RUBY = """
require "socket"
require "json"

server = TCPServer.new("127.0.0.1", ARGV[0].to_i)
loop do
  client = server.accept
  length = 0
  while (line = client.gets.chomp) != ""
    length = line.split(": ")[1].to_i if line.downcase.start_with?("content-length")
  end
  cart = JSON.parse(client.read(length))
  total = cart["tea"] * 3 + cart["cup"] * 5
  body = JSON.generate({ total: total }) # @answer
  client.write("HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: #{body.size}\\r\\nConnection: close\\r\\n\\r\\n#{body}")
  client.close
end
"""


async def trapped(folder: Path, name: str, text: str, port: int, **run: object) -> None:
    """Set a breakpoint in the handler, send the cart, and read the stop; the next call brings the response."""
    (folder / name).write_text(text, "utf-8")
    source = Program(folder / name, folder / name)

    then = [{"request": f"POST http://127.0.0.1:{port}/total", "json": CART}]
    async with asyncio.timeout(SECONDS), client(folder) as c:
        said = await read(
            c, "dap_run", breakpoints=[source.at("answer")], then=then, timeout_ms=60_000, **run
        )
        assert has_all(
            said, "Stopped (breakpoint)", "total = 11", "then: POST /total waits for its answer"
        )
        gone_on = await read(c, "dap_continue")
        assert has_all(gone_on.replace(": 11", ":11"), "then: POST /total → 200", '{"total":11}')


@pytest.mark.parametrize("options", [[], ["--reload"]], ids=["alone", "reloading"])
async def test_flask(tmp_path: Path, options: Sequence[str]) -> None:
    port, python = free_port(), str(environment("web"))
    args = [str(port), *options]
    await trapped(tmp_path, "app.py", FLASK, port=port, program="app.py", args=args, python=python)


@pytest.mark.parametrize("options", [[], ["--reload"]], ids=["alone", "reloading"])
async def test_fastapi_under_uvicorn(tmp_path: Path, options: Sequence[str]) -> None:
    port, python = free_port(), str(environment("web"))
    args = ["app:app", "--port", str(port), *options]
    await trapped(
        tmp_path, "app.py", FASTAPI, port=port, module="uvicorn", args=args, python=python
    )


async def test_djangos_runserver_with_its_two_processes(tmp_path: Path) -> None:
    port, python = free_port(), str(environment("web"))
    args = ["runserver", str(port)]
    await trapped(
        tmp_path, "manage.py", DJANGO, port=port, program="manage.py", args=args, python=python
    )


async def test_express(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules("express"))
    port = free_port()
    await trapped(tmp_path, "app.js", EXPRESS, port=port, program="app.js", args=[str(port)])


async def test_go(tmp_path: Path) -> None:
    tool("go", "golang")
    (tmp_path / "app.go").write_text(GO, "utf-8")
    port, program = free_port(), go_built(tmp_path / "app.go", tmp_path)
    await trapped(tmp_path, "app.go", GO, port=port, program=program, args=[str(port)])


async def test_java(tmp_path: Path) -> None:
    tool("java", "default-jdk")
    port = free_port()
    await trapped(
        tmp_path, "Serving.java", JAVA, port=port, program="Serving.java", args=[str(port)]
    )


async def test_ruby(tmp_path: Path) -> None:
    tool("ruby")
    port = free_port()
    await trapped(tmp_path, "app.rb", RUBY, port=port, program="app.rb", args=[str(port)])
