"""The tables of a definition file that say how an adapter is started and spoken to, one class each."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dapeer.adapters.definition.placeholders import UNSET, fill, fill_known
from dapeer.adapters.definition.table import Compiled, DefinitionTable, Evaluated, Regex, Seconds
from dapeer.base.errors import ArgumentError
from dapeer.dap.exception_filters import Filter, Filters, TypeFilter
from dapeer.mirror.frames import ForeignFrames, Frames, Raised
from dapeer.mirror.places import OutsideReader, Sight

# The tables of a definition on what must be installed, and how.

PLATFORMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
"""The systems that a definition names, as Python names them."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be there: any one of `names`."""

    kind: Literal["executable", "python_module", "file"]
    names: tuple[str, ...]

    @classmethod
    def read(cls, table: DefinitionTable) -> Need:
        """Read one item of `detect.any` or `detect.all`, and return it as a `Need`.

        `table` has exactly one key, the kind: `executable`, `python_module` or `file`. Its value is a name, or a
        list of names, any one of which is enough.

        Raises:
            DefinitionError: There is none of these keys, a further key, or a value of another type.
        """
        for kind in ("executable", "python_module", "file"):
            if kind in table:
                need = cls(kind, table.texts(kind))
                table.check_all_read()
                return need
        raise table.wrong(
            f"`{table.dotted_name('executable')}`, `python_module` or `file` is missing"
        )

    @property
    def shown(self) -> str:
        """What a person calls it: the last part of a path, or of the usual place that a variable names."""
        usual = next((name for name in self.names if not name.startswith("$") or "/" in name), "")
        return (usual or self.names[0]).rpartition("/")[2] if self.kind == "file" else self.names[0]

    def placeholders(self) -> tuple[str, ...]:
        """Return the names of the placeholders that get a value when the needed thing is found.

        An executable gives `executable` and the first of `names`, a file `file` and `file_dir`, and a Python
        module `module_dir`.
        """
        match self.kind:
            case "executable":
                return "executable", self.names[0]
            case "file":
                return "file", "file_dir"
            case _:
                return ("module_dir",)


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
        """Return the table `[detect]` as a `Detect`.

        `any` and `all` are lists of tables, each a `Need` (something that must be installed), and empty if
        absent; `version` says how to ask for a version, None if absent. `patches` is the command that lists what
        dapeer cannot change in the installed adapter, empty if absent.

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
        """Read one table `[[install]]` of an adapter's definition, and return it as an `Install`.

        The keys are the attributes of `Install`. `when` has names of `PLATFORMS`. A table has either
        `packages`, and `command` becomes empty, or a `command`; one that only installs packages by pip is kept,
        and also gives `packages`.

        Raises:
            DefinitionError: A key is missing or unknown, `command` stands beside `packages`, or a value is of
                another type or not allowed.
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
        table.check_all_read()
        return cls(least, older, fast if slow else (), slow)


def _version(table: DefinitionTable, name: str, default: str) -> tuple[int, ...]:
    """Return the version at a key as numbers: `3.9` is (3, 9); without the key, that of `default`.

    Raises:
        DefinitionError: It is no version.
    """
    version = table.get(name, str, default)
    if not all(part.isdecimal() for part in version.split(".")):
        raise table.wrong(f"`{table.dotted_name(name)}` is {version!r}, which is not a version")
    return tuple(map(int, version.split(".")))


# The tables of a definition on where a program stops, and on the owners of frames.


