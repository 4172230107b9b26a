"""Adapters that are allowed to be odd, and some that are not: played by tests/fake_adapter.py."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import FAKE_PROGRAM, Json, ask, call, client, data, fake, read, refusal, text
from tests.processes import LIMIT

STOPPED = {"reason": "entry", "threadId": 1, "allThreadsStopped": True}


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
async def test_the_main_story_over_pipes_and_sockets(settings: Path, transport: str) -> None:
    adapter = fake(settings, transport=transport)
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["state"], stop["line"], stop["locals"]) == ("stopped", 1, {"line": "1"})
        step = await ask(c, "dap_step_over")
        assert (step["line"], step["changed"]) == (2, {"line": ["1", "2"]})
        end = await ask(c, "dap_continue")
        assert (end["exit_code"], end["output"]) == (0, "the end\n")
    assert adapter.commands()[0] == "initialize"


async def test_the_launch_response_may_come_first(settings: Path) -> None:
    fake(settings, {"launch": ["ok", {"event": ["initialized"]}],
                    "configurationDone": ["ok", {"event": ["stopped", STOPPED]}]})  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake"))["line"] == 1


async def test_initialized_may_come_right_after_initialize(settings: Path) -> None:
    fake(settings, {"initialize": ["default", {"event": ["initialized"]}],
                    "launch": ["hold"],
                    "configurationDone": ["ok", {"release": ["launch", "ok"]},
                                          {"event": ["stopped", STOPPED]}]})  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake"))["line"] == 1


async def test_initialized_twice_configures_once(settings: Path) -> None:
    adapter = fake(settings, {"launch": ["default", {"event": ["initialized"]}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await read(c, "dap_set_breakpoint", filename=FAKE_PROGRAM, line=3)
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert adapter.commands().count("configurationDone") == 1
        assert adapter.commands().count("setBreakpoints") == 1


async def test_an_adapter_without_configuration_done_is_not_asked_for_it(settings: Path) -> None:
    adapter = fake(
        settings,
        {"launch": [{"event": ["initialized"]}, "ok", {"event": ["stopped", STOPPED]}]},
        capabilities={},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake"))["line"] == 1
        assert "configurationDone" not in adapter.commands()


ENDING: list[object] = [
    "ok",
    {"event": ["exited", {"exitCode": 4}]},
    {"event": ["terminated"]},
]


async def test_the_program_may_end_before_launch_is_answered(settings: Path) -> None:
    fake(
        settings,
        {
            "launch": [{"event": ["initialized"]}, "hold"],
            "configurationDone": [*ENDING, {"release": ["launch", "ok"]}],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (end["state"], end["exit_code"]) == ("ended", 4)


async def test_the_program_may_end_without_an_answer_to_launch(settings: Path) -> None:
    fake(settings, {"configurationDone": ENDING}, timeouts="launch = 5")
    async with asyncio.timeout(LIMIT), client() as c:
        end = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (end["state"], end["exit_code"]) == ("ended", 4)


async def test_garbage_before_the_first_message_is_skipped(settings: Path) -> None:
    """Non-protocol bytes, as wrappers and interpreters print them."""
    fake(settings, start=[{"raw": "Warning: \xff\xfe something\r\n\r\nbanner\n"}])
    async with asyncio.timeout(LIMIT), client() as c:
        assert (await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake"))["line"] == 1


async def test_messages_that_are_none_are_skipped(settings: Path) -> None:
    nonsense = [
        {"raw": "Content-Length: 4\r\n\r\nnull"},
        {"raw": "Content-Length: 3\r\n\r\n{{{"},
        {"raw": 'Content-Length: 19\r\n\r\n{"type":"greeting"}'},
        {"raw": "Content-Length: 2\r\n\r\n\xff\xfe"},
    ]
    fake(settings, {"threads": [*nonsense, "default"], "next": [*nonsense, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over"))["line"] == 2


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
async def test_one_huge_message_does_no_harm(settings: Path, size: int) -> None:
    """Pitfall 6."""
    fake(settings, {"next": [{"big": ["output", size]}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        result = await call(c, "dap_step_over")
        assert data(result)["line"] == 2
        assert len(text(result)) < 3000


async def test_a_flood_of_stderr_blocks_nothing(settings: Path) -> None:
    """Pitfall 4: the adapter's stderr is drained."""
    flood = {"times": [2000, {"stderr": "x" * 999 + "\n"}]}
    fake(settings, {"next": [flood, "default"]}, start=[flood])
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over"))["line"] == 2


