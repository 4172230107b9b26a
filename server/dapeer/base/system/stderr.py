"""Messages for the person at stderr."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print `dapeer: LINE` to stderr for the person who started dapeer; do nothing if stderr is closed."""
    try:
        sys.stderr.write(f"dapeer: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return
