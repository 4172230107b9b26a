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
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

IN_THE_WAY: dict[str, object] = {
    "numprocesses": 0, "dist": "no", "tx": [], "forked": False,
    "usepdb": False, "trace": False, "timeout": 0,
}  # fmt: skip
"""pytest's options that would start processes or another debugger, or time out; with harmless values.

A timeout would end a test while a person looks at it.
"""
SCRIPTS_OF_PYTEST = ("pytest", "py.test")
NAMES = {"numprocesses": "-n", "usepdb": "--pdb"}
"""Options of pytest that are named otherwise than their values."""


def show(error: Sequence[Any]) -> None:
    """Stop where an exception was raised, if the debugger stops at uncaught exceptions.

    `error` is its type, itself and its traceback. Of the traceback, first entries are left out whose frames were called by frames of later
    entries: a test runner's.
    """
    kind, value, trace = error
    showing.show((kind, value, without_runner_frames(trace)))


def without_runner_frames(trace: Any) -> Any:
    """Return a traceback without first entries whose frames were called by frames of later entries.

    `subTest` catches in a frame below the test's own, whose traceback entry names the line of `with subTest`. `trace` may be None.
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
    """Yield the frames that have called that of a traceback's entry, the nearest first."""
    frame = entry.tb_frame.f_back
    while frame is not None:
        yield frame
        frame = frame.f_back


def run_pytest(arguments: list[str]) -> int:
    """Run pytest in this process with these arguments, and return its exit code.

    The tests run before it returns, without a limit of time. The caller has set `sys.argv` and `sys.path` as
    they are for pytest. The exception of each failed test, or of a file that cannot be imported, is shown to
    the debugger when pytest reports it. Options that disturb a debugger, such as `-n`, `--pdb` or `--cov`,
    are switched off, and named on stderr if they were given. Without `-v`, pytest writes no header, and no
    letter for a test.

    Raises:
        ImportError: pytest is not installed.
    """
    import pytest

    class FailurePlugin:
        """A plugin that shows failures to the debugger, and switches off what disturbs debugging."""

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
            # Coverage uses the same trace function as debuggers.
            early_config.known_args_namespace.no_cov = True
            yield

        @pytest.hookimpl(hookwrapper=True)
        def pytest_cmdline_main(self, config: Any) -> Iterator[None]:
            """Set options that would disturb a debugger to harmless values, and drop pytest's header.

            Those that were set are named on stderr.
            """
            known: dict[str, Any] = config.option.__dict__
            report_disabled_options(known)
            known.update({name: IN_THE_WAY[name] for name in known.keys() & IN_THE_WAY.keys()})
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
            """Show the exception of a failed test, or of a file that cannot be imported, to the debugger."""
            error: BaseException = call.excinfo.value
            if isinstance(error, pytest.Collector.CollectError):
                # pytest wraps an error in a test file into an exception of its own.
                error = error.__cause__ or error
            for each in doctest_errors(error):
                show((type(each), each, each.__traceback__))

    return int(pytest.main(arguments, plugins=[FailurePlugin()]))


def report_disabled_options(known: dict[str, Any]) -> None:
    """Write a line to stderr that names the pytest options which debugging is about to switch off.

    The options may come from the command line or the project's configuration. `known` are pytest's values by
    option name, before they are changed; nothing is changed here. No line is written if none is switched off.
    `-n` sets `--dist` and `--tx`, too, so these are not named with it.
    """
    others = () if known.get("numprocesses") else ("dist", "tx")
    named = [*(IN_THE_WAY.keys() - {"dist", "tx"}), *others]
    off = [NAMES.get(each, f"--{each}") for each in sorted(named)
           if known.get(each) and known[each] != IN_THE_WAY[each]]  # fmt: skip
    off += ["--cov"] if known.get("cov_source") else []
    if off:
        sys.stderr.write(f"While they are debugged, the tests run without {', '.join(off)}.\n")


def doctest_errors(error: Any) -> Iterator[BaseException]:
    """Yield the error itself; of a failed doctest one exception for each failed example instead.

    `error` is the exception of a failed test. The exception for an example is raised and caught here at the
    example's line, so its traceback names that line: it is what the example has raised, or else an
    `AssertionError` with the wanted and the printed text. A failure whose line is unknown is yielded itself.
    """
    for each in getattr(error, "failures", None) or [error]:
        test: Any = getattr(each, "test", None)
        example: Any = getattr(each, "example", None)
        if example is None or getattr(test, "lineno", None) is None:
            yield each
            continue
        line = test.lineno + example.lineno + 1
        raised = getattr(each, "exc_info", None)
        failed = (
            raised[1]
            if raised
            else AssertionError(f"expected {example.want.strip()}, got {each.got.strip()}")
        )
        code = compile("\n" * (line - 1) + "raise __failed__", test.filename, "exec")
        try:
            exec(code, {"__failed__": failed}, dict(test.globs))  # noqa: S102 - a line to raise at
        except BaseException as at_example:  # noqa: BLE001 - whatever it is
            yield at_example


