"""A client that fills in each argument that it does not need debugs like any other."""

from typing import Any

from mcp import Client

from tests.harness import client, read, refusal
from tests.programs import program
from tests.schemas.test_filling import filled


async def test_a_program_is_debugged_by_calls_with_everything_filled_in() -> None:
    p = program("loop.py")
    at: dict[str, object] = {
        **p.at("inner"),
        "condition": "",
        "hit_condition": "",
        "function": "",
        "calls": [],
        "max_hits": 0,
    }
    async with client() as c:

        async def call(name: str, **given: object) -> str:
            return await read(c, name, **{**(await every_argument(c, name)), **given})

        stop = await call("dap_run", program=str(p), breakpoints=[at])
        assert "Stopped (breakpoint)" in stop
        assert "left out, as this call fills in what it does not need: exception_filters=[]" in stop
        assert "follow_children=false, just_my_code=false, timeout_ms=0)" in stop
        assert "  0\n" in await call("dap_evaluate", expressions=["value"])
        for name in (
            "dap_threads",
            "dap_stacktrace",
            "dap_variables",
            "dap_scopes",
            "dap_source",
            "dap_history",
        ):
            assert await call(name)
        assert "Stopped (step)" in await call("dap_step_over")
        assert "Stopped (breakpoint)" in await call("dap_continue")
        assert "is empty" in await refusal(c, "dap_clear_breakpoints", filename="")
        assert f":{p.line('inner')}" in await call("dap_breakpoints")
        assert "nded" in await call("dap_terminate")


async def every_argument(c: Client, name: str) -> dict[str, Any]:
    """Return each optional argument of a tool, as this client reads the list, filled in."""
    return next(
        filled(one.input_schema) for one in (await c.list_tools()).tools if one.name == name
    )
