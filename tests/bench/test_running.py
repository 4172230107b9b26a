import asyncio

import pytest

from tests.npm import MissingError
from tests.processes import LIMIT
from tests.pythons import MINE
from tools.bench.running import ALONE, PARTS, WAYS, measured


@pytest.mark.real
async def test_a_quick_benchmark_of_running_programs_measures_each_part_in_each_way() -> None:
    async with asyncio.timeout(LIMIT):
        try:
            found = await measured(MINE, 1000, 1)
        except MissingError as missing:
            pytest.skip(str(missing))
    assert [found.of(part).keys() for part in PARTS] == [{ALONE, *WAYS}] * len(PARTS)