def rows_of_unittest(patching: Any) -> list[Any]:
    """Register the rows by which failures of unittest reach the debugger; return them, not applied.

    `patching` is the module of that name.
    """
    causes: list[tuple[BaseException, BaseException]] = []
    return [row_of_imports(patching, causes), row_of_failures(patching, causes)]


def row_of_imports(patching: Any, causes: list[tuple[BaseException, BaseException]]) -> Any:
    """Make the patch that keeps why unittest could not import a file of tests; return it, not applied.

    For such a file unittest makes a test that fails with a new exception of unittest's own; with the patch, that
    exception is kept together with the one that the import raised. The patch is a `patching.Row`, which enters
    itself into the register of patches; its `apply` is left to the caller.

    Args:
        patching: The module `patching`.
        causes: A pair is appended for each such file: unittest's exception, and the one that the import raised.
            Nothing is appended where unittest's has a traceback, or no exception
            is being handled when unittest makes the test.
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
) -> Any:
    """Register the row that has the debugger stop at failures which unittest reports, and return it.

    The stop is where the exception was raised, if the debugger stops at uncaught ones; what unittest reports
    stays the same. The row is not applied here.

    Args:
        patching: The module `patching`.
        causes: Pairs of an exception of unittest's own, and the one of the program that the debugger gets in its
            place; a failure of no pair is shown as it is. They are read at each failure, so that later pairs
            count, too.
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


def show_unittests() -> None:
    """Show failures of unittest to the debugger from now on, whatever program runs it.

    It applies the rows, and sets an environment variable that keeps Django from running tests in other processes.
    """
    for row in rows_of_unittest(sibling("debugpy_launcher").patching):
        row.apply()
    # Keeps Django's `--parallel` from running tests in other processes.
    os.environ.setdefault("DJANGO_TEST_PROCESSES", "1")


def run_by_program(how: str, name: str, arguments: list[str]) -> object:
    """Run `python NAME` or `python -m NAME` in this process, with these arguments; return the exit code.

    `how` is `program` if `name` is a path, `module` if it is a module; `arguments` are those behind the name. The
    code is what `SystemExit` carries, perhaps None or a text; 0 if the program just ends. Any other exception of
    the program leaves this function. `sys.argv` is set, and from now on failures of unittest are shown to the
    debugger, and pydevd does not stop at a `SystemExit` with None or a code of 0 to 255. The variable
    `DJANGO_TEST_PROCESSES` is set to 1 unless it is set, so that Django runs tests in this process.
    """
    show_unittests()
    launcher = sibling("debugpy_launcher")
    runpy: Any = sys.modules.get("_pydevd_bundle.pydevd_runpy") or importlib.import_module("runpy")
    sys.argv = [name, *arguments]
    pass_by_exit_codes()
    try:
        (launcher.run_file if how == "program" else launcher.run_module)(name, runpy)
    except SystemExit as end:
        # The failures have been shown, so this one is not.
        return end.code
    return 0


def pass_by_exit_codes() -> None:
    """Make pydevd, where there is one, not stop at `SystemExit`.

    Since Python 3.12 pydevd misses that it is caught.
    """
    debugger: Any = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
    ignore: Any = getattr(debugger, "set_ignore_system_exit_codes", None)
    if ignore is not None:
        ignore([None, *range(256)])


def pose_as(module: str, arguments: list[str]) -> None:
    """Set `__main__` and `sys.argv` as they are under `python -m MODULE ARGUMENT…`.

    `module` is a package that must have a `__main__`: without one this fails with an `AttributeError` when
    `sys.modules["__main__"]` is replaced already. The `__main__` is not run here; the package itself is
    imported, which runs its code. The working directory becomes the first entry of `sys.path`, also where an
    error is raised. `sys.modules["__main__"]` is replaced by a new module.

    Raises:
        ImportError: There is no such package, or it cannot be imported. Any other exception that the package
            raises at its import leaves this function, too.
    """
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
    """Load a file of `companions/python/` anew by its path without `.py`, and return the module.

    It is not put into `sys.modules`.
    """
    place = Path(__file__).parent / f"{name}.py"
    spec: Any = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


