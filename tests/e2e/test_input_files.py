"""Programs that read a file as their standard input."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs, refusal
from tests.processes import LIMIT
from tests.programs import compiled

C = """\
#include <stdio.h>
int main(int count, char **words) {
    int number = 0;
    if (scanf("%d", &number) != 1) return 2;
    printf("%s %d of %d\\n", words[1], number, count); // here
    return 0;
}
"""
PYTHON = """\
import os, sys
number = int(sys.stdin.readline())
print(sys.argv[1], number, "of", len(sys.argv), os.environ.get("DAPEER_STDIN", ""))
"""
GO = """\
package main

import (
	"fmt"
	"os"
)

func main() {
	number := 0
	fmt.Scan(&number)
	fmt.Println(os.Args[1], number, "of", len(os.Args))
}
"""


def made(adapter: str, folder: Path) -> tuple[str, str, int]:
    """Write a program that reads a number; return its path, its source's, and the line at which it is known."""
    if adapter == "debugpy":
        folder.joinpath("reads.py").write_text(PYTHON)
        return str(folder / "reads.py"), str(folder / "reads.py"), 3
    if adapter == "delve":
        folder.joinpath("reads.go").write_text(GO)
        return str(folder / "reads.go"), str(folder / "reads.go"), 11
    source = folder / "reads.c"
    source.write_text(C)
    p = compiled("reads.c", folder, source)
    return str(p.path), str(source), 5


@pytest.mark.parametrize("adapter", ["debugpy", "gdb", "lldb-dap", "codelldb", "delve"])
async def test_a_program_reads_a_file_as_its_standard_input(adapter: str, tmp_path: Path) -> None:
    needs(adapter)
    program, source, line = made(adapter, tmp_path)
    tmp_path.joinpath("the numbers' .txt").write_text("21\n7\n")
    point = {"filename": source, "line": line}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(
            c, "dap_run", program=program, args=["a b"], stdin="the numbers' .txt", type=adapter,
            breakpoints=[point],
        )  # fmt: skip
        assert stop["line"] == line
        assert await evaluate(c, "number") == "21"
        end = await ask(c, "dap_continue")
        assert end["exit_code"] == 0
        assert "a b 21 of 2" in end["output"]
        # It is read anew, from its beginning.
        await ask(c, "dap_restart")
        assert await evaluate(c, "number") == "21"


async def test_a_file_that_cannot_be_read_so_is_refused_with_the_reason(tmp_path: Path) -> None:
    program, _, _ = made("debugpy", tmp_path)
    for name in ("one.txt", ".env"):
        tmp_path.joinpath(name).write_text("1\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for given, reason in (
            ({"stdin": "none.txt"}, "`stdin`: there is no file "),
            ({"stdin": ".env"}, "`stdin`: .env may hold secrets"),
            ({"stdin": "one.txt", "terminal": True}, "either the file `stdin` or its terminal"),
            ({"stdin": "one.txt", "where": "nvim"}, "nvim-dap gives a program no file to read"),
            ({"stdin": "one.txt", "type": "bash-dap"}, "does not support `stdin`"),
        ):
            assert reason in await refusal(c, "dap_run", program=program, **given)
        assert "`stdin` is for a program that dapeer starts" in await refusal(
            c, "dap_run", pid=1, stdin="one.txt"
        )


async def test_a_shells_text_of_one_command_is_that_command(tmp_path: Path) -> None:
    needs("gdb")
    program, source, line = made("gdb", tmp_path)
    tmp_path.joinpath("n.txt").write_text("5\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        text = f"exec ./{Path(program).name} 'a b' < n.txt"
        point = {"filename": source, "line": line}
        stop = await ask(c, "dap_run", program="sh", args=["-c", text], breakpoints=[point])
        assert stop["line"] == line
        assert await evaluate(c, "number") == "5"
        why = await refusal(c, "dap_run", program="sh", args=["-c", f"cat n.txt | {program}"])
        assert "the debugger would see sh alone" in why
        assert "dapeer run --stdin FILE" in why
