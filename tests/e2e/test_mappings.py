"""Programs whose files have other paths than here: as in a container, whose folder is a copy elsewhere."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.running import free_port, listening, needs_ptrace, started
from tests.harness import Json, ask, client, evaluate, needs, read, refusal
from tests.processes import LIMIT
from tests.programs import PROGRAMS, Program, compiled, program


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A project with the sources."""
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("endless_loop.py", "endless.c"):
        shutil.copy(PROGRAMS / name, folder)
    return folder


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The folder that they are in where the program runs."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


def mapped(here: Path | str, there: Path) -> Json:
    return {"pathMappings": [{"localRoot": str(here), "remoteRoot": str(there)}]}


def built(there: Path) -> Program:
    """Compile a program whose source is gone from where it was."""
    shutil.copy(PROGRAMS / "endless.c", there)
    made = compiled("endless.c", there, source=there / "endless.c")
    (there / "endless.c").unlink()
    return made


async def test_python_that_listens_elsewhere_is_debugged_by_the_files_here(
    here: Path, there: Path
) -> None:
    p = program("endless_loop.py")
    shutil.copy(p.path, there)
    folder = here / ".vscode"
    folder.mkdir()
    named = {"name": "Container", "type": "debugpy", "request": "attach"}
    text = json.dumps({"configurations": [{**named, **mapped("${workspaceFolder}", there)}]})
    (folder / "launch.json").write_text(text, encoding="utf-8")
    async with (
        asyncio.timeout(LIMIT),
        client(here) as c,
        listening(there / p.path.name) as (process, port),
    ):
        stop = await ask(
            c, "dap_run", configuration="Container", port=port,
            breakpoints=[{"filename": "endless_loop.py", "line": p.line("turn")}],
        )  # fmt: skip
        assert stop["file"] == str(here / "endless_loop.py")
        assert stop["line"] == p.line("turn")
        assert stop["stack"] == [f"<module> endless_loop.py:{p.line('turn')}"]
        assert "→" in stop["source"]
        assert await evaluate(c, "__file__") == repr(str(there / "endless_loop.py"))
        await read(c, "dap_disconnect")
        assert process.returncode is None


@needs_ptrace
@pytest.mark.parametrize("kind", ["gdb", "lldb-dap"])
async def test_a_compiled_program_from_elsewhere_is_debugged_by_the_files_here(
    kind: str, here: Path, there: Path
) -> None:
    needs(kind)
    p = program("endless.c")
    built(there)
    turn = {"filename": "endless.c", "line": p.line("turn")}
    async with (
        asyncio.timeout(LIMIT),
        client(here) as c,
        started(str(there / "endless")) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", type=kind, pid=process.pid,
            config=mapped(here, there), breakpoints=[turn],
        )  # fmt: skip
        if stop["reason"] != "breakpoint":
            stop = await ask(c, "dap_continue")
        assert (stop["file"], stop["line"]) == (str(here / "endless.c"), p.line("turn"))
        assert "→" in stop["source"]
        listed = await ask(c, "dap_breakpoints")
        assert [each["state"] for each in listed["breakpoints"]] == ["verified"]
        await read(c, "dap_clear_breakpoints")
        await read(c, "dap_disconnect")
        assert process.returncode is None


async def test_node_with_its_files_elsewhere_is_debugged_by_the_files_here(
    here: Path, there: Path
) -> None:
    needs("js-debug")
    p = program("endless.js")
    shutil.copy(p.path, here)
    shutil.copy(p.path, there)
    port = free_port()
    node = shutil.which("node") or "node"
    async with (
        asyncio.timeout(LIMIT),
        client(here) as c,
        started(node, f"--inspect=127.0.0.1:{port}", str(there / "endless.js")) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", type="node", port=port, config=mapped(here, there),
            breakpoints=[{"filename": "endless.js", "line": p.line("turn")}],
        )  # fmt: skip
        assert (stop["file"], stop["line"]) == (str(here / "endless.js"), p.line("turn"))
        await read(c, "dap_disconnect")
        assert process.returncode is None


async def test_the_table_of_cpptools_maps_as_well(here: Path, there: Path) -> None:
    p = program("endless.c")
    built(there)
    async with asyncio.timeout(LIMIT), client(here) as c:
        stop = await ask(
            c, "dap_run", program=str(there / "endless"),
            config={"sourceFileMap": {str(there): str(here)}},
            breakpoints=[{"filename": "endless.c", "line": p.line("turn")}],
        )  # fmt: skip
        assert (stop["file"], stop["line"]) == (str(here / "endless.c"), p.line("turn"))


async def test_mappings_that_map_nothing_are_refused(here: Path) -> None:
    async with asyncio.timeout(LIMIT), client(here) as c:
        for config in ({"pathMappings": {"/app": "."}}, {"pathMappings": [{"localRoot": "/app"}]}):
            said = await refusal(c, "dap_run", program="endless_loop.py", config=config)
            assert "remoteRoot" in said
