"""The log, with a limit on repeated lines, and messages for the person at stderr."""

from __future__ import annotations

import io
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from dapeer.base.errors import ArgumentError
from dapeer.base.redaction import redacted
from dapeer.base.system.stderr import say

MOST_ALIKE: Final = 20
"""Warnings and errors of one place that are logged within `SECONDS_PER_PLACE`; more are counted."""
SECONDS_PER_PLACE: Final = 60.0

OWNER_ONLY: Final = 0o600
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def set_up(level: str, file: Path | None) -> None:
    """Set up Python's root logger: secrets masked, repetitions limited, to a file or to stderr.

    `level` is the name of a log level in any case; `file` None logs to stderr. The file is made at once, for its
    owner alone, or appended to; its folder is not made. A root logger that already has a handler stays as it is,
    with its level; the file is made nevertheless.

    Raises:
        ArgumentError: The file cannot be written.
        ValueError: There is no such level, and the root logger had no handler; it then has the new one.
    """
    try:
        handler = _Stderr(sys.stderr) if file is None else _PrivateFileHandler(file)
    except OSError as error:
        raise ArgumentError(
            f"Cannot log to {file}: {error.strerror}.", "Name another file with --log-file."
        ) from error
    handler.setFormatter(_Masking(_FORMAT))
    handler.addFilter(RepetitionFilter())
    logging.basicConfig(level=level.upper(), handlers=[handler])


@dataclass(slots=True)
class _RecentRecords:
    """What one place in the code has logged recently."""

    first_time: float
    logged: int = 0
    left_out_count: int = 0


class RepetitionFilter(logging.Filter):
    """Drops repeated lines of one place in the code, and logs how many were dropped.

    A client can make a library log as often as it likes, and the log must not fill the disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, int], _RecentRecords] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record: of each place, the first `MOST_ALIKE` per `SECONDS_PER_PLACE`.

        A place is the line of source code that logs. Records below a warning always pass, and are not
        counted; each call counts any other record. A place's period begins with the first record that comes
        after the last period. The number of records that were dropped in the last period, if any, is
        appended to that record's message, which is changed.
        """
        if record.levelno < logging.WARNING:
            return True
        place = record.pathname, record.lineno
        alike = self._places.get(place)
        if alike is None or record.created - alike.first_time > SECONDS_PER_PLACE:
            left_out = alike.left_out_count if alike else 0
            alike = self._places[place] = _RecentRecords(record.created)
            if left_out:
                record.msg = f"{record.getMessage()} (and {left_out} more like this before)"
                record.args = ()
        if alike.logged == MOST_ALIKE:
            alike.left_out_count += 1
            return False
        alike.logged += 1
        return True


class _Masking(logging.Formatter):
    """Masks secrets, even with `--no-redact`: people pass logs on."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, with its traceback."""
        return redacted(super().format(record))


class _Stderr(logging.StreamHandler[TextIO]):
    """Logs to stderr. A closed stderr is ignored."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Ignore the error."""
        del record


class _PrivateFileHandler(logging.FileHandler):
    """Logs to a file that only its owner can read, since it may contain values of the program."""

    def __init__(self, path: Path) -> None:
        self._has_failed = False
        super().__init__(path, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> io.TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, OWNER_ONLY)
        return io.TextIOWrapper(
            io.FileIO(descriptor, "a"), encoding=self.encoding, errors=self.errors
        )

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Report the first error, such as a full disk, and continue."""
        del record
        if not self._has_failed:
            self._has_failed = True
            say(f"cannot log to {self.baseFilename}: {sys.exception()}")
