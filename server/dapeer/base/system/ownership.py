"""Which user of this machine is at the other end of a socket: nothing is said to another one.

Any user can listen at a port of this machine, and can take it before the expected process does. dapeer
accepts its own user and the administrator, who can do everything anyway, and whose proxy listens for
containers.

Linux tells the owner of one TCP connection when asked, and has those of all sockets in tables. A Unix socket
reports it itself, also on macOS. Where the owner of a TCP port is unknown, every connection is accepted.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from dapeer.base.system import tcp_table
from dapeer.base.system.process_table import open_files, processes, sockets
from dapeer.base.system.tcp_table import Holder, HostAndPort
from dapeer.base.system.unix_peer import check_user, unix_peer

# Asks Linux for one TCP connection, by sock_diag(7).
#
# To write its tables of all connections, even a few, takes the kernel 10 ms: it walks its whole hash table, twice.

_NETLINK_SOCK_DIAG = 4
_KERNEL = (0, 0)
"""Its address."""
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ESTABLISHED = 1
_EVERY_STATE = _ANY_COOKIE = 0xFFFFFFFF
_ANSWER_SIZE = 4096

# Of linux/netlink.h and linux/inet_diag.h: `nlmsghdr`, then `inet_diag_req_v2` or `inet_diag_msg`.
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI")
_PORTS = struct.Struct("!HH16s16s")
_COOKIES = struct.Struct("=III")
_ANSWER = struct.Struct("=xB2x48x12xII")


def holder_by_diagnosis(end: HostAndPort, other: HostAndPort) -> Holder | None:
    """Ask Linux who owns the socket at `end` of an established TCP connection with `other`.

    Return its user and inode. None means that nobody has accepted the connection yet, that no process of this machine has that end, or that
    the system does not tell. Nothing is sent over the connection.
    """
    if sys.platform != "linux":
        return None
    question = _diagnosis_request(end, other)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.sendto(question, _KERNEL)
            answer, sender = kernel.recvfrom(_ANSWER_SIZE, socket.MSG_DONTWAIT)
    except OSError:
        return None
    return _tcp_diagnosis_holder(answer) if sender == _KERNEL else None


def _diagnosis_request(end: HostAndPort, other: HostAndPort) -> bytes:
    """Return the netlink message that asks Linux for the socket at `end`, whose other end is `other`.

    Both hosts are numeric addresses. The socket is a TCP one in any state; IPv4 addresses in IPv6 form count
    as IPv4 ones.
    """
    near, far = (ipaddress.ip_address(host.partition("%")[0]) for host, _ in (end, other))
    hosts = [getattr(each, "ipv4_mapped", None) or each for each in (near, far)]
    family = socket.AF_INET6 if hosts[0].version == 6 else socket.AF_INET
    ports = _PORTS.pack(end[1], other[1], *(each.packed for each in hosts))
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _EVERY_STATE)
    body += ports + _COOKIES.pack(0, _ANY_COOKIE, _ANY_COOKIE)
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body


def _tcp_diagnosis_holder(answer: bytes) -> Holder | None:
    """Return the owner in Linux's answer; None if it is an error, or nobody has accepted the connection."""
    _size, kind, *_ = _HEADER.unpack_from(answer)
    if kind != _SOCK_DIAG_BY_FAMILY:
        return None
    state, uid, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    return Holder(uid, inode) if state == _ESTABLISHED and inode else None


TABLES = tuple(Path("/proc/net", name) for name in ("tcp", "tcp6"))


def check_peer(connection: socket.socket, where: str, *, here: bool = False) -> None:
    """Check that the other end of a connected socket does not belong to another user of this machine.

    `where` is the address or path, for the error. With `here` the other end must also be on this machine and in the same network
    namespace.

    Raises:
        ForeignListener: Another user has it.
        OSError: The connection has been closed, or its other end is not here.
    """
    uid = peer_uid(connection)
    if uid is None and here and reports_port_owners():
        raise ConnectionRefusedError
    check_user(uid, where)


def check_listeners(host: str, port: int) -> None:
    """Check that no other user of this machine listens at a port; check its connections separately.

    Raises:
        ForeignListener: Another user listens there.
    """
    for uid in listening_users(host, port):
        check_user(uid, f"{host}:{port}")


def peer_uid(connection: socket.socket) -> int | None:
    """Return the id of the user at the other end of a connected TCP or Unix socket; None if unknown.

    The user is unknown where the other end is on another machine or in another container, or where the system does not
    tell. At a Unix socket the user is, for a client, the one who listens, and for a server, the one who has connected.
    At the client's end of a TCP connection that was not accepted yet, the user is the one who listens at the port.

    Raises:
        OSError: The connection has been closed.
    """
    if connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return unix_peer(connection)
    holder = holder_by_diagnosis(*_ends(connection))
    if holder is not None:
        return holder.uid
    # A connection that waits to be accepted belongs to the listener. The listeners are read before the check
    # that it still waits: with another listener at the time of its connect, it would be accepted or closed by
    # then.
    listening = _tables()
    holder = _holder(connection)
    if holder is None or holder.inode:
        return holder.uid if holder else None
    found = tcp_table.listener_at(listening, connection.getpeername()[:2])
    return found.uid if found else None


def peer_processes(connection: socket.socket) -> list[int]:
    """Return the ids of the processes at the other end of a TCP connection.

    The list is empty if they are on another machine, or if the system does not let dapeer see them.

    Raises:
        OSError: The connection has been closed.
    """
    holder = holder_by_diagnosis(*_ends(connection)) or _holder(connection)
    return [] if holder is None else _processes_with({holder.inode})


