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
from dapeer.base.system.shipped import shipped_folder

OLDEST: Final = (0, 10)
"""The oldest Neovim that the plugin works in; lua/dapeer/needs.lua says the same there."""


def version_of(path: str) -> str | None:
    """Return the version that a Neovim reports; None: it reports none."""
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


def too_old(version: str | None) -> bool:
    """Whether a version is known to be older than the plugin needs."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is not None and (int(found[1]), int(found[2])) < OLDEST


def refusal(path: str) -> str | None:
    """Return in a sentence that a Neovim is too old; None: it will do."""
    version = version_of(path)
    return f"{path} is Neovim {version}, and 0.10 is needed" if too_old(version) else None


def find_nvim() -> str | None:
    """Return the Neovim next to this Python, else the one on PATH."""
    beside = Path(sys.executable).with_name("nvim")
    return str(beside) if beside.is_file() else shutil.which("nvim")


def find_nvim_dap() -> Path | None:
    """Return the folder of nvim-dap: the one that is named by $DAPEER_NVIM_DAP, else that of the user."""
    named = os.environ.get("DAPEER_NVIM_DAP")
    if named:
        path = Path(named).resolve()
        return path if (path / "lua" / "dap.lua").is_file() else None
    return next(iter(sorted(_packages().glob("*/start/nvim-dap"))), None)


def where_nvim_dap_goes() -> Path:
    """Return a folder in which Neovim finds nvim-dap."""
    return _packages() / "dapeer" / "start" / "nvim-dap"


def _packages() -> Path:
    return Path(folder_names.data()) / os.environ.get("NVIM_APPNAME", "nvim") / "site" / "pack"


def plugin_folder() -> Path:
    """Return the folder for Neovim's `runtimepath`: in a wheel inside the package, else the checkout."""
    return shipped_folder("_nvim", ".")
