"""All sessions that there are, which program has the focus, and who is told of changes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import NoSession
from dapeer.base.secret_files import SecretFiles
from dapeer.collecting.row_files import RowFolders
from dapeer.collecting.rows import collected
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.requests import ENDS, RESUMES
from dapeer.dap.types import Source
from dapeer.mirror.frames import Frames
from dapeer.sessions.core.program import Program
from dapeer.sessions.core.session import Session, SessionContext
from dapeer.sessions.doings import PERSON, Doings
from dapeer.view.stacks import path_of

# Which files an assistant may read here: the project's, the programs' and their libraries'.

_OF_THE_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Folders in which the system shows processes and devices; their files are never allowed."""


class Files:
    """Tells which files may be read unasked: those of the project, and those that sessions have loaded."""

    def __init__(
        self, project: Path, sessions: Mapping[int, Session], library_frames: Iterable[Frames] = ()
    ) -> None:
        """Allow the files of `project`, and of what `sessions` have loaded.

        `library_frames` tells where libraries are.

        `sessions` is read at each question, and ended ones count as long as they are in it. `library_frames` counts only in
        `path_needing_consent`.
        """
        self._library_frames = tuple(library_frames)
        self.secret = SecretFiles()
        self._sessions = sessions
        self.folders: set[Path] = set()
        """Folders whose files may be read, with links resolved."""
        self.add(project)

    def add(self, folder: Path) -> None:
        """Allow the files below a folder; the root folder and a home are ignored, as they are no projects."""
        real = Path(os.path.realpath(folder))
        if _is_project(real):
            self.folders.add(real)

    def allows(self, path: str) -> bool:
        """Return whether a file may be read without a person's consent; a link counts as its target.

        That is so below the allowed folders, in libraries of the sessions, and for sources and modules that they have reported. It never is
        for the system's own files about processes and devices. Whether the file may hold secrets is another question (`shows`).
        """
        real = Path(os.path.realpath(path))
        if any(real.is_relative_to(system) for system in _OF_THE_SYSTEM):
            return False
        return (
            any(real.is_relative_to(folder) for folder in self.folders)
            or any(session.frames.is_librarys(str(real)) for session in self._sessions.values())
            or any(os.path.realpath(known) == str(real) for known in {*self._paths()})
        )

    def path_needing_consent(self, filename: str, folder: str) -> str:
        """Return the real path of a file that may be read only with consent; empty: any other, or no file.

        Consent is not needed in the working folder `folder`, unless it is the home or the root folder, nor in
        the libraries and the allowed folders, nor for files that sessions have reported. Files that may hold
        secrets give an empty text, too, since they are rejected elsewhere. `filename` is a path, relative to
        `folder` or with `~`, or a `file://` URI.
        """
        path = os.path.join(folder, os.path.expanduser(path_of(filename)))
        # Files that may hold secrets are rejected anyway.
        if not os.path.isfile(path) or self.secret.hides(path):
            return ""
        real, here = (Path(os.path.realpath(each)) for each in (path, folder))
        inside = _is_project(here) and real.is_relative_to(here)
        known = inside or self.allows(str(real))
        known = known or any(each.is_librarys(str(real)) for each in self._library_frames)
        return "" if known else str(real)

    def shows(self, path: str) -> bool:
        """Return whether a line of a file may be shown without consent: it is allowed, and holds no secrets."""
        return self.allows(path) and not self.secret.hides(path)

    def path_of(self, reference: int) -> str:
        """Return the path that an adapter gives to a source with this `sourceReference`.

        Empty if it gives none.
        """
        found = (each for each in self._sources() if each.get("sourceReference") == reference)
        return next(filter(None, (each.get("path") for each in found)), "")

    def _paths(self) -> Iterator[str]:
        """Yield the paths of the sources and modules that all sessions know, with repetitions.

        The sources are those that were reported as loaded, and those of the known frames of all stops. A source
        or module without a path is left out.
        """
        for source in self._sources():
            if path := source.get("path"):
                yield path
        for session in self._sessions.values():
            for module in session.mirror.loaded_sources.modules.values():
                if module.get("path"):
                    yield str(module["path"])

    def _sources(self) -> Iterator[Source]:
        """Yield all sources that the sessions have reported as loaded, or in a frame of a stop."""
        for session in self._sessions.values():
            yield from session.mirror.loaded_sources.sources.values()
            for stop in session.mirror.history:
                for frames in stop.stack.frames.values():
                    yield from (frame.get("source", Source()) for frame in frames)


