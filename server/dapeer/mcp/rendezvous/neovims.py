"""Which Neovims a server attaches to by itself: those at its start, and those that come later."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio import create_task_group
from anyio.abc import TaskGroup

from dapeer.base.errors import ForeignListener, NeovimBusy, NeovimError, NoNeovim
from dapeer.base.system.ownership import check_peer
from dapeer.mcp.rendezvous import knocks
from dapeer.neovim.discovery import AUTO, belongs_to_project, find_project_neovims
from dapeer.neovim.sockets import normalize_address
from dapeer.peers import Peers

log = logging.getLogger(__name__)

SECONDS_OF_A_DAY: Final = 86_400
"""Timeout for a Neovim that waits for a key to accept the connection."""
SECONDS_TO_SPEAK: Final = 2
LONGEST_WORDS: Final = 1 << 16
"""Bytes of the message in which a Neovim sends its address."""


class Neovims:
    """The Neovims to which a server attaches.

    Args:
        target: The address of one, or `auto`: all of the project.
        peers: Has those that are attached.
        project: The server's project.
        door: Where those that come later have knocked already; None: it is opened.
    """

    def __init__(
        self, target: str, peers: Peers, project: Path, door: socket.socket | None = None
    ) -> None:
        self._neovim_socket = door
        self._target = target
        self._peers = peers
        self._project = project
        self._busy_addresses: set[str] = set()
        """The addresses of those that were busy when they were found."""

    async def attach(self, tasks: TaskGroup, *, patient: bool) -> None:
        """Attach to the Neovim that was named at the start, or begin to search for those of the project.

        The named one is awaited, as long as an attach may take; one that is busy is attached later, in `tasks`, which
        is logged. One that fails otherwise is only logged. If `AUTO` was named, the search goes on in `tasks`, and
        nothing is awaited. `patient`: the named one may start later; if it is not there, this is only logged, and
        `attach_newcomers` has to run to attach it then.

        Raises:
            NoNeovim: The named Neovim is not there, and `patient` is false.
        """
        if self._target == AUTO:
            self._peers.search.begin(tasks, partial(self._attach_running, tasks))
            return
        try:
            await self._peers.connect(self._target)
        except NeovimBusy as error:
            log.warning("%s It will be attached once it answers.", error.problem)
            tasks.start_soon(self._attach_patiently, self._target)
        except NoNeovim as error:
            if not patient:
                raise
            log.warning("%s It will be attached once it starts.", error)
        except NeovimError as error:
            log.warning("%s", error)

    async def _attach_running(self, tasks: TaskGroup) -> None:
        """Attach the running Neovims of the project, unless they are attached, or a client has detached them.

        Those that respond are attached one after another, and errors of that are logged. One that is busy is
        attached in `tasks`, once it answers, for which that task may wait for days; if it fails with an error of
        Neovim's, that task ends silently, and other errors are logged. No error of attaching leaves this method.
        """
        for found in await find_project_neovims(self._project):
            if not self._peers.is_to_be_attached(found.address, found.pid):
                continue
            if found.state == "free":
                await self._attach_quietly(found.address)
            elif found.address not in self._busy_addresses:
                tasks.start_soon(self._attach_busy, found.address)

    async def _attach_busy(self, address: str) -> None:
        """Attach a busy Neovim once it answers, and return then, or once it has gone.

        It may wait for days. Meanwhile its `address` is among `_busy_addresses`: the caller must check that the
        address is not there yet, since this function does not, so that only one task waits for a Neovim. Nothing is
        raised: errors of Neovim end the wait silently, any other error is logged.
        """
        self._busy_addresses.add(address)
        try:
            await self._attach_patiently(address)
        except Exception:
            # As below.
            log.exception("cannot attach the Neovim at %s", address)
        finally:
            self._busy_addresses.discard(address)

    async def _attach_quietly(self, address: str) -> None:
        """Attach a Neovim that the search has found, at its address; an error is only logged."""
        try:
            await self._peers.attach_found(address)
        except NeovimError as error:
            log.warning("%s", error)
        except Exception:
            # This Neovim was found, not named: it must not delay the start.
            log.exception("cannot attach the Neovim at %s", address)

    async def _attach_patiently(self, address: str) -> None:
        """Attach the Neovim at an address, and wait until it answers, without a limit.

        Each attempt lasts a day at most, and is repeated while Neovim is busy. Return without having attached it
        if there is none any more, or it fails: errors of Neovim (`NeovimError`) are not raised.
        """
        with contextlib.suppress(NeovimError):
            while True:
                # The first attempt may be under way still, and is about to give up.
                with contextlib.suppress(NeovimBusy):
                    await self._peers.attach_found(address, SECONDS_OF_A_DAY)
                    return

    # -- those that come later

    async def attach_newcomers(self) -> None:
        """Listen for Neovims that start, and attach each that belongs here, until this is cancelled.

        Such a Neovim connects to a socket in the runtime folder and sends its address. It ends at once where that folder allows no socket.
        After a cancellation the socket is closed, and attempts under way end.
        """
        door = self._neovim_socket
        with (
            nullcontext(door)
            if door
            else knocks.try_listen_for_knocks(knocks.FOR_NEOVIMS) as listener
        ):
            if listener is None:
                return
            async with create_task_group() as tasks:

                def knocked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                    """Attach the Neovim that has connected, in a task of its own."""
                    tasks.start_soon(self._attach_announced, reader, writer)

                server = await asyncio.start_unix_server(
                    knocked, sock=listener, limit=LONGEST_WORDS
                )
                async with server:
                    await server.serve_forever()

    async def _attach_announced(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Read the address that a Neovim sends, and attach that Neovim if it belongs to this project.

        `reader` and `writer` are the Neovim's connection to the socket in the runtime folder; the connection is closed
        before the Neovim is attached. If a Neovim was named at the start, only that one is attached, of any project.
        One that is attached already, that a client has detached, or that is another user's is not attached. A busy
        Neovim is waited for without a limit. Nothing happens if the Neovim is gone or fails (`NeovimError`); any other
        error is logged.
        """
        try:
            address = await self._read_announced_address(reader, writer)
        finally:
            writer.close()
        if address is None:
            return
        try:
            await self._attach_patiently(address)
        except Exception:
            # As above.
            log.exception("cannot attach the Neovim at %s", address)

    async def _read_announced_address(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> str | None:
        """Read what a Neovim announces of itself, and return its address; None if it is not to be attached.

        None stands for a Neovim of another project (or, if one Neovim was named, another one), one that is
        attached or that a client has detached, one of another user, or a process that sends nothing valid
        within `SECONDS_TO_SPEAK`. The last two are logged, unless the process hangs up at once. A Neovim sends
        one line of JSON with `address`, `cwd` and `pid`. The caller closes the connection.
        """
        end: socket.socket = writer.get_extra_info("socket")
        try:
            check_peer(end, "the other end of a knock")
            with anyio.fail_after(SECONDS_TO_SPEAK):
                line = await reader.readline()
            if not line:
                return None  # another process checks whether this one runs
            knock = json.loads(line)
            address, cwd, pid = (
                normalize_address(str(knock["address"])),
                Path(str(knock["cwd"])),
                int(knock["pid"]),
            )
        except (OSError, ValueError, TypeError, LookupError, ForeignListener) as error:
            log.warning("cannot accept a Neovim that announced itself: %s", error)
            return None
        is_ours = (
            belongs_to_project(cwd, self._project)
            if self._target == AUTO
            else address == self._target
        )
        return address if is_ours and self._peers.is_to_be_attached(address, pid) else None
