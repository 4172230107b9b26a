"""Which session one client means when it names none: the last one that it has used."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from dapeer.base.errors import NoSession
from dapeer.base.sources import relative
from dapeer.sessions.core.process_watch import NEXT, require_unkilled
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.doings import Doer
from dapeer.view.brief import Reader
from dapeer.view.stacks import frame_path


class Focus:
    """The default session of one client.

    A program that has ended stays meant, so that nobody who asks for its output, or steps on, reaches
    another one that happens to be there, or ends it.
    """

    def __init__(self, debugger: Debugger, runner: Focus | None = None) -> None:
        """`runner`: that of the client that runs a script, where this is the script's."""
        self._debugger = debugger
        self._runner = runner
        self._heard = debugger.doings.count
        self._used: Session | None = None
        self.key = secrets.token_hex(4)
        """Tells the client from others, in what it has asked for."""
        self.reader = Reader()
        """What the client has read about stops."""
        self._started: list[Session] = []

    def doer(self, client: str) -> Doer:
        """Return who does what is done at a call; `client` has its name and version."""
        return Doer(self._runner.key if self._runner else self.key, client)

    def hear(self) -> list[str]:
        """Return a line on what others have done since this was asked last; a script hears of nothing."""
        doings, since = self._debugger.doings, self._heard
        self._heard = doings.count
        if self._runner is not None:
            return []
        used = [*self._started, *filter(None, [self.default])]
        programs = {each.program for each in used}
        return [*filter(None, [doings.news(self.key, since, programs, self._debugger.project)])]

    def started(self, session: Session) -> None:
        """Take note that the client has started a program, and works on it."""
        self._started = [*self.own, session]
        self.use(session)

    @property
    def own(self) -> list[Session]:
        """The first sessions of the programs that the client has started, and that live; the oldest first."""
        return [each for each in self._debugger.sessions.programs if each in self._started]

    def forget_what_was_read(self) -> None:
        """Show the client each fact again, as if it had read nothing."""
        self.reader = Reader()

    def use(self, session: Session) -> None:
        """Take note that the client works on a session."""
        self._used = session

    @property
    def last(self) -> Session | None:
        """The session of the last answer; None if the client has had none."""
        return self._used and self._used.program.acting(self._used, exactly=True)

    @property
    def default(self) -> Session | None:
        """The session to use when none is named; None if there is none."""
        debugger, used = self._debugger, self._used
        if used is not None:
            return self._started_since(used) or used
        programs = debugger.sessions.programs
        latest = debugger.sessions.focused
        if len(programs) == 1 and (latest is None or latest.program.first is not programs[0]):
            return programs[0]
        return latest

    def look(self, session_id: int | None = None) -> Session:
        """Return the session to look at, by id; default the one used last, though it may have ended.

        Raises:
            NoSession: There is none.
        """
        if session_id is not None:
            session = self._named(session_id)
            return session.program.acting(session, exactly=True)
        session = self.default
        if session is None:
            raise NoSession("There is no debug session.", "Start one with dap_run.")
        return session.program.acting(session, exactly=False)

    def session(self, session_id: int | None = None) -> Session:
        """Return the session by id; by default the last used one, or another stopped process while it runs.

        Raises:
            NoSession: There is none; or the default has ended, or no session was used, and there are several.
        """
        session = self.look(session_id)
        if session_id is None:
            self._refuse_guessing(session, also_ended=False)
        last = self.last or session
        self._refuse_ended(last if last.program is session.program else session, session)
        self.follow(session)
        return session

    def whole(self, session_id: int | None = None, *, also_ended: bool = False) -> Session:
        """Return the session to end or to start again, by id; default that of the whole program used last.

        Raises:
            NoSession: As `session`; unless it may have ended as well.
        """
        if session_id is not None:
            return self._named(session_id)
        session = self.look().program.first
        self._refuse_guessing(session, also_ended=also_ended)
        return session

    def follow(self, session: Session) -> None:
        """Make this session the default: it was shown."""
        if self._used is None or self._used.program is session.program:
            self._used = session

    def _named(self, session_id: int) -> Session:
        self._used = self._debugger.sessions.named(session_id)
        return self._used

    def _started_since(self, used: Session) -> Session | None:
        """Return the session that a person has started in their editor after the used one's end."""
        latest = self._debugger.sessions.focused
        theirs = latest is not None and latest.feed is not None and latest.id > used.id
        return latest if theirs and not used.program.runs else None

    def _refuse_ended(self, meant: Session, acting: Session) -> None:
        """Refuse to act on a process in place of the one that is meant, which has ended."""
        stopped = acting.program.stopped
        then = f"Stopped: {listed(stopped)}. Give session_id." if stopped else NEXT
        require_unkilled(meant, then)
        if meant is not acting and meant.mirror.ended:
            raise NoSession(f"Session {meant.id} has ended.", then)

    def _refuse_guessing(self, session: Session, *, also_ended: bool) -> None:
        program = session.program
        if self._used is not None and (also_ended or not session.mirror.ended or program.runs):
            return
        others = [each for each in self._debugger.sessions.programs if each.program is not program]
        if not others:
            return
        if not program.runs and not also_ended:
            what = f"Session {program.first.id} has ended."
            raise NoSession(what, f"Still there: {listed(others)}. Give session_id.")
        every = sorted([program.first, *others], key=lambda each: each.id)
        raise NoSession("Which session is meant?", f"There are {listed(every)}. Give session_id.")


def listed(sessions: Sequence[Session]) -> str:
    """Say which sessions these are, each with its id, state and place."""
    return ", ".join(map(_described, sessions))


def _described(session: Session) -> str:
    """Say which session it is, and where it is stopped; a process that runs, where its program is."""
    there = next(iter([session] if session.mirror.stop else session.program.stopped), session)
    stop = there.mirror.stop
    place = ""
    if stop is not None and stop.top is not None:
        path = relative(frame_path(stop.top), session.project)
        place = f" at {path}:{stop.top['line']}" if path else f" in {stop.top['name']}"
    return f"{session.id} ({session.name}, {there.mirror.phase.value}{place})"
