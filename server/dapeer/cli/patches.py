"""What dapeer changes in other software: all rows of the register, in all languages, with states."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from dapeer.adapters.choice.detection import UNUSED, Detection, Patch, detect, patches, printed_rows
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.loading import load_all, shipped, user_folder
from dapeer.adapters.process.tcp_nodelay import HASTENED, why_not_allowed
from dapeer.companions.python.dapeer_debuggee import patching
from dapeer.neovim.program import find_nvim, find_nvim_dap, plugin_folder, where_nvim_dap_goes

PRINT_ROWS: Final = """
local internals = require('dapeer.nvim_dap.internals')
internals.when_loaded(function() end)
require('dap')
io.stdout:write(internals.rows() .. '\\n')
"""
"""What Neovim runs to print the rows of nvim-dap."""


def report_patches() -> int:
    """Print all that dapeer changes in other software, with the state of each change, and return 0.

    It runs other programs, such as adapters and Neovim, to ask for the changes that fit them.
    """
    lines = [
        f"{patching.SETTING}=off runs without all of these, {patching.SETTING}=-NAME without one."
    ]
    for title, rows, missing in _changes_by_software():
        lines += ["", title, *(line for row in rows for line in _lines(row))]
        lines += [f"  missing  {missing}"] * (not rows)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _changes_by_software() -> Iterator[tuple[str, list[Patch], str]]:
    """Yield (title, rows of its changes, reason) for each software that dapeer changes.

    The reason is the one for having no rows. It is filled also where there are some, and means nothing then. Programs are run to ask for
    the rows. Neovim comes last.
    """
    for definition in load_all(shipped(), user_folder()).values():
        if definition.detect.patches:
            detection = detect(definition)
            rows = rows_of(definition, detection)
            yield definition.title, rows, detection.missing or "it did not answer"
    yield "Neovim (nvim-dap)", *rows_of_nvim_dap()


def _lines(row: Patch) -> list[str]:
    """Return the lines of one change: its state, what is lost without it, and why it is off."""
    off = [f"           Off: {row.off.removeprefix(UNUSED)}"] if row.off else []
    return [
        f"  {row.state:8} {row.name:26} {row.whose} {row.tried}".rstrip(),
        f"           {row.lost}",
        *off,
    ]


def rows_of(definition: Definition, detection: Detection) -> list[Patch]:
    """Return the changes that dapeer makes in an installed adapter, and around it; empty if not ready."""
    if not detection.ready:
        return []
    hastened = [_hastened()] if definition.children and definition.children.relay else []
    return [*patches(definition, detection.found), *hastened]


def _hastened() -> Patch:
    """Return the row of the change that has connections of a program send small messages at once.

    It starts a short-lived process to find out whether the system allows that, unless the change is switched off.
    """
    off = (
        f"switched off by {patching.SETTING}"
        if patching.is_switched_off(HASTENED.name)
        else why_not_allowed()
    )
    tried = " to ".join(dict.fromkeys(patching.tried[HASTENED.whose]))
    return Patch(HASTENED.name, HASTENED.whose, tried, HASTENED.lost, off)


def rows_of_nvim_dap() -> tuple[list[Patch], str]:
    """Return the changes that dapeer makes in nvim-dap, and a reason for the case that there are none.

    It runs Neovim with the nvim-dap that is found; without either the list is empty.
    """
    nvim, nvim_dap = find_nvim(), find_nvim_dap()
    if nvim is None:
        return [], "nvim was not found"
    if nvim_dap is None:
        return (
            [],
            f"nvim-dap is not in {where_nvim_dap_goes()}; $DAPEER_NVIM_DAP names another folder",
        )
    found = f"set runtimepath^={plugin_folder()},{nvim_dap}"
    start = [nvim, "--clean", "-n", "--headless", "--cmd", found]
    rows = printed_rows([*start, "-c", f"lua {' '.join(PRINT_ROWS.split())}", "-c", "quitall!"])
    return rows, "Neovim did not answer"


def described(patch: Patch) -> str:
    """Return a patch's name, what is lost without it, and why it is off, as one text."""
    named = f"{patch.name}: {patch.lost}" if patch.name else patch.lost
    return f"{named} ({patch.off})"
