import asyncio
import sys

from tests.processes import LIMIT
from tools.bench.collecting import BESIDE, BODY, UNTIL, WRITES, measured, told


async def test_a_quick_benchmark_of_collecting_loses_no_row() -> None:
    async with asyncio.timeout(LIMIT):
        found = await measured(sys.executable, 1, 1_000)
    assert found.rows == 1_000
    lines = told(found, 1_000)
    assert all(part in lines for part in (BODY, BESIDE, WRITES, UNTIL))