@dataclass(frozen=True, slots=True)
class Expressions:
    """Expressions to evaluate at a stop if the adapter reports too little; empty: none."""

    signal: str = ""
    """The number of the signal that the program has got."""
    exception: str = ""
    """The exception that it has stopped at."""
    finding: str = ""
    """What a sanitizer has found, as a text in quotes; it may call functions of the sanitizer."""
    finding_at: Compiled = None
    """A pattern of the innermost function in which that is known."""
    printed_place: Compiled = None
    """A pattern, with `file` and `line`, of the place in what is printed of a finding.

    It counts where the debugger knows no frame of the user's.
    """
    thrown: str = ""
    """A command of the debugger that prints a C++ exception's type and text, as a JSON text."""
    thrown_at: Compiled = None
    """A pattern of the innermost function at which it does."""
    members: Evaluated = ""
    """Its value is a JSON object: members, by name, of the variables that the adapter does not expand.

    `${names}` are these variables.
    """
    texts: Evaluated = ""
    """Its value is a JSON object: which text of a file that has changed the program's code is of.

    It needs no thread of the program. `${spec}` is a text, a JSON list: the file, and its text from before, null: unknown. The keys are `new`,
    whether code of the new text is loaded; `frames`, name and line of each that is of the text from before; and `functions`,
    the names of such ones.
    """
    bare: Compiled = None
    """A pattern of such a value, as the adapter shows it."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """`[[frames]]`, `[[filter]]`, `[exception_types]` and `[expressions]`, and other facts about stops."""

    foreign: tuple[ForeignFrames, ...] = ()
    """Owners of stack frames outside of the user's code."""
    raised: tuple[Raised, ...] = ()
    filters: Filters = field(default_factory=Filters)
    expressions: Expressions = field(default_factory=Expressions)
    traceback: re.Pattern[str] | None = None
    """How the place of an error is printed that has ended the program: with the groups `file` and `line`."""
    debugger: re.Pattern[str] | None = None
    """The paths of the debugger's own files, where that runs in the program."""
    folded: re.Pattern[str] | None = None
    """The placeholder in a value for omitted elements, if debugpy is unpatched."""
    more_elements: re.Pattern[str] | None = None
    """`NAME: TYPE` of a child that stands for more elements of its container."""

    @classmethod
    def read(cls, top: DefinitionTable) -> Stopping:
        """Return the tables on stops of a definition file, whose top is `top`, as `Stopping`.

        These are `[[frames]]`, `[[filter]]`, `[exception_types]`, `[expressions]` and a traceback's form, and the keys `debugger`,
        `folded` and `more_elements`, which are regular expressions.

        Raises:
            DefinitionError: Something in them is wrong.
        """
        raised: list[Raised] = []
        filters = tuple(_filter(each, raised) for each in top.tables("filter"))
        types = _type_filter(top.table("exception_types")) if "exception_types" in top else None
        return cls(
            tuple(map(_foreign_frames, top.tables("frames"))),
            tuple(raised),
            Filters(filters, types),
            top.table("expressions").read(Expressions),
            _traceback(top),
            top.compiled("debugger"),
            top.compiled("folded"),
            top.compiled("more_elements"),
        )

    def frames(self, project: Path) -> Frames:
        """Return what tells the user's stack frames from others; `project` is the folder of the user's code."""
        return Frames(self.foreign, project, self.raised)


def _foreign_frames(table: DefinitionTable) -> ForeignFrames:
    """Return one table `[[frames]]`, with `of` and a regular expression as `path`, `function` or both.

    `table` is that table itself.

    Raises:
        DefinitionError: It has neither `path` nor `function`, or something else in it is wrong.
    """
    path, function = table.compiled("path"), table.compiled("function")
    read = ForeignFrames(table.text("of"), path, function)
    if not path and not function:
        raise table.wrong(f"`{table.dotted_name('path')}` or `function` is missing")
    table.check_all_read()
    return read


def _filter(table: DefinitionTable, raised: list[Raised]) -> Filter:
    """Return one table `[[filter]]`: `name`, `default`, `functions` and `environment`.

    `table` is that table itself. For each reason in its table `at`, a `Raised` with the reason and the pattern is appended to `raised`.

    Raises:
        DefinitionError: Something in it is wrong.
    """
    at, environment = table.table("at"), table.table("environment")
    raised += [Raised(reason, re.compile(at.pattern(reason))) for reason in at]
    read = Filter(
        table.text("name"),
        table.get("default", bool, default=False),
        table.texts("functions"),
        environment.all_texts(),
    )
    table.check_all_read()
    return read


def _type_filter(table: DefinitionTable) -> TypeFilter:
    """Return the table `[exception_types]`: `filter`, `category`, and either `condition` or `modes`.

    `table` is that table itself, not the definition's.

    Raises:
        DefinitionError: It has both or none of `condition` and `modes`, or something else in it is wrong.
    """
    modes = table.table("modes")
    read = TypeFilter(
        table.text("filter"),
        table.get("condition", str, ""),
        table.get("category", str, ""),
        modes.all_texts(),
    )
    if bool(read.condition) is bool(read.modes):
        raise table.wrong(
            f"one of `{table.dotted_name('condition')}` or `modes` is required, and not both"
        )
    table.check_all_read()
    return read


def _traceback(top: DefinitionTable) -> re.Pattern[str] | None:
    """Return the pattern `traceback` of a definition file; None if it has none.

    Raises:
        DefinitionError: The pattern lacks the groups `file` and `line`.
    """
    compiled = top.compiled("traceback", re.MULTILINE)
    if compiled is not None and not {"file", "line"} <= compiled.groupindex.keys():
        raise top.wrong("key `traceback` needs the groups `file` and `line`")
    return compiled


# Hints on messages of an adapter or a program. Pure.

