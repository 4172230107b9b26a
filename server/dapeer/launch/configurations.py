"""The configurations that a person can start by name: those of launch.json and of Neovim."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dapeer.adapters.definition.definition import TARGETS
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object, is_array, is_object
from dapeer.base.system import folder_names, foreign_files
from dapeer.base.system.environment import starter_environment
from dapeer.launch.launch_json import (
    IN_EDITOR,
    Compound,
    LaunchFile,
    MalformedJson,
    PersonVariable,
    VariableValues,
    fill_variables,
    for_platform,
    parse,
    read_object,
)
from dapeer.launch.tasks_json import (
    NoTask,
    TaskPlan,
    TasksFile,
    TaskStage,
    label_in,
    npm_task,
)
from dapeer.launch.tasks_json import parse as parse_tasks
from dapeer.sessions.triggers.trigger import ReadyCondition, checked_pattern

# The keys of a configuration, and the arguments of dap_run with the same meaning. Pure.

_TERMINALS = frozenset({"console", "externalConsole", "terminal", "terminalKind"})
"""Keys that choose a terminal, which would be useless to the assistant. dap_run has `terminal` for it."""
INPUTS = {
    "program": "program", "module": "module", "code": "code", "cwd": "cwd",
    "stopOnEntry": "stop_on_entry", "stopAtEntry": "stop_on_entry",
    "python": "python", "pythonPath": "python",
    "processId": "pid", "pid": "pid", "host": "host", "port": "port",
}  # fmt: skip
"""Keys of configurations, and the arguments of dap_run with the same meaning."""
INTERPRETERS = frozenset({"python", "pythonPath"})


def without_targets(configuration: Json, inputs: Json) -> Json:
    """Return a configuration's arguments without those that say what to run, if `inputs` has one of them.

    `inputs` are the caller's arguments: another program then replaces the configuration's.
    """
    if not inputs.keys() & {*TARGETS}:
        return configuration
    return {key: value for key, value in configuration.items() if key not in TARGETS}


CORRECT = "Fix the configuration, or pass the argument to dap_run."


def split_values(values: Json, request: str = "launch") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two dicts: the arguments of dap_run in a configuration's values, and its other keys.

    The first dict has the names of dap_run: `args` as a list, `env` as a dict (of `env` and `environment`
    together; of two values the later one wins), all of an object `connect`, and the keys in `INPUTS` unless
    their values are lists or objects, which stay among the others. A `pid` or `port` that is a text of digits
    becomes a number. Keys that choose a terminal are in neither dict. `request` is `launch` or `attach`: only
    for an attach the `host` and `port` of an object `target` (a gdbserver's) are among the arguments; for a
    launch such a `target` is dropped. Other values are not checked. `values` stays as it is.

    Raises:
        ArgumentError: `args`, `env` or `environment` has the wrong type, or quotes in `args` are not closed.
    """
    inputs: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in values.items():
        argument = INPUTS.get(key)
        if key == "args":
            inputs["args"] = _words(value)
        elif key in {"env", "environment"}:
            inputs["env"] = {**inputs.get("env", {}), **_environment(value)}
        elif key == "connect" and is_object(value):
            inputs |= {k: _number(each) if k == "port" else each for k, each in value.items()}
        elif key == "target" and is_object(value):
            # Where `gdbtarget` would start a gdbserver for a program, its debugger runs the program itself.
            inputs |= _gdbserver_address(value) if request == "attach" else {}
        elif argument and not isinstance(value, list | Mapping):
            inputs[argument] = _number(value) if argument in {"pid", "port"} else value
        elif key not in _TERMINALS:
            rest[key] = value
    return inputs, rest


