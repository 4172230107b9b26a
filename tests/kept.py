"""Adapters that are kept ready, as dapeer's log tells of them."""

import asyncio
import logging
import re
from collections.abc import Generator
from contextlib import contextmanager

import pytest

SPARES = "dapeer.adapters.process.spares"


class Kept(logging.Handler):
    """Tells the processes that are kept ready, one after the other."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._ready: asyncio.Queue[int] = asyncio.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.search(r"process (\d+) is kept ready", record.getMessage()):
            self._ready.put_nowait(int(found[1]))

    async def next(self) -> int:
        """Wait for the next one."""
        return await self._ready.get()


@contextmanager
def kept_at_once() -> Generator[Kept]:
    """Start them without delay while the body runs, and tell of them."""
    handler, logger = Kept(), logging.getLogger(SPARES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{SPARES}.SECONDS_OF_CALM", 0)
        # Not by its attribute: a logger remembers what it need not tell.
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            yield handler
        finally:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)
