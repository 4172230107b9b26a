"""A program whose adapter was kept ready runs as one whose adapter was not."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ask, client
from tests.kept import kept_at_once
from tests.processes import LIMIT, process_gone
from tests.programs import program

TELLS = program("tells_of_itself.py")
STARTS: dict[str, dict[str, Any]] = {
    "program": {},
    "environment": {"env": {"ONE": "of its own", "PATH": "/bin"}, "cwd": "/"},
    "terminal": {"terminal": True},
}


@pytest.mark.parametrize("how", STARTS.values(), ids=STARTS)
async def test_a_program_cannot_tell_whether_its_adapter_was_kept_ready(
    how: dict[str, Any], tmp_path: Path
) -> None:
    told = tmp_path / "told.json"
    start = {"program": str(TELLS), "args": ["3", str(told)], **how}
    with kept_at_once() as kept:
        async with asyncio.timeout(LIMIT), client() as c:
            first = await ask(c, "dap_run", **start)
            before = json.loads(told.read_text())
            spare = await kept.next()
            second = await ask(c, "dap_run", **start)
            after = json.loads(told.read_text())
            # It was taken, and has ended with its session.
            await process_gone(spare)
            await kept.next()
    marks = {each["environment"].pop("DAPEER_STARTED") for each in (before, after)}
    assert len(marks) == 2
    assert after == before
    for end in (first, second):
        assert (end["state"], end["exit_code"]) == ("ended", 3)
    assert second["output"] == first["output"]
