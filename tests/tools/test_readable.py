"""Which files the tools show: not those that may hold secrets, and none that have nothing to do with the programs."""

import asyncio
import json
import json.decoder
import os
from pathlib import Path

import pytest
from mcp import Client

from dapeer.base.secret_files import DEFAULT, HIDDEN, SecretFiles
from dapeer.base.sources import MAX_FILE_BYTES
from dapeer.sessions.debugger.registry import Files
from tests.harness import Json, ask, call, client, needs, read, refusal, text
from tests.neovim.editor import NEEDS_NVIM
from tests.processes import LIMIT
from tests.programs import ROOT, compiled
from tools.pages import NVIM

SECRETS = [
    ".env", ".ENV", ".env.local", "prod.env", ".envrc", "a.PEM", "id_rsa", "id_rsa.pub", ".netrc", "credentials", "Secrets.yml",
    ".env~", "server.key.bak", ".ssh/config", ".aws/credentials", ".kube/config", ".git-credentials",
]  # fmt: skip
PLAIN = ["env", "a.py", "environment", "keys", "secretsanta.py", "ssh/config", "kube/config.py"]

IN_LIBRARY = """\
import json
try:
    json.loads("{")
except ValueError as error:
    print(error)
"""
USES_SECRETS = """\
import secrets
secrets.token()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with an ordinary file, and beside it one of somebody else's."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n", "utf-8")
    (folder / ".env").write_text("TOKEN=t0psecret\n", "utf-8")
    (tmp_path / "else.txt").write_text("somebody else's\n", "utf-8")
    return folder


async def hidden(c: Client, filename: object) -> None:
    told = await refusal(c, "dap_source", filename=str(filename))
    assert "may hold secrets, so no tool shows it" in told


@pytest.mark.parametrize("name", SECRETS)
def test_a_file_that_may_hold_secrets_is_known_by_its_name(name: str) -> None:
    assert SecretFiles().hides(f"/home/ann/shop/{name}")


@pytest.mark.parametrize("name", PLAIN)
def test_other_files_are_not_taken_for_secret(name: str) -> None:
    assert not SecretFiles().hides(f"/home/ann/shop/{name}")


def test_the_patterns_of_people_are_in_force_while_they_are_here() -> None:
    files = SecretFiles()
    files.set_patterns([("*.private",), ("keys/{a,b}/**", "[!x].txt")])
    assert files.hides("/p/a.private")
    assert files.hides("/p/keys/b/c/d")
    assert files.hides("/p/a.txt")
    assert not files.hides("/p/x.txt")
    assert not files.hides("/p/.env")
    files.set_patterns([()])
    assert not files.hides("/p/.env")
    files.set_patterns([])
    assert files.hides("/p/.env")


@pytest.mark.skipif(not NVIM.exists(), reason=NEEDS_NVIM)
async def test_the_plugin_and_the_server_have_one_list() -> None:
    code = "lua io.write(vim.json.encode(require('dapeer.config').get().secrets))"
    process = await asyncio.create_subprocess_exec(
        str(NVIM), "--clean", "--headless", "--cmd", f"set rtp^={ROOT}", "-c", code, "-c", "qa",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    told, _ = await process.communicate()
    assert sorted(json.loads(told)) == sorted(DEFAULT)


async def test_secret_files_are_not_shown_by_whatever_name(project: Path) -> None:
    (project / "plain").symlink_to(".env")
    (project / ".env.bak").write_text("TOKEN=t0psecret\n", "utf-8")
    async with client(project) as c:
        for name in (".env", "sub/../.env", project / ".env", "plain", ".env.bak"):
            (project / "sub").mkdir(exist_ok=True)
            await hidden(c, name)
        await hidden(c, "/etc/shadow")
        await hidden(c, "/proc/self/environ")
        await hidden(c, f"/proc/{os.getpid()}/environ")
        # Nor line by line, by breakpoints.
        told = text(await call(c, "dap_set_breakpoint", filename=".env", line=1))
        assert "t0psecret" not in told + await read(c, "dap_breakpoints")
        assert "x = 1" in await read(c, "dap_source", filename="a.py")


async def test_files_outside_of_the_project_are_refused_with_a_way_to_allow_them(
    project: Path,
) -> None:
    outside = project.parent / "else.txt"
    (project / "link.txt").symlink_to(outside)
    async with client(project) as c:
        for name in (outside, "../else.txt", "link.txt", "/proc/self/status"):
            told = await refusal(c, "dap_source", filename=str(name))
            assert (
                "is neither in the project nor in the stack or the libraries of a session" in told
            )
            assert "`--readable FOLDER`" in told
        told = text(await call(c, "dap_set_breakpoint", filename=str(outside), line=1))
        assert "somebody" not in told


def test_a_folder_that_the_person_names_is_readable(project: Path) -> None:
    files = Files(project, {})
    assert not files.allows(str(project.parent / "else.txt"))
    files.folders.add(project.parent)
    assert files.allows(str(project.parent / "else.txt"))


def test_the_whole_machine_and_a_home_are_no_project() -> None:
    for folder in (Path("/"), Path.home()):
        assert not Files(folder, {}).allows(str(folder / "notes.txt"))


async def test_the_sources_of_libraries_are_shown_once_a_program_runs(project: Path) -> None:
    decoder = json.decoder.__file__
    (project / "main.py").write_text(IN_LIBRARY, "utf-8")
    async with client(project) as c:
        assert "neither in the project" in await refusal(c, "dap_source", filename=decoder)
        await ask(c, "dap_run", program="main.py", stop_on_entry=True)
        assert "class JSONDecoder" in await read(
            c, "dap_source", filename=decoder, line=1, count=500
        )


async def test_the_files_of_a_program_elsewhere_are_shown(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "main.py").write_text("import other\n", "utf-8")
    (elsewhere / "other.py").write_text("y = 2\n", "utf-8")
    async with client(project) as c:
        await refusal(c, "dap_source", filename=str(elsewhere / "other.py"))
        await ask(c, "dap_run", program=str(elsewhere / "main.py"))
        assert "y = 2" in await read(c, "dap_source", filename=str(elsewhere / "other.py"))


async def test_a_file_that_a_program_names_as_its_source_is_shown_unless_its_name_is_a_secret_s(
    project: Path,
) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    for name in ("notes.txt", ".env"):
        (elsewhere / name).write_text("KEY=t0psecret\n", "utf-8")
    (elsewhere / "linked.txt").hardlink_to(elsewhere / ".env")
    places = [str(elsewhere / name) for name in ("notes.txt", "linked.txt", ".env")]
    program = f"for each in {places}:\n    exec(compile('breakpoint()\\nx = 1', each, 'exec'))\n"
    (project / "main.py").write_text(program, "utf-8")
    async with client(project) as c:
        for path in places[:2]:
            assert "--readable" in await refusal(c, "dap_source", filename=path)
        stop = await read(c, "dap_run", program="main.py")
        for path in places[:2]:
            assert "t0psecret" in await read(c, "dap_source", filename=path)
            stop = await read(c, "dap_continue")
        assert "t0psecret" not in stop
        assert "may hold secrets" in await refusal(c, "dap_source")


@pytest.mark.parametrize("adapter", ["gdb", "js-debug"])
async def test_what_line_directives_and_source_maps_name_is_shown_unless_its_name_is_a_secret_s(
    adapter: str, project: Path
) -> None:
    needs(adapter)
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    notes, secrets = elsewhere / "notes.txt", elsewhere / ".env"
    for each in (notes, secrets):
        each.write_text("KEY=t0psecret\n", "utf-8")
    start: Json
    if adapter == "gdb":
        (project / "main.c").write_text(
            "int main(void) {\n  int n = 1;\n"
            f'#line 1 "{notes}"\n  n += 1;\n#line 1 "{secrets}"\n  n += 2;\n  return n;\n}}\n'
        )
        built = compiled("main", project, project / "main.c")
        start = {"program": str(built), "type": adapter}
        start["breakpoints"] = [{"filename": "main.c", "line": 2}]
    else:
        (project / "main.js").write_text("debugger;\ndebugger;\n//# sourceMappingURL=main.js.map\n")
        names = [str(notes), str(secrets)]
        mapped = {"version": 3, "sources": names, "names": [], "mappings": "AAAA;ACAA"}
        (project / "main.js.map").write_text(json.dumps(mapped))
        start = {"program": "main.js"}
    async with asyncio.timeout(LIMIT), client(project) as c:
        assert "--readable" in await refusal(c, "dap_source", filename=str(notes))
        stop = await read(c, "dap_run", **start)
        if adapter == "gdb":
            stop = await read(c, "dap_step_over")
        assert f"at {notes}:1 in" in stop
        assert "t0psecret" in await read(c, "dap_source", filename=str(notes))
        stop = await read(c, "dap_step_over" if adapter == "gdb" else "dap_continue")
        assert f"at {secrets}:1 in" in stop
        assert "t0psecret" not in stop
        assert "may hold secrets" in await refusal(c, "dap_source")


async def test_a_stop_in_a_secret_file_is_told_without_its_text(project: Path) -> None:
    (project / "main.py").write_text(USES_SECRETS, "utf-8")
    (project / "secrets.py").write_text('def token():\n    key = "t0psecret"[:0]\n', "utf-8")
    async with client(project) as c:
        at = {"filename": "secrets.py", "line": 2}
        seen = await read(c, "dap_run", program="main.py", breakpoints=[at])
        seen += await read(c, "dap_current_location") + await read(c, "dap_breakpoints")
        shown = await c.read_resource("debug://sessions/1")
        assert HIDDEN in seen
        assert "t0psecret" not in seen + str(shown)
        assert "may hold secrets" in await refusal(c, "dap_source")
        # Nor by the adapter.
        told = await refusal(c, "dap_request", command="source", arguments={"source": at})
        assert "Use dap_source" in told


async def test_lines_of_a_large_file_are_shown(project: Path) -> None:
    large = project / "large.py"
    line = b"number = 1  # and so on\n"
    large.write_bytes(line * (MAX_FILE_BYTES // len(line) + 10) + b"last = 2\n")
    count = MAX_FILE_BYTES // len(line) + 11
    async with client(project) as c:
        begin = await read(c, "dap_source", filename="large.py", count=2)
        assert begin.splitlines()[-1] == "(maybe more lines: line=3)"
        assert "number = 1" in begin
        end = await read(c, "dap_source", filename="large.py", line=count)
        assert f"{count}" in end
        assert "last = 2" in end
        told = await refusal(c, "dap_source", filename="large.py", line=count + 1)
        assert f"has only {count} lines" in told
