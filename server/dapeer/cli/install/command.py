"""`dapeer install`: show what changes, ask, and change it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from dapeer.base.errors import ArgumentError
from dapeer.base.system import folder_names
from dapeer.cli.install.changes import (
    FileChange,
    LinkChange,
    changes_of_skill,
    changes_to_add,
    changes_to_remove,
    entry_in,
    link_change,
)
from dapeer.cli.install.clients import (
    CLIENTS,
    NAME,
    Client,
    ClientFolders,
    ConfigScope,
    switched_off,
)
from dapeer.neovim.program import plugin_folder, too_old_note

NVIM: Final = "nvim"
Agreement = Literal["yes", "no", "ask"]
"""Whether the person has agreed to a change; `no`: they only want to see it."""
DECLINED: Final = 1
"""Exit code when nothing was changed because nobody has agreed."""
LAZY: Final = Path("lazy", "lazy.nvim")
"""Where lazy.nvim puts itself, in Neovim's folder for data."""
_CACHES: Final = (
    (re.compile(r"/(archive|environments|builds)-v\d+(/|$)"), ("uvx",), "--from"),
    (re.compile(r"/pipx/(\.cache/)?[0-9a-f]{8,}$"), ("pipx", "run"), "--spec"),
)
"""Environments of uv and pipx that go again, the command that makes one anew, and its source option."""


def run(
    target: str,
    scope: ConfigScope,
    *,
    remove: bool,
    agreement: Agreement,
    skill_only: bool = False,
) -> int:
    """Install dapeer for a client or for Neovim, or remove it, after asking; return the exit code.

    The changes are printed. The code is 0, also where nothing is to be changed, or was only printed. It is
    `DECLINED` if the person does not agree, or there is no terminal to ask at; and, whatever `agreement` is, if
    lazy.nvim manages the plugins of the Neovim to install for, so that the person has to add the plugin there by
    hand. An entry that the person has switched off is not switched on, which is printed. A removal leaves `.md`
    files that were changed by hand, and names them.

    Args:
        target: A key of `CLIENTS`, or `nvim`.
        scope: Whether files of the person (`user`) or of this project (`project`) are changed.
        remove: Take dapeer out again.
        agreement: `yes`: the changes are made without asking; `ask`: the person is asked at the terminal, without
            a limit of time; `no`: nothing is changed.
        skill_only: Give the client no server, but the skill that names commands, also over files changed by hand;
            with `remove`, take only the skill away.

    Raises:
        ArgumentError: A file cannot be read or written (changes before it stay), the target has no such scope or
            no skills (`nvim`), or Neovim is missing, does not answer, or is too old to install for.
        KeyError: There is no such target.
    """
    if skill_only:
        return _run_skill(target, scope, remove=remove, agreement=agreement)
    if target == NVIM:
        return _run_neovim(scope, remove=remove, agreement=agreement)
    client = CLIENTS[target]
    if scope == "project" and not client.project_file:
        raise ArgumentError(
            f"{client.title} has no configuration of a project.", "Leave --project out."
        )
    changes = changes_of(client, scope, places_of_process(), remove=remove)
    check = "" if remove else "; `dapeer doctor` shows whether it reaches dapeer"
    off = "" if remove else switched_off(entry_in(client, scope, places_of_process()) or {})
    if off:
        _say(f"{client.title} has dapeer switched off: take `{off}` out of its entry to use it.")
    if remove:
        _name_left_files(changes)
    if not any(changes):
        return _print_nothing_to_change(client.title, remove=remove)
    return _change(changes, f"Restart {client.title}{check}.", agreement=agreement)


def _run_skill(target: str, scope: ConfigScope, *, remove: bool, agreement: Agreement) -> int:
    """Give a client the skill that names commands, or take it away, after asking; return the exit code.

    `target` is a key of `CLIENTS`, or `NVIM`, which is refused; `scope` is `user` or `project`. The skill is in
    the client's own folder, if it has one, and in the one that several agents read. Giving replaces files that
    a person has changed; `remove` takes the skill away, but leaves such files, and names them. The changes are printed.
    `agreement`: with `ask` the person is asked at the terminal, with `yes` not; with `no` the changes are only
    printed. The code is `DECLINED` if the person does not agree, or there is no terminal to ask at; it is 0 if
    the changes are made, only printed, or not needed.

    Raises:
        ArgumentError: A file cannot be read or written, or the target is Neovim.
    """
    if target == NVIM:
        raise ArgumentError("Neovim reads no skills.", "Leave --skill-only out.")
    client = CLIENTS[target]
    changes = changes_of_skill(client, scope, places_of_process(), remove=remove)
    if remove:
        _name_left_files(changes)
    if not any(changes):
        return _print_nothing_to_change(client.title, remove=remove)
    return _change(changes, f"Start {client.title} anew.", agreement=agreement)


