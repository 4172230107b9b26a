"""Connections on this machine: ports, and which user is at the other end of a socket."""

LOOPBACK = "127.0.0.1"
