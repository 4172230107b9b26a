"""Run Python tests in a debugger that stops where they fail: `python_tests.py HOW RUNNER ARGUMENT...`.

A test runner catches what its tests raise, so to a debugger nothing is ever uncaught. Here each failure
is shown to it as if nobody had caught it, where the runner reports it: what is skipped, expected to fail
or caught by the test itself is none. Runs in the interpreter of the user's tests, whatever its version,
and needs nothing else there: without a debugger, or with one whose inside is not what this knows, tests
only run.

HOW is `module` or `program`, and RUNNER one that runs tests: pytest, unittest, Django's manage.py; or HOW is
`auto`, and RUNNER the node id of a test. That is for Django in a project of Django's, else for pytest where it can
be imported, else for unittest. Django and unittest are told its dotted name.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import unittest
from collections.abc import Generator, Iterator, Sequence
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
    kind, value, trace = error
    thread = threading.current_thread()
    information: Any = debugger.set_additional_thread_info(thread)
    # Else the debugger would trace itself.
    information.is_tracing += 1
    try:
        inside.stop_on_unhandled_exception(
            debugger, thread, information, (kind, value, within(trace))
        )
    finally:
        information.is_tracing -= 1


def within(trace: Any) -> Any:
    """Return a traceback from its first frame on that none of the others has called.

    `subTest` catches in a frame that the test has called; the debugger would show the test's line where it did.
    """
    frames: set[Any] = set()
    entry = trace
    while entry is not None:
        frames.add(entry.tb_frame)
        entry = entry.tb_next
    while trace is not None and trace.tb_next is not None and not frames.isdisjoint(callers(trace)):
        trace = trace.tb_next
    return trace


def callers(entry: Any) -> Iterator[Any]:
    """Yield the frames that have called the one of an entry."""
    frame = entry.tb_frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back


def run_pytest(arguments: list[str]) -> int:
    """Do as `python -m pytest` does; return the exit code."""
    import pytest  # noqa: PLC0415

    class Shown:
        """Shows failures, and clears the way of the debugger."""

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
            # Coverage is measured by the same hook of the interpreter that debuggers live by.
            early_config.known_args_namespace.no_cov = True
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_cmdline_main(self, config: Any) -> Iterator[None]:
            for name, value in IN_THE_WAY.items():
                if getattr(config.option, name, NO_OPTION) is not NO_OPTION:
                    setattr(config.option, name, value)
            # What pytest says of itself before the first test is read with the first stop.
            config.option.verbose = config.option.verbose or -1
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_report_teststatus(self, config: Any) -> Generator[None, Any, None]:
            outcome = yield
            category, letter, word = outcome.get_result()
            # Of a test that has failed the stop tells more than its letter.
            outcome.force_result((category, letter if config.option.verbose > 0 else "", word))

        def pytest_exception_interact(self, call: Any) -> None:
            error: BaseException = call.excinfo.value
            if isinstance(error, pytest.Collector.CollectError):
                # What went wrong in a file of tests is told by an exception of pytest's own.
                error = error.__cause__ or error
            show((type(error), error, error.__traceback__))

    return int(pytest.main(arguments, plugins=[Shown()]))


def show_unittests() -> None:
    """Show what unittest counts as failed, whoever runs it: itself, Django, or a program of the project."""
    results: Any = unittest.TestResult

    def shown(name: str) -> None:
        stock = getattr(results, name)

        def add(self: object, *told: Any) -> None:
            if told[-1] is not None:
                show(told[-1])
            stock(self, *told)

        setattr(results, name, add)

    # The last of what each is told is the exception, or that there was none.
    for name in ("addError", "addFailure", "addSubTest"):
        shown(name)
    # Else Django's `--parallel` runs tests in other processes.
    os.environ.setdefault("DJANGO_TEST_PROCESSES", "1")


def run_by_program(how: str, name: str, arguments: list[str]) -> object:
    """Do as `python NAME` or `python -m NAME` does with these arguments; return the exit code."""
    show_unittests()
    launcher = sibling("debugpy_launcher")
    runpy: Any = sys.modules.get("_pydevd_bundle.pydevd_runpy") or importlib.import_module("runpy")
    sys.argv = [name, *arguments]
    try:
        (launcher.run_file if how == "program" else launcher.run_module)(name, runpy)
    except SystemExit as end:
        # Raised again where the debugger does not look: that tests have failed was shown.
        return end.code
    return 0


def pose_as(module: str, arguments: list[str]) -> None:
    """Make `__main__` and the arguments what they are under `python -m MODULE`."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    spec: Any = importlib.util.find_spec(f"{module}.__main__")
    sibling("debugpy_launcher").fresh_main().update(
        __spec__=spec,
        __file__=spec.origin,
        __package__=spec.parent,
        __loader__=spec.loader,
        __cached__=spec.cached,
    )
    sys.argv = [spec.origin, *arguments]


def sibling(name: str) -> Any:
    """Return another of our launchers, which are in no package here."""
    place = Path(__file__).with_name(f"{name}.py")
    spec: Any = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_node_id(node: str, arguments: list[str]) -> tuple[str, str, list[str]]:
    """Return what runs a test that is named by its node id, a program or a module, and what that is told."""
    manage = next(
        (folder / "manage.py" for folder in Path(node.partition("::")[0]).absolute().parents
         if (folder / "manage.py").is_file()), None,
    )  # fmt: skip
    if manage is not None and is_there("django") and not is_there("pytest_django"):
        asked = ["test", dotted(node, manage.parent), "--noinput"]
        return "program", str(manage), [*asked, *arguments]
    if is_there("pytest"):
        return "module", "pytest", [node, *arguments]
    sys.stderr.write(f"pytest is not installed for {sys.executable}: running unittest instead.\n")
    return "module", "unittest", [dotted(node, Path.cwd()), *arguments]


def is_there(module: str) -> bool:
    """Whether the interpreter has a module."""
    return importlib.util.find_spec(module) is not None


def dotted(node: str, folder: Path) -> str:
    """Return what unittest calls a test that is imported from a folder, or see to it that it can be.

    >>> dotted("tests/test_cart.py::TotalTest::test_of_none", Path.cwd())
    'tests.test_cart.TotalTest.test_of_none'
    """
    file, *names = node.partition("[")[0].split("::")
    module = Path(os.path.relpath(file, folder)).with_suffix("")
    if not all(part.isidentifier() for part in module.parts):
        sys.path.append(str(Path(file).absolute().parent))
        module = Path(module.name)
    return ".".join([*module.parts, *names])


def main() -> Any:
    """Run the tests; return the exit code."""
    how, name, *arguments = sys.argv[1:]
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    if how == "auto":
        how, name, arguments = by_node_id(name, arguments)
    if name != "pytest":
        return run_by_program(how, name, arguments)
    pose_as("pytest", arguments)
    return run_pytest(arguments)


if __name__ == "__main__":
    sys.exit(main())
