"""The system's table of processes, read by process ids."""

import asyncio
import os
import sys

from dapeer.base.system.process_table import descendants
from tests.processes import LIMIT


async def test_what_a_process_has_started_descends_from_it_and_nothing_from_no_process() -> None:
    waits = [sys.executable, "-c", "input()"]
    async with asyncio.timeout(LIMIT):
        child = await asyncio.create_subprocess_exec(*waits, stdin=asyncio.subprocess.PIPE)
        assert descendants(os.getpid())[child.pid] == os.getpid()
        # The system names 0 as the parent of its first processes, from which all others descend.
        assert descendants(0) == {}
        await child.communicate(b"\n")
    assert child.pid not in descendants(os.getpid())
