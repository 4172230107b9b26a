"""The last line of defence: a child that kills what we started when we are killed ourselves."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread

_PROGRAM = Path(__file__).parent / "launchers" / "reaper.py"


class Reaper:
    """Owns one small child that holds the other end of a pipe of ours.

    However our process ends, SIGKILL included, the pipe ends too, and the child kills what is still
    being watched. It is started at the first `watch`, which does not wait until it runs.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def watch(self, pid: int) -> None:
        """Have the process, and the process group that it leads, killed when we die."""
        if self._child is None:
            self._child = _start()
        _tell(self._child, b"+%d\n" % pid)

    def forget(self, pid: int) -> None:
        """Watch the process no more; it is gone, or free."""
        if self._child is not None:
            _tell(self._child, b"-%d\n" % pid)

    async def aclose(self) -> None:
        """End the child, which kills what is still being watched. A later `watch` starts another."""
        child, self._child = self._child, None
        if child is None or child.stdin is None:
            return
        child.stdin.close()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(child.wait)


def _start() -> subprocess.Popen[bytes]:
    # A session of its own: no signal of a terminal, and no kill of our group, reaches it.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_PROGRAM)],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
        start_new_session=True,
    )


def _tell(child: subprocess.Popen[bytes], line: bytes) -> None:
    # Somebody may have killed the child; debugging goes on without it.
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.write(line)
