"""What the protocol offers beyond the basics, where an adapter can do it, and a sentence where it cannot."""

import asyncio
from pathlib import Path

from mcp import Client
from mcp import types as t
from mcp.client.session import IncomingMessage

from tests.fake_adapter import CAPABILITIES
from tests.harness import (
    FAKE_PROGRAM,
    Json,
    ask,
    client,
    evaluate,
    fake,
    listed,
    read,
    refusal,
    served,
)
from tests.processes import LIMIT
from tests.programs import ROOT, program

WEDGED = 50
"""Milliseconds that a test waits for an answer that never comes."""


def stopped(reason: str) -> Json:
    return {"event": ["stopped", {"reason": reason, "threadId": 1, "allThreadsStopped": True}]}


async def test_python_offers_targets_of_a_step_completions_modules_and_assignments() -> None:
    p = program("nested_calls.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("calls")])
        assert (await ask(c, "dap_completions", text="order.to"))["completions"] == ["total"]
        early = await ask(c, "dap_completions", text="order.to + price", column=9)
        assert early["completions"] == ["total"]
        found = (await ask(c, "dap_modules", matching="nested"))["modules"]
        assert found == [{"name": "__main__", "path": str(p)}]

        # What is no variable is assigned as an expression.
        made = await ask(c, "dap_set_variable", path="order.__dict__['total']", value="10")
        assert made == {"path": "order.__dict__['total']", "value": "10"}
        assert await evaluate(c, "order.total") == "10"

        said = await refusal(c, "dap_step_into", target="nothing")
        assert "doubled(price(order.total))" in said
        into = await ask(c, "dap_step_into", target="doubled")
        assert (into["line"], into["locals"]["amount"]) == (p.line("doubled"), "11")


async def test_a_raw_request_takes_and_gives_the_ids_of_the_other_tools() -> None:
    p = program("nested_calls.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("price")])
        thread = (await ask(c, "dap_snapshot"))["thread_id"]
        asked = {"threadId": thread, "levels": 1}
        answer = await ask(c, "dap_request", command="stackTrace", arguments=asked)
        frame = answer["body"]["stackFrames"][0]["id"]
        assert frame == (await ask(c, "dap_stacktrace"))["frames"][0]["frame_id"]
        scopes = await ask(c, "dap_request", command="scopes", arguments={"frameId": frame})
        local = scopes["body"]["scopes"][0]["variablesReference"]
        assert "amount: int = 3" in await read(c, "dap_variables", variables_reference=local)

        assert "needs `frameId`" in await refusal(c, "dap_request", command="scopes")
        assert "dap_run" in await refusal(c, "dap_request", command="launch")
        said = await refusal(c, "dap_request", command="debugpySystemInfo")
        assert "does not advertise" in said
        assert "force" in said
        known = await ask(c, "dap_request", command="debugpySystemInfo", force=True)
        assert "version" in known["body"]["debugpy"]
        assert await ask(c, "dap_request", command="continue", arguments={"threadId": thread})
        assert (await ask(c, "dap_wait_until_paused"))["exit_code"] == 0


async def test_what_an_adapter_does_not_advertise_is_never_sent(settings: Path) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        for tool, arguments in UNSUPPORTED.items():
            assert "no debug session" in await refusal(c, tool, **arguments)
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        sent = adapter.commands()
        for tool, arguments in UNSUPPORTED.items():
            said = await refusal(c, tool, **arguments)
            assert "The adapter fake does not" in said, tool
        assert adapter.commands() == sent
        # Those that every adapter has a use for are listed, without what this one cannot do.
        always = {"dap_request", "dap_step_into", "dap_step_over", "dap_terminate"}
        assert await listed(c) & UNSUPPORTED.keys() == always


UNSUPPORTED: dict[str, Json] = {
    "dap_completions": {"text": "x"},
    "dap_disassemble": {},
    "dap_modules": {},
    "dap_read_memory": {"address": "0x10"},
    "dap_request": {"command": "readMemory"},
    "dap_restart_frame": {},
    "dap_set_data_breakpoint": {"path": "line"},
    "dap_set_instruction_breakpoint": {"address": "0x10"},
    "dap_step_back": {},
    "dap_step_into": {"target": "x"},
    "dap_step_over": {"granularity": "instruction"},
    "dap_terminate": {"thread_ids": [1]},
    "dap_write_memory": {"address": "0x10", "data": "00"},
}


async def test_a_program_goes_back_where_its_adapter_can(settings: Path) -> None:
    adapter = fake(
        settings,
        {
            "stepBack": ["ok", {"line": 4}, stopped("step")],
            "reverseContinue": [{"line": 2}, stopped("breakpoint"), "ok"],
        },
        capabilities=CAPABILITIES | {"supportsStepBack": True, "supportsSteppingGranularity": True},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "dap_step_back" in await listed(c)
        back = await ask(c, "dap_step_back", granularity="statement")
        assert (back["reason"], back["line"]) == ("step", 4)
        (sent,) = [each for each in adapter.requests() if each["command"] == "stepBack"]
        assert sent["arguments"] == {"threadId": 1, "granularity": "statement"}
        # Here the stop comes before the response of the request that caused it.
        there = await ask(c, "dap_step_back", to_breakpoint=True)
        assert (there["reason"], there["line"]) == ("breakpoint", 2)


async def test_single_threads_are_ended_and_a_frame_begins_anew(settings: Path) -> None:
    adapter = fake(
        settings,
        {"terminateThreads": ["ok"], "restartFrame": ["ok", {"line": 1}, stopped("restart")]},
        capabilities=CAPABILITIES
        | {"supportsTerminateThreadsRequest": True, "supportsRestartFrame": True},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "no thread 9" in await refusal(c, "dap_terminate", thread_ids=[1, 9])
        told = await refusal(c, "dap_terminate", thread_ids=[1], detached=True)
        assert told.endswith("Give one of them.")
        await ask(c, "dap_terminate", thread_ids=[1])
        assert adapter.requests()[-1]["arguments"] == {"threadIds": [1]}
        frame = (await ask(c, "dap_stacktrace"))["frames"][0]["frame_id"]
        await ask(c, "dap_step_over")
        assert "earlier stop" not in await refusal(c, "dap_restart_frame", frame_id=99)
        assert "belongs to an earlier stop" in await refusal(c, "dap_restart_frame", frame_id=frame)
        assert (await ask(c, "dap_restart_frame"))["reason"] == "restart"


async def test_what_cannot_be_watched_leaves_the_others_watched(settings: Path) -> None:
    refused = {"verified": False, "message": "no more registers"}
    info = {"dataId": "a", "description": "line", "accessTypes": ["write"]}
    adapter = fake(
        settings,
        {
            "dataBreakpointInfo": [{"respond": info}],
            "setDataBreakpoints": [{"respond": {"breakpoints": [refused]}}],
        },
        capabilities=CAPABILITIES | {"supportsDataBreakpoints": True},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        said = await refusal(c, "dap_set_data_breakpoint", path="line", access="read")
        assert "It can for: write" in said
        said = await refusal(c, "dap_set_data_breakpoint", path="line", condition="line > 3")
        assert "no more registers" in said
        sent = [
            r["arguments"]["breakpoints"]
            for r in adapter.requests()
            if "Data" in r["command"] and "set" in r["command"]
        ]
        assert sent == [[{"dataId": "a", "accessType": "write", "condition": "line > 3"}], []]


async def test_an_address_is_the_same_in_decimal_and_in_hex(settings: Path) -> None:
    adapter = fake(
        settings,
        {
            "writeMemory": ["ok"],
            "setInstructionBreakpoints": [{"respond": {"breakpoints": [{"verified": True}]}}],
        },
        capabilities=CAPABILITIES
        | {"supportsWriteMemoryRequest": True, "supportsInstructionBreakpoints": True},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        wrote = await ask(c, "dap_write_memory", address="4096", offset=16, data="2a")
        assert wrote == {"address": "0x1010", "written": 1}
        (sent,) = [r["arguments"] for r in adapter.requests() if r["command"] == "writeMemory"]
        assert (sent["memoryReference"], sent["offset"]) == ("0x1000", 16)

        for address in ("0x1000", "4096", "0x001000"):
            made = await ask(c, "dap_set_instruction_breakpoint", address=address)
            assert made["instruction"] == "0x1000"
        gone = await ask(c, "dap_set_instruction_breakpoint", address="4096", remove=True)
        assert gone == {"removed": True}
        # Another client, such as an editor, may have set it in a form of its own.
        theirs = {"breakpoints": [{"instructionReference": "0x00001000"}]}
        await ask(c, "dap_request", command="setInstructionBreakpoints", arguments=theirs)
        gone = await ask(c, "dap_set_instruction_breakpoint", address="0x1000", remove=True)
        assert gone == {"removed": True}
        requested = [
            [each["instructionReference"] for each in r["arguments"]["breakpoints"]]
            for r in adapter.requests()
            if r["command"] == "setInstructionBreakpoints"
        ]
        assert requested == [["0x1000"]] * 3 + [[], ["0x00001000"], []]


async def test_sources_and_modules_that_come_by_events_are_listed(settings: Path) -> None:
    module = {"reason": "new", "module": {"id": 1, "name": "lib.so", "addressRange": "4096"}}
    source = {"reason": "new", "source": {"name": "made", "sourceReference": 7}}
    fake(
        settings,
        {
            "threads": [
                {"event": ["module", module]},
                {"event": ["loadedSource", source]},
                "default",
            ],
            "source": [{"respond": {"content": "one\ntwo\n"}}],
        },
        capabilities=CAPABILITIES | {"supportsModulesRequest": False},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert await read(c, "dap_modules", kind="modules") == "  lib.so 4096"
        assert await read(c, "dap_modules", kind="sources") == "  made [source_reference 7]"
        assert "2 two" in await read(c, "dap_source", source_reference=7)


async def test_the_current_source_is_the_adapters_where_there_is_no_file(settings: Path) -> None:
    source = {"name": "made", "path": "<made>", "sourceReference": 7}
    frame = {"id": 1, "name": "main", "line": 2, "column": 1, "source": source}
    fake(
        settings,
        {
            "stackTrace": [{"respond": {"stackFrames": [frame], "totalFrames": 1}}],
            "source": [{"respond": {"content": "one\ntwo\n"}}],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "source_reference 7" in await read(c, "dap_stacktrace")
        assert await read(c, "dap_source") == "source 7\n  1 one\n→ 2 two"


async def test_a_request_that_was_forced_and_has_no_answer_says_what_that_may_mean(
    settings: Path,
) -> None:
    fake(settings, {"cancel": ["hold"], "terminate": ["default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        said = await refusal(c, "dap_request", command="cancel", force=True, timeout_ms=WEDGED)
        assert "does not advertise" in said
        assert "dap_terminate" in said


async def test_tools_come_and_go_with_the_sessions_whose_adapters_support_them(
    settings: Path,
) -> None:
    able = CAPABILITIES | {"supportsStepBack": True, "supportsStepInTargetsRequest": True}
    fake(settings, capabilities=able, name="able")
    fake(settings)
    changed = asyncio.Semaphore(0)

    def hear(message: IncomingMessage) -> None:
        if isinstance(message, t.ToolListChangedNotification):
            changed.release()

    async with (
        asyncio.timeout(LIMIT),
        served(ROOT, mode="legacy", message_handler=hear) as (c, _),
    ):
        nothing = await listed(c)

        async def told(*more: str) -> None:
            while await listed(c) - nothing != {*more}:
                await changed.acquire()

        first = (await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake"))["session_id"]
        await told("dap_request")
        second = (await ask(c, "dap_run", program=FAKE_PROGRAM, type="able"))["session_id"]
        await told("dap_request", "dap_step_back")
        assert "target" in await arguments(c, "dap_step_into")
        assert "fake does not support" in await refusal(c, "dap_step_back", session_id=1)
        await ask(c, "dap_terminate", session_id=second)
        await told("dap_request")
        assert "target" not in await arguments(c, "dap_step_into")
        await ask(c, "dap_terminate", session_id=first)
        await told()


async def arguments(c: Client, tool: str) -> set[str]:
    """Return the arguments of a tool that a client sees now."""
    listing = (await c.list_tools()).tools
    return set(next(each for each in listing if each.name == tool).input_schema["properties"])