def _name_left_files(changes: Sequence[FileChange]) -> None:
    """Print the `.md` files that a removal leaves, since a person has changed them."""
    for change in changes:
        if change.path.suffix == ".md" and change.new_text is not None:
            _say(f"left: {change.path}, which is not as this dapeer writes it")


def _print_nothing_to_change(title: str, *, remove: bool) -> int:
    """Say that nothing is to be changed for the program of this title; return the exit code 0."""
    done = "does not know dapeer" if remove else "knows dapeer already"
    _say(f"{title} {done}: nothing to change.")
    return 0


def _change(changes: Sequence[FileChange | LinkChange], then: str, *, agreement: Agreement) -> int:
    """Print the changes, ask if the person has not agreed, and make them; return the exit code.

    Changes that change nothing are left out. `then` is a sentence on what to do afterwards. `agreement`: with `ask`
    the person is asked at the terminal, with `yes` not; with `no` nothing is changed, and the code is 0. The code
    is `DECLINED` if the person does not agree, or stdin is no terminal to ask at.

    Raises:
        ArgumentError: A file or link cannot be changed, or a file has changed meanwhile; the changes before it
            stay.
    """
    real = list(filter(None, changes))
    for change in real:
        _say(change.shown())
    if agreement == "no":
        _say("Nothing was changed: this is what would.")
        return 0
    if agreement == "ask" and not _agrees():
        _say("Nothing was changed. `--yes` agrees without asking.")
        return DECLINED
    for change in real:
        change.make()
    _say(f"Done. {then}")
    return 0


def changes_of(
    client: Client, scope: ConfigScope, places: ClientFolders, *, remove: bool
) -> list[FileChange]:
    """Return the changes that install dapeer for a client, or remove it; nothing is written yet.

    In a project, whose files others share, the entry's command is plain `dapeer`; else it is this person's own.

    Raises:
        ArgumentError: A file of the client's cannot be read or changed.
    """
    if remove:
        return changes_to_remove(client, scope, places)
    command = (NAME, "stdio") if scope == "project" else (*_own_command(), "stdio")
    return changes_to_add(client, scope, places, command)


def places_of_process() -> ClientFolders:
    """Return the folders, environment and platform of this process."""
    return ClientFolders(Path.cwd(), Path(folder_names.home()), os.environ, sys.platform)


def _own_command(
    which: Callable[[str], str | None] = shutil.which, prefix: str = sys.prefix
) -> tuple[str, ...]:
    """Return the command that starts dapeer as this person has it, as a tuple of words.

    Where dapeer runs from a cache that `uvx`, `uv run --with` or `pipx run` empties, the command is `uvx` or
    `pipx run`, with the source that it was given; else it is dapeer's program on PATH, or, where there is none, this
    interpreter with `-m dapeer`. The program is an absolute path where it is found, since an editor that was not
    started in a shell has another PATH. `which` finds a program on PATH; `prefix` is the environment in which dapeer
    runs.
    """
    for cache, (runner, *words), by in _CACHES:
        if cache.search(Path(prefix).as_posix()):
            source = install_source(distribution(NAME).read_text("direct_url.json"))
            return (which(runner) or runner, *words, *((by, source) if source else ()), NAME)
    found = which(NAME)
    return (found,) if found else (sys.executable, "-m", NAME)


