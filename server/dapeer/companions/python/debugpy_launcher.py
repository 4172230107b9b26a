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


def beside(name: str) -> Any:
    """Import a module that is in this file's folder, by its name, and return it.

    `sys.path` stays as it was.
    """
    sys.path.insert(0, str(Path(__file__).absolute().parent))
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[0]


patching: Any = beside("dapeer_debuggee.patching")

DESCRIBED = "debugpy.common.log:describe_environment"
CLI = "debugpy.server.cli"
ENVIRONMENT = patching.Row(
    "environment",
    "debugpy",
    "A start takes up to twice as long, since debugpy describes its environment four times.",
    replaces={DESCRIBED: "header"},
    uses=("debugpy.common.log:_levels",),
)
AS_PYTHON = patching.Row(
    "program-as-python",
    "debugpy",
    "Programs run in a namespace of debugpy's, with its frames below them.",
    replaces={f"{CLI}:run_file": "", f"{CLI}:run_module": "", f"{CLI}:run_code": ""},
    uses=(
        f"{CLI}:options",
        f"{CLI}:start_debugging(argv_0)",
        f"{CLI}:runpy",
        f"{CLI}:runpy._run_module_as_main",
    ),
)
TRACEBACKS = patching.Row(
    "tracebacks",
    "Python",
    "The traceback of a program's end begins with frames of debugpy.",
    adds=True,
)
FROZEN = ("-X", "frozen_modules=off") if sys.version_info >= (3, 11) else ()
options: list[str] = []
"""Python and the options that it was started with, as far as the user has named them."""
ADDED = (*FROZEN, "-u")
"""Options that debugpy's launcher and `debugpy_launching` add behind the user's."""
left: list[Callable[[], None]] = []
"""What runs the program, once the debugger has started."""
at_end: list[Callable[[], None]] = []
"""What is called where an error ends the program."""


class DeferredModule(types.ModuleType):
    """Stands for a module while debugpy imports it: its functions return nothing; later it is the module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            return str
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def delay_imports(*names: str) -> Generator[None]:
    """Delay imports of modules in the body: code that imports one there gets a stand-in for the module.

    `names` are modules, as dotted names; those that are in `sys.modules` already are imported as usual.
    During the body every attribute of a stand-in is `str`, so a function called there returns a text and
    does nothing else; names that begin with `__` are missing, but for those that any module has. After the
    body the stand-ins are removed from `sys.modules`, and code that has kept one imports the module by its
    first use of an attribute; a name taken by `from MODULE import` stays `str`.
    """
    late = [DeferredModule(name) for name in names if name not in sys.modules]
    sys.modules.update((each.__name__, each) for each in late)
    try:
        yield
    finally:
        for each in late:
            sys.modules.pop(each.__name__, None)


def import_log() -> Any:
    """Import debugpy's log and return it, but what it describes the environment by only if debugpy logs.

    Raises:
        ImportError: debugpy has another structure.
    """
    # These might need the modules themselves.
    for each in ("json", "timestamp", "util"):
        importlib.import_module(f"debugpy.common.{each}")
    logs = any(name.startswith("DEBUGPY_LOG_") for name in os.environ)
    with delay_imports(*() if logs else ("importlib.metadata", "platform")):
        return importlib.import_module("debugpy.common.log")


def describe_little() -> None:
    """Apply the row `ENVIRONMENT`, after importing debugpy's log without modules that it may not need.

    The row's probe would load these.
    """
    with contextlib.suppress(Exception):
        import_log()
    ENVIRONMENT.apply()


@ENVIRONMENT
def describe_only_what_is_logged(patch: Any) -> None:
    """Patch debugpy so that it describes its environment only if its log has the level `info`.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    log: Any = importlib.import_module("debugpy.common.log")

    @patch.replace(DESCRIBED)
    def describe_environment(stock: Any, *given: Any, **named: Any) -> None:
        if "info" in log._levels:
            stock(*given, **named)


def improve() -> None:
    """Patch pydevd in this debuggee, and in the Python processes that it starts."""
    dapeer_debuggee = beside("dapeer_debuggee.improving")
    dapeer_debuggee.improve(prints=True)
    dapeer_debuggee.improve_children()


