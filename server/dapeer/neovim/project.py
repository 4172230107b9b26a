"""Whether a Neovim and an assistant work on the same project.

Imports little, and only the standard library: a bridge uses it too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

HISTORIES: Final = (".git", ".hg", ".jj", ".svn")
"""Folders of version control: they mark the root of a project."""

MANIFESTS: Final = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt",
    "Makefile", "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json", "mix.exs",
    "build.zig", "compile_commands.json", ".vscode", ".nvim.lua", ".project",
)  # fmt: skip
"""Files that mark the root of a project without version control."""

Holds = Callable[[Path, str], bool]
"""Whether a folder contains one of these names."""


def steps_between(cwd: Path, project: Path, holds: Holds | None = None) -> int | None:
    """Return the number of folders between a Neovim and dapeer's project; None if it is another project.

    It is 0 in the same folder, and counts the steps up to the common parent folder and down again.

    A Neovim belongs to our project when its working directory is ours, or is in the root of our project or anywhere
    below. That root is the nearest folder, from ours upwards, that has a folder of version control (`HISTORIES`),
    else the nearest that has a file of `MANIFESTS`. A home folder and `/` are no roots: a home folder under version
    control would make one project of all that a person has. Without a root, only a Neovim in our very folder belongs
    to the project.

    Args:
        cwd: The working directory of the Neovim, absolute.
        project: dapeer's working directory, absolute.
        holds: Called with a folder and a name, says whether the folder contains that; None: the file system is asked.
    """
    if cwd == project:
        return 0
    root = project_root(project, holds)
    if root is None or not cwd.is_relative_to(root):
        return None
    shared = Path(os.path.commonpath((cwd, project)))
    return len(cwd.relative_to(shared).parts) + len(project.relative_to(shared).parts)


def project_root(folder: Path, holds: Holds | None = None) -> Path | None:
    """Return the root of the project that a folder is in; None if it is in none.

    The root is the nearest folder, from this one upwards, that has one of `HISTORIES` (of version control; a file
    of that name will do); if there is none up to `/`, the nearest with one of `MANIFESTS`. `/` and the home folder
    never are. A relative `folder` is not made absolute. `holds(FOLDER, NAME)` says whether a folder contains a
    name; by default the file system is asked.
    """
    holds = holds or _in_file_system
    upwards = [each for each in (folder, *folder.parents) if each not in _excluded_folders()]
    for markers in (HISTORIES, MANIFESTS):
        for each in upwards:
            if any(holds(each, marker) for marker in markers):
                return each
    return None


def _excluded_folders() -> tuple[Path, Path]:
    """Return the folders that are never the root of a project: `/` and the home folder."""
    return Path("/"), Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() may raise


def _in_file_system(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / name)
