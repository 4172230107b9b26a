"""Runs debugpy's injector so that its code leaves nothing in a program, nor is hindered by it.

debugpy runs its code among the program's own global names, imports what it needs by the program's path, where a file of the program may
have the name of a module of Python's library, and leaves modules of its own. Where its adapter goes away meanwhile, gdb stops at the
program's SIGPIPE and gives up the call that it makes there, and the code would wait for the adapter without end.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dapeer.companions.python.debugpy_launcher import patching

CODE = """
import os, sys
here, known = sys.path[:], dict(sys.modules)
library = os.path.join(os.path.dirname(os.__file__), "")
packages = tuple(os.path.join(library, each, "") for each in ("site-packages", "dist-packages"))
names = getattr(sys, "stdlib_module_names", None) or {each.partition(".")[0] for each in os.listdir(library)}
def is_foreign(name, module):
    file = getattr(module, "__file__", None)
    inside = type(file) is str and file.startswith(library) and not file.startswith(packages)
    return name.partition(".")[0] in names - {"__main__"} and type(file) is str and not inside
own = ("attach_pid_injected", "attach_script")
foreign = {name: each for name, each in known.items() if name in own or is_foreign(name, each)}
for name in foreign:
    del sys.modules[name]
for module in filter(None, map(sys.modules.get, ("os", "subprocess", "_posixsubprocess", "_winapi"))):
    for name, stock in list(vars(module).items()):
        if name.startswith("original_") and getattr(module, name[9:], None) is stock:
            delattr(module, name)
sys.path[:] = [library[:-1], os.path.join(library, "lib-dynload"), *here]
had = "debugpy" in known and not hasattr(known["debugpy"], "injected_by_dapeer")
quiet = "PYDEVD_DISABLE_FILE_VALIDATION"
said = os.environ.get(quiet)
os.environ[quiet] = "1"
try:
    exec(INJECTED, {})
finally:
    if said is None:
        del os.environ[quiet]
    sys.path[:] = here
    for name in own:
        sys.modules.pop(name, None)
    sys.modules.update(foreign)
if not had:
    sys.modules["debugpy"].injected_by_dapeer = True
"""
"""What runs in the program, in a namespace of its own: Python's library comes first meanwhile."""
SECONDS_TO_BE_TOLD = 60
"""Seconds that a program waits for its debugger's configuration; an attach takes less."""
GONE = """
class Setup(dict):
    def __getitem__(self, name):
        if name == "mode":
            go_on_without_debugger(__import__("sys").modules["pydevd"].PyDB)
        return dict.__getitem__(self, name)
def go_on_without_debugger(kind):
    wait, dispose = kind.wait_for_ready_to_run, kind.dispose_and_kill_all_pydevd_threads
    if hasattr(wait, "by_dapeer"):
        return
    def wait_for_ready_to_run(debugger):
        late = __import__("threading").Timer(SECONDS_TO_BE_TOLD, debugger.dispose_and_kill_all_pydevd_threads)
        late.daemon = late.is_pydev_daemon_thread = late.pydev_do_not_trace = True
        late.start()
        try:
            wait(debugger)
        finally:
            late.cancel()
        if debugger.pydb_disposed:
            for name in ("start_auxiliary_daemon_threads", "patch_threads", "enable_tracing",
                         "set_tracing_for_untraced_contexts", "set_trace_for_frame_and_parents"):
                setattr(debugger, name, lambda *_, **__: None)
    def dispose_and_kill_all_pydevd_threads(debugger, *rest, **named):
        try:
            return dispose(debugger, *rest, **named)
        finally:
            debugger.ready_to_run = True
    # What patches pydevd later looks at the parameters of the stock functions.
    wait_for_ready_to_run.__wrapped__ = wait
    dispose_and_kill_all_pydevd_threads.__wrapped__ = dispose
    wait_for_ready_to_run.by_dapeer = True
    kind.wait_for_ready_to_run = wait_for_ready_to_run
    kind.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
"""
"""Lets a program go on whose debugger leaves it before it was told how to debug, or never tells it.

debugpy would have it wait for ever, in the call that gdb makes. It asks its setup for the mode when it has imported pydevd, and before it connects.
"""
ATTACHING = ("_vendored", "pydevd", "pydevd_attach_to_process")


