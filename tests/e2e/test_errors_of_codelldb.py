"""CodeLLDB's errors of Rust programs, which are Python's tracebacks, name the error and count as one."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.harness import ask, client, has_all, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, tool

UNKNOWN = "use of undeclared identifier 'nosuch'"


@pytest.fixture
def prices(tmp_path: Path) -> Program:
    needs("codelldb")
    source, target = PROGRAMS / "panic.rs", tmp_path / "panic"
    subprocess.run([tool("rustc"), "-g", "-o", target, source], check=True, capture_output=True)
    return Program(source, target)


async def test_an_expression_that_fails_is_told_by_its_error_alone(prices: Program) -> None:
    at = prices.at("index", condition="nosuch > 1")
    async with asyncio.timeout(LIMIT), client() as c:
        stop = await read(
            c,
            "dap_run",
            program=str(prices),
            type="codelldb",
            breakpoints=[at],
            evaluate=["nosuch"],
        )
        failed = (
            f"(condition `nosuch > 1` failed at fixtures/programs/panic.rs:{at['line']}: {UNKNOWN})"
        )
        assert has_all(stop, failed, f"\n  nosuch: {UNKNOWN}\n")
        assert "Traceback" not in stop
        assert "Output:" not in stop
        asked = ["index + nosuch", "1 +", "index"]
        lines = (await read(c, "dap_evaluate", expressions=asked)).splitlines()
        assert lines[:2] == [f"index + nosuch: {UNKNOWN}", "1 +: Syntax error: 1 +"]
        assert lines[2].startswith("index = 7")
        assert (await refusal(c, "dap_evaluate", expression="nosuch")).startswith(f"  {UNKNOWN}\n")
        assert f"failed: {UNKNOWN}" in await refusal(c, "dap_variables", path="nosuch")


async def test_an_error_is_collected_as_one(prices: Program) -> None:
    at = prices.at("index", collect=["nosuch", "index"])
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(prices), type="codelldb", breakpoints=[at])
        rows = await read(c, "dap_collected")
        assert has_all(rows, f"nosuch = ({UNKNOWN})", "index = 7")
        assert "Traceback" not in rows