def _gdbserver_address(target: Json) -> dict[str, Any]:
    """Return `host` and `port` of the gdbserver in a `target` of `gdbtarget`; empty without a port number.

    `target` has `host` and `port`, or a text `HOST:PORT` as the first of its `parameters`; its own keys come first. The
    port is returned as an integer, and may be given as digits; with any other port the result is empty. A host that is
    not given is left out.
    """
    written = target.get("parameters")
    host, _, port = str(written[0] if is_array(written) and written else "").rpartition(":")
    named = {"host": target.get("host", host), "port": _number(target.get("port", port))}
    return {
        name: value for name, value in named.items() if value and isinstance(named["port"], int)
    }


def _words(value: object) -> list[str]:
    """Return the arguments of a program, written as a list or as one text that is split as by a shell.

    `value` is `args` of a launch configuration. Items of a list that are no texts become texts; None gives an empty
    list.

    Raises:
        ArgumentError: `value` is neither a list nor a text, or a quote in the text is not closed.
    """
    match value:
        case None:
            return []
        case _ if is_array(value):
            return [str(each) for each in value]
        case str():
            try:
                return shlex.split(value)
            except ValueError as error:
                raise ArgumentError(f"`args` of the configuration: {error}.", CORRECT) from error
        case _:
            raise ArgumentError("`args` of the configuration must be a list.", CORRECT)


def _environment(value: object) -> dict[str, str]:
    """Return variables by name, from an object, or from a list of `name` and `value` as cppdbg has it.

    All values become texts, true as `true`. A variable that is null is left out, and so are items of a list that are
    no objects, or without a `name` or `value`. None and other empty values
    give an empty dict.

    Raises:
        ArgumentError: The value is neither an object nor a list, nor empty.
    """
    if is_array(value):
        named = [each for each in value if is_object(each)]
        return {
            str(each["name"]): _as_text(each["value"])
            for each in named
            if each.get("name") is not None and each.get("value") is not None
        }
    if value and not is_object(value):
        raise ArgumentError("`env` of the configuration must be an object.", CORRECT)
    table = as_object(value)
    return {name: _as_text(each) for name, each in table.items() if each is not None}