@AS_PYTHON
def take_over(patch: Any) -> None:
    """Patch debugpy so that its command line only starts the debugger, and does not run the program.

    In place of running the program, the patched command line appends a function without arguments to `left`,
    which `main` calls later: that runs the file, module or code of the command line by `run_file`, `run_module`
    or `run_code` of this module, not by debugpy's. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced here.

    Raises:
        Misfit, ImportError, AttributeError: debugpy lacks what is to be replaced; `Row.apply` catches this.
    """
    cli: Any = importlib.import_module(CLI)
    options, runpy_of_it = cli.options, cli.runpy

    @patch.replace(f"{CLI}:run_file")
    def file(stock: Any, *given: Any, **named: Any) -> None:
        cli.start_debugging(options.target)
        left.append(lambda: run_file(str(options.target), runpy_of_it))

    @patch.replace(f"{CLI}:run_module")
    def module(stock: Any, *given: Any, **named: Any) -> None:
        cli.start_debugging(options.target)
        left.append(lambda: run_module(str(options.target), runpy_of_it))

    @patch.replace(f"{CLI}:run_code")
    def code(stock: Any, *given: Any, **named: Any) -> None:
        cli.start_debugging("-c")
        left.append(lambda: run_code(str(options.target), runpy_of_it))


def run_file(path: str, runpy_of_debugpy: Any) -> None:
    """Run a script, a folder or an archive in a new `__main__`, as `python PATH` does.

    `runpy_of_debugpy` is the module `runpy` that debugpy uses: pydevd knows frames of its file. A folder or
    archive is put at the front of `sys.path`; of a script its folder is, unless Python's options forbid that.
    A script may be compiled (`.pyc`). `sys.argv` is left as it is. `__main__` in `sys.modules` is replaced,
    and stays so. The function returns when the program has ended. What the program raises is raised,
    `SystemExit` included.

    Raises:
        OSError: The script cannot be read.
        SyntaxError, ValueError: The script cannot be compiled.
    """
    namespace = fresh_main(path)
    # As Python does; `sys.argv` has what was typed.
    path = path if sys.version_info < (3, 9) else os.path.join(os.getcwd(), path)
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
    """Return a function that executes code in a namespace; its frame is one that pydevd takes for its own.

    The frame has the file of `runpy_of_debugpy`. Without it, pydevd misses uncaught exceptions from Python 3.12 on.
    """
    text = "def run(code, namespace):\n    exec(code, namespace)\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, runpy_of_debugpy.__file__, "exec"), namespace)  # noqa: S102 - its purpose
    return namespace["run"]


def run_module(name: str, runpy_of_debugpy: Any) -> None:
    """Run a module in a new `__main__`, as `python -m NAME` does.

    `runpy_of_debugpy` is the module `runpy` that debugpy uses, by which the module is run: pydevd knows frames of its file. The working
    directory is put on `sys.path`, unless Python's options forbid that. What the program raises is raised.
    """
    fresh_main("-m", name)
    if not no_folders():
        sys.path.insert(0, os.getcwd())
    sys.argv[0] = "-m"
    runpy_of_debugpy._run_module_as_main(name, alter_argv=True)


def run_code(text: str, runpy_of_debugpy: Any) -> None:
    """Run code in a new `__main__`, as `python -c TEXT` does.

    `runpy_of_debugpy` is the module `runpy` that debugpy uses: the code runs below a frame of its file, which pydevd knows. `""` is put on
    `sys.path`, unless Python's options forbid that. What the program raises is raised.
    """
    namespace = fresh_main("-c", text)
    if not no_folders():
        sys.path.insert(0, "")
    executing(runpy_of_debugpy)(compile(text, "<string>", "exec", dont_inherit=True), namespace)


