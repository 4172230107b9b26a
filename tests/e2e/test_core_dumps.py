"""Looking at what a program that crashed has left."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.running import go_built
from tests.harness import ask, client, needs, read, refusal
from tests.programs import Program, compiled, program
from tests.shown import Shows


def dumped(executable: object, folder: Path) -> str:
    """Run a program until it crashes, and return its core dump."""
    needs("gdb")
    core = folder / "core.1"
    steps = ("run", f"generate-core-file {core}", "kill")
    command = [str(shutil.which("gdb")), "-q", "-nx", "-batch"]
    command += [f"-ex={step}" for step in steps]
    subprocess.run([*command, str(executable)], check=True, capture_output=True)
    return str(core)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, str]:
    folder = tmp_path_factory.mktemp("core")
    built = compiled("leaves_core.c", folder)
    return built, dumped(built, folder)


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_core_dump_shows_the_signal_the_stack_and_the_locals(
    crashed: tuple[Program, str], adapter: str, shows: Shows
) -> None:
    needs(adapter)
    built, core = crashed
    async with client() as c:
        stop = await ask(c, "dap_run", core=core, type=adapter)
        assert (stop["reason"], stop["line"]) == ("core dump", built.line("crash"))
        assert stop["description"] == "SIGSEGV at address 0x0"
        assert len([frame for frame in stop["stack"] if "name_length" in frame]) == 3
        assert stop["locals"]["counted"] == "7"
        assert await ask(c, "dap_threads")
        for tool in ("dap_continue", "dap_step_over", "dap_step_out"):
            assert "core dump" in await refusal(c, tool)
        assert "core dump" in await refusal(c, "dap_set_variable", path="counted", value="8")
        call = await refusal(c, "dap_evaluate", expression="name_length(0, 0)")
        assert "no function can be called" in call
        assert (await ask(c, "dap_snapshot"))["locals"]["counted"] == "7"
        assert "Exit code" not in await read(c, "dap_terminate")
    shows(adapter, "core")


async def test_a_core_dump_of_a_go_program_shows_its_goroutines(
    tmp_path: Path, shows: Shows
) -> None:
    needs("delve")
    source = program("leaves_core.go")
    core = dumped(go_built(source.path, tmp_path), tmp_path)
    async with client() as c:
        stop = await ask(c, "dap_run", core=core, type="delve")
        assert stop["description"].startswith("SIGSEGV")
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        count = next(frame for frame in frames if frame["function"] == "main.count")
        assert count["line"] == source.line("crash")
        inside = await ask(c, "dap_variables", frame_id=count["frame_id"])
        assert {"name": "counted", "value": "7", "type": "int"} in inside["variables"]
        assert "core dump" in await refusal(c, "dap_continue")
    shows("go", "core")


async def test_what_is_no_core_dump_is_refused_before_anything_starts(
    crashed: tuple[Program, str],
) -> None:
    built, core = crashed
    async with client() as c:
        assert "is not a core dump" in await refusal(c, "dap_run", core=str(built.path))
        assert "does not exist" in await refusal(c, "dap_run", core=f"{core}.gone")
        at = [built.at("crash")]
        assert "No breakpoint is hit" in await refusal(c, "dap_run", core=core, breakpoints=at)
        assert (await ask(c, "dap_status"))["sessions"] == []
