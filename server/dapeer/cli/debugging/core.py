"""Connects a command to the server of its project, which it starts if none runs; or ends that server.

Only the standard library, and little of it, unless a server is started: each command waits for this.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from dapeer.base.system.stderr import say
from dapeer.mcp.data_extension import COMMAND, END
from dapeer.mcp.rendezvous import reaching
from dapeer.scripting.wire import Connection, ServerGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from dapeer.mcp.rendezvous.reaching import Announcement, ReachedServer

NAME: Final = "dapeer command"
ELSEWHERE: Final = {"configuration", "core", "pid", "port"}
"""Arguments of a start that is not of a program in this folder."""
KILLED: Final = (
    "the dapeer server of this project was killed after the last command, and what it had started with it. If whatever runs "
    "these commands ends all that a command leaves, use `dapeer script FILE`, which does everything in one command."
)
ENDS_WITH: Final = "this is the server of {whose} (process {pid}), which was there before: what is started here ends with it."


class Core:
    """The server that a command talks to."""

    def __init__(self, connection: Connection, reached: ReachedServer) -> None:
        self.connection = connection
        self.announcement = reached.announcement
        self._connection = reached.connection

    def close(self) -> None:
        """Close the connection to the server, which goes on."""
        self.connection.close()
        self._connection.close()


def connect_if_running(environment: Mapping[str, str] | None) -> Core | None:
    """Connect to the running server of this folder's project, or of the Neovim around; None if none runs.

    `environment` are the variables for programs that the command starts; None if it starts none. A person is told once if the
    server of earlier commands was killed.

    Raises:
        ServerGone: The server has ended in that moment.
    """
    reached = _reach_server()
    if reached is None or reached.announcement.detached:
        _tell_of_a_killed_one(reached)
    return _open_connection(reached, environment) if reached else None


def connect_or_start(environment: Mapping[str, str] | None, credentials: Mapping[str, str]) -> Core:
    """Connect to the server of this folder's project; if none runs, start one, which then stays.

    In a terminal of Neovim the server that this Neovim is attached to comes first. The folder is the current
    one. `environment` has the variables for programs that the command starts; None: the command starts none.
    `credentials` are variables with secrets that were taken out of the environment, for a server that is
    started. The start blocks until the new server can be found and greets, for a limited time, and before that,
    without a limit, while others start this server. The caller closes the result. A person is told once if the
    server of earlier commands was killed.

    Raises:
        SystemUnsupported: The server cannot be started.
        ServerGone: The server that was found or started has ended before it answered.
    """
    try:
        if core := connect_if_running(environment):
            return core
    except ServerGone:
        pass  # it was about to end
    from pathlib import Path

    from dapeer.mcp.rendezvous import server_start

    return _open_connection(server_start.reach_or_start(Path.cwd(), credentials), environment)


def _reach_server() -> ReachedServer | None:
    """Connect to the server of the Neovim in whose terminal this runs, or else to the project's.

    The Neovim is that of `$NVIM`; the project is that of the current folder, and is taken also if the Neovim's
    server does not greet. None: no server greets. Announcements of servers that cannot be connected to are
    removed, and one that does not greet in time is named on stderr. Closing the connection is left to the caller.

    Raises:
        FileNotFoundError: The current folder has been deleted.
    """
    here = os.getcwd()
    if os.environ.get("NVIM"):
        from dapeer.neovim import sockets

        around = sockets.terminal_neovim_address()
        if around is not None and (reached := reaching.connect_to_server(here, around)):
            return reached
    return reaching.connect_to_server(here)


def _open_connection(reached: ReachedServer, environment: Mapping[str, str] | None) -> Core:
    """Begin MCP with a reached server, and return the connection by which its tools can be called.

    `environment` are the variables for programs that are started, which are sent to the server; None if there
    are none. The caller closes the result, which closes the connection of `reached`, too. If MCP cannot begin,
    the connection of `reached` stays open.

    Raises:
        ServerGone: The server has ended, or does not answer.
    """
    # Arguments of a process are often no UTF-8, and so are variables.
    sent = {_as_bytes(k): _as_bytes(v) for k, v in environment.items()} if environment else {}
    wire = reached.connection
    connection = Connection(
        wire.makefile("rb"), wire.makefile("wb"), NAME, {COMMAND: {"environment": sent}}
    )
    return Core(connection, reached)


def _as_bytes(text: str) -> str:
    """Return the bytes of a text as a text that JSON can carry, one character for each byte."""
    return os.fsencode(text).decode("latin-1")


def _tell_of_a_killed_one(reached: ReachedServer | None) -> None:
    """Write once to stderr that the detached server of earlier commands was killed, if so.

    The file that shows this is removed. `reached` is the server that was found, None without one: only this folder and those above it
    count, up to the folder of that server.
    """
    from dapeer.mcp.rendezvous import reaching

    for project in reaching.folders_upwards(os.getcwd()):
        if reaching.remove_sign_if_killed(project):
            say(KILLED)
            return
        if reached is not None and project == reached.announcement.project:
            return


def whose_sessions_end(announcement: Announcement) -> str:
    """Return a sentence that sessions end with another client's or Neovim's server; empty if they do not."""
    if announcement.detached:
        return ""
    nvim = announcement.nvim not in (None, reaching.AUTO)
    whose = "your Neovim" if nvim else "another client"
    return ENDS_WITH.format(whose=whose, pid=announcement.pid)


def arguments_from_here(arguments: dict[str, Any], tool: str, project: str) -> dict[str, Any]:
    """Return a tool's arguments with this folder's files as absolute paths, for a server in another one.

    These are `filename`, `core`, `stdin` and the breakpoints' files, if a file here has the name (any other
    name stays, for the server to find), and `cwd`, unchecked. `project` is the server's folder; if it is
    this one, `arguments` itself is returned, else a shallow copy. `dap_run` gets this folder as `cwd`, from which
    `program` is then looked for, unless it has a `cwd`, attaches, or has an argument of `ELSEWHERE`. `tool`
    is the tool's whole name.
    """
    here = os.getcwd()
    if here == project:
        return arguments
    found = {**arguments}
    for name in ("filename", "core", "stdin"):
        if name in found:
            found[name] = _local_path(found[name], here)
    points = found.get("breakpoints", ())
    if points:
        found["breakpoints"] = [
            {**each, "filename": _local_path(each["filename"], here)}
            if "filename" in each
            else each
            for each in points
        ]
    if "cwd" in found:
        found["cwd"] = os.path.join(here, found["cwd"])
    elif tool == "dap_run" and not found.keys() & ELSEWHERE and found.get("request") != "attach":
        found["cwd"] = here
    return found


def _local_path(name: str, here: str) -> str:
    """Return the path of a file of this folder; a name that no file here has is the server's to find."""
    path = os.path.join(here, name)
    return path if os.path.exists(path) else name


