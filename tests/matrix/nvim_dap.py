"""nvim-dap as it is today, beside the commit that CI is pinned to."""

import subprocess
from pathlib import Path

from tests.npm import CACHE, MissingError
from tests.programs import ROOT

NAME = "mfussenegger/nvim-dap"
REPOSITORY = f"https://github.com/{NAME}"
_PLUGINS = (ROOT / ".ci" / "plugins").read_text(encoding="utf-8")
PINNED = next(line.split()[-1] for line in _PLUGINS.splitlines() if f" {NAME} " in line)
"""The commit that `.ci/run` installs."""
SECONDS = 60


def newest_nvim_dap() -> Path:
    """Return the folder of a clone of nvim-dap's newest commit.

    Raises:
        MissingError: It cannot be had, or is the pinned one.
    """
    folder = CACHE.parent / "nvim-dap"
    if not (folder / ".git").exists():
        _git("clone", "--quiet", "--depth", "1", REPOSITORY, str(folder))
    _git("-C", str(folder), "fetch", "--quiet", "--depth", "1", "origin", "HEAD")
    _git("-C", str(folder), "checkout", "--quiet", "FETCH_HEAD")
    if _git("-C", str(folder), "rev-parse", "HEAD").strip() == PINNED:
        raise MissingError(f"the newest commit is the pinned one, {PINNED[:7]}")
    return folder


def _git(*arguments: str) -> str:
    command = ["timeout", str(SECONDS), "git", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"needs nvim-dap from {REPOSITORY}: {done.stderr.strip()[-200:]}")
    return done.stdout
