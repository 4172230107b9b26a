"""The keys of a configuration, and the arguments of dap_run with the same meaning. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from dapeer.adapters.definition.definition import TARGETS
from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json, as_object, is_array, is_object

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


def without_targets(own: Json, inputs: Json) -> Json:
    """Return a configuration's arguments without those that say what to run, if `inputs` has one of them.

    `inputs` are the caller's arguments: another program then replaces the configuration's.
    """
    if not inputs.keys() & {*TARGETS}:
        return own
    return {key: value for key, value in own.items() if key not in TARGETS}


CORRECT = "Fix the configuration, or pass the argument to dap_run."


def split(values: Json, request: str = "launch") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two dicts: the arguments of dap_run in a configuration's values, and its other keys.

    `request` is `launch` or `attach`. Keys that choose a terminal are in neither.

    Raises:
        ArgumentError: A key has a value of the wrong type.
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
            inputs |= value
        elif key == "target" and is_object(value):
            # Where `gdbtarget` would start a gdbserver for a program, its debugger runs the program itself.
            inputs |= _remote(value) if request == "attach" else {}
        elif argument and not isinstance(value, list | Mapping):
            inputs[argument] = _number(value) if argument in {"pid", "port"} else value
        elif key not in _TERMINALS:
            rest[key] = value
    return inputs, rest


def _remote(target: Json) -> dict[str, Any]:
    """Return `host` and `port` of the gdbserver in a `target` of `gdbtarget`; empty if no port is given."""
    written = target.get("parameters")
    host, _, port = str(written[0] if is_array(written) and written else "").rpartition(":")
    named = {"host": target.get("host", host), "port": _number(target.get("port", port))}
    return {
        name: value for name, value in named.items() if value and isinstance(named["port"], int)
    }


def _words(value: object) -> list[str]:
    """Return the arguments of a program, written as a list or as a shell has them; empty for None.

    Raises:
        ArgumentError: They are neither, or quotes are not closed.
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

    Raises:
        ArgumentError: The value is neither.
    """
    if is_array(value):
        named = [each for each in value if is_object(each)]
        return {str(each["name"]): str(each.get("value", "")) for each in named if "name" in each}
    if value and not is_object(value):
        raise ArgumentError("`env` of the configuration must be an object.", CORRECT)
    table = as_object(value)
    return {name: str(each) for name, each in table.items() if each is not None}


def _number(value: object) -> object:
    """Return a text of digits as a number, anything else as it is."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value
