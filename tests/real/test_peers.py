"""The benchmark beside other debuggers for assistants does its work with each of them."""

import asyncio

import pytest

from tools.bench.contestants import CONTESTANTS, Dapeer
from tools.bench.peers import ROWS, START_CALLS, STEP_CALLS, contest

SECONDS = 180


async def test_every_debugger_that_can_be_installed_does_the_same_work_and_fills_every_row() -> (
    None
):
    async with asyncio.timeout(SECONDS):
        found = await contest(rounds=1, steps=1)
    present = {kind.name for kind in CONTESTANTS} - found.missing.keys()
    assert {row: set(found.measured.of(row)) for row in ROWS} == dict.fromkeys(ROWS, present)
    for row in (START_CALLS, STEP_CALLS):
        calls = found.measured.of(row)
        assert calls[Dapeer.name].median == 1
        assert all(calls[name].median >= 1 for name in present)
    if found.missing:
        pytest.skip("; ".join(found.missing.values()))
