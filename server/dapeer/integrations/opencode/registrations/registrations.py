"""Our core at the OpenCode server of a Neovim: in each directory in which it works, while both run.

OpenCode keeps a registration in memory, for one directory, until that "instance" is disposed of. So each one is looked
after: it knows what is wanted and what is known, and brings the one to the other by one request at a time. What happens
only makes it look again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from dapeer.base.json_types import Json
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import OpenCodeError, OpenCodeLocked, OpenCodeMissing
from dapeer.integrations.opencode.events import CONNECTED
from dapeer.integrations.opencode.registrations import claims
from dapeer.integrations.opencode.registrations.claims import Claim
from dapeer.integrations.opencode.registrations.registration import (
    Configured,
    add,
    configured,
    give_back,
    is_there,
)
from dapeer.mcp.server.integration import Core

log = logging.getLogger(__name__)

SECONDS_TO_LEAVE: Final = 2.0
"""What leaving may take at our end. To start what we have replaced takes OpenCode a while."""
SECONDS_TO_SWITCH_OFF: Final = 0.5
"""What it takes when that was too long."""

WHY: Final[Mapping[type[OpenCodeError], str]] = {
    OpenCodeLocked: "OpenCode requires a password: give `server.password` to opencode.nvim, or set "
    "OPENCODE_SERVER_PASSWORD.",
    OpenCodeMissing: "OpenCode cannot add tools while it runs: update OpenCode.",
}

Report = Callable[[Json], None]
"""Takes what became of a registration: url, directory, name and state.

The state is `connected` (then also `own`, whether it replaces what is configured, and `twice`), `disconnected` or
`failed` (then also `problem`).
"""


@dataclass(frozen=True, slots=True)
class Use:
    """Which OpenCode server a Neovim uses."""

    url: str = ""
    """Where it listens; empty: it uses none."""
    authorization: str = ""
    """What the server wants to see in the header of this name."""
    directories: tuple[str, ...] = ()
    """Where the person works, as the server calls it."""
    core: str = ""
    """The URL of the core that the server is to have there; empty: none."""

    @classmethod
    def read(cls, sent: Json) -> Self:
        """Return what a Neovim has sent as a `Use`; what is missing is empty, as is Lua's empty table."""
        directories: Sequence[object] = sent.get("directories") or ()
        return cls(
            url=str(sent.get("url") or ""),
            authorization=str(sent.get("authorization") or ""),
            directories=tuple(map(str, directories)),
            core=str(sent.get("core") or ""),
        )


class Registration:
    """A core at one server, in one directory.

    Args:
        opencode: Makes a connection to the server.
        url: Where that listens.
        core: Is registered.
        claim: Its name there, which is released at the end.
        report: Takes what becomes of it.
        was_left: It is there, of a core that was killed, and shall go.
    """

    def __init__(
        self,
        opencode: Callable[[], OpenCode],
        url: str,
        core: Core,
        claim: Claim,
        report: Report,
        *,
        was_left: bool = False,
    ) -> None:
        self.over = anyio.Event()
        """It has left."""
        self.directory = claim.directory
        self._opencode = opencode
        self._url = url
        self._core = core
        self._claim = claim
        self._report = report
        self._is_requested = not was_left
        self._is_there = was_left
        self._is_due = True
        """Something may have changed since it was looked at."""
        self._is_reported = False
        """Whether Neovim knows that it is there."""
        self._news = anyio.Event()
        self._replaced: Configured | None = None
        """What the person has configured; None: nobody has looked."""

    def request_registration(self, opencode: Callable[[], OpenCode], report: Report) -> None:
        """Have the core registered from now on, and check whether it is; the task of `keep_up` does that.

        `opencode` makes a connection to the server, `report` takes what becomes of it.
        """
        self._opencode = opencode
        self._report = report
        self._is_requested = True
        self.recheck()

    def request_removal(self) -> None:
        """Have the core removed; the task of `keep_up` does that, and ends then."""
        self._is_requested = False
        self._news.set()

    def recheck(self) -> None:
        """Have the task of `keep_up` check whether the core is still registered with OpenCode."""
        self._is_due = True
        self._news.set()

    def forget_report(self) -> None:
        """Note that Neovim has disconnected, so that the next one gets the state anew."""
        self._is_reported = False

    def note_lost(self) -> None:
        """Note that OpenCode has lost its registrations, and have the core registered again.

        OpenCode has then what its configuration says.
        """
        self._is_there = False
        self.recheck()

    async def keep_up(self) -> None:
        """Register and remove the core as `want` and `leave` say, until it was removed; then release its name.

        If cancelled, the core is removed first, in a moment.
        """
        try:
            while self._is_requested or self._is_there:
                self._news = anyio.Event()
                if not self._is_requested:
                    await self._part()
                elif self._is_due:
                    self._is_due = False
                    await self._see_to_it()
                else:
                    await self._news.wait()
        except anyio.get_cancelled_exc_class():
            if self._is_there:
                with anyio.move_on_after(SECONDS_TO_SWITCH_OFF, shield=True):
                    await self._part(Configured())
            raise
        finally:
            self._claim.release()
            self.over.set()

    async def _see_to_it(self) -> None:
        """Register the core unless it is connected, and report its state to Neovim.

        A failure is reported, and not tried again before something changes.
        """
        async with self._opencode() as opencode:
            if self._is_there and await is_there(opencode, self.directory, self._claim.name):
                if not self._is_reported:
                    self._connected()
                return
            self._is_there = False
            try:
                self._replaced = await configured(opencode, self.directory, self._claim.name)
                await add(opencode, self._core, self.directory, self._claim.name)
            except OpenCodeError as error:
                # A server that has ended meanwhile is no failure.
                if self._is_requested:
                    self._report_state("failed", problem=WHY.get(type(error), error.what))
                return
        self._is_there = True
        self._connected()

    def _connected(self) -> None:
        """Report that the core is connected, and what it replaces or has twice in the person's configuration."""
        self._is_reported = True
        replaced = self._replaced or Configured()
        self._report_state("connected", own=replaced.own is not None, twice=list(replaced.twice))

    async def _part(self, replaced: Configured | None = None) -> None:
        """Remove the core from OpenCode, give its name back to what is configured, and report that.

        The person has configured it. `replaced` is that configuration; None: what was found before, or is requested now.
        """
        async with self._opencode() as opencode:
            replaced = replaced or self._replaced
            if replaced is None:
                replaced = await configured(opencode, self.directory, self._claim.name)
            await give_back(opencode, self.directory, self._claim.name, replaced.own)
        self._is_there = False
        self._report_state("disconnected")

    def _report_state(self, state: str, **more: object) -> None:
        """Report a state of the registration to Neovim, with its URL, directory and name."""
        about = {"url": self._url, "directory": self.directory, "name": self._claim.name}
        self._report({**about, "state": state, **more})


