"""The IDE side of Claude Code's protocol, without a Neovim."""

import asyncio
import json
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode

from dapeer.base.json_types import Json
from dapeer.integrations import claude_ide_service
from dapeer.integrations.claude_ide_service import HEADER, PROTOCOL, Editor, Service
from dapeer.tools.base.call import Reply
from tests.mcp.wire import call, started
from tests.processes import LIMIT


class Pinged(ClientConnection):
    """A client that tells when it was pinged."""

    heard: asyncio.Event

    def process_event(self, event: object) -> None:
        if isinstance(event, Frame) and event.opcode is Opcode.PING:
            self.heard.set()
        super().process_event(event)  # type: ignore[arg-type]


async def test_a_cli_is_pinged_so_that_one_that_is_gone_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def run(_name: str, _arguments: Json) -> Reply:
        return Reply("")

    monkeypatch.setattr(claude_ide_service, "SECONDS_BETWEEN_PINGS", 0.01)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    ide = Service(lambda _: Editor(run, lambda: str(tmp_path)), 1, str(tmp_path))
    async with asyncio.timeout(LIMIT), ide.serving() as port:
        told = json.loads((tmp_path / ".claude" / "ide" / f"{port}.lock").read_bytes())
        headers = {HEADER: told["authToken"]}
        made = connect(
            f"ws://127.0.0.1:{port}",
            additional_headers=headers,
            subprotocols=[PROTOCOL],
            create_connection=Pinged,
        )
        Pinged.heard = asyncio.Event()
        async with made:
            await Pinged.heard.wait()


@pytest.mark.parametrize("count", [0, 2])
async def test_a_cli_shows_its_token_once(
    count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def run(_name: str, _arguments: Json) -> Reply:
        return Reply("")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    ide = Service(lambda _: Editor(run, lambda: str(tmp_path)), 1, str(tmp_path))
    async with asyncio.timeout(LIMIT), ide.serving() as port:
        told = json.loads((tmp_path / ".claude" / "ide" / f"{port}.lock").read_bytes())
        shown = [(HEADER, told["authToken"])] * count
        with pytest.raises(InvalidStatus) as refused:
            await connect(
                f"ws://127.0.0.1:{port}", additional_headers=shown, subprotocols=[PROTOCOL]
            )
        assert refused.value.response.status_code == 401


def announced(home: Path) -> list[Path]:
    return [*home.rglob("ide")]


async def test_without_a_neovim_nothing_is_offered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    async with started("dapeer", "stdio", "--no-bridge") as wire:
        await wire.handshake()
        await wire.send(call(1, "dap_status"))
        assert "result" in await wire.receive()
        assert not announced(tmp_path)
