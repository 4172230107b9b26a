"""The secret that an HTTP client shows: where it comes from, and where it is kept.

It is never on a command line or in a log, where other users of the machine could read it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from dapeer.base.credentials import TOKEN
from dapeer.base.errors import ArgumentError
from dapeer.base.system import folder_names
from dapeer.mcp.rendezvous.leftovers import hold_lock, sweep_leftovers

MAX_TOKEN_CHARS: Final = 4096
"""Characters of a token file."""

_TOKEN = re.compile(r"[!-~]{8,}")


def token_from_environment(credentials: Mapping[str, str]) -> str | None:
    """Return the token among the variables that were in the environment; None: there is none.

    Raises:
        ArgumentError: It is not a valid token.
    """
    value = credentials.get(TOKEN)
    return None if value is None else _check_token(value, f"${TOKEN}")


def read_or_create_token(path: Path) -> str:
    """Return the token in a file; create the file, with a new token, if it does not exist.

    Only the user can read a new file. Its folder must exist.

    Raises:
        ArgumentError: The file cannot be read or made, is open to other users, or contains no valid token.
    """
    try:
        return _check_token(_read(path), str(path))
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from error
    try:
        return _create(path)
    except OSError as error:
        raise _unusable(path, error) from error


@contextmanager
def temporary_token(port: int) -> Generator[tuple[str, Path]]:
    """Make a token for the server on `port`, in a file that lasts as long as the body runs.

    Token and path are yielded. An older file of the same port is replaced, and those of killed servers are removed.

    Raises:
        ArgumentError: The folder for it cannot be written.
    """
    path = Path(folder_names.state()) / f"token-{port}"
    lock = ExitStack()
    try:
        with sweep_leftovers(folder_names.make_private(path.parent)):
            path.unlink(missing_ok=True)
            token = _create(path)
            lock.enter_context(hold_lock(path))
    except OSError as error:
        raise ArgumentError(
            f"Cannot keep a token in {path.parent}: {error.strerror}.",
            f"Give one in ${TOKEN}, or name its file with --token-file.",
        ) from error
    with lock:
        try:
            yield token, path
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _read(path: Path) -> str:
    """Return the content of a token file as it is, blanks included.

    Raises:
        ArgumentError: It is not a regular file, is too long, or other users own it, or can read or write it.
        OSError: It cannot be read, or is not there.
        UnicodeDecodeError: It is not text.
    """
    # Opening a FIFO would hang until a process writes to it.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(fd, encoding="utf-8") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _unusable(path, "it is not a regular file")
        if status.st_uid != os.getuid():
            raise _unusable(path, "another user owns it")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            # It is not closed to them for the user: they may have read it, or written it.
            raise ArgumentError(
                f"Other users can read or change the token file {path}.",
                "Remove it, and dapeer creates a new one; or `chmod 600` it if no other user has used it.",
            )
        text = file.read(MAX_TOKEN_CHARS + 1)
        if len(text) > MAX_TOKEN_CHARS:
            raise _unusable(path, f"it has more than {MAX_TOKEN_CHARS} characters")
        return text


def _unusable(path: Path, why: Exception | str) -> ArgumentError:
    """Return the error that a token file at `path` cannot be used.

    `why` is the reason: the exception that was raised, or the end of a sentence after a colon.
    """
    match why:
        case OSError():
            reason = why.strerror
        case Exception():
            reason = "it is not text"
        case _:
            reason = why
    return ArgumentError(
        f"Cannot use the token file {path}: {reason}.", "Name another with --token-file."
    )


def _create(path: Path) -> str:
    """Write a new token to a new file that only the user can read, and return the token.

    Raises:
        OSError: The file exists, or cannot be written.
    """
    token = secrets.token_urlsafe(32)
    # Exclusive, and closed to others from the first moment.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(token + "\n")
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return token


def _check_token(text: str, source: str) -> str:
    """Return a text without blanks around it, if that is a valid token.

    `source` is where it comes from, for the error.

    Raises:
        ArgumentError: It is not a valid token.
    """
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise ArgumentError(
            f"{source} contains no valid token.",
            "A token is one word of at least 8 visible ASCII characters.",
        )
    return token
