"""One attached Neovim: its sessions, breakpoints, tools and person."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from dapeer.base.schema_judge import Judge
from dapeer.neovim.client import Neovim
from dapeer.neovim.feeds import Taps
from dapeer.peers.consent import Approvals
from dapeer.peers.lua_tool import LuaTool
from dapeer.peers.lua_tools import LuaTools, ProgressCallback
from dapeer.peers.nvim_sessions import NvimSessions
from dapeer.peers.shared_breakpoints import SharedBreakpoints, SharedFilters
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

# Notifications of Neovims that are handled outside of this room.

P = TypeVar("P")
"""The Neovim that sends them."""


class Notifications(Generic[P]):
    """Who handles which kinds, of all attached Neovims."""

    def __init__(self) -> None:
        self._handlers: list[tuple[Mapping[str, Callable[..., None]], Callable[[P], None]]] = []

    @contextmanager
    def handled(
        self,
        handlers: Mapping[str, Callable[..., None]],
        on_detached: Callable[[P], None] = lambda _: None,
    ) -> Generator[None]:
        """Call these handlers, by kind of notification, while the body of the `with` runs.

        A handler is called with the Neovim that has sent it and the notification's arguments; `on_detached` with each Neovim whose connection
        ends, or that is detached. Others may handle the same kinds: all are called.
        """
        entry = (handlers, on_detached)
        self._handlers.append(entry)
        try:
            yield
        finally:
            self._handlers.remove(entry)

    def call_handlers(self, peer: P, kind: str, arguments: Sequence[Any]) -> None:
        """Call all handlers of a notification's `kind` with its Neovim and `arguments`; there may be none.

        What a handler raises leaves here, and the handlers after it are not called.
        """
        for handlers, _ in self._handlers:
            if kind in handlers:
                handlers[kind](peer, *arguments)

    def notify_detached(self, peer: P) -> None:
        """Tell all subscribers that a Neovim is no longer attached."""
        for _, gone in self._handlers:
            gone(peer)


# Shows a person where the clients of this core collect, by signs in their Neovim.

SHOW = "require('dapeer.editor.collecting').show(...)"
AT = "require('dapeer.editor.collecting').at(...)"


class CollectionSigns:
    """Keeps the signs of one Neovim equal to the points at which programs collect."""

    def __init__(self, breakpoints: Breakpoints, neovim: Neovim) -> None:
        """Begin to show changes of the points and functions that collect; `join` shows those that exist."""
        self._points = breakpoints.points
        self._functions = breakpoints.function_points
        self._neovim = neovim
        self._points.listeners.append(self._show)
        self._functions.listeners.append(self._send_functions)

    def close(self) -> None:
        """Stop showing changes; Neovim removes the signs when the core is gone."""
        self._points.listeners.remove(self._show)
        self._functions.listeners.remove(self._send_functions)

    def join(self) -> None:
        """Show all points and functions at which programs collect already."""
        for path in self._points.by_path:
            self._show(path)
        if self._functions:
            self._send_functions()

    def _show(self, path: str) -> None:
        """Send Neovim all points that collect in a file; they replace the signs that it shows there.

        Each is sent with its `line` and its expressions (`collect`); a file without points loses its signs. It does not wait for an
        answer.
        """
        points = [
            {"line": each["line"], "collect": each.get("collect")}
            for each in self._points.breakpoints_of_file(path)
        ]
        self._neovim.send(SHOW, self._neovim.channel, path, points)

    def _send_functions(self) -> None:
        """Send Neovim all functions at which programs collect, in place of those that it had.

        Each is sent with its `name` and its expressions (`collect`). It does not wait for an answer.
        """
        named = [
            {"name": title, "collect": each["collect"]}
            for (_, title), each in self._functions.items()
        ]
        self._neovim.send(AT, self._neovim.channel, named)


log = logging.getLogger(__name__)

SECONDS_TO_SHOW = 0.3
"""Timeout for Neovim to show signs, unless its main thread is blocked."""
SECONDS_TO_REPLAY = 2.0
"""Timeout for running sessions to send their journal."""


@dataclass(frozen=True, slots=True)
class PeerContext:
    """What all attached Neovims share."""

    debugger: Debugger
    tasks: TaskGroup
    taps: Taps
    judge: Judge
    """Checks the schemas of their tools."""
    tools_changed: Callable[[], None]
    notifications: Notifications[Peer]


@dataclass(frozen=True, slots=True)
class AttachedNeovim:
    """A Neovim that has sent its state."""

    neovim: Neovim
    facts: Mapping[str, Any]
    """Facts that Neovim has sent: pid, cwd, version."""
    sessions: NvimSessions
    tools: LuaTools
    names: dict[str, str]
    """The names of files here, by their paths in Neovim, which follows links."""
    secret: str
    """With which its sessions call in."""


class Peer:
    """A Neovim and the person in it. Made by `peers.attach`."""

    def __init__(self, number: int, context: PeerContext, attached: AttachedNeovim) -> None:
        self.id = number
        self.neovim = attached.neovim
        self._facts = attached.facts
        self.sessions = attached.sessions
        self._tools = attached.tools
        self._secret = attached.secret
        self._debugger = context.debugger
        self._tasks = context.tasks
        self._taps = context.taps
        self.judge = context.judge
        """Checks the schemas of its tools."""
        self._tools_changed = context.tools_changed
        self._notifications = context.notifications
        self.approvals = Approvals(self.neovim, attached.facts)
        """The person: notified and asked."""
        known, own = self._debugger.breakpoints, self.sessions.by_number
        self.shared_breakpoints = SharedBreakpoints(known, self.neovim, attached.names, own)
        self._filters = SharedFilters(known, self.neovim)
        self._collecting = CollectionSigns(known, self.neovim)
        self._handlers = self._all_handlers()

    def _all_handlers(self) -> Mapping[str, Callable[..., None]]:
        """Return the handlers of this Neovim's notifications, by kind, such as `breakpoints` or `tools`.

        They are those of this object, of its sessions, its tools and its consent; each is called with the notification's arguments alone.
        A kind that is not among them may be handled by `Notifications`.
        """
        handlers: dict[str, Callable[..., None]] = {
            "breakpoints": self._apply_breakpoints,
            "breakpoints_joined": self._unite_breakpoints,
            "not_applied": self._record_unapplied,
            "exceptions": self._apply_exception_filters,
            "exception_options": self._apply_exception_options,
            "secrets": self._set_secret_patterns,
            "tools": self._start_reading_tools,
        }
        for each in (self.sessions, self._tools, self.approvals):
            handlers |= each.handlers
        return handlers

    @property
    def target(self) -> str:
        """The address of its Neovim."""
        return self.neovim.target

    @property
    def pid(self) -> int:
        """The process of its Neovim."""
        return int(self._facts.get("pid") or 0)

    def is_same(self, other: Peer) -> bool:
        """Return whether it is the same Neovim, maybe by another address: by target, or by process and folder."""
        return self.target == other.target or (self.pid, self.cwd) == (other.pid, other.cwd)

    @property
    def cwd(self) -> str:
        """The working directory of its Neovim when it was attached; empty where that had been deleted."""
        return str(self._facts.get("cwd") or "")

    @property
    def place(self) -> str:
        """Its working directory, in words to stand behind "in"."""
        return self.cwd or "a folder that was deleted"

    # -- attach and detach

    def join(self) -> None:
        """Unite the breakpoints and exception filters of both sides; show points that collect as signs.

        What is new for either side is sent there, and programs that run get the changes; it does not wait for them. To be called once,
        after the attach.
        """
        facts = self._facts
        self._push(self.shared_breakpoints.join(facts.get("breakpoints")))
        self._apply_exception_filters(self._filters.choose_common_filters(facts.get("exceptions")))
        self._collecting.join()

    async def wait_for_replay(self) -> None:
        """Wait until sessions that ran there at the attach have connected and sent what happened in them.

        It returns after `SECONDS_TO_REPLAY` in any case; those that are late connect nevertheless.
        """
        with anyio.move_on_after(SECONDS_TO_REPLAY):
            for number in self._facts.get("sessions") or ():
                await (await self.sessions.wait_for_session(number)).replayed_event.wait()

    async def detach(self) -> None:
        """Tell Neovim that dapeer detaches, end its sessions here, and close the connection.

        What runs in Neovim continues.
        """
        self.neovim.send("require('dapeer.rpc').detach(...)", self.neovim.channel)
        await self.handle_disconnect()
        await self.neovim.aclose()

    async def handle_disconnect(self) -> None:
        """End sessions, shared breakpoints, questions and calls here, after the connection has ended.

        Open questions for consent are denied, open calls of its tools end as `LuaTools.end_open_calls` says, and subscribers of
        `Notifications` are called. No more sessions with its secret are accepted. To be called once; dapeer's breakpoints stay.
        """
        self._taps.forget(self._secret)
        self.shared_breakpoints.close()
        self._filters.close()
        self._collecting.close()
        self.approvals.deny_open_questions()
        self._tools.end_open_calls(
            f"The connection to the Neovim at {self.target} ended before the tool answered."
        )
        self._notifications.notify_detached(self)
        await self.sessions.handle_disconnect()

    # -- requests to Neovim

    async def wait_for_signs(self) -> None:
        """Wait until the signs are up to date; a Neovim whose main thread is blocked shows them later."""
        await self.shared_breakpoints.wait_until_applied(SECONDS_TO_SHOW)

    async def unsaved_files(self, paths: Sequence[str]) -> list[str]:
        """Return those of these files that have unsaved changes in Neovim: no sign can be set in them."""
        return list(await self._call("breakpoints').unsaved(...)", list(paths)))

    async def adapter_types(self) -> list[str]:
        """Return the adapter types that nvim-dap knows; empty without nvim-dap."""
        return list(await self._call("launch').types()"))

    def show_debugged_elsewhere(self, kind: str) -> None:
        """Show the person that a program is debugged outside of Neovim, as nvim-dap has no adapter `kind`."""
        self.neovim.send("require('dapeer.nvim_dap.launch').elsewhere(...)", kind)

    async def configurations(self) -> list[dict[str, Any]]:
        """Return the configurations that nvim-dap offers."""
        return list(await self._call("launch').configurations()"))

    @property
    def tools(self) -> Mapping[str, LuaTool]:
        """The tools written in Lua that it offers, by name."""
        return self._tools.by_name

    def refuse_tool(self, name: str, why: str) -> None:
        """Show the person why a tool of theirs is not offered."""
        self._tools.refuse(name, why)

    async def run_tool(
        self,
        lua_tool: LuaTool,
        arguments: Mapping[str, Any],
        client: str,
        progress: ProgressCallback,
    ) -> Any:
        """Run one of its tools with `arguments`, by name, and return the result, decoded from JSON.

        `client` is the name of the assistant, maybe empty; `progress` is awaited for each report of the tool.

        Raises:
            NeovimError: It does not answer, or the tool failed or timed out.
        """
        return await self._tools.run(lua_tool, arguments, client, progress)

    async def end_calls(self) -> None:
        """Answer the open calls of its tools, at the end of the server, as `LuaTools.end` does.

        Later calls are not prevented.
        """
        await self._tools.end()

    async def why_blocked(self) -> str | None:
        """Return why Neovim does not answer now, such as `waits for a key (hit-enter)`; None if it does."""
        return await self.neovim.why_blocked()

    async def _call(self, what: str, *arguments: object) -> Any:
        """Call a function of dapeer's Lua modules for nvim-dap, and return its result.

        `what` is the end of the module's name, with the call: `breakpoints').unsaved(...)`.

        Raises:
            NeovimError: It does not answer, or the function failed.
        """
        return await self.neovim.call(f"return require('dapeer.nvim_dap.{what}", *arguments)

    # -- notifications of Neovim

    def handle_notification(self, kind: str, arguments: Sequence[Any]) -> None:
        """Pass a notification of this Neovim to the handler of its `kind`.

        A handler of this object has precedence, and is called with `arguments`, those of the notification. If
        this object has none for `kind`, all those of `Notifications` are called with this object and `arguments`,
        up to one that raises. A kind without a handler is ignored. Nothing is raised: an error of a handler is
        only logged.
        """
        try:
            if kind in self._handlers:
                self._handlers[kind](*arguments)
            else:
                self._notifications.call_handlers(self, kind, arguments)
        except Exception:
            log.exception("Neovim sent an unexpected notification: %s", kind)

    def _apply_breakpoints(self, sent: object, applied: int) -> None:
        """Apply a change of the person's breakpoints, and send it to the programs.

        `sent` is Neovim's whole set, and `applied` the number of dapeer's latest change in it.
        """
        self._push(self.shared_breakpoints.apply_signs(sent, applied))

    def _unite_breakpoints(self, sent: object) -> None:
        """Unite the breakpoints of both sides, since nvim-dap has just been loaded and can show signs."""
        self._push(self.shared_breakpoints.join(sent))

    def _record_unapplied(self, number: int, unsaved: str = "") -> None:
        self.shared_breakpoints.record_unapplied(number, unsaved)

    def _apply_exception_filters(self, sent: object) -> None:
        """Make the person's choice of exception filters everybody's, and send it to programs elsewhere.

        These are the running sessions outside of this Neovim; the filters count for programs that start later, too. `sent` is a list of
        filters; nothing is sent if it changes nothing. What is neither that nor None is ignored, and logged. None
        is for the adapters' defaults: programs that start later get these, and those that run keep their filters, since nvim-dap's own
        defaults, too, apply only to programs that start. It does not wait for the adapters.
        """
        filters = self._filters.apply_choice(sent)
        if filters is None:
            return
        own = self.sessions.by_number.values()
        others = [s for s in self._debugger.sessions.live if s not in own]

        async def send(session: Session) -> None:
            await session.functions_and_filters.set_exceptions(
                session.functions_and_filters.filters_at_start(filters) or ()
            )

        self._debugger.broadcast("the filters", others, send)

    def _apply_exception_options(self, session: int, options: object) -> None:
        """Apply the types of exceptions that the person has chosen by nvim-dap's API for one session.

        `session` is nvim-dap's number; one that is not known here is ignored. `options` are DAP's `exceptionOptions`. The filters that
        stand for them become everybody's choice, and Neovim shows them. Options that have no such filters, or are malformed, change
        nothing.
        """
        if session in self.sessions.by_number:
            filters = self.sessions.by_number[session].functions_and_filters.filters
            # Lua's empty table may arrive as an object.
            named = filters.texts_of_options([] if options == {} else options)
            if named is not None:
                self._apply_exception_filters(named)
                self._filters.show()

    def _push(self, paths: list[str]) -> None:
        """Begin to send the breakpoints of these files to all programs; nothing is done without files."""
        if paths:
            self._tasks.start_soon(self._push_all, paths)

    async def _push_all(self, paths: list[str]) -> None:
        """Send the breakpoints of these files to all programs, and log which programs have not accepted them."""
        for line in await self._debugger.push_breakpoints(*paths).wait_for_failures():
            log.warning("breakpoints of the person: %s", line)

    def _start_reading_tools(self, sent: object) -> None:
        """Begin to read a new list of tools from Neovim; calls that end meanwhile wait for it."""
        self._tools.announce_newer_list()
        self._tasks.start_soon(self._read_tools, sent)

    async def _read_tools(self, sent: object) -> None:
        """Read a list of tools, and call the listeners of changed tools; an invalid list is only logged."""
        try:
            await self._tools.replace_tools(sent)
        except Exception:
            log.exception("Neovim sent an invalid list of tools")
        self._tools_changed()

    def _set_secret_patterns(self, patterns: object) -> None:
        """Set the patterns of files that no tool may show, as the person's settings have them now."""
        self.approvals.set_secret_patterns(patterns)
        self._tools_changed()
