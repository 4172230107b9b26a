"""The tables of a definition on what must be installed, and how."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from dapeer.adapters.definition.table import Table

PLATFORMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be there: any one of `names`."""

    kind: Literal["executable", "python_module", "file"]
    names: tuple[str, ...]

    @classmethod
    def read(cls, table: Table) -> Need:
        """Read one item of `detect.any` or `detect.all`."""
        for kind in ("executable", "python_module", "file"):
            if kind in table:
                need = cls(kind, table.texts(kind))
                table.done()
                return need
        raise table.wrong(f"`{table.at('executable')}`, `python_module` or `file` is missing")

    def placeholders(self) -> tuple[str, ...]:
        """Return the names of the placeholders that finding it gives a value."""
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
    min: str

    @classmethod
    def read(cls, table: Table) -> Version:
        """Read `detect.version`."""
        version = cls(table.texts("command"), table.text("regex"), table.get("min", str, "0"))
        table.done()
        return version


@dataclass(frozen=True, slots=True)
class Detect:
    """What must be installed: one of `any`, if there are some, and all of `all`."""

    any: tuple[Need, ...]
    all: tuple[Need, ...]
    version: Version | None
    patches: tuple[str, ...]
    """A command that prints, on a line each, what dapeer changes in the adapter and cannot change in the installed one."""

    @classmethod
    def read(cls, table: Table) -> Detect:
        """Read `[detect]`."""
        detect = cls(
            tuple(map(Need.read, table.tables("any"))),
            tuple(map(Need.read, table.tables("all"))),
            Version.read(table.table("version")) if "version" in table else None,
            table.texts("patches"),
        )
        table.done()
        return detect

    def placeholders(self) -> set[str]:
        """Return the names of all placeholders that detection may give a value."""
        return {name for need in self.any + self.all for name in need.placeholders()}


@dataclass(frozen=True, slots=True)
class Install:
    """One way to get the adapter."""

    manager: str
    """The program that must be there for it: `pip`, `npm`, `apt`."""
    command: str
    when: tuple[str, ...]
    """The platforms on which it works; empty: all."""

    @classmethod
    def read(cls, table: Table) -> Install:
        """Read one `[[install]]`."""
        when = table.some_of("when", tuple(PLATFORMS))
        install = cls(table.text("manager"), table.text("command"), when)
        table.done()
        return install

    def fits(self, platform: str = sys.platform) -> bool:
        """Whether it works on this platform."""
        return not self.when or platform in {PLATFORMS[name] for name in self.when}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Which interpreters, `${python}`, run programs that the adapter debugs."""

    minimum: tuple[int, ...]
    """The lowest version."""
    older: str
    """A sentence on what to do with an older one."""

    @classmethod
    def read(cls, table: Table) -> Interpreter:
        """Read `[interpreter]`."""
        least = table.get("min", str, "0")
        if not all(part.isdecimal() for part in least.split(".")):
            raise table.wrong(f"`{table.at('min')}` is {least!r}, which is not a version")
        interpreter = cls(tuple(map(int, least.split("."))), table.get("older", str, ""))
        table.done()
        return interpreter
