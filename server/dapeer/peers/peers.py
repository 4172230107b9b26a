"""All Neovims that are attached."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import NeovimBusy, NeovimFailed, NoNeovim, RefusedByPerson
from dapeer.base.json_types import as_object
from dapeer.base.schema_judge import Judge
from dapeer.base.system.tasks import BackgroundTask, all_of
from dapeer.neovim import discovery
from dapeer.neovim.client import SECONDS_TO_ANSWER, Neovim
from dapeer.neovim.feeds import Taps
from dapeer.neovim.program import plugin_folder
from dapeer.peers.consent import Action
from dapeer.peers.consent_kinds import ActionKind
from dapeer.peers.lua_tools import LuaTools
from dapeer.peers.nvim_sessions import NvimSessions
from dapeer.peers.peer import AttachedNeovim, Notifications, Peer, PeerContext
from dapeer.peers.shared_breakpoints import unsaved_changes_error
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

# The connected clients, by the names that they send.

UNNAMED = "an assistant"


class ConnectedClients:
    """The connected clients. `changed` is called when one connects or disconnects."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._names_by_token: dict[object, str] = {}
        self._notify_changed = changed

    @property
    def names(self) -> list[str]:
        """Each name once, in the order in which they came."""
        return list(dict.fromkeys(self._names_by_token.values()))

    def add_client(self, name: str) -> Callable[[], None]:
        """Add a connected client to `names`, and return a function that removes it again.

        `name` is what the client calls itself; empty: `UNNAMED`. Several clients may have the same name, which `names` has once. Adding
        and removing each call `changed`, the function given to the constructor; a second removal does nothing.
        """
        token = object()
        self._names_by_token[token] = name or UNNAMED
        self._notify_changed()

        def leave() -> None:
            if self._names_by_token.pop(token, None) is not None:
                self._notify_changed()

        return leave


# Attaches to a Neovim, which sends its whole state, then its changes; searches a project's Neovims.

# A Neovim without the plugin gets dapeer's, until it ends.
ATTACH: Final = """
local folder, channel, opts = ...
if not pcall(require, 'dapeer.core.attach') then vim.opt.runtimepath:append(folder) end
return require('dapeer.core.attach').attach(channel, opts)
"""

Take = Callable[[str, Sequence[Any]], None]
"""Takes in a notification: its kind and arguments."""
SECONDS_TO_LOOK: Final = 1.0
"""Seconds by which the first search may delay a client's first call."""


class Inbox:
    """The notifications of a Neovim, which wait until there is somebody to take them in."""

    def __init__(self) -> None:
        self._handler: Take | None = None
        self._early_notifications: list[tuple[str, Sequence[Any]]] = []

    def receive(self, name: str, arguments: Sequence[Any]) -> None:
        """Pass a notification of method (`name`) `dapeer` to the handler, or keep it until one is set.

        The first of `arguments` is the kind, the others are the kind's own: the handler is called with both.
        Notifications of other methods, or without arguments, are dropped.
        """
        if name != "dapeer" or not arguments:
            return
        kind, rest = str(arguments[0]), arguments[1:]
        if self._handler is None:
            self._early_notifications.append((kind, rest))
        else:
            self._handler(kind, rest)

    def set_handler(self, take: Take) -> None:
        """Call `take` with each notification that has been kept, in order, and with every later one."""
        for kind, arguments in self._early_notifications:
            take(kind, arguments)
        self._early_notifications.clear()
        self._handler = take


