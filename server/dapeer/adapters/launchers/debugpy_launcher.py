"""Run debugpy's launcher, or the program under its server, without a description that nobody reads.

    python debugpy_launcher.py FOLDER_OF_DEBUGPY[/launcher] ARGUMENT...

Whether it logs or not, debugpy describes its environment: it reads the metadata of every package that is installed,
in the adapter, in the launcher, and twice beside the program, there with the debugger's tracing on. That is two fifths
of a start, and more where much is installed. If debugpy's inside is not what this knows, it is left as it is.

It runs in the program's own Python, and has the one name that debugpy hides from stacks.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def describe_only_what_is_logged(log: Any) -> None:  # noqa: ANN401 - debugpy's module
    """Make debugpy describe its environment only where that goes to a log.

    Raises:
        AttributeError: The module is not the one we know, and is left as it was.
    """
    stock: Callable[[str], None] = log.describe_environment
    log._levels  # noqa: B018, SLF001 - is it there?

    def describe_environment(header: str) -> None:
        if "info" in log._levels:  # noqa: SLF001
            stock(header)

    log.describe_environment = describe_environment


def spawn_beneath(debuggee: Any, folder: str) -> None:  # noqa: ANN401 - debugpy's module
    """Make debugpy's launcher start the program by this script.

    Args:
        debuggee: The module that does it.
        folder: What it runs to start the server.

    Raises:
        AttributeError: The module is not the one we know, and is left as it was.
    """
    stock: Callable[..., Any] = debuggee.spawn

    def spawn(process_name: str, command: list[str], *rest: Any) -> Any:  # noqa: ANN401
        if folder in command:
            place = command.index(folder)
            command = [*command[:place], str(Path(__file__).absolute()), *command[place:]]
        return stock(process_name, command, *rest)

    debuggee.spawn = spawn


def improve() -> None:
    """Improve what debugpy does beside the program, and in the Python processes that the program starts.

    Raises:
        AttributeError: debugpy is not the one we know.
    """
    sys.path.insert(0, str(Path(__file__).absolute().parent))
    try:
        in_debuggee: Any = importlib.import_module("in_debuggee.improving")
    finally:
        del sys.path[0]
    in_debuggee.improve(prints=True)
    in_debuggee.improve_children()


def main() -> None:
    """Run what the arguments say."""
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        # Python has put our own folder there.
        del sys.path[0]
    del sys.argv[0]
    entry = Path(sys.argv[0])
    launches = entry.name == "launcher"
    sys.path.insert(0, os.path.normpath(entry / ("../.." if launches else "..")))
    debugpy = importlib.import_module("debugpy")
    del sys.path[0]
    with contextlib.suppress(ImportError, AttributeError):
        describe_only_what_is_logged(importlib.import_module("debugpy.common.log"))
    if launches:
        with contextlib.suppress(ImportError, AttributeError):
            debuggee = importlib.import_module("debugpy.launcher.debuggee")
            spawn_beneath(debuggee, str(Path(str(debugpy.__file__)).parent))
        runpy.run_module("debugpy.launcher", run_name="__main__", alter_sys=True)
    else:
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module("debugpy._vendored.force_pydevd")
            improve()
        # As debugpy's `__main__` does, with nothing more on the stack.
        importlib.import_module("debugpy.server.cli").main()


if __name__ == "__main__":
    main()
