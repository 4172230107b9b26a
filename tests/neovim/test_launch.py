"""The assistant starts programs in the person's Neovim, by nvim-dap, where the person sees them."""

import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.harness import ask, evaluate, read, refusal, served
from tests.neovim.editor import neovim, older_nvim_dap
from tests.neovim.joint import attached
from tests.neovim.person import Person
from tests.programs import copied, program

STEPS = program("steps.py")

ASKING = """
local dap = require('dap')
dap.configurations.python = {
  { name = 'asks', type = 'python', request = 'launch', args = { 'mine' },
    program = function() return vim.fn.input('Which? ') end, stopOnEntry = true },
  { name = 'this file', type = 'python', request = 'launch', program = '${file}', stopOnEntry = true },
  { name = 'pick', type = 'python', request = 'attach', processId = '${command:pickProcess}' },
  setmetatable({ name = 'made', type = 'python', request = 'launch' },
    { __call = function(config) return config end }),
}
local round = { name = 'round', type = 'python', request = 'launch', [1] = 'mixed', odd = 0 / 0 }
round.me = round
table.insert(dap.configurations.python, round)
-- Filetypes often share their configurations.
dap.configurations.cpp = dap.configurations.python
"""

BROKEN = """
local dap = require('dap')
dap.adapters.gone = { type = 'executable', command = '/no/such/adapter' }
dap.adapters.made = function(give) give({ type = 'executable', command = '/no/such/made' }) end
dap.adapters.dies = { type = 'executable', command = 'false' }
dap.adapters.refuses = { type = 'server', port = 1, options = { max_retries = 1 } }
dap.adapters.throws = function() error('boom') end
dap.adapters.odd = { type = 'carrier pigeon' }
NOTIFY = require('dap.utils').notify
"""


@asynccontextmanager
async def both(
    tmp_path: Path, setup: dict[str, object], rc: str = "", *, ui: bool = False
) -> AsyncGenerator[tuple[Client, Person, Path]]:
    """Start a Neovim in a project of its own, and attach a core to it."""
    project = tmp_path / "project"
    project.mkdir()
    copied("steps.py", project)
    async with (
        neovim(tmp_path, setup=setup, rc=rc, cwd=project, ui=ui) as editor,
        attached(editor, project) as (c, _),
    ):
        yield c, Person(editor), project


async def test_a_program_starts_where_the_person_sees_it(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, person, project):
        path = project / "steps.py"
        line = STEPS.line("call")
        stop = await ask(
            c, "dap_run", program="steps.py", args=["a b"],
            breakpoints=[{"filename": "steps.py", "line": line}],
        )  # fmt: skip
        assert (stop["state"], stop["reason"], stop["line"]) == ("stopped", "breakpoint", line)
        assert await evaluate(c, "__import__('sys').argv[1:]") == "['a b']"
        await person.sees_stop(line)
        theirs = await person.session()
        assert (theirs["name"], theirs["line"]) == ("steps.py", line)
        assert await person.breakpoints() == {(path.name, line, "DapBreakpoint")}
        # One of the same name does not restart the first.
        await ask(c, "dap_run", program="steps.py", where="nvim")
        await ask(c, "dap_run", program="steps.py", where="direct")
        assert len(await person.sessions()) == 2
        assert len((await ask(c, "dap_status"))["sessions"]) == 3


@pytest.mark.parametrize("tag", ["0.6.0", "0.9.0"])
async def test_sessions_of_an_older_nvim_dap_have_their_name_and_type(
    tmp_path: Path, tag: str
) -> None:
    older = older_nvim_dap(tmp_path, tag)
    async with neovim(tmp_path, dap=older, setup={}) as editor, attached(editor) as (c, _):
        person = Person(editor)
        await person.run(STEPS, stopOnEntry=True)
        stop = await ask(c, "dap_run", program=str(STEPS), where="nvim", stop_on_entry=True)
        assert stop["state"] == "stopped"
        told = await read(c, "dap_status")
        assert re.findall(r"(?m)^\d (.*?\)) ", told) == ["steps.py (python, in Neovim, by tap)"] * 2


