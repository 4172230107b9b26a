"""Runs debugpy's launcher, which starts the program, reads its output, and tells its end.

The launcher may be started ahead (`debugpy_ahead`). It then waits here, with all that it needs imported, until it is told what
it is to run. Its environment and folder are those in which it would be started anyway.

This runs in the program's own Python.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import socket
import sys
from collections.abc import Callable
from typing import Any

NO_TOKEN = "none"  # noqa: S105 - it is none
"""Passed in place of the adapter's access token, if it has none."""
AHEAD = "--ahead"
"""The argument of a launcher that is started ahead; behind it comes the descriptor of its socket."""


def run(folder: str, script: str, beside: Callable[[str], Any]) -> None:
    """Run the launcher, with those patches that fit; it may wait before.

    Args:
        folder: The path of debugpy.
        script: The path of the script that runs the program.
        beside: Imports a module that is beside that.
    """
    with contextlib.suppress(ImportError, AttributeError):
        handlers: Any = importlib.import_module("debugpy.launcher.handlers")
        # The launcher would end at a request that it does not know.
        handlers.dapeerDrain_request = unable
        spawn_beneath(importlib.import_module("debugpy.launcher.debuggee"), folder, script)
    with contextlib.suppress(ImportError, AttributeError):
        beside("debugpy_output").tell()
    if sys.argv[1:2] == [AHEAD]:
        sys.argv[1:] = wait(int(sys.argv[2]))
    runpy.run_module("debugpy.launcher", run_name="__main__", alter_sys=True)


def wait(descriptor: int) -> list[str]:
    """Wait at a socket, of this descriptor, for the arguments; end if there will be none."""
    # What the launcher imports when it connects.
    for name in ("debugpy.common.messaging", "debugpy.common.sockets", "encodings.idna"):
        importlib.import_module(name)
    with socket.socket(fileno=descriptor) as adapter:
        try:
            arguments: list[str] = json.loads(adapter.makefile("rb").readline())
            adapter.sendall(b"\n")
        except (OSError, ValueError):
            # The adapter has ended, or starts another launcher.
            os._exit(0)
    return arguments


def spawn_beneath(debuggee: Any, folder: str, script: str) -> None:
    """Make debugpy's launcher start the program by a script.

    Args:
        debuggee: The module of debugpy that starts programs.
        folder: The path that it runs to start the server.
        script: The path of the script.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    stock: Callable[..., Any] = debuggee.spawn

    def spawn(process_name: str, command: list[str], *rest: Any) -> Any:
        if folder in command:
            place = command.index(folder)
            command = [*command[:place], script, *without_token(command[place:])]
        return stock(process_name, command, *rest)

    debuggee.spawn = spawn


def unable(_drain: object) -> dict[str, bool]:
    """Answer that it is not known whether all output has been sent."""
    return {"sent": False}


def without_token(command: list[str]) -> list[str]:
    """Return debugpy's command line without `NO_TOKEN`."""
    name = "--adapter-access-token"
    place = command.index(name) if name in command else len(command)
    if command[place + 1 : place + 2] != [NO_TOKEN]:
        return command
    return command[:place] + command[place + 2 :]
