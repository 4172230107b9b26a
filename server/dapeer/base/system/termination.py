"""SIGTERM and SIGINT end this process, whatever its first thread does. Standard library only.

A bridge needs this, too.

An exception that the handler of a signal raises is lost where Python ignores exceptions, as in a finalizer or in a
callback of an import. A handler is not even called while the first thread is in a system call that began just after
the signal. So another thread waits for the signals.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from typing import Final

SECONDS_OF_A_HANG: Final = 4
"""Seconds after which a process ends whose client has gone, whatever still hangs in it."""
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)
_removed = set[str]()


def end_at_signals() -> None:
    """Have SIGTERM and SIGINT end this process with code 0 at once, whatever its first thread does.

    Call this in the main thread. It starts a daemon thread, and sets handlers for both signals and Python's wakeup
    descriptor. If another Python function is set later as a handler of these signals, they still end the process.
    They no longer do so once another wakeup descriptor is set, as asyncio's `add_signal_handler` does, or a signal
    is set to be ignored. Before the process ends by a signal, the files of `removing` are removed; no other
    clean-up is run.
    """
    signalled, signals = os.pipe()
    os.set_blocking(signals, False)
    threading.Thread(target=_end, args=(signalled,), name="signals", daemon=True).start()
    signal.set_wakeup_fd(signals)
    for number in _ENDING:
        signal.signal(number, _go_on)


@contextmanager
def removing(path: Path) -> Generator[None]:
    """Remove a file after the body, or when a signal of `end_at_signals` ends this process meanwhile.

    The file need not be there, neither before the body nor after it. At any other sudden end of the process it
    stays.

    Raises:
        OSError: The file cannot be removed.
    """
    _removed.add(str(path))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        _removed.discard(str(path))


def _end(signalled: int) -> None:
    """Wait for SIGTERM or SIGINT, remove the files of `removing`, and exit with code 0; never return.

    `signalled` is the descriptor of the end of a pipe that is read. Python writes to the pipe the number of
    each signal that has a handler; numbers of other signals are ignored. The wait has no limit, and is meant
    for a thread of its own. A file that cannot be removed stays, and no other clean-up of the process is run.
    """
    while os.read(signalled, 1)[0] not in _ENDING:
        pass
    for path in tuple(_removed):
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - pathlib is slow to import
    os._exit(0)


def _go_on(_number: int, _frame: object) -> None:
    """Let the other thread end this process."""
