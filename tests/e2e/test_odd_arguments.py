"""Arguments that no careful caller gives: one sentence, and nothing has happened."""

import asyncio
import errno
import json
import os
import sys
from pathlib import Path

import pytest

from dapeer.mcp.all_tools import TOOLS
from tests.harness import FAKE_PROGRAM, Json, ask, client, fake, printed, read, refusal
from tests.ordinary_user import without_root_rights
from tests.processes import LIMIT

PIPE = "<a named pipe>"
NO_FILES = {
    "long": "x" * 300,
    "deep": "x/" * 3000,
    "of nobody": "~nobody-of-this-name/x.py",
    "with a NUL": "a\0b.py",
    "half a surrogate pair": "\ud800.py",
    "device": "/dev/zero",
    "named pipe": PIPE,
}
CALLS: list[tuple[str, Json]] = [
    ("dap_run", {"program": None}),
    ("dap_run", {"program": FAKE_PROGRAM, "cwd": None}),
    ("dap_run", {"program": FAKE_PROGRAM, "breakpoints": [{"filename": None, "line": 1}]}),
    ("dap_run", {"core": None}),
    ("dap_run", {"code": "1", "python": None}),
    ("dap_set_breakpoint", {"filename": None, "line": 1}),
    ("dap_remove_breakpoint", {"filename": None, "line": 1}),
    ("dap_clear_breakpoints", {"filename": None}),
    ("dap_run_to", {"filename": None, "line": 1}),
    ("dap_source", {"filename": None}),
]


def filled(arguments: Json, name: str) -> Json:
    return json.loads(json.dumps(arguments).replace("null", json.dumps(name)))


@pytest.mark.parametrize("name", NO_FILES.values(), ids=NO_FILES)
async def test_a_name_of_no_file_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    if name == PIPE:
        name = str(tmp_path / "pipe")
        os.mkfifo(name)
    async with asyncio.timeout(LIMIT), client() as c:
        for tool, arguments in CALLS:
            said = await refusal(c, tool, **filled(arguments, name))
            assert "Internal error" not in said, (tool, arguments)
        assert (await ask(c, "dap_status"))["sessions"] == []


async def test_what_lies_in_a_folder_that_one_may_not_enter_is_refused_with_the_reason(
    settings: Path, tmp_path: Path
) -> None:
    fake(settings, {})
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    name = str(locked / "a.py")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        with without_root_rights():
            for tool, arguments in (each for each in CALLS if each[0] != "dap_run_to"):
                said = await refusal(c, tool, **filled(arguments, name))
                assert "Permission denied" in said, (tool, arguments)
                assert name in said, (tool, arguments)
            assert (await ask(c, "dap_configurations"))["configurations"] == []
            assert (await ask(c, "dap_status"))["sessions"] == []


PATHS = ("filename", "program", "cwd", "core", "python", "file", "folder")
REASONS = [errno.ESTALE, errno.EIO, errno.ELOOP, errno.EPERM, errno.EHOSTDOWN]


@pytest.mark.parametrize("number", REASONS, ids=os.strerror)
async def test_what_a_file_system_refuses_is_told_with_the_path_and_the_reason(
    number: int, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(settings, {})
    name, stat = str(tmp_path / "stale.py"), os.stat

    def refusing(path: str | os.PathLike[str], *rest: object, **named: object) -> os.stat_result:
        if str(path) == name:
            raise OSError(number, os.strerror(number), name)
        return stat(path, *rest, **named)  # type: ignore[arg-type]

    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        monkeypatch.setattr(os, "stat", refusing)
        for tool, arguments in (each for each in CALLS if each[0] != "dap_run_to"):
            said = await refusal(c, tool, **filled(arguments, name))
            assert os.strerror(number) in said, (tool, arguments, said)
            assert name in said, (tool, arguments)
        monkeypatch.undo()


def test_every_argument_that_is_a_path_is_tried() -> None:
    """A new one without a call here would be tried with no odd name."""
    tried = {
        (tool, each) for tool, given in CALLS for each in PATHS if f"'{each}': None" in str(given)
    }
    paths = {
        (tool.name, each)
        for tool in TOOLS
        for each in tool.input_schema["properties"]
        # It needs a program that stands still, and gives the name to the adapter.
        if each in PATHS and tool.name != "dap_goto"
    }
    assert paths - tried == set()


@pytest.mark.parametrize(("name", "value", "done"), [("A", 7, True), ("A=\0", "x", False)])
async def test_what_an_adapter_sends_as_environment_is_taken_as_text_or_refused(
    settings: Path, caplog: pytest.LogCaptureFixture, name: str, value: object, done: bool
) -> None:
    wanted = {"args": [sys.executable, "-c", "0"], "cwd": "", "env": {name: value}}
    fake(settings, {"threads": ["default", {"request": ["runInTerminal", wanted]}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await ask(c, "dap_step_over")
        how = {"category": "console", "since": 0, "wait_ms": LIMIT * 1000}
        told = (await ask(c, "dap_program_output", **how))["text"]
    assert ("runInTerminal: accepted" if done else "runInTerminal: refused") in told
    assert not caplog.records


async def test_what_cannot_run_in_a_terminal_says_so_in_its_own_words(settings: Path) -> None:
    wanted = {"args": [""], "cwd": ""}
    fake(settings, {"threads": ["default", {"request": ["runInTerminal", wanted]}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        await printed(c, "cannot be empty")
        assert "Traceback" not in await read(c, "dap_program_output")


async def test_a_launcher_that_does_not_exist_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("print(1)\n")
    async with client(tmp_path) as c:
        config = {"debugLauncherPath": str(tmp_path / "nowhere")}
        told = await refusal(c, "dap_run", program=str(program), config=config)
    assert f"`debugLauncherPath`: {tmp_path / 'nowhere'} does not exist" in told
