"""What tests of collected rows share."""

import asyncio
from collections.abc import Generator, Sequence
from threading import Thread

import pytest

from dapeer.base.system.matching import Matcher
from dapeer.base.system.threads import CallerLoop
from dapeer.collecting.text.row_listing import Search
from dapeer.tools.collected_rows import searching


@pytest.fixture
def search() -> Generator[Search]:
    """Search texts by a process, as the tool does from its thread."""
    loop, matcher = asyncio.new_event_loop(), Matcher()

    async def here() -> CallerLoop:
        return CallerLoop()

    caller = loop.run_until_complete(here())
    thread = Thread(target=loop.run_forever)
    thread.start()
    yield searching(matcher, caller)
    caller.run(matcher.aclose())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def every(_pattern: str, texts: Sequence[str]) -> Sequence[str]:
    """Find all texts, for rows that are not searched."""
    return texts
