"""The table of a definition that says which commands run programs that its adapter debugs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dapeer.adapters.definition.table import Regex

How = Literal["program", "module", "code", ""]


@dataclass(frozen=True, slots=True)
class Split:
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

    def split(self, args: Sequence[str]) -> Split:
        """Return the interpreter's arguments, what it runs, and the arguments of that, from a command line.

        `args` are the words behind the interpreter. The result is empty in all parts where nothing is run, or code from
        standard input.

        >>> Command(module="-[uB]*m", valued=("-W",)).split(["-W", "error", "-um", "shop", "-v"])
        Split(options=['-W', 'error', '-u'], how='module', target='shop', args=['-v'])
        """
        options: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            how = self._how(word)
            if how and rest:
                options += [word[:-1]] * (len(word) > len("-m"))
                return Split(options, how, rest[0], rest[1:])
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
                    Split(options, "program", word, rest) if word != "-" else Split([], "", "", [])
                )
        return Split([], "", "", [])

    def _how(self, option: str) -> How:
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

    def started(self, args: Sequence[str]) -> Sequence[str]:
        """Return the command line of what the command starts: the words behind its options.

        `args` are the words behind the command and its verb.

        >>> NotFollowed("uv run", valued=("--with",), module="-m").started(["--with", "rich", "-m", "shop", "-v"])
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
