"""Which session one client means when it names none: the last one that it has used."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from dapeer.base.errors import NoSession
from dapeer.base.sources import relative_to_project
from dapeer.sessions.core.process_watch import NEXT, require_unkilled
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.doings import Actor
from dapeer.view.snapshot import SnapshotReader
from dapeer.view.stacks import frame_path


class Focus:
    """The default session of one client.

    A program that has ended stays meant, so that nobody who asks for its output, or steps on, reaches
    another one that happens to be there, or ends it.
    """

    def __init__(self, debugger: Debugger, runner: Focus | None = None) -> None:
        """Have no session used yet.

        `runner` is the focus of the client that runs a script, if this is the script's.
        """
        self._debugger = debugger
        self._runner = runner
        self._heard_count = debugger.doings.count
        self._last_used: Session | None = None
        self.key = secrets.token_hex(4)
        """Tells the client from others, in what it has asked for."""
        self.reader = SnapshotReader()
        """What the client has read about stops."""
        self._started_sessions: list[Session] = []

    def doer(self, client: str) -> Actor:
        """Return this client as an `Actor`, for a record of what it does; `client` has its name and version.

        A script counts as the client that runs it.
        """
        return Actor(self._runner.key if self._runner else self.key, client)

    def take_actions_of_others(self) -> list[str]:
        """Return a line on what others have done since the last call; an empty list: nothing.

        It names breakpoints that they have set, changed or removed, and resumes and ends of the client's programs. A script always gets an
        empty list. The next call begins where this one has ended.
        """
        doings, since = self._debugger.doings, self._heard_count
        self._heard_count = doings.count
        if self._runner is not None:
            return []
        used = [*self._started_sessions, *filter(None, [self.default])]
        programs = {each.program for each in used}
        return [
            *filter(
                None, [doings.describe_others(self.key, since, programs, self._debugger.project)]
            )
        ]

    def record_start(self, session: Session) -> None:
        """Record that the client has started a program, by its first session, and make that the default."""
        self._started_sessions = [*self.own_programs, session]
        self.set_default(session)

    @property
    def own_programs(self) -> list[Session]:
        """The first sessions of the programs that the client has started, and that live; the oldest first."""
        return [each for each in self._debugger.sessions.programs if each in self._started_sessions]

    def forget_what_was_read(self) -> None:
        """Replace `reader` by a new one, so that the client is shown each fact again."""
        self.reader = SnapshotReader()

    def set_default(self, session: Session) -> None:
        """Make `session` the client's default."""
        self._last_used = session

    @property
    def last(self) -> Session | None:
        """The session of the last answer; None if the client has had none."""
        return self._last_used and self._last_used.program.session_for_tool(
            self._last_used, exactly=True
        )

    @property
    def default(self) -> Session | None:
        """The session to use when none is named; None: there is none.

        It is the one that the client has used last, even if it has ended, or one that a person has started in Neovim
        after it, once that one's program has ended. A client that has used none gets the first session of the only
        program that runs; if none or several run, `focused`: the first session of the program that was started or
        joined last.
        """
        debugger, used = self._debugger, self._last_used
        if used is not None:
            return self._started_since(used) or used
        programs = debugger.sessions.programs
        latest = debugger.sessions.focused
        if len(programs) == 1 and (latest is None or latest.program.first is not programs[0]):
            return programs[0]
        return latest

    def session_to_read(self, session_id: int | None = None) -> Session:
        """Return the session to read, by id, or without one (None) the client's default, which may have ended.

        Where a session's program is debugged as its first child, that child is returned; without an id the last
        stopped session of the same program comes before one that is not stopped. An id becomes the default.

        Raises:
            NoSession: There is no session with this id, or none at all.
        """
        if session_id is not None:
            session = self._focus_session(session_id)
            return session.program.session_for_tool(session, exactly=True)
        session = self.default
        if session is None:
            raise NoSession("There is no debug session.", "Start one with dap_run.")
        return session.program.session_for_tool(session, exactly=False)

    def session_to_act_on(self, session_id: int | None = None) -> Session:
        """Return the session to act on, by id, or without one the client's default.

        Without an id, a stopped process of the same program comes before one that runs. Where the session is
        debugged as its first child, that child is returned. The caller checks whether the session has ended:
        such a one is returned if its id is given, or if it is the default, and either its program goes on
        without a stopped process, or no program lives. The session becomes the default unless, without an id, it
        is of another program than the session used last; an id does even if an error is raised afterwards.

        Raises:
            NoSession: There is no session with this id, or none at all; or without an id the default program
                has ended, or none was used yet, while other programs live; or the default process has ended
                while another one of its program is stopped.
            NotStopped: A signal killed the session's process while it was stopped.
        """
        session = self.session_to_read(session_id)
        if session_id is None:
            self._refuse_guessing(session, also_ended=False)
        last = self.last or session
        self._refuse_ended(last if last.program is session.program else session, session)
        self.move_default(session)
        return session

    def program_to_end(self, session_id: int | None = None, *, also_ended: bool = False) -> Session:
        """Return the session to end or to start again: by id, or without one the first of the default program.

        Raises:
            NoSession: There is none; or without an id it is not clear which program is meant, or the program has ended (unless
                `also_ended`).
        """
        if session_id is not None:
            return self._focus_session(session_id)
        session = self.session_to_read().program.first
        self._refuse_guessing(session, also_ended=also_ended)
        return session

    def move_default(self, session: Session) -> None:
        """Make `session` the default, if it belongs to the default's program, or there is no default."""
        if self._last_used is None or self._last_used.program is session.program:
            self._last_used = session

    def _focus_session(self, session_id: int) -> Session:
        """Return the session with this id, and make it the default.

        Raises:
            NoSession: There is none.
        """
        self._last_used = self._debugger.sessions.require_session(session_id)
        return self._last_used

    def _started_since(self, last_used: Session) -> Session | None:
        """Return the session that a person has started in Neovim since `last_used` began; None: none.

        It is returned only if the program of `last_used` is over.
        """
        latest = self._debugger.sessions.focused
        theirs = latest is not None and latest.feed is not None and latest.id > last_used.id
        return latest if theirs and not last_used.program.is_alive else None

    def _refuse_ended(self, meant: Session, acting: Session) -> None:
        """Raise if the meant session has ended, so that `acting`, another one, would be used instead.

        Raises:
            NoSession: It has ended; the advice lists what is stopped.
            NotStopped: A signal killed it while it was stopped.
        """
        stopped = acting.program.stopped_sessions
        then = f"Stopped: {list_sessions(stopped)}. Give session_id." if stopped else NEXT
        require_unkilled(meant, then)
        if meant is not acting and meant.mirror.has_ended:
            raise NoSession(f"Session {meant.id} has ended.", then)

    def _refuse_guessing(self, session: Session, *, also_ended: bool) -> None:
        """Raise `NoSession` if it is unclear which program is meant: none was used yet, or that one has ended.

        `session` is the one that would be taken without an id. Nothing is raised if no other program lives. Nothing is
        raised either if a session was used before, and `session` has not ended, or another process of its program
        lives; with `also_ended` these may have ended, too.

        Raises:
            NoSession: It is unclear; the error lists the sessions that could be meant.
        """
        program = session.program
        if self._last_used is not None and (
            also_ended or not session.mirror.has_ended or program.is_alive
        ):
            return
        others = [each for each in self._debugger.sessions.programs if each.program is not program]
        if not others:
            return
        if not program.is_alive and not also_ended:
            what = f"Session {program.first.id} has ended."
            raise NoSession(what, f"Still there: {list_sessions(others)}. Give session_id.")
        every = sorted([program.first, *others], key=lambda each: each.id)
        raise NoSession(
            "Which session is meant?", f"There are {list_sessions(every)}. Give session_id."
        )


def list_sessions(sessions: Sequence[Session]) -> str:
    """Return a list of sessions as text, each with its id, name, state and place."""
    return ", ".join(map(_describe, sessions))


def _describe(session: Session) -> str:
    """Return a session's id, name, state and place as text.

    The text is such as `1 (app.py, stopped at app.py:3)`; without a path the place is `in FUNCTION`, and
    without a stop, or a frame of it, there is no place. A session that runs or has ended gets the state and place
    of another session of its program that is stopped, if there is one.
    """
    there = next(
        iter([session] if session.mirror.stop else session.program.stopped_sessions), session
    )
    stop = there.mirror.stop
    place = ""
    if stop is not None and stop.default_frame is not None:
        path = relative_to_project(frame_path(stop.default_frame), session.project)
        place = (
            f" at {path}:{stop.default_frame['line']}"
            if path
            else f" in {stop.default_frame['name']}"
        )
    return f"{session.id} ({session.name}, {there.mirror.phase.value}{place})"