def _as_text(value: object) -> str:
    """Return a value as text; a truth value as JSON has it."""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _number(value: object) -> object:
    """Return a text of digits as a number, anything else as it is."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


LAUNCH_JSON = ".vscode/launch.json"
TASKS_JSON = ".vscode/tasks.json"
WITHOUT_TASK = 'To start without it: config={"preLaunchTask": ""}.'
NVIM = "nvim"

_OF_THE_EDITOR = frozenset({
    "name", "type", "request", "presentation", "preLaunchTask", "postDebugTask", "debugServer",
    "internalConsoleOptions", "serverReadyAction", "suppressMultipleSessionWarning",
})  # fmt: skip
"""Keys that are no business of the debug adapter."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration."""

    name: str
    type: str
    request: str
    origin: str
    """`launch.json`, or `nvim`: it is in Neovim's `dap.configurations`."""
    values: Json
    """Its other keys, with the variables filled in that can be known."""
    person_variables: tuple[PersonVariable, ...] = ()
    """The variables that only the person can fill in."""
    filetype: str = ""
    """Under which Neovim keeps it."""
    task: str = ""
    """The label of the task that runs before it."""
    task_after: str = ""
    """The label of the task that runs after it."""
    ready: ReadyCondition = field(default_factory=ReadyCondition)
    """When its server is ready, and where."""

    @property
    def title(self) -> str:
        """The name with type and origin, which differs from those of other configurations of the same name."""
        return f"{self.name} ({self.type}, {self.origin})"

    def left_to_ask(
        self, inputs: Json, config: Json, *, in_neovim: bool
    ) -> tuple[PersonVariable, ...]:
        """Return the variables that only a person can fill in, and that the caller's arguments do not answer.

        `inputs` are arguments of dap_run, `config` keys of the configuration that the caller gives. With `in_neovim`, variables for the
        current file are left out, since nvim-dap fills them in; without, those of the interpreter are, since dapeer finds it.
        """
        return tuple(
            ask
            for ask in self.person_variables
            if not _is_answered(ask, inputs, config)
            and not (in_neovim and ask.variable in IN_EDITOR)
            and not (not in_neovim and ask.key in INTERPRETERS)
        )

    def split(self, inputs: Json, config: Json) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return two dicts: the configuration's arguments of dap_run, and keys that only the adapter knows.

        The caller's `inputs` (arguments) replace those of the configuration, and the caller's `config` (keys) replaces
        its keys; only the variables in `env` are merged, of which the caller's count. If `inputs` says what to run,
        whatever the configuration says about that is left out. Left out are also the keys that choose a terminal, and a
        key for the interpreter that contains a variable which a person would have to fill in.

        Raises:
            ArgumentError: `args`, `env` or `environment` of the configuration has the wrong type, or quotes in `args` are
                not closed.
        """
        asking = {ask.key for ask in self.person_variables} & INTERPRETERS
        own, rest = split_values(
            {key: value for key, value in self.values.items() if key not in asking}, self.request
        )
        merged = {**without_targets(own, inputs), **inputs}
        if "env" in own and "env" in inputs:
            merged["env"] = {**own["env"], **inputs["env"]}
        return merged, {**without_targets(rest, inputs), **config}

    def as_adapter_keys(self, inputs: Json, config: Json) -> dict[str, Any]:
        """Return a caller's arguments of dap_run as keys of this configuration, for nvim-dap's adapter.

        Only these keys are returned, to replace those of the configuration; its other keys are not among them. `inputs` are
        the arguments by name. Each gets the key that the configuration itself uses for it, or else the usual one. `env` has
        the configuration's own variables, too, and `connect` (for `host` and `port`, where the configuration has it) its
        own keys; the caller's replace them. Where the configuration has a list `environment`, `env` becomes that list with
        the caller's variables, as `{name, value}`, behind its own, of which none is removed. `config` are keys as they are;
        they replace those made of arguments.
        """
        made: dict[str, Any] = {}
        for argument, value in inputs.items():
            if argument in {"host", "port"} and isinstance(self.values.get("connect"), Mapping):
                made["connect"] = {
                    **self.values["connect"],
                    **made.get("connect", {}),
                    argument: value,
                }
            elif argument == "env" and isinstance(self.values.get("environment"), list):
                added = [{"name": name, "value": text} for name, text in value.items()]
                made["environment"] = [*self.values["environment"], *added]
            elif argument == "env":
                made["env"] = {**(self.values.get("env") or {}), **value}
            else:
                made[self._key(argument)] = value
        return {**made, **config}

    def _key(self, argument: str) -> str:
        """Return the configuration's key for an argument of dap_run; the usual key if it has none."""
        mine = (*self.values, *(ask.key for ask in self.person_variables))
        usual = {"pid": "processId", "stop_on_entry": "stopOnEntry"}.get(argument, argument)
        return next((key for key in mine if INPUTS.get(key) == argument), usual)