async def attach(number: int, context: PeerContext, target: str, seconds: float) -> Peer:
    """Connect to a Neovim, and return it once both sides have shared breakpoints and running sessions.

    dapeer's plugin is loaded there, from this machine if Neovim has none. `number` becomes its id in
    `Peers`, `target` is a path or `host:port`, and `seconds` limits the connection and the first answer.
    Sessions that run there are awaited for `SECONDS_TO_REPLAY`; the others go on connecting after that. The
    caller keeps the result and watches for its end. After an error or a cancellation the connection is
    closed, except while sessions are awaited.

    Raises:
        NeovimError: There is no Neovim, it does not answer, its list of tools is invalid, or the socket for its
            sessions cannot be made here.
    """
    try:
        await context.taps.open()
    except OSError as error:
        raise NeovimFailed(
            f"The socket for sessions of the Neovim at {target} cannot be made: {error}.",
            "Check the folders of $XDG_RUNTIME_DIR and $TMPDIR.",
        ) from error
    inbox, names = Inbox(), dict[str, str]()
    neovim = await Neovim.connect(target, inbox.receive, seconds)
    sessions = NvimSessions(neovim, context.debugger, context.tasks, names)
    secret = context.taps.expect(sessions.begin_tapped_session)
    options = {"tap": context.taps.path, "secret": secret}
    try:
        facts = as_object(
            await neovim.call(
                ATTACH, str(plugin_folder()), neovim.channel, options, seconds=seconds
            )
        )
        sessions.compare_clocks(float(facts.get("clock") or time.time()))
        tools = LuaTools(neovim, sessions.seconds_ahead, context.judge)
        try:
            await tools.replace_tools(facts.get("tools") or "[]")
        except (ValueError, KeyError) as error:
            raise NeovimFailed(
                f"Neovim at {target} has sent an invalid list of tools: {error}.",
                "Look at the tools that are registered there: `:checkhealth dapeer`.",
            ) from error
    except BaseException:
        context.taps.forget(secret)
        await neovim.aclose()
        raise
    peer = Peer(number, context, AttachedNeovim(neovim, facts, sessions, tools, names, secret))
    peer.join()
    inbox.set_handler(peer.handle_notification)
    await peer.wait_for_replay()
    return peer


class NeovimSearch:
    """Attaches the Neovims of a project, which no client names, and knows which are new to each client."""

    def __init__(self) -> None:
        self._attach_others: Callable[[], Awaitable[None]] | None = None
        """Attaches the other Neovims of the project; None: only named ones are attached."""
        self._first_search_done = anyio.Event()
        self._newcomers: list[Peer] = []
        """The Neovims that have appeared after the first search, in this order."""
        self._reported_counts: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """How many of them each client has been told of."""

    def begin(self, tasks: TaskGroup, seek: Callable[[], Awaitable[None]]) -> None:
        """Attach all Neovims of the project from now on.

        `seek` attaches those that run, and is called in `tasks`.
        """
        self._attach_others = seek
        tasks.start_soon(self.attach_running_neovims)

    async def attach_running_neovims(self) -> None:
        """Attach the running Neovims of the project that are not attached, and return when that is done.

        Nothing is done unless `begin` was called, since only named Neovims are attached then. The search ends the wait in
        `wait_for_first_search`, even if it raises; what it raises leaves here.
        """
        if self._attach_others is not None:
            try:
                await self._attach_others()
            finally:
                self._first_search_done.set()

    async def wait_for_first_search(self) -> None:
        """Wait for the first search of `begin` or `attach_running_neovims`, at most `SECONDS_TO_LOOK`.

        It searches nothing itself, and returns at once unless `begin` was called.
        """
        if self._attach_others is not None:
            with anyio.move_on_after(SECONDS_TO_LOOK):
                await self._first_search_done.wait()

    def record_new_peer(self, peer: Peer) -> None:
        """Record an attached Neovim that no client has named, for `take_new_peers` to return to each client.

        Those that the first search finds are not recorded; without `begin` there is no such search, so every one is. Once recorded, it
        stays, also when it ends.
        """
        late = self._attach_others is None or self._first_search_done.is_set()
        if late and peer not in self._newcomers:
            self._newcomers.append(peer)

    def take_new_peers(self, client: object) -> list[Peer]:
        """Return the Neovims that `attached` has recorded since this client's last call, in order.

        They count as reported to this client then. `client` is any hashable object that stands for it. At its first call it gets all that
        were recorded, also those that have been detached since.
        """
        reported, self._reported_counts[client] = (
            self._reported_counts.get(client, 0),
            len(self._newcomers),
        )
        return self._newcomers[reported:]


log = logging.getLogger(__name__)


