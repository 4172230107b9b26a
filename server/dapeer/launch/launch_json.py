"""Reads `.vscode/launch.json`. Pure.

It is JSON with comments and trailing commas. Its values hold variables such as `${workspaceFolder}`;
some of them can only be known in an editor, or from the person: those a configuration *asks* for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from dapeer.base.json_types import Json, as_array, as_object, is_array, is_object

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

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_STRING = r'"(?:\\.|[^"\\\n])*+"'
_STRING_OR_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")
_STRING_OR_BRACKET = re.compile(rf"({_STRING})|[{{}}\[\],]")


class MalformedLaunchJson(ValueError):
    """A launch.json that cannot be read, and where: line and column count from 1."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.column = column


class Ask(NamedTuple):
    """A variable that a configuration needs, and that only a person can fill in."""

    field: str
    """Dotted path of the value: `program`, `env.TOKEN`, `args[0]`."""
    wants: str
    """The variable with its description: `${input:port} (which port? default 80)`."""
    variable: str = ""
    """The variable's name, such as `file` or `input:port`; empty if it is none."""

    @property
    def key(self) -> str:
        """The key of the configuration that holds the value."""
        return re.split(r"[.\[]", self.field, maxsplit=1)[0]

    def __str__(self) -> str:
        return f"{self.field}: {self.wants}" if self.field else self.wants


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The values of variables, and the platform whose keys apply."""

    folder: str
    """Absolute path of the project."""
    home: str
    environment: Mapping[str, str]
    platform: str
    """`windows`, `osx` or `linux`."""


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A launch.json, read."""

    configurations: tuple[Json, ...]
    """As they are written, each with the texts `name`, `type` and `request`."""
    inputs: Json
    """The `inputs` of the file by id: the questions of `${input:id}`."""
    compounds: Mapping[str, tuple[str, ...]]
    """Names for several configurations that are started together."""


def parse(data: bytes) -> LaunchFile:
    """Read a launch.json.

    Raises:
        MalformedLaunchJson: It is no JSON even with comments and trailing commas allowed, or not made as a
            launch.json is.
    """
    text = _decoded(data)
    top = _loads(text)
    configurations = _objects(top, "configurations", text)
    for index, each in enumerate(configurations):
        _check(each, text, index)
    inputs = {str(each.get("id")): each for each in _objects(top, "inputs", text)}
    compounds = {
        str(each.get("name")): tuple(map(str, _list(each.get("configurations"))))
        for each in _objects(top, "compounds", text)
    }
    return LaunchFile(tuple(configurations), inputs, compounds)


def lifted(configuration: Json, platform: str) -> dict[str, Any]:
    """Return a configuration with this platform's keys at its top level, and no other platform's.

    >>> lifted({"program": "a", "osx": {"program": "b"}, "linux": {"program": "c"}}, "linux")
    {'program': 'c'}
    """
    plain = {key: value for key, value in configuration.items() if key not in PLATFORMS}
    return {**plain, **as_object(configuration.get(platform))}


def resolved(
    configuration: Json, surroundings: Surroundings, inputs: Json
) -> tuple[dict[str, Any], tuple[Ask, ...]]:
    """Return a configuration with its known variables filled in, and the missing ones.

    Missing and unknown variables stay as they are written.
    """
    asks: list[Ask] = []

    def fill(value: object, field: str) -> object:
        match value:
            case str():
                asks.extend(_asks(value, field, surroundings, inputs))
                return _VARIABLE.sub(lambda found: _known(found[1], surroundings), value)
            case _ if is_object(value):
                return {key: fill(item, f"{field}.{key}") for key, item in value.items()}
            case _ if is_array(value):
                return [fill(item, f"{field}[{index}]") for index, item in enumerate(value)]
            case _:
                return value

    return {key: fill(value, key) for key, value in configuration.items()}, tuple(asks)


