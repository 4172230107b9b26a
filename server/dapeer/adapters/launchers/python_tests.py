"""Run Python tests in a debugger that stops where they fail: `python_tests.py HOW RUNNER ARGUMENT...`.

A test runner catches what its tests raise, so a debugger sees no uncaught exception. This shows each failure
to the debugger as an uncaught exception when the runner reports it. Skipped tests, expected failures and
exceptions that a test catches itself are not failures. It runs in the interpreter of the user's tests, of any
version, and needs only the standard library. Without a debugger, or with a debugger of another structure, the
tests just run.

HOW is `module` or `program`, with a test runner: pytest, unittest, Django's manage.py. Or HOW is `auto`, and
RUNNER is the node id of a test: Django runs it in a Django project, else pytest if it is installed, else unittest.
Django and unittest get the test's dotted name.
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
"""Values for pytest's options that would run tests in other processes, start another debugger, or end a test
by a timeout while a person looks at it."""


def show(error: Sequence[Any]) -> None:
    """Stop where an exception was raised, if the debugger stops at uncaught exceptions."""
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
    # Keeps the debugger from tracing itself.
    information.is_tracing += 1
    try:
        inside.stop_on_unhandled_exception(
            debugger, thread, information, (kind, value, within(trace))
        )
    finally:
        information.is_tracing -= 1


def within(trace: Any) -> Any:
    """Return a traceback without its first frames that later ones have called.

    `subTest` catches in a frame below the test's own, whose traceback entry names the line of `with subTest`.
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
    """Yield the frames below that of a traceback's entry, its caller first."""
    frame = entry.tb_frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back


def run_pytest(arguments: list[str]) -> int:
    """Run `python -m pytest`; return the exit code."""
    import pytest

    class Shown:
        """A plugin that shows failures to the debugger, and switches off what disturbs debugging."""

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
            # Coverage uses the same trace function as debuggers.
            early_config.known_args_namespace.no_cov = True
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_cmdline_main(self, config: Any) -> Iterator[None]:
            for name, value in IN_THE_WAY.items():
                if getattr(config.option, name, NO_OPTION) is not NO_OPTION:
                    setattr(config.option, name, value)
            # A model reads pytest's header with the first stop, so it is left out.
            config.option.verbose = config.option.verbose or -1
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_report_teststatus(self, config: Any) -> Generator[None, Any, None]:
            outcome = yield
            category, letter, word = outcome.get_result()
            # The stop says more of a failed test than its letter does.
            outcome.force_result((category, letter if config.option.verbose > 0 else "", word))

        def pytest_exception_interact(self, call: Any) -> None:
            error: BaseException = call.excinfo.value
            if isinstance(error, pytest.Collector.CollectError):
                # pytest wraps an error in a test file into an exception of its own.
                error = error.__cause__ or error
            show((type(error), error, error.__traceback__))

    return int(pytest.main(arguments, plugins=[Shown()]))


def show_unittests() -> None:
    """Show failures of unittest to the debugger, whether unittest, Django or a program of the project runs it."""
    results: Any = unittest.TestResult

    def shown(name: str) -> None:
        stock = getattr(results, name)

        def add(self: object, *told: Any) -> None:
            if told[-1] is not None:
                show(told[-1])
            stock(self, *told)

        setattr(results, name, add)

    # The last argument of each is the exception, or None.
    for name in ("addError", "addFailure", "addSubTest"):
        shown(name)
    # Keeps Django's `--parallel` from running tests in other processes.
    os.environ.setdefault("DJANGO_TEST_PROCESSES", "1")


def run_by_program(how: str, name: str, arguments: list[str]) -> object:
    """Run `python NAME` or `python -m NAME` with these arguments; return the exit code."""
    show_unittests()
    launcher = sibling("debugpy_launcher")
    runpy: Any = sys.modules.get("_pydevd_bundle.pydevd_runpy") or importlib.import_module("runpy")
    sys.argv = [name, *arguments]
    try:
        (launcher.run_file if how == "program" else launcher.run_module)(name, runpy)
    except SystemExit as end:
        # The failures have been shown, so this one is not.
        return end.code
    return 0


def pose_as(module: str, arguments: list[str]) -> None:
    """Make `__main__` and the arguments what they are under `python -m MODULE`."""
    sys.path.insert(0, os.getcwd())
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
    """Import another of dapeer's launchers, which is not in a package here."""
    place = Path(__file__).with_name(f"{name}.py")
    spec: Any = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_node_id(node: str, arguments: list[str]) -> tuple[str, str, list[str]]:
    """Return how a test is run that is named by its node id: `program` or `module`, its name, its arguments."""
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
    """Whether a module is installed."""
    return importlib.util.find_spec(module) is not None


def dotted(node: str, folder: Path) -> str:
    """Return the dotted name of a test for unittest; make its file importable from outside of a package.

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
