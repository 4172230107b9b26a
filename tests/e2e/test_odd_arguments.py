"""Arguments that no careful caller gives: one sentence, and nothing has happened."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.harness import FAKE_PROGRAM, Json, ask, client, fake, printed, read, refusal
from tests.processes import LIMIT

NO_FILES = {"long": "x" * 300, "deep": "x/" * 3000, "of nobody": "~nobody-of-this-name/x.py"}
CALLS: list[tuple[str, Json]] = [
    ("dap_run", {"program": None}),
    ("dap_run", {"program": FAKE_PROGRAM, "cwd": None}),
    ("dap_run", {"program": FAKE_PROGRAM, "breakpoints": [{"filename": None, "line": 1}]}),
    ("dap_run", {"core": None}),
    ("dap_run", {"code": "1", "python": None}),
    ("dap_set_breakpoint", {"filename": None, "line": 1}),
    ("dap_run_to", {"filename": None, "line": 1}),
    ("dap_source", {"filename": None}),
]


def filled(arguments: Json, name: str) -> Json:
    return json.loads(json.dumps(arguments).replace("null", json.dumps(name)))


@pytest.mark.parametrize("name", NO_FILES.values(), ids=NO_FILES)
async def test_a_name_that_no_file_can_have_is_refused_in_a_sentence(name: str) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        for tool, arguments in CALLS:
            said = await refusal(c, tool, **filled(arguments, name))
            assert "Internal error" not in said, (tool, arguments)
        assert (await ask(c, "dap_status"))["sessions"] == []


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
