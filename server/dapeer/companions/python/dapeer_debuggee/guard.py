"""Keeps what functions of ours raise out of the program, in whose threads Python calls them.

Such a function is one `try`: what it raises is a row that is lost. Only what a signal brings is the program's, and goes on to it.
At the limit of recursion there may be no room for a call, so a `RecursionError` is left alone.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

KILLS = sys.version_info < (3, 9)
"""Whether Python ends a program that goes 50 calls deeper after a caught `RecursionError`.

That error comes a few calls early then.
"""
losing: list[Callable[[], None]] = []
"""What counts a row that is lost."""


def is_of_program(error: BaseException) -> bool:
    """Return whether an exception is the program's: Ctrl+C, or raised by its signal handler.

    For any other one the functions in `losing` are called, so that a lost row is counted. It raises nothing.
    """
    try:
        if is_from_signal(error):
            return True
        for lose in losing:
            lose()
    except BaseException:
        return False
    return False


def is_from_signal(error: BaseException) -> bool:
    """Return whether a signal has caused an exception: Ctrl+C, or the program's handler raised it.

    A `KeyboardInterrupt` always counts, whoever raised it; any other exception counts if a signal handler written
    in Python, which is set now, is in its traceback.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    module: Any = sys.modules.get("signal")
    if module is None:
        return False
    codes = [code_of(module.getsignal(each)) for each in module.Signals]
    place: Any = error.__traceback__
    while place is not None:
        if any(each is place.tb_frame.f_code for each in codes):
            return True
        place = place.tb_next
    return False


def code_of(handler: Any) -> Any:
    """Return the code object that runs when `handler` is called.

    None: it is not a function or method of Python.
    """
    # By its type: an object of the program may run code when it is asked for an attribute.
    if type(handler) is types.MethodType:
        handler = handler.__func__
    return handler.__code__ if type(handler) is types.FunctionType else None


def hook(function: Any) -> Any:
    """Return a function that calls `function`, and returns None where that raises something.

    The returned function takes positional arguments only, and passes them on. What it drops counts as a lost row,
    except a `RecursionError`. It raises only what is the program's: Ctrl+C, or what the program's signal handler
    raises; on Python 3.8 also a `RecursionError`.
    """

    def called(*arguments: Any) -> Any:
        """Call `function`, and drop what it raises unless that is the program's."""
        try:
            return function(*arguments)
        except RecursionError:
            if KILLS:
                raise
            return None
        except BaseException as error:
            if is_of_program(error):
                raise
            return None

    return called
