"""The sessions of one program: of the process that was started, and of those that it has started.

A caller who waits for a program waits for all of them: while a parent waits for its child, the child
is where the program stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from dapeer.mirror.mirror import Phase
from dapeer.sessions.session import Session


def root(session: Session) -> Session:
    """Return the session of the process that was started first."""
    while session.parent is not None:
        session = session.parent
    return session


def descendants(session: Session) -> Iterator[Session]:
    """Yield the sessions below one, each behind its parent."""
    for child in session.children:
        yield child
        yield from descendants(child)


def family(session: Session) -> list[Session]:
    """Return the sessions of the whole program, the first process's first."""
    first = root(session)
    return [first, *descendants(first)]


def alive(session: Session) -> list[Session]:
    """Return those of the program that have not ended."""
    return [each for each in family(session) if not each.over]


def runs(session: Session) -> bool:
    """Whether any process of the program has not ended; its adapter may still be there when none has."""
    return any(not each.mirror.ended for each in family(session))


def child_runs(session: Session) -> bool:
    """Whether one of a session's children has got as far as to run, or further."""
    return any(child.mirror.phase is not Phase.STARTING for child in session.children)


def acting(session: Session, *, exactly: bool) -> Session:
    """Return the session to work on when this one is meant.

    An adapter may debug even the first process in a child session. Unless it is meant `exactly`, what
    is stopped comes before what runs: a caller can look only at that.
    """
    while session.delegates and session.children:
        session = session.children[0]
    if exactly or session.mirror.stop is not None:
        return session
    stopped = [each for each in family(session) if each.mirror.stop is not None]
    return next(reversed(stopped), session)


def untold(session: Session) -> set[tuple[int, int]]:
    """Return the stops of the program's other processes that nobody has been told of."""
    stops = ((each, each.mirror.stop) for each in family(session) if each is not session)
    return {(each.id, stop.number) for each, stop in stops if stop and stop.output_shown is None}


def news(
    session: Session, epoch: int, old: AbstractSet[tuple[int, int]] = frozenset()
) -> Session | None:
    """Return the session that has something to tell to who waits for `session`, None: nothing yet.

    That is a stop of it after `epoch`; else a stop of another process that nobody has been told of,
    and is not among the `old` ones; else, when the session has ended, where the program is stopped,
    or its end.
    """
    stop = session.mirror.stop
    if stop is not None and stop.number > epoch:
        return session
    new = untold(session) - old
    if new or not session.over:
        first = min(new, default=(0, 0))[0]
        return next((each for each in family(session) if each.id == first), None)
    others = [each for each in family(session) if each.mirror.stop is not None]
    return next(iter(others), None) or _ended(session)


def _ended(session: Session) -> Session | None:
    """Return the session that tells how the program has ended, None: it has not."""
    first = root(session)
    left = alive(session)
    # A process that has replaced itself ends without a code, and goes on as a child of its own.
    return first if not left or (first.over and first.mirror.exit_code is not None) else None


def shown(session: Session) -> Session:
    """Return the session to show to who has waited for `session` in vain: a living one."""
    return session if not session.over else next(iter(alive(session)), root(session))


def notes(session: Session) -> list[str]:
    """Return what who looks at one process should know of the others of its program."""
    others = [each for each in alive(session) if each is not session]
    said = [f"session {each.id} is stopped, too" for each in others if each.mirror.stop]
    if session.over:
        said += [f"session {each.id} runs on" for each in others if not each.mirror.stop]
    return said