PLACES = (
    "exception",
    "evaluate",
    "breakpoint",
    "output",
    "silence",
    "end",
    "killed",
    "locals",
    "failed",
    "not_hit",
    "beside",
    "unbound",
    "slow",
    "start",
    "printed",
)
"""Where hints are looked for; most follow the text that they match.

- `exception`: one that stops or ends the program.
- `evaluate`: a failed evaluation, except in the context `repl`.
- `breakpoint`, `output`: the hint replaces the adapter's message.
- `silence`: the path of a program that has ended well and printed nothing.
- `end`: what a program has printed that has ended with an exit code other than 0.
- `killed`: the name and the output of a program one of whose processes was killed while it was stopped.
- `locals`: the values at a stop of which the source is known; the hint follows the stop.
- `failed`: what is shown of conditions, log messages and rows with an expression that failed.
- `not_hit`: the path of a file and its lines up to a breakpoint that was not hit.
- `beside`: the path of a file whose breakpoint was not hit or bound, and the names of files beside it with its stem.
- `unbound`: why an adapter has rejected a breakpoint, the path of its file, and the lines up to it; the hint replaces the reason.
- `slow`: the conditions of breakpoints, where the program has run for long; the hint follows the state.
- `start`: why a start failed.
- `printed`: what a program has printed first; the hint follows the state, unless the output there has it.
"""


@dataclass(frozen=True, slots=True)
class Hint:
    """One `[[hint]]` of a definition."""

    at: str
    """One of `PLACES`."""
    pattern: Regex
    """A regular expression, searched for in the message."""
    say: str
    """A sentence; it is left out when a placeholder in it, or a named group of the pattern, has no value."""
    unless: tuple[str, ...]
    """Inputs with which it is of no use."""

    @property
    def groups(self) -> Collection[str]:
        """The named groups of the pattern."""
        return re.compile(self.pattern).groupindex.keys()

    @classmethod
    def read(cls, table: DefinitionTable) -> Hint:
        """Return one table `[[hint]]`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        return table.read(cls, at=table.one_of("at", PLACES))


def first_hint(
    hints: Sequence[Hint], values: Mapping[str, object], at: str, text: str
) -> str | None:
    """Return the first hint on a text, its placeholders filled in; None: there is none.

    `at` is one of `PLACES`: where the text comes from. `text` is, for example, an exception's or the output; a
    hint fits if its pattern is found anywhere in it, where `^` and `$` match at each line. `values` are those
    of placeholders and inputs, by name; named groups of the pattern fill placeholders, too, and come before
    `values`, even where a group has matched nothing, which is no value. A hint is passed over if a placeholder
    in it has no value, or an input in its `unless` has one that counts as true.

    >>> hints = [Hint("exception", "^ImportError", "It ran in ${python}.", ())]
    >>> first_hint(hints, {"python": "/usr/bin/python3"}, "exception", "ImportError: no x")
    'It ran in /usr/bin/python3.'
    >>> first_hint(hints, {}, "exception", "ImportError: no x")
    """
    for hint in hints:
        applies = hint.at == at and not any(values.get(name) for name in hint.unless)
        found = re.search(hint.pattern, text, re.MULTILINE) if applies else None
        if found:
            sentence = fill(hint.say, {**values, **found.groupdict()})
            if sentence is not UNSET:
                return str(sentence)
    return None


# The table of a definition that says which commands run programs that its adapter debugs.

How = Literal["program", "module", "code", ""]


@dataclass(frozen=True, slots=True)
class InterpreterArguments:
    """The arguments of an interpreter, apart from those of what it runs."""

    options: Sequence[str]
    """The interpreter's own."""
    how: How
    """What is run; empty: nothing that was found among the arguments."""
    target: str
    """Its name, its path, or its text."""
    args: Sequence[str]
    """The arguments of what is run."""


