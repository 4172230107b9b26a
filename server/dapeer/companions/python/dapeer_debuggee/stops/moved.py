"""Has breakpoints bind in code that names its file in another folder, or in an archive.

A `.pyc` that is run without its source, and a program in a container, name files that are not here; an archive (`zipapp`) has copies. Such a
name is taken for that of a file with breakpoints if both end in the same names, at least the file's and a folder's, and if there is one such
file only; in an archive the texts must be the same, too.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any

from .. import patching
from . import breaking, breakpoints

NAMED = "dapeerFileNamed"
"""The event that tells `name`, which the program has of the file `path`."""
MIN_COMMON_NAMES = 2
"""Names at the end of two paths that make them the same file: its own, and a folder's."""
MAX_NAMES = 20000
"""Names that are remembered."""
PATHS = "pydevd_file_utils:_abs_and_canonical_path"
CHANGED = "pydevd:PyDB.on_breakpoints_changed"
MOVED = patching.Row(
    "moved-files",
    "debugpy",
    "A breakpoint does not stop in code that was compiled in another folder and runs without its source, or lies in an archive.",
    replaces={PATHS: "filename NORM_PATHS_CONTAINER=", CHANGED: "self removed="},
    uses=("pydevd_file_utils:NORM_PATHS_AND_BASE_CONTAINER", "pydevd:PyDB#file_to_id_to_line_breakpoint"),
)  # fmt: skip


class FileNames:
    """What the program calls the files that have breakpoints."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.alone: dict[str, str] = {}
        """Names of code for which no file was found, and their paths."""
        self.found: dict[str, str] = {}
        """The file of each name for which one was."""

    def file_of(self, path: str, files: list[str]) -> str:
        """Return the file with breakpoints that the code of a path belongs to; empty: none, or several.

        `path` is what the program calls the file, `files` are those with breakpoints; one that another name has already found (`found`) is
        left out. It is the one with the most equal names at the end of its path, `MIN_COMMON_NAMES` at least. Where both files exist it is
        none, unless `path` is in an archive and the texts are the same.
        """
        taken = self.found.values()
        lengths = {each: count_common_names(path, each) for each in files if each not in taken}
        most = max(lengths.values(), default=0)
        best = [each for each, length in lengths.items() if length == most]
        if most < MIN_COMMON_NAMES or len(best) != 1 or best[0] == path:
            return ""
        if breakpoints.is_in_archive(path):
            return best[0] if same_text(path, best[0]) else ""
        return "" if os.path.exists(path) and os.path.exists(best[0]) else best[0]


names = FileNames()


def count_common_names(path: str, other: str) -> int:
    """Return how many names, separated by `os.sep`, are the same at the ends of `path` and `other`."""
    count = 0
    for one, its in zip(reversed(path.split(os.sep)), reversed(other.split(os.sep))):
        if one != its:
            break
        count += 1
    return count


def same_text(member: str, file: str) -> bool:
    """Return whether a file of an archive has the lines of a file; False also if one cannot be read.

    `member` is the path of the archive followed by that in it, `file` the path of the other file.
    """
    zipfile: Any = importlib.import_module("zipfile")
    archive = member
    while not os.path.isfile(archive):
        archive = os.path.dirname(archive)
    try:
        with zipfile.ZipFile(archive) as held, open(file, "rb") as stream:
            text: bytes = held.read(os.path.relpath(member, archive).replace(os.sep, "/"))
            return text.splitlines() == stream.read().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile):
        return False


def files_with_breakpoints() -> list[str]:
    """Return the files that have breakpoints, by pydevd's names."""
    debugger = importlib.import_module("pydevd").get_global_debugger()
    held: Any = getattr(debugger, "file_to_id_to_line_breakpoint", None) or {}
    return [each for each, points in list(held.items()) if points]


def find_moved_file(name: str, path: str) -> str:
    """Return the file with breakpoints that a name of code is of, and send `dapeerFileNamed`; empty: none.

    `name` is the file's name in the code, `path` pydevd's absolute path for it. The answer is remembered in `names`, also that there is
    none.
    """
    with names.lock:
        file = names.file_of(path, files_with_breakpoints())
        if not file:
            if len(names.alone) < MAX_NAMES:
                names.alone[name] = path
            return ""
        names.found[name] = file
        names.alone.pop(name, None)
    breaking.send({"path": file, "name": path}, event=NAMED)
    return file


@MOVED
def know_by_ends(patch: Any) -> None:
    """Patch pydevd so that breakpoints bind in code that names its file in another folder or an archive.

    pydevd gets the path of the file with breakpoints for such a name, the one with the longest equal end; where several have it, none. The
    client is told by the event `dapeerFileNamed` when a file is first found. `patch` is this patch's `patching.Row`: it calls this function
    when it is applied, and its `undo` puts back what was replaced by it.
    """
    files: Any = importlib.import_module("pydevd_file_utils")

    @patch.replace(PATHS, again=True)
    def abs_and_canonical(stock: Any, filename: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's absolute and canonical path of a file; for moved code, twice its file here.

        The first answer for a name that is not here is remembered, and told to the client if a file is found (`found`).
        """
        paths = stock(filename, *rest, **named)
        file = names.found.get(filename)
        if file is None:
            if filename in names.alone or filename.startswith("<"):
                return paths
            is_here = os.path.exists(paths[0]) and not files_elsewhere()
            file = "" if is_here else find_moved_file(filename, paths[0])
        return (file, file) if file else paths

    @patch.replace(CHANGED)
    def changed(stock: Any, self: Any, removed: bool = False, *rest: Any, **named: Any) -> Any:
        """Look once more for the files of names that had none, drop pydevd's paths of those, and do as pydevd.

        Nothing is looked for where breakpoints were only removed.
        """
        held: Any = files.NORM_PATHS_AND_BASE_CONTAINER
        for name, path in [] if removed else list(names.alone.items()):
            if find_moved_file(name, path):
                for each in [key for key, known in list(held.items()) if known[0] == path]:
                    held.pop(each, None)
        return stock(self, removed, *rest, **named)


def files_elsewhere() -> bool:
    """Whether a file with breakpoints is not here: the program is in a container."""
    return any(not os.path.exists(each) for each in files_with_breakpoints())
