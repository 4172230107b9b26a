"""The tables of a definition on what must be installed, and how."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Literal

from dapeer.adapters.definition.table import DefinitionTable

PLATFORMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
"""The systems that a definition names, as Python names them."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be there: any one of `names`."""

    kind: Literal["executable", "python_module", "file"]
    names: tuple[str, ...]

    @classmethod
    def read(cls, table: DefinitionTable) -> Need:
        """Return one item of `detect.any` or `detect.all`: a table with one key, the kind.

        Raises:
            DefinitionError: It has none of the kinds, or another key.
        """
        for kind in ("executable", "python_module", "file"):
            if kind in table:
                need = cls(kind, table.texts(kind))
                table.done()
                return need
        raise table.wrong(f"`{table.at('executable')}`, `python_module` or `file` is missing")

    @property
    def shown(self) -> str:
        """What a person calls it: the last part of a path, or of the usual place that a variable names."""
        usual = next((name for name in self.names if not name.startswith("$") or "/" in name), "")
        return (usual or self.names[0]).rpartition("/")[2] if self.kind == "file" else self.names[0]

    def placeholders(self) -> tuple[str, ...]:
        """Return the names of the placeholders that get a value when it is found; empty for a Python module."""
        match self.kind:
            case "executable":
                return "executable", self.names[0]
            case "file":
                return "file", "file_dir"
            case _:
                return ()


@dataclass(frozen=True, slots=True)
class Version:
    """How to ask for a version, and the lowest that will do."""

    command: tuple[str, ...]
    regex: str
    """Its first group is the version."""
    min: str = "0"


@dataclass(frozen=True, slots=True)
class Detect:
    """What must be installed: one of `any`, if there are some, and all of `all`."""

    any: tuple[Need, ...]
    all: tuple[Need, ...]
    version: Version | None
    patches: tuple[str, ...]
    """A command that prints, on a line each, what dapeer cannot change in the installed adapter."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Detect:
        """Return the table `[detect]`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        return table.read(
            cls,
            any=tuple(map(Need.read, table.tables("any"))),
            all=tuple(map(Need.read, table.tables("all"))),
            version=table.table("version").read(Version) if "version" in table else None,
        )

    def placeholders(self) -> set[str]:
        """Return the names of all placeholders that detection may give a value."""
        return {name for need in self.any + self.all for name in need.placeholders()}


_PIP = re.compile(r"pip install ((?:[\w.]\S*\s*)+)")
"""A command that names only packages."""


@dataclass(frozen=True, slots=True)
class Install:
    """One way to get the adapter."""

    manager: str
    """The program that must be there for it: `pip`, `npm`, `apt`."""
    command: str
    """What a person types; empty: dapeer gets the `packages`."""
    packages: tuple[str, ...]
    """What dapeer gets itself, into a folder of its own."""
    when: tuple[str, ...]
    """The platforms on which it works; empty: all."""
    take: str = ""
    """The only folder that is taken of a package of npm; empty: it is installed with all that it needs."""
    gets: str = ""
    """The executable of `[detect]` that it brings; empty: the adapter itself."""
    into: str = ""
    """The adapter in whose folder the packages go; empty: its own."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Install:
        """Return one table `[[install]]`; a `pip install` of packages alone becomes `packages`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        when = table.some_of("when", tuple(PLATFORMS))
        manager, packages = table.text("manager"), table.texts("packages")
        command = "" if packages else table.text("command")
        if not packages and (found := _PIP.fullmatch(command)):
            packages = tuple(found[1].split())
        return table.read(cls, manager=manager, command=command, packages=packages, when=when)

    def fits(self, platform: str = sys.platform) -> bool:
        """Return whether it works on a platform, as `sys.platform` names it."""
        return not self.when or platform in {PLATFORMS[name] for name in self.when}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Which interpreters, `${python}`, run programs that the adapter debugs."""

    minimum: tuple[int, ...]
    """The lowest version."""
    older: str
    """A sentence on what to do with an older one."""
    fast: tuple[int, ...] = ()
    """The lowest version that a debugger does not make slow; empty: all versions are alike."""
    slow: str = ""
    """A sentence on what a debugger costs in a lower one."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Interpreter:
        """Return the table `[interpreter]`; `fast` counts only with a sentence `slow`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        least, fast = _version(table, "min", "0"), _version(table, "fast", "0")
        older, slow = table.get("older", str, ""), table.get("slow", str, "")
        table.done()
        return cls(least, older, fast if slow else (), slow)


def _version(table: DefinitionTable, name: str, default: str) -> tuple[int, ...]:
    """Return the version at a key as numbers: `3.9` is (3, 9); without the key, that of `default`.

    Raises:
        DefinitionError: It is no version.
    """
    version = table.get(name, str, default)
    if not all(part.isdecimal() for part in version.split(".")):
        raise table.wrong(f"`{table.at(name)}` is {version!r}, which is not a version")
    return tuple(map(int, version.split(".")))
