"""Each option of `dapeer stdio`, where no server runs, where one of the project runs, and where a Neovim's core runs."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from dapeer.cli import command_line
from dapeer.integrations.opencode.integration import TOOLS as OF_OPENCODE
from tests.mcp.wire import Json, Wire, call, request, serving, started
from tests.neovim.editor import neovim
from tests.programs import ROOT, program

OWN, JOINS = "a server of its own", "joins it"
NEWS: Final = "so this client has a server of its own"
NO_OPENCODE: Final = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Place:
    """Where a client starts."""

    project: Path
    outside: Path
    """A folder with a file `notes.txt`, outside of the project."""
    neovim: str = ""
    """The address of the Neovim that works on the project, if there is one."""


PLACES = ("no server runs", "`dapeer serve` runs", "the core of a Neovim runs")
TABLE = {
    "(none)": (OWN, JOINS, JOINS),
    "`--no-bridge`": (OWN, OWN, OWN),
    "`--nvim auto`": (OWN, OWN, JOINS),
    "`--nvim none`": (OWN, JOINS, OWN),
    "`--nvim ADDRESS`": (OWN, OWN, JOINS),
    "`--read-only`": (OWN, OWN, OWN),
    "`--tools GROUP`": (OWN, OWN, OWN),
    "`--readable FOLDER`": (OWN, OWN, OWN),
    "`--no-redact`": (OWN, OWN, OWN),
    "`--data`": (OWN, JOINS, JOINS),
    "`--opencode URL`": (OWN, OWN, OWN),
    "`$DAPEER_OPENCODE_URL`": (OWN, OWN, OWN),
    "`--log-level LEVEL`": (OWN, JOINS, JOINS),
    "`--log-file FILE`": (OWN, JOINS, JOINS),
}
"""docs/connecting.md has it, too."""
PARTS = 5
"""In which the options are tried at one server: each takes a start."""
OF_A_SERVER = ("--read-only", "--tools", "--readable", "--no-redact", "--opencode", "OPENCODE_URL")


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs" / "connecting.md").read_text(encoding="utf-8")
    assert f"| asked for | {' | '.join(PLACES)} |" in page
    for option, cells in TABLE.items():
        assert f"| {option} | {' | '.join(cells)} |" in page


def test_the_table_has_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.run(["stdio", "--help"])
    shown = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert shown == {word for option in TABLE for word in re.findall(r"--[a-z][a-z-]+", option)}


@pytest.mark.parametrize("part", range(PARTS))
async def test_where_no_server_runs_each_option_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    async with neovim_at(tmp_path) as place:
        for option in [*TABLE][part::PARTS]:
            await check(option, 0, place, monkeypatch)


@pytest.mark.parametrize("part", range(PARTS))
async def test_beside_a_server_of_the_project_each_option_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    async with (
        neovim_at(tmp_path) as place,
        serving("--no-auth", cwd=place.project),
    ):
        await has_a_session(place)
        for option in [*TABLE][part::PARTS]:
            await check(option, 1, place, monkeypatch)


@pytest.mark.parametrize("part", range(PARTS))
async def test_beside_the_core_of_a_neovim_each_option_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    async with (
        neovim_at(tmp_path) as place,
        serving("--no-auth", "--nvim", place.neovim, cwd=place.project),
    ):
        await has_a_session(place)
        for option in [*TABLE][part::PARTS]:
            await check(option, 2, place, monkeypatch)


@asynccontextmanager
async def neovim_at(tmp_path: Path) -> AsyncGenerator[Place]:
    """Give a project in which a Neovim works."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project, outside):
        folder.mkdir()
    (outside / "notes.txt").write_text("a note\n", encoding="utf-8")
    async with neovim(tmp_path, dap=False, setup={}, cwd=project) as editor:
        yield Place(project, outside, editor.socket)


async def has_a_session(place: Place) -> None:
    """Have the server that runs debug something, by which a client knows that server."""
    async with started("dapeer", "stdio", cwd=place.project) as wire:
        await wire.handshake()
        await answer(wire, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        assert await wire.end() == 0


def words_of(option: str, place: Place) -> Sequence[str]:
    """Return an option as a command line has it."""
    values = {
        "ADDRESS": place.neovim,
        "GROUP": "nvim",
        "FOLDER": str(place.outside),
        "URL": NO_OPENCODE,
        "LEVEL": "debug",
        "FILE": str(place.outside / "log"),
    }
    words = option.strip("`").split() if "--" in option else []
    return [values.get(word, word) for word in words]


async def check(option: str, column: int, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a client with an option, and look whether it is followed, and whether the client has joined."""
    if "$" in option:
        monkeypatch.setenv("DAPEER_OPENCODE_URL", NO_OPENCODE)
    words = words_of(option, place)
    async with started("dapeer", "stdio", *words, cwd=place.project, stderr=True) as wire:
        await wire.handshake(data=False)
        joined = bool(await sessions(wire))
        await follows(wire, option, place)
        assert await wire.end() == 0
        assert wire.process.stderr
        said = (await wire.process.stderr.read()).decode()
    monkeypatch.delenv("DAPEER_OPENCODE_URL", raising=False)
    assert joined == (TABLE[option][column] == JOINS), option
    is_news = column > 0 and any(each in option for each in OF_A_SERVER)
    assert (NEWS in said) == is_news, (option, said)
    if "--log-file" in option and column > 0:
        assert "joined the server of" in (place.outside / "log").read_text(encoding="utf-8")


async def follows(wire: Wire, option: str, place: Place) -> None:
    """Check that a client has got what it has asked for."""
    tools = (await wire.ask(request("tools/list", 2)))["result"]["tools"]
    names = {tool["name"] for tool in tools}
    is_opencode = "opencode" in option.lower()
    assert names.issuperset(tool.name for tool in OF_OPENCODE) == is_opencode, option
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools) == ("read-only" in option)
    assert ("dap_run" in names) == (option not in ("`--read-only`", "`--tools GROUP`"))
    status = await answer(wire, "dap_status") if "dap_status" in names else {}
    assert ("structuredContent" in status) == (option == "`--data`"), option
    if "dap_source" in names:
        shown = await answer(wire, "dap_source", filename=str(place.outside / "notes.txt"))
        assert ("a note" in str(shown)) == ("--readable" in option), option
    if "--nvim" in option:
        found = (await answer(wire, "nvim_targets"))["content"][0]["text"]
        assert (" attached as " in found) == ("none" not in option), option
    if "--no-redact" in option:
        await shows_secrets(wire)


async def shows_secrets(wire: Wire) -> None:
    """Check that what a program prints is not masked."""
    run = {"program": str(program("loop.py")), "stop_on_entry": True, "where": "direct"}
    await answer(wire, "dap_run", **run)
    shown = await answer(wire, "dap_evaluate", expression="'AKIA' + 'QQ7EXAMPLE0QQ7EX'")
    assert "AKIAQQ7EXAMPLE0QQ7EX" in str(shown)


async def sessions(wire: Wire) -> list[str]:
    """Return the URIs of the sessions that a client sees."""
    found = await wire.ask(request("resources/list", 9))
    return [resource["uri"] for resource in found["result"]["resources"]][1:]


async def answer(wire: Wire, tool: str, **arguments: object) -> Json:
    """Call a tool, and return its result."""
    return (await wire.ask(call(3, tool, **arguments)))["result"]
