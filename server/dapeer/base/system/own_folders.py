"""The user's own folders."""

from __future__ import annotations

from pathlib import Path

from dapeer.base.system import folder_names


def state_folder() -> Path:
    """Return the user's own folder for what outlives a process."""
    return Path(folder_names.state())


def private(folder: Path) -> Path:
    """Make a folder that only its owner can enter, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder
