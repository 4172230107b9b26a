"""Has debugpy's adapter attach once more to a process that has lost the first try.

Where a process was left a moment ago, its debugger ends while the new one begins, and takes that for itself: nothing connects, and
the adapter would wait for a minute.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

SECONDS_TO_CONNECT = 3.0
"""Seconds that a process has to connect once the injector, which runs the debugger's code in it, has succeeded."""
TRIES = 3


def try_again(servers: Any, seconds: float = SECONDS_TO_CONNECT) -> None:
    """Make the adapter inject its code once more where nothing connects.

    Args:
        servers: The module of debugpy that injects the code.
        seconds: What a process has to connect.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    stock: Callable[..., None] = servers.inject
    connected: Callable[..., Any] = servers.wait_for_connection
    popen: Callable[..., subprocess.Popen[bytes]] = servers.subprocess.Popen

    def inject(pid: int, *rest: Any) -> None:
        injectors: list[subprocess.Popen[bytes]] = []

        def start(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
            injectors.append(popen(command, **how))
            return injectors[-1]

        def watch() -> None:
            for _ in range(TRIES - 1):
                if injectors[-1].wait() or connected(f"[{pid}]", is_it, timeout=seconds):
                    return
                stock(pid, *rest)

        def is_it(connection: Any) -> bool:
            return connection.pid == pid

        servers.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": start})
        stock(pid, *rest)
        threading.Thread(target=watch, daemon=True).start()

    servers.inject = inject