def install_source(direct_url: str | None) -> str | None:
    """Return what `--from` takes: a path, a URL, or the address of a repository with its commit.

    `direct_url` is the text of the file `direct_url.json` of an installed package (PEP 610), None if there
    is no such file: then the package is from an index, and the result is None. A `file:` URL becomes a
    path, unless it is a repository's; a URL of an archive is returned unchanged.

    Raises:
        ValueError: `direct_url` is no JSON.
        KeyError: `direct_url` has no `url`, or its `vcs_info` no `vcs` or `commit_id`.

    >>> install_source('{"url": "file:///a/dapeer%201.whl", "archive_info": {}}')
    '/a/dapeer 1.whl'
    >>> install_source('{"url": "https://a/b", "vcs_info": {"vcs": "git", "commit_id": "1f"}}')
    'git+https://a/b@1f'
    """
    if direct_url is None:
        return None
    source = json.loads(direct_url)
    url = str(source["url"])
    if vcs := source.get("vcs_info"):
        return f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _run_neovim(scope: ConfigScope, *, remove: bool, agreement: Agreement) -> int:
    """Link the plugin into Neovim's packages, or remove the link, after asking; return the exit code.

    If lazy.nvim manages plugins, no link is made: only what to tell it is printed, and the code is
    `DECLINED`. The code is also `DECLINED` if the person does not agree; else it is 0, also where nothing
    is to be changed. The change is printed before.

    Args:
        scope: `user`; a `project` is refused.
        remove: Take the link away, also where lazy.nvim manages plugins.
        agreement: `ask`: the person is asked at the terminal; `yes`: the change is made without asking;
            `no`: it is only printed.

    Raises:
        ArgumentError: The scope is a project; there is no Neovim, it is too old (unless `remove`), or names
            no folder for data; something that is no link is at the link's place; or the link cannot be made
            or removed.
    """
    if scope == "project":
        raise ArgumentError("Neovim has no plugins of a project.", "Leave --project out.")
    data, plugin = _neovim_data(remove=remove), plugin_folder()
    if not remove and (data / LAZY).is_dir():
        # It resets the package path, so a link there would do nothing.
        _say(
            f"lazy.nvim manages the plugins of this Neovim. Add this to its specs:\n{_spec(plugin)}"
        )
        _say("Nothing was changed.")
        return DECLINED
    change = link_change(data, plugin, remove=remove)
    if not change:
        return _print_nothing_to_change("Neovim", remove=remove)
    then = "" if remove else "Call `require('dapeer').setup({})` in your init.lua. "
    return _change([change], f"{then}Restart Neovim.", agreement=agreement)


def _spec(plugin: Path) -> str:
    """Return the plugin spec that a person adds for lazy.nvim, as a line of Lua."""
    folder = str(plugin).replace("\\", "\\\\").replace("'", "\\'")
    return f"  {{ dir = '{folder}', name = '{NAME}', dependencies = {{ 'mfussenegger/nvim-dap' }}, opts = {{}} }},"


def _neovim_data(*, remove: bool) -> Path:
    """Run Neovim to ask for its own folder for data, and return that folder; wait without a limit.

    Neovim is the `nvim` on PATH. It is run once for its version and once, headless and without the user's
    configuration, for the folder, which may not exist yet. `remove` says that the plugin is to be removed:
    then a Neovim that is too old is asked, too.

    Raises:
        ArgumentError: There is no Neovim, it cannot be started, it is too old (unless `remove`), or it prints no
            absolute path.
    """
    nvim = shutil.which("nvim")
    if nvim is None:
        raise ArgumentError("There is no `nvim` on PATH.", "Install Neovim 0.10 or later first.")
    if (why := too_old_note(nvim)) and not remove:
        raise ArgumentError(f"{why}.", "Install a newer one first, or put its folder on PATH.")
    try:
        done = subprocess.run(
            [nvim, "--headless", "--clean", "-es", "+lua io.write(vim.fn.stdpath('data'))", "+qa!"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
    except OSError as error:
        raise ArgumentError(
            f"{nvim} cannot be started: {error.strerror}.", "Put one that can on PATH."
        ) from error
    if not Path(done.stdout).is_absolute():
        raise ArgumentError(f"{nvim} does not say where its data is.", done.stderr.strip())
    return Path(done.stdout)


def _agrees() -> bool:
    """Ask `Change this? [Y/n]` at the terminal; return whether the person agrees.

    `y`, `yes` (in any case) and an empty line agree. False: any other answer, the end of input, or stdin is no
    terminal; then nothing is asked. What is to be changed is printed by the caller before. It waits for the answer
    without a limit.
    """
    if not sys.stdin.isatty():
        return False
    _say("Change this? [Y/n] ", end="")
    answer = sys.stdin.readline()
    if not answer:
        # Ctrl-D agrees to nothing, and leaves the cursor behind the question.
        _say("")
    return answer.strip().lower() in ("y", "yes") or answer == "\n"


def _say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()
