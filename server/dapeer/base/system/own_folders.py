"""The user's own folders."""

from __future__ import annotations

import os
from pathlib import Path


def configuration() -> str:
    """Return the folder of the user's settings for dapeer; it need not exist."""
    return os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "dapeer"
    )


def state_folder() -> Path:
    """Return the user's own folder for what outlives a process."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "dapeer"


def private(folder: Path) -> Path:
    """Make a folder that only its owner can enter, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder
