"""Scripts that lie beside a program: a debugger that starts the program may run them; one that only looks at it runs none."""

import asyncio
import os
from pathlib import Path

import pytest

from dapeer.companions.native.rust_formatters import folder_for
from tests.e2e.running import needs_ptrace, started
from tests.e2e.test_core_dumps import dumped
from tests.harness import ask, call, client, needs, read, text
from tests.processes import LIMIT
from tests.programs import compiled

INSIDE = r"""
__asm__(".pushsection .debug_gdb_scripts, \"MS\", @progbits, 1\n"
        ".byte 4\n.ascii \"inside\\nopen('inside.ran', 'w')\\n\"\n.byte 0\n.popsection");
"""
SCRIPTS = {
    "v-gdb.py": "open('beside-py.ran', 'w')\n",
    "v-gdb.gdb": "shell touch beside-gdb.ran\n",
    "v.py": "open('module.ran', 'w')\n",
    ".gdbinit": "shell touch gdbinit.ran\n",
    ".lldbinit": "script open('lldbinit.ran', 'w')\n",
}
WAY = 'dap_evaluate(expressions=["source {}"], context="repl")'
ADAPTERS = ["gdb", "lldb-dap", "codelldb"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that waits when it has an argument and crashes when it has none; dapeer runs in its folder."""
    (tmp_path / "v.c").write_text(
        f"#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n{INSIDE}"
        "int main(int count, char **given) {\n"
        '    if (count < 2) abort();\n    fputs("ready\\n", stderr);\n'
        "    for (;;) sleep(1);\n}\n"
    )
    compiled("v.c", tmp_path, source=tmp_path / "v.c")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scripted(project: Path) -> Path:
    for name, script in SCRIPTS.items():
        (project / name).write_text(script)
    return project


def crashed(project: Path) -> str:
    """Return a core dump of it; GDB makes that, and runs scripts meanwhile."""
    core = dumped(project / "v", project)
    scripted(project)
    for each in project.glob("*.ran"):
        each.unlink()
    return core


def ran(project: Path) -> set[str]:
    return {path.stem for path in project.glob("*.ran")}


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_look_at_a_core_dump_runs_nothing_that_lies_beside_the_program(
    adapter: str, project: Path
) -> None:
    needs(adapter)
    core = crashed(project)
    async with client(project) as c:
        said = text(await call(c, "dap_run", core=core, program="v", type=adapter))
        assert "SIGABRT" in said
        assert not ran(project)
        if adapter == "gdb":
            script = project / "v-gdb.gdb"
            assert f"GDB did not run {script}" in said
            assert WAY.format(script) in said
            assert (await read(c, "dap_program_output")).count("did not run") == 1
            await read(c, "dap_evaluate", expression=f"source {script}", context="repl")
            assert ran(project) == {"beside-gdb"}


@needs_ptrace
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_debugger_that_attaches_runs_nothing_that_lies_beside_the_program(
    adapter: str, project: Path
) -> None:
    needs(adapter)
    async with (
        asyncio.timeout(LIMIT),
        started(str(scripted(project) / "v"), "wait", says=b"ready") as process,
        client(project) as c,
    ):
        said = text(await call(c, "dap_run", request="attach", pid=process.pid, type=adapter))
        assert "main" in text(await call(c, "dap_pause")) or "main" in said
        assert not ran(project)


async def test_a_debugger_that_starts_the_program_runs_its_scripts(project: Path) -> None:
    needs("gdb")
    async with client(scripted(project)) as c:
        await ask(c, "dap_run", program="v", type="gdb")
        assert ran(project) == {"beside-py", "beside-gdb", "inside"}


def test_a_project_does_not_choose_the_rust_that_is_asked_for_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rust-toolchain.toml` of the folder in which rustc is started may name any program."""
    (tmp_path / "rustc").write_text('#!/bin/sh\npwd > "${0%/*}/asked"\necho /nowhere\n', "utf-8")
    (tmp_path / "rustc").chmod(0o755)
    (tmp_path / "program").write_bytes(b"rust_eh_personality")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    assert folder_for(str(tmp_path / "program")) is None
    assert (tmp_path / "asked").read_text("utf-8") == "/\n"
