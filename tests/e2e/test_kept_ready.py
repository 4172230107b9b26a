"""A program runs the same whether its adapter and launcher were kept ready, were started side by side, or one after the other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Json, ask, client
from tests.kept import kept_at_once, plain, told
from tests.processes import LIMIT, process_gone
from tests.programs import program

TELLS = program("tells_of_itself.py")
STARTS: dict[str, dict[str, Any]] = {
    "program": {},
    "environment": {"env": {"ONE": "of its own", "PATH": "/bin"}, "cwd": "/"},
    "terminal": {"terminal": True},
}


@pytest.mark.parametrize("how", STARTS)
async def test_a_program_cannot_tell_how_its_adapter_was_started(
    how: str, tmp_path: Path, settings: Path
) -> None:
    path = tmp_path / "told.json"
    start = {"program": str(TELLS), "args": ["3", str(path)], **STARTS[how]}
    adapters = [plain(settings), "debugpy", "debugpy"]
    ends, seen, spares = list[Json](), list[Json](), list[int]()
    with kept_at_once() as kept:
        async with asyncio.timeout(LIMIT), client() as c:
            for adapter in adapters:
                ends.append(await ask(c, "dap_run", type=adapter, **start))
                seen.append(told(path))
                # One that was kept ready was taken, and has ended with its session.
                for spare in spares:
                    await process_gone(spare)
                if adapter == "debugpy":
                    spares.append(await kept.next())
    # A terminal starts the launcher itself.
    assert [each.pop("ahead") for each in seen] == [False, *[how != "terminal"] * 2]
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]
    for end in ends:
        assert (end["state"], end["exit_code"]) == ("ended", 3)
        assert end["output"] == ends[0]["output"]
