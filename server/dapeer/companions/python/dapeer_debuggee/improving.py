"""Patches pydevd in the debuggee by all modules of this package, which it hides from the debugger.

The modules run in the program's own Python, of any version that debugpy supports. Each patches one part of pydevd,
and leaves a pydevd of another structure unchanged. What pydevd prints of itself is kept out of the program's output
here, too.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any, Dict  # noqa: UP035

from . import patching

PARTS = (
    "stops.breakpoints",
    "stacks.activations",
    "stops.evaluating",
    "values.variables",
    "exceptions.errors",
    "exceptions.loops",
    "process.untraced",
    "exceptions.types",
    "stacks.stacks",
    "stops.returned",
    "stops.suspended",
    "stops.unwinding",
    "process.leaving",
)
"""Modules that patch pydevd, by room."""

improved: set[int] = set()
"""The id of the process in which pydevd is patched; pydevd imports `child` in the first one, too."""


FILE_KIND = "pydevd:PyDB._internal_get_file_type"
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
HIDDEN = patching.Row(
    "hidden-files",
    "debugpy",
    "A step may lead into dapeer's own functions.",
    replaces={FILE_KIND: "self abs_real_path_and_basename"},
    uses=("pydevd:PYDEV_FILE",),
)


@HIDDEN
def hide_files(patch: patching.Row) -> None:
    """Patch pydevd so that it takes this package's files for its own: it neither stops in nor shows them.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what
    was replaced here.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    debuggers: Any = importlib.import_module("pydevd").PYDEV_FILE

    @patch.replace(FILE_KIND, again=True)
    def kind_of_file(
        stock: Any, self: Any, abs_real_path_and_basename: Any, *rest: Any, **named: Any
    ) -> Any:
        if abs_real_path_and_basename[0].startswith(OWN_FOLDER):
            return debuggers
        return stock(self, abs_real_path_and_basename, *rest, **named)


CRITICAL = "_pydev_bundle.pydev_log:critical"
WARNINGS = "pydevd_tracing:TracingFunctionHolder._warnings_shown"
UNSAID = patching.Row(
    "debugger-unsaid",
    "debugpy",
    "Warnings of the debugger about itself are among the program's output.",
    replaces={CRITICAL: "msg *args"},
    uses=(WARNINGS,),
)
OF_STARTS = "thread._ident is None"
"""Begins what it says of a thread that Python has made, and that has not begun."""


class All(Dict[str, int]):  # noqa: UP006 - Python 3.8 has no other
    """Warnings, all of which were shown."""

    def __contains__(self, _warning: object) -> bool:
        """Return True for any warning, so that pydevd takes it for one that it has shown."""
        return True


@UNSAID
def say_nothing(patch: Any) -> None:
    """Patch pydevd so that it does not print two of its warnings.

    One is that the program calls `sys.settrace`, the other that a thread has not started; other critical
    messages are still printed. `patch` is this patch's `patching.Row`: it calls this function when it is
    applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    patch.set(WARNINGS, All())

    @patch.replace(CRITICAL)
    def critical(stock: Any, msg: Any, *given: Any, **named: Any) -> None:
        if not str(msg).startswith(OF_STARTS):
            stock(msg, *given, **named)


def improve(*, prints: bool) -> None:
    """Apply all patches of pydevd in this process; a second call does nothing, also in a forked child.

    pydevd must have been imported before. A module of patches that cannot be imported is reported as a row (the record
    of one patch) that has failed. From then on, rows that are off are reported by an event of pydevd's. No `Exception`
    of a patch's module leaves this call.

    Args:
        prints: Whether this process's stdout is the program's output.
    """
    if improved:
        return
    improved.add(os.getpid())
    patching.first_process[:] = [prints]
    for part in PARTS:
        try:
            importlib.import_module(f"{__package__}.{part}")
        except Exception as error:
            patching.Row(part, "debugpy", f"What {part} does is lost.").fail(error)
    patching.apply_all()
    with contextlib.suppress(Exception):  # an event of pydevd's is the only way to tell it
        from .stops import breaking

        patching.reporters.append(breaking.send_row_off_event)


def improve_children() -> None:
    """Apply the patches for processes that this one starts, and those for Python's end in this one.

    It is called in a program that dapeer has started, and in its children.
    """
    from .process import children, ending

    children.CHILDREN.apply()
    children.NATIVE.apply()
    ending.apply_rows()
