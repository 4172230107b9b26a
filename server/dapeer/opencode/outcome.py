"""How far a prompt has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dapeer.base.json_types import Json
from dapeer.opencode.messages import Turn

State = Literal["idle", "done", "failed", "needs_input", "running"]


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """How far a prompt has come."""

    state: State
    turn: Turn
    asks: Sequence[Json] = ()
    """What it waits for: permissions and questions, as OpenCode sends them."""
    error: str = ""
