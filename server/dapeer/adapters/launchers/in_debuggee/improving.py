"""What debugpy does in the debuggee, made complete: nothing is lost there, and values tell how long they are.

These modules run in the program's own Python, of whatever version debugpy runs in, beside pydevd. Each
changes what it knows of pydevd's inside; what is not as it knows is left as it is.
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
    "dapeer_values",
    "dapeer_errors",
    "dapeer_types",
    "dapeer_stacks",
    "dapeer_returned",
    "dapeer_commands",
)
"""Modules; no program has such a name, for pydevd steps into no file of that name."""
HELPERS = (
    "dapeer_arrays",
    "dapeer_awaiting",
    "dapeer_forms",
    "dapeer_frames",
    "dapeer_objects",
    "dapeer_statements",
)
"""Modules that these use."""


improved: set[int] = set()
"""The process, once this is done; pydevd imports `child` in the first process, too."""


def improve(*, prints: bool) -> None:
    """Improve pydevd, which has been imported; a second time nothing happens.

    Args:
        prints: Whether this process's stdout is what the debugger shows.
    """
    if improved:
        return
    improved.add(os.getpid())
    with contextlib.suppress(ImportError, AttributeError):
        known: Any = importlib.import_module("_pydevd_bundle.pydevd_dont_trace_files")
        known.DONT_TRACE.update({f"{part}.py": known.PYDEV_FILE for part in PARTS + HELPERS})
    for part in PARTS:
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module(f"in_debuggee.{part}").improve(prints=prints)


def improve_children() -> None:
    """Have the Python processes that this one starts do the same.

    Raises:
        AttributeError: pydevd is not the one we know.
    """
    defaults: Any = importlib.import_module("_pydevd_bundle.pydevd_defaults")
    defaults.PydevdCustomization.PREIMPORT  # noqa: B018 - is it there?
    folder = Path(__file__).absolute().parent.parent
    child = f"{os.path.basename(os.path.dirname(__file__))}.child"  # noqa: PTH119, PTH120
    defaults.PydevdCustomization.PREIMPORT = f"{folder};{child}"
    improve_code_strings(importlib.import_module("_pydev_bundle.pydev_monkey"), defaults)


def improve_code_strings(monkey: Any, defaults: Any) -> None:
    """Have `python -c`, as `multiprocessing` starts its children, do the same: pydevd forgets it there.

    Raises:
        AttributeError: pydevd is not the one we know.
    """
    stock = monkey._get_python_c_args  # noqa: SLF001

    def arguments(*given: Any, **named: Any) -> Any:
        made = stock(*given, **named)
        custom = defaults.PydevdCustomization
        known = f"pydevd.config({monkey.pydevd_constants.get_protocol()!r}, {custom.DEBUG_MODE!r}"
        if not isinstance(made, str):
            return made
        return made.replace(f"{known});", f"{known}, {custom.PREIMPORT!r});", 1)

    monkey._get_python_c_args = arguments  # noqa: SLF001