class Peers:
    """The attached Neovims; `async with` detaches all of them at its exit.

    Args:
        debugger: Has the sessions.
    """

    def __init__(self, debugger: Debugger) -> None:
        self.attached: dict[int, Peer] = {}
        """By id, in the order in which they came."""
        self.notifications = Notifications[Peer]()
        """Those that others handle."""
        self.connected_clients = ConnectedClients(self._show_assistants)
        """The assistants that are connected."""
        self._detached_peers: dict[str, Peer] = {}
        """By target: detached Neovims whose person wants to be asked. Their consent is still needed."""
        self._attaching: dict[str, BackgroundTask[Peer]] = {}
        """By target: Neovims that are being attached."""
        self._ids = itertools.count(1)
        self._taps = Taps()
        self._listeners: list[Callable[[], None]] = []
        self._tasks: TaskGroup = anyio.create_task_group()
        self.search = NeovimSearch()
        self._detached_targets: set[str] = set()
        """The targets of Neovims that a client has detached: they are not attached again automatically."""
        self.judge = Judge()
        """Of the schemas that others have written for their tools."""
        self._context = PeerContext(
            debugger,
            self._tasks,
            self._taps,
            self.judge,
            self._set_secrets_and_notify,
            self.notifications,
        )

    async def __aenter__(self) -> Self:
        """Begin to attach."""
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """Detach all Neovims and end all tasks; debug sessions in the Neovims continue."""
        with anyio.CancelScope(shield=True):
            for arriving in list(self._attaching.values()):
                arriving.cancel()
                await arriving.wait_for_end()
            for number in list(self.attached):
                await self.disconnect(number)
            await self._taps.aclose()
            await self.judge.aclose()
        self._tasks.cancel_scope.cancel()
        return await self._tasks.__aexit__(kind, error, traceback)

    def peer(self, number: int | None = None) -> Peer:
        """Return the attached Neovim with the id `number`; None: the one of them that came first.

        Raises:
            NoNeovim: It is not attached, or none is.
        """
        chosen = next(iter(self.attached), None) if number is None else number
        if chosen is None:
            raise NoNeovim("No Neovim is attached.", "nvim_targets lists those that can be.")
        if chosen not in self.attached:
            known = ", ".join(map(str, self.attached)) or "none"
            raise NoNeovim(f"No attached Neovim matches {chosen}.", f"Attached: {known}.")
        return self.attached[chosen]

    def peer_of_session(self, session: Session) -> Peer | None:
        """Return the Neovim in which a session runs, if several are attached, so that it must be named.

        The result is None if at most one Neovim is attached, or the session runs in none.
        """
        several = len(self.attached) > 1
        here = (p for p in self.attached.values() if session in p.sessions.by_number.values())
        return next(here, None) if several else None

    async def connect(self, target: str, seconds: float = SECONDS_TO_ANSWER) -> Peer:
        """Attach the Neovim at a socket's path or `host:port`, and return it.

        One that is attached at the same address is returned at once. Several callers share one attempt. `seconds`
        limits the wait of this caller, and the connection itself if this caller begins the attempt; after a timeout
        of the wait, the attempt goes on.

        Raises:
            NeovimBusy: It has not attached within `seconds`.
            NeovimError: There is none, it does not answer, or its list of tools is invalid.
        """
        for peer in self.attached.values():
            if peer.target == target:
                return peer
        arriving = self._attaching.get(target)
        if arriving is None:
            arriving = self._attaching[target] = BackgroundTask(
                self._attach_neovim(target, seconds)
            )
        try:
            with anyio.fail_after(seconds):
                # One caller's timeout must not cancel the others.
                await arriving.wait_for_end()
        except TimeoutError as error:
            raise NeovimBusy(
                f"The Neovim at {target} has not responded within {seconds:g} s.",
                "Call nvim_connect again once Neovim responds: nvim_targets shows that.",
            ) from error
        return arriving.result()

    async def _attach_neovim(self, target: str, seconds: float) -> Peer:
        """Attach a Neovim, keep it in `attached`, and begin to watch for its end; return it.

        The tools' listeners are called, the person sees the connected assistants, and the target counts no longer
        as detached. `target` is the Neovim's address; `seconds` limits the connection and the first answer.
        `target` must be in `_attaching`, and is removed from there also after an error.

        Raises:
            NeovimError: There is no Neovim, it does not answer, or its list of tools is invalid.
        """
        try:
            peer = await attach(next(self._ids), self._context, target, seconds)
        finally:
            del self._attaching[target]
        self.attached[peer.id] = peer
        peer.approvals.show_assistants(self.connected_clients.names)
        self._detached_peers = {
            at: left for at, left in self._detached_peers.items() if not left.is_same(peer)
        }
        self._set_secrets_and_notify()
        self._tasks.start_soon(self._watch, peer)
        log.info("attached Neovim %s at %s", peer.pid, target)
        self._detached_targets.discard(target)
        return peer

    async def disconnect(self, number: int) -> None:
        """Detach the Neovim with this id: its sessions end here, and its tools are no longer offered.

        What runs in it continues, and its person's consent is needed no more. It returns when the connection is closed.

        Raises:
            NoNeovim: It is not attached.
        """
        peer = self.peer(number)
        del self.attached[number]
        self._set_secrets_and_notify()
        await peer.detach()

    async def detach_keeping_consent(self, number: int) -> None:
        """Detach the Neovim with this id, as a client asked.

        If its person wants to be asked before actions of some kind, these are refused while that Neovim runs and is not attached again. It
        is not attached again automatically, only by a client's `nvim_connect`.

        Raises:
            NoNeovim: It is not attached.
        """
        peer = self.peer(number)
        if any(peer.approvals.wanted_kinds.values()):
            self._detached_peers[peer.target] = peer
        self._detached_targets.add(peer.target)
        await self.disconnect(number)

    # -- those that come by themselves

    async def attach_found(self, target: str, seconds: float = SECONDS_TO_ANSWER) -> None:
        """Attach a Neovim that no client has named, and record it for `take_new_peers` if it is new.

        `target` is its address; `seconds` limits the wait. One that is attached already is not attached again.

        Raises:
            NeovimBusy: It has not attached within `seconds`.
            NeovimError: There is none, it does not answer, or its list of tools is invalid.
        """
        before = set(self.attached)
        peer = await self.connect(target, seconds)
        if peer.id not in before:
            self.search.record_new_peer(peer)

    def is_to_be_attached(self, target: str, pid: int | None) -> bool:
        """Return whether to attach a Neovim automatically: no client has detached it, and it is not attached.

        `pid` is its process, by which it is known at another address; None: unknown.
        """
        known = any(pid == peer.pid for peer in self.attached.values()) if pid else False
        return target not in self._detached_targets and not known

    def take_new_peers(self, client: object) -> list[Peer]:
        """Return the Neovims that were attached since the first search and since this client's last call.

        `client` is any object that stands for the client. Those that were detached meanwhile are left out.
        """
        return [each for each in self.search.take_new_peers(client) if each.id in self.attached]

    async def _watch(self, peer: Peer) -> None:
        """Wait for the end of the connection to a Neovim, then remove it from `attached`, and its sessions.

        Nothing is done then if it was detached meanwhile.
        """
        await peer.neovim.closed_event.wait()
        if self.attached.pop(peer.id, None) is not None:
            log.info("Neovim at %s has ended", peer.target)
            self._set_secrets_and_notify()
            await peer.handle_disconnect()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever the tools that the Neovims offer have changed."""
        self._listeners.append(listener)

    def _set_secrets_and_notify(self) -> None:
        """Set the patterns of secret files from all persons' settings, and call `subscribe`'s listeners.

        Those of a detached Neovim count while its consent is still needed. Persons who have sent no patterns add none.
        """
        people = (*self.attached.values(), *self._detached_peers.values())
        secrets = [p.approvals.secrets for p in people if p.approvals.secrets is not None]
        self._context.debugger.files.secret.set_patterns(secrets)
        for listener in self._listeners:
            listener()

    async def wait_for_signs(self) -> None:
        """Wait until every Neovim shows the current breakpoints as signs; a blocked one for a short time only."""
        await all_of(peer.wait_for_signs() for peer in self.attached.values())

    def check_saved(self, path: str, line: int) -> None:
        """Raise if a Neovim has refused the breakpoint just set on this line, as the file has unsaved changes.

        It sends nothing, and knows only what Neovims have answered by now: wait in `wait_for_signs` before. `path` is the absolute path. A
        refusal is forgotten once this has asked for it.

        Raises:
            ArgumentError: Its lines there are not those on disk.
        """
        # All are asked: each forgets its changes when it has returned them.
        refused = {
            peer.shared_breakpoints.take_refusal((path, line)) for peer in self.attached.values()
        }
        if True in refused:
            raise unsaved_changes_error(path)

    def moved_sign_line(self, path: str, line: int) -> int | None:
        """Return the line at which a Neovim shows the sign of a breakpoint, if unsaved changes have moved it.

        `line` is the breakpoint's on disk; None: no Neovim shows it at another line. The first Neovim that does counts.
        """
        signs = (
            peer.shared_breakpoints.signs.get(path, {}).get(line) for peer in self.attached.values()
        )
        return next(filter(None, signs), None)

    async def outdated_sessions(self) -> dict[int, str]:
        """Return sessions whose state may be outdated, as their Neovim is blocked: the reason by session id.

        The ids are dapeer's; a reason is a clause, such as `its Neovim is busy with a command`. Only sessions
        that dapeer sees by nvim-dap's listeners are among them, as these send nothing while Neovim is blocked;
        stopped sessions may be among them, but none that has ended. The Neovims of such sessions are asked for
        their mode first, one after another, each for a short time at most; one that has ended raises nothing, and
        is a reason. Empty: no such Neovim is blocked.
        """
        found: dict[int, str] = {}
        for peer in list(self.attached.values()):
            deaf = [each for each in peer.sessions.by_number.values() if each.feed == "listeners"]
            if deaf and (state := await peer.why_blocked()):
                lives = [session.id for session in deaf if not session.mirror.has_ended]
                found |= dict.fromkeys(lives, f"its Neovim {state}")
        return found

    # -- people

    def has_person_to_decide(self, kind: ActionKind) -> bool:
        """Return whether a person at an attached Neovim decides on such actions, by an answer or a setting.

        `kind` is the actions' kind. True also if their setting is that they need not be asked; `wait_for_consent` asks only those who want
        it. False: no Neovim is attached, or its plugin does not know the kind.
        """
        return any(kind in peer.approvals.wanted_kinds for peer in self.attached.values())

    async def wait_for_consent(self, action: Action) -> None:
        """Ask every person whose consent an action needs, one after another; return when all have given it.

        It waits for their answers without a limit, and returns at once if nobody wants to be asked. A detached Neovim's person cannot be
        asked: their wish refuses the action, except `nvim_connect`, as long as that Neovim runs.

        Raises:
            RefusedByPerson: One has not consented, or cannot be asked since a client has detached their Neovim.
        """
        # It attaches a Neovim again after it was left.
        if action.tool != "nvim_connect":
            await self._refuse_for_detached_people(action)
        for peer in list(self.attached.values()):
            await peer.approvals.wait_for_consent(action)

    async def _refuse_for_detached_people(self, action: Action) -> None:
        """Raise if a detached Neovim that still runs has a person who wants to be asked before this action.

        Nobody is asked: the wishes known from before count. Of each Neovim with such a wish it is looked whether
        it still listens at its address (half a second at most). Those of which nothing listens there any more, or
        only another user's program, are forgotten. Nothing is sent to attached Neovims.

        Raises:
            RefusedByPerson: There is such a Neovim; the error names the first one that is found.
        """
        for target, peer in list(self._detached_peers.items()):
            if not peer.approvals.requires_consent(action):
                continue
            if await discovery.look_at(target, self._context.debugger.project) is None:
                # The Neovim has ended.
                self._detached_peers.pop(target, None)
                continue
            raise RefusedByPerson(
                f"The person at the Neovim at {target}, which was detached, wants to be asked before {action.tool}.",
                f"Nothing was done; nvim_connect with target={target} attaches it again.",
            )

    def _show_assistants(self) -> None:
        """Show every person the names of the connected assistants."""
        for peer in self.attached.values():
            peer.approvals.show_assistants(self.connected_clients.names)

    def show_outcome(self, action: Action, outcome: str, *, ok: bool) -> None:
        """Show in every attached Neovim an action and its outcome; `ok` is False if it failed."""
        for peer in self.attached.values():
            peer.approvals.show_outcome(action, outcome, ok=ok)
