"""Patches pydevd also in the Python processes that the program starts."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from .. import patching

PREIMPORT = "_pydevd_bundle.pydevd_defaults:PydevdCustomization.PREIMPORT"
CODE_STRINGS = "_pydev_bundle.pydev_monkey:_get_python_c_args"
CHILDREN = patching.Row(
    "children",
    "debugpy",
    "Child processes are debugged without dapeer's changes.",
    replaces={CODE_STRINGS: "host port code args setup"},
    uses=(
        PREIMPORT,
        "_pydevd_bundle.pydevd_defaults:PydevdCustomization.DEBUG_MODE",
        "_pydevd_bundle.pydevd_constants:get_protocol",
    ),
)


@CHILDREN
def improve_children(patch: Any) -> None:
    """Patch pydevd so that each Python process which the program starts imports our `child`.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    folder = Path(__file__).absolute().parents[2]
    child = f"{__name__.partition('.')[0]}.child"
    patch.set(PREIMPORT, f"{folder};{child}")
    constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
    defaults: Any = importlib.import_module("_pydevd_bundle.pydevd_defaults")

    @patch.replace(CODE_STRINGS)
    def arguments(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's command line for a child by `python -c`, in which our `child` is imported, too.

        `stock` is pydevd's function, `given` and `named` are its arguments.
        """
        # pydevd does not pass it on to children by `python -c`, as `multiprocessing` starts them.
        made: Any = stock(*given, **named)
        custom = defaults.PydevdCustomization
        known = f"pydevd.config({constants.get_protocol()!r}, {custom.DEBUG_MODE!r}"
        before, after = f"{known});", f"{known}, {custom.PREIMPORT!r});"
        if type(made) is bytes:
            return made.replace(before.encode(), after.encode(), 1)
        return made.replace(before, after, 1)
