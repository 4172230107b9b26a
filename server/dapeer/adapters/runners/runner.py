"""Definitions of test runners: one TOML file, one runner. No code knows any of them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

from dapeer.adapters.definition.table import DefinitionTable, Regex, Seconds, read_toml
from dapeer.base.json_types import is_array
from dapeer.base.system import foreign_files


def _pattern(table: DefinitionTable, key: str) -> re.Pattern[str] | None:
    return table.compiled(key, re.MULTILINE)


Pattern = Annotated[re.Pattern[str] | None, _pattern]

PART = "${part}"
MOST_FILES = 500
"""Files that are searched for tests that pass if they fail."""

# Special in the regular expressions of every language; more than this not all of them let one quote.
_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\]")


@dataclass(frozen=True, slots=True)
class Sign:
    """A file that marks a folder as a project of the runner."""

    file: str
    """A pattern, seen from the folder."""
    holds: Pattern
    """Is found in the file."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What has a build leave a file out."""

    file: Pattern
    """Is found in the name of the file."""
    holds: Pattern
    """Is found in the file."""
    say: str = ""
    """The reason; `${1}` is the first group of what was found, in the file if `holds` is there."""

    def reason(self, file: Path, text: str) -> str:
        """Return the reason why a build leaves out a file with this text; empty: it does not, by this rule."""
        tried = [(self.file, file.name), (self.holds, text)]
        found = [pattern.search(where) for pattern, where in tried if pattern is not None]
        if not found or None in found:
            return ""
        group = next((each[1] for each in reversed(found) if each and each.re.groups), "")
        return self.say.replace("${1}", group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How the runner selects tests."""

    join: str = " "
    """Joins the parts of a name."""
    part: str = PART
    """The form of each part, with `${part}` in it."""
    regex: bool = False
    """The runner takes a regular expression: special characters of a part are quoted."""
    replace: Mapping[str, str]
    """Characters that the runner replaces in names."""
    args: Sequence[str]
    """Arguments with `${name}` in them, or `${last}`, its last part; without a name none are passed."""
    written: Pattern
    """How a file names its tests: the first group that fits is a name."""
    unknown: Regex = ""
    """A pattern of the runner's output when no test has the name `${name}`; empty: none is known."""
    none: Pattern
    """The same, when no test ran; None: `unknown` says that, too."""
    whole: Sequence[str]
    """Arguments that select all tests of one file; `${names}`: what `written` finds, joined by `|`."""
    left_out: Sequence[LeftOut]
    """Why a build may be without a file; looked at only once the runner knows none of the file's tests."""

    def written_in(self, file: Path) -> list[str]:
        """Return the names of the tests that are written in a file, each once; empty for a folder."""
        if self.written is None or not foreign_files.is_file(file):
            return []
        found = self.written.finditer(foreign_files.read_text(file))
        return list(dict.fromkeys(next(filter(None, each.groups()), "") for each in found))

    def why_left_out(self, file: Path) -> str:
        """Return what of a file's name or text leaves it out of the build; empty: nothing that is known."""
        text = foreign_files.read_text(file) if self.left_out else ""
        return next(filter(None, (each.reason(file, text) for each in self.left_out)), "")

    def parts(self, name: str) -> list[str]:
        """Return the parts of a name, which `::` separates.

        Where the runner's parts have a form of their own, they are separated at the runner's own separator, too.
        """
        given = [part for part in name.split("::") if part]
        return (
            given
            if self.part == PART
            else [each for part in given for each in part.split(self.join)]
        )

    def of(self, parts: Sequence[str]) -> str:
        """Return the parts of a name joined and quoted as the runner wants them."""
        return self.join.join(self.part.replace(PART, self._quoted(part)) for part in parts)

    def is_unknown(self, parts: Sequence[str], printed: str) -> bool:
        """Return whether the runner has said in its output, `printed`, that it has no test of this name.

        Without parts: whether it has said that no test ran at all.
        """
        name = self.join.join(map(self._replaced, parts))
        pattern = self.unknown.replace("${name}", re.escape(name))
        return bool(pattern) and re.search(pattern, printed, re.MULTILINE) is not None

    def _quoted(self, part: str) -> str:
        part = self._replaced(part)
        return _SPECIAL.sub(r"\\\g<0>", part) if self.regex else part

    def _replaced(self, part: str) -> str:
        for text, instead in self.replace.items():
            part = part.replace(text, instead)
        return part


@dataclass(frozen=True, slots=True)
class Build:
    """How the program is made that the tests are in."""

    command: Sequence[str]
    seconds: Seconds = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How to find the program that contains a test: a command that lists programs as JSON."""

    command: Sequence[str]
    """Empty: use the output of the build."""
    at: str = ""
    """The dotted key of the list; empty: each line is an object."""
    where: Mapping[str, Any]
    """Required values at dotted keys of an object; `true`: any value."""
    take: Mapping[str, str]
    """Placeholders, and the dotted keys that have their values."""
    tests: Sequence[str]
    """A command that lists the tests of one of them; empty: `${test}` is its only one."""
    listed: Pattern
    """A line of that list: the first group is a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """One test runner: its names, and how to run it so that a debugger stops at failures."""

    id: str
    title: str
    type: str
    """The adapter, or the language, of the program that it is."""
    files: Sequence[str]
    """Patterns of the names of files that tests are in; `/` is a folder."""
    collects: Sequence[str]
    """Patterns of the names of files that it takes for tests by itself."""
    holds: Pattern
    """Is found in a file of its tests: then no sign is needed."""
    main: Pattern
    """Is found in a source that makes its folder a program; other folders are tests and what they test."""
    signs: Sequence[Sign]
    rank: int = 1
    programs: Sequence[str]
    """Its program: in the project's folder or above it, at a path, or a name on PATH."""
    install: str = ""
    """The command that gets it."""
    naming: Naming
    build: Build | None
    lookup: Lookup | None
    in_file: Mapping[str, Pattern]
    """Placeholders with values from the file of a test: the first group of a pattern."""
    launch: Mapping[str, Any]
    """Inputs of `dap_run`."""
    config: Mapping[str, Any]
    """Keys of the adapter's."""
    exceptions: Mapping[str, str] | None
    """The filters that have a failing test stop, and the condition of each, if it has one."""
    functions: Sequence[str]
    """The functions that a failing test calls."""
    awaited: Pattern
    """Tests that pass if they fail, in the text of a file: the first group is the name of one."""
    path: Path

    def awaited_of(self, path: Path, tests: object) -> list[str]:
        """Return which of these tests pass if they fail, by marks in the texts of their files.

        `path` is the file of the one test; of several tests, all files of tests below its folder are read, at most
        `MOST_FILES`. What is no list of `tests` gives an empty result.
        """
        if self.awaited is None or not is_array(tests):
            return []
        one = len(tests) == 1 and foreign_files.is_file(path)
        folder = path if foreign_files.is_folder(path) else path.parent
        below = () if one else foreign_files.matching(folder, "**/*")
        named = (each for each in below if any(fnmatch(each.name, name) for name in self.files))
        files = {path, *itertools.islice(named, MOST_FILES)}
        texts = map(foreign_files.read_text, filter(foreign_files.is_file, files))
        awaited = {name for text in texts for name in self.awaited.findall(text)}
        return [str(each) for each in tests if str(each).rpartition("::")[2] in awaited]

    @classmethod
    def read(cls, table: DefinitionTable, path: Path) -> Runner:
        """Return the runner that a whole definition file describes.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        stops, reads = table.table("stops"), table.table("read")
        filters = stops.table("exceptions")
        runner = table.read(
            cls,
            title=table.get("title", str, table.text("id")),
            signs=tuple(each.read(Sign) for each in table.tables("signs")),
            programs=table.texts("program"),
            naming=_naming(table.table("name")),
            build=table.table("build").read(Build) if "build" in table else None,
            lookup=table.table("lookup").read(Lookup) if "lookup" in table else None,
            in_file={name: _pattern(reads, name) for name in reads},
            exceptions=filters.all_texts() or None,
            functions=stops.texts("functions"),
            awaited=_pattern(stops, "awaited"),
            path=path,
        )
        stops.done()
        return runner


def _naming(table: DefinitionTable) -> Naming:
    return table.read(
        Naming, left_out=tuple(each.read(LeftOut) for each in table.tables("left_out"))
    )


@functools.cache
def load_runners(*folders: Path) -> Sequence[Runner]:
    """Return the runners that folders of definitions have in `tests`, those of later folders first.

    Of two with one id the later folder's wins; a folder that does not exist is empty. Within a folder, the lowest rank is
    first. The files are read once.

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
    return Runner.read(DefinitionTable(path, "", read_toml(path)), path)
