"""The configurations that a person can start by name: those of launch.json and of Neovim."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.base.system import folder_names, foreign_files
from dapeer.base.system.environment import of_starter
from dapeer.launch import keys
from dapeer.launch.launch_json import (
    IN_EDITOR,
    Ask,
    MalformedLaunchJson,
    Surroundings,
    lifted,
    parse,
    resolved,
)

LAUNCH_JSON = ".vscode/launch.json"
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
    asks: tuple[Ask, ...] = ()
    """The variables that only the person can fill in."""
    filetype: str = ""
    """Under which Neovim keeps it."""

    @property
    def title(self) -> str:
        """Name it so that it differs from others of its name."""
        return f"{self.name} ({self.type}, {self.origin})"

    def left_to_ask(self, inputs: Json, config: Json, *, in_neovim: bool) -> tuple[Ask, ...]:
        """Return the missing variables when these arguments and keys are given.

        Neovim knows the current file, and dapeer knows the Python.
        """
        return tuple(
            ask
            for ask in self.asks
            if not _answered(ask, inputs, config)
            and not (in_neovim and ask.variable in IN_EDITOR)
            and not (not in_neovim and ask.key in keys.INTERPRETERS)
        )

    def split(self, inputs: Json, config: Json) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return dap_run's arguments and the adapter's keys: the configuration's, replaced by those given.

        Which terminal the program should run in is left out: `terminal` says whether it needs one.
        """
        asking = {ask.key for ask in self.asks} & keys.INTERPRETERS
        own, rest = keys.split(
            {key: value for key, value in self.values.items() if key not in asking}, self.request
        )
        merged = {**keys.without_targets(own, inputs), **inputs}
        if "env" in own and "env" in inputs:
            merged["env"] = {**own["env"], **inputs["env"]}
        return merged, {**keys.without_targets(rest, inputs), **config}

    def keys(self, inputs: Json, config: Json) -> dict[str, Any]:
        """Return these arguments as keys of this configuration, for its adapter."""
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
        mine = (*self.values, *(ask.key for ask in self.asks))
        usual = {"pid": "processId", "stop_on_entry": "stopOnEntry"}.get(argument, argument)
        return next((key for key in mine if keys.INPUTS.get(key) == argument), usual)


@dataclass(frozen=True, slots=True)
class KnownConfigurations:
    """The configurations that there are."""

    configurations: tuple[Configuration, ...]
    compounds: Mapping[str, tuple[str, ...]]
    """Names for several configurations that a person starts together."""
    problem: str = ""
    """Why launch.json could not be read: file, line and column."""

    def named(self, name: str, kind: str | None) -> Configuration:
        """Return the one of this name, and of this type if one is given.

        Raises:
            ArgumentError: There is no such configuration, or more than one.
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
            members = ", ".join(self.compounds[name])
            raise ArgumentError(f"`{name}` is a compound of: {members}.", "Start them one by one.")
        raise ArgumentError(f"There is no configuration `{name}`.", self._names())

    def _names(self) -> str:
        listed = ", ".join(dict.fromkeys(each.name for each in self.configurations[:20]))
        return f"There are: {listed or 'none'}. {self.problem}".strip()


def argument_for(ask: Ask) -> str:
    """Return which argument of dap_run answers an ask."""
    leaf = ask.field.partition(".")[2] if ask.key == "connect" else ask.key
    known = leaf in keys.INPUTS or leaf in {"args", "env"}
    return f"`{keys.INPUTS.get(leaf, leaf)}`" if known else f"`config` with {ask.key}"


def in_project(project: Path) -> KnownConfigurations:
    """Read the project's launch.json; without one there is nothing. Blocks while it reads."""
    path = project / LAUNCH_JSON
    try:
        file = parse(foreign_files.read_bytes(path))
    except FileNotFoundError:
        return KnownConfigurations((), {})
    except OSError as error:
        return KnownConfigurations((), {}, f"{path}: {error.strerror}.")
    except MalformedLaunchJson as error:
        return KnownConfigurations((), {}, f"{path}:{error.line}:{error.column}: {error.what}.")
    found = (_read(each, _around(project), file.inputs) for each in file.configurations)
    return KnownConfigurations(tuple(found), file.compounds)


def in_neovim(sent: Sequence[Json], project: Path) -> tuple[Configuration, ...]:
    """Return the `dap.configurations` that Neovim has sent."""
    return tuple(_from_neovim(each, _around(project)) for each in sent)


def together(project: KnownConfigurations, neovim: Sequence[Configuration]) -> KnownConfigurations:
    """Return both lists; what Neovim has read from launch.json, or lists twice, counts once."""
    known: dict[tuple[str, str, str], list[Configuration]] = {}
    kept: list[Configuration] = []
    for each in (*project.configurations, *neovim):
        like = known.setdefault((each.name, each.type, each.request), [])
        copied = any(
            other.origin != each.origin or (other.values, other.asks) == (each.values, each.asks)
            for other in like
        )
        if not copied:
            like.append(each)
            kept.append(each)
    return replace(project, configurations=tuple(kept))


def _read(written: Json, around: Surroundings, inputs: Json) -> Configuration:
    own = lifted(written, around.platform)
    values, asks = resolved(_own(own), around, inputs)
    return Configuration(own["name"], own["type"], own["request"], "launch.json", values, asks)


def _from_neovim(sent: Json, around: Surroundings) -> Configuration:
    values, asks = resolved(_own(_normal(sent["config"])), around, {})
    questions = tuple(_ask_from_neovim(text) for text in sent["asks"])
    facts = (sent["name"], sent["type"], sent["request"], NVIM, values)
    return Configuration(*facts, (*questions, *asks), sent["filetype"])


def _around(project: Path) -> Surroundings:
    platform = {"win32": "windows", "darwin": "osx"}.get(sys.platform, "linux")
    return Surroundings(str(project), folder_names.home(), of_starter(), platform)


def _own(values: Json) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in _OF_THE_EDITOR}


def _normal(values: Json) -> Json:
    """Return it with `env` as an object: Lua cannot tell an empty list from an empty table."""
    return {**values, "env": {}} if values.get("env") == [] else values


def _ask_from_neovim(text: str) -> Ask:
    field, colon, wants = text.partition(": ")
    return Ask(field, wants) if colon else Ask("", text)


def _answered(ask: Ask, inputs: Json, config: Json) -> bool:
    if ask.key in config:
        return True
    if ask.key in {"env", "connect"}:
        given: Json = (inputs.get("env") or {}) if ask.key == "env" else inputs
        return ask.field.partition(".")[2] in given
    return keys.INPUTS.get(ask.key, ask.key) in inputs