def isolated_code(code: str) -> str:
    """Return a line of Python that runs `code` in a namespace of its own, and leaves nothing behind.

    `code` is what debugpy would have run in the program. The line has no quotes and no line end, since gdb gets it within quotes.
    """
    text = CODE.replace("INJECTED", repr(code))
    return f"exec(bytes({[*text.encode()]}).decode(), dict())".replace(" ", "")


def quiet(code: str) -> str:
    """Return debugpy's code to inject, changed so that it prints no notes on threads.

    It still prints errors.
    """
    imported = "import attach_pid_injected;"
    return code.replace(imported, f"{imported}attach_pid_injected.print = lambda *_, **__: None;")


def able_to_go_on(code: str, seconds: float = SECONDS_TO_BE_TOLD) -> str:
    """Return debugpy's code to inject, changed so that the program goes on if its debugger has left.

    So does one whose debugger does not configure it within `seconds`.
    """
    beginning = f"SECONDS_TO_BE_TOLD={seconds};exec({GONE!r});import codecs;"
    return code.replace("import codecs;", beginning, 1).replace(
        ".attach(setup)", ".attach(Setup(setup))"
    )


INJECTS = "add_code_to_python_process"
RUN = f"{INJECTS}:run_python_code"
BATCH = " --batch "
NO_STOPS = f"{BATCH}--eval-command='handle all nostop noprint pass' "
"""Has gdb's call go on at a signal of the program.

That may be SIGPIPE, at a write to an adapter that has gone. gdb would give up the call midway and detach; where the called function returns to, there is only gdb's breakpoint, which kills.
"""
RUNNING = "Running: "
"""Begins what debugpy prints of a command: its code fills an error that quotes what was printed."""
ALONE = patching.Row(
    "injected-alone",
    "debugpy",
    "A program that is attached to by its id keeps names of debugpy's among its global ones, and may die where the attach is given up.",
    replaces={RUN: "pid python_code connect_debugger_tracing= show_debug_info="},
    uses=(f"{INJECTS}:subprocess",),
)


@ALONE
def inject_alone(patch: Any) -> None:
    """Patch debugpy's injector so that it injects by `isolated_code`, with a gdb that no signal stops.

    The injector puts debugpy into a program that runs already. Its line that shows the command is not printed, and
    an error of gdb is raised without the injected code in its text. The code stays as it is on Windows, where
    pydevd has no room for more than 2 KB. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(RUN)
    def run_python_code(stock: Any, pid: int, python_code: str, *rest: Any, **named: Any) -> Any:
        code = (
            isolated_code(able_to_go_on(quiet(python_code))) if os.name == "posix" else python_code
        )
        return stock(pid, code, *rest, **named)

    def check_call(stock: Any, command: Any, *rest: Any, **how: Any) -> Any:
        """Do as `subprocess.check_call` (`stock`), where gdb passes signals on to the program.

        Raises:
            CalledProcessError: gdb failed; the error has no injected code in its text, only `gdb`.
        """
        started = command.replace(BATCH, NO_STOPS, 1) if isinstance(command, str) else command
        try:
            return stock(started, *rest, **how)
        except subprocess.CalledProcessError as error:
            # Its text has the command, with all of the code.
            raise patching.IntendedError(
                subprocess.CalledProcessError(error.returncode, "gdb")
            ) from None

    def write(*words: Any) -> None:
        """Print words as `print` does, unless they are the command with debugpy's code."""
        text = " ".join(map(str, words))
        if not text.startswith(RUNNING):
            sys.stdout.write(f"{text}\n")

    ours = patching.guarded(patch, subprocess.check_call, check_call)
    patch.set(f"{INJECTS}:subprocess", SimpleNamespace(**{**vars(subprocess), "check_call": ours}))
    patch.set(f"{INJECTS}:print", write)


def add_attach_folder_to_path(folder: Path) -> None:
    """Append debugpy's folder of what attaches to processes to `sys.path`; `folder` is that of debugpy."""
    sys.path.append(str(folder.joinpath(*ATTACHING)))


def main() -> None:
    """Run debugpy in this process, with the injection patched.

    `sys.argv` has the path of debugpy's folder, and debugpy's own arguments.
    """
    del sys.argv[0]
    folder = Path(sys.argv[0])
    add_attach_folder_to_path(folder)
    ALONE.apply()
    runpy.run_path(str(folder), run_name="__main__")


if __name__ == "__main__":
    main()
