"""`dapeer install`: show what changes, ask, and change it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from dapeer.base.errors import ArgumentError
from dapeer.cli.install.changes import Change, adding, link, removing
from dapeer.cli.install.clients import CLIENTS, NAME, Client, Places, Scope
from dapeer.neovim.discovery.discovery import plugin_folder

NVIM: Final = "nvim"
DECLINED: Final = 1
"""Exit code when nothing was changed because nobody has agreed."""
_UV_CACHE: Final = re.compile(r"(archive|environments)-v\d+")


def run(target: str, scope: Scope, *, remove: bool, agreed: bool) -> int:
    """Install dapeer for a client or for Neovim, or remove it; return the exit code.

    Raises:
        ArgumentError: A file cannot be read or written, or the target has no such scope.
    """
    if target == NVIM:
        return _run_neovim(scope, remove=remove)
    client = CLIENTS[target]
    changes = list(filter(None, changes_of(client, scope, here(), remove=remove)))
    if not changes:
        done = "does not know dapeer" if remove else "knows dapeer already"
        _say(f"{client.title} {done}: nothing to change.")
        return 0
    for change in changes:
        _say(change.shown())
    if not (agreed or _agrees()):
        _say("Nothing was changed. `--yes` agrees without asking.")
        return DECLINED
    for change in changes:
        change.make()
    check = "" if remove else "; `dapeer doctor` shows whether it reaches dapeer"
    _say(f"Done. Restart {client.title}{check}.")
    return 0


def changes_of(client: Client, scope: Scope, places: Places, *, remove: bool) -> list[Change]:
    """Return what installs dapeer for a client, or removes it.

    Raises:
        ArgumentError: A file of the client's cannot be read.
    """
    if remove:
        return removing(client, scope, places)
    command = (NAME, "stdio") if scope == "project" else (*_own_command(), "stdio")
    return adding(client, scope, places, command)


def here() -> Places:
    """Return the folders of this process."""
    return Places(Path.cwd(), Path.home(), os.environ, sys.platform)


def _own_command(
    which: Callable[[str], str | None] = shutil.which, prefix: str = sys.prefix
) -> tuple[str, ...]:
    """Return the command that starts dapeer as this person has it.

    It is absolute, since an editor that was not started in a shell has another PATH. What `uvx` runs is in
    a cache that uv empties, so there the command is `uvx` itself.
    """
    if any(map(_UV_CACHE.fullmatch, Path(prefix).parts)):
        return (which("uvx") or "uvx", NAME)
    found = which(NAME)
    return (found,) if found else (sys.executable, "-m", NAME)


def _run_neovim(scope: Scope, *, remove: bool) -> int:
    if scope == "project":
        raise ArgumentError("Neovim has no plugins of a project.", "Leave --project out.")
    _say(link(_neovim_data(), plugin_folder(), remove=remove))
    return 0


def _neovim_data() -> Path:
    """Return Neovim's own folder for data, as it says itself."""
    nvim = shutil.which("nvim")
    if nvim is None:
        raise ArgumentError("There is no `nvim` on PATH.", "Install Neovim 0.10 or later first.")
    done = subprocess.run(
        [nvim, "--headless", "--clean", "-es", "+lua io.write(vim.fn.stdpath('data'))", "+qa!"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise ArgumentError(f"{nvim} does not say where its data is.", done.stderr.strip())
    return Path(done.stdout)


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    _say("Change this? [Y/n] ", end="")
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def _say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()
