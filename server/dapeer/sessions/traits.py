"""How the adapter of a session differs from others, and what sends a request to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dapeer.adapters.definition.sections import Collect, Stopping
from dapeer.mirror.places import Sight

FRAMES_AT_ONCE = 20
"""Frames that are fetched at once."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long an adapter may take, in seconds."""

    request: float = 10.0
    control: float = 5.0


@dataclass(frozen=True, slots=True)
class Traits:
    """How a session's adapter differs from others, and what is known of its program beforehand."""

    deadlines: Deadlines = field(default_factory=Deadlines)
    stopping: Stopping = field(default_factory=Stopping)
    sight: Sight = field(default_factory=Sight)
    collect: Collect = field(default_factory=Collect)
    columns: bool = False
    """The adapter tells places of one line apart."""
    stack_levels: int = FRAMES_AT_ONCE
    """Frames that are fetched at a stop."""
    functions: Sequence[str] = ()
    """Functions at which the program stops, in addition to the function breakpoints."""
    conditions: Mapping[str, str] | None = None
    """By exception filter: its condition, as far as the adapter supports it."""
    is_shared: bool = False
    """Another client holds the adapter: it looks at stops, and prints what log points say."""
    is_theirs: bool = False
    """What the program does until its first stop is that client's doing alone."""