@dataclass(frozen=True, slots=True)
class Command:
    """`[command]`: an interpreter, as it is typed with what it runs, and programs that run others in it."""

    names: Regex = ""
    """The file names of interpreters."""
    usual: str = ""
    """The one that the adapter takes by itself."""
    own_path: tuple[str, ...] = ()
    """Arguments with which it prints the path of its executable: one on PATH may be a version manager's."""
    interpreter: str = ""
    """The input, or the key of the launch, that has its path; empty: the adapter chooses it."""
    options: str = ""
    """The key of the launch that has the interpreter's own arguments; empty: they cannot be passed on."""
    valued: tuple[str, ...] = ()
    """Its options whose value stands behind them."""
    dropped: tuple[str, ...] = ()
    """Its options that say no more than that a program follows."""
    modes: tuple[str, ...] = ()
    """Its arguments that may stand before the program and are no option."""
    module: Regex = ""
    """The option behind which a module follows."""
    code: Regex = ""
    """The option behind which code follows."""
    tests: Regex = ""
    """Its option, or the file names of programs, by which tests run in it."""
    env: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The environment in which a debugger sees tests fail."""

    def is_interpreter(self, name: str) -> bool:
        """Return whether a file of this name is the interpreter."""
        return bool(self.names) and re.fullmatch(self.names, name) is not None

    def runs_tests(self, name: str, args: Sequence[str]) -> bool:
        """Return whether a program of this name, with these arguments, may run tests."""
        return bool(self.tests) and any(re.fullmatch(self.tests, each) for each in (name, *args))

    def split(self, args: Sequence[str]) -> InterpreterArguments:
        """Return the interpreter's arguments, what it runs, and the arguments of that, from a command line.

        `args` are the words behind the interpreter, and stay as they are. `how` of the result says whether `target` is a program, a module
        or code. The result is empty in all parts where nothing is run, or code from standard input. Options that the definition drops are
        left out.

        >>> Command(module="-[uB]*m", valued=("-W",)).split(["-W", "error", "-um", "shop", "-v"])
        InterpreterArguments(options=['-W', 'error', '-u'], how='module', target='shop', args=['-v'])
        >>> Command(code="-e|--eval").split(["--eval", "1"])
        InterpreterArguments(options=[], how='code', target='1', args=[])
        """
        options: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            how = self._kind_of_option(word)
            if how and rest:
                # Others may stand before it in one word: `-um`.
                options += [word[:-1]] * (not word.startswith("--") and len(word) > len("-m"))
                return InterpreterArguments(options, how, rest[0], rest[1:])
            if how or (word == "--" and not rest):
                break
            if word in self.valued and rest:
                options += [word, rest.pop(0)]
            elif word in self.modes or (
                word.startswith("-") and word not in {"-", "--", *self.dropped}
            ):
                options.append(word)
            elif word not in {"--", *self.dropped}:
                return (
                    InterpreterArguments(options, "program", word, rest)
                    if word != "-"
                    else InterpreterArguments([], "", "", [])
                )
        return InterpreterArguments([], "", "", [])

    def _kind_of_option(self, option: str) -> How:
        """Return what follows an option: a module or code; empty if neither does."""
        for how, pattern in (("module", self.module), ("code", self.code)):
            if pattern and re.fullmatch(pattern, option):
                return "module" if how == "module" else "code"
        return ""


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """One `[[not_followed]]`: a command that builds or starts a program, where no debugger follows."""

    command: str
    """Its name, and perhaps its verb: `go run`. One without a verb is for all verbs that are not named."""
    instead: str = ""
    """What to give in its place; empty: the words behind its options are what to give."""
    valued: tuple[str, ...] = ()
    """Its options whose value stands behind them."""
    module: Regex = ""
    """The option behind which a module of Python follows."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that it sets for what it starts."""

    @property
    def program(self) -> str:
        """The file name of the command, the first word of `command`."""
        return self.command.partition(" ")[0]

    @property
    def verb(self) -> str:
        """The argument that the command must begin with, such as `run`; empty: any."""
        return self.command.partition(" ")[2]

    def started_command(self, args: Sequence[str]) -> Sequence[str]:
        """Return the command line of what the command starts: the words behind its options.

        `args` are the words behind the command and its verb. An option in `valued` takes the next word as its
        value. An option that the regular expression `module` fits makes the rest a module's command line, with
        `python -m` before it. `--` ends the options, and is left out. If nothing follows the options, the
        result is empty, or `python -m` after a `module` option.

        >>> NotFollowed("uv run", valued=("--with",), module="-m").started_command(["--with", "rich", "-m", "shop", "-v"])
        ['python', '-m', 'shop', '-v']
        """
        rest = list(args)
        while rest and rest[0].startswith("-"):
            option = rest.pop(0)
            if option in self.valued and rest:
                rest.pop(0)
            elif self.module and re.fullmatch(self.module, option):
                return ["python", "-m", *rest]
            elif option == "--":
                break
        return rest


# How an adapter's programs collect rows without stopping: the table `[collect]` of a definition.

VALUE = "{${expression}}"
"""How most adapters are asked for a value in a log message."""


