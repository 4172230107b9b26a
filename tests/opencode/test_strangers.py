"""Another user of the machine listens where OpenCode should: they get neither its password nor our token."""

import asyncio
from pathlib import Path

import pytest

from dapeer.cli.main import main
from dapeer.integrations.opencode.client import NoOpenCode, OpenCode
from dapeer.integrations.variables import OPENCODE_PASSWORD
from tests import second_user
from tests.mcp.wire import serving
from tests.processes import LIMIT

SENTENCE = "Another user of this machine (nobody) listens at http://{}. Nothing was sent."


@second_user.needed
async def test_the_tools_are_not_registered_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(OPENCODE_PASSWORD, "secret")
    command = ["opencode", "register", "--url"]
    async with serving("--port", "0", cwd=tmp_path):
        with second_user.hears("tcp") as (address, process):
            await asyncio.to_thread(main, [*command, f"http://{address}"])
            assert SENTENCE.format(address) in "".join(capsys.readouterr())
            assert second_user.says(process) == "0"


@second_user.needed
async def test_events_are_not_asked_for_there() -> None:
    with second_user.hears("tcp") as (address, process):
        async with (
            asyncio.timeout(LIMIT),
            OpenCode(f"http://{address}", {OPENCODE_PASSWORD: "secret"}) as opencode,
        ):
            with pytest.raises(NoOpenCode) as caught:
                async with opencode.events():
                    pass
        assert SENTENCE.format(address) in str(caught.value)
        assert second_user.says(process) == "0"