async def test_which_of_several_neovims_a_program_runs_in_is_told(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    project = folders[1]
    path = copied("steps.py", project)
    async with (
        neovim(folders[0], setup={}, cwd=folders[0]) as first,
        neovim(project, setup={}, cwd=project) as second,
        served(project) as (c, peers),
    ):
        await peers.connect(first.socket)
        await peers.connect(second.socket)
        it_runs = f"it runs in Neovim 2 (pid {second.pid}, in {project})"
        for tool, arguments in (
            ("dap_run", {"program": str(path), "stop_on_entry": True}),
            ("dap_restart", {}),
        ):
            stop = await ask(c, tool, **arguments)
            assert (stop["state"], it_runs in stop["notes"]) == ("stopped", True)
        assert "(python, in Neovim 2, by tap) stopped" in await read(c, "dap_status")
        await peers.detach_keeping_consent(1)
        assert "(python, in Neovim, by tap) stopped" in await read(c, "dap_status")


async def test_a_test_starts_by_its_name_where_the_person_sees_it_fail(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, person, project):
        (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        cart = copied("cart_test.py", project)
        stop = await ask(c, "dap_run", program="cart_test.py::test_total[1]", python=sys.executable)
        assert (stop["reason"], stop["line"]) == ("exception", cart.line("assert"))
        assert stop["locals"] == {"price": "1", "prices": "[1, 3]"}
        await person.sees_stop(cart.line("assert"))
        assert (await person.session())["name"] == "cart_test.py::test_total[1]"
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 1)


async def test_what_the_person_has_configured_starts_by_name(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup, ASKING) as (c, person, project):
        listed = (await ask(c, "dap_configurations"))["configurations"]
        assert [(row["name"], row["where"], row.get("asks")) for row in listed] == [
            ("asks", ["nvim", "direct"], ["program: a function"]),
            ("this file", ["nvim", "direct"], None),
            ("pick", ["nvim", "direct"], ["processId: ${command:pickProcess}"]),
            ("made", ["nvim", "direct"], ["(computed)"]),
            ("round", ["nvim", "direct"], None),
        ]
        assert {row["origin"] for row in listed} == {"nvim"}
        for name, word in [("asks", "`program`"), ("pick", "`pid`"), ("made", "without it")]:
            said = await refusal(c, "dap_run", configuration=name)
            assert "asks the person" in said
            assert word in said
        assert "`program`" in await refusal(c, "dap_run", configuration="this file", where="direct")
        assert await person.sessions() == []
        stop = await ask(c, "dap_run", configuration="asks", program="steps.py")
        assert stop["file"] == str(project / "steps.py")
        assert await evaluate(c, "__import__('sys').argv[1:]") == "['mine']"
        await person.opens(project / "steps.py")
        stop = await ask(c, "dap_run", configuration="this file")
        assert stop["file"] == str(project / "steps.py")
        assert [each["name"] for each in await person.sessions()] == ["asks", "this file"]


async def test_a_launch_json_starts_in_neovim_which_knows_the_file_that_is_open(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, person, project):
        folder = project / ".vscode"
        folder.mkdir()
        written = {"name": "Open", "type": "debugpy", "request": "launch", "stopOnEntry": True}
        written |= {"program": "${file}", "console": "internalConsole"}
        written |= {"args": ["${workspaceFolderBasename}"]}
        text = json.dumps({"configurations": [written]})
        (folder / "launch.json").write_text(text, encoding="utf-8")
        (row,) = (await ask(c, "dap_configurations"))["configurations"]
        assert (row["origin"], row["where"]) == ("launch.json", ["nvim", "direct"])
        await person.opens(project / "steps.py")
        await ask(c, "dap_run", configuration="Open")
        assert await evaluate(c, "__import__('sys').argv[1:]") == "['project']"
        assert (await person.session())["name"] == "Open"


async def test_exception_filters_are_heeded_by_the_one_session_that_asked_for_them(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, _, project):
        copied("crash.py", project)
        stop = await ask(c, "dap_run", program="crash.py", exception_filters=["raised"])
        assert stop["reason"] == "exception"
        await ask(c, "dap_terminate")
        typed = ["raised:RuntimeError"]
        stop = await ask(c, "dap_run", program="crash.py", exception_filters=typed)
        assert stop["line"] == program("crash.py").line("reraise")
        await ask(c, "dap_terminate")
        stop = await ask(c, "dap_run", program="crash.py", exception_filters=[])
        assert stop["state"] == "ended"


async def test_an_exception_filter_that_the_adapter_lacks_is_refused(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, person, project):
        copied("crash.py", project)
        said = await refusal(c, "dap_run", program="crash.py", exception_filters=["sometimes"])
        assert "no exception filter 'sometimes'" in said
        assert "raised, uncaught" in said
        await person.sees_end()
        assert await person.sessions() == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("gone", "`/no/such/adapter`"),
        ("made", "`/no/such/made`"),
        ("dies", "exited with 1"),
        ("refuses", "Couldn't connect to 127.0.0.1:1"),
        ("throws", "boom"),
        ("odd", "Invalid adapter type carrier pigeon"),
        ("nowhere", "nvim-dap has no adapter of type nowhere"),
    ],
)
async def test_a_start_that_fails_is_told_in_nvim_daps_words_and_leaves_nothing(
    tmp_path: Path, kind: str, words: str
) -> None:
    async with both(tmp_path, {}, BROKEN) as (c, person, _):
        before = await person.desk()
        wanted = [{"filename": "steps.py", "line": STEPS.line("call")}]
        said = await refusal(
            c, "dap_run", program="steps.py", type=kind, where="nvim", breakpoints=wanted
        )
        assert words in said
        assert await read(c, "dap_breakpoints") == "No breakpoints."
        restored = "return require('dap.utils').notify == NOTIFY"
        assert await person.editor.lua(restored)
        assert (await person.desk())["windows"] == before["windows"]


