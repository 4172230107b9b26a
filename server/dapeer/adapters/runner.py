"""Definitions of test runners: one TOML file, one runner. No code knows any of them."""

from __future__ import annotations

import asyncio
import functools
import glob
import itertools
import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

import anyio

from dapeer.adapters.definition.placeholders import fill_texts
from dapeer.adapters.definition.table import DefinitionTable, Regex, Seconds, read_toml
from dapeer.base.errors import AdapterFailed, AdapterUnknown, ArgumentError
from dapeer.base.json_types import as_array, is_array, is_object
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import starter_environment
from dapeer.base.text.fitting import shortened


def _pattern(table: DefinitionTable, key: str) -> re.Pattern[str] | None:
    return table.compiled(key, re.MULTILINE)


Pattern = Annotated[re.Pattern[str] | None, _pattern]

PART = "${part}"
MOST_FILES = 500
"""Files that are searched for tests that pass if they fail."""

_NUMBER = re.compile(r"-?[0-9]+")
# Special in the regular expressions of every language; more than this not all of them let one quote.
_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\]")


@dataclass(frozen=True, slots=True)
class ProjectMarker:
    """A file that marks a folder as a project of the runner."""

    file: str
    """A pattern, seen from the folder."""
    holds: Pattern
    """Is found in the file."""


@dataclass(frozen=True, slots=True)
class MissingFileReason:
    """What has a build leave a file out."""

    file: Pattern
    """Is found in the name of the file."""
    holds: Pattern
    """Is found in the file."""
    say: str = ""
    """The reason; `${1}` is the first group of what was found, in the file if `holds` is there."""

    def reason(self, file: Path, text: str) -> str:
        """Return the reason why a build leaves a file out by this rule; empty: it does not.

        The rule has a pattern for the file's name, one for its content, or both; all that it has must be found
        somewhere there, and a rule without patterns leaves nothing out. Each `${1}` in the rule's sentence
        `say` is replaced by the first group of the content's pattern, or of the name's if the former has none
        or is missing; by nothing if there is none, or it took no part. `file` is the path, of which only the
        name counts, and `text` is the content.
        """
        tried = [(self.file, file.name), (self.holds, text)]
        found = [pattern.search(where) for pattern, where in tried if pattern is not None]
        if not found or None in found:
            return ""
        group = next((each[1] or "" for each in reversed(found) if each and each.re.groups), "")
        return self.say.replace("${1}", group)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSelection:
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
    left_out: Sequence[MissingFileReason]
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
        """Return the parts of a test's name, which `::` separates; empty ones between `::` are left out.

        Where the runner's parts have a form of their own (`part` of the definition), each of them is separated at
        the runner's own separator (`join`), too; empty ones between these stay.
        """
        given = [part for part in name.split("::") if part]
        return (
            given
            if self.part == PART
            else [each for part in given for each in part.split(self.join)]
        )

    def name_of(self, parts: Sequence[str]) -> str:
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


