"""Finds the name that a program has of a source file: its build was moved, or made in a container."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from dapeer.adapters.definition.placeholders import fill
from dapeer.adapters.definition.sections import Sources
from dapeer.base.errors import DapeerError
from dapeer.base.json_types import as_array, as_object
from dapeer.base.system import foreign_files
from dapeer.dap.mapped import PathNames, common_suffix
from dapeer.dap.sent_requests import EvaluateArguments, SendRequest
from dapeer.mirror.mirror import Mirror

MIN_COMMON_NAMES = 2
"""Names at the end of two paths that make them the same file: its own, and a folder's."""
MAX_TOLD_NAMES = 3
"""Names of a file that are told."""


class MovedFiles:
    """Finds the program's own name of a file with breakpoints, if the adapter knows no code of the file."""

    def __init__(
        self, names: PathNames, sources: Sources, mirror: Mirror, request: SendRequest
    ) -> None:
        """Keep `names`, which translates paths, and `sources`, the definition's `[sources]` table."""
        self._names = names
        self._sources = sources
        self._mirror = mirror
        self._request = request
        self._named_files: set[str] = set()
        """Files whose name in the program is known."""

    async def find_name(self, path: str) -> str:
        """Return the program's own name of a file whose breakpoints are all unverified; empty: none is known.

        `path` is the file's path here, whose breakpoints were sent. The result is also empty, and nothing is looked
        for, if the definition does not say how to, if a breakpoint in the file is verified or none was sent, or if
        its name was found before. Candidates come from the adapter: from its events of loaded sources, without a
        request, or from the definition's command, which it evaluates; a failed evaluation gives none. Where there
        are candidates but none is certain (several are possible, or the file is perhaps another project's), the
        result is empty, and the mirror gets a note that lists `MAX_TOLD_NAMES` of them at most. The name is only
        returned: `learn` has it translated.
        """
        sent = self._mirror.breakpoints.get(path, ())
        asks = self._sources.named or self._sources.loaded
        if not asks or path in self._named_files or not sent:
            return ""
        if any(made.get("verified") for _, made in sent):
            return ""
        known = [each for each in await self._list_candidates(path) if each != path]
        name = same_file(path, known, [each for each in known if foreign_files.exists(each)])
        if known and not name:
            left = len(known) - MAX_TOLD_NAMES
            told = " and ".join([*known[:MAX_TOLD_NAMES], *([f"{left} more"] if left > 0 else [])])
            self._mirror.name_file(path, f"the program has files of this name as {told}")
        return name

    def files_like(self, loaded: str) -> list[str]:
        """Return the files with breakpoints that may be the file `loaded`, which the program has just loaded.

        They have another path, with the same names at its end, and are not known under another name yet. None: the adapter does not tell of
        all that is loaded.
        """
        if not self._sources.loaded or loaded in self._mirror.breakpoints:
            return []
        known = [each for each in self._mirror.breakpoints if each not in self._named_files]
        return [each for each in known if _may_be(each, loaded)]

    async def start_translating(self, path: str, name: str) -> None:
        """Have the adapter or `PathNames` translate the path of a file to the program's `name` from now on.

        If the definition has a command `rename`, and both paths have folders before a common end of at least one
        name, the adapter evaluates that command for these folders; else the `PathNames` given to the constructor
        learn the two paths. First the mirror gets a note on the file, and the file counts as named for `find_name`;
        both stay if the command fails. The file's breakpoints are not sent again here.

        Raises:
            DapeerError: The adapter rejects the command, or does not answer.
        """
        self._named_files.add(path)
        self._mirror.name_file(path, f"the program has the file as {name}")
        common = common_suffix(path, name)
        here, there = ("/".join(each.split("/")[:-common]) for each in (path, name))
        if not (self._sources.rename and here and there):
            self._names.learn(path, name)
            return
        command = fill(self._sources.rename, {"here": here, "there": there})
        await self._request("evaluate", EvaluateArguments(expression=str(command), context="repl"))

    async def _list_candidates(self, path: str) -> Sequence[str]:
        """Return the program's source files that may be the file `path`, as the adapter lists them.

        Where the definition says that the adapter reports loaded sources (`loaded`), those of them are returned whose paths end alike, and
        nothing is sent. Else the definition's command `named` is evaluated, which lists files of the same file name. The result is empty if
        there are none, and if the evaluation fails for any reason, as it does with some adapters while the program runs; no error is
        raised.
        """
        if self._sources.loaded:
            loaded = (
                str(each.get("path") or "") for each in self._mirror.loaded_sources.sources.values()
            )
            return [each for each in loaded if _may_be(path, each)]
        command = fill(self._sources.named, {"name": Path(path).name})
        arguments = EvaluateArguments(expression=str(command), context="repl")
        try:
            answer = await self._request("evaluate", arguments)
        except DapeerError:
            # Some evaluate nothing while the program runs.
            return ()
        return self._sources.paths_in(str(answer.get("result") or ""))


def _may_be(path: str, loaded: str) -> bool:
    """Return whether two paths end alike, as those of one file do; not so for files of packages."""
    return common_suffix(path, loaded) >= MIN_COMMON_NAMES and "/node_modules/" not in loaded


def same_file(path: str, known: Sequence[str], here: Sequence[str]) -> str:
    """Return the one of the `known` names that must be the file `path`; empty: none is, or several may be.

    It has the longest common end with `path`, of two names or more. A name that also exists in `here`, the files of this machine, is
    another file.

    >>> same_file("/me/shop/src/a.c", ["/build/src/a.c", "/build/lib/a.c"], [])
    '/build/src/a.c'
    >>> same_file("/me/shop/src/a.c", ["/one/src/a.c", "/two/src/a.c"], [])
    ''
    """
    by_length = {each: common_suffix(path, each) for each in known}
    most = max(by_length.values(), default=0)
    best = [each for each, length in by_length.items() if length == most]
    is_same = most >= MIN_COMMON_NAMES and len(best) == 1 and best[0] not in here
    return best[0] if is_same else ""


# Finds the sources of a build that was moved: its source maps name a folder that is not here.

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
    """Return folders that a program's source maps name and that were moved, each with its folder here.

    `program` is the path of the JavaScript file; its own source map and those beside it are read, at most
    `MAX_MAPS`. Sources in `node_modules`, URLs, and sources that exist where the map says are passed over. So a
    folder is one of missing sources, but may exist itself; it is written as in the map, perhaps relative. Its
    place here is looked for from the program's folder up to `project` (only in `project` for a program
    outside), by ends of at least `MIN_COMMON_NAMES` names that the paths of their files have in common. A
    folder of which several places fit, or none, is left out. The result is empty if the program's file does not
    exist.
    """
    found: dict[str, set[str]] = {}
    for source, path in itertools.chain.from_iterable(map(_sources, _maps(Path(program)))):
        if "node_modules" not in source.parts and not foreign_files.exists(path):
            pair = _moved_folder_pair(source, Path(program).parent, project)
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

    `path` is the source map's file. Each pair is the source's path as the map has it, behind its `sourceRoot`,
    and the same path relative to the folder of the map, which need not exist; an absolute path is the same in
    both. Nothing is yielded if the file cannot be read, holds no JSON object, or is larger than `MAX_BYTES`. URLs
    are left out, and so are paths with a colon, or with `..` behind another name.
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


def _moved_folder_pair(
    source: PurePosixPath, folder: Path, project: Path
) -> tuple[str, str] | None:
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
