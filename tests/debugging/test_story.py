"""One story of thirty calls, by commands in one shell script and over MCP: the texts are the same."""

import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from dapeer.cli.debugging.calls import as_commands
from tests.debugging.project import Shell, shell
from tests.mcp.wire import call, started
from tests.processes import LIMIT

__all__ = ["shell"]

END = "-- the end of an answer --"
CRASH = "def broken(order):\n    return order['total'] / 0\n\nbroken({'total': 7})\n"
LOOP = """\
import sys

def price(number):
    return number * int(sys.argv[1])

amount = 0
for number in range(12):
    amount += price(number)
print(amount)
"""
POINT = {"filename": "loop.py", "line": 8, "collect": ["number", "amount"]}
STORY: Sequence[tuple[str, str, dict[str, Any]]] = (
    ("status", "dap_status", {}),
    ("run shop.py -b shop.py:6 --if 'price > 1'", "dap_run", {
        "program": "shop.py",
        "breakpoints": [{"filename": "shop.py", "line": 6, "condition": "price > 1"}],
    }),
    ("stack", "dap_stacktrace", {}),
    ("threads", "dap_threads", {}),
    ("eval amount price 'prices[-1]'", "dap_evaluate", {"expressions": ["amount", "price", "prices[-1]"]}),
    ("vars", "dap_variables", {}),
    ("vars prices", "dap_variables", {"path": "prices"}),
    ("scopes", "dap_scopes", {}),
    ("source shop.py:3 --count 4", "dap_source", {"filename": "shop.py", "line": 3, "count": 4}),
    ("breakpoints", "dap_breakpoints", {}),
    ("next", "dap_step_over", {"show": "full"}),
    ("set-variable amount 10", "dap_set_variable", {"path": "amount", "value": "10"}),
    ("until 'amount > 12'", "dap_run_until", {"expression": "amount > 12", "show": "full"}),
    ("eval amount", "dap_evaluate", {"expressions": ["amount"]}),
    ("history", "dap_history", {}),
    ("break shop.py:12", "dap_set_breakpoint", {"filename": "shop.py", "line": 12}),
    ("remove-breakpoint shop.py:6", "dap_remove_breakpoint", {"filename": "shop.py", "line": 6}),
    ("continue", "dap_continue", {"show": "full"}),
    ("output", "dap_program_output", {}),
    ("clear-breakpoints", "dap_clear_breakpoints", {}),
    ("continue", "dap_continue", {"show": "full"}),
    ("run crash.py", "dap_run", {"program": "crash.py"}),
    ("exception-info", "dap_exception_info", {}),
    ("eval \"order['total']\"", "dap_evaluate", {"expressions": ["order['total']"]}),
    ("end", "dap_disconnect", {}),
    ("run loop.py -b loop.py:8 --collect number --collect amount -- 3", "dap_run", {
        "program": "loop.py", "args": ["3"], "breakpoints": [POINT],
    }),
    ("collected --rows 2-4", "dap_collected", {"rows": "2-4"}),
    ("collected --where 'number > 9'", "dap_collected", {"where": "number > 9"}),
    ("run loop.py -- 4", "dap_run", {"program": "loop.py", "args": ["4"]}),
    ("compare 3 4", "dap_compare", {"a": 3, "b": 4}),
    ("eval nothing -s 99", "dap_evaluate", {"expressions": ["nothing"], "session_id": 99}),
    ("status", "dap_status", {}),
)  # fmt: skip


async def test_commands_answer_as_the_tools_do(shell: Shell) -> None:
    shell.folder.joinpath("crash.py").write_text(CRASH, encoding="utf-8")
    shell.folder.joinpath("loop.py").write_text(LOOP, encoding="utf-8")
    assert len(STORY) > 30
    by_commands = told_by_commands(shell)
    shell.says("end", "--all")
    by_tools = await told_by_tools(shell)
    pairs = zip(map(plain, by_commands), map(plain, by_tools), strict=True)
    different = {STORY[n][0]: pair for n, pair in enumerate(pairs) if pair[0] != pair[1]}
    assert not different


def told_by_commands(shell: Shell) -> list[str]:
    """Return what one shell script prints at each command of the story, errors too."""
    dapeer = f"'{sys.executable}' -m dapeer"
    script = "".join(f"{dapeer} {command} 2>&1\necho '{END}'\n" for command, _, _ in STORY)
    done = subprocess.run(
        ["sh"], input=script, capture_output=True, text=True, timeout=4 * LIMIT, check=True,
        cwd=shell.folder,
    )  # fmt: skip
    return done.stdout.split(f"{END}\n")[:-1]


async def told_by_tools(shell: Shell) -> list[str]:
    """Return the text of each call of the story, by an MCP client with a server of its own."""
    texts: list[str] = []
    async with started("dapeer", "stdio", "--no-bridge", "--nvim", "none", cwd=shell.folder) as mcp:
        await mcp.handshake(data=False)
        for number, (_, tool, arguments) in enumerate(STORY, start=1):
            answer = await mcp.ask(call(number, tool, **arguments))
            told = answer["result"]["content"][0]["text"]
            texts.append(f"{as_commands(told, tool)}\n")
        await mcp.end()
    return texts


def plain(text: str) -> str:
    """Return a text without what differs from one run of a program to the next: times, addresses, processes."""
    text = re.sub(r"\b\d+(\.\d+)? m?s\b", "… s", text)
    return re.sub(r"0x[0-9a-f]+|\b(pid|process|thread|thread_id) \d+", "…", text)
