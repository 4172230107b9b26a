"""What a command needs of the system before it can begin, and what to tell when it does not get that."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from dapeer.errors import ArgumentError, DapeerError, out_of_memory, refused, single


def told(error: Exception) -> DapeerError:
    """Return what went wrong as a mistake of the user, or as something that the system refuses.

    Raises:
        Exception: It is neither.
    """
    match single(error):
        case DapeerError() as cause:
            return cause
        case OSError() as cause:
            logging.getLogger(__name__).info(
                "the operating system reports an error", exc_info=error
            )
            return refused(cause)
        case MemoryError():
            return out_of_memory()
        case _:
            raise error


def open_standard_streams() -> None:
    """Open those that whoever started us has closed: a socket of ours must not stand in for one."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def check_folder() -> None:
    """Say that the folder in which we were started is gone, where it is: a project is a folder.

    Raises:
        ArgumentError: It is.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ArgumentError(
            "The folder in which dapeer was started is gone.", "Start it in an existing one."
        ) from None
