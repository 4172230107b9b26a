"""The files of an adapter, and whether they are still the same."""

from __future__ import annotations

import importlib.util
import os
import stat
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.definition.table import LAUNCHERS

Stamp: TypeAlias = tuple[str, int, int, int]
"""A file's path, time of change in nanoseconds, size and inode; zeros if it is not there. Of a folder only the inode counts."""


def stamps(definition: Definition, command: Sequence[str]) -> frozenset[Stamp]:
    """Return the stamps of the files that a command names, of dapeer's launchers, and of the Python modules that the adapter needs."""
    needs = (*definition.detect.all, *definition.detect.any)
    modules = [name for need in needs if need.kind == "python_module" for name in need.names]
    paths = [*map(os.path.realpath, command), *_below(str(LAUNCHERS))]
    for name in modules:
        paths += [path for folder in _folders(name) for path in _below(folder)]
    return frozenset(map(_stamp, paths))


def _folders(module: str) -> Sequence[str]:
    """Return the folders of a package of our own Python."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # of a package that is not there
        return ()
    return (spec.submodule_search_locations if spec else None) or ()


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(parent, name) for name in names)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    if stat.S_ISDIR(found.st_mode):
        # What is in it is no part of the adapter.
        return path, 0, 0, found.st_ino
    return path, found.st_mtime_ns, found.st_size, found.st_ino
