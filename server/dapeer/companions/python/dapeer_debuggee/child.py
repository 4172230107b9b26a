"""Patches pydevd in a process that the debuggee has started. debugpy imports this module there."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Patch pydevd in this process, which the debuggee has started, and in the processes that it starts.

    It imports the debugpy to which pydevd belongs, and has stdout and stderr flushed at each line, so that
    output comes before the stop behind it. A process that is patched already, as a forked one, keeps its
    streams.

    Raises:
        KeyError: pydevd has not been imported.
        ImportError: debugpy cannot be imported.
    """
    from . import improving as dapeer_debuggee

    debugpy = str(Path(str(sys.modules["pydevd"].__file__)).parents[3])
    sys.path.insert(0, debugpy)
    try:
        importlib.import_module("debugpy._vendored.force_pydevd")
    finally:
        sys.path.remove(debugpy)
    dapeer_debuggee.improve_children()
    # What a child has printed is to be told with its stops. The first process is told apart by what it has improved.
    streams: tuple[Any, ...] = () if dapeer_debuggee.improved else (sys.stdout, sys.stderr)
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.reconfigure(line_buffering=True)
    # The child's stdout may be a pipe to another program.
    dapeer_debuggee.improve(prints=False)


program = sys.modules["__main__"]
if "pydevd" not in sys.modules and hasattr(program, "PyDB"):
    # This frame starts the child's program; it takes this name a little later.
    sys.modules["pydevd"] = program
if "pydevd" in sys.modules:
    # Without this, pydevd would not start the child's program.
    with contextlib.suppress(Exception):
        main()
