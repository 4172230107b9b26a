"""Run debugpy's launcher, or the program under debugpy's server: as Python would run it, and faster.

    python debugpy_launcher.py FOLDER_OF_DEBUGPY[/launcher] ARGUMENT...

debugpy describes its environment even if it does not log: it asks a program for the processor, and reads the metadata
of every installed package, in the adapter, in the launcher, and twice in the debuggee, there with tracing on. That takes
half of a start, and more where many packages are installed. debugpy also runs programs in a namespace of its own, which hides some
faults of programs. A debugpy of another structure stays unpatched.

This runs in the program's own Python. Its file has the one name that debugpy hides from stacks.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import os
import pkgutil
import sys
import types
from collections.abc import Callable, Generator
from importlib import machinery
from pathlib import Path
from typing import Any


class Late(types.ModuleType):
    """Stands for a module while debugpy imports it, and has but functions that return nothing; later it gives what that module has."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            return str
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def without(*names: str) -> Generator[None]:
    """Import no modules of these names in the body; what the body imports gets each when it uses it."""
    late = [Late(name) for name in names if name not in sys.modules]
    sys.modules.update((each.__name__, each) for each in late)
    try:
        yield
    finally:
        for each in late:
            sys.modules.pop(each.__name__, None)


def import_log() -> Any:
    """Import debugpy's log, but what it describes the environment by only if it does.

    Raises:
        ImportError: debugpy has another structure.
    """
    # These might need the modules themselves.
    for each in ("json", "timestamp", "util"):
        importlib.import_module(f"debugpy.common.{each}")
    logs = any(name.startswith("DEBUGPY_LOG_") for name in os.environ)
    with without(*() if logs else ("importlib.metadata", "platform")):
        return importlib.import_module("debugpy.common.log")


def describe_only_what_is_logged(log: Any) -> None:
    """Make debugpy describe its environment only if it logs that.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    stock: Callable[[str], None] = log.describe_environment
    log._levels  # is it there?

    def describe_environment(header: str) -> None:
        if "info" in log._levels:
            stock(header)

    log.describe_environment = describe_environment


def improve() -> None:
    """Patch debugpy in the debuggee, and in the Python processes that the debuggee starts.

    Raises:
        AttributeError: debugpy has another structure.
    """
    in_debuggee = beside("in_debuggee.improving")
    in_debuggee.improve(prints=True)
    in_debuggee.improve_children()


def beside(name: str) -> Any:
    """Import a module that is beside this file."""
    sys.path.insert(0, str(Path(__file__).absolute().parent))
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[0]


def take_over(cli: Any) -> list[Callable[[], None]]:
    """Make debugpy's command line start only the debugger; return the list to which it adds what runs the program.

    Raises:
        AttributeError: The module has another structure; it stays unchanged.
    """
    options, start, runpy_of_it = cli.options, cli.start_debugging, cli.runpy
    known = (
        cli.run_file,
        cli.run_module,
        cli.run_code,
        runpy_of_it._run_module_as_main,
    )  # are they there?
    if not all(map(callable, known)):
        raise AttributeError
    left: list[Callable[[], None]] = []

    def file() -> None:
        start(options.target)
        left.append(lambda: run_file(str(options.target), runpy_of_it))

    def module() -> None:
        start(options.target)
        left.append(lambda: run_module(str(options.target), runpy_of_it))

    def code() -> None:
        start("-c")
        left.append(lambda: run_code(str(options.target), runpy_of_it))

    cli.run_file, cli.run_module, cli.run_code = file, module, code
    return left


def run_file(path: str, runpy_of_debugpy: Any) -> None:
    """Run a script, a folder or an archive as `python PATH` does."""
    namespace = fresh_main()
    if pkgutil.get_importer(path) is not None:
        sys.path.insert(0, path)
        runpy_of_debugpy._run_module_as_main("__main__", alter_argv=False)
        return
    if not no_folders():
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    with io.open_code(path) as stream:
        code = pkgutil.read_code(stream)
    compiled = code is not None
    if code is None:
        with io.open_code(path) as stream:
            code = compile(stream.read(), path, "exec", dont_inherit=True)
    loader = machinery.SourcelessFileLoader if compiled else machinery.SourceFileLoader
    namespace.update(__loader__=loader("__main__", path), __file__=path, __cached__=None)
    executing(runpy_of_debugpy)(code, namespace)


def executing(runpy_of_debugpy: Any) -> Callable[[Any, dict[str, Any]], None]:
    """Return the function that executes the user's code, with the names by which pydevd finds a program's first frame.

    Without them, pydevd misses uncaught exceptions from Python 3.12 on.
    """
    text = "def run(code, namespace):\n    exec(code, namespace)\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, runpy_of_debugpy.__file__, "exec"), namespace)  # noqa: S102 - its purpose
    return namespace["run"]


def run_module(name: str, runpy_of_debugpy: Any) -> None:
    """Run a module as `python -m NAME` does."""
    fresh_main()
    if not no_folders():
        sys.path.insert(0, os.getcwd())
    sys.argv[0] = "-m"
    runpy_of_debugpy._run_module_as_main(name, alter_argv=True)


def run_code(text: str, runpy_of_debugpy: Any) -> None:
    """Run code as `python -c TEXT` does."""
    namespace = fresh_main()
    if not no_folders():
        sys.path.insert(0, "")
    executing(runpy_of_debugpy)(compile(text, "<string>", "exec", dont_inherit=True), namespace)


def fresh_main() -> dict[str, Any]:
    """Make `__main__` as Python makes it at its start, and return its namespace."""
    module = types.ModuleType("__main__")
    namespace = vars(module)
    namespace["__loader__"] = machinery.BuiltinImporter
    if sys.version_info < (3, 14):
        namespace["__annotations__"] = {}
    namespace["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return namespace


def no_folders() -> bool:
    """Whether Python must not import from the program's folder (`-I`, `-P`)."""
    return bool(sys.flags.isolated or getattr(sys.flags, "safe_path", False))


