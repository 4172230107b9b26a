"""The program `nvim` on this machine: its version, and whether that will do."""

from __future__ import annotations

import re
import subprocess
from typing import Final

OLDEST: Final = (0, 10)
"""The oldest Neovim that the plugin works in; lua/dapeer/needs.lua says the same there."""


def version_of(path: str) -> str | None:
    """Return the version that a Neovim reports; None: it reports none."""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return None
    found = re.match(r"NVIM v(\d+\.\d+\S*)", done.stdout)
    return found[1] if found else None


def too_old(version: str | None) -> bool:
    """Whether a version is known to be older than the plugin needs."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is not None and (int(found[1]), int(found[2])) < OLDEST


def refusal(path: str) -> str | None:
    """Return in a sentence that a Neovim is too old; None: it will do."""
    version = version_of(path)
    return f"{path} is Neovim {version}, and 0.10 is needed" if too_old(version) else None