@dataclass(frozen=True, slots=True)
class KnownConfigurations:
    """The configurations that there are."""

    configurations: tuple[Configuration, ...]
    compounds: Mapping[str, Compound]
    """Names for several configurations that a person starts together."""
    problem: str = ""
    """Why launch.json, or tasks.json, could not be read: file, line and column."""
    tasks: TasksFile = field(default_factory=lambda: TasksFile({}, {}))
    variable_values: VariableValues | None = None
    """What the variables of its tasks stand for."""

    def compound(self, name: str) -> Compound | None:
        """Return the compound that a name starts; None if it starts a configuration, or nothing."""
        if any(each.name == name for each in self.configurations):
            return None
        return self.compounds.get(name)

    def task_plan(self, chosen: Configuration | Compound, config: Json) -> TaskPlan:
        """Return the tasks that run before and after a configuration or compound.

        The keys `preLaunchTask` and `postDebugTask` of the caller's `config` replace its own; an empty one means none.

        Raises:
            ArgumentError: A task cannot be run, or asks what only a person can answer.
        """
        before = config.get("preLaunchTask", chosen.task)
        after = chosen.task_after if isinstance(chosen, Configuration) else ""
        after = config.get("postDebugTask", after)
        return TaskPlan(self._task_stage(chosen.name, before), self._task_stage(chosen.name, after))

    def _task_stage(self, name: str, label: object) -> TaskStage | None:
        """Return the task of a label with those that it depends on; nothing is run.

        `name` is the configuration's, for errors. None: the label is empty, or the project has no launch.json that could be read.

        Raises:
            ArgumentError: A task cannot be run, asks what only a person can answer, or has an invalid pattern.
        """
        if not label or self.variable_values is None:
            return None
        if asks := self.tasks.missing_variables(str(label), self.variable_values):
            listed = "; ".join(map(str, asks))
            answers = ", ".join(f'"{each.input}": …' for each in asks if each.input)
            raise ArgumentError(
                f"`{name}` asks the person: {listed}.",
                f"Give inputs={{{answers}}}." if answers else WITHOUT_TASK,
            )
        try:
            stage = self.tasks.stage(str(label), self.variable_values)
        except NoTask as error:
            raise ArgumentError(
                f"`{name}` has a task that cannot be run: {error}.",
                f"Fix tasks.json. {WITHOUT_TASK}",
            ) from error
        for each in stage.tasks:
            for pattern in (each.begins, each.ends):
                checked_pattern(pattern, f"task `{each.label}`")
        return stage

    def find(self, name: str, kind: str | None) -> Configuration:
        """Return the configuration of this name, and of the type or origin `kind` if the caller gives one.

        Raises:
            ArgumentError: There is no such configuration, several fit, or it is a compound.
        """
        same = [each for each in self.configurations if each.name == name]
        fitting = [each for each in same if kind in {None, each.type, each.origin}]
        if len(fitting) == 1:
            return fitting[0]
        if fitting or same:
            listed = ", ".join(each.title for each in same[:10])
            what = (
                "Several configurations are" if fitting else f"No configuration of type `{kind}` is"
            )
            raise ArgumentError(f"{what} called `{name}`: {listed}.", "Choose one by `type`.")
        if name in self.compounds:
            members = ", ".join(self.compounds[name].members)
            raise ArgumentError(
                f"`{name}` is a compound of: {members}.",
                "Start it without `type`, or one of them by its own name.",
            )
        raise ArgumentError(f"There is no configuration `{name}`.", self._names())

    def _names(self) -> str:
        """Return a sentence that lists the names of configurations, and why a file could not be read."""
        listed = ", ".join(dict.fromkeys(each.name for each in self.configurations[:20]))
        return f"There are: {listed or 'none'}. {self.problem}".strip()


def argument_for(ask: PersonVariable) -> str:
    """Return the argument of dap_run by which a caller answers a missing variable, for a text."""
    leaf = ask.field.partition(".")[2] if ask.key == "connect" else ask.key
    known = leaf in INPUTS or leaf in {"args", "env"}
    return f"`{INPUTS.get(leaf, leaf)}`" if known else f"`config` with {ask.key}"


def read_project(
    project: Path, answers: Mapping[str, str] = MappingProxyType({})
) -> KnownConfigurations:
    """Return the configurations of the project's launch.json, with its tasks.json; none without the file.

    It reads files, and blocks meanwhile. `answers` are what a caller says for `${input:…}`, and `file` for the file in an editor.
    Where a file cannot be read, `problem` says why; nothing is raised.
    """
    path, around = project / LAUNCH_JSON, _variable_values(project, answers)
    try:
        file = parse(foreign_files.read_bytes(path))
    except FileNotFoundError:
        return KnownConfigurations((), {})
    except OSError as error:
        return KnownConfigurations((), {}, f"{path}: {error.strerror}.")
    except MalformedJson as error:
        return KnownConfigurations((), {}, f"{path}:{error.line}:{error.column}: {error.problem}.")
    found = tuple(_read(each, around, file.inputs) for each in file.configurations)
    tasks, problem = _tasks(project, around, file, found)
    return KnownConfigurations(found, file.compounds, problem, tasks, around)


