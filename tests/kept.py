"""Adapters that are kept ready, as dapeer's log tells of them."""

import asyncio
import json
import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapeer.adapters.definition.loading import shipped
from tests.json_types import Json

KEPT = r"process (\d+) is kept ready"
"""A line of the log."""
SPARES = "dapeer.adapters.process.spares"


class Kept(logging.Handler):
    """Tells the processes that are kept ready, one after the other."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._ready: asyncio.Queue[int] = asyncio.Queue()
        self.refused: asyncio.Queue[str] = asyncio.Queue()
        """Why others are not kept."""

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.search(KEPT, record.getMessage()):
            self._ready.put_nowait(int(found[1]))
        elif "is not kept ready" in record.getMessage():
            self.refused.put_nowait(record.getMessage())

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


def plain(settings: Path) -> str:
    """Define debugpy once more, as one of which nothing is started ahead; return its name."""
    text = (shipped() / "debugpy.toml").read_text()
    folder = settings / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    text = text.replace('id = "debugpy"', 'id = "plain"', 1).replace('aliases = ["python"]', "", 1)
    text = text.replace(', "--ahead", "${python}", "${cwd}"', "").replace(
        "kept_ready = true", "kept_ready = false"
    )
    (folder / "plain.toml").write_text(text)
    return "plain"


def told(path: Path) -> Json:
    """Return what tells_of_itself.py has told, without what differs each time."""
    seen = json.loads(path.read_text())
    path.unlink()
    del seen["environment"]["DAPEER_STARTED"]
    return seen
