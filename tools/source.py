"""The Python of dapeer in a checkout, parsed: who imports whom. Tests of the architecture and `tools.figures` read it."""

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parent.parent

Node = TypeVar("Node", bound=Hashable)
Module = tuple[str, ...]
"""A module as its dotted parts below `dapeer`; a package is its folder."""


@cache
def parse(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield each name that a file imports as its dotted parts; of `from . import a` those from the top package on."""
    for node in ast.walk(parse(path)):
        match node:
            case ast.Import(names=names):
                yield from (tuple(alias.name.split(".")) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = path.relative_to(ROOT / "server").parts[:-level] if level else ()
                inside = tuple(module.split(".")) if module else ()
                yield from ((*above, *inside, alias.name) for alias in names)
            case _:
                pass


class Source:
    """The package in a checkout."""

    def __init__(self, root: Path = ROOT) -> None:
        self.package = root / "server" / "dapeer"
        self.modules = sorted(self.package.rglob("*.py"))

    def name_of(self, path: Path) -> str:
        """Return the path of a module below the package."""
        return path.relative_to(self.package).as_posix()

    def module_of(self, path: Path) -> Module:
        """Return the module that a file is."""
        parts = path.relative_to(self.package).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @cached_property
    def by_name(self) -> dict[Module, Path]:
        """The file of each module."""
        return {self.module_of(path): path for path in self.modules}

    @cached_property
    def graph(self) -> dict[Module, set[Module]]:
        """What each module imports of the package: a module, or a package itself."""
        return {
            module: {name for name in map(self.known, imports(path)) if name is not None}
            for module, path in self.by_name.items()
        }

    def known(self, imported: tuple[str, ...]) -> Module | None:
        """Return the module of ours that an import names, if it names one."""
        parts = imported[1:]
        while parts and parts not in self.by_name:
            parts = parts[:-1]
        return parts if imported[0] == "dapeer" and parts else None

    def room_of(self, module: Module, depth: int = 0) -> str:
        """Return the room of a module: a folder or module of the package, or `depth` folders deeper."""
        return module[depth]

    def crossings(self, *inside: str) -> Iterator[tuple[Module, Module, tuple[str, str]]]:
        """Yield who imports whom in another room, of the package or inside one of its rooms, and these two rooms."""
        depth = len(inside)
        for importer, all_imported in self.graph.items():
            for imported in all_imported:
                if not importer[:depth] == imported[:depth] == inside:
                    continue
                if min(len(importer), len(imported)) > depth:
                    rooms = (self.room_of(importer, depth), self.room_of(imported, depth))
                    if rooms[0] != rooms[1]:
                        yield importer, imported, rooms

    def arrows(self, *inside: str) -> set[tuple[str, str]]:
        """Return the pairs of rooms, of the package or inside one of its rooms, of which one imports the other."""
        return {rooms for _, _, rooms in self.crossings(*inside)}

    def floors(self, *inside: str) -> int:
        """Return how many rooms the longest chain of imports has; 0 where they import each other in a circle."""
        below: dict[str, set[str]] = defaultdict(set)
        for importer, imported in self.arrows(*inside):
            below[importer].add(imported)
        return len(longest_chain(below))


def longest_chain(below: Mapping[Node, set[Node]]) -> list[Node]:
    """Return the longest path through a graph; nothing where it has a circle."""
    best: dict[Node, list[Node]] = {}
    longest: list[Node] = []
    try:
        for node in TopologicalSorter(below).static_order():
            best[node] = [node]
            for each in below.get(node, set[Node]()):
                best[node] = max(best[node], [node, *best[each]], key=len)
            longest = max(longest, best[node], key=len)
    except CycleError:
        return []
    return longest