def _tasks(
    project: Path, variable_values: VariableValues, file: LaunchFile, found: Sequence[Configuration]
) -> tuple[TasksFile, str]:
    """Return the project's tasks, with scripts of package.json that `found` or compounds name.

    It reads tasks.json, and package.json for tasks `npm: SCRIPT` that are not in tasks.json; a script that
    is not found is left out. `file` is the project's launch.json, whose inputs the result has, too, unless
    tasks.json has one of the same name; `found` are its configurations, and `variable_values` names the
    platform. The second part says why tasks.json could not be read; empty if it was, or does not exist.
    """
    path = project / TASKS_JSON
    problem, known = "", TasksFile({}, {})
    try:
        known = parse_tasks(foreign_files.read_bytes(path), variable_values.platform)
    except FileNotFoundError:
        pass
    except OSError as error:
        problem = f"{path}: {error.strerror}."
    except MalformedJson as error:
        problem = f"{path}:{error.line}:{error.column}: {error.problem}."
    wanted = {*(each.task for each in file.compounds.values())}
    wanted |= {label for each in found for label in (each.task, each.task_after)}
    scripts = {label: _script(project, label) for label in wanted - known.tasks.keys()}
    more = {label: each for label, each in scripts.items() if each is not None}
    inputs = {**file.inputs, **known.inputs}
    return TasksFile({**known.tasks, **more}, inputs), problem


def _script(project: Path, label: str) -> Json | None:
    """Return the task for the label `npm: SCRIPT`, from the project's package.json.

    None for another label, and if package.json cannot be read or has no such script.
    """
    if not label.startswith("npm: "):
        return None
    try:
        package, _ = read_object(foreign_files.read_bytes(project / "package.json"))
    except (OSError, MalformedJson):
        return None
    return npm_task(label, package, str(project))


def configurations_of_neovim(sent: Sequence[Json], project: Path) -> tuple[Configuration, ...]:
    """Return the `dap.configurations` that Neovim has sent, with their variables filled in."""
    return tuple(_from_neovim(each, _variable_values(project)) for each in sent)


def merge_configurations(
    project: KnownConfigurations, neovim: Sequence[Configuration]
) -> KnownConfigurations:
    """Return the project's configurations with those of Neovim behind them, without copies.

    A copy has the name, type and request of an earlier one in that order, and comes from another place
    (`origin`), or has equal values; the earlier one is kept. There are copies since nvim-dap reads
    launch.json, too. The rest of `project` stays as it is, in a new object.
    """
    known: dict[tuple[str, str, str], list[Configuration]] = {}
    kept: list[Configuration] = []
    for each in (*project.configurations, *neovim):
        like = known.setdefault((each.name, each.type, each.request), [])
        copied = any(
            other.origin != each.origin
            or (other.values, other.person_variables) == (each.values, each.person_variables)
            for other in like
        )
        if not copied:
            like.append(each)
            kept.append(each)
    return replace(project, configurations=tuple(kept))


def _read(written: Json, variable_values: VariableValues, inputs: Json) -> Configuration:
    """Return a configuration of launch.json with this platform's keys and its variables filled in.

    `written` is the configuration as the file has it, with the texts `name`, `type` and `request`.
    `variable_values` has the values of variables, and the platform. `inputs` are the questions of the file, by
    id. A variable that only a person or an editor knows stays as it is written, and is listed in
    `person_variables`; keys that only an editor reads are left out of `values`. The tasks and the
    `serverReadyAction` are kept beside them, with variables as they are written; an invalid `serverReadyAction`
    is ignored. Nobody is asked.
    """
    own = for_platform(written, variable_values.platform)
    values, asks = fill_variables(_without_editor_keys(own), variable_values, inputs)
    # A debugger that picks a process as it attaches needs no question where the process is given.
    return Configuration(
        own["name"],
        own["type"],
        own["request"],
        "launch.json",
        values,
        asks,
        task=label_in(own.get("preLaunchTask")),
        task_after=label_in(own.get("postDebugTask")),
        ready=_ready_condition(as_object(own.get("serverReadyAction"))),
    )


