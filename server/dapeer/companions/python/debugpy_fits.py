"""Print, as JSON, what dapeer changes in the installed debugpy and Python: all rows with their states."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from dapeer.companions.python import debugpy_adapter, debugpy_injector
from dapeer.companions.python.debugpy_launcher import beside, patching


def apply_everything() -> None:
    """Apply all patches of adapter, launcher and program in this process, so that they can be listed.

    The patches, each a `patching.Row`, stay applied, so this is for a process that debugs nothing. Those that do
    not fit are off, and say why in `Row.off`. debugpy and pydevd are imported here.
    `PYDEVD_DISABLE_FILE_VALIDATION` is set in this process's environment.

    Raises:
        ImportError: There is no debugpy.
    """
    # pydevd warns of Python's frozen modules where a program is debugged: none is here.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    debugpy_adapter.apply_rows()
    debugpy: Any = importlib.import_module("debugpy")
    debugpy_injector.add_attach_folder_to_path(Path(debugpy.__file__).parent)
    for module in ("handlers", "output"):
        importlib.import_module(f"debugpy.launcher.{module}")
    launching: Any = beside("debugpy_launching")
    launching.spawn_beneath(patching, "", "")
    launching.keep_environment(patching, "")
    beside("python_tests").rows_of_unittest(patching)
    importlib.import_module("debugpy._vendored.force_pydevd")
    improving: Any = beside("dapeer_debuggee.improving")
    improving.improve(prints=True)
    improving.improve_children()
    for module in (
        "collecting.collecting",
        "process.leaving",
        "collecting.tracing",
    ):
        beside(f"dapeer_debuggee.{module}")
    patching.apply_all()


def main() -> None:
    """Apply all rows in this process, and print them."""
    apply_everything()
    rows: list[dict[str, Any]] = patching.rows_as_dicts()
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main()
