"""What only JavaScript has: sources that are compiled to others, and Node.js's own code among them."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.harness import ask, client, needs
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a project of TypeScript that is compiled, with source maps."""
    needs("js-debug")
    return Path(shutil.copytree(PROGRAMS / "typescript", tmp_path / "shop"))


@pytest.mark.parametrize("name", ["compiled/shop.js", "src/shop.ts"])
async def test_a_breakpoint_in_typescript_stops_what_it_is_compiled_to(
    shop: Path, name: str
) -> None:
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum", condition="item.name === 'spoon'")
    async with asyncio.timeout(LIMIT), client(shop) as c:
        stop = await ask(c, "dap_run", program=name, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])
        assert stop["locals"]["sum"] == "40"
        # The adapter's own words are none of the program's, which prints a path, too.
        assert "output" not in stop
        end = await ask(c, "dap_continue")
        assert end["output"].endswith(f"{shop / 'compiled' / 'shop.js'} 42\n")


async def test_a_program_outside_of_the_project_has_a_project_of_its_own(
    shop: Path, tmp_path: Path
) -> None:
    (shop / "package.json").write_text("{}")
    here = tmp_path / "here"
    here.mkdir()
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum")
    async with asyncio.timeout(LIMIT), client(here) as c:
        program = str(shop / "compiled" / "shop.js")
        stop = await ask(c, "dap_run", program=program, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])


async def test_a_step_passes_the_code_of_node_by(tmp_path: Path) -> None:
    needs("js-debug")
    source = tmp_path / "events.js"
    source.write_text(
        'const { EventEmitter } = require("node:events");\n'
        "const bell = new EventEmitter();\n"
        'bell.on("ring", (times) => {\n'
        "  console.log(times);\n"
        "});\n"
        'bell.emit("ring", 3);\n'
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": str(source), "line": 6}
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        stop = await ask(c, "dap_step_into")
        assert (stop["file"], stop["line"]) == (str(source), 4)
