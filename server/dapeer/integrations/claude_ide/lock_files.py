"""The files by which Claude Code finds an IDE: one for each port, in a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.base.json_types import as_object
from dapeer.base.system.process_table import is_running

CONFIG: Final = "CLAUDE_CONFIG_DIR"
OURS: Final = "dapeer"
"""The key of the process that has written a file; files of others have none."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file says."""

    port: int
    token: str
    pid: int
    """Of the IDE. Claude Code removes the file when this process has ended."""
    folders: Callable[[], Sequence[str]]
    """Returns the directories: Claude Code connects by itself if one of them holds its own."""


def folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Return the folders for lock files: that of `CLAUDE_CONFIG_DIR`, if it is set, and that in `home`.

    Older versions of Claude Code read the second one only.
    """
    moved = environment.get(CONFIG)
    found = [Path(moved) / "ide"] if moved else []
    return [*found, home / ".claude" / "ide"]


@contextmanager
def announcing(lock: Lock, where: Sequence[Path]) -> Generator[Callable[[], None]]:
    """Keep a lock file in each folder of `where` while the body runs, readable by this user alone.

    The `with` gives a function that writes the files anew, after the lock's folders have changed. The folders are created
    if necessary, and files of ended processes of ours removed.

    Raises:
        OSError: A file cannot be written.
    """
    paths = [folder / f"{lock.port}.lock" for folder in where]

    def write() -> None:
        for path in paths:
            _write(path, _text(lock))

    try:
        for folder in where:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sweep(folder)
        write()
        yield write
    finally:
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()


def sweep(folder: Path) -> None:
    """Remove the lock files in a folder that ended processes of dapeer have left; files of others stay."""
    for path in folder.glob("*.lock"):
        with contextlib.suppress(OSError, ValueError):
            content: object = json.loads(path.read_bytes())
            pid = as_object(content).get(OURS)
            if isinstance(pid, int) and not is_running(pid):
                path.unlink()


def _text(lock: Lock) -> str:
    """Return the content of a lock file, as JSON."""
    content = {
        "pid": lock.pid,
        "workspaceFolders": list(lock.folders()),
        "ideName": "Neovim",
        "transport": "ws",
        "runningInWindows": False,
        "authToken": lock.token,
        OURS: os.getpid(),
    }
    return json.dumps(content)


def _write(path: Path, text: str) -> None:
    """Replace a file by a text, readable by this user alone: a reader sees all of it or the old one.

    Raises:
        OSError: It cannot be written.
    """
    # A reader sees the whole of it or nothing, and nobody else ever sees the token.
    beside = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)
