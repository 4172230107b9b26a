"""A source file that changes while its program runs: what was loaded is shown, and the change is said."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from tests.harness import ask, client, has_all, needs, read

SOURCE = """\
def area(width, height):
    size = width * height
    return size


total = 0
for side in range(3):
    total += area(side, side)
print(total)
"""
STOP = 2


@asynccontextmanager
async def stopped(tmp_path: Path) -> AsyncGenerator[tuple[Client, Path]]:
    """Stop in a program of a project of its own."""
    source = tmp_path / "areas.py"
    source.write_text(SOURCE)
    async with client(tmp_path) as c:
        breakpoints = [{"filename": str(source), "line": STOP}]
        await ask(c, "dap_run", program=str(source), breakpoints=breakpoints)
        yield c, source


async def test_the_source_of_a_stop_is_what_the_program_has_loaded(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (c, source):
        source.write_text("# one\n# two\n" + SOURCE)
        told = await read(c, "dap_step_over")
        assert "→ 3 return size" in told
        assert has_all(told, "areas.py has changed", "line 3 is line 5 now", "dap_restart")
        assert "line 3 is line 5 now" in await read(c, "dap_current_location")
        assert "runs this file as it was before it changed" in await read(
            c, "dap_source", filename=str(source)
        )
        again = await read(c, "dap_restart")
        assert "changed since" not in again


async def test_a_line_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (c, source):
        source.write_text(SOURCE.replace("    return size\n", "    return width\n"))
        told = await read(c, "dap_step_over")
        assert "→ 3 return size" in told
        assert "line 3 no longer exists" in told


async def test_a_file_that_was_saved_without_a_change_is_not_spoken_of(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (c, source):
        source.write_text(SOURCE)
        assert "areas.py has" not in await read(c, "dap_step_over")


async def test_a_file_that_changed_before_it_was_looked_at_is_doubted(tmp_path: Path) -> None:
    library = tmp_path / "library.py"
    library.write_text("def one():\n    return 1\n")
    source = tmp_path / "main.py"
    source.write_text("import library\nnumber = 1\nprint(library.one())\n")
    async with client(tmp_path) as c:
        stop = {"filename": str(source), "line": 3}
        await ask(c, "dap_run", program=str(source), breakpoints=[stop])
        library.write_text("# new\ndef one():\n    return 1\n")
        told = await read(c, "dap_step_into")
        assert "library.py was changed after the program had started, so this may not be" in told
        assert "dap_restart" in told


async def test_a_running_program_takes_no_new_breakpoint_of_a_file_that_has_changed(
    tmp_path: Path,
) -> None:
    async with stopped(tmp_path) as (c, source):
        source.write_text("# one\n# two\n" + SOURCE)
        told = await read(c, "dap_set_breakpoint", filename=str(source), line=11)
        assert "areas.py has changed since the program loaded it" in told
        assert "verified" not in told
        # The old one stays what it was, and still stops.
        stop = await read(c, "dap_continue")
        assert "→ 2 size = width * height" in stop
        assert "Rejected" not in stop
        await read(c, "dap_restart")
        assert "areas.py:11 verified | print(total)" in await read(c, "dap_breakpoints")


async def test_a_restart_moves_breakpoints_with_the_text_of_their_lines(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (c, source):
        await ask(c, "dap_set_breakpoint", filename=str(source), line=3)
        source.write_text("# one\n# two\n" + SOURCE)
        again = await read(c, "dap_restart")
        assert "at areas.py:4 in area" in again
        assert has_all(again, "breakpoint areas.py:2 → 4", "breakpoint areas.py:3 → 5")
        assert "at areas.py:5" in await read(c, "dap_continue")
        assert "areas.py:2" not in await read(c, "dap_breakpoints")


async def test_a_restart_says_which_lines_with_breakpoints_were_changed(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (c, source):
        source.write_text(SOURCE.replace("width * height", "width + height"))
        again = await read(c, "dap_restart")
        assert "at areas.py:2 in area" in again
        assert "breakpoint areas.py:2: this line was changed" in again


async def test_an_ended_program_is_restarted_with_its_breakpoints_on_the_moved_lines(
    tmp_path: Path,
) -> None:
    async with stopped(tmp_path) as (c, source):
        await ask(c, "dap_terminate")
        source.write_text("# one\n" + SOURCE)
        assert "at areas.py:3 in area" in await read(c, "dap_restart")


HOST = """\
import importlib, os, sys
import plug
from plug import price as kept

