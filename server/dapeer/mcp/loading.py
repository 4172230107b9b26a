"""Loads a server quickly."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def quickly() -> Generator[None]:
    """Import a server in the body.

    Without the garbage collector, loading takes a tenth less; loaded modules stay for good, so later collections skip them
    as well.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