async def test_thousands_of_unknown_events_do_not_hide_a_stop(settings: Path) -> None:
    """Pitfalls 3 and 5."""
    flood = [
        {"times": [2000, {"event": ["output", {"category": "stdout", "output": "line\n"}]}]},
        {"times": [2000, {"event": ["somethingNew", ["list"]]}]},
        {"times": [100, {"event": ["telemetry", "text"]}]},
    ]
    fake(settings, {"next": [*flood, "default", *flood]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over"))["line"] == 2
        assert (await ask(c, "dap_step_over"))["line"] == 3


async def test_responses_out_of_order_reach_who_asked(settings: Path) -> None:
    release = [{"release": name} for name in ("threads", "stackTrace")]
    fake(settings, {"threads": ["hold"], "variables": ["default", *release]})
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["line"], stop["locals"]) == (1, {"line": "1"})


@pytest.mark.parametrize("command", ["startDebugging", "makeCoffee"])
async def test_a_request_of_the_adapter_that_is_not_served_is_refused_at_once(
    settings: Path, command: str
) -> None:
    """Without an answer parent and child hang."""
    fake(settings, {"next": [{"request": [command, {"request": "attach"}]}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await ask(c, "dap_step_over")
        answer = await ask(
            c, "dap_program_output", category="console", since=0, wait_ms=LIMIT * 1000
        )
        assert f"client answered {command}: refused" in answer["text"]


async def test_a_request_to_run_in_a_terminal_is_answered(settings: Path) -> None:
    """Pitfall 15: whatever the answer is, there is one."""
    arguments = {"kind": "integrated", "cwd": "/", "args": ["true"]}
    fake(settings, {"next": [{"request": ["runInTerminal", arguments]}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await ask(c, "dap_step_over")
        answer = await ask(
            c, "dap_program_output", category="console", since=0, wait_ms=LIMIT * 1000
        )
        assert "client answered runInTerminal" in answer["text"]


async def test_capabilities_that_come_later_count(settings: Path) -> None:
    more = {"capabilities": {"supportsSetVariable": True}}
    fake(settings, {"next": [{"event": ["capabilities", more]}, "default"]}, capabilities={
        "supportsConfigurationDoneRequest": True})  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await call(c, "dap_set_variable", path="line", value="9")).is_error
        await ask(c, "dap_step_over")
        await read(c, "dap_set_variable", path="line", value="9")


async def test_a_program_that_lacks_the_terminal_to_type_into_is_ended(settings: Path) -> None:
    fake(settings)
    definition = settings / "dapeer" / "adapters" / "fake.toml"
    written = definition.read_text("utf-8")
    definition.write_text(
        written.replace("[launch]", '[launch]\nterminal = "${terminal}"'), "utf-8"
    )
    async with asyncio.timeout(LIMIT), client() as c:
        said = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake", then=[{"input": "1"}])
        assert "nothing can be typed" in said
        assert "has ended" in await refusal(c, "dap_continue")


@pytest.mark.parametrize(
    "body",
    [None, {}, [], "text", {"stackFrames": None}, {"stackFrames": []}],
    ids=["null", "empty", "list", "string", "null frames", "no frames"],
)
async def test_a_stop_without_a_stack_is_a_stop(settings: Path, body: object) -> None:
    fake(settings, {"stackTrace": [{"respond": body}]})
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["state"], stop["reason"]) == ("stopped", "entry")
        assert not (await call(c, "dap_snapshot")).is_error


async def test_a_frame_without_a_source_is_told_by_its_name(settings: Path) -> None:
    frame = {"id": 5, "name": "<native>", "line": 0, "column": 0}
    fake(settings, {"stackTrace": [{"respond": {"stackFrames": [frame]}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "<native>" in text(result)


async def test_a_source_that_only_the_adapter_has_is_read_from_it(settings: Path) -> None:
    source = {"name": "eval_1.fake", "sourceReference": 12}
    frame = {"id": 5, "name": "f", "line": 2, "column": 1, "source": source}
    fake(
        settings,
        {
            "stackTrace": [{"respond": {"stackFrames": [frame], "totalFrames": 1}}],
            "source": [{"respond": {"content": "first\nsecond\nthird\n"}}],
        },
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "second" in await read(c, "dap_source", source_reference=12)


@pytest.mark.parametrize("command", ["stackTrace", "scopes", "variables", "threads"])
async def test_a_question_at_a_stop_that_fails_leaves_the_stop_told(
    settings: Path, command: str
) -> None:
    fake(settings, {command: [{"fail": {"message": "cannot right now"}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (stop["state"], stop["reason"]) == ("stopped", "entry")
        assert (await call(c, "dap_step_over")).structured_content is not None


async def test_a_stop_in_the_middle_of_the_questions_about_the_last_one(settings: Path) -> None:
    """The answers about the first stop must not be taken for those about the second."""
    again = {"reason": "step", "threadId": 1}
    fake(settings, {
        "next": ["ok", {"line": 2}, {"event": ["stopped", again]},
                 {"event": ["continued", {"threadId": 1}]}, {"line": 3},
                 {"event": ["stopped", again]}],
    })  # fmt: skip
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        stop = await ask(c, "dap_step_over")
        if stop["line"] != 3:
            stop = await ask(c, "dap_snapshot")
        assert (stop["line"], stop["locals"]) == (3, {"line": "3"})


async def test_output_of_every_odd_shape_is_kept(settings: Path) -> None:
    events = [
        ["output", {"output": "no category\n"}],
        ["output", {"category": None, "output": "null category\n"}],
        ["output", {"category": "important", "output": "important\n"}],
        ["output", {"category": "stdout", "output": None}],
        ["output", {"category": "stdout"}],
        ["output", {"category": "telemetry", "output": "secret\n"}],
        ["output", "text"],
        ["output", {"category": "stdout", "output": "\ud800 lone\n"}],
    ]
    step = ["ok", *({"event": event} for event in events), {"line": 2},
            {"event": ["stopped", {"reason": "step", "threadId": 1}]}]  # fmt: skip
    fake(settings, {"next": step})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over"))["line"] == 2
        output = (await ask(c, "dap_program_output"))["text"]
        for word in ("no category", "null category", "important", "lone"):
            assert word in output
        assert "secret" not in output


NESTED = "[" * 2000 + "]" * 2000
DEEP = f'{{"type":"event","event":"output","body":{{"output":{NESTED}}}}}'
UNASKED = '{"type":"response","request_seq":0,"success":true,"command":"setBreakpoints","body":{}}'
ATTACKS: dict[str, object] = {
    "thread": {"event": ["continued", {"threadId": []}]},
    "breakpoint": {"event": ["breakpoint", {"reason": "new", "breakpoint": [1]}]},
    "module": {"event": ["module", {"module": "m"}]},
    "depth": {"raw": f"Content-Length: {len(DEEP)}\r\n\r\n{DEEP}"},
    "headers": {"raw": "Content-Length: x\r\n\r\n" * 3000},
    "digits": {"raw": f"Content-Length: {'9' * 5000}\r\n\r\n"},
    "size": {"raw": "Content-Length: 1073741824\r\n\r\n"},
    "endless": {"raw": "Content-Length: 1" + " " * 20_000},
    "folder": {"request": ["runInTerminal", {"args": ["true"], "cwd": 5}]},
    "environment": {"request": ["runInTerminal", {"args": ["true"], "cwd": "", "env": []}]},
    "nul": {"request": ["runInTerminal", {"args": ["a\0b"], "cwd": ""}]},
    "child": {"request": ["startDebugging", {"configuration": [], "request": "launch"}]},
    "port": {"request": ["startDebugging", {"configuration": {"connect": {"port": "x"}}}]},
    "twice": {"respond": {}},
    "stop": {"event": ["stopped", {"reason": {}, "threadId": {}, "text": []}]},
    "unasked": {"raw": f"Content-Length: {len(UNASKED)}\r\n\r\n{UNASKED}"},
    "condition": {"event": ["breakpointFailed", {"line": [], "count": "many"}]},
    "category": {"event": ["output", {"category": ["stdout"], "output": "x"}]},
    "orders": {"times": [3000, {"request": ["makeCoffee", {}]}]},
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_odd_message_ends_at_most_its_own_session(settings: Path, attack: str) -> None:
    fake(settings, name="calm")
    fake(settings, {"threads": ["default", ATTACKS[attack]]})
    async with asyncio.timeout(LIMIT), client() as c:
        calm = await ask(c, "dap_run", program=FAKE_PROGRAM, type="calm")
        odd = await call(c, "dap_run", program=FAKE_PROGRAM, type="fake", timeout_ms=5000)
        assert "Internal error" not in text(odd)
        await call(c, "dap_threads")
        step = await ask(c, "dap_step_over", session_id=calm["session_id"])
        assert step["line"] == 2
        status = await read(c, "dap_status")
        assert "Internal error" not in status
        assert "could not process" not in status
        assert "could not read" not in status


async def test_what_is_left_out_of_an_endless_list_is_told_with_the_session(settings: Path) -> None:
    threads = [{"id": number, "name": "worker"} for number in range(1, 10_100)]
    fake(settings, {"threads": [{"respond": {"threads": threads}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await call(c, "dap_threads")
        assert "too many threads: the first 10000 are kept" in await read(c, "dap_status")


async def test_a_quirk_that_cannot_be_applied_costs_nobody_a_session(settings: Path) -> None:
    """Its pattern has no group with the exit code."""
    said = {"event": ["output", {"category": "stdout", "output": "exit\n"}]}
    quirks = "request = 5\n[quirks]\nexit_code_in_output = 'exit'"
    fake(settings, {"next": [said, "default"]}, timeouts=quirks)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_step_over"))["line"] == 2
        assert "exit" in await read(c, "dap_program_output")


async def test_why_an_adapter_takes_no_breakpoints_is_told(settings: Path) -> None:
    fake(settings, {"setBreakpoints": [{"fail": {"message": "too many breakpoints"}}]})
    breakpoints = [{"filename": FAKE_PROGRAM, "line": 3}]
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake", breakpoints=breakpoints)
        (said,) = stop["breakpoints"]["rejected"]
        assert said.endswith("ten.fake:3 (fake refused: too many breakpoints)")


async def test_an_adapter_that_asks_without_end_and_reads_nothing_is_left(settings: Path) -> None:
    asking: Json = {"times": [3000, {"request": ["makeCoffee", {}]}]}
    fake(settings, {"next": [asking, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        end = await ask(c, "dap_step_over")
        assert (end["state"], end["cause"]) == (
            "ended",
            "It sent requests without end, and read no answer.",
        )


async def test_what_can_be_watched_may_be_told_in_any_shape(settings: Path) -> None:
    watched = {"dataId": "d", "description": "line", "accessTypes": 1.5}
    fake(
        settings,
        {
            "dataBreakpointInfo": [{"respond": watched}],
            "setDataBreakpoints": [{"respond": {"breakpoints": [{"verified": "yes"}]}}],
        },
        capabilities={"supportsConfigurationDoneRequest": True, "supportsDataBreakpoints": True},
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        said = await refusal(c, "dap_set_data_breakpoint", path="line")
        assert "was not set" in said