def fresh_main(*named: str) -> dict[str, Any]:
    """Replace `sys.modules["__main__"]` by an empty module, as Python makes it, and return its namespace.

    The namespace is the module's own dict. `named` is what the command line has between Python's options and
    the arguments, such as a path: with Python's own command (`options`) before it and `sys.argv[1:]` after it,
    it becomes `sys.orig_argv`, by which a reloader starts the program again. While `options` is empty,
    `sys.orig_argv` stays as it is, and `named` does nothing.
    """
    if options:
        AS_PYTHON.set("sys:orig_argv", [*options, *named, *sys.argv[1:]])
    module = types.ModuleType("__main__")
    namespace = vars(module)
    namespace["__loader__"] = machinery.BuiltinImporter
    if sys.version_info < (3, 14):
        namespace["__annotations__"] = {}
    namespace["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return namespace


def no_folders() -> bool:
    """Return whether Python must not import from the program's folder (options `-I` and `-P`)."""
    return bool(sys.flags.isolated or getattr(sys.flags, "safe_path", False))


@TRACEBACKS
def hide_launcher(patch: Any) -> None:
    """Have frames of debugpy and this launcher removed from the traceback that Python prints at the end.

    A function is added to `at_end`, which wraps the `sys.excepthook` that the program has left; the program
    sees none of ours while it runs. `patch` is this patch's `patching.Row`: it calls this function when it
    is applied, and its `undo` puts back what was replaced by it.

    Raises:
        KeyError: debugpy has not been imported.
    """
    folder = os.path.join(os.path.dirname(str(sys.modules["debugpy"].__file__)), "")

    def shorten() -> None:
        """Wrap `sys.excepthook` by one that removes the frames of debugpy and this file at the beginning.

        The exception's traceback is changed, too.
        """
        stock = sys.excepthook

        def shortened(kind: Any, error: Any, trace: Any) -> None:
            while trace is not None and trace.tb_frame.f_code.co_filename.startswith(
                (folder, __file__)
            ):
                trace = trace.tb_next
            stock(kind, error.with_traceback(trace), trace)

        patch.set("sys:excepthook", shortened)

    at_end.append(patch.guard(shorten, lambda: None))


def read_from(path: str) -> None:
    """Make a file the standard input, which the program inherits; an empty `path` changes nothing."""
    if path:
        opened = os.open(path, os.O_RDONLY)
        os.dup2(opened, 0)
        os.close(opened)


def main() -> None:
    """Run debugpy's launcher, or the program under its debug server, as the command line says.

    `sys.argv` has the path of debugpy's folder, or of `launcher` in it, and that program's arguments; it and `sys.path` are made what they
    would be without this file. For the launcher, the variable `DAPEER_STDIN` is taken from the environment: the path of a file for stdin.
    Patches that do not fit are left out. What ends the program is raised here, after the functions in `at_end` were called.
    """
    started = getattr(sys, "orig_argv", sys.argv)[: -len(sys.argv)]
    options[:] = [*started[: -len(ADDED)]] if tuple(started[-len(ADDED) :]) == ADDED else [*started]
    if not no_folders():
        # The folder of this file.
        del sys.path[0]
    del sys.argv[0]
    entry = Path(sys.argv[0])
    launches = entry.name == "launcher"
    sys.path.insert(0, os.path.normpath(entry / ("../.." if launches else "..")))
    debugpy = importlib.import_module("debugpy")
    del sys.path[0]
    describe_little()
    if launches:
        read_from(os.environ.pop("DAPEER_STDIN", ""))
        folder, script = Path(str(debugpy.__file__)).parent, Path(__file__).absolute()
        beside("debugpy_launching").run(str(folder), str(script), beside)
        return
    with contextlib.suppress(Exception):
        # Parts of pydevd serve other clients than debugpy by these, which load a fifth of Python's library.
        greenlets = beside("debugpy_launching").set_gevent_support(sys.argv)
        with greenlets, delay_imports("xmlrpc.client", "xmlrpc.server", "http.server"):
            importlib.import_module("debugpy._vendored.force_pydevd")
        improve()
    untraced: Any = sys.modules.get("dapeer_debuggee.process.untraced")
    if untraced is not None:
        at_end.append(untraced.UNTRACED.guard(untraced.tracing.show, lambda: None))
    AS_PYTHON.apply()
    TRACEBACKS.apply()
    try:
        # As debugpy's `__main__` does, but the program runs without debugpy's frames below it.
        importlib.import_module(CLI).main()
        patching.report_off_rows()
        for run in left:
            run()
    except BaseException:
        for each in at_end:
            each()
        raise
    finally:
        with contextlib.suppress(Exception):
            beside("dapeer_debuggee.stops.breaking").report_tracer()


if __name__ == "__main__":
    main()
