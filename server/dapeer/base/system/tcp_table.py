"""The owners of this machine's TCP sockets, from Linux's `/proc/net/tcp` and `/proc/net/tcp6`. Pure.

A line has the address of a socket, that of its other end, its state, and its user and inode. A connection
within the machine has two lines, one for each end. A connection that waits to be accepted has no inode. The
columns: Documentation/networking/proc_net_tcp.rst of the kernel.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

LOOPBACK = "127.0.0.1"
HostAndPort: TypeAlias = tuple[str, int]
"""A numeric address and a port."""

ESTABLISHED = "01"
UNANSWERED = "03"
"""The end of a handshake has not been seen yet, or a listener waits for data before it accepts."""
LISTENING = "0A"
_INODE = 9
"""The last column that is read."""


@dataclass(frozen=True, slots=True)
class TcpTableLine:
    """One socket."""

    local: str
    remote: str
    state: str
    uid: int
    inode: int


@dataclass(frozen=True, slots=True)
class Holder:
    """The owner of one end of a connection."""

    uid: int
    inode: int
    """The inode, by which its process is found; 0: the connection waits to be accepted."""


def lines_with_port(table: str, port: int) -> Iterator[TcpTableLine]:
    """Yield the sockets of one of Linux's tables of which `port` is the own or the other end's port.

    `table` is the text of `/proc/net/tcp` or `tcp6`. `local` and `remote` of each socket are as the table has
    them, in hexadecimal (`0100007F:1F90`); the caller tests at which end `port` is.
    """
    mark = f":{port:04X} "
    # A server may have many thousands of lines: only those with the port are split.
    for words in _rows(table, mark):
        yield TcpTableLine(words[1], words[2], words[3], int(words[7]), int(words[9]))


def _rows(table: str, mark: str = "") -> Iterator[list[str]]:
    """Yield the columns of each socket in one of Linux's tables, of lines that contain `mark`.

    The heading is skipped, and so is a line with too few columns, such as an empty one or a cut one.
    """
    for text in table.splitlines()[1:]:
        if mark in text and len(words := text.split()) > _INODE:
            yield words


def holder_in_tables(tables: Sequence[str], end: HostAndPort, other: HostAndPort) -> Holder | None:
    """Return the owner of the socket at `end` whose other end is `other`, from Linux's tables.

    `tables` are the texts of these tables (`/proc/net/tcp`, `/proc/net/tcp6`); `end` and `other` are numeric
    addresses with ports. The owner is the user's id and the socket's inode, which is 0 until the connection is
    accepted. None means that the tables have no such socket: it is on another machine, or it is gone.

    Raises:
        ConnectionResetError: The socket is in the tables, but its connection is no longer established.
        ValueError: `end` or `other` has a name as its host.
    """
    near, far = _spellings(end), _spellings(other)
    for table in tables:
        for line in lines_with_port(table, end[1]):
            if line.local in near and line.remote in far:
                if line.state not in {ESTABLISHED, UNANSWERED}:
                    raise ConnectionResetError
                return Holder(line.uid, line.inode)
    return None


def connected_inodes(tables: Sequence[str]) -> dict[int, int]:
    """Return for the inode of each socket that of the socket at the other end of its connection.

    `tables` are the texts of Linux's tables of TCP sockets, such as `/proc/net/tcp`, each with its heading. Only
    established connections of which both ends are in the tables are contained, each twice: once for either end. An
    end whose inode is 0, as its process has closed it, is no key, but may be a value.
    """
    ends = {
        (_plain(words[1]), _plain(words[2])): int(words[9])
        for table in tables
        for words in _rows(table)
        if words[3] == ESTABLISHED
    }
    return {
        inode: ends[far, near]
        for (near, far), inode in ends.items()
        if inode and (far, near) in ends
    }


def listening_ports(tables: Sequence[str], inodes: Collection[int]) -> frozenset[int]:
    """Return the TCP ports at which sockets with these inodes listen.

    `tables` are the texts of Linux's tables of sockets; inodes that are not in them are ignored.
    """
    return _ports(tables, inodes, LISTENING, 1)


def connected_ports(tables: Sequence[str], inodes: Collection[int]) -> frozenset[int]:
    """Return the remote TCP ports to which sockets with these inodes have an established connection.

    `tables` are the texts of Linux's tables of sockets; inodes that are not in them are ignored.
    """
    return _ports(tables, inodes, ESTABLISHED, 2)


def _ports(
    tables: Sequence[str], inodes: Collection[int], state: str, column: int
) -> frozenset[int]:
    """Return the ports in a column (1: local, 2: remote) of the sockets in a state that have these inodes.

    `tables` are the texts of Linux's tables, such as that of `/proc/net/tcp`, each with its line of headings;
    `state` is in their hex digits, such as "01", the constant `ESTABLISHED`.
    """
    return frozenset(
        _port(words[column])
        for table in tables
        for words in _rows(table)
        if words[3] == state and int(words[9]) in inodes
    )


def listener_at(tables: Sequence[str], address: HostAndPort) -> Holder | None:
    """Return the owner of the socket that accepts connections to a numeric address; None without one.

    The owner is the user's id and the socket's inode. `tables` are the texts of Linux's tables of TCP sockets
    (`/proc/net/tcp`, `/proc/net/tcp6`). A socket that listens at this very address comes before one that
    listens at all addresses; for IPv4 that may be one at `::`, too.

    Raises:
        ValueError: The host of `address` is a name.
    """
    by_place = {
        line.local: Holder(line.uid, line.inode)
        for table in tables
        for line in lines_with_port(table, address[1])
        if line.state == LISTENING
    }
    exact, port = _spellings(address), address[1]
    every = _spellings(("0.0.0.0", port)) if len(exact) > 1 else ()  # noqa: S104 - looked for, not bound
    places = (*exact, *every, _spelled("::", port))
    return next((by_place[place] for place in places if place in by_place), None)


def _port(place: str) -> int:
    """Return the port of an address as the tables write it: in hexadecimal digits behind a colon."""
    return int(place.rpartition(":")[2], 16)


def _plain(place: str) -> str:
    """Return an address of the tables without the prefix by which the table of IPv6 marks one of IPv4."""
    return place.removeprefix(_MAPPED)


def _spellings(address: HostAndPort) -> tuple[str, ...]:
    """Return the one or two ways in which Linux's tables may write a numeric address with its port.

    An address of IPv4 also stands in the table of IPv6, behind the prefix `::ffff:`. It has two ways, that of IPv4
    first, also if it is given with this prefix; another address of IPv6 has one.

    Raises:
        ValueError: The host is a name, not a numeric address.
    """
    host, port = address
    ip = ipaddress.ip_address(host)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    plain = str(mapped or ip)
    if ipaddress.ip_address(plain).version == 4:
        return (_spelled(plain, port), _spelled(f"::ffff:{plain}", port))
    return (_spelled(plain, port),)


def _spelled(host: str, port: int) -> str:
    """Return a numeric address and a port as Linux's tables write them: hexadecimal, with a colon."""
    packed = ipaddress.ip_address(host.partition("%")[0]).packed
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    numbers = (int.from_bytes(word, sys.byteorder) for word in words)
    return f"{''.join(f'{number:08X}' for number in numbers)}:{port:04X}"


_MAPPED = _spelled("::ffff:0.0.0.0", 0)[:24]
"""What the table of IPv6 writes in front of an IPv4 address."""
