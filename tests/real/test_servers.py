"""One call sets a breakpoint in a handler of a framework, sends the request, and reads the values of it."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.running import free_port, go_built
from tests.harness import client, has_all, needs, printed, read
from tests.programs import Program, tool
from tests.real.software import environment, node_modules, package

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
AIOHTTP = """
import sys
from aiohttp import web

async def total(request):
    cart = await request.json()
    total = cart["tea"] * 3 + cart["cup"] * 5
    return web.json_response({"total": total})  # @answer

app = web.Application()
app.add_routes([web.post("/total", total)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]))
"""
GRPC = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
import grpc

def of_cart(request, context):
    cart = json.loads(request)
    total = cart["tea"] * 3 + cart["cup"] * 5
    return json.dumps({"total": total}).encode()  # @answer

handlers = {"Total": grpc.unary_unary_rpc_method_handler(of_cart)}
server = grpc.server(ThreadPoolExecutor(1))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Shop", handlers)])
server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
"""
GRPC_CLIENT = """
import sys, grpc
with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    print(channel.unary_unary("/shop.Shop/Total")(sys.argv[2].encode()).decode())
"""
TCP = """
import json, socket, sys

with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        client, _ = server.accept()
        with client, client.makefile("rw") as lines:
            cart = json.loads(lines.readline())
            total = cart["tea"] * 3 + cart["cup"] * 5
            print(json.dumps({"total": total}), file=lines)  # @answer
"""
TCP_CLIENT = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
    server.sendall(f"{sys.argv[2]}\\n".encode())
    print(server.makefile().readline().strip())
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
            int total = cart.length() - 9;
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
WEBRICK = """
require "webrick"
require "json"

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: ARGV[0].to_i, AccessLog: [])
server.mount_proc("/total") do |request, response|
  cart = JSON.parse(request.body)
  total = cart["tea"] * 3 + cart["cup"] * 5
  response["Content-Type"] = "application/json"
  response.body = JSON.generate({ total: total }) # @answer
end
server.start
"""
RACK = """
require "json"

run(lambda do |env|
  cart = JSON.parse(env["rack.input"].read)
  total = cart["tea"] * 3 + cart["cup"] * 5
  [200, {"Content-Type" => "application/json"}, [JSON.generate({ total: total })]] # @answer
end)
"""
VITE = """
import type { Plugin } from "vite";

const totals: Plugin = {
  name: "totals",
  configureServer(server) {
    server.middlewares.use("/total", (request, response) => {
      let text: string = "";
      request.on("data", (piece) => (text += piece));
      request.on("end", () => {
        const cart = JSON.parse(text);
        const total: number = cart.tea * 3 + cart.cup * 5;
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ total })); // @answer
      });
    });
  },
};

export default { plugins: [totals] };
"""
VITES_PAGE = """
<!doctype html><link rel="icon" href="data:"><button id="buy">Buy</button>
<script type="module">
document.querySelector("#buy").addEventListener("click", async () => {
  const answer = await fetch("/total", { method: "POST", body: JSON.stringify({ tea: 2, cup: 1 }) });
  console.log(`${(await answer.json()).total} EUR`);
});
</script>
"""


async def trapped(
    folder: Path, name: str, text: str, port: int, *command: str, **run: object
) -> None:
    """Set a breakpoint in the handler, send the cart, and read the stop; the next call brings the response.

    It is sent by a request, or by `command`, with the port and the cart behind it.
    """
    (folder / name).write_text(text, "utf-8")
    source = Program(folder / name, folder / name)
    then = [{"request": f"POST http://127.0.0.1:{port}/total", "json": CART}]
    waits, answered = "then: POST /total waits for its answer", "then: POST /total → 200"
    if command:
        then = [{"command": [*command, str(port), json.dumps(CART)]}]
        waits, answered = "runs (the program is stopped)", "→ exit code 0"
    async with asyncio.timeout(SECONDS), client(folder) as c:
        said = await read(
            c, "dap_run", breakpoints=[source.at("answer")], then=then, timeout_ms=60_000, **run
        )
        assert has_all(said, "Stopped (breakpoint)", "total = 11", waits)
        gone_on = await read(c, "dap_continue")
        assert answered in gone_on
        # Some frameworks write it on several lines.
        assert '{"total":11}' in "".join(gone_on.split())


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


