"""A program that is given as one types it, a command with its arguments: what the command starts is debugged."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.harness import client, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import program

FAILING = """\
def test_total():
    total = 1 + 1
    assert total == 3
"""
FAILING_IN_NODE = """\
const test = require('node:test');
const assert = require('node:assert');
test('total', () => {
  const total = 1 + 1;
  assert.equal(total, 3);
});
"""


@pytest.mark.parametrize("how", ["python3", "python", sys.executable])
async def test_pythons_program_is_debugged_and_not_python(how: str) -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        args = ["-W", "error", str(p), "2"]
        stop = await read(c, "dap_run", program=how, args=args, breakpoints=[p.at("after_loop")])
        assert "Stopped (breakpoint) at fixtures/programs/loop.py" in stop
        assert "(debugpy, " in await read(c, "dap_status")


async def test_pytest_by_its_name_stops_at_the_failing_assertion(tmp_path: Path) -> None:
    (tmp_path / "test_cart.py").write_text(FAILING)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for call in ({"program": "pytest", "args": ["-q"]}, {"program": "pytest test_cart.py"}):
            stop = await read(c, "dap_run", **call, python=sys.executable)
            assert ") at test_cart.py:3 in" in stop


async def test_a_script_of_node_is_debugged_with_its_options(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "srv.js").write_text("const x = 1;\nconsole.log(x);\n")
    at = {"filename": "srv.js", "line": 2}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for args in (["srv.js"], ["--watch", "srv.js"]):
            stop = await read(c, "dap_run", program="node", args=args, breakpoints=[at])
            assert "Stopped (breakpoint) at srv.js:2" in stop
            await read(c, "dap_terminate")


async def test_npm_test_stops_in_the_failing_test(tmp_path: Path) -> None:
    needs("js-debug")
    scripts = {"name": "cart", "scripts": {"test": "node --test"}}
    (tmp_path / "package.json").write_text(json.dumps(scripts))
    (tmp_path / "cart.test.js").write_text(FAILING_IN_NODE)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for command, *args in (["npm", "test"], ["node", "--test"]):
            stop = await read(c, "dap_run", program=command, args=args)
            assert ") at cart.test.js:5 in" in stop
            await read(c, "dap_terminate")


async def test_a_program_of_node_modules_is_found_also_where_it_is_a_script_of_the_shell(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    (tmp_path / "tool.js").write_text("const x = 1;\nconsole.log(x);\n")
    programs = tmp_path / "node_modules" / ".bin"
    programs.mkdir(parents=True)
    (programs / "tool").write_text('#!/bin/sh\nexec node "$(dirname "$0")/../../tool.js" "$@"\n')
    (programs / "tool").chmod(0o755)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": "tool.js", "line": 2}
        stop = await read(c, "dap_run", program="tool", breakpoints=[at])
        assert "Stopped (breakpoint) at tool.js:2" in stop


async def test_the_interpreter_itself_is_debugged_where_the_type_says_so(tmp_path: Path) -> None:
    needs("gdb")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        end = await read(
            c, "dap_run", program="/usr/bin/python3", args=["-c", "print(1)"], type="gdb"
        )
        assert "nded" in end
        assert "(gdb)" in await read(c, "dap_status")
        assert "an interpreter, and nothing in `args`" in await refusal(
            c, "dap_run", program="node"
        )
