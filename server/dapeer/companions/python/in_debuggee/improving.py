"""Patches pydevd in the debuggee by all modules of this package.

The modules run in the program's own Python, of any version that debugpy supports. Each patches one part of pydevd,
and leaves a pydevd of another structure unchanged.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

patching: Any = importlib.import_module("in_debuggee.dapeer_patching")

PARTS = (
    "stops.dapeer_breakpoints",
    "stacks.dapeer_activations",
    "stops.dapeer_evaluating",
    "stops.dapeer_limits",
    "values.dapeer_variables",
    "exceptions.dapeer_errors",
    "exceptions.dapeer_loops",
    "process.dapeer_untraced",
    "exceptions.dapeer_types",
    "stacks.dapeer_levels",
    "stacks.dapeer_stacks",
    "stops.dapeer_returned",
    "stops.dapeer_resumes",
    "stops.dapeer_commands",
    "stops.dapeer_lines",
    "stops.dapeer_unwinding",
    "process.dapeer_leaving",
    "process.dapeer_unsaid",
)
"""Modules that patch pydevd, by room."""
HELPERS = (
    "dapeer_breaking",
    "dapeer_probing",
    "dapeer_arrays",
    "dapeer_awaiting",
    "dapeer_calls",
    "dapeer_cells",
    "dapeer_children",
    "dapeer_collecting",
    "dapeer_contents",
    "dapeer_contexts",
    "dapeer_deadline",
    "dapeer_ending",
    "dapeer_exact",
    "dapeer_expecting",
    "dapeer_expressions",
    "dapeer_fields",
    "dapeer_files",
    "dapeer_forms",
    "dapeer_functions",
    "dapeer_guard",
    "dapeer_frames",
    "dapeer_leftovers",
    "dapeer_libraries",
    "dapeer_life",
    "dapeer_looking",
    "dapeer_monitoring",
    "dapeer_objects",
    "dapeer_patching",
    "dapeer_plain",
    "dapeer_points",
    "dapeer_recorders",
    "dapeer_recording",
    "dapeer_reprs",
    "dapeer_showing",
    "dapeer_sources",
    "dapeer_statements",
    "dapeer_states",
    "dapeer_steps",
    "dapeer_tracebacks",
    "dapeer_tracers",
    "dapeer_tracing",
    "dapeer_values",
    "dapeer_watched",
    "dapeer_watching",
)
"""Modules that those import, by the names of their files."""


improved: set[int] = set()
"""The id of the process in which pydevd is patched; pydevd imports `child` in the first one, too."""


HIDDEN = patching.Row(
    "hidden-files",
    "debugpy",
    "A step may lead into dapeer's own functions.",
    uses=(
        "_pydevd_bundle.pydevd_dont_trace_files:DONT_TRACE",
        "_pydevd_bundle.pydevd_dont_trace_files:PYDEV_FILE",
    ),
)


@HIDDEN
def hide_files(row: Any) -> None:
    """Have pydevd step over our files: it knows files by names alone, so ours must be unusual."""
    known: Any = importlib.import_module("_pydevd_bundle.pydevd_dont_trace_files")
    known.DONT_TRACE.update(
        {f"{part.rpartition('.')[2]}.py": known.PYDEV_FILE for part in PARTS + HELPERS}
    )


def improve(*, prints: bool) -> None:
    """Patch pydevd, which must be imported; a second call does nothing.

    Args:
        prints: Whether this process's stdout is the program's output.
    """
    if improved:
        return
    improved.add(os.getpid())
    patching.first_process[:] = [prints]
    for part in PARTS:
        try:
            importlib.import_module(f"in_debuggee.{part}")
        except Exception as error:
            patching.Row(part, "debugpy", f"What {part} does is lost.").fail(error)
    patching.apply_all()
    with contextlib.suppress(Exception):  # an event of pydevd's is the only way to tell it
        breaking: Any = importlib.import_module("in_debuggee.stops.dapeer_breaking")
        patching.reporters.append(breaking.send_off)


def improve_children() -> None:
    """Patch pydevd in the Python processes that this one starts, and Python's end in this one.

    dapeer or the program has started it.
    """
    importlib.import_module("in_debuggee.process.dapeer_children").CHILDREN.apply()
    importlib.import_module("in_debuggee.process.dapeer_ending").watch()
