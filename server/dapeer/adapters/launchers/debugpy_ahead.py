"""Starts debugpy's launcher together with the adapter, before it is known what it is to run.

To start a program, debugpy's adapter starts a launcher in the program's Python, which starts the program. Here the launcher
imports what it needs while the adapter does, too, or waits for its client. At `launch` it is told its arguments, if the adapter
would start one by the same command, in the same folder and environment. Else the adapter starts one as ever.

The launcher ends when the adapter does, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from dapeer.adapters.launchers.debugpy_launching import AHEAD
from dapeer.base.system.process_table import is_able

SECONDS = 10.0
"""Seconds that a launcher has to answer; it may be starting still."""
NULL = ("stdin", "stdout")
"""Streams of a launcher that lead nowhere; its errors are read (`debugpy_ends`)."""


class Ahead:
    """A launcher that was started before it is known what it is to run."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        """Start it.

        Args:
            command: The beginning of its command line.
            folder: Where it is to run.

        Raises:
            OSError: The command or the folder is not there or not usable.
        """
        self._command, self._folder = [*command], folder
        self._environment = dict(os.environ)
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(SECONDS)
        # As debugpy opens them.
        with theirs, open(os.devnull) as nothing, open(os.devnull, "w") as nowhere:
            self._process = subprocess.Popen(
                [*command, AHEAD, str(theirs.fileno())],
                cwd=folder, stdin=nothing, stdout=nowhere, stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )  # fmt: skip
        self._taken = False

    def take(
        self, command: Sequence[str], how: Mapping[str, Any]
    ) -> subprocess.Popen[bytes] | None:
        """Have it do what a new process would do; None if it differs from that, or does not answer.

        Args:
            command: The command line of the new process.
            how: The named arguments of `subprocess.Popen` for it.
        """
        size = len(self._command)
        if self._fits(command[:size], how) and is_able(self._process.pid):
            with contextlib.suppress(OSError):
                self._socket.sendall(json.dumps(command[size:]).encode() + b"\n")
                self._taken = bool(self._socket.recv(1))
        return self._process if self._taken else None

    def _fits(self, command: Sequence[str], how: Mapping[str, Any]) -> bool:
        if {*how} != {"cwd", "env", "stderr", *NULL}:
            return False
        same = (how["cwd"], how["env"]) == (self._folder, self._environment)
        return (
            same
            and command == self._command
            and how["stderr"] == subprocess.PIPE
            and all(is_null(how[each]) for each in NULL)
        )

    def let_go(self) -> None:
        """End it, unless it was taken."""
        self._socket.close()
        if not self._taken:
            self._process.kill()
            self._process.wait()


def is_null(stream: Any) -> bool:
    """Whether a stream is of the null device."""
    return os.fstat(stream.fileno()).st_rdev == os.stat(os.devnull).st_rdev


def started(python: str, script: str, launcher: str, folder: str) -> Ahead | None:
    """Start a launcher ahead, where that is possible.

    Args:
        python: The program's interpreter.
        script: The path of the script that runs debugpy's launcher.
        launcher: The path of that.
        folder: Where the program is to run.
    """
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        return Ahead([python, script, launcher], folder)
    return None


def check(launchers: Any) -> None:
    """Check that debugpy starts its launcher as it is known to.

    Raises:
        AttributeError: The module has another structure.
    """
    if not {"subprocess", "Popen"} <= {*launchers.spawn_debuggee.__code__.co_names}:
        raise AttributeError


def take_first(launchers: Any, ahead: Ahead) -> None:
    """Make the adapter take a launcher that was started ahead, where it would start the same.

    Args:
        launchers: The module of debugpy that starts launchers.
        ahead: The launcher.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    check(launchers)
    stock: Callable[..., Any] = launchers.spawn_debuggee

    def start(command: Sequence[str], **how: Any) -> Any:
        return ahead.take(command, how) or subprocess.Popen(command, **how)

    def spawn_debuggee(*given: Any, **named: Any) -> Any:
        try:
            return stock(*given, **named)
        finally:
            # It may have been of no use: a terminal starts its own.
            ahead.let_go()

    launchers.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": start})
    launchers.spawn_debuggee = spawn_debuggee
