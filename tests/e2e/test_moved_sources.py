"""Programs that know their source files by other folders: a build that was moved, one without paths."""

import asyncio
import json
import re
import shutil
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.harness import ask, client, evaluate, needs
from tests.processes import LIMIT
from tests.programs import tool

APP = """\
#include <stdio.h>
int twice(int n);
int main(void) {
    printf("%d\\n", twice(4));
    return 0;
}
"""
CART = """\
int twice(int n) {
    int out = n * 2;
    return out;
}
"""
GO_MAIN = 'package main\n\nimport "shop/cart"\n\nfunc main() { println(cart.Twice(4)) }\n'
GO_CART = "package cart\n\nfunc Twice(n int) int {\n\tout := n * 2\n\treturn out\n}\n"
TS = "function twice(n: number) {\n  const out = n * 2;\n  return out;\n}\nconsole.log(twice(4));\n"
AT = {"filename": "cart/cart.c", "line": 3}
NATIVE = ["gdb", "lldb-dap", "codelldb"]


def built(folder: Path, *folders: str) -> Path:
    """Build a program with a `cart.c` in each of these folders; return where it was."""
    (folder / "main.c").write_text(APP)
    sources = [folder / each / "cart.c" for each in folders]
    for number, source in enumerate(sources):
        source.parent.mkdir(parents=True)
        source.write_text(CART if number == 0 else CART.replace("twice", f"twice{number}"))
    subprocess.run(
        [tool("gcc"), "-g", "-O0", "-o", folder / "shop", folder / "main.c", *sources], check=True
    )
    return folder


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_breakpoint_binds_where_a_build_was_moved_and_says_so(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    (tmp_path / "old").mkdir()
    here = built(tmp_path / "old", "cart").rename(tmp_path / "new")
    async with asyncio.timeout(LIMIT), client(here) as c:
        stop = await ask(c, "dap_run", program="shop", type=adapter, breakpoints=[AT])
        assert (stop["file"], stop["line"]) == (str(here / "cart" / "cart.c"), 3)
        assert "→ 3" in stop["source"]
        assert await evaluate(c, "out") == "8"
        known = tmp_path / "old" / "cart" / "cart.c"
        assert stop["breakpoints"] == {
            "renamed": [f"cart/cart.c:3 (the program has the file as {known})"]
        }
        # The other file has moved with it.
        assert f"main {'main.c'}:4" in str(stop["stack"])
        assert (await ask(c, "dap_continue"))["exit_code"] == 0


@pytest.mark.parametrize("adapter", NATIVE)
async def test_a_file_of_the_same_name_that_is_there_is_another_one(
    adapter: str, tmp_path: Path
) -> None:
    needs(adapter)
    (tmp_path / "other").mkdir()
    other = built(tmp_path / "other", "cart")
    here = Path(shutil.copytree(other, tmp_path / "copy"))
    async with asyncio.timeout(LIMIT), client(here) as c:
        end = await ask(c, "dap_run", program="shop", type=adapter, breakpoints=[AT])
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        (said,) = end["breakpoints"]["never bound"]
        assert f"the program has files of this name as {other / 'cart' / 'cart.c'}" in said


@pytest.mark.parametrize("adapter", NATIVE)
async def test_several_files_that_may_be_meant_are_named(adapter: str, tmp_path: Path) -> None:
    needs(adapter)
    (tmp_path / "old").mkdir()
    old = tmp_path / "old"
    here = built(old, "one/cart", "two/cart").rename(tmp_path / "new")
    (here / "cart").mkdir()
    (here / "cart" / "cart.c").write_text(CART)
    async with asyncio.timeout(LIMIT), client(here) as c:
        end = await ask(c, "dap_run", program="shop", type=adapter, breakpoints=[AT])
        (said,) = end["breakpoints"]["never bound"]
        assert f"{old}/one/cart/cart.c and {old}/two/cart/cart.c" in said


def built_of_go(folder: Path, *flags: str) -> Path:
    """Build a program of Go in a folder; return that."""
    (folder / "cart").mkdir(parents=True)
    texts = {
        "go.mod": "module shop\n\ngo 1.19\n",
        "main.go": GO_MAIN,
        "cart/cart.go": GO_CART,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    build = [tool("go", "golang-go"), "build", *flags, "-gcflags=all=-N -l", "-o", "shop", "."]
    subprocess.run(build, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("flags", [[], ["-trimpath"]])
async def test_a_breakpoint_binds_in_a_program_of_go_that_was_moved_or_has_no_paths(
    flags: list[str], tmp_path: Path
) -> None:
    needs("delve")
    old = built_of_go(tmp_path / "old", *flags)
    here = old.rename(tmp_path / "new")
    async with asyncio.timeout(LIMIT), client(here) as c:
        at = {"filename": "cart/cart.go", "line": 5}
        stop = await ask(c, "dap_run", program="shop", breakpoints=[at])
        assert (stop["file"], stop["line"]) == (str(here / "cart" / "cart.go"), 5)
        (said,) = stop["breakpoints"]["renamed"]
        assert "the program has the file as " in said


def built_of_typescript(folder: Path, *named: str) -> Path:
    """Write a program of JavaScript whose source map names sources in other folders, a line for a line; return its folder."""
    for source in ("src", *named[1:]):
        (folder / source).mkdir(parents=True)
        (folder / source / "cart.ts").write_text(TS)
    (folder / "dist").mkdir()
    (folder / "dist" / "app.js").write_text(
        TS.replace(": number", "") + "//# sourceMappingURL=app.js.map\n"
    )
    lines = ";".join(["AAAA", *["AACA"] * (TS.count("\n") - 1)])
    held = {"version": 3, "sources": [named[0]], "names": [], "mappings": lines}
    (folder / "dist" / "app.js.map").write_text(json.dumps(held))
    return folder


async def test_a_breakpoint_binds_in_a_build_of_typescript_that_was_moved_and_says_so(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    here = built_of_typescript(tmp_path, "/build/shop/src/cart.ts")
    async with asyncio.timeout(LIMIT), client(here) as c:
        at = {"filename": "src/cart.ts", "line": 3}
        stop = await ask(c, "dap_run", program="dist/app.js", breakpoints=[at])
        assert (stop["file"], stop["line"]) == (str(here / "src" / "cart.ts"), 3)
        assert await evaluate(c, "out") == "8"
        assert f"source maps have /build/shop as {here}" in str(stop)


async def test_a_source_map_of_another_project_moves_no_breakpoint(tmp_path: Path) -> None:
    needs("js-debug")
    here = built_of_typescript(tmp_path, "/build/shop/lib/cart.ts")
    async with asyncio.timeout(LIMIT), client(here) as c:
        at = {"filename": "src/cart.ts", "line": 3}
        end = await ask(c, "dap_run", program="dist/app.js", breakpoints=[at])
        assert "never bound" in end["breakpoints"]


@pytest.mark.parametrize("there", ["inside", "outside"])
async def test_a_build_without_its_sources_finds_them_by_relative_names(
    there: str, tmp_path: Path
) -> None:
    needs("js-debug")
    here = built_of_typescript(tmp_path / "project", "../src/cart.ts")
    moved = {"inside": here, "outside": tmp_path}[there] / "deploy" / "js"
    moved.parent.mkdir(parents=True)
    (here / "dist").rename(moved)
    async with asyncio.timeout(LIMIT), client(here) as c:
        at = {"filename": "src/cart.ts", "line": 3}
        stop = await ask(c, "dap_run", program=str(moved / "app.js"), breakpoints=[at])
        assert (stop["file"], stop["line"]) == (str(here / "src" / "cart.ts"), 3)
        assert f"source maps have .. as {here}" in str(stop)


async def test_a_file_that_node_has_loaded_in_another_folder_is_known_by_its_end(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    text = "let n = 0; console.log('runs');\nsetInterval(() => {\n  n++;\n}, 50);\n"
    for folder in ("project", "container"):
        (tmp_path / folder / "src").mkdir(parents=True)
        (tmp_path / folder / "src" / "a.js").write_text(text)
    async with running_node(tmp_path / "container") as port:
        # What is in a container is not here.
        shutil.rmtree(tmp_path / "container")
        async with asyncio.timeout(LIMIT), client(tmp_path / "project") as c:
            at = {"filename": "src/a.js", "line": 3}
            attach = {"request": "attach", "type": "js-debug", "port": port}
            stop = await ask(c, "dap_run", **attach, breakpoints=[at])
            assert (stop["state"], stop["reason"], stop["line"]) == ("stopped", "breakpoint", 3)
            assert stop["file"] == str(tmp_path / "project" / "src" / "a.js")
            name = tmp_path / "container" / "src" / "a.js"
            assert f"the program has the file as {name}" in str(stop)


@asynccontextmanager
async def running_node(folder: Path) -> AsyncGenerator[int]:
    """Run `src/a.js` of a folder in Node.js, and give the port where it listens for a debugger."""
    command = ["node", "--inspect=0", "src/a.js"]
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=PIPE, stderr=PIPE)
    assert process.stderr is not None
    assert process.stdout is not None
    try:
        line = (await process.stderr.readline()).decode()
        await process.stdout.readline()
        yield int(re.findall(r"127\.0\.0\.1:(\d+)/", line)[0])
    finally:
        process.kill()
        await process.wait()