async def test_gunicorns_workers_are_a_group(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(FLASK, "utf-8")
    source, port = Program(tmp_path / "app.py", tmp_path / "app.py"), free_port()
    then = [{"request": f"POST http://127.0.0.1:{port}/total", "json": CART}]
    async with asyncio.timeout(SECONDS), client(tmp_path) as c:
        said = await read(
            c, "dap_run", module="gunicorn", args=["-w", "2", "-b", f"127.0.0.1:{port}", "app:app"],
            python=str(environment("web")), breakpoints=[source.at("answer")], then=then,
            timeout_ms=60_000,
        )  # fmt: skip
        assert has_all(said, "Stopped (breakpoint)", "total = 11")
        group = "module gunicorn"
        one = await read(c, "dap_evaluate", expressions=["total"], group=group)
        assert has_all(one, "total = 11", "running")
        assert "→ 200" in await read(c, "dap_continue")
        assert await read(c, "dap_terminate", group=group) == "Ended."


TRAIN = """
import os

rank = int(os.environ["RANK"])
loss = 0.5 if rank < 2 else float("nan")
print(rank, loss)  # @step
"""


async def test_the_ranks_of_torchrun_are_a_group(tmp_path: Path) -> None:
    python = os.environ.get("DAPEER_TORCH_PYTHON") or pytest.skip(
        "needs PyTorch, of 740 MB or more: DAPEER_TORCH_PYTHON names an interpreter that has it"
    )
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    source = Program(tmp_path / "train.py", tmp_path / "train.py")
    args = ["--nproc_per_node", "3", "--master_port", str(free_port()), "train.py"]
    async with asyncio.timeout(SECONDS), client(tmp_path) as c:
        said = await read(
            c, "dap_run", module="torch.distributed.run", args=args, python=python,
            breakpoints=[source.at("step")], timeout_ms=90_000,
        )  # fmt: skip
        assert "Stopped (breakpoint) at train.py:" in said
        group = "module torch.distributed.run"
        one = ""
        # Each rank comes to its stop by itself.
        while not ("0.5 in " in one and "nan in " in one):
            await read(c, "dap_wait_until_paused", timeout_ms=1000)
            one = await read(c, "dap_evaluate", expressions=["loss"], group=group)
        assert "(not asked: 1 running)" in one, "torchrun itself"
        assert await read(c, "dap_terminate", group=group) == "Ended."


async def test_aiohttp(tmp_path: Path) -> None:
    port, python = free_port(), str(environment("aiohttp"))
    await trapped(
        tmp_path, "app.py", AIOHTTP, port, program="app.py", args=[str(port)], python=python
    )


async def test_grpc_by_a_command(tmp_path: Path) -> None:
    port, folder = free_port(), environment("grpc")
    send = [str(folder / "bin" / "python"), "-c", GRPC_CLIENT]
    await trapped(
        tmp_path,
        "app.py",
        GRPC,
        port,
        *send,
        program="app.py",
        args=[str(port)],
        python=str(folder),
    )


async def test_a_raw_socket_by_a_command(tmp_path: Path) -> None:
    port, send = free_port(), [sys.executable, "-c", TCP_CLIENT]
    await trapped(tmp_path, "app.py", TCP, port, *send, program="app.py", args=[str(port)])


async def test_express(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules("express"))
    port = free_port()
    await trapped(tmp_path, "app.js", EXPRESS, port=port, program="app.js", args=[str(port)])


async def test_go(tmp_path: Path) -> None:
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


async def test_rubys_webrick(tmp_path: Path) -> None:
    tool("ruby")
    package("ruby-webrick")
    port = free_port()
    await trapped(tmp_path, "app.rb", WEBRICK, port=port, program="app.rb", args=[str(port)])


@pytest.mark.parametrize("server", ["webrick", "puma"])
async def test_rack(tmp_path: Path, server: str) -> None:
    tool("ruby")
    program = str(package("ruby-rack"))
    package({"webrick": "ruby-webrick", "puma": "puma"}[server])
    port = free_port()
    args = ["-s", server, "-o", "127.0.0.1", "-p", str(port), "config.ru"]
    await trapped(tmp_path, "config.ru", RACK, port=port, program=program, args=args)


async def test_vites_own_server_by_itself(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules("typescript"))
    port = free_port()
    args = ["--port", str(port), "--host", "127.0.0.1"]
    program = "node_modules/vite/bin/vite.js"
    await trapped(tmp_path, "vite.config.ts", VITE, port=port, program=program, args=args)


async def test_vites_own_server_with_its_page(tmp_path: Path) -> None:
    needs("chrome")
    (tmp_path / "node_modules").symlink_to(node_modules("typescript"))
    (tmp_path / "vite.config.ts").write_text(VITE, "utf-8")
    (tmp_path / "index.html").write_text(VITES_PAGE, "utf-8")
    source = Program(tmp_path / "vite.config.ts", tmp_path / "vite.config.ts")
    program, port = "node_modules/vite/bin/vite.js", free_port()
    url = f"http://localhost:{port}/"
    async with asyncio.timeout(SECONDS), client(tmp_path) as c:
        up = await read(
            c, "dap_run", program=program, args=["--port", str(port)],
            breakpoints=[source.at("answer")], then=[{"request": f"GET {url}"}], timeout_ms=60_000,
        )  # fmt: skip
        assert has_all(up, "Still running", "then: GET / → 200", "text/html")
        then = [{"evaluate": "document.querySelector('#buy').click(), 'clicked'"}]
        said = await read(c, "dap_run", program=url, then=then, timeout_ms=60_000)
        assert has_all(said, "Stopped (breakpoint) at vite.config.ts:", "total = 11")
        assert "which `then` has reached; session 3 still runs" in said
        await read(c, "dap_continue", session_id=2, wait_until_paused=False)
        assert "11 EUR" in await printed(c, "EUR", category="all", session_id=3)
