"""Print what dapeer's patches of debugpy do for the program, for each that does not fit the installed debugpy."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from dapeer.adapters.launchers import debugpy_ahead, debugpy_attaches, debugpy_ends


def main() -> None:
    """Apply the patches in this process, and print a line for each that does not fit."""
    # pydevd warns of Python's frozen modules where a program is debugged: none is here.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    importlib.import_module("debugpy._vendored.force_pydevd")
    importlib.import_module("pydevd")
    sys.path.insert(0, str(Path(__file__).absolute().parent))
    improving: Any = importlib.import_module("in_debuggee.improving")
    improving.improve(prints=True)
    for part in improving.unfit:
        told = importlib.import_module(f"in_debuggee.{part}").__doc__ or part
        sys.stdout.write(f"{part}: {told.splitlines()[0]}\n")
    try:
        importlib.import_module("debugpy_output").tell()
    except (ImportError, AttributeError):
        sys.stdout.write("debugpy_output: Tells when all output before a stop has been sent.\n")
    for patch, apply, patched in (
        (debugpy_ahead, debugpy_ahead.check, "launchers"),
        (debugpy_ends, debugpy_ends.tell, "launchers"),
        (debugpy_attaches, debugpy_attaches.try_again, "servers"),
    ):
        try:
            # The adapter's modules import each other, in this order only.
            importlib.import_module("debugpy.adapter.clients")
            apply(importlib.import_module(f"debugpy.adapter.{patched}"))
        except (ImportError, AttributeError):
            name = patch.__name__.rpartition(".")[2]
            sys.stdout.write(f"{name}: {str(patch.__doc__).splitlines()[0]}\n")


if __name__ == "__main__":
    main()
