"""The secret that an HTTP client shows: where it comes from, and where it is kept.

It never stands on a command line or in a log, where other users of the machine could read it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dapeer.credentials import TOKEN
from dapeer.errors import ArgumentError
from dapeer.mcp.announcement import private, state_folder

_TOKEN = re.compile(r"[!-~]{8,}")


def given(credentials: Mapping[str, str]) -> str | None:
    """Return the token that was in the environment; None: there was none.

    Raises:
        ArgumentError: It is no usable token.
    """
    value = credentials.get(TOKEN)
    return None if value is None else _checked(value, f"${TOKEN}")


def from_file(path: Path) -> str:
    """Read the token in a file; make the file, with a new token, when there is none.

    Raises:
        ArgumentError: The file cannot be read or made, or holds no usable token.
    """
    try:
        if not path.exists():
            return _create(path)
        return _checked(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ArgumentError(
            f"Cannot use the token file {path}: {reason}.", "Name another with --token-file."
        ) from error


@contextmanager
def fresh(port: int) -> Generator[tuple[str, Path]]:
    """Make a token for the server on `port`, in a file that lasts as long as the body runs."""
    path = private(state_folder()) / f"token-{port}"
    path.unlink(missing_ok=True)
    token = _create(path)
    try:
        yield token, path
    finally:
        path.unlink(missing_ok=True)


def _create(path: Path) -> str:
    token = secrets.token_urlsafe(32)
    # Exclusive, and closed to others from the first moment.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(token + "\n")
    return token


def _checked(text: str, source: str) -> str:
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise ArgumentError(
            f"{source} holds no usable token.",
            "A token is one word of at least 8 visible ASCII characters.",
        )
    return token
