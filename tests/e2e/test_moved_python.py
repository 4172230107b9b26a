"""Python code that knows its file by another folder: compiled elsewhere, or in an archive."""

import asyncio
import subprocess
import sys
import zipapp
from pathlib import Path

from tests.harness import ask, client, evaluate
from tests.processes import LIMIT
from tests.pythons import python_of, versions

CART = "def twice(n):\n    out = n * 2\n    return out\n"
MAIN = "from shop import cart\n\nprint(cart.twice(4))\nprint(cart.twice(5))\n"
AT = {"filename": "src/shop/cart.py", "line": 3}
COMPILE = """
import py_compile, sys
for name in ("__init__", "cart"):
    py_compile.compile(f"{sys.argv[1]}/shop/{name}.py", f"{sys.argv[2]}/shop/{name}.pyc", f"/build/src/shop/{name}.py")
"""
in_all = versions("3.8", "3.11", "3.12", "3.13")


def package(folder: Path, text: str = CART) -> Path:
    """Write the package `shop` into a folder; return that."""
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "shop" / "cart.py").write_text(text)
    return folder


def moved(folder: Path, python: str = sys.executable) -> Path:
    """Make a project whose program runs code that was compiled in /build/src, without its source."""
    source, made = package(folder / "src"), folder / "dist"
    (made / "shop").mkdir(parents=True)
    (made / "main.py").write_text(MAIN)
    subprocess.run([python, "-c", COMPILE, source, made], check=True)
    return folder


def archived(folder: Path, text: str = CART) -> Path:
    """Make a project whose program is an archive; return it."""
    package(folder / "src")
    (package(folder / "staged", text) / "__main__.py").write_text(MAIN)
    zipapp.create_archive(folder / "staged", folder / "app.pyz")
    return folder


@in_all
async def test_a_breakpoint_binds_in_code_that_was_compiled_in_another_folder(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    here = moved(tmp_path, python)
    async with asyncio.timeout(LIMIT), client(here) as c:
        stop = await ask(c, "dap_run", program="dist/main.py", breakpoints=[AT], python=python)
        assert (stop["file"], stop["line"]) == (str(here / "src" / "shop" / "cart.py"), 3)
        assert "→ 3     return out" in stop["source"]
        assert await evaluate(c, "out") == "8"
        (said,) = stop["breakpoints"]["renamed"]
        assert said == "src/shop/cart.py:3 (the program has the file as /build/src/shop/cart.py)"
        assert (await ask(c, "dap_continue"))["state"] == "stopped"
        assert (await ask(c, "dap_continue"))["exit_code"] == 0


@in_all
async def test_a_breakpoint_that_is_set_after_the_code_has_run_binds_in_it(
    tmp_path: Path, version: str
) -> None:
    python = python_of(version)
    here = moved(tmp_path, python)
    first = {"filename": "dist/main.py", "line": 4}
    async with asyncio.timeout(LIMIT), client(here) as c:
        await ask(c, "dap_run", program="dist/main.py", breakpoints=[first], python=python)
        await ask(c, "dap_set_breakpoint", **AT)
        stop = await ask(c, "dap_continue")
        assert (stop["file"], stop["line"]) == (str(here / "src" / "shop" / "cart.py"), 3)
        assert await evaluate(c, "out") == "10"


async def test_a_breakpoint_in_the_source_of_an_archive_binds_in_the_archive(
    tmp_path: Path,
) -> None:
    here = archived(tmp_path)
    async with asyncio.timeout(LIMIT), client(here) as c:
        stop = await ask(c, "dap_run", program="app.pyz", breakpoints=[AT])
        assert (stop["file"], stop["line"]) == (str(here / "src" / "shop" / "cart.py"), 3)
        name = here / "app.pyz" / "shop" / "cart.py"
        (said,) = stop["breakpoints"]["renamed"]
        assert said.endswith(f"(the program has the file as {name})")


async def test_an_archive_of_another_text_is_another_program(tmp_path: Path) -> None:
    here = archived(tmp_path, f"# older\n{CART}")
    async with asyncio.timeout(LIMIT), client(here) as c:
        end = await ask(c, "dap_run", program="app.pyz", breakpoints=[AT])
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert end["breakpoints"] == {"not hit": ["src/shop/cart.py:3"]}


async def test_no_breakpoint_binds_where_two_files_may_be_meant(tmp_path: Path) -> None:
    here = moved(tmp_path)
    package(here / "other" / "src")
    also = {**AT, "filename": "other/src/shop/cart.py"}
    async with asyncio.timeout(LIMIT), client(here) as c:
        end = await ask(c, "dap_run", program="dist/main.py", breakpoints=[AT, also])
        assert (end["state"], end["exit_code"]) == ("ended", 0)


async def test_a_file_that_is_where_the_program_has_it_is_another_one(tmp_path: Path) -> None:
    package(tmp_path / "mine" / "src")
    (package(tmp_path / "theirs" / "src") / "main.py").write_text(MAIN)
    async with asyncio.timeout(LIMIT), client(tmp_path / "mine") as c:
        program = str(tmp_path / "theirs" / "src" / "main.py")
        end = await ask(c, "dap_run", program=program, breakpoints=[AT])
        assert (end["state"], end["exit_code"]) == ("ended", 0)
