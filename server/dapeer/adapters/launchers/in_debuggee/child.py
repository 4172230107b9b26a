"""Improve pydevd in a process that the debuggee has started, as debugpy itself comes there: by being imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Do so."""
    in_debuggee: Any = importlib.import_module("in_debuggee.improving")
    debugpy = str(Path(str(sys.modules["pydevd"].__file__)).parents[3])
    sys.path.insert(0, debugpy)
    try:
        importlib.import_module("debugpy._vendored.force_pydevd")
    finally:
        sys.path.remove(debugpy)
    with contextlib.suppress(ImportError, AttributeError):
        in_debuggee.improve_children()
    # Its stdout may be a pipe to another program.
    in_debuggee.improve(prints=False)


program = sys.modules["__main__"]
if "pydevd" not in sys.modules and hasattr(program, "PyDB"):
    # It starts the child's program; a little later it gives itself this name.
    sys.modules["pydevd"] = program
if "pydevd" in sys.modules:
    main()
