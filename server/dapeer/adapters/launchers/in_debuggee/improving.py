"""Patches pydevd in the debuggee by all modules of this package.

The modules run in the program's own Python, of any version that debugpy supports. Each patches one part of pydevd,
and leaves a pydevd of another structure unchanged.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path
from typing import Any

PARTS = (
    "dapeer_breaking",
    "dapeer_activations",
    "dapeer_evaluating",
    "dapeer_variables",
    "dapeer_errors",
    "dapeer_types",
    "dapeer_levels",
    "dapeer_stacks",
    "dapeer_returned",
    "dapeer_commands",
    "dapeer_lines",
    "dapeer_connecting",
    "dapeer_ahead",
)
"""Modules that patch pydevd. pydevd never steps into files with these names, so the names must be unusual."""
HELPERS = (
    "dapeer_arrays",
    "dapeer_awaiting",
    "dapeer_calls",
    "dapeer_cells",
    "dapeer_collecting",
    "dapeer_contexts",
    "dapeer_deadline",
    "dapeer_expressions",
    "dapeer_forms",
    "dapeer_functions",
    "dapeer_frames",
    "dapeer_life",
    "dapeer_looking",
    "dapeer_monitoring",
    "dapeer_objects",
    "dapeer_points",
    "dapeer_recorders",
    "dapeer_recording",
    "dapeer_sources",
    "dapeer_statements",
    "dapeer_tracebacks",
    "dapeer_tracers",
    "dapeer_tracing",
    "dapeer_values",
    "dapeer_watched",
    "dapeer_watching",
)
"""Modules that those import."""


unfit: list[str] = []
"""Parts that do not fit this pydevd."""
improved: set[int] = set()
"""The id of the process in which pydevd is patched; pydevd imports `child` in the first process as well."""


def improve(*, prints: bool) -> None:
    """Patch pydevd, which must be imported; a second call does nothing.

    Args:
        prints: Whether this process's stdout is the program's output.
    """
    if improved:
        return
    improved.add(os.getpid())
    with contextlib.suppress(ImportError, AttributeError):
        known: Any = importlib.import_module("_pydevd_bundle.pydevd_dont_trace_files")
        known.DONT_TRACE.update({f"{part}.py": known.PYDEV_FILE for part in PARTS + HELPERS})
    for part in PARTS:
        try:
            importlib.import_module(f"in_debuggee.{part}").improve(prints=prints)
        except (ImportError, AttributeError):
            unfit.append(part)


def improve_children() -> None:
    """Patch pydevd also in the Python processes that this one starts.

    Raises:
        AttributeError: pydevd has another structure.
    """
    defaults: Any = importlib.import_module("_pydevd_bundle.pydevd_defaults")
    defaults.PydevdCustomization.PREIMPORT  # is it there?
    folder = Path(__file__).absolute().parent.parent
    child = f"{os.path.basename(os.path.dirname(__file__))}.child"
    defaults.PydevdCustomization.PREIMPORT = f"{folder};{child}"
    improve_code_strings(importlib.import_module("_pydev_bundle.pydev_monkey"), defaults)


def improve_code_strings(monkey: Any, defaults: Any) -> None:
    """Patch pydevd also in children by `python -c`, as `multiprocessing` starts them: pydevd does not pass that on.

    Raises:
        AttributeError: pydevd has another structure.
    """
    stock = monkey._get_python_c_args

    def arguments(*given: Any, **named: Any) -> Any:
        made = stock(*given, **named)
        custom = defaults.PydevdCustomization
        known = f"pydevd.config({monkey.pydevd_constants.get_protocol()!r}, {custom.DEBUG_MODE!r}"
        if not isinstance(made, str):
            return made
        return made.replace(f"{known});", f"{known}, {custom.PREIMPORT!r});", 1)

    monkey._get_python_c_args = arguments