@dataclass(frozen=True, slots=True)
class Collect:
    """What a session's `lines` need to know."""

    tracers: tuple[str, ...] = ()
    """Expressions by which the program collects by itself; the first that can be evaluated is used.

    `${spec}` in them stands for what is collected, as a text of JSON. None: log points collect.
    """
    describe: str = ""
    """An expression that tells, as JSON, what the expression `${spec}` names.

    Another run can record the writes of that.

    Empty: its program remembers no last writes.
    """
    told: str = ""
    """An expression that tells, as JSON, who has written `${spec}` last, in a run that has recorded that."""
    syntax: Literal["", "python"] = ""
    """The language of expressions, where they are checked before anything runs: `python`."""

    conditions: bool = True
    """Log points heed conditions; else the condition is one more value, and decides about its row here."""

    value: str = VALUE
    """How a log message asks for a collected value, as the adapter shows values.

    It differs where the adapter prints texts of users' log messages without quotes.
    """

    places: str = ""
    """A command for the context `repl` that lists all places of the function breakpoint `${number}`.

    Empty: the adapter names the only one in its answer.
    """
    place: Regex = ""
    """A pattern of one place in its answer, with the groups `path` and `line`, and perhaps `column`."""
    functions: bool = False
    """Function breakpoints take log messages, too, which DAP does not know."""
    removes: bool = False
    """A log point can be removed while the program runs."""
    at_entry: bool = False
    """Where functions are is known only once the program has begun, so it stops at its entry for a moment."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Collect:
        """Return the table `[collect]`, with the expressions `tracer` and `brought` as `tracers`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        tracers = (table.expression("tracer"), table.expression("brought"))
        asked = {key: table.expression(key) for key in ("describe", "told")}
        return table.read(cls, tracers=tuple(filter(None, tracers)), **asked)

    def places_in(self, answer: str) -> Iterator[tuple[str, int, int]]:
        """Yield path, line and column (0: unknown) of each place in an answer to the command `places`."""
        found = re.finditer(self.place, answer, re.MULTILINE) if self.place else ()
        groups = (each.groupdict() for each in found)
        yield from dict.fromkeys(
            (each["path"], int(each["line"]), int(each.get("column") or 0)) for each in groups
        )


# The table of a definition that says by which names a program knows its files.


@dataclass(frozen=True, slots=True)
class Sources:
    """`[sources]`: how to ask for the files of a program by their names."""

    named: str = ""
    """A command for the context `repl` that lists the files whose name is `${name}`; empty: none is known."""
    path: Regex = ""
    """A pattern of one file in its answer, with the group `path`."""
    loaded: bool = False
    """The adapter tells of each file by a `loadedSource` event, when the program loads it."""

    rename: str = ""
    """A command that has the adapter find the files below `${there}` below `${here}`.

    Empty: dapeer translates their names.
    """

    def paths_in(self, answer: str) -> Sequence[str]:
        """Return the paths of files that the answer to the command `named` lists, in order, each once."""
        found = re.finditer(self.path, answer, re.MULTILINE) if self.path else ()
        return list(dict.fromkeys(each["path"] for each in found))


# How a program runs until an expression holds or a value is written: `[until]`, `[watchpoint]`.

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Until:
    """Conditions of breakpoints on every line, and expressions in the program's language on their records.

    `${expression}` stands for what the caller looks for, `${place}` for the number of a line.
    """

    holds: str = ""
    """Holds where the expression does and did not at the look before. Empty: conditions are not of use."""
    fails: str = ""
    """Where `holds` records nothing: holds where the expression does not."""
    changes: str = ""
    """Holds where the value is another than at the look before; empty: it cannot be told."""
    begin: str = ""
    """Begins to record; `${seen}` is 1 where the expression has a value now, else 0; empty: no record."""
    read: str = ""
    """The record as a text: the lines of the last two looks, the last first, and the value, with `|`."""
    undo: str = ""
    """Forgets the value of the last look."""
    end: str = ""
    """Removes what is recorded."""
    shared: str = ""
    """The condition of a line that has a breakpoint of somebody's: `${ours}`, and its `${own}`.

    Empty: such lines are not looked at.
    """
    files: str = ""
    """The files that the program has loaded, a line each; empty: the adapter tells them."""

    lines: str = ""
    """The lines of `${path}` that can have a breakpoint, with commas; empty: the adapter lists them."""
    failed: Regex = ""
    """A pattern of a stop that is one because the condition could not be evaluated."""

    def filled(self, text: str, values: Mapping[str, object]) -> str:
        """Return one of its texts with these values in place of its placeholders, stripped."""
        return fill_known(text, values).strip()