showing = sibling("dapeer_debuggee/process/showing")


def by_node_id(node: str, arguments: list[str]) -> tuple[str, str, list[str]]:
    """Return how to run a test: `program` or `module`, that one's path or name, and its arguments.

    `node` is the test's id as of pytest, `FILE::NAME…`; `arguments` are further ones for the runner, put behind
    the test. A test below a `manage.py` is run by that program if Django can be imported and pytest-django
    cannot; any other one by the module pytest if it can be imported, else by unittest, which is said on stderr.
    For Django and unittest, the test file's folder may be appended to `sys.path`. Nothing is run here.
    """
    manage = next(
        (folder / "manage.py" for folder in Path(node.partition("::")[0]).absolute().parents
         if (folder / "manage.py").is_file()), None,
    )  # fmt: skip
    if manage is not None and is_there("django") and not is_there("pytest_django"):
        options = ["test", dotted_name(node, manage.parent), "--noinput"]
        return "program", str(manage), [*options, *arguments]
    if is_there("pytest"):
        return "module", "pytest", [node, *arguments]
    report_unittest()
    return "module", "unittest", [dotted_name(node, Path.cwd()), *arguments]


def report_unittest() -> None:
    """Write to stderr that unittest runs the tests, since pytest is not installed."""
    sys.stderr.write(f"pytest is not installed for {sys.executable}: running unittest instead.\n")


def discovery_arguments(folder: str) -> list[str]:
    """Return the arguments by which unittest finds the tests of a folder.

    Write to stderr that it runs them. If the folder is a package, its parents are found from the working directory.
    """
    report_unittest()
    package = ["-t", os.getcwd()] if Path(folder, "__init__.py").is_file() else []
    return ["discover", "-s", folder, *package]


def is_there(module: str) -> bool:
    """Return whether a module can be imported; it is only looked for."""
    return importlib.util.find_spec(module) is not None


def dotted_name(node: str, folder: Path) -> str:
    """Return the dotted name of a test for unittest, without parameters.

    `node` is the test's id as of pytest, whose path is absolute or relative to the working directory. `folder`
    is where the dotted name begins. Where the file is not below `folder`, or a part of its path there, without
    the suffix, is no identifier, the file's folder is appended to `sys.path`, and the name begins with the
    file's.

    >>> dotted_name("tests/test_cart.py::TotalTest::test_of_none", Path.cwd())
    'tests.test_cart.TotalTest.test_of_none'
    >>> dotted_name("tests/test_cart.py::test_of[a::b]", Path.cwd())
    'tests.test_cart.test_of'
    """
    file, _, test = node.partition("::")
    names = test.partition("[")[0].split("::") if test else []
    module = Path(os.path.relpath(file, folder)).with_suffix("")
    if not all(part.isidentifier() for part in module.parts):
        sys.path.append(str(Path(file).absolute().parent))
        module = Path(module.name)
    return ".".join([*module.parts, *names])


def main() -> Any:
    """Run the tests that `sys.argv` names, and return the exit code.

    Each failure is shown to the debugger as an uncaught exception. The arguments are HOW, RUNNER and further ones
    of the runner. HOW is `module` or `program`, with the name of a test runner; or `auto`, with the node id of a
    test, for which a runner is chosen. Without pytest, the tests of a folder that were meant for it are run by
    unittest. `sys.argv` is set as the runner expects it, and this file's folder is removed from `sys.path`. The
    `SystemExit` of a runner other than pytest is caught, and its code returned, which may be None or a text; other
    exceptions leave this function.
    """
    how, name, *arguments = sys.argv[1:]
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    if how == "auto":
        how, name, arguments = by_node_id(name, arguments)
    if how == "program" and Path(name).name in SCRIPTS_OF_PYTEST:
        # Unlike `python -m pytest`, its script does not have the working directory on its path.
        sys.argv, sys.path = [name, *arguments], [str(Path(name).parent), *sys.path]
        return run_pytest(arguments)
    if name == "pytest" and not is_there("pytest") and [*map(os.path.isdir, arguments)] == [True]:
        name, arguments = "unittest", discovery_arguments(*arguments)
    if name != "pytest":
        return run_by_program(how, name, arguments)
    pose_as("pytest", arguments)
    return run_pytest(arguments)


if __name__ == "__main__":
    sys.exit(main())
