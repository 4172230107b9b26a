"""Programs run with the interpreter of their project, however dapeer itself was started."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from dapeer.tools.base import report
from tests.harness import DATA, Json, ask, client, read, refusal
from tests.processes import LIMIT
from tests.programs import ROOT
from tests.pythons import python_of

TOLD = "import json, os, sys; print(json.dumps([sys.prefix, dict(os.environ)]))"
"""A program that tells where it runs."""

in_environment = pytest.mark.skipif(
    sys.prefix == sys.base_prefix, reason="needs a virtual environment: uv run pytest"
)


def uv() -> str:
    found = shutil.which("uv")
    if found is None:
        pytest.skip("needs uv: pip install uv")
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install dapeer as a user does; return the virtual environment that is made for it."""
    folder = tmp_path_factory.mktemp("tools")
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    done = subprocess.run(
        [uv(), "tool", "install", "--quiet", ROOT],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"needs what dapeer depends on, from a package registry: {done.stderr[-300:]}")
    return folder / "tools" / "dapeer"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a virtual environment of its own."""
    venv.create(tmp_path / ".venv", with_pip=False, symlinks=True)
    (tmp_path / "told.py").write_text(TOLD)
    return tmp_path


def check(prefix: str, seen: Mapping[str, str], project: Path, dapeers: Path) -> None:
    """Look whether a program runs in its project's environment, and knows nothing of dapeer's."""
    assert prefix == str(project / ".venv")
    assert not seen.keys() & {"VIRTUAL_ENV", "UV", "UV_RUN_RECURSION_DEPTH"}
    assert str(dapeers / "bin") not in seen["PATH"].split(os.pathsep)


async def told(c: Client, **arguments: object) -> tuple[str, Mapping[str, str]]:
    """Run the program that tells where it runs."""
    end: Json = await ask(c, "dap_run", **arguments)
    assert (end["state"], end["exit_code"]) == ("ended", 0), end
    text = (await ask(c, "dap_program_output", category="stdout"))["text"]
    prefix, seen = json.loads(text)
    return prefix, seen


@pytest.mark.parametrize("road", ["uv run", "uv tool", "activated"])
async def test_dapeers_own_environment_is_not_the_projects(
    road: str, project: Path, request: pytest.FixtureRequest
) -> None:
    set_by_uv = {"VIRTUAL_ENV", "UV", "UV_RUN_RECURSION_DEPTH"}
    env = {name: value for name, value in os.environ.items() if name not in set_by_uv}
    if road == "uv run":
        dapeers = Path(sys.prefix)
        if dapeers != ROOT / ".venv":
            pytest.skip("needs to run in the environment that uv runs dapeer in: uv run pytest")
        command = [uv(), "run", "--no-sync", "--project", str(ROOT), "dapeer"]
    else:
        dapeers = request.getfixturevalue("installed")
        command = [str(dapeers / "bin" / "dapeer")]
    if road == "activated":
        path = os.pathsep.join([str(dapeers / "bin"), env["PATH"]])
        env |= {"VIRTUAL_ENV": str(dapeers), "PATH": path}
    first, *rest = [*command, "stdio", "--no-bridge", "--nvim", "none"]
    server = StdioServerParameters(command=first, args=rest, cwd=project, env=env)
    async with asyncio.timeout(LIMIT), Client(server, extensions=DATA) as c:
        check(*await told(c, program="told.py"), project, dapeers)


@in_environment
async def test_a_server_of_dapeers_own_project_runs_programs_of_others_in_their_environments(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `uv run dapeer serve` in the checkout, with `cwd` or only a program elsewhere."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", os.pathsep.join([f"{sys.prefix}/bin", os.environ["PATH"]]))
    async with asyncio.timeout(LIMIT), client() as c:
        check(*await told(c, code=TOLD, cwd=str(project)), project, Path(sys.prefix))
        prefix, _ = await told(c, program=str(project / "told.py"))
        assert prefix == str(project / ".venv")


@in_environment
async def test_dapeers_own_environment_is_taken_where_it_is_the_projects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    async with asyncio.timeout(LIMIT), client(Path(sys.prefix).parent) as c:
        prefix, seen = await told(c, code=TOLD)
        assert (prefix, seen["VIRTUAL_ENV"]) == (sys.prefix, sys.prefix)


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
async def test_an_interpreter_that_is_too_old_is_refused_at_once(
    version: str, tmp_path: Path
) -> None:
    """Debugpy would not answer. A real one where the machine has it, else an environment that says it is one."""
    real = shutil.which(f"python{version}")
    python = tmp_path / "bin" / "python"
    if real is None:
        python.parent.mkdir()
        python.symlink_to(sys.executable)
        (tmp_path / "pyvenv.cfg").write_text(f"version = {version}.1\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", code="print(1)", python=real or str(python))
        assert f"is Python {version}, which is too old: 3.8 is the oldest" in said
        assert "Give another as `python`" in said
        assert "debugpy<1.6" in said
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_a_relative_interpreter_is_looked_for_in_the_project(project: Path) -> None:
    (project / "sub").mkdir()
    async with asyncio.timeout(LIMIT), client(project) as c:
        prefix, _ = await told(c, program="told.py", cwd="sub", python=".venv/bin/python")
        assert prefix == str(project / ".venv")
        said = await refusal(c, "dap_run", program="told.py", cwd="sub", python="no/python")
        assert f"{project}/sub/no/python and {project}/no/python" in said


async def test_a_broken_environment_that_is_passed_over_is_named(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(tmp_path / "gone")
    (tmp_path / "a.py").write_text("print('hi')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="a.py")
        assert f"({tmp_path}/.venv is broken, so " in said
        assert f"was used: {python} does not exist)" in said
        assert "broken" not in await read(c, "dap_snapshot")


@pytest.mark.parametrize("has_breakpoint", [True, False])
async def test_a_program_that_computes_for_long_is_told_once_that_a_newer_python_is_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_breakpoint: bool
) -> None:
    monkeypatch.setattr(report, "SECONDS_UNTIL_SLOW", 0)
    monkeypatch.setattr(report, "SHARE_OF_COMPUTING", 0)
    newer = tmp_path / "path" / "python3.20"
    newer.parent.mkdir()
    newer.symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(newer.parent), prepend=os.pathsep)
    (tmp_path / "a.py").write_text("a = 1\na = 2\na = 3\n")
    points = [{"path": "a.py", "line": line} for line in (2, 3)] * has_breakpoint
    python = python_of("3.11")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", program="a.py", python=python, breakpoints=points)
        assert ("Python 3.12 and later adds next to nothing" in said) == has_breakpoint
        assert (f"{newer} is here: " in said) == has_breakpoint
        if has_breakpoint:
            assert "3.12" not in await read(c, "dap_continue")


async def test_an_interpreter_that_cannot_run_is_named_without_a_traceback(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_bytes(b"\x7fELF of another machine")
    python.chmod(0o755)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", code="print(1)")
        assert "Exec format error" in said
        assert str(python) in said
        assert "messaging.py" not in said


async def test_a_program_in_a_zip_archive_stops_at_its_breakpoint(tmp_path: Path) -> None:
    """By itself debugpy sets one only in an archive that is called .zip or .egg."""
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "x = 1\ny = 2\nprint(x + y)\n")
    at = {"filename": "app.pyz/__main__.py", "line": 2}
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", program="app.pyz", breakpoints=[at])
        assert (stop["state"], stop["line"]) == ("stopped", 2), stop
        assert "→ 2 y = 2" in stop["source"]
        assert "has only 3 lines" in await refusal(c, "dap_set_breakpoint", **{**at, "line": 9})
        no_member = "app.pyz/none.py"
        assert no_member in await refusal(c, "dap_set_breakpoint", filename=no_member, line=1)


async def test_code_without_a_file_is_shown_where_its_text_is_known(tmp_path: Path) -> None:
    """The text of `code` is; that of `exec`, which has the same name, is not."""
    code = 'def f(x):\n    return 1 / x\n\nexec("a = 1\\nbreakpoint()\\nf(0)")'
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        stop = await ask(c, "dap_run", code=code)
        assert (stop["file"], stop["line"], stop.get("source")) == ("<string>", 3, None)
        stop = await ask(c, "dap_continue")
        assert (stop["line"], stop["source"].splitlines()[1]) == (2, "→ 2     return 1 / x")
        refused = await refusal(c, "dap_set_breakpoint", filename="<string>", line=2)
        assert refused.startswith("<string> is the name of code that has no file. Name a function")


async def test_an_interpreter_that_ends_without_a_word_is_named(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 5\n", "utf-8")
    python.chmod(0o755)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await refusal(c, "dap_run", code="print(1)", python=str(python))
        assert said.startswith(f"{python} ended with exit code 5 when it was asked for its version")


@pytest.mark.parametrize("name", ["a::b.py", "c::d/e.py"])
async def test_a_file_with_colons_in_its_name_is_a_program(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("print('hi')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for program in (name, str(path)):
            assert (await ask(c, "dap_run", program=program))["exit_code"] == 0
        gone = name.replace(".py", "").replace("/", "::")
        assert "does not exist" in await refusal(c, "dap_run", program=gone)
