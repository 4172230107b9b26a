"""Runs the script that `dap_script` got.

Its connection is an inherited descriptor, its text comes by standard input.

    python -P -m dapeer.scripting DESCRIPTOR
"""

from __future__ import annotations

import os
import socket
import sys

from dapeer.scripting.debugger import Debugger, execute
from dapeer.scripting.wire import Connection

NAME = "<script>"
"""The file name of the script in tracebacks."""


def main() -> int:
    """Run the script that standard input holds, and return its exit code: 0, or 1 after an error.

    The first argument of the command line is the descriptor of the connection to the server. The script
    finds standard input at its end if it reads there. The traceback of an error goes to stderr.

    Raises:
        SystemExit: The script has raised it; its exit code is the script's own.
        IndexError, ValueError, OSError: That argument is missing, no number or no socket, or the script is
            not in UTF-8.
    """
    code = sys.stdin.buffer.read().decode()
    # The script's own reads find an end, and not the connection.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        os.set_inheritable(wire.fileno(), False)  # noqa: FBT003 - its one argument
        reader, writer = wire.makefile("rb"), wire.makefile("wb")
        return execute(code, NAME, Debugger(Connection(reader, writer, "dapeer script")))


if __name__ == "__main__":
    sys.exit(main())
