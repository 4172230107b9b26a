"""Connections on this machine: ports, and which user is at the other end of a socket."""

from typing import Final

LOOPBACK: Final = "127.0.0.1"
