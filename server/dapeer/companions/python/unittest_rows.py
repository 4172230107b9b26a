"""The rows by which failures of unittest are shown to the debugger, by `python_tests.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any


def rows(patching: Any, show: Callable[[Any], None]) -> list[Any]:
    """Register the rows by which failures of unittest reach the debugger, and return them, not applied.

    Args:
        patching: The module `patching`.
        show: Shows an exception to the debugger; it gets a tuple of its type, itself and its traceback.
    """
    causes: list[tuple[BaseException, BaseException]] = []
    return [row_of_imports(patching, causes), row_of_failures(patching, causes, show)]


def row_of_imports(patching: Any, causes: list[tuple[BaseException, BaseException]]) -> Any:
    """Register the row that keeps why unittest could not import a file of tests, and return it.

    Unittest raises an exception of its own instead, as a test that has failed. The row is not applied here.

    Args:
        patching: The module `patching`.
        causes: A pair is appended for each such file: that exception, and the one that the file has raised.
    """
    made = "unittest.loader:_make_failed_test"
    row = patching.Row(
        "unittest-imports",
        "Python",
        "The program does not stop where unittest cannot import a file of tests.",
        replaces={made: "methodname exception suiteClass message"},
    )

    @row
    def improve(_row: Any) -> None:
        """Replace the function by which unittest makes a failed test of a file that it could not import.

        It is called when the row is applied.
        """

        @row.replace(made)
        def make_failed_test(
            stock: Any, methodname: str, exception: Any, *others: Any, **named: Any
        ) -> Any:
            handled = sys.exc_info()[1]
            if exception.__traceback__ is None and handled is not None:
                causes.append((exception, handled))
            return stock(methodname, exception, *others, **named)

    return row


def row_of_failures(
    patching: Any,
    causes: Sequence[tuple[BaseException, BaseException]],
    show: Callable[[Any], None],
) -> Any:
    """Register the row by which a failure is shown when unittest reports it, and return it.

    The row is not applied here.

    Args:
        patching: The module `patching`.
        causes: Pairs of an exception of unittest's own, and the one of the program that is shown instead.
        show: Shows an exception to the debugger; it gets a tuple of its type, itself and its traceback.
    """
    # The last argument of each is the exception, or None.
    adds = {
        "addError": "self test err",
        "addFailure": "self test err",
        "addSubTest": "self test subtest err",
    }
    row = patching.Row(
        "unittest-failures",
        "Python",
        "The program does not stop where a test of unittest fails.",
        replaces={f"unittest:TestResult.{name}": takes for name, takes in adds.items()},
    )

    def add(stock: Any, self: object, *given: Any, **named: Any) -> Any:
        """Show the failure to the debugger, then do as `TestResult.addError` and its like (`stock`) do."""
        error = named.get("err", given[-1] if given else None)
        if error is not None:
            cause = next((cause for own, cause in causes if own is error[1]), None)
            show(error if cause is None else (type(cause), cause, cause.__traceback__))
        return stock(self, *given, **named)

    @row
    def improve(_row: Any) -> None:
        for target in row.replaces:
            row.replace(target)(add)

    return row
