"""What dapeer changes in other software: all rows of the register, in all languages, with states."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from dapeer.adapters.choice.detection import UNUSED, Detection, Patch, detect, patches, printed_rows
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.loading import load_all, shipped, user_folder
from dapeer.adapters.process.tcp_nodelay import HASTENED
from dapeer.base.connections.promptness import refusal
from dapeer.companions.python.dapeer_debuggee import patching
from dapeer.neovim.discovery.program import (
    find_nvim,
    find_nvim_dap,
    plugin_folder,
    where_nvim_dap_goes,
)

PRINT_ROWS: Final = """
local internals = require('dapeer.nvim_dap.internals')
internals.when_loaded(function() end)
require('dap')
io.stdout:write(internals.rows() .. '\\n')
"""
"""What Neovim runs to print the rows of nvim-dap."""


def report_patches() -> int:
    """Print all that dapeer changes in other software, and the state of each change; return the exit code."""
    lines = [
        f"{patching.SETTING}=off runs without all of these, {patching.SETTING}=-NAME without one."
    ]
    for title, rows, missing in _all():
        lines += ["", title, *(line for row in rows for line in _lines(row))]
        lines += [f"  missing  {missing}"] * (not rows)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _all() -> Iterator[tuple[str, list[Patch], str]]:
    """Yield what is changed, its rows, and why there are none."""
    for definition in load_all(shipped(), user_folder()).values():
        if definition.detect.patches:
            detection = detect(definition)
            rows = rows_of(definition, detection)
            yield definition.title, rows, detection.missing or "it did not answer"
    yield "Neovim (nvim-dap)", *rows_of_nvim_dap()


def _lines(row: Patch) -> list[str]:
    off = [f"           Off: {row.off.removeprefix(UNUSED)}"] if row.off else []
    return [
        f"  {row.state:8} {row.name:26} {row.whose} {row.tried}".rstrip(),
        f"           {row.lost}",
        *off,
    ]


def rows_of(definition: Definition, detection: Detection) -> list[Patch]:
    """Return what dapeer changes in an adapter that is there, and around it."""
    if not detection.ready:
        return []
    hastened = [_hastened()] if definition.children and definition.children.relay else []
    return [*patches(definition, detection.found), *hastened]


def _hastened() -> Patch:
    """Return the change of a program's connections, which dapeer makes itself."""
    off = (
        f"switched off by {patching.SETTING}"
        if patching.is_switched_off(HASTENED.name)
        else refusal()
    )
    tried = " to ".join(dict.fromkeys(patching.tried[HASTENED.whose]))
    return Patch(HASTENED.name, HASTENED.whose, tried, HASTENED.lost, off)


def rows_of_nvim_dap() -> tuple[list[Patch], str]:
    """Return what dapeer changes in nvim-dap, and why that is unknown."""
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
    """Return what is lost without a patch, and why it is off. Pure."""
    named = f"{patch.name}: {patch.lost}" if patch.name else patch.lost
    return f"{named} ({patch.off})"
