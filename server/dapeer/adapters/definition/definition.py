"""A debug adapter as its TOML file defines it: its requests' arguments, and how files are read."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from dapeer.adapters.definition import sections
from dapeer.adapters.definition.placeholders import (
    as_choice,
    fill_table,
    joined_lists,
    placeholders,
)
from dapeer.adapters.definition.quirks import Quirks
from dapeer.adapters.definition.sections import (
    OF_WAITING,
    Attach,
    Children,
    Collect,
    Command,
    Detect,
    Hint,
    Install,
    Interpreter,
    NotFollowed,
    Sources,
    Stopping,
    Tests,
    Timeouts,
    TransportTable,
    Until,
    Variant,
    Watchpoints,
    attach_way_of,
    check_way,
)
from dapeer.adapters.definition.table import (
    DefinitionTable,
    Evaluated,
    installation_values,
    read_toml,
)
from dapeer.base.errors import ArgumentError, DefinitionError
from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.base.system import foreign_files
from dapeer.base.system.environment import environment_for
from dapeer.base.system.folder_names import configuration, shipped_folder
from dapeer.base.system.program_files import has_section, is_binary, is_root, nearest_file, shebang
from dapeer.base.system.tcp_table import LOOPBACK
from dapeer.mirror.places import Sight

# Which variants of a definition fit a program, and which source files are its adapter's.

_NOTHING: Mapping[str, object] = MappingProxyType({})


def conditions_hold(
    variant: Variant, inputs: Mapping[str, object], config: Mapping[str, object] = _NOTHING
) -> bool:
    """Return whether all conditions of a variant hold for a launch; False for one without conditions.

    `inputs` are the caller's, by name; `config` is the caller's own configuration, with keys of the adapter. The
    conditions are `given` (one of these inputs has a value), `without` (`config` has none of these keys), `unless`
    (`config` has none of these values at their keys), `root` (dapeer runs as root on Linux), and those on the
    program's file (`binary`, `holds`, `names`, `outside`, `inside`), which may be read; they do not hold without a
    program.
    """
    program = inputs.get("program")
    matches = [any(inputs.get(name) is not None for name in variant.given)] * bool(variant.given)
    if variant.without:
        matches.append(config.keys().isdisjoint(variant.without))
    if variant.unless:
        matches.append(all(config.get(name) != value for name, value in variant.unless.items()))
    if variant.root:
        matches.append(is_root())
    if variant.binary or variant.holds or variant.names or variant.outside or variant.inside:
        matches.append(program is not None and _is_of_kind(Path(str(program)), variant))
    return bool(matches) and all(matches)


def _is_of_kind(path: Path, variant: Variant) -> bool:
    """Return whether a program's file meets the conditions of a variant on its content, name and place.

    The conditions are `binary`, `holds`, `names`, `outside` and `inside`; one that the variant does not
    set is met, and the others of the variant are not looked at. A file that cannot be read meets
    neither `binary` nor `holds`. The file, and folders above it, may be read.
    """
    return (
        (not variant.binary or is_binary(str(path)))
        and (not variant.holds or has_section(str(path), [variant.holds]))
        and (not variant.names or any(fnmatch(path.name, name) for name in variant.names))
        and (not variant.outside or nearest_file(path, variant.outside) is None)
        and (not variant.inside or nearest_file(path, variant.inside) is not None)
    )


def program_parts(program: object) -> dict[str, object]:
    """Return the values of `program_dir` and `program_stem` for the path of a program; empty for None."""
    if program is None:
        return {}
    path = Path(str(program))
    folder = path if foreign_files.is_folder(path) else path.parent
    return {"program_dir": str(folder), "program_stem": path.stem}


PARTS = ("program_dir", "program_stem")


def inside_value(inputs: Mapping[str, object], variants: Sequence[Variant]) -> dict[str, object]:
    """Return the value of `inside`: the file that the last fitting variant has found above the program.

    It is empty where none has looked for one, or found it.
    """
    program = Path(str(inputs.get("program")))
    found = (nearest_file(program, each.inside) for each in reversed(variants) if each.inside)
    return dict([("inside", str(file)) for file in found if file is not None][:1])


# Each session is asked at each change of a breakpoint, for each definition.
@functools.lru_cache(1000)
def accepts_name(name: str, extensions: Sequence[str], files: Sequence[str]) -> bool | None:
    """Return whether a source file of this name may be an adapter's; None: its first line says it.

    True for an adapter without extensions, and for a name that one of the patterns in `files` fits.
    """
    if not extensions or is_named(name, files):
        return True
    suffix = Path(name).suffix
    return suffix.lower() in extensions if suffix else None


def is_named(name: str, files: Sequence[str]) -> bool:
    """Return whether a file name matches one of these patterns of `fnmatch`."""
    return any(fnmatch(name, pattern) for pattern in files)


RequestName: TypeAlias = Literal["launch", "attach"]
Inputs: TypeAlias = Mapping[str, object]

TARGETS = ("program", "module", "code", "url")
INPUTS = (
    *TARGETS, "args", "cwd", "env", "python", "stop_on_entry", "terminal", "stdin",
    "follow_children", "just_my_code", "pid", "host", "port", "core",
)  # fmt: skip
OWN = (
    "environment", "dapeer_python", "launchers", "adapters", "cache", "socket", "tmpdir", "tty", "word", "trusted", "project", "inside", "page", "executable",
    *PARTS,
)  # fmt: skip
"""Placeholders that are no input: the whole environment of the program (ours, `launch_env` and the
user's), the interpreter that runs dapeer, the folder of our companions, those of the adapters that dapeer has got and of what it can make again, the Unix socket that a server
is to listen at, a folder that is the session's own and gone after it, the terminal that the program
is to run in, the word by which rows in it tell that they are off, the folder whose scripts a debugger may run, the folder of the project that it belongs to, the
file that a variant has looked for, the id of the page that is attached to, what a process that waits is to execute, and parts of `program`."""

CANNOT = (
    "condition", "condition_errors", "condition_at_functions", "exit_code", "expressions", "set_variable",
)  # fmt: skip
"""Conditions, reports that one failed, the exit code, evaluating more than a name, changing one."""

LATE = ("socket", "tmpdir", "tty", "word")
"""Placeholders that have values only when the adapter is started; in arguments they stay till then."""


# A caller fills these in by itself, so an adapter that has no use for them is no mistake.
_HARMLESS = ("cwd", "python", "follow_children")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One debug adapter: how to find, install and start it, and the arguments of its requests."""

    id: str
    title: str
    aliases: tuple[str, ...]
    """Other names of the same adapter, in launch.json and in Neovim."""
    stands_in_for: tuple[str, ...]
    """Other adapters, whose configurations it can run if they are missing."""
    languages: tuple[str, ...]
    extensions: tuple[str, ...]
    opens: tuple[str, ...]
    """Extensions of programs that it is chosen for, whose breakpoints are not its own alone."""
    shebangs: tuple[str, ...]
    files: tuple[str, ...]
    """Patterns of file names that it is chosen for, too."""
    folders: tuple[str, ...]
    """A folder with a file of such a name is a program."""
    binaries: bool = False
    """It debugs compiled programs: `extensions` are of their sources."""
    sections: tuple[str, ...]
    """A compiled program with a section of such a name is rather for it than for the others."""
    rank: int = 1
    """Where several adapters fit and are there, the one of the lowest rank is taken."""
    adapter_id: str
    attached: Evaluated = ""
    """An expression to evaluate in an attached program before its breakpoints are set; empty: none."""
    detect: Detect
    install: tuple[Install, ...]
    transport: TransportTable
    launch: Mapping[str, Any]
    launch_variants: tuple[Variant, ...]
    launch_env: Mapping[str, str]
    attach: Mapping[str, Attach]
    """By way: `pid`, `tcp`, `core`, `exec`."""
    interpreter: Interpreter
    children: Children | None
    command: Command | None
    not_followed: tuple[NotFollowed, ...]
    tests: Tests | None
    stopping: Stopping
    collect: Collect
    sources: Sources
    watchpoints: Watchpoints
    until: Until
    sight: Sight
    cannot: tuple[str, ...]
    """Common features that this adapter lacks; each one of `CANNOT`."""
    open_to_others: str = ""
    """A sentence on what another user of the machine can do while it debugs; empty: nothing."""
    hints: tuple[Hint, ...]
    timeouts: Timeouts
    quirks: Quirks
    path: Path

    @property
    def names(self) -> tuple[str, ...]:
        """The id and the aliases."""
        return (self.id, *self.aliases)

    @property
    def debugs_waiting(self) -> bool:
        """Whether its adapter debugs a process that waits for it before it executes its program."""
        by_pid = self.attach.get("pid")
        return OF_WAITING in self.attach or (by_pid is not None and by_pid.follows_exec)

    def arguments(
        self, request: RequestName, inputs: Inputs, config: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the arguments of the `launch` or `attach` request, filled in from the caller's inputs.

        An input that is None is unset, and so is every key that needs it. The user's `config` wins, key by key at
        its top level, and is passed on untouched; lists of the quirk `added` are joined.

        Raises:
            ArgumentError: The inputs of a launch name two things to run, or neither they nor `config` name one that the
                adapter needs; those of an attach mean several ways, one that the adapter lacks, or have a `host` alone;
                or an input has a value, and this adapter has no use for it.
        """
        variants = self._variants(inputs, config) if request == "launch" else ()
        template = self._template(request, inputs, variants)
        if request == "launch":
            self._check_target(inputs, config)
        for name in self.unsupported_inputs(request, inputs, config):
            raise self.unsupported_input_error(request, name)
        filled = fill_table(template, {**self.values(inputs), **inside_value(inputs, variants)})
        return {**filled, **config, **joined_lists(self.quirks.added, filled, config)}

    def unsupported_input_error(
        self, request: RequestName, name: str, others: Sequence[str] = ()
    ) -> ArgumentError:
        """Return the error for an argument `name` that the adapter has no use for; the caller raises it.

        `request` is `launch` or `attach`; `others` are types of adapters that have a use for it, which the hint then names.
        """
        instead = f", or choose a type that has one: {', '.join(others)}" if others else ""
        called = "a URL as `program`" if name == "url" else f"`{name}`"
        return ArgumentError(
            f"{self.id} does not support {called} in {request} requests.",
            f"Leave it out{instead}.",
        )

    def request_of(self, request: RequestName, inputs: Inputs) -> str:
        """Return DAP's name of the request to send instead of `request`; for most adapters it is the same.

        Some only know `attach`, to a program that they start themselves; others attach by a `launch`.
        """
        if request == "launch":
            return self.quirks.launch_request
        way = self._attach_way(inputs)
        return self.attach[way].sent_as if way else request

    def remark(self, request: RequestName, inputs: Inputs, config: Mapping[str, object]) -> str:
        """Return what the fitting variants of a launch say about it, joined by semicolons; empty: nothing."""
        variants = self._variants(inputs, config) if request == "launch" else ()
        return "; ".join(each.say for each in variants if each.say)

    def uses(self, name: str) -> bool:
        """Return whether a launch has a place for an input, such as `args` or `terminal`."""
        given = {name for variant in self.launch_variants for name in variant.given}
        own = {"terminal"} if self.needs_terminal else set[str]()
        # The program inherits what the adapter's process gets.
        own |= {"stdin"} if self.transport.stdin == "program" else set()
        return name in self._names_at_launch | given | own

    @property
    def _names_at_launch(self) -> set[str]:
        """The placeholders of the launch and its variants, and those of the command."""
        templates = [self.launch, *(variant.arguments for variant in self.launch_variants)]
        return names_in([*templates, self.launch_env], self.transport)

    def runs(self, suffix: str) -> bool:
        """Return whether a file with this extension is a program for it, not only a source of one.

        `suffix` has its dot.
        """
        return suffix in (self.opens if self.binaries or self.uses("url") else self.extensions)

    @property
    def needs_terminal(self) -> bool:
        """Whether a program in a terminal gets a terminal of dapeer when the adapter starts."""
        return self.transport.stdin == "program" or "tty" in self._names_at_launch

    @property
    def is_the_program(self) -> bool:
        """Whether the debugger runs inside of the program, which is part of its own command."""
        return any("${program}" in word for word in self.transport.command)

    @property
    def needs_normalizing(self) -> bool:
        """Whether the adapter's messages are to be normalized, for quirks, late values or program output."""
        late = self._names_at_launch & {*LATE}
        return self.transport.output == "program" or bool(late) or self.quirks.changes_messages

    def transport_of(self, request: RequestName, inputs: Inputs) -> TransportTable:
        """Return how messages travel: as the last fitting variant or the way to attach says, or its own."""
        if request == "launch":
            own = [each.transport for each in self._variants(inputs, {}) if each.transport]
            return own[-1] if own else self.transport
        way = self._attach_way(inputs)
        return (self.attach[way].transport if way else None) or self.transport

    def values(self, inputs: Inputs) -> dict[str, object]:
        """Return the values of placeholders by name: inputs, environment, facts of this installation.

        Placeholders of `LATE` have themselves as values: they are filled in when the adapter is started; `tty`
        is among them only with the input `terminal`. `env` has the variables of the definition (without those
        that need other placeholders), `TERM=dumb` for a `terminal` if the definition needs one, and the user's,
        which win; `environment` has these over the environment that a program in `cwd` gets. `host` is this
        machine unless it is given; any other input with the name of one of these values is replaced. What has
        no value is left out, also an empty `env`. `inputs` stays unchanged.
        """
        user = as_object(inputs.get("env"))
        late = {name: f"${{{name}}}" for name in LATE if name != "tty" or inputs.get("terminal")}
        # Input is typed by lines, so a program that draws on a screen gains nothing.
        plain = {"TERM": "dumb"} if inputs.get("terminal") and self.needs_terminal else {}
        environment = {**fill_table(self.launch_env, late), **plain, **user}
        known = {
            **inputs,
            "host": inputs.get("host") or LOOPBACK,
            "env": environment or None,
            "environment": {**environment_for(Path(str(inputs.get("cwd") or "."))), **environment},
            **program_parts(inputs.get("program")),
            **late,
            **installation_values(),
        }
        return {name: value for name, value in known.items() if value is not None}

    def accepts(self, path: str) -> bool:
        """Return whether breakpoints of this source file may be sent to the adapter.

        Files without an extension are judged by their first line, and accepted if it says nothing.
        """
        by_name = accepts_name(os.path.basename(path), self.extensions, self.files)  # noqa: PTH119
        return shebang(path) in {None, *self.shebangs} if by_name is None else by_name

    def is_named(self, name: str) -> bool:
        """Return whether a file of this name is one of its programs, whatever its extension."""
        return is_named(name, self.files)

    def _attach_way(self, inputs: Inputs) -> str | None:
        """Return which of `[attach.*]` the inputs mean; None: only the user's config says how to attach.

        Raises:
            ArgumentError: The inputs mean several, or one that it lacks.
        """
        return check_way(attach_way_of(inputs), self.id, self.attach)

    def _variants(self, inputs: Inputs, config: Mapping[str, object]) -> Sequence[Variant]:
        return [each for each in self.launch_variants if conditions_hold(each, inputs, config)]

    def _template(
        self, request: RequestName, inputs: Inputs, variants: Sequence[Variant]
    ) -> Mapping[str, Any]:
        """Return the arguments of a request, in which placeholders are not filled in yet.

        For a launch they are the definition's own with those of `variants`: a later variant wins over an earlier
        one, and lists of the quirk `added` are joined. For an attach they are those of the `[attach.*]` that
        `inputs` mean, and `variants` do not count; they are empty if `inputs` have none of `pid`, `port`, `core`
        and `executable`.

        Raises:
            ArgumentError: The inputs of an attach mean several ways to attach, or one that this adapter lacks, or
                have a `host` alone.
        """
        if request == "launch":
            template = dict(self.launch)
            for each in variants:
                more = joined_lists(self.quirks.added, template, each.arguments)
                template |= {**each.arguments, **more}
            return template
        way = self._attach_way(inputs)
        return self.attach[way].arguments if way else {}

    def _check_target(self, inputs: Inputs, config: Mapping[str, object]) -> None:
        """Raise if the inputs of a launch name no program, or more than one of `TARGETS`.

        `config` are the user's own keys, of which one may name the program instead. An adapter that takes no
        program needs none.

        Raises:
            ArgumentError: No program is named, or two of `TARGETS` are in `inputs`.
        """
        offered = [name for name in TARGETS if self.uses(name)]
        given = [name for name in TARGETS if inputs.get(name) is not None]
        if len(given) > 1:
            raise ArgumentError(
                f"`{given[0]}` and `{given[1]}` exclude each other.", "Give one of them."
            )
        if offered and not given and not config.keys() & {*TARGETS, *self.quirks.also_runs}:
            raise ArgumentError(
                f"There is nothing to run: {self.id} needs {as_choice(offered)}.",
                "To attach to a running program, say request: attach.",
            )

    def unsupported_inputs(
        self, request: RequestName, inputs: Inputs, config: Mapping[str, object]
    ) -> list[str]:
        """Return the names of inputs that have a value and that the adapter cannot use in this request.

        `request` is `launch` or `attach`; `config` are the user's own keys, by which a launch may choose other
        variants. The names are in the order of `INPUTS`. Empty values (0, False) count as none, except a
        `just_my_code` of False. Inputs that a caller always fills in, as `cwd`, are never among the names.

        Raises:
            ArgumentError: The inputs of an attach mean several ways to attach, or one that this adapter lacks, or
                have a `host` alone.
        """
        variants = self._variants(inputs, config) if request == "launch" else ()
        template = self._template(request, inputs, variants)
        used = names_in(template, self.transport_of(request, inputs))
        if request == "launch":
            used |= {name for name in ("terminal", "stdin", "follow_children") if self.uses(name)}
            used |= {name for variant in self.launch_variants for name in variant.given}
        # One of the two forms of the environment.
        used |= {"env"} if "environment" in used else set()
        # The adapter always stops there; the stop is reported or not.
        used |= {"stop_on_entry"} if self.quirks.skip_first_stop else set()
        used |= {"host", "port"} if self.transport_of(request, inputs).kind == "connect" else set()
        return [
            name
            for name in INPUTS
            # It is only given to say no.
            if (inputs.get(name) or (name == "just_my_code" and name in inputs))
            and name not in used
            and name not in _HARMLESS
        ]


def names_in(table: object, transport: TransportTable) -> set[str]:
    """Return the names of the placeholders that a table of arguments and a transport use.

    Parts of the program's path count as `program`, too.
    """
    used = (table, transport.command, transport.env, transport.cwd)
    names = {name for part in used for _, name in placeholders(part, "")}
    return names | ({"program"} if names & {*PARTS} else set())


# Reading definitions from their files.

log = logging.getLogger(__name__)

SHARED = "shared"
"""The folder, beside definitions, of what several of them say alike."""


def shipped() -> Path:
    """Return the folder of dapeer's own definitions: in a wheel inside the package, else in the checkout."""
    return shipped_folder("_adapters", "adapters")


def user_folder() -> Path:
    """Return the folder of the user's own definitions; it need not exist."""
    return Path(configuration(), "adapters")


def load_all(*folders: Path) -> dict[str, Definition]:
    """Return the definitions in these folders by id, those of later folders first.

    The `.toml` files of a folder are read, sorted by name. Of two definitions with one id in different folders
    that of the later folder wins. A folder that does not exist counts as empty, and so does one that cannot be
    read, which is logged.

    Raises:
        DefinitionError: A file is wrong, or one folder defines an id twice.
    """
    definitions: dict[str, Definition] = {}
    for folder in reversed(folders):
        here: dict[str, Definition] = {}
        for path in _definition_files(folder):
            definition = load(path)
            if definition.id in here:
                other = here[definition.id].path.name
                raise DefinitionError(
                    f"{path}: id `{definition.id}` is defined by {other} too.",
                    "Give one of them another id.",
                )
            here[definition.id] = definition
        definitions = {**definitions, **{k: v for k, v in here.items() if k not in definitions}}
    return definitions


def _definition_files(folder: Path) -> list[Path]:
    """Return the `.toml` files in a folder of definitions, sorted.

    The list is empty if the folder is missing or cannot be read. A warning is logged if the folder is there and
    cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        log.warning("%s cannot be read: %s; no adapters are defined there", folder, error.strerror)
        return []


def load(path: Path) -> Definition:
    """Return the definition in a file.

    Raises:
        DefinitionError: It cannot be read, or a key, type or placeholder in it is wrong.
    """
    values = read_with_shared(path)
    definition = _definition(DefinitionTable(path, "", values), path)
    _check_placeholders(definition, values)
    return definition


def read_with_shared(path: Path) -> dict[str, Any]:
    """Return the values of a definition file, merged with those of the files that it names in `shares`.

    `shares` has names without `.toml`, or is a single name. A shared file is looked for in the folder `SHARED`
    beside the file, then among those that dapeer ships. Lists are joined, shared items first, those of a file named
    later before those of an earlier one; tables are merged in the same way, at any depth; any other value of the
    file hides a shared one, and a file named earlier hides a later one. The file's own `shares` is left out; a
    `shares` of a shared file is not followed, but stays as a key.

    Raises:
        DefinitionError: A file is missing, cannot be read, or is no TOML, or `shares` is no text or list of texts.
    """
    values = read_toml(path)
    names = DefinitionTable(path, "", values).texts("shares")
    own: dict[str, Any] = {key: value for key, value in values.items() if key != "shares"}
    for name in names:
        beside = path.parent / SHARED / f"{name}.toml"
        found = beside if foreign_files.is_file(beside) else shipped() / SHARED / beside.name
        own = _merged(own, read_toml(found))
    return own


def _merged(own: Json, shared: Json) -> dict[str, Any]:
    """Return a new table with the keys of two tables; `own` is merged over `shared` where both have a key.

    Two lists become one, with the items of `shared` first. Two tables are merged in the same way, at any depth. Of
    any other two values, that of `own` counts. Neither table is changed.
    """
    both = {**shared, **own}
    for key in own.keys() & shared.keys():
        mine, theirs = own[key], shared[key]
        if is_array(mine) and is_array(theirs):
            both[key] = [*theirs, *mine]
        elif is_object(mine) and is_object(theirs):
            both[key] = _merged(mine, theirs)
    return both


def _definition(table: DefinitionTable, path: Path) -> Definition:
    """Return the definition of a whole file, whose placeholders are not checked yet.

    `table` is the top of the file at `path`. All its keys are read, and count as read from now on.

    Raises:
        DefinitionError: A key is unknown or missing, or its value has the wrong type or is not allowed there.
    """
    attach = table.table("attach")
    definition = table.read(
        Definition,
        title=table.get("title", str, table.text("id")),
        detect=sections.Detect.read(table.table("detect")),
        install=tuple(map(sections.Install.read, table.tables("install"))),
        transport=sections.TransportTable.read(table.table("transport")),
        launch_variants=tuple(map(sections.Variant.read, table.tables("launch_variant"))),
        attach={
            way: sections.Attach.read(attach.table(way), way)
            for way in (*sections.WAYS, sections.OF_WAITING)
            if way in attach
        },
        interpreter=sections.Interpreter.read(table.table("interpreter")),
        children=table.table("children").read(sections.Children) if "children" in table else None,
        command=table.table("command").read(sections.Command) if "command" in table else None,
        not_followed=tuple(
            each.read(sections.NotFollowed) for each in table.tables("not_followed")
        ),
        cannot=table.some_of("cannot", CANNOT),
        tests=table.table("tests").read(sections.Tests, rest="arguments")
        if "tests" in table
        else None,
        stopping=sections.Stopping.read(table),
        collect=sections.Collect.read(table.table("collect")),
        sources=table.table("sources").read(sections.Sources),
        watchpoints=table.table("watchpoint").read(sections.Watchpoints),
        until=table.table("until").read(sections.Until),
        hints=tuple(map(sections.Hint.read, table.tables("hint"))),
        sight=sections.read_sight(table.table("threads")),
        timeouts=table.table("timeouts").read(sections.Timeouts),
        quirks=Quirks.read(table.table("quirks")),
        path=path,
    )
    attach.check_all_read()
    return definition


def _check_placeholders(definition: Definition, values: Mapping[str, Any]) -> None:
    """Raise if a definition file uses a placeholder `${name}` that never has a value.

    `values` are all values of the file; only texts in tables that may have placeholders are looked at, such as `launch`, `command` and
    `hint`, but not `threads`. Known are the inputs of a launch, what depends on the installation, what detection finds, and in any hint the
    groups of the patterns of all hints.

    Raises:
        DefinitionError: There is one; the error names the first, and all that are known but for the groups.
    """
    known = {*INPUTS, *OWN, *definition.detect.placeholders()}
    for key in (
        "detect",
        "transport",
        "launch",
        "launch_env",
        "launch_variant",
        "attach",
        "command",
        "tests",
        "hint",
    ):
        groups = (
            {name for each in definition.hints for name in each.groups} if key == "hint" else ()
        )
        for place, name in placeholders(values.get(key), key):
            if name not in known and name not in groups:
                raise DefinitionError(
                    f"{definition.path}: unknown placeholder ${{{name}}} in {place}.",
                    f"Known placeholders: {', '.join(sorted(known))}.",
                )
