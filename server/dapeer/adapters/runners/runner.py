"""Definitions of test runners: one TOML file, one runner. No code knows any of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.table import Table, parsed

Pattern = re.Pattern[str] | None

# Special in the regular expressions of every language; more than this not all of them let one quote.
_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\]")


@dataclass(frozen=True, slots=True)
class Sign:
    """A file by which a folder is known as a project of the runner's."""

    file: str
    """A pattern, seen from the folder."""
    holds: Pattern
    """Is found in the file."""

    @classmethod
    def read(cls, table: Table) -> Sign:
        """Read one of `signs`."""
        sign = cls(table.text("file"), _pattern(table, "holds"))
        table.done()
        return sign


@dataclass(frozen=True, slots=True)
class Naming:
    """How the runner is told which tests to run."""

    join: str
    """Stands between the parts of a name."""
    part: str
    """What is made of each part, with `${part}` in it."""
    regex: bool
    """The runner takes a regular expression: what is special in a part is quoted."""
    replace: Mapping[str, str]
    """What the runner writes otherwise in its names."""
    args: Sequence[str]
    """Arguments with `${name}` in them, or `${last}`, the last part of it; none are passed when a whole file is to run."""
    written: Pattern
    """How a file names its tests: the first group that fits is a name."""
    unknown: Pattern
    """What the runner prints when it knows no such test."""

    @classmethod
    def read(cls, table: Table) -> Naming:
        """Read `[name]`."""
        replace = table.table("replace")
        naming = cls(
            table.get("join", str, " "),
            table.get("part", str, "${part}"),
            table.get("regex", bool, default=False),
            {key: replace.text(key) for key in replace},
            table.texts("args"),
            _pattern(table, "written"),
            _pattern(table, "unknown"),
        )
        table.done()
        return naming

    def of(self, parts: Sequence[str]) -> str:
        """Return the parts of a name as the runner wants them."""
        return self.join.join(self.part.replace("${part}", self._quoted(part)) for part in parts)

    def _quoted(self, part: str) -> str:
        for text, instead in self.replace.items():
            part = part.replace(text, instead)
        return _SPECIAL.sub(r"\\\g<0>", part) if self.regex else part


@dataclass(frozen=True, slots=True)
class Build:
    """How the program is made that the tests are in."""

    command: Sequence[str]
    seconds: float

    @classmethod
    def read(cls, table: Table) -> Build:
        """Read `[build]`."""
        build = cls(table.texts("command"), table.seconds("seconds", 600))
        table.done()
        return build


@dataclass(frozen=True, slots=True)
class Lookup:
    """How the program is found that a test is in: a command that tells of several, as JSON."""

    command: Sequence[str]
    """Empty: what the build has printed tells it."""
    at: str
    """The dotted key of the list; empty: each line is an object."""
    where: Mapping[str, Any]
    """What must stand at some dotted keys of an object; `true` is anything but nothing."""
    take: Mapping[str, str]
    """Placeholders, and the dotted keys that have their values."""
    tests: Sequence[str]
    """A command that lists the tests of one of them; empty: `${test}` is its only one."""
    listed: Pattern
    """A line of that list: the first group is a test."""

    @classmethod
    def read(cls, table: Table) -> Lookup:
        """Read `[lookup]`."""
        take = table.table("take")
        lookup = cls(
            table.texts("command"),
            table.get("at", str, ""),
            table.table("where").free(),
            {name: take.text(name) for name in take},
            table.texts("tests"),
            _pattern(table, "listed"),
        )
        table.done()
        return lookup


@dataclass(frozen=True, slots=True)
class Runner:
    """One test runner: what is its, and how it is run so that a debugger sees a test fail."""

    id: str
    title: str
    type: str
    """The adapter, or the language, of the program that it is."""
    files: Sequence[str]
    """Patterns of the names of files that tests are in; `/` is a folder."""
    holds: Pattern
    """Is found in a file of its tests: then no sign is needed."""
    signs: Sequence[Sign]
    rank: int
    programs: Sequence[str]
    """What it is called: in the project's folder or one above it, at a path of its own, or a name on PATH."""
    install: str
    """The command that gets it."""
    naming: Naming
    build: Build | None
    lookup: Lookup | None
    in_file: Mapping[str, Pattern]
    """Placeholders whose values are in the file of a test: the first group of a pattern."""
    launch: Mapping[str, Any]
    """Inputs of `dap_run`."""
    config: Mapping[str, Any]
    """Keys of the adapter's."""
    exceptions: Mapping[str, str] | None
    """The filters that have a failing test stop, and the condition of each, if it has one."""
    functions: Sequence[str]
    """The functions whose call is a failure."""
    path: Path

    @classmethod
    def read(cls, table: Table, path: Path) -> Runner:
        """Read a whole file."""
        stops, reads = table.table("stops"), table.table("read")
        filters = stops.table("exceptions")
        runner = cls(
            id=table.text("id"),
            title=table.get("title", str, table.text("id")),
            type=table.text("type"),
            files=table.texts("files"),
            holds=_pattern(table, "holds"),
            signs=tuple(map(Sign.read, table.tables("signs"))),
            rank=table.get("rank", int, 1),
            programs=table.texts("program"),
            install=table.get("install", str, ""),
            naming=Naming.read(table.table("name")),
            build=Build.read(table.table("build")) if "build" in table else None,
            lookup=Lookup.read(table.table("lookup")) if "lookup" in table else None,
            in_file={name: _pattern(reads, name) for name in reads},
            launch=table.table("launch").free(),
            config=table.table("config").free(),
            exceptions={each: filters.text(each) for each in filters} or None,
            functions=stops.texts("functions"),
            path=path,
        )
        stops.done()
        table.done()
        return runner


def _pattern(table: Table, key: str) -> Pattern:
    text = table.pattern(key)
    return re.compile(text, re.MULTILINE) if text else None


@functools.cache
def load_runners(*folders: Path) -> Sequence[Runner]:
    """Return the runners that folders of definitions have in `tests`, those of later folders first.

    Of two with one id the later folder's wins; a folder that does not exist is empty.

    Raises:
        DefinitionError: A file is wrong.
    """
    found: dict[str, Runner] = {}
    for folder in reversed(folders):
        here = sorted((folder / "tests").glob("*.toml"))
        loaded = sorted(map(_load, here), key=lambda runner: runner.rank)
        found |= {runner.id: runner for runner in loaded if runner.id not in found}
    return tuple(found.values())


def _load(path: Path) -> Runner:
    return Runner.read(Table(path, "", parsed(path)), path)
