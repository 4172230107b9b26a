"""Finds the sources of a build that was moved: its source maps name a folder that is not here."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from dapeer.base.json_types import as_array, as_object
from dapeer.base.system import foreign_files
from dapeer.sessions.breakpoints.moved_files import MIN_COMMON_NAMES, same_file

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


def moved_folders(program: str, project: Path) -> Mapping[str, str]:
    """Return folders that a program's source maps name and this machine lacks, each with its folder here.

    `program` is the path of the JavaScript file; its own source map and those beside it are read. A folder's place here is looked for from
    the program's folder up to `project`, by the longest common end of its files' paths. A folder of which several places fit, or none, is
    left out.
    """
    found: dict[str, set[str]] = {}
    for source, path in itertools.chain.from_iterable(map(_sources, _maps(Path(program)))):
        if "node_modules" not in source.parts and not foreign_files.exists(path):
            pair = _pair(source, Path(program).parent, project)
            if pair is not None:
                found.setdefault(pair[0], set()).add(pair[1])
    return {there: next(iter(here)) for there, here in found.items() if len(here) == 1}


def overrides(folders: Mapping[str, str]) -> Mapping[str, str]:
    """Return js-debug's patterns for source maps (`sourceMapPathOverrides`); empty without folders.

    `folders` maps a folder that source maps name to that folder here. js-debug's default patterns come first, since it has none of them
    where the key is given.

    >>> overrides({"/build": "/me/shop"})["/build/*"]
    '/me/shop/*'
    """
    own = {f"{there}/*": f"{here}/*" for there, here in folders.items()}
    return {**OF_JS_DEBUG, **own} if own else {}


def _maps(program: Path) -> Iterator[Path]:
    """Yield the source maps beside a program, its own first; none without the program's file.

    At most `MAX_MAPS` are yielded.
    """
    own = program.with_name(f"{program.name}.map")
    if not foreign_files.is_file(program):
        return
    others = sorted(foreign_files.matching(program.parent, "*.map"))
    maps = filter(foreign_files.is_file, dict.fromkeys([own, *others]))
    yield from itertools.islice(maps, MAX_MAPS)


def _sources(path: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    """Yield the paths of sources that a source map names, each with where that would be here.

    None are yielded if the file cannot be read, or is larger than `MAX_BYTES`. URLs are left out, and paths with `..` behind another name.
    """
    try:
        text = foreign_files.read_bytes(path, MAX_BYTES + 1)
        held = as_object(json.loads(text if len(text) <= MAX_BYTES else "{}"))
    except (OSError, ValueError):
        return
    root = str(held.get("sourceRoot") or "")
    for each in as_array(held.get("sources")):
        source = PurePosixPath(root) / str(each)
        below = itertools.dropwhile(lambda name: name == "..", source.parts)
        if ":" not in str(source) and ".." not in below:
            yield source, path.parent / source


def _pair(source: PurePosixPath, folder: Path, project: Path) -> tuple[str, str] | None:
    """Return a folder of `source` that is not here, and that folder here.

    None: no place fits, or several do. Folders here are looked at from `folder`, the program's, up to `project`; for a program outside of
    the project, only `project` is. Files there count that have at least the last `MIN_COMMON_NAMES` names of `source`; the one that
    `same_file` takes for `source` decides.
    """
    above = [each for each in (folder, *folder.parents) if each.is_relative_to(project)]
    above = above or [project]
    found: dict[str, tuple[str, str]] = {}
    for count in range(len(source.parts) - 1, MIN_COMMON_NAMES - 1, -1):
        there, end = source.parts[:-count], PurePosixPath(*source.parts[-count:])
        for each in above if ".." not in end.parts else ():
            if foreign_files.is_file(each / end):
                found.setdefault(str(each / end), (str(PurePosixPath(*there)), str(each)))
    return found.get(same_file(str(source), [*found], []))