def _known(variable: str, surroundings: Surroundings) -> str:
    """Return the value of a variable, or the variable itself."""
    folder = PurePath(surroundings.folder)
    kind, colon, name = variable.partition(":")
    if kind == "env" and colon:
        return surroundings.environment.get(name, "")
    separator = "\\" if surroundings.platform == "windows" else "/"
    values: dict[str, Callable[[], str]] = {
        "workspaceFolder": lambda: str(folder),
        f"workspaceFolder:{folder.name}": lambda: str(folder),
        "workspaceRoot": lambda: str(folder),
        "workspaceFolderBasename": lambda: folder.name,
        "cwd": lambda: str(folder),
        "userHome": lambda: surroundings.home,
        "pathSeparator": lambda: separator,
        "/": lambda: separator,
    }
    return values.get(variable, lambda: f"${{{variable}}}")()


def _asks(text: str, field: str, surroundings: Surroundings, inputs: Json) -> Iterator[Ask]:
    for found in _VARIABLE.finditer(text):
        variable = found[1]
        kind, colon, name = variable.partition(":")
        elsewhere = kind == "workspaceFolder" and _known(variable, surroundings) == found[0]
        if variable in _ASKING or (colon and (kind in _ASKING_KINDS or elsewhere)):
            more = _input(inputs.get(name)) if kind == "input" else ""
            yield Ask(field, f"{found[0]}{more}", variable)


def _input(described: object) -> str:
    """Return in parentheses what an input asks: its question, its options, its default."""
    if not is_object(about := described):
        return " (not among the file's inputs)"
    options = [
        str(option.get("value")) if is_object(option) else str(option)
        for option in _list(about.get("options"))
    ]
    parts = (
        str(about.get("description", "")),
        f"one of {', '.join(options)}" if options else "",
        f"default {about['default']}" if about.get("default") else "",
    )
    description = "; ".join(part for part in parts if part)
    return f" ({description})" if description else ""


# -- reading


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before) - before.rfind(b"\n")
        raise MalformedLaunchJson("this is not UTF-8", before.count(b"\n") + 1, column) from error


def _plain(text: str) -> str:
    """Return JSON of the same shape: comments and last commas become as many spaces."""

    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"[^\n]", " ", found[0])

    return _STRING_OR_LAST_COMMA.sub(blank, _STRING_OR_COMMENT.sub(blank, text))


def _loads(text: str) -> Json:
    try:
        top: object = json.loads(_plain(text))
    except json.JSONDecodeError as error:
        raise MalformedLaunchJson(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise MalformedLaunchJson("this is nested too deeply", 1, 1) from error
    except ValueError as error:
        raise MalformedLaunchJson("a number has too many digits", 1, 1) from error
    if not is_object(top):
        raise MalformedLaunchJson("this must be an object", 1, 1)
    return top


def _list(value: object) -> list[Any]:
    return as_array(value)


def _objects(top: Json, key: str, text: str) -> list[Json]:
    """Return the list of objects at a key, empty when it is absent."""
    value = top.get(key, [])
    if not is_array(value):
        raise MalformedLaunchJson(f"`{key}` must be a list", *_place(text, text.find(f'"{key}"')))
    for index, each in enumerate(value):
        if not is_object(each):
            raise MalformedLaunchJson(
                f"{key}[{index}] must be an object", *_start(text, key, index)
            )
    return value


def _check(configuration: Json, text: str, index: int) -> None:
    for key in ("name", "type", "request"):
        value = configuration.get(key)
        if not isinstance(value, str) or not value:
            what = f"configurations[{index}] needs a string at `{key}`"
            raise MalformedLaunchJson(what, *_start(text, "configurations", index))


def _start(text: str, key: str, index: int) -> tuple[int, int]:
    """Return line and column of an item of a list at the top level of the file."""
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
    """Return line and column of an offset, both from 1."""
    before = text[: max(offset, 0)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")