async def test_a_type_that_nvim_dap_does_not_know_starts_without_it(tmp_path: Path) -> None:
    rc = "require('dap').adapters = { other = {} }"
    async with both(tmp_path, {}, rc, ui=True) as (c, person, _):
        said = await refusal(c, "dap_run", program="steps.py", where="nvim")
        assert "no adapter of type debugpy or python" in said
        assert "It has: other" in said
        for _ in range(2):
            stop = await ask(c, "dap_run", program="steps.py", stop_on_entry=True)
            assert stop["state"] == "stopped"
            assert any(
                "It runs outside of Neovim, whose nvim-dap" in note for note in stop["notes"]
            )
        assert await person.sessions() == []
        # The person reads it, too, once.
        read = await person.editor.lua("return vim.fn.execute('messages')")
        assert (
            read.count("dapeer: debugs outside of Neovim: nvim-dap has no adapter `debugpy`") == 1
        )


async def test_a_neovim_that_waits_for_a_key_is_said_to_and_works_again_afterwards(
    tmp_path: Path,
) -> None:
    async with both(tmp_path, {}, ASKING, ui=True) as (c, person, _):
        await person.editor.blocked("f")
        assert "waits for a key" in await refusal(c, "dap_run", program="steps.py")
        assert "waits for a key" in (await ask(c, "dap_configurations"))["problem"]
        stop = await ask(c, "dap_run", program="steps.py", where="direct", stop_on_entry=True)
        assert stop["state"] == "stopped"
        await person.editor.keys("x")
        stop = await ask(c, "dap_run", program="steps.py", stop_on_entry=True)
        assert stop["state"] == "stopped"
        assert len(await person.sessions()) == 1


async def test_a_program_that_cannot_be_launched_is_told_in_the_adapters_words(
    tmp_path: Path, setup: dict[str, object]
) -> None:
    async with both(tmp_path, setup) as (c, person, _):
        said = await refusal(
            c, "dap_run", program="steps.py", where="nvim", config={"python": "/no/such/python"}
        )
        assert "/no/such/python" in said
        assert await person.sessions() == []


SLOW = """
require('dap').adapters.python = {{
  type = 'executable', command = 'sh', args = {{ '-c', {command} }}, options = {{ initialize_timeout_sec = 1 }},
}}
"""
"""An adapter that nvim-dap takes for one that does not respond."""


def slow(before: str) -> str:
    """Return Lua that defines a debugpy which starts after a command of the shell."""
    return SLOW.format(command=json.dumps(f"{before}; exec {sys.executable} -m debugpy.adapter"))


async def test_a_slow_adapter_starts_with_its_breakpoints_and_without_a_prompt(
    tmp_path: Path,
) -> None:
    async with both(tmp_path, {}, slow("sleep 1.3"), ui=True) as (c, person, _):
        line = STEPS.line("call")
        at = [{"filename": "steps.py", "line": line}]
        stop = await ask(c, "dap_run", program="steps.py", breakpoints=at)
        assert (stop["state"], stop["line"]) == ("stopped", line)
        assert not (await person.editor.mode())["blocking"]
        assert "respond" not in await person.editor.lua("return vim.fn.execute('messages')")


async def test_a_start_that_is_given_up_does_not_happen_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dapeer.peers.nvim_sessions.SECONDS_TO_START", 1.5)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with both(tmp_path, {}, slow(f"read go < {gate}"), ui=True) as (c, person, project):
        (project / "leaves.py").write_text("print(1)\n", encoding="utf-8")
        at = [{"filename": "leaves.py", "line": 1}]
        said = await refusal(c, "dap_run", program="leaves.py", breakpoints=at)
        assert "The start is given up" in said
        assert not (await person.editor.mode())["blocking"]
        assert await person.sessions() == []
        # An adapter that would still come reads this; nobody does.
        with contextlib.suppress(OSError):
            os.write(os.open(gate, os.O_WRONLY | os.O_NONBLOCK), b"go\n")
        assert (await ask(c, "dap_run", program="leaves.py", where="direct"))["state"] == "ended"
        assert await person.sessions() == []
        assert (await ask(c, "dap_breakpoints"))["breakpoints"] == []
