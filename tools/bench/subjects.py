"""Who is measured, and what, by name."""

from dataclasses import dataclass

OURS = "dapeer"
RAW = "raw DAP"
"""On the adapter as dapeer starts it."""
STOCK = "raw DAP, stock"
"""On `python -m debugpy.adapter`."""
NOOP = "no-op tool"
RELAY = "relay"
"""A server like ours that adds nothing: a step or an evaluation of the bare DAP client or of nvim-dap, or our own answer to a look again."""
ALONE = "Neovim alone"
"""The same with nvim-dap and without dapeer."""

TAP = "mirrored"
LISTENERS = "mirrored by listeners"
PENDING = "Neovim waits for a key"

STACK = "stack"
LOCALS = "locals"
SNAPSHOT = "snapshot"
LOCATION = "location"
EVALUATE = "evaluate"
STEP = "step"
STEP_AND_LOOK = "step and look"
IDLE_EVALUATE = "evaluate after a pause"
IDLE_STEP_AND_LOOK = "step and look after a pause"
STOCK_STEP = "step and look with stock debugpy"
START = "start"
DRAIN = "drain"
SERVER_START = "server start"
NEWEST_START = "server start by the newest protocol"
BRIDGED_START = "bridge start"
FIRST_CALL = "first call"
MEMORY_IDLE = "memory when idle"
MEMORY_STORY = "memory after a story"
MEMORY_DRAIN = "memory after a drain"

MAIN_STOP = "main thread at a stop"
MAIN_STOP_HEARD = "main thread at a stop, listeners"
MAIN_STEP = "main thread at a step of ours"
MAIN_EVALUATE = "main thread at an evaluation of ours"
MAIN_LOOK = "main thread at a look of ours"
KEY_QUIET = "key"
KEY_BUSY = "key under load"


def named(situation: str, what: str) -> str:
    """Return the name of something that is measured in a situation of its own."""
    return f"{situation}: {what}"


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
    drains: int
    """Programs that print much, in each of these."""
    lines: int
    """Lines that each prints."""
    neovim: int
    """Rounds in a mirrored session."""
    keys: int
    """Keys that are pressed in a Neovim."""


FULL = Size(
    stopped=120,
    stock_every=12,
    idle=10,
    whole=4,
    starts=2,
    drains=4,
    lines=100_000,
    neovim=20,
    keys=100,
)
QUICK = Size(
    stopped=1, stock_every=1, idle=1, whole=1, starts=1, drains=1, lines=1000, neovim=1, keys=3
)
