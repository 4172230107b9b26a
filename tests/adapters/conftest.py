"""A reaper per test."""

from collections.abc import AsyncIterator

import pytest_asyncio

from dapeer.adapters.process.owned_process import Reaper


@pytest_asyncio.fixture
async def reaper() -> AsyncIterator[Reaper]:
    """Return a reaper that is closed after the test."""
    one = Reaper()
    yield one
    await one.aclose()
