"""Keeps an attack from what is not ours: other processes, and ports that others listen at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

PIDS = frozenset({"systemProcessId", "processId", "pid"})
PORTS = frozenset({"port"})
HOSTS = frozenset({"host"})
WAITS = frozenset({"timeout_ms", "wait_ms"})

LARGEST_PID = 2**22
LONGEST_WAIT = 1500
"""Milliseconds that a fuzzed call may ask to wait for; what is longer holds the attack up and shows nothing."""


@dataclass(frozen=True)
class Bait:
    """What an attack may hit."""

    pid: int
    """A process that no session has to do with."""
    port: int


def aimed(value: Any, bait: Bait, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return a message or arguments whose processes, ports and hosts are those of the bait."""
    match value:
        case dict():
            fields = cast("Mapping[str, Any]", value)
            return {name: aimed(each, bait, name) for name, each in fields.items()}
        case list():
            return [aimed(each, bait, key) for each in cast("list[Any]", value)]
        case str() if key in HOSTS:
            return "127.0.0.1"
        case bool() | None | str():
            return value
        case int() | float():
            return _number(value, bait, key)
        case _:
            return value


def _number(value: float, bait: Bait, key: str) -> float:
    if key in PIDS and 1 <= value <= LARGEST_PID:
        return bait.pid
    if key in PORTS and 1 <= value <= 65535:
        return bait.port
    if key in WAITS and value > LONGEST_WAIT:
        return LONGEST_WAIT
    return value