def sockets_connected_to(pid: int, others: Iterable[int]) -> dict[int, int]:
    """Return those sockets of a process that have a TCP connection to one of the processes `others`.

    The keys are the sockets' inodes, the values their file descriptors in the process; both ends must be on this machine.
    """
    theirs = {inode for other in others for inode in sockets(other)}
    pairs = tcp_table.connected_inodes(_tables())
    return {inode: number for inode, number in sockets(pid).items() if pairs.get(inode) in theirs}


def processes_connected_to(pid: int) -> list[int]:
    """Return the ids of the processes of this machine that have a TCP connection to a process.

    Processes that the system does not let dapeer see are missing.
    """
    pairs = tcp_table.connected_inodes(_tables())
    ends = {pairs[inode] for inode in sockets(pid) if inode in pairs}
    return [each for each in processes() if ends & sockets(each).keys()] if ends else []


def listening_users(host: str, port: int) -> frozenset[int]:
    """Return the ids of the users who listen at a port of this machine; a name may have several addresses.

    Empty if no process listens, the address is of another machine, or the system does not report it. Resolving a name may block.
    """
    return frozenset(each.uid for each in _listening_sockets(host, port) or ())


def listening_processes(host: str, port: int) -> list[int] | None:
    """Return the ids of the processes that listen at a port of this machine; None if nobody listens there.

    Processes that the system does not let dapeer see are missing. The list is also empty for an address of another machine, a name that
    cannot be resolved, and where the system does not tell. Resolving a name may block.
    """
    found = _listening_sockets(host, port)
    if found is None:
        return []
    return _processes_with({each.inode for each in found}) if found else None


def has_listener(host: str, port: int) -> bool:
    """Return whether any process listens at a port of this machine, even one that the system hides.

    False also for an address of another machine, a name that cannot be resolved, and where the system does not tell. Resolving a name may
    block.
    """
    return bool(_listening_sockets(host, port))


def ports_of(pids: Iterable[int]) -> frozenset[int]:
    """Return the TCP ports at which any of these processes listen."""
    return tcp_table.listening_ports(_tables(), {inode for pid in pids for inode in sockets(pid)})


def unconnected_ports(pids: Iterable[int], others: Iterable[int]) -> frozenset[int]:
    """Return the TCP ports at which the processes `pids` listen, and to which no other one is connected.

    Other processes are those of `pids` and of `others`; a connection of a process to its own port does not count. The result is empty where
    the system does not show the sockets of processes.
    """
    tables = _tables()
    by_process = {pid: {*sockets(pid)} for pid in {*pids, *others}}
    own = {pid: tcp_table.listening_ports(tables, by_process[pid]) for pid in pids}
    reached = {pid: tcp_table.connected_ports(tables, each) for pid, each in by_process.items()}
    return frozenset(
        port
        for pid, ports in own.items()
        for port in ports
        if not any(port in theirs for other, theirs in reached.items() if other != pid)
    )


def listens(pids: Iterable[int], host: str, port: int) -> bool:
    """Return whether one of these processes accepts connections to a numeric local address and port."""
    found = tcp_table.listener_at(_tables(), (host, port))
    return found is not None and any(found.inode in sockets(pid) for pid in pids)


def _listening_sockets(host: str, port: int) -> list[tcp_table.Holder] | None:
    """Return the owners of the sockets that listen at a port of this machine.

    An empty list means that nobody listens; None, that no address of `host` is this machine's, that it
    cannot be resolved, or that the system does not tell. `host` is a numeric address or a name, which may
    have several addresses: those of other machines are passed over, and each of the others adds its owner.
    To resolve it may block.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # there is no such name, or it can be none
        return None
    hosts = [str(address[0]).partition("%")[0] for *_, address in found]
    here = [each for each in hosts if _is_local_address(each)]
    if not here or not reports_port_owners():
        return None
    tables = _tables()
    holders = [tcp_table.listener_at(tables, (each, port)) for each in here]
    return [each for each in holders if each is not None]


def _processes_with(inodes: set[int]) -> list[int]:
    """Return the ids of the processes that have a socket with one of these inodes; inode 0 has no owner."""
    links = {f"socket:[{inode}]" for inode in inodes if inode}
    return [pid for pid in processes() if links & {*open_files(pid)}] if links else []


def reports_port_owners() -> bool:
    """Return whether the system reports the owners of TCP ports, by the tables that Linux has."""
    for path in TABLES:
        with contextlib.suppress(OSError), path.open("rb") as table:
            if table.read(1):
                return True
    return False


def _holder(connection: socket.socket) -> tcp_table.Holder | None:
    """Return the owner of the other end of a TCP connection, by the system's tables; None: not here.

    Raises:
        OSError: The connection has been closed.
    """
    return tcp_table.holder_in_tables(_tables(), *_ends(connection))


def _ends(connection: socket.socket) -> tuple[tcp_table.HostAndPort, tcp_table.HostAndPort]:
    """Return the addresses of a connection's other end and of this end, each a host and a port."""
    return connection.getpeername()[:2], connection.getsockname()[:2]


def _tables() -> list[str]:
    """Return the texts of Linux's tables of TCP sockets (`TABLES`), those that can be read; maybe none."""
    tables: list[str] = []
    for path in TABLES:
        try:
            tables.append(path.read_text("ascii"))
        except OSError:
            continue
    return tables


def _is_local_address(host: str) -> bool:
    """Return whether an address is one of this machine; it tries to bind a UDP socket to the address.

    `host` is a numeric address, of IPv6 without brackets. The wildcard addresses `0.0.0.0` and `::` count as
    this machine's. A name is looked up, which may block. False is also the answer where nothing can be found
    out, as for any address of IPv6 where the system has no IPv6.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
    except OSError:  # of another machine, or the system has no IPv6
        return False
    return True
