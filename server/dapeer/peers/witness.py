"""The person stays informed, and is asked first where they want to be."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from dapeer.errors import Refused
from dapeer.neovim.client import Neovim

NOTE = "require('dapeer.actions').note(...)"
ASK = "require('dapeer.actions').ask(...)"
FORGET = "require('dapeer.actions').forget(...)"

LONGEST = 300
"""Characters of arguments and outcomes that the person is shown."""

QUESTIONS = 1_000_000
"""That one core asks in one Neovim, at most."""

ActionKind = Literal["run", "evaluate", "write"]


@dataclass(frozen=True, slots=True)
class Action:
    """A call of the assistant that does something."""

    tool: str
    kind: ActionKind
    arguments: Mapping[str, Any]

    def facts(self) -> dict[str, Any]:
        """Return it as Lua is told."""
        return {
            "tool": self.tool,
            "kind": self.kind,
            "arguments": _short(_sendable(self.arguments)),
        }


class Witness:
    """One person, in one Neovim: told of every action, and asked for consent where they want that."""

    def __init__(self, neovim: Neovim, wants: object) -> None:
        self._neovim = neovim
        # Several cores may ask in one Neovim, and each hears all answers: no two ask the same.
        self._ids = itertools.count(neovim.channel * QUESTIONS + 1)
        self._asked: dict[int, asyncio.Future[tuple[bool, str]]] = {}
        self.wants: Mapping[str, Any] = {}
        self.wants_changed(wants)

    def wants_changed(self, wants: object) -> None:
        """Take note of the kinds of actions that need consent."""
        self.wants = cast("Mapping[str, Any]", wants if isinstance(wants, dict) else {})

    def answered(self, number: int, allowed: object, why: object = None) -> None:
        """Take in what the person has decided."""
        future = self._asked.get(number)
        if future is not None and not future.done():
            future.set_result((bool(allowed), str(why or "")))

    def gone(self) -> None:
        """Nobody can be asked any more."""
        for number in list(self._asked):
            self.answered(number, allowed=False, why="their Neovim has ended")

    async def consent(self, action: Action) -> None:
        """Return when the person allows an action, at once where they need not be asked.

        Raises:
            Refused: They do not.
        """
        if not self.wants.get(action.kind):
            return
        number = next(self._ids)
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        self._neovim.send(ASK, number, action.facts())
        try:
            allowed, why = await future
        finally:
            del self._asked[number]
            if not future.done() or future.cancelled():
                self._neovim.send(FORGET, number)
        if not allowed:
            told = f" ({why})" if why else ""
            raise Refused(
                f"The person did not allow {action.tool}{told}.",
                "Nothing was done; ask them, or go on without it.",
            )

    def told(self, action: Action, outcome: str, *, ok: bool) -> None:
        """Tell the person what was done, and what came of it."""
        facts = {**action.facts(), "outcome": _short(outcome), "ok": ok, "at": time.time()}
        self._neovim.send(NOTE, facts)


def _sendable(arguments: Mapping[str, Any]) -> str:
    # A client may send half of a surrogate pair, which no text can hold.
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    return text.encode(errors="replace").decode()


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