def _is_project(real: Path) -> bool:
    """Return whether a real path may be a project: it is neither the root folder nor the home."""
    # A home need not be known.
    return str(real) not in ("/", os.path.realpath(os.path.expanduser("~")))


KEPT_PROGRAMS = 20
"""Ended programs that stay readable, each with all its processes."""
STATE_EVENTS = frozenset({"stopped", "continued", "exited", "terminated", "process"})

Restart = Callable[[], Awaitable[Session]]
"""Ends a session, if it has not ended, and starts the same again."""

ChangeKind = Literal["sessions", "capabilities", "state", "output"]


class SessionChange(NamedTuple):
    """Something of a session is different now."""

    kind: ChangeKind
    """What has changed.

    `sessions`: one started or ended; `capabilities`: its adapter has sent its capabilities; `state`: it stopped,
    resumed or ended; `output`: it printed.
    """
    session_id: int


class Sessions(Mapping[int, Session]):
    """The sessions by id, the oldest first; ended ones stay for a while."""

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        project: Path,
        doings: Doings,
        rows: RowFolders | None = None,
    ) -> None:
        """Hold no sessions yet; `doings` records who resumes or ends a program.

        `rows`: the folders into which programs write what they collect; None: they write nothing.
        """
        self._doings = doings
        self._definitions = definitions
        self._project = project
        self._rows = rows
        known = (each.stopping.frames(project) for each in definitions.values())
        self.files = Files(project, self, known)
        self.focused: Session | None = None
        """The first session of the last program started or joined: the default of a client that used none."""
        self._by_id: dict[int, Session] = {}
        self._live_sessions: dict[int, Session] = {}
        self._ended_programs: list[Program[Session]] = []
        """The programs that have ended, the last one last."""
        self._restarts: dict[int, Restart] = {}
        self._ids = itertools.count(1)
        self._listeners: list[Callable[[SessionChange], None]] = []

    def __getitem__(self, session_id: int) -> Session:
        """Return a session.

        Raises:
            KeyError: There is none of this number.
        """
        return self._by_id[session_id]

    def __iter__(self) -> Iterator[int]:
        """Yield the ids."""
        return iter(self._by_id)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_id)

    def require_session(self, session_id: int) -> Session:
        """Return the session with this id.

        Raises:
            NoSession: There is no session with this id.
        """
        session = self._by_id.get(session_id)
        if session is None:
            known = ", ".join(map(str, self._by_id)) or "none"
            raise NoSession(f"There is no session {session_id}.", f"Sessions: {known}.")
        return session

    @property
    def held(self) -> Mapping[int, Session]:
        """The sessions by id that have not ended, or whose end was not recorded yet."""
        return self._live_sessions

    @property
    def live(self) -> list[Session]:
        """The sessions whose programs have not ended, the oldest first."""
        return [each for each in self._by_id.values() if not each.mirror.has_ended]

    @property
    def programs(self) -> list[Session]:
        """The first session of each program of which any process lives, the oldest first."""
        first = dict.fromkeys(each.program.first for each in self._live_sessions.values())
        return [each for each in first if each.program.is_alive]

    def supported(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of `names` (requests, or options of requests) that some live session supports."""
        # Every message of an adapter comes after its capabilities.
        capable = [each for each in self._by_id.values() if each.mirror.capabilities]
        return frozenset(each for each in names if any(s.has_now(each) for s in capable))

    def restart_of(self, session: Session) -> Restart | None:
        """Return the function that starts a session's program again, if it was added or `set_restart` had one."""
        return self._restarts.get(session.id)

    def set_restart(self, session: Session, restart: Restart) -> None:
        """Have `restart` start the program of a session again; nothing happens once the session is dropped."""
        if session.id in self._by_id:
            self._restarts[session.id] = restart

    def focus_on(self, session: Session | None) -> None:
        """Set `focused`, the default session of clients that have used none."""
        self.focused = session

    # -- those that come and go

    def next_context(self) -> SessionContext:
        """Return the context for a new session, with the next free id."""
        secret = self.files.secret
        return SessionContext(next(self._ids), self._project, self._definitions, secret, self._rows)

    def add(self, session: Session, *, focus: bool, restart: Restart | None = None) -> None:
        """Register a session as live, listen to its program's messages, and notify the listeners.

        The program's messages are subscribed to with its first session alone. With `focus` the session becomes
        `focused`. `restart` is the function that starts its program again, for a session that another client, such
        as a Neovim, holds; None: there is none, and a session that dapeer itself has started is started again by
        its plan.
        """
        self._by_id[session.id] = self._live_sessions[session.id] = session
        if restart is not None:
            self._restarts[session.id] = restart
        if session is session.program.first:
            session.program.subscribe(self._on_message)
        if focus:
            self.focus_on(session)
        self._notify("sessions", session)

    def mark_ended(self, session: Session, *, failed: bool) -> None:
        """Move a session from the live ones to the ended ones, which stay readable, and notify the listeners.

        With `failed` it never ran, so it is dropped at once. Of programs that have ended the last `KEPT_PROGRAMS` are kept, and
        the rows of those that ended first are dropped if all have too many.

        Raises:
            KeyError: The session is not live; nothing has changed.
        """
        del self._live_sessions[session.id]
        if failed:
            session.program.remove(session)
            self._remove_sessions([session])
        over = [each for each in self._ended_programs if each is not session.program] + [
            session.program
        ]
        over = [each for each in over if self._is_over(each)]
        for program in over[:-KEPT_PROGRAMS]:
            self._remove_sessions(program.sessions)
        self._ended_programs = over[-KEPT_PROGRAMS:]
        collected.drop_oldest_rows([each.collected for each in self._ended_programs])
        self._notify("sessions", session)

    def drop_program(self, session_id: int) -> None:
        """Drop all sessions of an ended program, by the id of one of them, and notify the listeners.

        Raises:
            NoSession: There is no session with this id.
        """
        first = self.require_session(session_id)
        self._remove_sessions(first.program.sessions)
        self._ended_programs = [each for each in self._ended_programs if each is not first.program]
        self._notify("sessions", first)

    def _is_over(self, program: Program[Session]) -> bool:
        """Return whether a program is known, and none of its sessions is live."""
        ids = {each.id for each in program.sessions}
        return bool(ids & self._by_id.keys()) and not ids & self._live_sessions.keys()

    def _remove_sessions(self, sessions: Iterable[Session]) -> None:
        """Remove sessions from the known ones; they cannot be looked up any more.

        If `focused` is one of them, the newest of the remaining sessions becomes that (None without any).
        """
        for dropped in sessions:
            self._by_id.pop(dropped.id, None)
            self._restarts.pop(dropped.id, None)
        if self.focused is not None and self.focused.id not in self._by_id:
            self.focused = next(reversed(self._by_id.values()), None)

    # -- changes

    def subscribe(self, listener: Callable[[SessionChange], None]) -> Callable[[], None]:
        """Register `listener` for every change; return a function that removes it.

        The listener is called for each `SessionChange` when it happens, in the task that has caused it, and must neither block nor raise.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _notify(self, kind: ChangeKind, session: Session) -> None:
        """Call all listeners with a change of this kind of the session."""
        for listener in self._listeners:
            listener(SessionChange(kind, session.id))

    def _on_message(self, session: Session, message: Message) -> None:
        """Notify the listeners of what a message changes; record in `doings` who resumes or ends a program.

        Output notifies for each session of the program, the others for `session` alone: `capabilities` at an
        `initialize` response or `capabilities` event, `state` at an event in `STATE_EVENTS` or a request in
        `RESUMES` or `ENDS`. A tool's resume is recorded within `acting_as` only, an end only if the person's client
        in Neovim has requested it; ends by tools are recorded elsewhere. Other messages do nothing.
        """
        match message:
            case Event(event="output"):
                for each in session.program.sessions:
                    self._notify("output", each)
            case Response(command="initialize") | Event(event="capabilities"):
                self._notify("capabilities", session)
            case Event(event=name) if name in STATE_EVENTS:
                self._notify("state", session)
            case Request(seq=seq, command=command) if command in RESUMES or command in ENDS:
                self._notify("state", session)
                self._record(session, seq, command)
            case _:
                pass

    def _record(self, session: Session, seq: int, command: str) -> None:
        """Record who has sent a request that resumes or ends a program, in `_doings`.

        `seq` and `command` are the request's. A `seq` of 0 or more is that of a tool's request, recorded only
        if it resumes, and only within `acting_as`: ends by tools are recorded elsewhere. A negative `seq` is
        that of a request by the person's client in Neovim, recorded with the program's first session; it is not
        recorded while a journal of earlier messages is read.

        Raises:
            KeyError: A negative `seq` comes with a command that neither resumes nor ends.
        """
        if seq >= 0:
            if command in RESUMES:
                self._doings.record_move(command, session.id, session.program)
        elif session.is_current:
            with self._doings.acting_as(PERSON):
                self._doings.record_move(command, session.program.first.id, session.program)


# Groups of programs that were started together, and the processes of one program: each has a name.


MAX_LISTED_GROUPS = 10
"""Groups that an error lists."""


@dataclass(frozen=True, slots=True)
class Group:
    """Several sessions with one name."""

    name: str
    members: Mapping[str, Session]
    """By their labels: what they were started as, or their numbers."""
    stop_all: bool = False
    """The end of one ends all."""

    @property
    def lives(self) -> bool:
        """Whether any of its sessions has not ended."""
        return any(not each.is_over for each in self.members.values())

    def session_for_tool(self, label: str) -> Session:
        """Return the session on which a tool works when the member `label` is meant.

        That may be a child session. If the program has only this member in the group, a stopped process of it comes first.
        """
        member = self.members[label]
        exactly = sum(each.program is member.program for each in self.members.values()) > 1
        return member.program.session_for_tool(member, exactly=exactly)


class Groups:
    """The groups that there are: those of starts, and programs of several processes."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._started_groups: dict[str, Group] = {}

    def add(self, name: str, members: Mapping[str, Session], *, stop_all: bool = False) -> Group:
        """Make and keep a group of the sessions in `members`, which are listed by label; return the group.

        A number is appended to `name` if a group, or a program with several processes, has this name already; the
        result's `name` is the one in use. `stop_all` means that the end of one member is to end all. Groups whose
        sessions are all forgotten are dropped.
        """
        self._drop_unknown_groups()
        taken = {*self._started_groups, *(each.name for each in self._processes())}
        free = next(
            each for n in range(1, len(taken) + 2) if (each := _numbered(name, n)) not in taken
        )
        group = self._started_groups[free] = Group(free, members, stop_all)
        return group

    @property
    def all(self) -> Sequence[Group]:
        """Every group: those that were started together first, then programs with several processes."""
        self._drop_unknown_groups()
        return [*self._started_groups.values(), *self._processes()]

    def require_group(self, name: str) -> Group:
        """Return the group of a name.

        Raises:
            NoSession: There is none.
        """
        every = self.all
        for each in every:
            if each.name == name:
                return each
        listed = ", ".join(each.name for each in every[:MAX_LISTED_GROUPS]) or "none"
        raise NoSession(f"There is no group {name!r}.", f"Groups: {listed}.")

    def _processes(self) -> list[Group]:
        """Return a group for each living program that has several debugged processes.

        Its labels are the session ids. Its name is that of the program's first session, with that session's id behind
        it if a started group or an earlier one of these has the name already.
        """
        groups: list[Group] = []
        for first in self._sessions.programs:
            debugged = first.program.debugged
            if len(debugged) > 1:
                members = {str(each.id): each for each in debugged}
                names = {each.name for each in groups} | {*self._started_groups}
                name = first.name if first.name not in names else f"{first.name} {first.id}"
                groups.append(Group(name, members))
        return groups

    def _drop_unknown_groups(self) -> None:
        """Drop groups none of whose sessions is known to the registry any more."""
        known = {*self._sessions.values()}
        self._started_groups = {
            name: each
            for name, each in self._started_groups.items()
            if not known.isdisjoint(each.members.values())
        }


def _numbered(name: str, number: int) -> str:
    """Return a group's name with a number, which 1 leaves out."""
    return name if number == 1 else f"{name} {number}"
