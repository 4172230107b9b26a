"""Run Python tests in a debugger that stops where they fail: `python_tests.py RUNNER ARGUMENT...`.

A test runner catches what its tests raise, so to a debugger nothing is ever uncaught. Here each failure
is shown to it as if nobody had caught it, where the runner reports it: what is skipped, expected to fail
or caught by the test itself is none. Runs in the interpreter of the user's tests, whatever its version,
and needs nothing else there: without a debugger, or with one whose inside is not what this knows, tests
only run.

RUNNER is pytest, unittest, or auto: pytest where it can be imported. With auto the first argument is the
node id of a test, which unittest is told by its dotted name.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NO_OPTION = object()
IN_THE_WAY: dict[str, object] = {
    "numprocesses": 0, "dist": "no", "tx": [], "forked": False,
    "usepdb": False, "trace": False, "timeout": 0,
}  # fmt: skip
"""Options of a project by which its tests would run in other processes, be debugged by somebody else, or
be ended while a person looks at them; what they are without those."""


def show(error: Sequence[Any]) -> None:
    """Stop where an exception comes from, if the debugger stops at uncaught ones."""
    debugger: Any = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
    if debugger is None:
        return
    try:
        inside: Any = importlib.import_module("_pydevd_bundle.pydevd_breakpoints")
    except ImportError:
        return
    thread = threading.current_thread()
    information: Any = debugger.set_additional_thread_info(thread)
    # Else the debugger would trace itself.
    information.is_tracing += 1
    try:
        inside.stop_on_unhandled_exception(debugger, thread, information, tuple(error))
    finally:
        information.is_tracing -= 1


def run_pytest(arguments: list[str]) -> int:
    """Do as `python -m pytest` does; return the exit code."""
    import pytest  # noqa: PLC0415

    class Shown:
        """Shows failures, and clears the way of the debugger."""

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:  # noqa: ANN401
            # Coverage is measured by the same hook of the interpreter that debuggers live by.
            early_config.known_args_namespace.no_cov = True
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_cmdline_main(self, config: Any) -> Iterator[None]:  # noqa: ANN401
            for name, value in IN_THE_WAY.items():
                if getattr(config.option, name, NO_OPTION) is not NO_OPTION:
                    setattr(config.option, name, value)
            yield

        def pytest_exception_interact(self, call: Any) -> None:  # noqa: ANN401
            error: BaseException = call.excinfo.value
            if isinstance(error, pytest.Collector.CollectError):
                # What went wrong in a file of tests is told by an exception of pytest's own.
                error = error.__cause__ or error
            show((type(error), error, error.__traceback__))

    return int(pytest.main(arguments, plugins=[Shown()]))


def run_unittest(arguments: list[str]) -> int:
    """Do as `python -m unittest` does, which exits by itself."""

    class Shown(unittest.TextTestResult):
        """Shows failures."""

        def addError(self, test: Any, err: Any) -> None:  # noqa: ANN401, N802
            show(err)
            super().addError(test, err)

        def addFailure(self, test: Any, err: Any) -> None:  # noqa: ANN401, N802
            show(err)
            super().addFailure(test, err)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: ANN401, N802
            if err is not None:
                show(err)
            super().addSubTest(test, subtest, err)

    class Runner(unittest.TextTestRunner):
        """Reports to `Shown`."""

        resultclass: Any = Shown

    argv = ["python -m unittest", *arguments]
    unittest.main(module=None, argv=argv, testRunner=Runner)
    return 0


def dotted(node: str) -> str:
    """Return what unittest calls a test, and see to it that its module can be imported.

    >>> dotted("tests/test_cart.py::TotalTest::test_of_none")
    'tests.test_cart.TotalTest.test_of_none'
    """
    file, *names = node.partition("[")[0].split("::")
    module = Path(os.path.relpath(file)).with_suffix("")
    if not all(part.isidentifier() for part in module.parts):
        sys.path.insert(0, str(Path(file).absolute().parent))
        module = Path(module.name)
    return ".".join([*module.parts, *names])


def main() -> int:
    """Run the tests; return the exit code."""
    runner, *arguments = sys.argv[1:]
    # What `python -m` puts there, instead of this file's folder.
    sys.path[0] = os.getcwd()  # noqa: PTH109
    if runner == "auto" and importlib.util.find_spec("pytest") is None:
        sys.stderr.write(f"There is no pytest in {sys.executable}: this is unittest.\n")
        runner, arguments[0] = "unittest", dotted(arguments[0])
    return run_unittest(arguments) if runner == "unittest" else run_pytest(arguments)


if __name__ == "__main__":
    sys.exit(main())
