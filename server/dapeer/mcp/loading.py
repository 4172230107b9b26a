"""Loads a server: little of the MCP library, and that quickly."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

from dapeer.base import lazy


@contextmanager
def quickly() -> Generator[None]:
    """Import a server in the body.

    Packages that it may never use are not executed. Without the garbage collector, loading takes a tenth less; loaded
    modules stay for good, so later collections skip them as well.
    """
    lazy.packages("mcp", "mcp.server", "httpx2")
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def models_when_used() -> Generator[None]:
    """Have the models of what is imported in the body built when they are first used.

    The MCP library has three sets of them, of which a connection uses a few of one. That is of use where a client
    waits; a server that starts before its clients builds them all.
    """
    # pydantic itself takes long to load.
    from pydantic import BaseModel  # noqa: PLC0415

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
