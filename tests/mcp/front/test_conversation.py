"""What a front answers without the MCP library is what the whole server answers, byte for byte, or nothing."""

import asyncio
import json
from pathlib import Path
from typing import cast

import pytest
from mcp.types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from dapeer.mcp import front
from dapeer.mcp.data_extension import CAPABILITIES, EXTENSION
from dapeer.mcp.front import NOTHING, Conversation
from tests.json_types import Json
from tests.mcp.wire import opening, request
from tools.known_answers import LISTS, line, modern, whole

FIRST = line(request("initialize", 0, **opening("2025-11-25", data=False)))
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
PROGRESS = {"_meta": {"progressToken": 7}}

OPENINGS: tuple[Json, ...] = (
    *(opening(version) for version in (*HANDSHAKE_PROTOCOL_VERSIONS, "2026-07-28", "1999-01-01")),
    opening("2025-06-18", data=False),
    {
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "roots": {"listChanged": True},
            "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}},
            "experimental": {"x": {"y": [1.5, None, "ä"]}},
            "tasks": {"list": {}, "requests": {"sampling": {"createMessage": {}}}},
            "of another": 3,
        },
        "clientInfo": {
            "name": "claude-code",
            "title": "Claude Code",
            "version": "2",
            "websiteUrl": "https://claude.ai",
        },
    },
)
"""What clients open a connection with."""

LATER = (
    INITIALIZED,
    b'{"jsonrpc": "2.0", "id": "a-1", "method": "ping"}\r\n',
    *(line(request(method, number)) for number, method in enumerate(LISTS, 1)),
    *(line(request(method, number, **PROGRESS)) for number, method in enumerate(LISTS, 9)),
)

STRANGE_OPENINGS: tuple[object, ...] = (
    {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    {**opening("2025-06-18"), "protocolVersion": 3},
    {**opening("2025-06-18"), "protocolVersion": "\ud800"},
    {**opening("2025-06-18"), "clientInfo": {"name": "x"}},
    {**opening("2025-06-18"), "clientInfo": {"name": "x", "version": 1}},
    {**opening("2025-06-18"), "clientInfo": {"name": "x", "version": "1", "icons": 2}},
    {**opening("2025-06-18"), "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
    *(
        {**opening("2025-06-18"), "capabilities": capabilities}
        for capabilities in cast(
            "tuple[object, ...]",
            (
                None,
                [],
                {"roots": {"listChanged": "yes"}},
                {"roots": []},
                {"sampling": {"tools": True}},
                {"elicitation": {"form": 1}},
                {"experimental": {"x": 1}},
                {"extensions": {EXTENSION: True}},
                {"tasks": {"requests": 3}},
                {"other": float("nan")},
                {"other": json.loads("[" * 300 + "]" * 300)},
            ),
        )
    ),
    None,
)
STRANGE = (
    INITIALIZED.replace(b"}", b',"params":[]}'),
    b"{not json\n",
    b"\xff\n",
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    b"[]\n",
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":-1,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":"\xc3\xa4","method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","other":3}\n',
    b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
    line(request("tools/list", 1, cursor="x")),
    line(request("tools/list", 1, _meta={"progressToken": 1.5})),
    line(request("tools/list", 1, _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
    line(request("tools/lists", 1)),
    line(request("tools/call", 1, name="dap_status", arguments={})),
    line(request("resources/subscribe", 1, uri="debug://sessions")),
)


def answers(*lines: bytes) -> list[bytes | None]:
    conversation = Conversation(data=False)
    return [answer for each in lines if (answer := conversation.answer(each)) != NOTHING]


@pytest.mark.parametrize("params", OPENINGS)
def test_a_front_answers_as_the_whole_server_does(params: Json) -> None:
    lines = (line(request("initialize", 0, **params)), *LATER)
    assert answers(*lines) == asyncio.run(whole(lines))


def test_a_client_that_cannot_ask_for_data_gets_it_by_an_option() -> None:
    lines = [line(request("initialize", 0, **opening("2025-06-18"))), LATER[-1]]
    conversation = Conversation(data=True)
    assert conversation.answer(FIRST)
    assert conversation.answer(lines[1]) == asyncio.run(whole(lines))[1]


@pytest.mark.parametrize("params", STRANGE_OPENINGS)
def test_a_strange_opening_is_left_to_the_whole_server(params: object) -> None:
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    assert answers(line(message), INITIALIZED, LATER[-1]) == [None, None, None]


def test_whatever_is_not_understood_completely_is_left_to_the_whole_server() -> None:
    for each in (*LATER, *STRANGE):
        assert answers(each) == [None], each
    for each in (*STRANGE, FIRST):
        assert answers(FIRST, each)[1:] == [None], each
    assert answers(FIRST, b" " * 70_000 + LATER[1])[1:] == [None]
    assert answers(b"\n", b" \r\n") == []


MODERN = ("server/discover", *LISTS)
"""What clients of MCP 2026-07-28 ask before a model's first call, without `initialize`."""
CLAUDE = {"name": "claude-code", "title": "Claude Code", "version": "2", "websiteUrl": "https://x"}
METAS: tuple[Json, ...] = (
    {},
    {"progressToken": 7},
    {CLIENT_INFO_META_KEY: CLAUDE},
    {CAPABILITIES: {"roots": {"listChanged": True}, "sampling": {"tools": {}}, "elicitation": {"form": {}}}},
    {CAPABILITIES: {"experimental": {"x": {"y": [1.5]}}, "extensions": {"of/another": {}}, "other": 3}},
)  # fmt: skip
STRANGE_METAS: tuple[Json, ...] = (
    {PROTOCOL_VERSION_META_KEY: "2025-06-18"},
    {PROTOCOL_VERSION_META_KEY: 3},
    {CLIENT_INFO_META_KEY: {"name": "x"}},
    {CAPABILITIES: {"sampling": {"tools": True}}},
    {CAPABILITIES: {"roots": []}},
    {CAPABILITIES: None},
    {"progressToken": 1.5},
    {"io.modelcontextprotocol/logLevel": "debug"},
)


@pytest.mark.parametrize("data", [True, False])
def test_a_front_answers_a_client_of_the_newest_protocol_as_the_whole_server_does(
    data: bool,
) -> None:
    lines = [line(modern(each, 1, data, **meta)) for meta in METAS for each in MODERN]
    assert answers(*lines) == asyncio.run(whole(lines))


def test_any_of_its_requests_may_be_the_first() -> None:
    for each in MODERN:
        asked = [line(modern(each, 1, data=False))]
        assert answers(*asked) == asyncio.run(whole(asked))


def test_what_is_strange_in_the_newest_protocol_is_left_to_the_whole_server() -> None:
    first = line(modern("server/discover", 0))
    asked = [line(modern("tools/list", 1, **meta)) for meta in STRANGE_METAS]
    asked += [line(modern(each, 1)) for each in ("ping", "tools/call", "subscriptions/listen")]
    asked += [FIRST, line(request("tools/list", 1)), INITIALIZED]
    for each in asked:
        assert answers(first, each)[1:] == [None], each
    assert answers(FIRST, first)[1:] == [None]


@pytest.mark.parametrize("known", [None, b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_without_its_known_answers_all_is_left_to_the_whole_server(
    known: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "known.json"
    if known is not None:
        file.write_bytes(known)
    monkeypatch.setattr(front, "KNOWN", str(file))
    conversation = Conversation(data=True)
    for asked in (FIRST, line(modern("server/discover", 1))):
        assert conversation.answer(asked) is None
        assert not conversation.is_open