def _nearest(files: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """Return the files whose paths have most of these names, as that of a folder or of the file itself.

    >>> [each.name for each in _nearest([Path("src/lib.rs"), Path("src/bank.rs")], ["bank", "tests"])]
    ['bank.rs']
    """
    counts = {file: len({*names} & {*file.with_suffix("").parts}) for file in files}
    most = max(counts.values(), default=0)
    return [file for file, count in counts.items() if count == most]


@dataclass(frozen=True, slots=True)
class Build:
    """How the program is made that the tests are in."""

    command: Sequence[str]
    seconds: Seconds = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLookup:
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
    signs: Sequence[ProjectMarker]
    rank: int = 1
    programs: Sequence[str]
    """Its program: in the project's folder or above it, at a path, or a name on PATH."""
    install: str = ""
    """The command that gets it."""
    naming: TestSelection
    build: Build | None
    lookup: ProgramLookup | None
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

    def tests_expected_to_fail(self, path: Path, tests: object) -> list[str]:
        """Return those of `tests` that pass if they fail, such as tests marked `#[should_panic]`.

        The runner's pattern `awaited` finds the marks in files: in `path` alone if that is a file and `tests` has
        one name. Else it also looks in all files of tests below the folder `path`, or below the folder of the file
        `path`, at most `MOST_FILES`. A name counts as marked if its part after the last `::` is marked in a file of its
        own: of the files that contain that part, those in whose paths most of its other parts are. Modules or classes
        of one file are not told apart. The names come back as texts in their order; the list is empty if `tests` is no
        list, or the runner has no such pattern.
        """
        if self.awaited is None or not is_array(tests):
            return []
        one = len(tests) == 1 and foreign_files.is_file(path)
        folder = path if foreign_files.is_folder(path) else path.parent
        below = () if one else foreign_files.matching(folder, "**/*")
        named = (each for each in below if any(fnmatch(each.name, name) for name in self.files))
        files = {path, *itertools.islice(named, MOST_FILES)}
        texts: dict[Path, str] = {}
        for file in filter(foreign_files.is_file, files):
            # One that cannot be read marks no test.
            with suppress(OSError):
                texts[file] = foreign_files.read_text(file)
        marked = {file: {*self.awaited.findall(text)} for file, text in texts.items()}
        awaited = {name for names in marked.values() for name in names}
        found: list[str] = []
        for each in map(str, tests):
            *outer, name = each.split("::")
            if name in awaited:
                held = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
                holders = [file for file, text in texts.items() if held.search(text)]
                if any(name in marked[file] for file in _nearest(holders, outer)):
                    found.append(each)
        return found

    @classmethod
    def read(cls, table: DefinitionTable, path: Path) -> Runner:
        """Return the runner that a whole definition file describes.

        `table` is the top of the file, `path` is where the file is.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        stops, reads = table.table("stops"), table.table("read")
        filters = stops.table("exceptions")
        runner = table.read(
            cls,
            title=table.get("title", str, table.text("id")),
            signs=tuple(each.read(ProjectMarker) for each in table.tables("signs")),
            programs=table.texts("program"),
            naming=_naming(table.table("name")),
            build=table.table("build").read(Build) if "build" in table else None,
            lookup=table.table("lookup").read(ProgramLookup) if "lookup" in table else None,
            in_file={name: _pattern(reads, name) for name in reads},
            exceptions=filters.all_texts() or None,
            functions=stops.texts("functions"),
            awaited=_pattern(stops, "awaited"),
            path=path,
        )
        stops.check_all_read()
        return runner


def _naming(table: DefinitionTable) -> TestSelection:
    return table.read(
        TestSelection,
        left_out=tuple(each.read(MissingFileReason) for each in table.tables("left_out")),
    )


@functools.cache
def load_runners(*folders: Path) -> Sequence[Runner]:
    """Return the runners that folders of definitions have in `tests`, those of later folders first.

    Within a folder they are sorted by rank, the lowest first, then by file name. Of two with one id the
    later folder's wins, within a folder the one that is sorted behind the other. A folder that does not
    exist is empty. The same folders are read once.

    Raises:
        DefinitionError: A file is wrong, or cannot be read.
    """
    found: dict[str, Runner] = {}
    for folder in reversed(folders):
        here = sorted((folder / "tests").glob("*.toml"))
        loaded = sorted(map(_load, here), key=lambda runner: runner.rank)
        found |= {runner.id: runner for runner in loaded if runner.id not in found}
    return tuple(found.values())


def _load(path: Path) -> Runner:
    return Runner.read(DefinitionTable(path, "", read_toml(path)), path)


# Programs with tests that are made first, and then asked for the tests in them.


MAX_QUOTED_CHARS = 1500
"""Characters of a failed command's output in an error."""
SECONDS_TO_LIST = 60

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BuiltTests:
    """A program with tests: values of placeholders, and the names of its tests."""

    values: Values
    tests: Sequence[str]


async def build(build: Build, values: Values, cwd: Path, env: Mapping[str, str]) -> str:
    """Run the command that builds the program with the tests, and return its output.

    `values` are those of placeholders in the command, `env` is added to the environment.

    Raises:
        AdapterFailed: The build failed, or took too long; the message has the end of its output.
    """
    return await _output(_filled(build.command, values), cwd, env, build.seconds)


async def look_up_programs(
    lookup: ProgramLookup, built: str, values: Values, cwd: Path, env: Mapping[str, str]
) -> list[BuiltTests]:
    """Return the programs with tests that there are, each with the names of its tests.

    `built` is the output of the build, which is read where the lookup has no command; commands are run in `cwd`,
    with `values` for placeholders, one after the other, for at most `SECONDS_TO_LIST` each. `env` is added to the
    commands' environment. Each program has the values that `lookup.take` names, None for a missing one; objects
    that do not have the values of `lookup.where` (True: any true value) are left out. Without a command that
    lists tests, a program's only test is its value `test`. The list is empty if no program is left.

    Raises:
        AdapterFailed: A command cannot be run, failed or took too long, or `lookup.at` is given, and the output is
            no JSON.
    """
    output = built
    if lookup.command:
        output = await _output(_filled(lookup.command, values), cwd, env, SECONDS_TO_LIST)
    taken = [
        {name: value_at(each, key) for name, key in lookup.take.items()}
        for each in _objects(output, lookup.at)
        if all(_stands(value_at(each, key), value) for key, value in lookup.where.items())
    ]
    return [BuiltTests(each, await _tests(lookup, {**values, **each}, cwd, env)) for each in taken]


async def _tests(
    lookup: ProgramLookup, values: Values, cwd: Path, env: Mapping[str, str]
) -> Sequence[str]:
    """Return the names of the tests of one program, as its command lists them, or its only one, `${test}`.

    Empty: it lists none, or `test` has no value.

    Raises:
        AdapterFailed: The command failed, or took too long.
    """
    if not lookup.tests or lookup.listed is None:
        test = values.get("test")
        return [] if test is None else [str(test)]
    text = await _output(_filled(lookup.tests, values), cwd, env, SECONDS_TO_LIST)
    return [found[1] for found in lookup.listed.finditer(text)]


def select_tests(
    found: Sequence[BuiltTests], file: Path, parts: Sequence[str], naming: TestSelection
) -> list[BuiltTests]:
    """Return the programs with the tests that a name means, each with only these tests; empty: none.

    A test is meant whose name has the `parts` in it, one after the other; without parts, every test is. Programs count that are made from
    `file`, or from a file in that folder. If none is known to be, all programs count, and of their tests those with the name of `file`
    (without suffix) as a part, unless there are none.
    """
    names = naming.name_of(parts).split(naming.join) if parts else []
    made = [each for each in found if file in _sources(each)]
    hits = _programs_with_tests(made or found, naming.join, names)
    return hits if made else _programs_with_tests(hits, naming.join, [file.stem]) or hits


def _sources(found: BuiltTests) -> Sequence[Path]:
    """Return the source that a program is made from, and its folders; empty where it is not known."""
    source = found.values.get("source")
    return [Path(str(source)), *Path(str(source)).parents] if source else ()


def _programs_with_tests(
    found: Sequence[BuiltTests], join: str, names: Sequence[str]
) -> list[BuiltTests]:
    """Return the programs with only those of their tests whose name has `names` as neighbouring parts.

    `join` separates the parts of a test's name, which must equal `names`, in their order; with no `names` every test does. Programs without
    such a test are left out, and the others are new objects.
    """

    def has(test: str) -> bool:
        """Return whether the parts of a test's name contain `names`."""
        parts, length = test.split(join), len(names)
        starts = range(len(parts) - length + 1)
        return any(parts[start : start + length] == [*names] for start in starts)

    kept = [BuiltTests(each.values, [test for test in each.tests if has(test)]) for each in found]
    return [each for each in kept if each.tests]


def value_at(value: object, key: str) -> object:
    """Return the value at a dotted key; None if there is none.

    In a list a step is a number, `1:` for what begins there, or `name=x` for the first object with
    that.

    >>> value_at({"command": ["a", "b"], "properties": [{"name": "X", "value": 1}]}, "properties.name=X.value")
    1
    >>> value_at({"command": ["a", "b", "c"]}, "command.1:")
    ['b', 'c']
    >>> value_at(["a"], "name"), value_at([["a"]], "name=a"), value_at(["a"], "x:")
    (None, None, None)
    """
    for step in key.split("."):
        value = _value_at_step(value, step)
    return value


def _value_at_step(value: object, step: str) -> object:
    """Return the value at one step of a dotted key; None if there is none.

    In an object, `step` is a key. In a list it is an index (from 0, or negative from the end), `N:` for the
    list of elements from number N on, or `KEY=TEXT` for the first element that has this text at the key. Another
    step of a list leads nowhere, and any other `value` has no steps: the result is None.
    """
    if is_object(value):
        return value.get(step)
    if not is_array(value):
        return None
    name, mark, value_there = step.partition("=")
    if mark:
        return next((each for each in value if _value_at_step(each, name) == value_there), None)
    number = step.removesuffix(":")
    if not _NUMBER.fullmatch(number):
        return None
    if number != step:
        return value[int(number) :]
    return value[int(number)] if -len(value) <= int(number) < len(value) else None


def _stands(value: object, expected: object) -> bool:
    """Return whether a value is the expected one; any true value if True is expected."""
    return bool(value) if expected is True else value == expected


def _objects(text: str, where: str) -> Iterator[Any]:
    """Yield the decoded values of a test runner's output: of one list, or one from each line.

    They may be of any JSON type. `where` is a key of `value_at` such as `tests.0.items`: the whole output is then
    one JSON document, and the list at the key is taken; nothing is yielded if there is no list. With an empty
    `where` each line is decoded by itself, and lines that are no JSON are left out.

    Raises:
        AdapterFailed: `where` is given, and the output is no JSON; raised when the first value is asked for.
    """
    if where:
        try:
            listed = json.loads(text)
        except ValueError:
            begin = shortened(" ".join(text.split()), MAX_QUOTED_CHARS) or "nothing"
            raise AdapterFailed(
                f"The programs with tests are not listed as JSON: {begin}",
                "Run the test runner by itself, and mend what it says.",
            ) from None
        yield from as_array(value_at(listed, where))
        return
    for line in text.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _filled(command: Sequence[str], values: Values) -> list[str]:
    return fill_texts(command, values)


async def _output(command: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float) -> str:
    """Run a command to its end, and return its stdout; what remains of its process group is killed then.

    The command is killed if it does not end within `seconds`, or if the caller is cancelled; it has not
    ended while a process that it started keeps its output open. The command has no input. Undecodable
    bytes are replaced. `env` are variables that replace or join those of the command line that has
    asked for a start in this task, or else those of dapeer (`starter_environment`).

    Raises:
        AdapterFailed: It cannot be run, does not end in time, or fails, with the end of its stderr or
            else stdout.
    """
    shown = shlex.join(command)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**starter_environment(), **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise AdapterFailed(f"`{shown}` cannot be run: {error.strerror}.", "Install it.") from error
    try:
        with anyio.fail_after(seconds):
            out, err = await process.communicate()
    except TimeoutError as late:
        raise AdapterFailed(
            f"`{shown}` did not end within {seconds:g} s.", "Run it by itself, then try again."
        ) from late
    finally:
        # Its descendants end with it, also if the caller no longer waits.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        words = err.decode("utf-8", "replace").strip() or out.decode("utf-8", "replace").strip()
        raise AdapterFailed(
            f"`{shown}` failed, so there is nothing to test. It said:\n{words[-MAX_QUOTED_CHARS:]}",
            "\nFix that, then run the test again.",
        )
    return out.decode("utf-8", "replace")


# Which runner a test is for: by its file, and by the project around it.


FOLDER = "/"
_MAX_PROGRAM_BYTES = 1 << 30
"""More of a program is not searched."""


@dataclass(frozen=True, slots=True)
class RecognisedRunner:
    """A runner, and the project that it has been recognised by."""

    runner: Runner
    root: Path
    """The project's folder."""
    marker: Path
    """The file by which it was recognised."""


def recognise(runners: Sequence[Runner], file: Path) -> RecognisedRunner:
    """Return the runner of a file, or of a folder, with tests, and the project that it is in.

    Only those of `runners` count that take files of this name, or folders. The first of them decides for which
    the content of `file` speaks; else the nearest folder above `file` with a file that is a sign of a runner;
    else the first runner that needs neither sign nor content. The project's folder (`root`) is the one with the
    sign; without a sign it is the folder of `file`, and `marker` is `file`. Files are read; nothing is run.

    Raises:
        AdapterUnknown: None of these runners fits.
    """
    able = [runner for runner in runners if _accepts_file(runner, file)]
    own = next((each for each in able if each.holds and holds(file, each.holds)), None)
    if own is not None:
        return _within(own, file) or RecognisedRunner(own, folder_of(file), file)
    for folder in _folders_above(file):
        for runner in able:
            found = next(_marker_files(runner.signs, folder), None)
            if found is not None:
                return RecognisedRunner(runner, folder, found)
    free = next((each for each in able if not each.signs and each.holds is None), None)
    if free is None:
        known = ", ".join(dict.fromkeys(each.title for each in able or runners))
        raise AdapterUnknown(
            f"No test runner is known for {file.name}: nothing in its project points to {known}.",
            "Start the runner as `program`, with the test in its `args`.",
        )
    return RecognisedRunner(free, folder_of(file), file)


def with_project(runner: Runner, folder: Path) -> RecognisedRunner:
    """Return a runner that was named, with its project around a folder; without a sign, the folder is it."""
    return _within(runner, folder) or RecognisedRunner(runner, folder, folder)


def program_of(recognised: RecognisedRunner) -> str | None:
    """Return the path of the program of a test runner; None: its definition names no program.

    A name with a slash is a glob pattern, and is looked for first: below the project's folder (`recognised.root`), then
    below each folder above it; the pattern may begin with `~` or be absolute. Of several files that fit, the last one
    by the text of its path is returned. A name without a slash is looked for on PATH only.

    Raises:
        ArgumentError: The definition names programs, and none of them was found.
    """
    runner = recognised.runner
    if not runner.programs:
        return None
    folders = _folders_above(recognised.root)
    here = (
        found for folder in folders for name in runner.programs for found in _files_at(folder, name)
    )
    path = (shutil.which(name) for name in runner.programs if os.sep not in name)
    found = next(filter(None, itertools.chain(here, path)), None)
    if found is None:
        raise ArgumentError(
            f"{runner.title} runs the tests of {recognised.root}, but is not installed there: "
            f"{' or '.join(runner.programs)} was not found.",
            f"Install it: {runner.install}" if runner.install else "Install it.",
        )
    return found


def _files_at(folder: Path, name: str) -> Iterable[str]:
    """Return the files at a path below a folder, newest version first; empty for a name without a folder."""
    if os.sep not in name:
        return ()
    pattern = folder / Path(name).expanduser()
    return sorted(glob.glob(str(pattern)), reverse=True)  # noqa: PTH207 - it may be absolute


def folder_of(file: Path) -> Path:
    """Return the folder that a file is in; for a folder, the folder itself."""
    return file if foreign_files.is_folder(file) else file.parent


def holds(file: Path, pattern: Pattern) -> bool:
    """Return whether a file can be read and has a pattern in it; without a pattern, True.

    `pattern` is a regular expression, or None. At most `_MAX_PROGRAM_BYTES` of the file are read, each byte as one character.
    """
    if pattern is None:
        return True
    try:
        # Programs, too, are looked through: each byte is a character.
        return (
            pattern.search(foreign_files.read_bytes(file, _MAX_PROGRAM_BYTES).decode("latin-1"))
            is not None
        )
    except OSError:
        return False


def _accepts_file(runner: Runner, file: Path) -> bool:
    """Return whether a runner has tests in files of this name, or in folders."""
    if foreign_files.is_folder(file):
        return FOLDER in runner.files
    return any(fnmatch(file.name, pattern) for pattern in runner.files)


def _within(runner: Runner, file: Path) -> RecognisedRunner | None:
    """Return a runner with the nearest folder above a file that has a sign of it; None if none has."""
    for folder in _folders_above(file):
        found = next(_marker_files(runner.signs, folder), None)
        if found is not None:
            return RecognisedRunner(runner, folder, found)
    return None


def _marker_files(signs: Sequence[ProjectMarker], folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that are signs of a runner, those of the first marker first.

    The files of one marker are sorted; a file may come once for each marker. A marker has a pattern of the
    file's path, and may have one that must be in the file, for which it is read; one that cannot be
    read then is left out.
    """
    return (
        found
        for sign in signs
        for found in sorted(foreign_files.matching(folder, sign.file))
        if foreign_files.is_file(found) and holds(found, sign.holds)
    )


def _folders_above(file: Path) -> Sequence[Path]:
    """Return the folder of a file, or a folder, and all above it, the nearest first."""
    folder = folder_of(file)
    return (folder, *folder.parents)
