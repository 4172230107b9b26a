import asyncio

import pytest

from tests.bench.log_points import COLLECTS, LOGS, LOOPS, measured
from tests.harness import needs
from tests.processes import LIMIT


@pytest.mark.real
@pytest.mark.parametrize("adapter", LOOPS)
async def test_a_quick_benchmark_of_log_points_loses_no_row(adapter: str) -> None:
    needs(adapter)
    async with asyncio.timeout(LIMIT):
        found = await measured(adapter, 100, 1)
    assert found.of(adapter).keys() == {LOGS, COLLECTS}
