"""A detached server's sign of life: a file that is locked while it lives.

A command knows by it that the server was killed.

Only the standard library, and little of it: each command looks.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from dapeer.mcp.rendezvous.reaching import server_log_file, sign_of_life_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

try:
    import fcntl
except ImportError:  # Windows has no detached servers
    fcntl = None


@contextmanager
def hold_sign_of_life(project: str) -> Generator[None]:
    """Lock the file that shows the life of a project's detached server, while the body runs.

    Afterwards the file is removed, and the server's log, if that is empty; after an exception both stay, the file without a lock.
    `project` is the folder that the server works on.

    Raises:
        OSError: The runtime folder cannot be written; the body was not run.
    """
    sign = sign_of_life_file(project)
    # It gets its name when it is locked: one without a lock is of a server that was killed.
    unnamed = f"{sign}.{os.getpid()}"
    file = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        os.replace(unnamed, sign)
        yield
        with suppress(OSError):
            os.unlink(sign)
            log = server_log_file(project)
            if not os.path.getsize(log):
                os.unlink(log)
    finally:
        os.close(file)


def remove_sign_if_killed(project: str) -> bool:
    """Return whether a project's detached server was killed, and forget it: its sign of life is removed.

    So this is true only once. `project` is the folder that the server works on. False: it runs, has ended by itself, or never ran; also
    where files cannot be locked, or the file is another user's.
    """
    sign = sign_of_life_file(project)
    try:
        file = os.open(sign, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if fcntl is None or os.fstat(file).st_uid != os.getuid():
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(sign)
    except OSError:
        return False
    finally:
        os.close(file)
    return True
