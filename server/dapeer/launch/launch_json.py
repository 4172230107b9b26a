"""Reads `.vscode/launch.json`, JSON with comments as VS Code's files have it, and `envFile`s. Pure.

A configuration's values hold variables such as `${workspaceFolder}`; some of them can only be known in an editor, or from the
person: those a configuration *asks* for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from dapeer.base.json_types import Json, as_array, as_object, is_array, is_object

# JSON with comments and trailing commas, as VS Code has it.

_STRING = r'"(?:\\.|[^"\\\n])*+"'
_STRING_OR_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")
_STRING_OR_BRACKET = re.compile(rf"({_STRING})|[{{}}\[\],]")


class MalformedJson(ValueError):
    """A file that cannot be read, and where: line and column count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


def read_object(data: bytes) -> tuple[Json, str]:
    """Return the JSON object that a file's bytes hold, and the file's text.

    Comments and trailing commas are allowed.

    Raises:
        MalformedJson: It is no JSON object, or no UTF-8.
    """
    text = _decoded(data)
    return _loads(text), text


def _decoded(data: bytes) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        MalformedJson: It is no UTF-8; `column` counts bytes, not characters.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start])
        column = len(before) - before.rfind(b"\n")
        raise MalformedJson("this is not UTF-8", before.count(b"\n") + 1, column) from error


def _plain(text: str) -> str:
    """Return a text with spaces in place of comments and trailing commas, so that positions stay the same."""

    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"[^\n]", " ", found[0])

    return _STRING_OR_LAST_COMMA.sub(blank, _STRING_OR_COMMENT.sub(blank, text))


