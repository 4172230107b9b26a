"""Listing and calling tools, in memory."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp import Client, MCPError

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.base.errors import ArgumentError
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.mcp.server.toolbox import LEAN, Selection
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.tool import tool
from tests.mcp.small import ERAS, SMALL, in_memory, text
from tests.processes import LIMIT
from tests.programs import ROOT


@tool("Status", read_only=True)
async def dap_status(call: Call) -> Reply:
    """Tell the status."""
    return Reply(f"{len(call.debugger.sessions)} sessions")


@asynccontextmanager
async def client() -> AsyncGenerator[Client]:
    async with (
        asyncio.timeout(LIMIT),
        in_memory((*SMALL, dap_status)) as server,
        Client(server, mode="legacy") as connected,
    ):
        yield connected


async def test_annotations_say_what_is_true_of_a_tool() -> None:
    async with client() as c:
        listed = {tool.name: tool for tool in (await c.list_tools()).tools}
    hints = {
        name: tool.annotations.model_dump(exclude_none=True)
        for name, tool in listed.items()
        if tool.annotations
    }
    assert hints["small_add"] == {"read_only_hint": True, "open_world_hint": False}
    assert hints["small_fail"] == {
        "read_only_hint": False,
        "destructive_hint": True,
        "idempotent_hint": False,
        "open_world_hint": False,
    }
    assert hints["small_print"]["idempotent_hint"]
    assert not hints["small_print"]["destructive_hint"]


async def test_a_tool_may_be_called_by_its_name_in_mcp_tools_nvim() -> None:
    async with client() as c:
        assert text(await c.call_tool("nvim_dap_status")) == "0 sessions"
        assert "nvim_dap_status" not in [tool.name for tool in (await c.list_tools()).tools]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (None, "Argument `a` is required."),
        ({"a": 1, "c": 2}, "Unknown argument `c`; allowed are: a, b."),
        ({"a": "one"}, "Argument `a`: "),
    ],
)
async def test_wrong_arguments_are_named_in_one_sentence(
    arguments: dict[str, object] | None, sentence: str
) -> None:
    async with client() as c:
        result = await c.call_tool("small_add", arguments)
        assert result.is_error
        assert text(result).startswith(sentence)
        assert "\n" not in text(result)


async def test_a_failure_is_a_result_with_what_happened_and_what_to_do() -> None:
    async with client() as c:
        result = await c.call_tool("small_fail", {"how": "expected"})
        assert result.is_error
        assert text(result) == "The program runs. Call dap_pause first."


async def test_a_bug_is_logged_with_its_traceback_and_told_without_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with client() as c:
        with caplog.at_level(logging.ERROR):
            result = await c.call_tool("small_fail", {"how": "unexpected"})
        assert result.is_error
        assert "Internal error in small_fail: KeyError" in text(result)
        assert "report" in text(result)
        assert "secret" not in text(result)
        assert "a secret" in caplog.text
        assert "Traceback" in caplog.text


async def listed(selection: Selection) -> set[str]:
    """Return the tools that a client sees of a selection."""
    async with in_memory((*SMALL, dap_status), selection=selection) as server, Client(server) as c:
        return {tool.name for tool in (await c.list_tools()).tools}


async def test_read_only_leaves_the_tools_that_only_read() -> None:
    read = {"small_add", "small_wait", "small_waiting", "small_cancelled", "dap_status"}
    assert await listed(Selection(read_only=True)) == read


async def test_read_only_leaves_no_tool_that_sends_something_or_runs_a_task() -> None:
    everything, reading = Selection(), Selection(read_only=True)
    for selection, has in ((everything, {"dap_run", "dap_continue"}), (reading, set[str]())):
        async with in_memory(TOOLS, selection=selection) as server, Client(server) as c:
            tools = (await c.list_tools()).tools
            assert {each.name for each in tools if "then" in each.input_schema["properties"]} == has


async def test_groups_leave_the_tools_of_these_groups() -> None:
    assert await listed(Selection(groups=["dap"])) == {"dap_status"}
    assert await listed(Selection()) == {tool.name for tool in (*SMALL, dap_status)}


@pytest.mark.parametrize(
    ("selection", "options", "hidden"),
    [
        (Selection(read_only=True), "--read-only", "dap_run"),
        (Selection(groups=("lean",)), "--tools lean", "dap_threads"),
        (Selection(read_only=True, groups=("dap",)), "--read-only --tools dap", "dap_run"),
    ],
)
async def test_a_tool_that_is_named_and_not_offered_is_said_not_to_be(
    selection: Selection, options: str, hidden: str
) -> None:
    note = f"This server offers no {hidden}: it was started with `{options}`."
    async with in_memory(TOOLS, selection=selection) as server, Client(server) as c:
        with pytest.raises(MCPError, match=f"Unknown tool: {hidden}. {note}"):
            await c.call_tool(hidden)
        # It says that dap_run starts a session.
        told = text(await c.call_tool("dap_collected"))
    assert told.endswith(f"({note})") is (hidden == "dap_run")
    assert told.count("This server offers") == (hidden == "dap_run")


def test_an_unknown_group_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"group `smalls`\. Groups: .*\bcustom\b.*\bsmall\b"):
        Selection(groups=["smalls"]).check(SMALL)


async def test_our_own_tools_are_listed_with_schemas_that_clients_can_use() -> None:
    async with in_memory(TOOLS) as server, Client(server, mode="legacy") as c:
        listed = (await c.list_tools()).tools
    assert len(listed) == len([tool for tool in TOOLS if tool.needs is None])
    for each in listed:
        assert each.input_schema["type"] == "object"
        assert each.description
        assert each.title
        assert len(each.name) <= 40
        assert "$ref" not in json.dumps(each.input_schema)


async def test_the_lean_group_is_at_most_twelve_tools_in_six_kilobytes() -> None:
    async with (
        asyncio.timeout(LIMIT),
        in_memory(TOOLS, selection=Selection(groups=(LEAN,))) as server,
        Client(server) as connected,
    ):
        listed = (await connected.list_tools()).tools
    of_lean = {tool.name for tool in TOOLS if tool.is_lean}
    assert {tool.name for tool in listed} == of_lean
    assert len(of_lean) <= 12
    shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    assert len(json.dumps(shown, separators=(",", ":"))) <= 6 * 1024


@pytest.mark.parametrize("era", ERAS)
async def test_people_see_a_client_until_what_it_was_served_on_ends(era: str) -> None:
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped(), user_folder()), ROOT) as debugger,
        Peers(debugger) as peers,
    ):
        async with Client(make_server(debugger, SMALL, peers=peers), mode=era) as connected:
            await connected.call_tool("small_add", {"a": 1})
            assert len(peers.connected_clients.names) == 1
        assert peers.connected_clients.names == []
