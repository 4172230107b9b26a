"""Which processes a test has started, and whether they are gone."""

import asyncio
import contextlib
import os
import resource
import select
import signal
from collections.abc import Iterator
from pathlib import Path

LIMIT = 120
"""Seconds after which a test has failed. It bounds, it measures nothing."""

_FILES = "/proc/self/fd"

MARK = "DAPEER_TEST"
"""Variable that every process inherits from the test that, directly or not, started it."""


def processes_of(mark: str, variable: str = MARK) -> list[int]:
    """Return the living processes that inherited this value, wherever their parent is."""
    needle = f"{variable}={mark}".encode()
    # A zombie's environment is empty. Every test looks here, so nothing else is read.
    return [pid for pid in _numbers() if needle in _environment(pid)]


def descendants(pid: int) -> list[int]:
    """Return the living processes below a process."""
    children: dict[int, list[int]] = {}
    for other in _pids():
        children.setdefault(_parent(other), []).append(other)
    found = children.get(pid, []).copy()
    for child in found:
        found.extend(children.get(child, []))
    return found


def age_order(pid: int) -> int:
    """Return when a process was started, in clock ticks since boot. Numbers do not tell: they begin anew at some time.

    Source: proc_pid_stat(5), field 22.
    """
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[19]) if fields else 0


def command_line(pid: int) -> str:
    """Return a process's arguments, or nothing when it is gone."""
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()


async def process_gone(pid: int, seconds: float = LIMIT) -> None:
    """Wait until a process has ended; a zombie has.

    Raises:
        TimeoutError: It has not ended in time.
    """
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(file, ended.set)
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    finally:
        loop.remove_reader(file)
        os.close(file)


def reaped() -> int:
    """Return a number that grows with each child of this process that has ended and been waited for."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def none_since(before: int) -> bool:
    """Whether this process has started none since `reaped` returned that, and has no child from before.

    What a child starts may outlive it; but the child itself is alive, or has been waited for. Most tests start none, so it is not worth
    their while to look at all processes.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return reaped() == before
    return False


def open_ends() -> set[str]:
    """Return what sockets and pipes this process has open; where there is no /proc, nothing."""
    found: set[str] = set()
    for name in os.listdir(_FILES) if os.path.isdir(_FILES) else ():  # noqa: PTH112, PTH208 - the quick way
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"{_FILES}/{name}"))  # noqa: PTH115 - the quick way
    return {each for each in found if each.startswith(("socket:", "pipe:"))}


def left_behind(mark: str, seconds: float, variable: str = MARK) -> list[str]:
    """Return the commands of the processes of a test that do not end in time; end them."""
    left: list[str] = []
    for pid in processes_of(mark, variable):
        command = command_line(pid)
        if command and not _ends(pid, seconds):
            left.append(f"{pid}: {command}")
            _kill(pid)
    return left


def _ends(pid: int, seconds: float) -> bool:
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([file], [], [], seconds)[0])
    finally:
        os.close(file)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _pids() -> Iterator[int]:
    """Yield the processes that are alive, zombies left out."""
    for pid in _numbers():
        if _state(pid) not in ("Z", "X", ""):
            yield pid


def _numbers() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - the quick way


def _state(pid: int) -> str:
    return next(iter(_status(pid)), "")


def _parent(pid: int) -> int:
    status = _status(pid)
    return int(status[1]) if len(status) > 1 else 0


def _status(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat that follow the name, state and parent first."""
    return _read(pid, "stat").rpartition(b")")[2].decode().split()


def _environment(pid: int) -> list[bytes]:
    return _read(pid, "environ").split(b"\0")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
