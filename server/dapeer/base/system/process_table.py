"""Facts about processes: reads `/proc` and control groups, without which nothing is known.

Nothing else reads these, apart from `ownership`'s tables and the companions.

Without that folder, nothing is known.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_TABLE = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")
_PTRACE_SCOPE = _TABLE / "sys/kernel/yama/ptrace_scope"
ENOUGH_TASKS = 32
"""Processes and threads; debugpy and its program have about twenty."""
_ENDED: tuple[list[bytes], ...] = ([], [b"Z"], [b"X"])
"""States of a process that has ended."""


def ptrace_scope(file: Path = _PTRACE_SCOPE) -> int:
    """Return Linux's `ptrace_scope`, by which processes may be attached to; 0 if the file is missing.

    0: a user's own processes; 1: only own child processes; 2: only by an administrator; 3: none at all. Source:
    Documentation/admin-guide/LSM/Yama.rst of Linux.
    """
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return 0


def is_running(pid: int) -> bool:
    """Return whether there is a process with this id, of any user; a zombie does not count.

    `pid` must be above 0. The result is False for a number too large for an id. Where the system has no `/proc`, a
    zombie counts.
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it is another user's
    return not status(pid).get("State", "").startswith("Z")


def status(task: int | str) -> Mapping[str, str]:
    """Return the fields of a task's `status` file in `/proc`, by name; empty if it ended, or if unknown.

    `task` is a process id, or `PID/task/TID` for a thread.
    """
    try:
        lines = (_TABLE / str(task) / "status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def stat_fields(task: int | str) -> list[bytes]:
    """Return the fields of a task's `stat` file in `/proc` from its state on; empty if ended or unknown.

    `task` is a process id, or `PID/task/TID` for a thread. The names of the fields are in proc_pid_stat(5): state, parent, group,
    session, …
    """
    try:
        # The name, in parentheses, may hold anything.
        return (_TABLE / str(task) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def is_living(task: int | str) -> bool:
    """Return whether a process or a thread (`PID/task/TID`) has not ended; False if unknown."""
    return stat_fields(task)[:1] not in _ENDED


def start_ticks(pid: int) -> int:
    """Return when a living process was started, in clock ticks since boot; 0: it has ended, or unknown."""
    fields = stat_fields(pid)
    return 0 if fields[:1] in _ENDED else int(fields[19])


def cpu_seconds(pid: int) -> float | None:
    """Return how much processor time a process has used, in seconds; None if it has ended, or if unknown."""
    fields = stat_fields(pid)
    ticks = os.sysconf("SC_CLK_TCK")
    return None if fields[:1] in _ENDED else (int(fields[11]) + int(fields[12])) / ticks


def thread_ids(pid: int) -> list[int]:
    """Return the ids of a process's threads; empty if it has ended, or if unknown."""
    return _numbers(_TABLE / str(pid) / "task")


def is_computing(pid: int) -> bool:
    """Return whether a thread of a process is running, or ready to run, at this moment."""
    return any(stat_fields(f"{pid}/task/{each}")[:1] == [b"R"] for each in thread_ids(pid))


def is_held(pid: int) -> bool:
    """Return whether a process is stopped by a signal such as SIGSTOP."""
    return stat_fields(pid)[:1] == [b"T"]


def executable(pid: int) -> str:
    """Return the path of a process's executable; empty if unknown."""
    return _target(_TABLE / str(pid) / "exe").removesuffix(" (deleted)")


def program_file(pid: int) -> str:
    """Return the path in `/proc` at which a process's executable can be read, even if it was deleted.

    It may also lie in a container. Whether the process exists is not checked.
    """
    return str(_TABLE / str(pid) / "exe")


def working_directory(pid: int) -> str:
    """Return the working directory of a process; empty if unknown."""
    return _target(_TABLE / str(pid) / "cwd")


def open_files(pid: int) -> list[str]:
    """Return what a process's open descriptors lead to, such as paths and `socket:[INODE]`.

    The list is empty if the system does not let dapeer see them.
    """
    folder = _TABLE / str(pid) / "fd"
    return [_target(folder / str(number)) for number in _numbers(folder)]


def sockets(pid: int) -> dict[int, int]:
    """Return a dictionary from the inode of each open socket of a process to its file descriptor there.

    The sockets are read from Linux's `/proc`. Of several descriptors of one socket the dictionary has one. It
    is empty if the process `pid` has gone, or if the system does not let dapeer see its descriptors.
    """
    folder = _TABLE / str(pid) / "fd"
    targets = {number: _target(folder / str(number)) for number in _numbers(folder)}
    return {
        int(target[len("socket:[") : -1]): number
        for number, target in targets.items()
        if target.startswith("socket:[")
    }


def command_line(pid: int) -> str:
    """Return the command line of a process, its words separated by spaces; empty if unknown."""
    try:
        words = (_TABLE / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    return words.replace("\0", " ").strip()


def processes() -> list[int]:
    """Return the ids of all processes of this machine; empty without `/proc`."""
    return _numbers(_TABLE)


def posix_session_of(pid: int) -> int | None:
    """Return the id of a living process's POSIX session; None if it has ended, or if unknown."""
    fields = _living(pid)
    if fields:
        return int(fields[3])
    if not (_TABLE / "self").exists():
        with contextlib.suppress(OSError):
            return os.getsid(pid)
    return None


def session_members(session: int) -> list[int]:
    """Return the ids of the living processes in a POSIX session; empty if unknown."""
    return [pid for pid in processes() if posix_session_of(pid) == session]


def descendants(pid: int) -> dict[int, int]:
    """Return the ids of a process's living descendants, each with its parent's id.

    It reads the system's table of processes. The dict is empty if there are no descendants or no such
    process, if the system has no such table, or if `pid` is below 1: 0 is no process, but what the system
    calls the parent of its first ones.
    """
    if pid < 1:
        return {}
    parents = {each: int(fields[1]) for each in processes() if (fields := _living(each))}
    found = {pid}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return {each: parents[each] for each in found - {pid}}


def ancestors(pid: int) -> Iterator[int]:
    """Yield the id of a process's parent, then of that one's parent, and so on, as long as they live."""
    seen: set[int] = set()
    while pid not in seen and (fields := _living(pid)):
        seen.add(pid)
        pid = int(fields[1])
        yield pid


def has_in_environment(pid: int, variable: str) -> bool:
    """Return whether a process was started with `NAME=value` in its environment; False if unknown."""
    try:
        return variable.encode() in (_TABLE / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def tracer(pid: int) -> int:
    """Return the id of the process that traces a process, as debuggers do; 0 if none does, or if unknown."""
    return int(status(pid).get("TracerPid") or 0)


def pending_signals(pid: int) -> int:
    """Return the bit mask of signals that were sent to a process or its threads and not delivered yet.

    Bit `N - 1` stands for signal N; 0 also if unknown.
    """
    mask = 0
    for fields in (status(f"{pid}/task/{each}") for each in thread_ids(pid)):
        mask |= int(fields.get("SigPnd") or "0", 16) | int(fields.get("ShdPnd") or "0", 16)
    return mask


def lack_of_tasks() -> str:
    """Return a sentence that this user can start only few more processes and threads; else empty.

    The room is the least of what the user's limit, which does not count for root, and the control groups allow,
    and "few" is less than `ENOUGH_TASKS`. Not for Windows, where it raises `ImportError`.
    """
    import resource  # noqa: PLC0415 - Windows has none, and loads this module

    rooms = [*_rooms_of_groups()]
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    # It does not hold for root.
    if limit != resource.RLIM_INFINITY and os.geteuid():
        tasks = (
            _TABLE / f"{pid}/task/{each}" for pid in _numbers(_TABLE) for each in thread_ids(pid)
        )
        rooms.append(limit - sum(map(_is_own, tasks)))
    room = max(min(rooms, default=ENOUGH_TASKS), 0)
    return (
        ""
        if room >= ENOUGH_TASKS
        else f"There is room for only {room} more processes and threads: raise the limit (`ulimit -u`, or `pids.max` of a container)."
    )


def _rooms_of_groups() -> Iterator[int]:
    """Yield how many more tasks each control group that this process is in, or around it, may have.

    A group without a limit, or that cannot be read, yields nothing; one that is over its limit a negative number.
    """
    with contextlib.suppress(OSError):
        for line in (_TABLE / "self/cgroup").read_text("utf-8", "replace").splitlines():
            _, kinds, path = line.split(":", 2)
            root = _GROUPS / kinds
            if kinds not in {"", "pids"}:
                continue
            for folder in (root / path[1:], *(root / path[1:]).parents):
                with contextlib.suppress(OSError, ValueError):
                    most = int((folder / "pids.max").read_text("ascii"))
                    yield most - int((folder / "pids.current").read_text("ascii"))


def _is_own(task: Path) -> bool:
    """Return whether a task, by its folder in `/proc`, belongs to dapeer's user."""
    with contextlib.suppress(OSError):
        return task.stat().st_uid == os.geteuid()
    return False


def _living(pid: int) -> list[bytes]:
    """Return state, parent, group and session of a living process; empty if it has ended."""
    fields = stat_fields(pid)[:4]
    return [] if fields[:1] in _ENDED else fields


def _numbers(folder: Path) -> list[int]:
    """Return the names in a folder that are numbers; empty if it cannot be read."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208 - there are many
    except OSError:
        return []


def _target(link: Path) -> str:
    """Return what a symbolic link leads to; empty if it cannot be read."""
    try:
        return os.readlink(link)  # noqa: PTH115 - it may be no path
    except OSError:
        return ""