@dataclass(frozen=True, slots=True)
class Watchpoints:
    """Commands of the debugger, evaluated in the context `repl`, where it has no data breakpoints.

    They are used, too, where it refuses one on memory that the program has not taken yet.
    """

    set: str = ""
    """Sets one on `${expression}`; its answer has the number. Empty: there is no such command."""
    number: Regex = ""
    """A pattern of that answer; its first group is the number. Empty: the first number is."""
    remove: str = ""
    """Removes that of `${number}`."""
    writer: str = ""
    """The line of the instruction before `${pc}`, which has written; empty: the stop's line is shown."""
    line: Regex = ""
    """A pattern of that answer; its first group is the line."""
    address: str = ""
    """What a data breakpoint on `${expression}` is set by, where the adapter takes a value for an address."""

    def number_in(self, answer: str) -> str:
        """Return the number, as digits, of the watchpoint that `set` has set; empty: it has set none."""
        found = re.search(self.number or r"(\d+)", answer)
        return found[1] if found else ""

    def line_in(self, answer: str) -> str:
        """Return the line, as digits, that the answer to the command `writer` names; empty: it names none."""
        found = re.search(self.line, answer) if self.line else None
        return found[1] if found else ""


Kind: TypeAlias = Literal["stdio", "tcp", "unix", "connect"]
WAYS = ("pid", "tcp", "core")
"""Ways to attach: to a process, to a port, to the core dump that a process has left."""
OF_WAITING = "exec"
"""The way to attach to a process that waits before it executes its program: dapeer's own."""
_INPUT = {"tcp": "port"}


@dataclass(frozen=True, slots=True)
class TransportTable:
    """How messages travel: by the stdio of `command`, by the port or Unix socket it opens, or by a port."""

    kind: Kind = "stdio"
    command: tuple[str, ...] = ()
    env: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    """Additions to the environment; a text is one placeholder that has them."""
    cwd: str | None = None
    stdin: Literal["null", "open", "program"] = "null"
    """What a server reads: nothing; a pipe that stays open, some end when it does; or nothing unless
    the program is to run in a terminal, in which case the server runs there, too."""
    output: Literal["log", "program"] = "log"
    """Whether a server's stdout and stderr are its own, or also the debuggee's."""
    hide: tuple[str, ...] = ()
    """Beginnings of lines in such output that are the server's own."""
    loopback: bool = False
    """It talks to the program over 127.0.0.1; a server at a port does so anyway."""

    @classmethod
    def read(cls, table: DefinitionTable) -> TransportTable:
        """Return a table `transport`, the top one or one of `[attach.*]` or a variant.

        Raises:
            DefinitionError: A command is missing, or there is one to `connect`, or something else in it is wrong.
        """
        transport = table.read(
            cls,
            env=table.text("env") if table.is_text("env") else table.table("env").unread_values(),
            cwd=table.text("cwd") if "cwd" in table else None,
        )
        if bool(transport.command) is (transport.kind == "connect"):
            raise table.wrong(
                f"`{table.dotted_name('command')}` is required for every kind but `connect`, and not allowed for that one"
            )
        return transport


@dataclass(frozen=True, slots=True)
class Variant:
    """Launch arguments for some programs, in place of those of `[launch]`."""

    binary: bool
    """It is a compiled program."""
    names: tuple[str, ...]
    """Its name fits one of these patterns."""
    outside: tuple[str, ...]
    """No folder above it has a file of such a name: `go.mod`."""
    given: tuple[str, ...]
    """These inputs are given."""
    arguments: Mapping[str, Any]
    inside: tuple[str, ...] = ()
    """Some folder above it has one of these files; `${inside}` is the first that is found."""
    without: tuple[str, ...] = ()
    """The caller's own configuration has none of these keys."""
    transport: TransportTable | None = None
    """Another way to start the adapter."""
    holds: str = ""
    """It is a compiled program that has a symbol of this name."""
    root: bool = False
    """dapeer runs as root, on Linux."""
    unless: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The caller's own configuration has none of these values."""
    say: str = ""
    """A remark on such a start."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Variant:
        """Return one table `[[launch_variant]]`; keys that are not its own are arguments of the launch.

        Its own keys are `when` (a table of conditions), `transport` and `say`.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        own = TransportTable.read(table.table("transport")) if "transport" in table else None
        when = table.table("when")
        say = table.get("say", str, "")
        variant = cls(
            when.get("binary", bool, default=False),
            when.texts("name"),
            when.texts("outside"),
            when.texts("given"),
            table.unread_values(),
            inside=when.texts("inside"),
            without=when.texts("without"),
            transport=own,
            holds=when.get("holds", str, ""),
            root=when.get("root", bool, default=False),
            unless=when.table("unless").unread_values(),
            say=say,
        )
        when.check_all_read()
        return variant


