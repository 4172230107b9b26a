"""Where the user's folders are, as text.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import os


def configuration() -> str:
    """Return the folder of the user's settings for dapeer; it need not exist."""
    return os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "dapeer"
    )


def state() -> str:
    """Return the user's own folder for what outlives a process."""
    return os.path.join(
        os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "dapeer"
    )


def session() -> str | None:
    """Return the folder of the user's login session, if the system has one.

    Several MCP clients start a server without $XDG_RUNTIME_DIR; it must still find Neovims that have it.
    """
    usual = f"/run/user/{os.getuid()}"
    return os.environ.get("XDG_RUNTIME_DIR") or (usual if os.path.isdir(usual) else None)


def runtime() -> str:
    """Return the user's folder for what ends with a process: sockets, announcements."""
    base = session()
    return os.path.join(base, "dapeer") if base else state()
