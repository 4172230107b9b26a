"""What a command needs of the system before it can start, and the error if it is missing."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from dapeer.base.errors import ArgumentError, DapeerError, from_os_error, system_error, unwrap_group


def as_dapeer_error(error: Exception) -> DapeerError:
    """Return an error of dapeer's for an exception: itself, or what the operating system lacks or rejects.

    An `OSError` is logged with its traceback. `error` may be an exception group with a single error.

    Raises:
        Exception: `error` itself, if it is none of these.
    """
    match unwrap_group(error):
        case DapeerError() as cause:
            return cause
        case OSError() as cause:
            logging.getLogger(__name__).info(
                "the operating system reports an error", exc_info=error
            )
            return from_os_error(cause)
        case cause:
            if lacks := system_error(cause):
                return lacks
            raise error


def open_standard_streams() -> None:
    """Open stdin, stdout and stderr on the null device where they are closed, and set them in `sys`.

    Otherwise a socket of dapeer's would get their number.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def check_folder() -> None:
    """Check that dapeer's working directory, which stands for the project, still exists.

    Raises:
        ArgumentError: It does not.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ArgumentError(
            "The folder in which dapeer was started is gone.", "Start it in an existing one."
        ) from None