@dataclass(frozen=True, slots=True)
class Tests:
    """`[tests]`: how tests are run so that the debugger sees them fail."""

    runners: tuple[str, ...]
    """Modules and names of programs that run tests, with the argument for it: `manage.py test`."""
    launcher: str
    """The program that is launched in their place: with `auto` and a test, or with
    `module` or `program`, the runner and its arguments."""
    arguments: Mapping[str, Any]
    """Further arguments of its launch."""
    none: Regex = ""
    """A regular expression: output of the launcher when no test has run."""
    files: Regex = ""
    """A regular expression: the path of a file of tests."""
    written: Regex = ""
    """The same, found in a file that has tests."""
    main: Regex = ""
    """The same, found in a file that runs its tests as a program."""

    def is_named(self, path: str) -> bool:
        """Return whether the path of a file is one of tests."""
        return bool(self.files and re.search(self.files, path))

    def none_in(self, path: str, text: str) -> bool:
        """Return whether a file has tests, and runs none of them as a program; `text` is its content."""
        return self.is_named(path) and (
            re.search(self.written, text, re.MULTILINE) is not None
            and re.search(self.main, text) is None
        )


@dataclass(frozen=True, slots=True)
class Children:
    """`[children]`: how processes that the debuggee starts are debugged."""

    connect: Literal["server", "configuration"] = "configuration"
    """Where a session of their own is to be had: another connection to the server that we have
    started, or at `connect` of the configuration that the adapter sends."""
    primary: bool = False
    """The first child is the program; its parent never stops."""
    refuse: bool = False
    """Children that nobody wants are offered all the same, and run on when they are refused: those
    that are not offered keep their parent's breakpoints, and nobody to continue them there.

    Otherwise the adapter offers wanted ones only, by its own configuration. What it offers all the same,
    such as a worker thread, is a part of the program, and is always debugged."""
    event: str = ""
    """An event that offers a child, of adapters that do not ask; empty: none."""
    pid: str = ""
    """The key of the configuration that has the child's process id."""
    pid_in: Regex = ""
    """A regular expression: its first group, found in that key's text, is the process id."""
    command: Regex = ""
    """A regular expression for that process's command line; its first group is the program's own."""
    stand_ins: bool = False
    """Our code in the debuggee starts programs of other languages as stand-ins, which wait for theirs."""
    stand_in_env: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The environment by which that code gets into the debuggee; empty: it is there."""
    relay: Regex = ""
    """A regular expression for the command line of the debugger's relay, a process of the child.

    The debugger's messages pass through that one, and the child sends them by TCP.
    """

    def pid_of(self, configuration: Mapping[str, object]) -> int:
        """Return the process id of a child, from the configuration that the adapter gives for it.

        The result is 0 if the configuration does not say it.
        """
        value = configuration.get(self.pid)
        if isinstance(value, int):
            return value
        found = re.search(self.pid_in, str(value)) if self.pid_in else None
        return int(found[1]) if found else 0


def _outside_reader(table: DefinitionTable) -> OutsideReader | None:
    """Return what the table `[threads.outside]` says: the program that reads the places of threads.

    It reads them without a debugger. `table` is that table itself; it is empty if the definition has none. Its
    keys are `command`, the regular expressions `thread`, `frame` and `own` (without the key, one that fits only
    an empty text), and the sentences `missing` and `denied`. None: it has no `command`.

    Raises:
        DefinitionError: A key is unknown, or its value wrong.
    """
    keys = ("thread", "frame", "own")
    thread, frame, own = (re.compile(table.pattern(each) or "$^") for each in keys)
    command = table.texts("command")
    missing, denied = (table.get(each, str, "") for each in ("missing", "denied"))
    table.check_all_read()
    return OutsideReader(command, thread, frame, own, missing, denied) if command else None


def read_sight(table: DefinitionTable) -> Sight:
    """Return the table `[threads]`: what can be found out about a running program.

    `table` is that table itself. Its keys are the expressions `places`, `waits` and `brought`, the texts `hides` and `silence`, and the
    table `outside`.

    Raises:
        DefinitionError: Something in it is wrong.
    """
    read = Sight(
        table.expression("places"),
        table.get("hides", str, ""),
        table.get("silence", str, ""),
        tuple(filter(None, (table.expression("waits"), table.expression("brought")))),
        _outside_reader(table.table("outside")),
    )
    table.check_all_read()
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Attach:
    """One way to attach: the arguments of the request, and a transport if it is another one."""

    arguments: Mapping[str, Any]
    transport: TransportTable | None
    ptrace: bool = False
    """The system must allow processes to trace others."""
    helper: Mapping[str, str]
    """By platform: a program on PATH that the adapter attaches with."""
    knock: bool = False
    """A port can be tried first, without harm to the program there."""
    usual_ports: Sequence[int]
    """The usual ports of such programs."""
    served_by: str = ""
    """A pattern in the executable and the command line of what listens at such a port."""
    port_in: str = ""
    """A pattern for the command line of a process that listens; its first group is the port."""
    listen: str = ""
    """The command that makes a process listen there."""
    sent_as: Literal["launch", "attach"] = "attach"
    """The request that is sent."""
    say: str = ""
    """A remark on such an attach: what it does to the program, or what can end that."""
    follows_exec: bool = False
    """A process that replaces itself by another program is debugged on, with the breakpoints of that one."""
    event: str = ""
    """The event after which a process that waits goes on; empty: the adapter runs it in a terminal."""
    inserted: tuple[str, ...] = ()
    """Words that such a process then has behind its interpreter's options, with values of the event."""
    removed: tuple[str, ...] = ()
    """Variables that it then has no more."""
    pages: str = ""
    """Where the listener at the port lists its pages by HTTP, to attach to one; empty: it has none."""

    @classmethod
    def read(cls, table: DefinitionTable, way: str) -> Attach:
        """Read the table `[attach.WAY]` of an adapter's definition, and return it as an `Attach`.

        `table` is that table, `way` is its WAY: one of `WAYS` or `OF_WAITING`. All keys are optional; `transport` is a
        table, and so is `helper`, a program by platform. Keys that `Attach` lacks become `arguments` of the request;
        for `OF_WAITING` so does `listen`.

        Raises:
            DefinitionError: A table within it lacks a key or has an unknown one; a value is of another type, not
                allowed, or has no JSON, such as a date; or `listen` lacks `usual_ports`, though `way` is not
                `OF_WAITING`.
        """
        own = TransportTable.read(table.table("transport")) if "transport" in table else None
        helper = table.table("helper")
        platforms = {PLATFORMS[name]: helper.text(name) for name in PLATFORMS if name in helper}
        helper.check_all_read()
        ports: list[object] = table.get("usual_ports", list, [])
        if any(type(each) is not int for each in ports):
            raise table.wrong(f"key `{table.dotted_name('usual_ports')}` must be a list of numbers")
        # The process listens nowhere; the adapter may.
        unread = {"listen": ""} if way == OF_WAITING else {}
        if not (ports or unread) and "listen" in table:
            raise table.wrong(f"key `{table.dotted_name('listen')}` needs `usual_ports`")
        return table.read(
            cls,
            rest="arguments",
            transport=own,
            helper=platforms,
            usual_ports=tuple(ports),
            **unread,
        )


