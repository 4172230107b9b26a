import asyncio

import pytest

from tests.harness import needs
from tests.processes import LIMIT
from tools.bench.running_elsewhere import POINTS, WHOLE, measured


@pytest.mark.real
@pytest.mark.parametrize("adapter", ["js-debug", "delve"])
async def test_a_quick_benchmark_of_running_programs_of_other_languages_loses_no_row(
    adapter: str,
) -> None:
    needs(adapter)
    async with asyncio.timeout(LIMIT):
        found = await measured(adapter, 1000, 100, 1)
    assert found.of(adapter).keys() == {*WHOLE, *POINTS}