class Registrations:
    """What the OpenCode servers of one Neovim are to have of our core, and have.

    Args:
        tasks: Where each is looked after.
        core: Is registered.
    """

    def __init__(self, tasks: TaskGroup, core: Core) -> None:
        self._tasks = tasks
        self._core = core
        self._all: dict[tuple[str, str], Registration] = {}

    def want(self, use: Use, opencode: Callable[[], OpenCode], report: Report) -> None:
        """Register the core in the directories where the Neovim works now, and remove it in all others.

        What killed cores have left at the server is removed, too. All happens in background tasks. `opencode` makes a connection to the
        server, `report` takes what becomes of each registration.
        """
        directories = use.directories if use.core == self._core.url else ()
        keys = {(use.url, directory) for directory in directories}
        for key, one in self._all.items():
            if key not in keys:
                one.request_removal()
        for url, directory in sorted(keys):
            if known := self._all.get((url, directory)):
                known.request_registration(opencode, report)
            else:
                claim = claims.claim_name(url, directory)
                one = Registration(opencode, url, self._core, claim, report)
                self._begin((url, directory), one)
        if keys:
            for claim in claims.claim_abandoned_names(use.url):
                left = Registration(opencode, use.url, self._core, claim, report, was_left=True)
                self._begin((use.url, f"{claim.directory}\n{claim.name}"), left)

    def forget_reports(self) -> None:
        """Note that the Neovim has disconnected, so that the next one gets all states anew."""
        for one in self._all.values():
            one.forget_report()

    def on_event(self, event: Json) -> None:
        """Note an event of the server: have registrations made again that it has lost, or checked after a gap."""
        match event:
            case {"type": "server.instance.disposed", "properties": {"directory": str(directory)}}:
                # OpenCode resolves links in the names of directories.
                where = os.path.realpath(directory)
                for one in self._all.values():
                    if os.path.realpath(one.directory) == where:
                        one.note_lost()
            case {"type": "global.disposed" | "server.instance.disposed"}:
                for one in self._all.values():
                    one.note_lost()
            case {"type": str(kind)} if kind == CONNECTED:
                # What happened before has not been heard of.
                for one in self._all.values():
                    one.recheck()
            case _:
                pass

    async def leave(self) -> None:
        """Remove the core everywhere, and wait until that is done."""
        for one in self._all.values():
            one.request_removal()
        for one in list(self._all.values()):
            await one.over.wait()

    def _begin(self, key: tuple[str, str], one: Registration) -> None:
        """Begin to look after a registration, in a task of its own."""
        self._all[key] = one
        self._tasks.start_soon(self._live, key, one)

    async def _live(self, key: tuple[str, str], one: Registration) -> None:
        """Look after a registration until it was removed; an error is logged, and ends only this."""
        try:
            await one.keep_up()
        except Exception:
            # Whatever a server of somebody else tells us, debugging goes on.
            log.exception("dapeer gives up its registration at OpenCode in %s", one.directory)
        finally:
            del self._all[key]