def reload(text):
    with open(plug.__file__, "w") as file:
        file.write(text)
    importlib.invalidate_caches()
    importlib.reload(plug)

price = plug.price(1)
reload(sys.argv[1])
price = plug.price(2)
price = kept(3)
print("done")
"""
PLUG = "def price(n):\n    cost = n * 2\n    return cost\n"
AGAIN = "# one\n# two\n" + PLUG.replace("n * 2", "n * 200")


async def test_a_module_that_is_imported_again_has_the_new_text_and_what_is_left_the_old(
    tmp_path: Path,
) -> None:
    plug = tmp_path / "plug.py"
    plug.write_text(PLUG)
    (tmp_path / "host.py").write_text(HOST)
    async with client(tmp_path) as c:
        points = [{"filename": "plug.py", "line": 2}, {"filename": "host.py", "line": 13}]
        await ask(c, "dap_run", program="host.py", args=[AGAIN], breakpoints=points)
        assert "at host.py:13" in await read(c, "dap_continue")
        told = await read(c, "dap_set_breakpoint", filename="plug.py", line=5)
        assert told == "plug.py:5 verified | return cost (old code of it is held as price)"
        await read(c, "dap_remove_breakpoint", filename="plug.py", line=2)
        told = await read(c, "dap_continue")
        assert has_all(told, "at plug.py:5 in price", "→ 5     return cost", "cost = 400")
        assert "changed" not in told.lower().replace("changed:", "")
        await read(c, "dap_set_breakpoint", filename="host.py", line=14)
        assert "at host.py:14" in await read(c, "dap_continue")
        told = await read(c, "dap_step_into")
        assert has_all(told, "at plug.py:2 in price", "→ 2     cost = n * 2\n")
        assert "plug.py was loaded again; this frame still runs the text from before" in told


async def test_a_breakpoint_that_waits_for_the_new_text_is_set_once_that_is_loaded(
    tmp_path: Path,
) -> None:
    (tmp_path / "plug.py").write_text(PLUG)
    (tmp_path / "host.py").write_text(HOST)
    async with client(tmp_path) as c:
        points = [{"filename": "plug.py", "line": 2}, {"filename": "host.py", "line": 12}]
        await ask(c, "dap_run", program="host.py", args=[AGAIN], breakpoints=points)
        await ask(c, "dap_continue")
        (tmp_path / "plug.py").write_text(AGAIN)
        told = await read(c, "dap_set_breakpoint", filename="plug.py", line=5)
        assert "plug.py has changed since the program loaded it" in told
        assert "at host.py:13" in await read(c, "dap_step_over")
        assert "plug.py:5 verified | return cost" in await read(c, "dap_breakpoints")
        assert "at plug.py:5 in price" in await read(c, "dap_continue")


NODE_HOST = """\
const fs = require('fs');
const file = require.resolve('./plug.js');
let price = require(file).price(1);
fs.writeFileSync(file, '// one\\n// two\\n' + fs.readFileSync(file));
delete require.cache[file];
price = require(file).price(2);
console.log(price);
"""


async def test_a_module_of_node_that_is_loaded_again_has_the_new_text(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "plug.js").write_text(
        "exports.price = (n) => {\n  const cost = n * 2;\n  return cost;\n};\n"
    )
    (tmp_path / "host.js").write_text(NODE_HOST)
    async with client(tmp_path) as c:
        points = [
            {"filename": "plug.js", "line": 2, "condition": "n < 0"},
            {"filename": "host.js", "line": 7},
        ]
        stop = await read(c, "dap_run", program="host.js", breakpoints=points)
        assert "at host.js:7" in stop
        told = await read(c, "dap_set_breakpoint", filename="plug.js", line=5)
        assert told == "plug.js:5 verified | return cost;"
        told = await read(c, "dap_source", filename="plug.js")
        assert "as it was before" not in told
