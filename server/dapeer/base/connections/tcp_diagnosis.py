"""Asks Linux for one TCP connection, by sock_diag(7).

To write its tables of all connections, even a few, takes the kernel 10 ms: it walks its whole hash table, twice.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys

from dapeer.base.connections.tcp_table import Holder, HostAndPort

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

    Return its user and inode. None means that no process of this machine has it or has accepted it, or that the system does not tell.
    """
    if sys.platform != "linux":
        return None
    question = _question(end, other)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.sendto(question, _KERNEL)
            answer, sender = kernel.recvfrom(_ANSWER_SIZE, socket.MSG_DONTWAIT)
    except OSError:
        return None
    return _holder(answer) if sender == _KERNEL else None


def _question(end: HostAndPort, other: HostAndPort) -> bytes:
    """Return the netlink message that asks Linux for the socket at `end`, whose other end is `other`."""
    near, far = (ipaddress.ip_address(host.partition("%")[0]) for host, _ in (end, other))
    hosts = [getattr(each, "ipv4_mapped", None) or each for each in (near, far)]
    family = socket.AF_INET6 if hosts[0].version == 6 else socket.AF_INET
    ports = _PORTS.pack(end[1], other[1], *(each.packed for each in hosts))
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _EVERY_STATE)
    body += ports + _COOKIES.pack(0, _ANY_COOKIE, _ANY_COOKIE)
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body


def _holder(answer: bytes) -> Holder | None:
    """Return the owner in Linux's answer; None if it is an error, or nobody has accepted the connection."""
    _size, kind, *_ = _HEADER.unpack_from(answer)
    if kind != _SOCK_DIAG_BY_FAMILY:
        return None
    state, uid, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    return Holder(uid, inode) if state == _ESTABLISHED and inode else None
