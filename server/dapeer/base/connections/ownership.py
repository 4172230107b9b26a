"""Which user of this machine is at the other end of a socket: nothing is said to another one.

Any user can listen at a port of this machine, and can take it before the expected process does. dapeer
accepts its own user and the administrator, who can do everything anyway, and whose proxy listens for
containers.

Linux tells the owner of one TCP connection when asked, and has those of all sockets in tables. A Unix socket
reports it itself, also on macOS. Where the owner of a TCP port is unknown, every connection is accepted.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path

from dapeer.base.connections import tcp_diagnosis, tcp_table
from dapeer.base.connections.unix_peer import check, unix_peer
from dapeer.base.system.process_table import open_files, processes, sockets

TABLES = tuple(Path("/proc/net", name) for name in ("tcp", "tcp6"))


def check_peer(connection: socket.socket, where: str, *, here: bool = False) -> None:
    """Reject a connection whose other end belongs to another user of this machine.

    Args:
        connection: Is connected.
        where: The address or path, for the error.
        here: The other end must be on this machine, and not, by rules of its firewall, in some container.

    Raises:
        Stranger: Another user has it.
        OSError: It has been closed, or is not here.
    """
    uid = peer_uid(connection)
    if uid is None and here and tells():
        raise ConnectionRefusedError
    check(uid, where)


def check_listeners(host: str, port: int) -> None:
    """Reject a port at which another user of this machine listens. Check its connections separately.

    Raises:
        Stranger: Another user does.
    """
    for uid in listeners(host, port):
        check(uid, f"{host}:{port}")


def peer_uid(connection: socket.socket) -> int | None:
    """Return the user at the other end of a connected socket.

    None: it is on another machine or in another container, or the system does not tell. Of a Unix socket it is the user
    who listens there.

    Raises:
        OSError: It has been closed.
    """
    if connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return unix_peer(connection)
    holder = tcp_diagnosis.holder(*_ends(connection))
    if holder is not None:
        return holder.uid
    # A connection that waits to be accepted belongs to the listener. The listeners are read before the check
    # that it still waits: with another listener at the time of its connect, it would be accepted or closed by
    # then.
    listening = _tables()
    holder = _holder(connection)
    if holder is None or holder.inode:
        return holder.uid if holder else None
    found = tcp_table.listener(listening, connection.getpeername()[:2])
    return found.uid if found else None


def peer_processes(connection: socket.socket) -> list[int]:
    """Return the processes at the other end of a TCP connection, if the system lets dapeer see them.

    Raises:
        OSError: It has been closed.
    """
    holder = tcp_diagnosis.holder(*_ends(connection)) or _holder(connection)
    return [] if holder is None else _processes_with({holder.inode})


def connected(pid: int, others: Iterable[int]) -> dict[int, int]:
    """Return a process's sockets with a TCP connection to one of the others: inodes with descriptors."""
    theirs = {inode for other in others for inode in sockets(other)}
    pairs = tcp_table.pairs(_tables())
    return {inode: number for inode, number in sockets(pid).items() if pairs.get(inode) in theirs}


def neighbours(pid: int) -> list[int]:
    """Return the processes here to which one is connected by TCP, if the system lets dapeer see them."""
    pairs = tcp_table.pairs(_tables())
    ends = {pairs[inode] for inode in sockets(pid) if inode in pairs}
    return [each for each in processes() if ends & sockets(each).keys()] if ends else []


def listeners(host: str, port: int) -> frozenset[int]:
    """Return the users who listen at a port of this machine; a name may have several addresses.

    Empty if no process listens, the address is of another machine, or the system does not report it.
    Resolving a name may block.
    """
    return frozenset(each.uid for each in _listeners(host, port) or ())


def listening_processes(host: str, port: int) -> list[int] | None:
    """Return the processes that listen at a port here, as far as the system lets dapeer see them.

    None: nobody listens there. Resolving a name may block.
    """
    found = _listeners(host, port)
    if found is None:
        return []
    return _processes_with({each.inode for each in found}) if found else None


def ports_of(pids: Iterable[int]) -> frozenset[int]:
    """Return the ports at which processes listen."""
    return tcp_table.listening(_tables(), {inode for pid in pids for inode in sockets(pid)})


def ports_beside(pids: Iterable[int], others: Iterable[int]) -> frozenset[int]:
    """Return the ports at which processes listen, and nobody of these is connected.

    Those to which another of them, or one of `others`, is connected are left out.
    """
    tables = _tables()
    by_process = {pid: {*sockets(pid)} for pid in {*pids, *others}}
    own = {pid: tcp_table.listening(tables, by_process[pid]) for pid in pids}
    reached = {pid: tcp_table.connected_ports(tables, each) for pid, each in by_process.items()}
    return frozenset(
        port
        for pid, ports in own.items()
        for port in ports
        if not any(port in theirs for other, theirs in reached.items() if other != pid)
    )


def listens(pids: Iterable[int], host: str, port: int) -> bool:
    """Whether one of these processes is reached at a numeric address of this machine and a port."""
    found = tcp_table.listener(_tables(), (host, port))
    return found is not None and any(found.inode in sockets(pid) for pid in pids)


def _listeners(host: str, port: int) -> list[tcp_table.Holder] | None:
    """Return the owners of the sockets that listen at a port; None: it is another machine's, or unknown."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return None
    hosts = [str(address[0]).partition("%")[0] for *_, address in found]
    here = [each for each in hosts if _is_ours(each)]
    if not here or not tells():
        return None
    tables = _tables()
    holders = [tcp_table.listener(tables, (each, port)) for each in here]
    return [each for each in holders if each is not None]


def _processes_with(inodes: set[int]) -> list[int]:
    """Return the processes that have one of some sockets; one that waits for `accept` (0) has no owner."""
    links = {f"socket:[{inode}]" for inode in inodes if inode}
    return [pid for pid in processes() if links & {*open_files(pid)}] if links else []


def tells() -> bool:
    """Whether the system reports the owners of TCP ports."""
    for path in TABLES:
        with contextlib.suppress(OSError), path.open("rb") as table:
            if table.read(1):
                return True
    return False


def _holder(connection: socket.socket) -> tcp_table.Holder | None:
    return tcp_table.holder(_tables(), *_ends(connection))


def _ends(connection: socket.socket) -> tuple[tcp_table.HostAndPort, tcp_table.HostAndPort]:
    """Return the other end of a connection, and this one."""
    return connection.getpeername()[:2], connection.getsockname()[:2]


def _tables() -> list[str]:
    tables: list[str] = []
    for path in TABLES:
        try:
            tables.append(path.read_text("ascii"))
        except OSError:
            continue
    return tables


def _is_ours(host: str) -> bool:
    """Whether an address is of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            return False
    return True