def _ready_condition(action: Json) -> ReadyCondition:
    """Return the condition on a server's output that a configuration's `serverReadyAction` states.

    `action` is that object. Its `pattern` is a regular expression (by default one for a line such as
    `listening on port 8000`) and becomes `output`; its `uriFormat` becomes `url`. If `action` is empty, or
    the pattern is invalid or too long, a `ReadyCondition` without a condition is returned: each trigger then
    waits as it needs by itself.
    """
    pattern, url = str(action.get("pattern") or ""), str(action.get("uriFormat") or "")
    usual = "" if not action else r"listening on.* (https?://\S+|[0-9]+)"
    try:
        return ReadyCondition(
            output=checked_pattern(pattern or usual, "`serverReadyAction`"), url=url
        )
    except ArgumentError:
        return ReadyCondition()


def _from_neovim(sent: Json, variable_values: VariableValues) -> Configuration:
    """Return a configuration from what Neovim sent, with its variables filled in.

    `sent` has `name`, `type`, `request`, `filetype`, `config` (an object) and `asks` (texts `FIELD:
    DESCRIPTION`, what Neovim would ask the person). Keys that only an editor reads are left out of `config`.
    `variable_values` has the values of variables; those that only an editor or a person knows stay as they are
    written, and are named in the result's `person_variables`, behind those of `asks`.
    """
    values, asks = fill_variables(
        _without_editor_keys(_with_object_env(sent["config"])), variable_values, {}
    )
    questions = tuple(_ask_from_neovim(text) for text in sent["asks"])
    facts = (sent["name"], sent["type"], sent["request"], NVIM, values)
    return Configuration(*facts, (*questions, *asks), sent["filetype"])


def _variable_values(
    project: Path, answers: Mapping[str, str] = MappingProxyType({})
) -> VariableValues:
    """Return the values of variables in a project's files; `answers` are what a caller says for them."""
    platform = {"win32": "windows", "darwin": "osx"}.get(sys.platform, "linux")
    return VariableValues(
        str(project), folder_names.home(), starter_environment(), platform, answers
    )


def _without_editor_keys(values: Json) -> dict[str, Any]:
    """Return a configuration without the keys that only an editor reads."""
    return {key: value for key, value in values.items() if key not in _OF_THE_EDITOR}


def _with_object_env(values: Json) -> Json:
    """Return keys with an empty `env` as an object, not a list: Lua cannot tell an empty one of either."""
    return {**values, "env": {}} if values.get("env") == [] else values


def _ask_from_neovim(text: str) -> PersonVariable:
    """Return a missing variable from Neovim's text `FIELD: DESCRIPTION`; without a colon it has no field."""
    field, colon, wants = text.partition(": ")
    return PersonVariable(field, wants) if colon else PersonVariable("", text)


def _is_answered(ask: PersonVariable, inputs: Json, config: Json) -> bool:
    """Return whether the caller gives the value of a configuration that only a person could fill in.

    `ask` names the value, `inputs` are the caller's arguments of dap_run, `config` are the caller's own keys of the
    configuration. A key in `config` always counts. Otherwise the argument of the same meaning (by `INPUTS`, else of
    the same name) has to be in `inputs`. For a member of `env` this is the variable in `inputs["env"]`; for a
    member of `connect` it is the argument with the member's name, such as `port`. What the value is does not
    matter.
    """
    if ask.key in config:
        return True
    if ask.key in {"env", "connect"}:
        given: Json = (inputs.get("env") or {}) if ask.key == "env" else inputs
        return ask.field.partition(".")[2] in given
    return INPUTS.get(ask.key, ask.key) in inputs
