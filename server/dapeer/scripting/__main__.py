"""Runs the script that `dap_script` got.

Its connection is an inherited descriptor, its text comes by standard input.

    python -P -m dapeer.scripting DESCRIPTOR
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from dapeer.scripting.debugger import Debugger, Session
from dapeer.scripting.wire import Answer, Connection, ServerGone, ToolError

NAME = "<script>"
"""The file name of the script in tracebacks."""


def main() -> None:
    """Run the script with `d`, the debugger, and the names of the library."""
    code = sys.stdin.buffer.read().decode()
    # The script's own reads find an end, and not the connection.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        os.set_inheritable(wire.fileno(), False)  # noqa: FBT003 - its one argument
        reader, writer = wire.makefile("rb"), wire.makefile("wb")
        debugger = Debugger(Connection(reader, writer, "dapeer script"))
        # What the script imports of the project comes after the library that it uses.
        sys.path.append(os.getcwd())  # noqa: PTH109 - a text, as the others there
        names = {
            "__name__": "__main__", "d": debugger, "Session": Session, "Answer": Answer,
            "ToolError": ToolError, "ServerGone": ServerGone,
        }  # fmt: skip
        try:
            exec(compile(code, NAME, "exec"), names)  # noqa: S102 - that is what it is for
        except Exception as error:  # noqa: BLE001 - the script's own, whatever it is
            _print_traceback(error, code.splitlines())
            sys.exit(1)


def _print_traceback(error: Exception, code: Sequence[str]) -> None:
    """Print the traceback of a script's error, without the frames of this module and of the library."""
    ours = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    shown = [
        traceback.FrameSummary(each.filename, each.lineno, each.name, line=code[each.lineno - 1])
        if each.filename == NAME and each.lineno is not None
        else each
        for each in frames
        if not each.filename.startswith(ours)
    ]
    lines = [
        "Traceback (most recent call last):\n",
        *traceback.format_list(shown),
        *traceback.format_exception_only(error),
    ]
    sys.stderr.write("".join(lines))


if __name__ == "__main__":
    main()