MILLISECONDS_TO_END: Final = 5000
"""Milliseconds in which a server ends that nobody uses."""
NOTHING_RUNS: Final = "Nothing that commands have started runs here.\n"


def end_all() -> int:
    """End all that commands have started, and their server if nobody else uses it; return 0.

    Programs that they have attached to are detached from. A server that does not outlive its clients (is not
    `detached`) is left alone. What has become of each session, and that the server has ended, is printed to
    stdout, or that nothing which commands have started runs. The end of the server is waited for up to
    `MILLISECONDS_TO_END`; if it goes on, a line on stderr says that another client uses it. Where the system
    cannot tell, it counts as ended.
    """
    try:
        server = connect_if_running(None)
    except ServerGone:
        server = None
    if server is None:
        sys.stdout.write(NOTHING_RUNS)
        return 0
    connection, announcement = server.connection, server.announcement
    process = _open_pidfd(announcement.pid) if announcement.detached else None
    lines, is_alone = list[str](), True
    with suppress(ServerGone):
        ended = connection.request(END, {})
        lines, is_alone = [*ended["lines"]], ended["alone"]
    server.close()
    if announcement.detached:
        if is_alone and (process is None or _wait_for_end(process)):
            lines.append("Ended the server of this project.")
        else:
            say("the server of this project goes on: another client uses it.")
    sys.stdout.write("".join(f"{line}\n" for line in lines) or NOTHING_RUNS)
    return 0


def _open_pidfd(pid: int) -> int | None:
    """Return a pidfd of a process, which is readable once it has ended, and which the caller closes.

    None: there is no such process, the system has no pidfds, or it refuses to open one.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _wait_for_end(pidfd: int) -> bool:
    """Wait up to `MILLISECONDS_TO_END` for a process to end, then close `pidfd`; return whether it ended."""
    import select

    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    ended = bool(poll.poll(MILLISECONDS_TO_END))
    os.close(pidfd)
    return ended
