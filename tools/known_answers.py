"""What is made of the tools before anything is installed: `uv run python -m tools.known_answers` writes it.

These are the tools as data, with their schemas, and what `dapeer stdio` answers before the whole server is loaded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.cli.command_line import command_parser
from dapeer.integrations.entries import ENTRIES
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.data_extension import CAPABILITIES, EXTENSION
from dapeer.mcp.front import KNOWN
from dapeer.mcp.server.server import make_server
from dapeer.mcp.transports import jsonl
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base import schema
from dapeer.tools.base.known_tools import known_file
from dapeer.tools.base.tool import Tool
from tests.json_types import Json
from tests.mcp.wire import opening, request
from tests.programs import ROOT

if TYPE_CHECKING:
    from dapeer.tools.base.known_tools import KnownTool


def of_integrations() -> Iterator[Tool]:
    """Yield the tools that integrations may offer."""
    usual = command_parser().parse_args(["stdio"], argparse.Namespace(credentials={}))
    for each in ENTRIES:
        yield from (tool for tool in each.integration(usual).tools if isinstance(tool, Tool))


EVERY = (*TOOLS, *of_integrations())
LISTS = ("prompts/list", "resources/list", "resources/templates/list", "tools/list")


async def whole(lines: Sequence[bytes]) -> list[bytes]:
    """Return what the whole server answers to these lines."""
    ours, theirs = socket.socketpair()
    async with Debugger(load_all(shipped()), ROOT) as debugger:
        served = await asyncio.open_connection(sock=theirs)
        serving = asyncio.create_task(jsonl.serve(make_server(debugger, TOOLS), *served))
        reader, writer = await asyncio.open_connection(sock=ours, limit=jsonl.LONGEST_LINE)
        answers: list[bytes] = []
        for line in lines:
            writer.write(line)
            if b'"id"' in line:
                answers.append(await reader.readline())
        writer.close()
        await serving
        served[1].close()
    return answers


def line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


def descriptions() -> dict[Path, str]:
    """Return the texts of the files that describe tools."""
    files: defaultdict[Path, dict[str, object]] = defaultdict(dict)
    for tool in EVERY:
        files[Path(known_file(tool.function.__module__))][tool.name] = described(tool)
    return {path: _as_lines(known) for path, known in files.items()}


def described(tool: Tool) -> KnownTool:
    """Return a tool as data."""
    kinds = tool.kinds
    return {
        "title": tool.title,
        "section": tool.section,
        "description": tool.description,
        "read_only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
        "resumes": tool.resumes,
        "starts": tool.starts,
        "is_lean": tool.is_lean,
        "kinds": kinds and {
            "always": kinds.for_every_call,
            "cases": [
                {"argument": case.argument, "adds": case.adds, "explanation": case.explanation}
                for case in kinds.cases
            ],
            "remark": kinds.remark,
        },
        "needs": tool.needs,
        "argument_needs": tool.argument_needs,
        "unlisted": sorted(tool.unlisted),
        "arguments": schema.make_arguments_schema(tool.function),
        "data": schema.make_data_schema(tool.output),
    }  # fmt: skip


def _as_lines(known: Mapping[str, object]) -> str:
    """Return it as JSON with a line for each tool, so that two changes seldom meet."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}"
        for name, each in known.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def modern(method: str, number: int, data: bool = True, **meta: object) -> Json:
    """Return a request as clients send it since MCP 2026-07-28."""
    told: dict[str, object] = {
        PROTOCOL_VERSION_META_KEY: MODERN_PROTOCOL_VERSIONS[-1],
        CLIENT_INFO_META_KEY: {"name": "a client", "version": "1"},
        CAPABILITIES: {"extensions": {EXTENSION: {}}} if data else {},
    }
    return request(method, number, _meta={**told, **meta})


def made() -> str:
    """Return the text of `mcp/known.json`."""
    asked = ("server/discover", *LISTS)
    later = [line(modern(method, number)) for number, method in enumerate(asked)]
    results = [json.loads(answer)["result"] for answer in asyncio.run(whole(later))]
    lines = [
        line(request("initialize", 0, **opening(HANDSHAKE_PROTOCOL_VERSIONS[-1]))),
        *(line(request(method, number)) for number, method in enumerate(LISTS, 1)),
    ]
    initialize, *lists = [json.loads(answer)["result"] for answer in asyncio.run(whole(lines))]
    return _shown({
        "versions": HANDSHAKE_PROTOCOL_VERSIONS,
        "initialize": initialize,
        "lists": dict(zip(LISTS, lists, strict=True)),
        "modern": {
            "versions": MODERN_PROTOCOL_VERSIONS,
            "results": dict(zip(asked, results, strict=True)),
        },
    })  # fmt: skip


def _shown(known: Json) -> str:
    """Return it as JSON with a line for each tool, so that two changes seldom meet."""
    lists = [known["lists"]["tools/list"], known["modern"]["results"]["tools/list"]]
    tools = [listed["tools"] for listed in lists]
    for listed in lists:
        # Its place is kept: the answer has it there.
        listed["tools"] = []
    text = json.dumps(known, ensure_ascii=False, indent=1)
    for of in tools:
        each = ",\n".join(f"    {json.dumps(tool, ensure_ascii=False)}" for tool in of)
        text = text.replace('"tools": []', f'"tools": [\n{each}\n   ]', 1)
    return f"{text}\n"


if __name__ == "__main__":
    for path, text in descriptions().items():
        path.write_text(text, "utf-8")
    Path(KNOWN).write_text(made(), "utf-8")
