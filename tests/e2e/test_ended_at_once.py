"""A program that is ended where it is stopped does nothing more, under every adapter that launches one."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, client, needs, read
from tests.languages import Language, named
from tests.processes import LIMIT
from tests.programs import Program, compiled

SCRIPTS = {
    "debugpy": ("end.py", "import pathlib\nnow = 1  # @here\npathlib.Path('written').touch()\n"),
    "delve": (
        "end.go",
        'package main\n\nimport "os"\n\nfunc main() {\n\tnow := 1\n\tprintln(now) // @here\n'
        '\tos.WriteFile("written", nil, 0o600)\n}\n',
    ),
    "js-debug": ("end.js", "let now = 1  // @here\nrequire('fs').writeFileSync('written', '')\n"),
    "bash-dap": ("end.sh", "now=1  # @here\n: > written\n"),
    "cmake": ("end.cmake", "set(now 1)  # @here\nfile(WRITE written now)\n"),
    "rdbg": ("end.rb", "before = 0\nnow = 1  # @here\nFile.write('written', '')\n"),
    "perl": ("end.pl", "my $before = 0;\nmy $now = 1;  # @here\nopen(my $file, '>', 'written');\n"),
    "jdi": (
        "End.java",
        "public class End {\n  public static void main(String[] a) throws Exception {\n    int now = 1;  // @here\n"
        '    new java.io.File("written").createNewFile();\n  }\n}\n',
    ),
}
C = (
    "end.c",
    '#include <stdio.h>\nint main(void) {\n  int now = 1;  // @here\n  fopen("written", "w");\n  return now - 1;\n}\n',
)


def program_that_writes(language: Language, folder: Path) -> Program:
    """Return a program that would write a file after the line `here`."""
    name, text = SCRIPTS.get(language.adapter, C)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return compiled(name, folder, path) if path.suffix == ".c" else Program(path, path)


FORKS = """
const { fork } = require("child_process");
const fs = require("fs");
if (process.argv[2]) {
  let now = 1;  // @here
  fs.writeFileSync("written", "");
} else {
  fork(__filename, ["child"]).on("exit", () => fs.writeFileSync("went on", ""));
}
"""


async def test_a_program_that_is_terminated_where_it_is_stopped_does_not_run_on(
    language: Language, tmp_path: Path
) -> None:
    p = program_that_writes(language, tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await stopped(c, p, tmp_path, type=language.adapter)
        await read(c, "dap_terminate")
        assert (await read(c, "dap_snapshot")).splitlines()[0].startswith("Ended by dap_terminate")
        assert "\n" not in await read(c, "dap_snapshot")
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("way", ["dap_disconnect", "dap_restart", "the server's end"])
async def test_nor_does_one_that_is_ended_in_another_way(way: str, tmp_path: Path) -> None:
    needs("js-debug")
    p = program_that_writes(named("js-debug"), tmp_path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        await stopped(c, p, tmp_path)
        if way.startswith("dap_"):
            await read(c, way)
            assert f"ended by {way}" in await read(c, "dap_status")
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("alone", [False, True], ids=["with its parent", "alone"])
async def test_a_child_process_that_is_ended_where_it_is_stopped_does_not_run_on(
    *, alone: bool, tmp_path: Path
) -> None:
    needs("js-debug")
    path = tmp_path / "forks.js"
    path.write_text(FORKS, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        child = await stopped(c, Program(path, path), tmp_path)
        await read(c, "dap_terminate", **({"session_id": child} if alone else {"session_id": 1}))
        if alone:
            await ask(c, "dap_wait_until_paused", session_id=1)
    assert not (tmp_path / "written").exists()
    assert (tmp_path / "went on").exists() is alone


async def stopped(c: Client, p: Program, folder: Path, **more: str) -> int:
    """Run a program in a folder to the line `here`; return the session that has stopped."""
    stop = await ask(
        c, "dap_run", program=str(p), cwd=str(folder), breakpoints=[p.at("here")], **more
    )
    assert stop["state"] == "stopped", stop
    return stop["session_id"]
