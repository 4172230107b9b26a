"""The tables of a definition file that say how an adapter is started and spoken to, one class each."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dapeer.adapters.definition.installation import PLATFORMS
from dapeer.adapters.definition.table import DefinitionTable, Regex, Seconds
from dapeer.base.errors import ArgumentError
from dapeer.mirror.places import Outside, Sight

Kind: TypeAlias = Literal["stdio", "tcp", "unix", "connect"]
WAYS = ("pid", "tcp", "core")
"""Ways to attach: to a process, to a port, to the core dump that a process has left."""
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
            env=table.text("env") if table.is_text("env") else table.table("env").free(),
            cwd=table.text("cwd") if "cwd" in table else None,
        )
        if bool(transport.command) is (transport.kind == "connect"):
            raise table.wrong(
                f"`{table.at('command')}` is required for every kind but `connect`, and not allowed for that one"
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
            table.free(),
            inside=when.texts("inside"),
            without=when.texts("without"),
            transport=own,
            holds=when.get("holds", str, ""),
            root=when.get("root", bool, default=False),
            unless=when.table("unless").free(),
            say=say,
        )
        when.done()
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


def _outside(table: DefinitionTable) -> Outside | None:
    """Return the table `[threads.outside]`: the program that reads where threads are.

    The result is None for a table without a command.

    Raises:
        DefinitionError: Something in it is wrong.
    """
    keys = ("thread", "frame", "own")
    thread, frame, own = (re.compile(table.pattern(each) or "$^") for each in keys)
    command = table.texts("command")
    missing, denied = (table.get(each, str, "") for each in ("missing", "denied"))
    table.done()
    return Outside(command, thread, frame, own, missing, denied) if command else None


def sight(table: DefinitionTable) -> Sight:
    """Return the table `[threads]`: what can be found out about a running program.

    Raises:
        DefinitionError: Something in it is wrong.
    """
    read = Sight(
        table.expression("places"),
        table.get("hides", str, ""),
        table.get("silence", str, ""),
        table.expression("waits"),
        _outside(table.table("outside")),
    )
    table.done()
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
    pages: str = ""
    """Where the listener at the port lists its pages by HTTP, to attach to one; empty: it has none."""

    @classmethod
    def read(cls, table: DefinitionTable) -> Attach:
        """Return a table `[attach.pid]`, `[attach.tcp]` or `[attach.core]`.

        Other keys are the request's arguments.

        Raises:
            DefinitionError: Something in it is wrong.
        """
        own = TransportTable.read(table.table("transport")) if "transport" in table else None
        helper = table.table("helper")
        platforms = {PLATFORMS[name]: helper.text(name) for name in PLATFORMS if name in helper}
        helper.done()
        ports = tuple(map(int, table.get("usual_ports", list, [])))
        return table.read(cls, rest="arguments", transport=own, helper=platforms, usual_ports=ports)


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


def way_of(inputs: Mapping[str, object]) -> str | None:
    """Return which of `[attach.*]` the inputs mean; None: only the user's config says how to attach.

    Raises:
        ArgumentError: More than one is.
    """
    given = [way for way in WAYS if inputs.get(_INPUT.get(way, way)) is not None]
    if len(given) > 1:
        both = " and ".join(f"`{_INPUT.get(way, way)}`" for way in given)
        raise ArgumentError(f"Both {both} are given.", "Attach by one of them.")
    if not given and inputs.get("host") is not None:
        raise ArgumentError("`host` is given without `port`.", "Give the port to attach to.")
    return given[0] if given else None


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
