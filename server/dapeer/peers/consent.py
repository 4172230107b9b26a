"""Informs the person of what a call does, and asks for their consent first where they want that."""

from __future__ import annotations

import functools
import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dapeer.base.errors import RefusedByPerson
from dapeer.base.json_types import as_object, is_array
from dapeer.base.system.tasks import Answer, call_after
from dapeer.base.text.fitting import shortened
from dapeer.neovim.client import Neovim
from dapeer.peers.consent_kinds import Kinds

NOTE = "require('dapeer.person.actions').note(...)"
ASK = "require('dapeer.person.approvals').ask(...)"
COMPANY = "require('dapeer.rpc').company(...)"
FORGET = "require('dapeer.person.approvals').forget(...)"

MAX_LOGGED_CHARS = 300
"""Characters of arguments and outcomes that the log keeps."""
LONGEST_ARGUMENTS = 1_000_000
"""Characters of arguments that a question has: a rule of the person's reads all of them."""

MAX_QUESTIONS = 1_000_000
"""That one core asks in one Neovim, at most."""


@dataclass(frozen=True, slots=True)
class Action:
    """A call of a tool that may need consent."""

    tool: str
    kinds: Kinds
    """At least one; the first is the tool's own."""
    arguments: Mapping[str, Any]
    client: str = ""
    """The name of the client, if known."""

    def facts(self, longest: int = MAX_LOGGED_CHARS) -> dict[str, Any]:
        """Return the action as Lua gets it: `tool`, `kind`, `kinds`, `arguments`, and `client` if known.

        `kind` is the first of `kinds`, and `arguments` a text of JSON, shortened to `longest` characters.
        """
        return {
            "tool": self.tool,
            "kind": self.kinds[0],
            "kinds": list(self.kinds),
            "arguments": shortened(_sendable(self.arguments), longest),
        } | ({"client": self.client} if self.client else {})


class Approvals:
    """The person at one Neovim: sees every action, and consents to some."""

    def __init__(self, neovim: Neovim, facts: Mapping[str, Any]) -> None:
        self._neovim = neovim
        # Several cores may ask in one Neovim, and each hears all answers: no two ask the same.
        self._ids = itertools.count(neovim.channel * MAX_QUESTIONS + 1)
        self._pending_answers: dict[int, Answer[tuple[bool, str]]] = {}
        self.wanted_kinds: Mapping[str, Any] = {}
        self.set_wanted_kinds(facts.get("approve"))
        self.secrets: tuple[str, ...] | None = None
        """Patterns of files that no tool may show; None: Neovim has sent none."""
        self.set_secret_patterns(facts.get("secrets"))

    @property
    def handlers(self) -> Mapping[str, Callable[..., None]]:
        """The handlers of Neovim's notifications about consent, by kind.

        `consent` is the person's answer to a question; `approve` says which kinds of actions they want to be asked about.
        """
        return {"consent": self.take_answer, "approve": self.set_wanted_kinds}

    def set_wanted_kinds(self, wants: object) -> None:
        """Set the kinds of actions before which the person wants to be asked: true by kind."""
        self.wanted_kinds = as_object(wants)

    def set_secret_patterns(self, patterns: object) -> None:
        """Set the patterns of files that no tool may show; what is not a list changes nothing."""
        if is_array(patterns):
            self.secrets = tuple(map(str, patterns))

    def take_answer(self, number: int, allowed: object, why: object = None) -> None:
        """Give the person's answer to the waiter of question `number`; `why` is their reason, if any."""
        if answer := self._pending_answers.get(number):
            answer.give((bool(allowed), str(why or "")))

    def deny_open_questions(self) -> None:
        """Deny all open questions, since the Neovim has ended."""
        for number in list(self._pending_answers):
            self.take_answer(number, allowed=False, why="their Neovim has ended")

    def requires_consent(self, action: Action) -> bool:
        """Return whether an action has a kind before which the person wants to be asked."""
        return any(self.wanted_kinds.get(kind) for kind in action.kinds)

    async def wait_for_consent(self, action: Action) -> None:
        """Ask the person in Neovim whether an action is allowed, and return when they allow it.

        It returns at once if they need not be asked, and else waits for the answer without a limit. All kinds of an action are one
        question; a cancelled wait withdraws it in Neovim.

        Raises:
            RefusedByPerson: They do not allow it, or their Neovim has ended.
        """
        if not self.requires_consent(action):
            return
        number = next(self._ids)
        answer = self._pending_answers[number] = Answer[tuple[bool, str]]()
        self._neovim.send(ASK, number, action.facts(LONGEST_ARGUMENTS), self._neovim.channel)
        try:
            allowed, why = await answer.wait()
        finally:
            del self._pending_answers[number]
            if not answer.is_given:
                self._neovim.send(FORGET, number)
        if not allowed:
            reason = f" ({why})" if why else ""
            raise RefusedByPerson(
                f"The person did not allow {action.tool}{reason}.",
                "Nothing was done; ask them, or go on without it.",
            )

    def show_assistants(self, assistants: Sequence[str]) -> None:
        """Show the person the names of the connected assistants."""
        self._neovim.send(COMPANY, self._neovim.channel, list(assistants))

    def show_outcome(self, action: Action, outcome: str, *, ok: bool) -> None:
        """Have Neovim log an action with its outcome, after the current answer is sent; return at once.

        `outcome` is a sentence, which is shortened; `ok` is False if the action failed.
        """
        facts = {
            **action.facts(),
            "outcome": shortened(outcome, MAX_LOGGED_CHARS),
            "ok": ok,
            "at": time.time(),
        }
        # The answer goes first: what Neovim does with this takes the processor from it.
        call_after(0, functools.partial(self._neovim.send, NOTE, facts))


def _sendable(arguments: Mapping[str, Any]) -> str:
    """Return arguments as a text of JSON that UTF-8 can hold."""
    # A client may send half of a surrogate pair, which no text can hold.
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    return text.encode(errors="replace").decode()
