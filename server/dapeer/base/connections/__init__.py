"""Connections on this machine: ports, and which user is at the other end of a socket."""
