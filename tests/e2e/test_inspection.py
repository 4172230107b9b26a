"""Looking around at a stop."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client, MCPError

from tests.harness import FAKE_PROGRAM, ask, call, client, data, evaluate, fake, read, refusal, text
from tests.processes import LIMIT
from tests.programs import compiled, program


async def test_variables_are_found_by_paths_and_references_and_can_be_set() -> None:
    p = program("shop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("order_ready")])
        await a_variable_is_found_by_a_readable_path(c)
        await a_path_that_leads_nowhere_says_where_it_broke(c)
        await variables_are_reached_by_reference_from_scope_to_leaf(c)
        await a_variable_deep_inside_is_set_by_its_path(c)
        await setting_what_cannot_be_set_is_an_error(c)


async def a_variable_is_found_by_a_readable_path(c: Client) -> None:
    assert "2.5" in await read(c, "dap_variables", path="order.items[3].price")
    item = await read(c, "dap_variables", path="order.items[3]")
    assert "'spoon'" in item
    assert "quantity" in item
    assert "4" in item


async def a_path_that_leads_nowhere_says_where_it_broke(c: Client) -> None:
    assert "prize" in await refusal(c, "dap_variables", path="order.items[3].prize")
    assert "99" in await refusal(c, "dap_variables", path="order.items[99]")
    assert "nobody" in await refusal(c, "dap_variables", path="nobody.items")


async def test_a_property_that_raises_is_not_said_to_be_missing(tmp_path: Path) -> None:
    text = "class Shelf:\n    @property\n    def label(self):\n        raise ValueError('torn off')\n\n\nshelf = Shelf()\nprint(shelf)\n"
    (tmp_path / "shelf.py").write_text(text, "utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "shelf.py", "line": text.count("\n")}
        await ask(c, "dap_run", program="shelf.py", breakpoints=[at])
        label = await refusal(c, "dap_variables", path="shelf.label")
        assert "evaluating it failed: ValueError: torn off" in label
        price = await refusal(c, "dap_variables", path="shelf.price")
        assert "evaluating it failed: AttributeError: 'Shelf' object has no attribute" in price


async def variables_are_reached_by_reference_from_scope_to_leaf(c: Client) -> None:
    scopes = (await ask(c, "dap_scopes"))["scopes"]
    reference = scopes[0]["variables_reference"]
    variables = (await ask(c, "dap_variables", variables_reference=reference))["variables"]
    order = next(v for v in variables if v["name"] == "order")
    fields = await ask(c, "dap_variables", variables_reference=order["variables_reference"])
    assert {"customer", "discount", "items"} <= {v["name"] for v in fields["variables"]}


async def a_variable_deep_inside_is_set_by_its_path(c: Client) -> None:
    await read(c, "dap_set_variable", path="order.items[3].price", value="7.5")
    assert "7.5" in await read(c, "dap_evaluate", expression="order.items[3].price")
    await read(c, "dap_set_variable", path="order.customer", value="'Grace'")
    assert "Grace" in await read(c, "dap_variables", path="order")


async def setting_what_cannot_be_set_is_an_error(c: Client) -> None:
    await refusal(c, "dap_set_variable", path="order.items[99]", value="1")
    await refusal(c, "dap_set_variable", path="order.customer", value="no such name")


async def test_every_frame_of_a_stop_can_be_looked_at_and_nothing_else() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await variables_of_an_outer_frame_are_reached_by_its_id(c)
        await ids_that_never_were_are_refused(c)
        await the_place_is_shown_with_the_lines_around_it(c)


async def variables_of_an_outer_frame_are_reached_by_its_id(c: Client) -> None:
    frames = (await ask(c, "dap_stacktrace"))["frames"]
    main = next(frame for frame in frames if frame["function"] == "main")
    assert "rounds" in await read(c, "dap_variables", frame_id=main["frame_id"])
    assert "5" in await read(c, "dap_evaluate", expression="rounds", frame_id=main["frame_id"])
    assert "5" in await read(c, "dap_variables", path="rounds", frame_id=main["frame_id"])
    assert "rounds" in await refusal(c, "dap_variables", path="rounds")


async def ids_that_never_were_are_refused(c: Client) -> None:
    assert "987654321" in await refusal(c, "dap_variables", variables_reference=987654321)
    assert "987654321" in await refusal(c, "dap_scopes", frame_id=987654321)
    assert "987654321" in await refusal(c, "dap_stacktrace", thread_id=987654321)
    assert "987654321" in await refusal(c, "dap_step_over", thread_id=987654321)
    assert "99" in await refusal(c, "dap_snapshot", session_id=99)


async def the_place_is_shown_with_the_lines_around_it(c: Client) -> None:
    narrow = await read(c, "dap_current_location", context_lines=0)
    wide = await read(c, "dap_current_location", context_lines=5)
    assert "@inner" in narrow
    assert "@inner_return" not in narrow
    assert "@inner_return" in wide


async def test_expressions_are_evaluated_and_fail_in_their_own_words() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        await an_evaluation_without_a_frame_is_in_the_top_one(c)
        await the_error_of_an_evaluation_is_an_error_with_its_text(c)
        await three_evaluations_at_once_all_answer(c)
        await an_unknown_evaluation_context_is_refused(c)
        await statements_run_in_the_repl_context_and_change_what_is_shown(c)


async def an_evaluation_without_a_frame_is_in_the_top_one(c: Client) -> None:
    """Pitfall 23."""
    assert (await ask(c, "dap_evaluate", expression="value"))["result"] == "0"


async def the_error_of_an_evaluation_is_an_error_with_its_text(c: Client) -> None:
    """Pitfalls 19 and 23."""
    assert "NameError" in await refusal(c, "dap_evaluate", expression="nobody")
    assert "ZeroDivisionError" in await refusal(c, "dap_evaluate", expression="1 / 0")
    assert "SyntaxError" in await refusal(c, "dap_evaluate", expression="1 +")


async def three_evaluations_at_once_all_answer(c: Client) -> None:
    """Pitfall 2: concurrent evaluates on one thread."""
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(ask(c, "dap_evaluate", expression=f"value + {number}"))
            for number in range(5)
        ]
    assert [task.result()["result"] for task in asked] == ["0", "1", "2", "3", "4"]


async def an_unknown_evaluation_context_is_refused(c: Client) -> None:
    assert "context" in await refusal(c, "dap_evaluate", expression="1", context="shout")


async def statements_run_in_the_repl_context_and_change_what_is_shown(c: Client) -> None:
    await read(c, "dap_evaluate", expression="value = 21", context="repl")
    assert (await ask(c, "dap_snapshot"))["locals"]["value"] == "21"
    assert (await ask(c, "dap_step_over"))["locals"]["doubled"] == "42"


async def test_a_path_through_a_c_struct_and_array(tmp_path: Path) -> None:
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("call")])
        assert "7" in await read(c, "dap_variables", path="items[1].price")


async def test_an_expression_that_is_a_debugger_command_does_not_run_the_program(
    tmp_path: Path,
) -> None:
    p = compiled("loop.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        for command in ("c", "n", "s", "kill"):
            await call(c, "dap_evaluate", expression=command)
        stop = await ask(c, "dap_snapshot")
        assert (stop["state"], stop["line"], stop["stop"]) == ("stopped", p.line("inner"), 1)


async def test_ids_from_an_earlier_stop_are_refused_as_such() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        frame = (await ask(c, "dap_stacktrace"))["frames"][0]["frame_id"]
        scope = (await ask(c, "dap_scopes"))["scopes"][0]["variables_reference"]
        await ask(c, "dap_step_over")
        for message in (
            await refusal(c, "dap_variables", variables_reference=scope),
            await refusal(c, "dap_scopes", frame_id=frame),
            await refusal(c, "dap_evaluate", expression="value", frame_id=frame),
            await refusal(c, "dap_variables", path="value", frame_id=frame),
            await refusal(c, "dap_set_variable", path="value", value="1", frame_id=frame),
        ):
            assert "stop" in message


async def test_the_stack_is_told_page_by_page_and_never_without_bounds() -> None:
    """Pitfall 6: 600 frames."""
    p = program("recursion.py")
    async with asyncio.timeout(LIMIT), client() as c:
        result = await call(c, "dap_run", program=str(p), breakpoints=[p.at("bottom")])
        first, many, outermost = data(result)["stack"]
        assert first == f"down fixtures/programs/recursion.py:{p.line('bottom')}"
        assert f"recursion.py:{p.line('down')} (600 times) [" in many
        assert outermost.startswith("<module> ")
        assert len(text(result)) < 2000
        page = await ask(c, "dap_stacktrace", start_frame=590, levels=5)
        assert len(page["frames"]) == 5
        assert "down" in page["frames"][0]["function"]
        folded = (await ask(c, "dap_stacktrace"))["frames"]
        assert [each.get("folded", 1) for each in folded] == [1, 600, 1]
        unfolded = await ask(c, "dap_stacktrace", start_frame=folded[1]["start_frame"])
        assert [each["function"] for each in unfolded["frames"]] == ["down"] * 20
        assert await evaluate(c, "depth", frame_id=unfolded["frames"][9]["frame_id"]) == "10"
        most = await call(c, "dap_stacktrace", levels=1_000_000)
        assert most.is_error or len(text(most)) < 100_000


async def test_source_is_shown_by_line_and_past_the_end_is_an_error() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        shown = await read(c, "dap_source", filename=str(p), line=p.line("inner"), count=2)
        assert "@inner" in shown
        assert "@inner_return" in shown
        assert "@middle" not in shown
        lines = len(p.source.read_text().splitlines())
        assert str(lines) in await refusal(c, "dap_source", filename=str(p), line=9999)
        assert "nowhere.py" in await refusal(c, "dap_source", filename="nowhere.py")


async def test_a_snapshot_is_the_stop_again() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await call(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        again = await call(c, "dap_snapshot")
        keys = ("reason", "file", "line", "stack", "locals", "source")
        assert {k: data(again)[k] for k in keys} == {k: data(stop)[k] for k in keys}


async def test_inspection_of_what_is_known_sends_no_request(settings: Path) -> None:
    adapter = fake(settings)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        sent = len(adapter.requests())
        scopes = (await ask(c, "dap_scopes"))["scopes"]
        await ask(c, "dap_variables", variables_reference=scopes[0]["variables_reference"])
        for tool in ("dap_snapshot", "dap_stacktrace", "dap_threads", "dap_current_location"):
            await ask(c, tool)
        assert adapter.commands()[sent:] == []


async def test_nothing_is_asked_that_the_adapter_does_not_advertise(settings: Path) -> None:
    """An unadvertised request wedges debugpy and crashes lldb-dap."""
    stopped = {"event": ["stopped", {"reason": "entry", "threadId": 1}]}
    launch = ["ok", {"event": ["initialized"]}, stopped]
    adapter = fake(settings, {"launch": launch}, capabilities={})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await call(c, "dap_goto", line=3)
        await call(c, "dap_exception_info")
        await call(c, "dap_set_function_breakpoints", names=["f"])
        await call(c, "dap_set_exception_breakpoints", filters=["all"])
        await call(c, "dap_set_variable", path="line", value="1")
        await call(c, "dap_restart")
        await call(c, "dap_terminate")
        advertised_only = {
            "configurationDone", "goto", "gotoTargets", "exceptionInfo", "setFunctionBreakpoints",
            "setExceptionBreakpoints", "setVariable", "setExpression", "restart", "terminate",
            "cancel", "loadedSources", "modules", "completions",
        }  # fmt: skip
        assert not advertised_only & set(adapter.commands())


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("dap_stacktrace", {"levels": -1}, "levels"),
        ("dap_stacktrace", {"start_frame": -1}, "start_frame"),
        ("dap_variables", {"count": -1}, "count"),
        ("dap_variables", {"filter": "odd"}, "filter"),
        ("dap_evaluate", {}, "expression"),
        ("dap_evaluate", {"expression": "1", "timeout_ms": -1}, "timeout_ms"),
        ("dap_set_variable", {"path": "value"}, "value"),
        ("dap_program_output", {"category": "stdnull"}, "category"),
        ("dap_program_output", {"lines": -1}, "lines"),
        ("dap_program_output", {"wait_ms": -1}, "wait_ms"),
        ("dap_history", {"number": "one"}, "number"),
        ("dap_snapshot", {"session_id": "x"}, "session_id"),
        ("dap_snapshot", {"verbose": True}, "verbose"),
        ("dap_continue", {"thread": 1}, "thread"),
        ("dap_set_breakpoint", {"filename": "x.py"}, "line"),
        ("dap_set_exception_breakpoints", {"filters": [{"a": "b"}]}, "filters"),
        ("dap_source", {"line": -1}, "line"),
        ("dap_current_location", {"context_lines": -1}, "context_lines"),
    ],
)
async def test_wrong_arguments_are_named(
    tool: str, arguments: dict[str, object], named: str
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        assert named in await refusal(c, tool, **arguments)


async def test_an_unknown_tool_is_an_error() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        with pytest.raises(MCPError, match="dap_make_coffee"):
            await call(c, "dap_make_coffee")