def _loads(text: str) -> Json:
    """Return the object that a text of JSON with comments and trailing commas holds.

    `NaN` and `Infinity` are taken as numbers.

    Raises:
        MalformedJson: It is no JSON or no object, is nested too deeply, or has a number with too many
            digits. Only if it is no JSON, the error has the place; else line and column are 1.
    """
    try:
        top: object = json.loads(_plain(text))
    except json.JSONDecodeError as error:
        raise MalformedJson(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise MalformedJson("this is nested too deeply", 1, 1) from error
    except ValueError as error:
        raise MalformedJson("a number has too many digits", 1, 1) from error
    if not is_object(top):
        raise MalformedJson("this must be an object", 1, 1)
    return top


def list_of(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return as_array(value)


def objects_at(top: Json, key: str, text: str) -> list[Json]:
    """Return the list of objects at a top-level key of a file; empty if the key is absent.

    `text` is the file's text, in which the place of an error is found.

    Raises:
        MalformedJson: The value is no list of objects.
    """
    value = top.get(key, [])
    if not is_array(value):
        raise MalformedJson(f"`{key}` must be a list", *_place(text, text.find(f'"{key}"')))
    for index, each in enumerate(value):
        if not is_object(each):
            raise MalformedJson(f"{key}[{index}] must be an object", *start_of(text, key, index))
    return value


def start_of(text: str, key: str, index: int) -> tuple[int, int]:
    """Return line and column, from 1, where an item of a top-level list begins in a file's text.

    `key` is the list's key, `index` the item's number from 0. The text must have this item: else the place that is returned means nothing.
    """
    plain = _plain(text)
    depth = items = 0
    at = found_key = -1
    for token in _STRING_OR_BRACKET.finditer(plain):
        if depth == 1 and token[0] == f'"{key}"':
            found_key = token.end()
        elif token[0] in "{[":
            depth += 1
            at = token.end() if depth == 2 and found_key > 0 > at else at
        elif token[0] in "}]":
            depth -= 1
        elif token[0] == "," and depth == 2 and at > 0 and items < index:
            items += 1
            at = token.end()
        if at > 0 and items == index:
            break
    return _place(plain, at + len(plain[at:]) - len(plain[at:].lstrip()))


def _place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an index in a text; a negative index counts as 0."""
    before = text[: max(offset, 0)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


# Reads an `envFile`: `NAME=value` lines, as dotenv has them. Pure.

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*"""
    r"""(?:'([^']*)'|"((?:\\.|[^"\\])*)"|([^\r\n#]*(?:(?<![ \t])#[^\r\n#]*)*))[ \t]*(?:\#[^\r\n]*)?$""",
    re.MULTILINE,
)
_NAMED = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_ESCAPED_OR_NAMED = re.compile(rf"\\(.)|{_NAMED.pattern}")
_ESCAPED: Final[Mapping[str, str]] = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(text: str, environment: Mapping[str, str]) -> dict[str, str]:
    r"""Return the variables of an `envFile` by name, from its text; other lines are skipped.

    `${NAME}` in a value stands for a variable above, or else for one of `environment`, or else for nothing;
    in single quotes it stays as it is. In double quotes a backslash escapes the next character. A value in
    quotes may have several lines. Of equal names the last counts.

    >>> read_env_file("A=1 # one\nexport B='a b'\nC=\"${A}\\n\"\n# D=2\nE = x#y", {})
    {'A': '1', 'B': 'a b', 'C': '1\n', 'E': 'x#y'}
    >>> read_env_file(r'A="\${HOME}"', {"HOME": "/me"})
    {'A': '${HOME}'}
    """
    found: dict[str, str] = {}

    def known(name: str) -> str:
        """Return the value of a variable; empty if it is unknown."""
        return found.get(name, environment.get(name, ""))

    for line in _LINE.finditer(text):
        name, single, double, plain = line.groups()
        if single is not None:
            found[name] = single
        elif double is not None:
            found[name] = _ESCAPED_OR_NAMED.sub(
                lambda each: _ESCAPED.get(each[1], each[1]) if each[1] else known(each[2]), double
            )
        else:
            found[name] = _NAMED.sub(lambda each: known(each[1]), plain.strip())
    return found


# What the file says.

PLATFORMS = ("windows", "osx", "linux")
IN_EDITOR = frozenset({
    "file", "fileBasename", "fileBasenameNoExtension", "fileDirname", "fileDirnameBasename",
    "fileExtname", "relativeFile", "relativeFileDirname",
})  # fmt: skip
"""Variables for the file in the editor; nvim-dap knows these."""
_ASKING = IN_EDITOR | {
    "fileWorkspaceFolder", "lineNumber", "columnNumber", "selectedText",
    "execPath", "extensionInstallFolder", "defaultBuildTask",
}  # fmt: skip
_ASKING_KINDS = frozenset({"command", "config", "input"})
"""The kind of a variable: the part before the colon in `${command:pickProcess}`."""
_PICKS_PROCESS = frozenset({"pickProcess", "PickProcess", "pickRemoteProcess", "pickNodeProcess"})
"""The ends of commands by which a person chooses a process."""

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")


class PersonVariable(NamedTuple):
    """A variable that a configuration needs, and that only a person can fill in."""

    field: str
    """Dotted path of the value: `program`, `env.TOKEN`, `args[0]`."""
    description: str
    """The variable with its description: `${input:port} (which port? default 80)`."""
    variable: str = ""
    """The variable's name, such as `file` or `input:port`; empty if it is none."""

    @property
    def key(self) -> str:
        """The key of the configuration that holds the value."""
        return re.split(r"[.\[]", self.field, maxsplit=1)[0]

    @property
    def input(self) -> str:
        """The key by which the tools' argument `inputs` answers this variable; empty: `inputs` cannot."""
        kind, colon, name = self.variable.partition(":")
        if kind == "input" and colon:
            return name
        return "file" if self.variable in IN_EDITOR else ""

    def __str__(self) -> str:
        return f"{self.field}: {self.description}" if self.field else self.description


@dataclass(frozen=True, slots=True)
class VariableValues:
    """The values of variables, and the platform whose keys apply."""

    folder: str
    """Absolute path of the project."""
    home: str
    environment: Mapping[str, str]
    platform: str
    """`windows`, `osx` or `linux`."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a caller has answered, by the ids of inputs; `file` is the file in the editor."""


@dataclass(frozen=True, slots=True)
class Compound:
    """A name for several configurations that are started together."""

    name: str
    members: tuple[str, ...]
    stop_all: bool = False
    """The end of one ends all."""
    task: str = ""
    """The task that runs before."""


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A launch.json, read."""

    configurations: tuple[Json, ...]
    """As they are written, each with the texts `name`, `type` and `request`."""
    inputs: Json
    """The `inputs` of the file by id: the questions of `${input:id}`."""
    compounds: Mapping[str, Compound]
    """Names for several configurations that are started together."""


def parse(data: bytes) -> LaunchFile:
    """Return the configurations, inputs and compounds of a launch.json, as they are written there.

    `data` are the file's bytes, in UTF-8; comments and trailing commas are allowed. Inputs are by id, compounds
    by name; of equal ids or names the last counts, and a compound without a name, or with an empty one, is left out. A
    missing list counts as empty.

    Raises:
        MalformedJson: It is no JSON object or no UTF-8; `configurations`, `inputs` or `compounds` is no list of
            objects; or a configuration lacks a text at `name`, `type` or `request`, or that is empty.
    """
    top, text = read_object(data)
    configurations = objects_at(top, "configurations", text)
    for index, each in enumerate(configurations):
        _check(each, text, index)
    compounds = {
        name: _compound(name, each)
        for each in objects_at(top, "compounds", text)
        if isinstance(name := each.get("name"), str) and name
    }
    return LaunchFile(tuple(configurations), inputs_of(top, text), compounds)


def inputs_of(top: Json, text: str) -> dict[str, Json]:
    """Return the `inputs` of a file by their ids.

    Raises:
        MalformedJson: They are no list of objects.
    """
    return {str(each.get("id")): each for each in objects_at(top, "inputs", text)}


def _compound(name: str, written: Json) -> Compound:
    """Return a compound of launch.json by its `name`, from `written`, as the file has it.

    Its members (`configurations`) may be names, or objects with a `name`; any other member becomes its text, which names no configuration.
    Without a list there are no members, and `stopAll` counts only if it is true. A `preLaunchTask` that is no text is ignored. Nothing is
    raised.
    """
    members = [
        str(each.get("name") if is_object(each) else each)
        for each in list_of(written.get("configurations"))
    ]
    task = written.get("preLaunchTask")
    stop_all = written.get("stopAll") is True
    return Compound(name, tuple(members), stop_all, task if isinstance(task, str) else "")


def for_platform(configuration: Json, platform: str) -> dict[str, Any]:
    """Return a configuration with this platform's keys over its general ones, and no other platform's.

    `platform` is `windows`, `osx` or `linux`.

    >>> for_platform({"program": "a", "osx": {"program": "b"}, "linux": {"program": "c"}}, "linux")
    {'program': 'c'}
    """
    plain = {key: value for key, value in configuration.items() if key not in PLATFORMS}
    return {**plain, **as_object(configuration.get(platform))}


def fill_variables(
    configuration: Json, variable_values: VariableValues, inputs: Json
) -> tuple[dict[str, Any], tuple[PersonVariable, ...]]:
    """Return a configuration with its variables filled in at any depth, and the missing variables.

    Missing ones are those that only an editor or a person knows and `variable_values` does not have, once for each
    time they are written; these, and unknown ones, stay as they are written. An environment variable that is not
    set is empty. Keys are not filled in. The configuration given stays as it is. `variable_values` has the values
    of variables, `inputs` are the questions of the file, by id.
    """
    asks: list[PersonVariable] = []

    def fill(value: object, field: str) -> object:
        """Return a value with its variables filled in, and add what is missing in it to `asks`.

        `field` is where the value stands in the configuration, such as `env.PATH` or `args[0]`.
        """
        match value:
            case str():
                asks.extend(_missing_variables(value, field, variable_values, inputs))
                return _VARIABLE.sub(
                    lambda found: _value_of_variable(found[1], variable_values), value
                )
            case _ if is_object(value):
                return {key: fill(item, f"{field}.{key}") for key, item in value.items()}
            case _ if is_array(value):
                return [fill(item, f"{field}[{index}]") for index, item in enumerate(value)]
            case _:
                return value

    return {key: fill(value, key) for key, value in configuration.items()}, tuple(asks)


def _value_of_variable(variable: str, variable_values: VariableValues) -> str:
    """Return the value of a variable, given without `${}`; if it is unknown, `${VARIABLE}` itself.

    `variable_values` has what variables stand for. An environment variable that is not set is empty.
    """
    folder = PurePath(variable_values.folder)
    kind, colon, name = variable.partition(":")
    if kind == "env" and colon:
        return variable_values.environment.get(name, "")
    if kind == "input" and colon and name in variable_values.answers:
        return variable_values.answers[name]
    separator = "\\" if variable_values.platform == "windows" else "/"
    values: dict[str, Callable[[], str]] = {
        "workspaceFolder": lambda: str(folder),
        f"workspaceFolder:{folder.name}": lambda: str(folder),
        "workspaceRoot": lambda: str(folder),
        "workspaceFolderBasename": lambda: folder.name,
        "cwd": lambda: str(folder),
        "userHome": lambda: variable_values.home,
        "pathSeparator": lambda: separator,
        "/": lambda: separator,
        **_editor_file_variables(variable_values),
    }
    return values.get(variable, lambda: f"${{{variable}}}")()


def _editor_file_variables(variable_values: VariableValues) -> dict[str, Callable[[], str]]:
    """Return functions that return the values of the variables for the file in the editor, by variable.

    The dict is empty if the caller has not named that file (`answers["file"]`, absolute or relative to `folder`).
    Whether the file exists is not checked. For an absolute path outside of `folder`, `relativeFile` is that path.
    `fileWorkspaceFolder` is `folder`.
    """
    if "file" not in variable_values.answers:
        return {}
    folder = PurePath(variable_values.folder)
    file = folder / variable_values.answers["file"]
    relative = file.relative_to(folder) if file.is_relative_to(folder) else file
    return {
        "file": lambda: str(file),
        "fileBasename": lambda: file.name,
        "fileBasenameNoExtension": lambda: file.stem,
        "fileDirname": lambda: str(file.parent),
        "fileDirnameBasename": lambda: file.parent.name,
        "fileExtname": lambda: file.suffix,
        "fileWorkspaceFolder": lambda: str(folder),
        "relativeFile": lambda: str(relative),
        "relativeFileDirname": lambda: str(relative.parent),
    }


def _missing_variables(
    text: str, field: str, surroundings: VariableValues, inputs: Json
) -> Iterator[PersonVariable]:
    """Yield the variables in a text that only an editor or a person knows, and that nobody has answered.

    Each result has `field`, the variable's name, and its description for a person, such as `${input:port}
    (which port?)`; a variable that stands there twice comes twice. `surroundings` has what variables stand for,
    and the answers to questions. `field` is the dotted path of the text in its configuration, `inputs` are the
    questions of the file, by id. Another folder of an editor's workspace (`${workspaceFolder:NAME}`) is among
    these variables.
    """
    for found in _VARIABLE.finditer(text):
        variable = found[1]
        kind, colon, name = variable.partition(":")
        is_answered = _value_of_variable(variable, surroundings) != found[0]
        elsewhere = kind == "workspaceFolder"
        if is_answered or not (
            variable in _ASKING or (colon and (kind in _ASKING_KINDS or elsewhere))
        ):
            continue
        more = _input_description(inputs.get(name)) if kind == "input" else ""
        if kind == "command" and name.rpartition(".")[2] in _PICKS_PROCESS:
            more = " (give `pid`: the process to attach to)"
        yield PersonVariable(field, f"{found[0]}{more}", variable)


def _input_description(described: object) -> str:
    """Return in parentheses what an input asks: its question, its options, its default; "" for nothing.

    The text begins with a space. `described` is the entry of the file's `inputs`. If it is no object, such as
    None where the file has none, the text says that; if it is of the type `command`, the text first says that
    this is not supported.
    """
    if not is_object(about := described):
        return " (not among the file's inputs)"
    options = [
        str(option.get("value")) if is_object(option) else str(option)
        for option in list_of(about.get("options"))
    ]
    parts = (
        "inputs of type `command` are not supported" if about.get("type") == "command" else "",
        str(about.get("description") or ""),
        f"one of {', '.join(options)}" if options else "",
        f"default {about['default']}" if about.get("default") else "",
    )
    description = "; ".join(part for part in parts if part)
    return f" ({description})" if description else ""


def _check(configuration: Json, text: str, index: int) -> None:
    """Check that a configuration has the texts `name`, `type` and `request`.

    `text` and `index`, its place in the file, are for the error.

    Raises:
        MalformedJson: One is missing.
    """
    for key in ("name", "type", "request"):
        value = configuration.get(key)
        if not isinstance(value, str) or not value:
            what = f"configurations[{index}] needs a string at `{key}`"
            raise MalformedJson(what, *start_of(text, "configurations", index))
