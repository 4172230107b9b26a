"""The program `nvim` on this machine and its version; the folders of nvim-dap and of dapeer's plugin."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from dapeer.base.system import folder_names
from dapeer.base.system.folder_names import shipped_folder

OLDEST: Final = (0, 10)
"""The oldest Neovim that the plugin works in; lua/dapeer/needs.lua says the same there."""


def version_of(path: str) -> str | None:
    """Run `PATH --version` and return Neovim's version, such as `0.11.2`; `path` is a program's path.

    It blocks until the program ends, without a limit. None: it cannot be run, or reports no version.
    """
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return None
    found = re.match(r"NVIM v(\d+\.\d+\S*)", done.stdout)
    return found[1] if found else None


def is_too_old(version: str | None) -> bool:
    """Return whether a version is below `OLDEST`; False for None, and for a text that is no version."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is not None and (int(found[1]), int(found[2])) < OLDEST


def too_old_note(path: str) -> str | None:
    """Return as a sentence that the Neovim at a path is too old; None if it is not, or has no version.

    It runs the program to ask it.
    """
    version = version_of(path)
    return f"{path} is Neovim {version}, and 0.10 is needed" if is_too_old(version) else None


def find_nvim() -> str | None:
    """Return the path of the `nvim` next to this Python, else of that on PATH; None if there is neither."""
    beside = Path(sys.executable).with_name("nvim")
    return str(beside) if beside.is_file() else shutil.which("nvim")


def find_nvim_dap() -> Path | None:
    """Return the folder of nvim-dap, or None if it is not found.

    $DAPEER_NVIM_DAP names it; a folder without nvim-dap there is None. Without that variable it is looked for in the user's packages of
    Neovim: the first `*/start/nvim-dap` by name.
    """
    named = os.environ.get("DAPEER_NVIM_DAP")
    if named:
        path = Path(named).resolve()
        return path if (path / "lua" / "dap.lua").is_file() else None
    return next(iter(sorted(_packages().glob("*/start/nvim-dap"))), None)


def nvim_dap_install_folder() -> Path:
    """Return the folder in which an installed nvim-dap is found by Neovim; it may not exist."""
    return _packages() / "dapeer" / "start" / "nvim-dap"


def _packages() -> Path:
    return Path(folder_names.data()) / os.environ.get("NVIM_APPNAME", "nvim") / "site" / "pack"


def plugin_folder() -> Path:
    """Return dapeer's folder for Neovim's `runtimepath`: inside the package of a wheel, else the checkout."""
    return shipped_folder("_nvim", ".")