@dataclass(frozen=True, slots=True)
class Timeouts:
    """`[timeouts]`: how long the adapter may take."""

    start: Seconds = 10
    """To start and to answer `initialize`."""
    request: Seconds = 10
    control: Seconds = 5
    """For requests that resume, pause or end; a timeout means that the adapter hangs."""
    launch: Seconds = 30
    attach: Seconds = 15


def attach_way_of(inputs: Mapping[str, object]) -> str | None:
    """Return the name of the `[attach.*]` table that the inputs of an attach select.

    The inputs `pid` and `core` select the tables of those names, and `port` selects `tcp`. `executable` without
    these three selects `OF_WAITING`. An input that is None counts as absent. None is returned if there is none
    of the four: then only the user's own keys say how to attach.

    Raises:
        ArgumentError: The inputs have more than one of `pid`, `port` and `core`, or `host` and none of these.
    """
    given = [way for way in WAYS if inputs.get(_INPUT.get(way, way)) is not None]
    if len(given) > 1:
        both = " and ".join(f"`{_INPUT.get(way, way)}`" for way in given)
        raise ArgumentError(f"Both {both} are given.", "Attach by one of them.")
    if not given and inputs.get("host") is not None:
        raise ArgumentError("`host` is given without `port`.", "Give the port to attach to.")
    # A browser that is attached to at its port has one, too.
    waiting = OF_WAITING if inputs.get("executable") is not None else None
    return given[0] if given else waiting


def check_way(way: str | None, adapter: str, offered: Container[str]) -> str | None:
    """Return `way` as it is, if it is None or in `offered`: the ways to attach that an adapter has.

    Raises:
        ArgumentError: The adapter does not have it; the error names the `adapter`.
    """
    if way is None or way in offered:
        return way
    known = ", ".join(each for each in WAYS if each in offered) or "none"
    what = "look at core dumps" if way == "core" else f"attach by {way}"
    hint = "gdb, lldb-dap and codelldb can." if way == "core" else f"Ways that it knows: {known}."
    raise ArgumentError(f"{adapter} cannot {what}.", hint)
