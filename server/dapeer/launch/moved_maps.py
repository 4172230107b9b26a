"""Finds the sources of a build that was moved: its source maps name a folder that is not here."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from dapeer.base.json_types import as_array, as_object

MIN_COMMON_NAMES = 2
"""Names at the end of two paths that make them the same file: its own, and a folder's."""
MAX_MAPS = 200
"""Source maps that are read."""
MAX_BYTES = 20_000_000
"""The size of one that is read."""
OF_JS_DEBUG = {
    "webpack://?:*/*": "${workspaceFolder}/*",
    "webpack:///./~/*": "${workspaceFolder}/node_modules/*",
    "meteor://💻app/*": "${workspaceFolder}/*",
}
"""What such a configuration has by default, and loses where it is given one."""


def moved(program: str, project: Path) -> Mapping[str, str]:
    """Return where the folders are, here, that a program's source maps name and that are not here.

    A folder is told where the files of one of its maps lie below one folder of the project only, by the longest ends of their paths.
    """
    found: dict[str, set[str]] = {}
    for source in itertools.chain.from_iterable(map(_sources, _maps(Path(program)))):
        if "node_modules" not in source.parts and not Path(source).exists():
            for there, here in _pairs(source, Path(program).parent, project):
                found.setdefault(there, set()).add(here)
    return {there: next(iter(here)) for there, here in found.items() if len(here) == 1}


def overrides(folders: Mapping[str, str]) -> Mapping[str, str]:
    """Return the patterns of a configuration that have these folders' files found; empty without any.

    >>> overrides({"/build": "/me/shop"})["/build/*"]
    '/me/shop/*'
    """
    own = {f"{there}/*": f"{here}/*" for there, here in folders.items()}
    return {**OF_JS_DEBUG, **own} if own else {}


def _maps(program: Path) -> Iterator[Path]:
    """Yield the source maps beside a program, its own first."""
    own = program.with_name(f"{program.name}.map")
    if not program.is_file():
        return
    others = sorted(program.parent.glob("*.map"))
    yield from itertools.islice(dict.fromkeys([*[own] * own.is_file(), *others]), MAX_MAPS)


def _sources(path: Path) -> Iterator[PurePosixPath]:
    """Yield the absolute paths that a source map names."""
    try:
        text = path.read_text() if path.stat().st_size <= MAX_BYTES else "{}"
        held = as_object(json.loads(text))
    except (OSError, ValueError):
        return
    root = str(held.get("sourceRoot") or "")
    for each in as_array(held.get("sources")):
        source = PurePosixPath(root) / str(each)
        if source.is_absolute() and ".." not in source.parts:
            yield source


def _pairs(source: PurePosixPath, folder: Path, project: Path) -> Iterator[tuple[str, str]]:
    """Yield the folder of a file that is not here, and each that has a file of the same longest end.

    Looked at are the folders from the program's up to the project's.
    """
    above = [each for each in (folder, *folder.parents) if each.is_relative_to(project)]
    for count in range(len(source.parts) - 1, MIN_COMMON_NAMES - 1, -1):
        end = PurePosixPath(*source.parts[-count:])
        here = [each for each in above if (each / end).is_file()]
        if here:
            there = str(PurePosixPath(*source.parts[:-count]))
            yield from ((there, str(each)) for each in here)
            return
