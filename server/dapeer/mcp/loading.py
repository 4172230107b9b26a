"""Loads a server: little of the MCP library, and that quickly."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

from dapeer.base import lazy


@contextmanager
def quickly() -> Generator[None]:
    """Import a server in the body.

    Packages that it may never use are not executed. The models of the MCP library are built when they are first used:
    of three sets, a connection uses a few of one. Without the garbage collector, loading takes a tenth less; loaded modules
    stay for good, so later collections skip them as well.
    """
    lazy.packages("mcp", "mcp.server", "httpx2")
    gc.disable()
    # pydantic itself takes long to load.
    from pydantic import BaseModel  # noqa: PLC0415

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        gc.freeze()
        gc.enable()