def hide_launcher(folder: str) -> None:
    """Remove the frames of debugpy and this launcher from the traceback that Python prints at the end."""
    stock = sys.excepthook

    def shortened(kind: Any, error: Any, trace: Any) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(
            (folder, __file__)
        ):
            trace = trace.tb_next
        stock(kind, error.with_traceback(trace), trace)

    sys.excepthook = shortened


def main() -> None:
    """Run debugpy's launcher or the program, as the arguments say."""
    if not no_folders():
        # The folder of this file.
        del sys.path[0]
    del sys.argv[0]
    entry = Path(sys.argv[0])
    launches = entry.name == "launcher"
    sys.path.insert(0, os.path.normpath(entry / ("../.." if launches else "..")))
    debugpy = importlib.import_module("debugpy")
    del sys.path[0]
    with contextlib.suppress(ImportError, AttributeError):
        describe_only_what_is_logged(import_log())
    if launches:
        folder, script = Path(str(debugpy.__file__)).parent, Path(__file__).absolute()
        beside("debugpy_launching").run(str(folder), str(script), beside)
        return
    with contextlib.suppress(ImportError, AttributeError):
        # Parts of pydevd serve other clients than debugpy by these, which load a fifth of Python's library.
        with without("xmlrpc.client", "xmlrpc.server", "http.server"):
            importlib.import_module("debugpy._vendored.force_pydevd")
        improve()
    # As debugpy's `__main__` does, but the program runs without debugpy's frames below it.
    cli: Any = importlib.import_module("debugpy.server.cli")
    left: list[Callable[[], None]] = []
    with contextlib.suppress(AttributeError):
        left = take_over(cli)
    cli.main()
    try:
        for run in left:
            run()
    except BaseException:
        hide_launcher(os.path.dirname(str(debugpy.__file__)))
        raise


if __name__ == "__main__":
    main()
