"""The plugin's own HTTP client, against a server that answers in every way that HTTP/1.1 knows."""

import asyncio
from pathlib import Path
from typing import Any

from tests import second_user
from tests.neovim.editor import Editor, neovim
from tests.opencode.server import free_port

SENDS = "require('dapeer.integrations.http').send(...)"
ASKS = """
local request = ...
require('dapeer.integrations.http').request(request, function(answer, problem)
  vim.rpcnotify(vim.g.test_channel, 'answered', answer or vim.NIL, problem or vim.NIL)
end)
"""
OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "/whole": [OK + b'Content-Length: 11\r\n\r\n{"a":[1,2]}', b"more"],
    "/torn": [b"HTTP/1.", b"1 200 OK\r\nContent-", b"Length: 11\r\n\r\n", b'{"a":[', b"1,2]}"],
    "/pieces": [
        OK + b"Transfer-Encoding: chunked\r\n\r\n6\r\n{",
        b'"a":[\r\n5;name=value\r\n1,2]}\r\n0',
        b"\r\n\r\n",
    ],
    "/until-the-end": [OK + b'\r\n{"a":', b"[1,2]}"],
    "/nothing": [b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"],
    "/page": [OK + b"Content-Length: 6\r\n\r\n<html>"],
    "/half": [OK + b"Content-Length: 11\r\n\r\n{"],
    "/silence": [],
}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    for piece in ANSWERS[head.split(b" ")[1].decode()]:
        writer.write(piece)
        await writer.drain()
    writer.close()


async def asks(editor: Editor, url: str) -> list[Any]:
    await editor.lua(ASKS, {"method": "GET", "url": url, "headers": {"X": "y\r\nEvil: z"}})
    return await editor.notified("answered")


async def test_every_form_of_an_answer_is_understood(tmp_path: Path) -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    good = [{"status": 200, "body": {"a": [1, 2]}}, None]
    async with server, neovim(tmp_path, dap=False) as editor:
        for path in ("/whole", "/torn", "/pieces", "/until-the-end"):
            assert await asks(editor, f"http://127.0.0.1:{port}{path}") == good, path
        assert await asks(editor, f"http://localhost:{port}/whole") == good
        assert await asks(editor, f"http://0.0.0.0:{port}/nothing") == [{"status": 401}, None]
        assert await asks(editor, f"http://127.0.0.1:{port}/page") == [{"status": 200}, None]
        for path in ("/half", "/silence"):
            assert await asks(editor, f"http://127.0.0.1:{port}{path}") == [
                None,
                "it closed the connection",
            ]
        # Of the two addresses that this name has.
        assert await asks(editor, f"http://localhost:{free_port()}/") == [None, "ECONNREFUSED"]
        for url in (
            "https://127.0.0.1/",
            "http://127.0.0.1.example.com/",
            "http://a@b/",
            "file:///",
        ):
            assert await asks(editor, url) == [None, "it is not on this machine"]


@second_user.needed
async def test_another_user_who_listens_is_told_nothing(tmp_path: Path) -> None:
    with second_user.hears("tcp") as (address, process):
        async with neovim(tmp_path, dap=False) as editor:
            assert await asks(editor, f"http://{address}/") == [
                None,
                "another user of this machine listens there; nothing was sent",
            ]
            assert second_user.says(process) == "0"
            await editor.lua(SENDS, {"method": "POST", "url": f"http://{address}/", "body": "x"})
        assert second_user.says(process) == "0"
