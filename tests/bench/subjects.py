"""Who is measured, and what, by name."""

from dataclasses import dataclass

OURS = "dapeer"
RAW = "raw DAP"
"""On the adapter as dapeer starts it."""
STOCK = "raw DAP, stock"
"""On `python -m debugpy.adapter`."""
NOOP = "no-op tool"

STACK = "stack"
LOCALS = "locals"
SNAPSHOT = "snapshot"
LOCATION = "location"
EVALUATE = "evaluate"
STEP = "step"
STEP_AND_LOOK = "step and look"
IDLE_EVALUATE = "evaluate after a pause"
IDLE_STEP_AND_LOOK = "step and look after a pause"
START = "start"
DRAIN = "drain"
SERVER_START = "server start"
MEMORY_IDLE = "memory when idle"
MEMORY_STORY = "memory after a story"
MEMORY_DRAIN = "memory after a drain"


@dataclass(frozen=True)
class Size:
    """How often everything is done."""

    stopped: int
    """Rounds at a stop."""
    stock_every: int
    """Stock debugpy is slow: it takes part in every so many of these rounds."""
    idle: int
    """Rounds after a pause."""
    whole: int
    """Rounds from the start of a server to its end."""
    starts: int
    """Starts of a session in each of these."""
    lines: int
    """Lines that a program prints."""


FULL = Size(stopped=120, stock_every=12, idle=10, whole=4, starts=2, lines=100_000)
QUICK = Size(stopped=1, stock_every=1, idle=1, whole=1, starts=1, lines=1000)
