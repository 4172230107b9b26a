"""Messages for the person at stderr."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print a message for the person who has started dapeer, if stderr is open."""
    try:
        sys.stderr.write(f"dapeer: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return
