"""Which runner a test is for: by its file, and by the project around it."""

from __future__ import annotations

import glob
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from dapeer.adapters.runners.runner import Pattern, Runner, Sign
from dapeer.base.errors import AdapterUnknown, ArgumentError
from dapeer.base.system import foreign_files

FOLDER = "/"
_MAX_PROGRAM_BYTES = 1 << 30
"""More of a program is not searched."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A runner, and the project that it has been recognised by."""

    runner: Runner
    root: Path
    """The project's folder."""
    sign: Path
    """The file by which it was recognised."""


def recognise(runners: Sequence[Runner], file: Path) -> Recognised:
    """Return the runner of a file, or of a folder, with tests, and the project that it is in.

    The file itself decides; else the nearest folder above it with a sign of a runner; else a runner that needs none.

    Raises:
        AdapterUnknown: No runner is known for it.
    """
    able = [runner for runner in runners if _fits(runner, file)]
    own = next((each for each in able if each.holds and holds(file, each.holds)), None)
    if own is not None:
        return _within(own, file) or Recognised(own, folder_of(file), file)
    for folder in _above(file):
        for runner in able:
            found = next(_signs(runner.signs, folder), None)
            if found is not None:
                return Recognised(runner, folder, found)
    free = next((each for each in able if not each.signs and each.holds is None), None)
    if free is None:
        known = ", ".join(dict.fromkeys(each.title for each in able or runners))
        raise AdapterUnknown(
            f"No test runner is known for {file.name}: nothing in its project points to {known}.",
            "Start the runner as `program`, with the test in its `args`.",
        )
    return Recognised(free, folder_of(file), file)


def with_project(runner: Runner, folder: Path) -> Recognised:
    """Return a runner that was named, with its project around a folder; without a sign, the folder is it."""
    return _within(runner, folder) or Recognised(runner, folder, folder)


def program_of(recognised: Recognised) -> str | None:
    """Return the path of the runner's own program; None where the definition names none.

    It is looked for in the project's folder and above it, then on PATH.

    Raises:
        ArgumentError: It is not installed in the project.
    """
    runner = recognised.runner
    if not runner.programs:
        return None
    folders = _above(recognised.root)
    here = (found for folder in folders for name in runner.programs for found in _at(folder, name))
    path = (shutil.which(name) for name in runner.programs if os.sep not in name)
    found = next(filter(None, itertools.chain(here, path)), None)
    if found is None:
        raise ArgumentError(
            f"{runner.title} runs the tests of {recognised.root}, but is not installed there: "
            f"{' or '.join(runner.programs)} was not found.",
            f"Install it: {runner.install}" if runner.install else "Install it.",
        )
    return found


def _at(folder: Path, name: str) -> Iterable[str]:
    """Return the files at a path below a folder, newest version first; empty for a name without a folder."""
    if os.sep not in name:
        return ()
    pattern = folder / Path(name).expanduser()
    return sorted(glob.glob(str(pattern)), reverse=True)  # noqa: PTH207 - it may be absolute


def folder_of(file: Path) -> Path:
    """Return the folder that a file is in; for a folder, the folder itself."""
    return file if foreign_files.is_folder(file) else file.parent


def holds(file: Path, pattern: Pattern) -> bool:
    """Return whether a file can be read and has a pattern in it; without a pattern, True."""
    if pattern is None:
        return True
    try:
        # Programs, too, are looked through: each byte is a character.
        return (
            pattern.search(foreign_files.read_bytes(file, _MAX_PROGRAM_BYTES).decode("latin-1"))
            is not None
        )
    except OSError:
        return False


def _fits(runner: Runner, file: Path) -> bool:
    """Return whether a runner has tests in files of this name, or in folders."""
    if foreign_files.is_folder(file):
        return FOLDER in runner.files
    return any(fnmatch(file.name, pattern) for pattern in runner.files)


def _within(runner: Runner, file: Path) -> Recognised | None:
    """Return a runner with the nearest folder above a file that has a sign of it; None if none has."""
    for folder in _above(file):
        found = next(_signs(runner.signs, folder), None)
        if found is not None:
            return Recognised(runner, folder, found)
    return None


def _signs(signs: Sequence[Sign], folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that are signs of a runner."""
    return (
        found
        for sign in signs
        for found in sorted(foreign_files.matching(folder, sign.file))
        if foreign_files.is_file(found) and holds(found, sign.holds)
    )


def _above(file: Path) -> Sequence[Path]:
    """Return the folder of a file, or a folder, and all above it, the nearest first."""
    folder = folder_of(file)
    return (folder, *folder.parents)
